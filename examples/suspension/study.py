#!/usr/bin/env python3
"""Sweeps of the quarter car against single runs: the same numbers, and the time of both.

usage: study.py LINKWORK [--variants N] [--time ROUNDS]
"""
import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time

MODEL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "quarter_car.yaml")
SPACE = ("lower_ball_z=165:195", "upper_ball_y=-715:-685", "upper_ball_z=485:515", "lower_inner_z=185:215",
         "upper_inner_z=480:510", "rod_inner_z=230:250", "rod_outer_z=220:240")
NAMES = [factor.split("=")[0] for factor in SPACE]
PARTS = ("min", "max", "range", "mean", "rms", "last", "time_of_min", "time_of_max", "integral")


def run(program, *words):
    """Standard output."""
    return subprocess.run([program, *words], check=True, stdout=subprocess.PIPE, text=True).stdout


def sweep(program, variants, table, *more):
    """The rows of the table."""
    words = [word for factor in SPACE for word in ("--vary", factor)]
    run(program, "sweep", MODEL, "--design", f"lhs:{variants}", *words, "--table", table, "-q", *more)
    with open(table, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def single(program, row, *more):
    """A single run of the variant of a row."""
    words = [word for name in NAMES for word in ("--set", f"{name}={float(row[name])!r}")]
    return json.loads(run(program, "run", MODEL, *words, "--json", *more))


def compare(program, rows, *more):
    """The number of statistics that differ."""
    different = 0
    for row in rows:
        assert not row["failure"], row["failure"]
        found = single(program, row, *more)["measures"]
        for name, statistics in found.items():
            for part in PARTS:
                different += float(row[f"measure.{name}.{part}"]) != statistics[part]
    return different


def largest_difference(program, rows, *more):
    """Of statistics that are values, relative to the largest value of the measure."""
    largest = 0
    for row in rows:
        for name, found in single(program, row, *more)["measures"].items():
            size = max(abs(found["min"]), abs(found["max"]))
            for part in ("min", "max", "range", "mean", "rms", "last"):
                largest = max(largest, abs(float(row[f"measure.{name}.{part}"]) - found[part]) / size)
    return largest


def measure(program, variants, table, rounds):
    """Prints wall-clock times of a sweep and of single runs, in turns: by the integrators that each takes, and by the same."""
    for more in rounds * ((), ("--integrator", "dopri5"), ("--integrator", "dopri5", "--threads", "1")):
        began = time.perf_counter()
        rows = sweep(program, variants, table, *more)
        between = time.perf_counter()
        for row in rows:
            single(program, row, *more)
        end = time.perf_counter()
        print(f"{variants} variants {' '.join(more)}: sweep {between - began:.2f} s, single runs {end - between:.2f} s, "
              f"load {os.getloadavg()[0]:.1f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--variants", type=int, default=6)
    parser.add_argument("--time", type=int, default=0, metavar="ROUNDS")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        table = os.path.join(folder, "table.csv")
        if arguments.time:
            measure(arguments.program, arguments.variants, table, arguments.time)
            return 0
        # an integrator without lanes: each variant is a single run, which ends steps where the wheel touches the road
        more = ("--duration", "0.3", "--integrator", "dopri5")
        rows = sweep(arguments.program, arguments.variants, table, *more)
        assert len(rows) == arguments.variants and float(rows[0]["end"]) == 0.3
        different = compare(arguments.program, rows, *more)
        off = largest_difference(arguments.program, sweep(arguments.program, 2, table, "--duration", "0.3"),
                                 "--duration", "0.3")  # dopri54 in lanes, dopri5 alone
        print(f"{len(rows)} variants, {different} statistics differ from single runs; by other integrators {off:.1e}")
        return different > 0 or off > 1e-4


if __name__ == "__main__":
    sys.exit(main())
