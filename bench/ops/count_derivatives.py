#!/usr/bin/env python3
"""Instructions of the derivatives of forward dynamics, in evaluations of forward dynamics: a table.

usage: count_derivatives.py --program BENCH_DERIVATIVES [--cases A,B]

By valgrind --tool=callgrind, with four lanes: build with -DLW_ISA=all. Columns of the matrices are those by coordinates,
speeds and efforts, three for each degree of freedom; `per 10` is the number of evaluations for ten of them.
"""
import argparse
import re
import subprocess
import sys

CASES = ("chain-7", "chain-32", "chain-128", "quadruped", "humanoid", "centipede-20")
TIMES = 10


def count(program, case, call):
    """(instructions of one call, speeds)"""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--instr-atstart=no", program, case, call,
               str(TIMES)]
    done = subprocess.run(command, capture_output=True, text=True)
    found, size = re.search(r"Collected : (\d+)", done.stderr), re.match(r"(\d+) speeds", done.stdout)
    if done.returncode or not found or not size:
        sys.exit(f"count_derivatives: {' '.join(command)}: exit {done.returncode}\n{done.stderr}")
    return int(found[1]) / TIMES, int(size[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--cases", default=",".join(CASES))
    arguments = parser.parse_args()
    print(f"{'case':14} {'speeds':>6} {'evaluation':>10} {'inverse':>10} {'derivatives':>11} {'evaluations':>11} {'per 10':>6}")
    for case in arguments.cases.split(","):
        one, n = count(arguments.program, case, "evaluation")
        inverse, whole = (count(arguments.program, case, call)[0] for call in ("inverse", "derivatives"))
        print(f"{case:14} {n:6} {one:10.0f} {inverse:10.0f} {whole:11.0f} {whole / one:11.1f} {10 * whole / one / (3 * n):6.2f}")


if __name__ == "__main__":
    main()
