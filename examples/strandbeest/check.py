#!/usr/bin/env python3
"""Runs the walking machine and checks that it does not drift apart.

usage: check.py --program PROGRAM [--pairs N] [--duration S] [--table]

Both machines, frame fixed and floating, by rcr, rcr with momenta and hdca, never put back on their joints:
velocities meet all loops to round-off, positions stay where the integrator's error leaves them, energy and the
floating machine's momentum are kept, and all methods are at the same place at the end.  --table prints the
figures of README.md, which tools/doc_tables.py compares.

Exit status: 0; 1 when a statement does not hold.  Needs nothing but Python and the program.
"""
import argparse
import csv
import os
import re
import sys
import tempfile

import walker

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from reports import Study

METHODS = {"rcr": ("rcr",), "rcr, momenta": ("rcr", "--state", "momenta"), "hdca": ("hdca",)}


class Check(Study):
    def __init__(self, program, folder):
        super().__init__(program, folder)
        self.told = sys.stderr

    def run(self, frame, pairs, options, duration):
        """Summary, first and last row."""
        output = self.path("walker.csv")
        summary = self.summary(self.write("walker.yaml", walker.walker(pairs, frame)), "--formulation", *options,
                               "--integrator", "dopri5", "--project", "never", "--duration", repr(duration),
                               "--sample", repr(duration / 10), "-o", output)
        with open(output, newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        return summary, rows[0], rows[-1]


def turns(angle):
    return abs(float(angle)) / 6.283185307179586


def examine(check, frame, pairs, duration, methods):
    """Lines of the table, one for each method."""
    loops, lines, ends = walker.LOOPS_PER_PAIR * pairs, [], []
    for name in methods:
        done, first, last = check.run(frame, pairs, METHODS[name], duration)
        position, velocity, _ = done["residual"]
        kept = max(abs(float(last[f"sys.{c}"]) - float(first[f"sys.{c}"])) for c in ("px", "py", "pz"))
        where = f"{frame} frame, {loops} loops, {duration:g} s by {name}"
        check.hold(f"{where}: velocities off by {velocity:.1e}", velocity < 1e-13)
        check.hold(f"{where}: positions off by {position:.1e} m", position < 1e-8 * max(1, duration / 10))
        check.hold(f"{where}: energy off by {done['energy_error']:.1e} J of {done['energy_scale']:.1f} J",
                   done["energy_error"] < 1e-7 * done["energy_scale"] * max(1, duration / 10))
        changes = re.search(r"times in all: (\d+)", done["notice"])
        changes = int(changes.group(1)) if changes else 0
        check.hold(f"{where}: {changes} changes of coordinates", changes <= 5 + duration)
        if frame == "floating":
            check.hold(f"{where}: momentum off by {kept:.1e} kg m/s", kept < 1e-9 * max(1, duration))
        ends.append(float(last["joint.crank.q0"]))
        lines.append(f"| {frame} | {name} | {turns(last['joint.crank.q0']):.1f} | {position:.1e} | {velocity:.1e} | "
                     f"{done['energy_error']:.1e} | {f'{kept:.1e}' if frame == 'floating' else '–'} | "
                     f"{done['evaluations']} |")
    spread = max(ends) - min(ends)
    check.hold(f"{frame} frame: cranks of all methods within {spread:.1e} rad after {turns(ends[0]):.1f} turns",
               spread < 1e-5 * max(1, duration))
    return lines


def main():
    parser = argparse.ArgumentParser(description="a walking machine that must not drift apart")
    parser.add_argument("--program", required=True)
    parser.add_argument("--pairs", type=int, default=8)
    parser.add_argument("--duration", type=float, default=60.0)
    parser.add_argument("--methods", default=";".join(METHODS), help="separated by semicolons")
    parser.add_argument("--table", action="store_true")
    arguments = parser.parse_args()
    methods = arguments.methods.split(";")
    with tempfile.TemporaryDirectory() as folder:
        check = Check(os.path.abspath(arguments.program), folder)
        lines = [line for frame in ("fixed", "floating")
                 for line in examine(check, frame, arguments.pairs, arguments.duration, methods)]
    if arguments.table:
        print("| frame | method | revolutions | positions [m] | velocities | energy [J] | momentum [kg m/s] | evaluations |\n"
              "|" + "---|" * 8)
        print("\n".join(lines))
    return 1 if check.failed else 0


if __name__ == "__main__":
    sys.exit(main())
