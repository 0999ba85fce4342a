#!/usr/bin/env python3
"""Runs the hostile tests of this folder one after the other and sums up their tries and failures.

usage: run.py PROGRAM MODELS [--nightly] [--seed S] [--write] [NAME ...]

--nightly  all tries, some hours; by default those of continuous integration.  Also the tests of the Python package,
           which is installed for them in a fresh environment: `python`
--write    puts the table of tries, failures and run times into README.md
NAME       only these: full_disk, ...
"""
import argparse
import os
import re
import subprocess
import sys
import time

FOLDER = os.path.dirname(os.path.abspath(__file__))
SHARED = ("hostile", "null_calls", "run") # null_calls writes a test in C

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("program")
parser.add_argument("models")
parser.add_argument("--nightly", action="store_true")
parser.add_argument("--seed", default=str(int(time.time()) // 86400), help="default: the day")
parser.add_argument("--write", action="store_true")
parser.add_argument("name", nargs="*")
arguments = parser.parse_args()
# Callers in Python: kinds of numbers, threads, forked processes, Ctrl-C, pickles.
PYTHON_TESTS = ("test_kinds", "test_interrupt", "test_copies")


def command_of(name):
    if name != "python":
        return [sys.executable, os.path.join(FOLDER, name + ".py"), arguments.program, arguments.models, "--seed",
                arguments.seed] + ["--nightly"] * arguments.nightly
    root = os.path.join(FOLDER, "..", "..")
    return [sys.executable, os.path.join(root, "bindings", "python", "tests", "in_fresh_environment.py"), root,
            arguments.program, *PYTHON_TESTS]


def row_of(name, text, seconds):
    """Name, tries, failures, time."""
    found = re.search(r"^all +(\d+) +(\d+), ([0-9.]+) s$", text, re.MULTILINE)
    if found:
        return (name, *found.groups())
    counts = {what: int(n) for n, what in re.findall(r"(\d+) (passed|failed|errors?)\b", text)}
    if not counts:
        return (name, "?", "?", "?")
    passed = counts.pop("passed", 0)
    return (name, passed + sum(counts.values()), sum(counts.values()), "%.1f" % seconds)


every = sorted(name[:-3] for name in os.listdir(FOLDER) if name.endswith(".py") and name[:-3] not in SHARED)
rows, failed = [], False
for name in arguments.name or every + ["python"] * arguments.nightly:
    print("==== %s, seed %s" % (name, arguments.seed), flush=True)
    began = time.monotonic()
    with subprocess.Popen(command_of(name), stdout=subprocess.PIPE, text=True) as run:
        text = ""
        for line in run.stdout:
            print(line, end="", flush=True)
            text += line
    failed |= run.returncode not in (0, 77)
    rows.append(row_of(name, text, time.monotonic() - began))
table = "%-24s %9s %9s %10s\n" % ("test", "tries", "failures", "time [s]")
table += "".join("%-24s %9s %9s %10s\n" % row for row in rows)
print("\n" + table, end="")
if arguments.write:
    path = os.path.join(FOLDER, "README.md")
    with open(path, encoding="utf-8") as file:
        before, rest = file.read().split("```\n", 1)
    with open(path, "w", encoding="utf-8") as file:
        file.write(before + "```\n" + table + "```" + rest.split("```", 1)[1])
sys.exit(failed)
