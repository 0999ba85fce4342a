#!/usr/bin/env python3
"""Draws a picture of a peers.json (run.py), one line per program.

usage: plot.py --linkwork PROGRAM RESULTS.json WHAT PICTURE.svg

WHAT is one of
  chains   ns per body over the length of a chain of hinges
  speed    time of one evaluation over the number of closed loops (rows of four-bars)
  error    error of the accelerations over the number of closed loops: the largest difference of the maximum, first
           and last one from the median of the programs without soft constraints, divided by the maximum
  run-...  work and precision of this case: time of the whole run over the right digits of the angles at the end
"""
import argparse
import csv
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

import run

CHAINS = {("linkwork", "aba"): "linkwork aba", ("linkwork", "momenta"): "linkwork momenta",
          ("pinocchio", "aba-local"): "pinocchio aba-local", ("mujoco", "forward"): "mujoco forward",
          ("bullet", "aba"): "bullet aba", ("dart", "forward"): "dart forward",
          ("simbody", "realize"): "simbody realize"}
SOFT = ("mujoco", "forward-soft")
LOOPS = {("linkwork", "rcr"): "Linkwork", ("pinocchio", "lcaba"): "Pinocchio lcaba",
         ("pinocchio", "proximal"): "Pinocchio constraintDynamics", SOFT: "MuJoCo (soft)",
         ("simbody", "realize"): "Simbody"}
RUNS = {("linkwork", "dopri5"): "Linkwork dopri5", ("linkwork", "verner87"): "Linkwork verner87",
        ("linkwork", "rk4"): "Linkwork rk4", ("linkwork", "dopri5:compiled"): "Linkwork compiled dopri5",
        ("linkwork", "verner87:compiled"): "Linkwork compiled verner87", ("pinocchio", "aba-local"): "Pinocchio rk4",
        ("pinocchio", "proximal"): "Pinocchio constraintDynamics rk4", ("pinocchio", "lcaba"): "Pinocchio lcaba rk4",
        ("simbody", "realize"): "Simbody Merson", ("exudyn", "rk44"): "Exudyn rk4", ("exudyn", "dopri5"): "Exudyn dopri5",
        ("exudyn", "generalized-alpha"): "Exudyn generalised alpha", ("mujoco", "forward"): "MuJoCo rk4", SOFT: "MuJoCo rk4 (soft)"}
FLOOR = 1e-16  # of an error on the logarithmic scale


def chains(results):
    """{program: [(log2 n, ns per body)]} and how to draw it."""
    lines = {}
    for r in results:
        if r["case"].startswith("chain-"):
            lines.setdefault((r["program"], r["method"]), []).append((math.log2(r["bodies"]), r["minimum"] / r["bodies"]))
    return CHAINS, lines, ("log2 n", "ns per body", "one evaluation of a chain of n hinges, ns per body", "640x400")


def rows_of_loops(results):
    """{(program, method): {loops: entry}} of the rows of four-bars."""
    lines = {}
    for r in results:
        if r["case"].startswith("four-bars-") and (r["program"], r["method"]) in LOOPS:
            lines.setdefault((r["program"], r["method"]), {})[int(r["case"].rsplit("-", 1)[1])] = r
    return lines


def speed(results):
    lines = {key: [(loops, r["minimum"] / 1000) for loops, r in line.items()]
             for key, line in rows_of_loops(results).items()}
    return LOOPS, lines, ("closed loops", "µs", "one evaluation of a row of four-bars [µs]", "480x380")


def error(results):
    rows = rows_of_loops(results)
    lines = {}
    for key, line in rows.items():
        for loops, r in line.items():
            rigid = [rows[k][loops]["accelerations"] for k in rows if k != SOFT]
            worst = max(abs(r["accelerations"][part] - statistics.median(a[part] for a in rigid))
                        for part in ("max", "first", "last"))
            lines.setdefault(key, []).append((loops, max(FLOOR, worst / statistics.median(a["max"] for a in rigid))))
    return LOOPS, lines, ("closed loops", "relative error", "error of the accelerations of a row of four-bars", "480x380")


def work(results, case):
    lines = {key: [(-math.log10(error), 1e3 * seconds) for error, seconds in points]
             for key, points in run.curves(results, case).items()}
    return RUNS, lines, ("digits", "ms", f"{case[4:]}: whole run [ms] over right digits of the angles", "640x400")


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n", 1)[1])
    parser.add_argument("--linkwork", required=True)
    parser.add_argument("results")
    parser.add_argument("what", choices=("chains", "speed", "error", *run.RUNS))
    parser.add_argument("picture")
    options = parser.parse_args()
    with open(options.results, encoding="utf-8") as file:
        results = json.load(file)["results"]
    kinds = {"chains": chains, "speed": speed, "error": error}
    names, lines, (x, y, title, size) = (kinds[options.what](results) if options.what in kinds
                                         else work(results, options.what))
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for key, name in names.items():
            if key not in lines:
                continue
            paths.append(os.path.join(folder, f"{name}.csv"))  # the name labels the line
            with open(paths[-1], "w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file)
                writer.writerow(["time", x, y])
                for i, (n, value) in enumerate(sorted(lines[key])):
                    writer.writerow([i, repr(n), repr(value)])
        subprocess.run([options.linkwork, "plot", *paths, "--x", x, "--y", y, "--log", "--size", size,
                        "--title", title, "-o", options.picture], check=True, stdout=subprocess.DEVNULL)
    return 0


if __name__ == "__main__":
    sys.exit(main())
