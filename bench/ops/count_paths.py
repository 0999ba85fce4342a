#!/usr/bin/env python3
"""Instructions for an evaluation of long paths, per body.

usage: count_paths.py --program BENCH_PATHS [--shapes A,B] [--columns A,B] [--bodies N] [--json FILE]
       count_paths.py --program BENCH_PATHS --times [--rounds N] --json FILE
       count_paths.py --table FILE | --table-of-times FILE

By valgrind --tool=callgrind: six evaluations less two, with four lanes, by the number of bodies that the model has.
The counts do not depend on what else the machine runs; they do not see caches and memory.  A copy of long rows by one
instruction of the processor counts as its loop in the C library, which would otherwise count once for each byte.

--shapes  see SHAPES below (all)
--columns  see COLUMNS below (all)
--bodies  about so many (4096)
--json    writes what was measured; earlier results in this file are kept
--times   instead: nanoseconds on one thread, the minimum of --rounds runs of the program (3)
--table, --table-of-times  print the tables of docs/theory/segments.md from such a file
"""
import argparse
import json
import os
import re
import subprocess
import sys

SHAPES = {  # of bench_paths
    "random": "hinges, axes at random",
    "square": "hinges, axes at right angles",
    "driven": "hinges, three of them driven",
    "rotors": "hinges, three of them driven, rotors beside these",
    "mounts": "hinges, three on moving mounts",
    "wrenches": "hinges, wrenches on three bodies",
    "balls": "rope of balls",
    "crane": "crane: a rope on a slider on a jib, with a heavy hook",
    "ring": "ring, one link on the ground",
    "limbs": "tree, each branch of 64 links carries two more",
    "net": "square meshes with bars of 64 links",
    "long_net": "square meshes with bars of 256 links",
}
# formulation, lanes, functions that are counted (all)
COLUMNS = {
    "hdca": ("hdca", 4, ()),
    "hdca row": ("hdca:row", 4, ("lwi_path_rates", "lwi_path_accelerations", "lwi_path_response", "lwi_net_speeds",
                                 "lwi_net_move", "lwi_net_accelerations", "lwi_net_response")),
    "dca": ("dca", 4, ()),
    "hdca in general": ("hdca", -1, ()),
    "dca in general": ("dca", -1, ()),
    "momenta": ("momenta", 4, ()),
    "aba": ("aba", 4, ()),
}
OPEN = ("random", "square", "driven", "rotors", "mounts", "wrenches", "balls")   # those that momenta and aba have too
DRIVEN = ("driven", "rotors", "mounts")   # reactions in rows are those of the recursion
GOAL = {"hdca": 450, "hdca row": 650, "dca": 650}
NO_STRING_INSTRUCTIONS = ("glibc.cpu.x86_rep_movsb_threshold=100000000:"
                          "glibc.cpu.x86_rep_stosb_threshold=100000000")


def total(program, column, bodies, times, shape):
    formulation, lanes, functions = COLUMNS[column]
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
               *(f"--toggle-collect={name}" for name in functions), program, formulation, str(bodies), str(lanes),
               str(times), shape]
    done = subprocess.run(command, capture_output=True, text=True,
                          env={**os.environ, "GLIBC_TUNABLES": NO_STRING_INSTRUCTIONS})
    found, size = re.search(r"Collected : (\d+)", done.stderr), re.match(r"(\d+) bodies", done.stdout)
    if done.returncode or not found or not size:
        sys.exit(f"count_paths: {' '.join(command)}: exit {done.returncode}\n{done.stderr}")
    return int(found[1]), int(size[1])


def per_body(program, column, bodies, shape):
    few, many = 2, 6
    (more, size), (less, _) = (total(program, column, bodies, times, shape) for times in (many, few))
    return size, round((more - less) / (many - few) / size, 1)


def stored(path):
    if not path or not os.path.exists(path):
        return {"about": "bench/ops/count_paths.py", "instructions": {}}
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def store(path, results):
    if path:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
            file.write("\n")


def measure(program, shapes, columns, bodies, path):
    results = stored(path)
    for shape in shapes:
        of = results["instructions"].setdefault(shape, {})
        for column in columns:
            if shape in (DRIVEN if column == "hdca row" else ()) or shape not in OPEN and column in ("momenta", "aba"):
                continue
            of["bodies"], of[column] = per_body(program, column, bodies, shape)
        print(shape, of, flush=True)
        store(path, results)


def measure_times(program, rounds, path):
    """The program prints bodies, shape, ns per body of hdca twice, of dca twice (on several threads), momenta, aba."""
    results, least = stored(path), {}
    for _ in range(rounds):
        text = subprocess.run([program, "1"], capture_output=True, text=True, check=True).stdout
        for bodies, shape, values in re.findall(r"^ *(\d+) +([a-z]\w*)((?: +[\d.]+)+)$", text, re.M):
            now = [float(x) for x in values.split()]
            now = [min(now[:2]), min(now[2:4]), *now[4:]]
            before = least.setdefault(shape, {}).get(bodies, now)
            least[shape][bodies] = list(map(min, now, before))
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        cpu = re.search(r"^model name\s*: (.*)$", file.read(), re.M)[1]
    results["times"] = {"cpu": cpu, "ns": least}
    store(path, results)


def cell(of, formulation):
    if formulation not in of:
        return ""
    missed = of[formulation] > GOAL.get(formulation, of[formulation])
    return f"{of[formulation]:.0f}" + (" *" if missed else "")


def table(path):
    found = stored(path)["instructions"]
    print("| | `hdca` | `hdca`, accelerations, reactions | `dca` | by the general elimination: `hdca` | `dca` | `momenta` "
          "| `aba` |")
    print("|---|---|---|---|---|---|---|---|")
    for shape, name in SHAPES.items():
        if shape in found:
            print(f"| {name} | " + " | ".join(cell(found[shape], c) for c in COLUMNS) + " |")
    print(f"\n\\* above the goals: {GOAL['hdca']} for `hdca`, {GOAL['dca']} for the next two.")


def table_of_times(path):
    found = stored(path)["times"]
    print(f"{found['cpu']}, ns of a body, one thread:\n")
    print("| path | bodies | `hdca` | `dca` | `momenta` | `aba` |\n|---|---|---|---|---|---|")
    for shape, name in SHAPES.items():
        sizes = list(found["ns"].get(shape, {}).items())
        for bodies, ns in (sizes[::2] if shape in OPEN else sizes[-1:]):
            ns = [f"{x:.0f}" for x in ns] + [""] * (4 - len(ns))
            print(f"| {name} | {bodies} | {' | '.join(ns)} |")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--program")
    parser.add_argument("--shapes", default=",".join(SHAPES))
    parser.add_argument("--columns", default=",".join(COLUMNS))
    parser.add_argument("--bodies", type=int, default=4096)
    parser.add_argument("--json")
    parser.add_argument("--times", action="store_true")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--table")
    parser.add_argument("--table-of-times")
    options = parser.parse_args()
    if options.table:
        table(options.table)
    elif options.table_of_times:
        table_of_times(options.table_of_times)
    elif options.program and options.times:
        measure_times(options.program, options.rounds, options.json)
    elif options.program:
        measure(options.program, options.shapes.split(","), options.columns.split(","), options.bodies, options.json)
    else:
        parser.error("give --program or --table")


if __name__ == "__main__":
    main()
