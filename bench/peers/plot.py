#!/usr/bin/env python3
"""Draws the chains of a peers.json (run.py): ns per body over the length, one line per program.

usage: plot.py --linkwork PROGRAM PEERS.json PICTURE.svg
"""
import argparse
import csv
import json
import math
import os
import subprocess
import sys
import tempfile

SHOWN = (("linkwork", "aba"), ("linkwork", "momenta"), ("pinocchio", "aba-local"), ("mujoco", "forward"),
         ("bullet", "aba"), ("dart", "forward"), ("simbody", "realize"))


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n", 1)[1])
    parser.add_argument("--linkwork", required=True)
    parser.add_argument("results")
    parser.add_argument("picture")
    options = parser.parse_args()
    with open(options.results, encoding="utf-8") as file:
        results = json.load(file)["results"]
    lengths, lines = set(), {}
    for r in results:
        key = (r["program"], r["method"])
        if r["case"].startswith("chain-") and key in SHOWN:
            lengths.add(r["bodies"])
            lines.setdefault(key, {})[r["bodies"]] = r["minimum"] / r["bodies"]
    lengths = sorted(lengths)
    columns = {f"{program} {method}": lines[program, method]
               for program, method in SHOWN if (program, method) in lines}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "chains.csv")
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["time", "log2 n", *columns])
            for i, n in enumerate(lengths):
                writer.writerow([i, repr(math.log2(n)), *(repr(c.get(n, math.nan)) for c in columns.values())])
        subprocess.run([options.linkwork, "plot", path, "--x", "log2 n", "--y", ",".join(columns), "--log",
                        "--size", "640x400", "--title", "one evaluation of a chain of n hinges, ns per body",
                        "-o", options.picture], check=True, capture_output=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
