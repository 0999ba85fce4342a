#!/usr/bin/env python3
"""Mechanisms with loops by several formulations: a table of the differences of their final positions from `rcr`.

usage: parallel.py --program PROGRAM [--duration 1] [--limit 1e-8] [--tolerance 1e-12] [--levels 7]
                   [--json FILE] MODEL...
       parallel.py --table FILE

Each MODEL, for instance robots/*/robot.urdf of Gepetto/example-parallel-robots with its file of closures, is assembled,
runs from rest, and the positions of all bodies after `duration` are compared. `rcr`, `hdca` and `dca` have rtol and atol
of `tolerance`. `index3` is of order two: it runs with equal steps of 1 ms, then half of them and so on, and the final
positions are extrapolated to steps of length zero [hairer1993, II.9]: with errors c2 h^2 + c3 h^3 + ..., those of two steps
remove the first power, those of three steps two powers. Steps are halved until two extrapolations differ by less than a
quarter of `limit`.

Columns: bodies; the largest distance that a body moves along an axis; the largest difference of a coordinate from `rcr`
[m] by `rcr` with ten times the tolerance, by `hdca`, by `dca`, and by `index3`: the smallest step, with that step alone,
extrapolated. Where the first of these is above `limit`, the motion itself is not determined to it at this tolerance.
--json   writes what was measured, after each mechanism
--table  prints the table of such a file
Exit status: 0, or 1 if a difference is above `limit` or a run fails.
"""
import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile

FIRST_STEP = 1e-3
FIRST_POWER = 2
INDEX3 = "regularisation=1e-12,tolerance=1e-14,iterations=20"  # Newton's iterations to round-off


class Failed(Exception):
    """A command that did not succeed, with the last line that it printed."""


def call(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failed((done.stderr.strip() or done.stdout.strip() or f"exit status {done.returncode}").splitlines()[-1])


class Mechanism:
    """An assembled model and the positions of its bodies at both ends of a run."""

    def __init__(self, program, path, duration, folder):
        self.program, self.duration, self.folder = program, duration, folder
        self.model = os.path.join(folder, "model.yaml")
        call(program, "assemble", path, "-o", self.model)

    def positions(self, formulation, *options):
        """[first row, last row], each a list of coordinates."""
        output = os.path.join(self.folder, "run.csv")
        call(self.program, "run", self.model, "--quiet", "--formulation", formulation, "--duration", self.duration,
             "--sample", self.duration, "--columns", "body.*.x,body.*.y,body.*.z", "-o", output, *options)
        with open(output, newline="", encoding="utf-8") as file:
            rows = [row for row in csv.reader(line for line in file if not line.startswith("#"))]
        at = [i for i, name in enumerate(rows[0]) if name.startswith("body.")]
        return [[float(row[i]) for i in at] for row in (rows[1], rows[-1])]

    def final(self, formulation, *options):
        return self.positions(formulation, *options)[1]

    def extrapolated(self, limit, levels):
        """Of `index3`: the smallest step, final positions with it, and those extrapolated."""
        step, before = FIRST_STEP, []
        for _ in range(levels):
            line = [self.final("index3", "--step", step, "--index3", INDEX3)]
            for k, coarse in enumerate(before):
                factor = 2 ** (FIRST_POWER + k)
                line.append([(factor * a - b) / (factor - 1) for a, b in zip(line[k], coarse)])
            if len(line) > 2 and difference(line[-1], line[-2]) < limit / 4 and difference(line[-1], before[-1]) < limit / 4:
                break
            step, before = step / 2, line
        else:
            step *= 2
        return step, line[0], line[-1]


def difference(a, b):
    return max(abs(x - y) for x, y in zip(a, b))


def measure(program, path, arguments):
    with tempfile.TemporaryDirectory() as folder:
        mechanism = Mechanism(program, path, arguments.duration, folder)
        tolerances = ("--rtol", arguments.tolerance, "--atol", arguments.tolerance)
        first, exact = mechanism.positions("rcr", *tolerances)
        row = {"bodies": len(exact) // 3, "moved": difference(first, exact)}
        loose = 10 * float(arguments.tolerance)
        row["again"] = difference(mechanism.final("rcr", "--rtol", loose, "--atol", loose), exact)
        for formulation in ("hdca", "dca"):
            row[formulation] = difference(mechanism.final(formulation, *tolerances), exact)
        step, plain, extrapolated = mechanism.extrapolated(arguments.limit, arguments.levels)
        row.update(step=step, index3=difference(plain, exact), extrapolated=difference(extrapolated, exact))
        return row


def name_of(path):
    return os.path.basename(os.path.dirname(os.path.abspath(path)))


def table(rows):
    """Cells of the table, the head first."""
    cells = [["mechanism", "bodies", "moves [m]", "`rcr` again", "`hdca`", "`dca`", "`index3`: smallest h [s]", "with it", "extrapolated"]]
    for name, row in rows.items():
        again = f"{row['again']:.1e}" if "again" in row else "-"
        cells.append([name, f"{row['bodies']}", f"{row['moved']:.2g}", again, *(f"{row[k]:.1e}" for k in ("hdca", "dca", "step",
                                                                                                   "index3", "extrapolated"))])
    return cells


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL")
    parser.add_argument("--program")
    parser.add_argument("--duration", type=float, default=1)
    parser.add_argument("--limit", type=float, default=1e-8)
    parser.add_argument("--tolerance", type=float, default=1e-12)
    parser.add_argument("--levels", type=int, default=7)
    parser.add_argument("--json")
    parser.add_argument("--table")
    arguments = parser.parse_args()
    if arguments.table:
        with open(arguments.table, encoding="utf-8") as file:
            cells = table(json.load(file)["rows"])
        for line in (cells[0], ["---"] * len(cells[0]), *cells[1:]):
            print("|" + "|".join(line if line[0] == "---" else [f" {cell} " for cell in line]) + "|")
        return 0
    if not arguments.models or not arguments.program:
        parser.error("MODEL and --program are missing")
    rows, wrong = {}, 0
    for path in arguments.models:
        try:
            row = measure(arguments.program, path, arguments)
        except Failed as error:
            print(f"{name_of(path)}: {error}", flush=True)
            wrong += 1
            continue
        rows[name_of(path)] = row
        print(f"{name_of(path):24s} " + "  ".join(f"{key} {value:.3g}" for key, value in row.items()), flush=True)
        wrong += any(row[k] > arguments.limit for k in ("hdca", "dca", "extrapolated"))
        if arguments.json:
            with open(arguments.json, "w", encoding="utf-8") as file:
                json.dump({"duration": arguments.duration, "rows": rows}, file, indent=1)
                file.write("\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
