#!/usr/bin/env python3
"""How smooth reactions are where a mechanism passes singular positions.

usage: reactions.py --program PROGRAM [--passages N]

Two rhombi of three bars, that of report.py and the four-bar of [malczyk2019], section 4.3, pass N positions; rows at
every millisecond.  Printed for three formulations at their default tolerances: the largest difference of a component of a
reaction from the cubic through its four neighbours, in all rows, and the largest component.  The cubic of a smooth
force of 20 N is itself exact to some 1e-6 N.
"""
import argparse
import collections
import csv
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "index3-2019"))
sys.path.insert(0, HERE)
import cases  # noqa: E402
import report  # noqa: E402

COMPONENTS = ("fx", "fy", "fz", "tx", "ty", "tz")
ACROSS = re.compile(r"passed (\d+) singular positions? straight on")


def deviation(path):
    """Largest difference from the neighbours' cubic, and largest component."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = csv.reader(file)
        head = next(rows)
        columns = [i for i, n in enumerate(head) if n.startswith("joint.") and n.split(".")[-1] in COMPONENTS]
        last, worst, largest = collections.deque(maxlen=5), 0.0, 0.0
        for row in rows:
            last.append([float(row[i]) for i in columns])
            largest = max(largest, *map(abs, last[-1]))
            if len(last) == 5:
                a, b, x, c, d = last
                worst = max(worst, *(abs(x[k] - (4 * (b[k] + c[k]) - a[k] - d[k]) / 6) for k in range(len(columns))))
    return worst, largest


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--passages", type=int, default=100)
    given = parser.parse_args()
    print("| mechanism | formulation | passed straight on | from the neighbours' cubic [N] | largest [N] |")
    print("|---|---|---|---|---|")
    # seconds from one passage to the next
    models = (("rhombus", report.rhombus().text, 2.0274), ("four-bar", cases.text("four-bar-I"), 1.38))
    with tempfile.TemporaryDirectory() as folder:
        model, output = os.path.join(folder, "model.yaml"), os.path.join(folder, "run.csv")
        for name, text, period in models:
            with open(model, "w", encoding="utf-8") as file:
                file.write(text)
            for formulation in ("rcr", "hdca", "dca"):
                done = subprocess.run([given.program, "run", model, "--formulation", formulation, "--duration",
                                       repr(period * given.passages), "--sample", "0.001", "-o", output],
                                      capture_output=True, text=True, check=True)
                across = ACROSS.search(done.stdout)
                worst, largest = deviation(output)
                print(f"| {name} | `{formulation}` | {across.group(1) if across else 0} | {worst:.1e} | "
                      f"{largest:.3g} |", flush=True)


if __name__ == "__main__":
    main()
