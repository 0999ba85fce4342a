#!/usr/bin/env python3
"""Instructions for an evaluation of long paths, per body.

usage: count_paths.py --program BENCH_PATHS [--shapes A,B] [--bodies N] [--json FILE]
       count_paths.py --table FILE

By valgrind --tool=callgrind: six evaluations less two, with four lanes, by the number of bodies that the model has.  The counts do not depend on what else the
machine runs; they do not see caches and memory.  A copy of long rows by one instruction of the processor counts as its
loop in the C library, which would otherwise count once for each byte.

--shapes  see SHAPES below (all)
--bodies  about so many (4096)
--json    writes what was measured; earlier results in this file are kept
--table   prints the table of docs/theory/segments.md from such a file
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
    "balls": "rope of balls",
    "crane": "crane: a rope on a slider on a jib, with a heavy hook",
    "ring": "ring, one link on the ground",
    "limbs": "tree, each branch of 64 links carries two more",
    "net": "square meshes with bars of 64 links",
    "long_net": "square meshes with bars of 256 links",
}
OPEN = ("random", "square", "balls")   # those that momenta and aba have too
GOAL = {"hdca": 450, "dca": 650}
NO_STRING_INSTRUCTIONS = ("glibc.cpu.x86_rep_movsb_threshold=100000000:"
                          "glibc.cpu.x86_rep_stosb_threshold=100000000")


def total(program, formulation, bodies, lanes, times, shape):
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, formulation, str(bodies),
               str(lanes), str(times), shape]
    done = subprocess.run(command, capture_output=True, text=True,
                          env={**os.environ, "GLIBC_TUNABLES": NO_STRING_INSTRUCTIONS})
    found, size = re.search(r"Collected : (\d+)", done.stderr), re.match(r"(\d+) bodies", done.stdout)
    if done.returncode or not found or not size:
        sys.exit(f"count_paths: {' '.join(command)}: exit {done.returncode}\n{done.stderr}")
    return int(found[1]), int(size[1])


def per_body(program, formulation, bodies, lanes, shape):
    few, many = 2, 6
    (more, size), (less, _) = (total(program, formulation, bodies, lanes, times, shape) for times in (many, few))
    return size, round((more - less) / (many - few) / size, 1)


def measure(program, shapes, bodies, path):
    found = {}
    if path and os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            found = json.load(file)["instructions"]
    for shape in shapes:
        of = found[shape] = {}
        for formulation in ("hdca", "dca"):
            of["bodies"], of[formulation] = per_body(program, formulation, bodies, 4, shape)
            _, of[formulation + " in general"] = per_body(program, formulation, bodies, -1, shape)
        for formulation in ("momenta", "aba") if shape in OPEN else ():
            _, of[formulation] = per_body(program, formulation, bodies, 4, shape)
        print(shape, of, flush=True)
        if path:
            with open(path, "w", encoding="utf-8") as file:
                json.dump({"about": "bench/ops/count_paths.py", "instructions": found}, file, indent=1)
                file.write("\n")


def cell(of, formulation):
    if formulation not in of:
        return ""
    missed = of[formulation] > GOAL.get(formulation, of[formulation])
    return f"{of[formulation]:.0f}" + (" *" if missed else "")


def table(path):
    with open(path, encoding="utf-8") as file:
        found = json.load(file)["instructions"]
    columns = ("hdca", "dca", "hdca in general", "dca in general", "momenta", "aba")
    print("| | `hdca` | `dca` | by the general elimination: `hdca` | `dca` | `momenta` | `aba` |")
    print("|---|---|---|---|---|---|---|")
    for shape, name in SHAPES.items():
        if shape in found:
            print(f"| {name} | " + " | ".join(cell(found[shape], c) for c in columns) + " |")
    print(f"\n\\* above the goals: {GOAL['hdca']} for `hdca`, {GOAL['dca']} for `dca`.")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--program")
    parser.add_argument("--shapes", default=",".join(SHAPES))
    parser.add_argument("--bodies", type=int, default=4096)
    parser.add_argument("--json")
    parser.add_argument("--table")
    options = parser.parse_args()
    if options.table:
        table(options.table)
    elif options.program:
        measure(options.program, options.shapes.split(","), options.bodies, options.json)
    else:
        parser.error("give --program or --table")


if __name__ == "__main__":
    main()
