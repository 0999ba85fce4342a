#!/usr/bin/env python3
"""Compares the hashes of bench_bits of several builds.

usage: bits_table.py LABEL=BENCH_BITS...    e.g. gcc=build/bin/bench_bits clang=build-clang/bin/bench_bits

Prints a table for the documentation.  Exit status: 0; 1 if a build, or a way of computing within one, has other
bits; 2 for wrong use.
"""
import re
import subprocess
import sys


def lines_of(program):
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    found = re.findall(r"^(.+?)\s+([0-9a-f]{16}) (\d+) ways, (\w+)$", done.stdout, re.M)
    return done.returncode == 0, {name: (hash, int(ways), isa) for name, hash, ways, isa in found}


def main():
    if len(sys.argv) < 2 or not all("=" in a for a in sys.argv[1:]):
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    builds, good = {}, True
    for argument in sys.argv[1:]:
        label, program = argument.split("=", 1)
        same, builds[label] = lines_of(program)
        good &= same and bool(builds[label])
        if not same:
            print(f"{label}: ways of computing differ", file=sys.stderr)
    first = next(iter(builds.values()))
    print("| motion | " + " | ".join(builds) + " | ways each |")
    print("|---|" + "---|" * len(builds) + "---|")
    for name, (_, ways, _) in first.items():
        hashes = [b.get(name, ("-", 0, ""))[0] for b in builds.values()]
        good &= len(set(hashes)) == 1
        print(f"| {name} | " + " | ".join(f"`{h}`" for h in hashes) + f" | {ways} |")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
