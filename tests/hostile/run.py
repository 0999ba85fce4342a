#!/usr/bin/env python3
"""Runs the hostile tests of this folder one after the other and sums up their tries and failures.

usage: run.py PROGRAM MODELS [--nightly] [--seed S] [--write] [NAME ...]

--nightly  all tries, some hours; by default those of continuous integration
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
every = sorted(name[:-3] for name in os.listdir(FOLDER) if name.endswith(".py") and name[:-3] not in SHARED)
rows, failed = [], False
for name in arguments.name or every:
    print("==== %s, seed %s" % (name, arguments.seed), flush=True)
    command = [sys.executable, os.path.join(FOLDER, name + ".py"), arguments.program, arguments.models, "--seed",
               arguments.seed] + ["--nightly"] * arguments.nightly
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
        text = ""
        for line in run.stdout:
            print(line, end="", flush=True)
            text += line
    found = re.search(r"^all +(\d+) +(\d+), ([0-9.]+) s$", text, re.MULTILINE)
    failed |= run.returncode != 0
    rows.append((name, *found.groups()) if found else (name, "?", "?", "?"))
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
