#!/usr/bin/env python3
"""Runs of a million periods: what `rattle` and `gauss` keep.

usage: structure.py long --bin FOLDER [--json FILE] [--periods N] [CASE...]
       structure.py --table FILE [long]

FOLDER has bench_structure.
long    every CASE of LONG_RUNS over its periods, or --periods of them, one after the other: energy in ten blocks of rows,
        residuals, momenta, wall time; results are added to --json after each case
--table the tables of docs/long-runs.md from such a file
"""
import argparse
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
TESTS, MODELS = os.path.join(ROOT, "tests/models/structure"), os.path.join(HERE, "models")

# model, options, step [s], period [s] and what it is, periods, steps between rows, kept momenta: indices in P, L about the
# origin, L about the mass centre
LONG_RUNS = {
    "double pendulum": (TESTS, "double_pendulum", {"formulation": "rattle", "order": 2}, 0.025, 1.5, "swing", 10**6, 11, ()),
    "heavy top": (TESTS, "heavy_top", {"formulation": "rattle", "order": 2}, 0.005, 0.20944, "turn", 10**6, 11, (5,)),
    "four-bar": (TESTS, "four_bar", {"formulation": "rattle", "order": 2}, 0.04, 4.8, "swing", 10**6, 11, ()),
    "floating loop": (TESTS, "floating_loop", {"formulation": "rattle", "order": 2}, 0.1, 6.0, "turn", 10**6, 11, (0, 1, 2)),
    "chain of 8 in a loop": (MODELS, "chain8", {"formulation": "rattle", "order": 2}, 0.01, 1.9, "swing", 10**5, 23, ()),
    "floating loop, mass centre at rest": (MODELS, "resting_loop", {"formulation": "rattle", "order": 2}, 0.1, 6.0, "turn",
                                           10**5, 11, (0, 1, 2, 6, 7, 8)),
    "double pendulum, gauss": (TESTS, "double_pendulum", {"formulation": "momenta", "integrator": "gauss", "order": 6},
                               0.1, 1.5, "swing", 10**6, 3, ()),
}


def read(path):
    if not path or not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def store(path, part, name, row):
    """Adds a row of a part to the file of measurements."""
    if not path:
        return
    found = read(path)
    found.setdefault(part, {})[name] = row
    with open(path, "w", encoding="utf-8") as file:
        json.dump(found, file, indent=1)
        file.write("\n")


def long_run(program, name, periods):
    folder, model, options, step, period, _, own, every, _ = LONG_RUNS[name]
    periods = periods or own
    rows = max(20, round(periods * period / (step * every)))
    settings = [f"--set={key}={value}" for key, value in {**options, "step": step}.items()]
    command = [program, os.path.join(folder, model + ".yaml"), "--step", str(step), "--rows", str(rows), "--every", str(every)]
    for setting in settings:
        command += ["--set", setting.removeprefix("--set=")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"failed": done.stderr.strip()}
    return {"periods": periods, **json.loads(done.stdout)}


def measure_long(arguments):
    wrong = 0
    for name in arguments.names or LONG_RUNS:
        row = long_run(os.path.join(arguments.bin, "bench_structure"), name, arguments.periods)
        print(name, json.dumps(row), flush=True)
        store(arguments.json, "long", name, row)
        wrong += "failed" in row
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="?", choices=["long"], default="long")
    parser.add_argument("names", nargs="*", metavar="CASE")
    parser.add_argument("--bin")
    parser.add_argument("--json")
    parser.add_argument("--periods", type=int)
    parser.add_argument("--table")
    arguments = parser.parse_intermixed_args()
    if not arguments.bin:
        parser.error("--bin is missing")
    return {"long": measure_long}[arguments.part](arguments)


if __name__ == "__main__":
    sys.exit(main())
