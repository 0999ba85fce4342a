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
    lines = {}
    for r in results:
        key = (r["program"], r["method"])
        if r["case"].startswith("chain-") and key in SHOWN:
            lines.setdefault(key, []).append((r["bodies"], r["minimum"] / r["bodies"]))
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for program, method in SHOWN:
            if (program, method) not in lines:
                continue
            paths.append(os.path.join(folder, f"{program} {method}.csv"))  # the name labels the line
            with open(paths[-1], "w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file)
                writer.writerow(["time", "log2 n", "ns per body"])
                for i, (n, value) in enumerate(sorted(lines[program, method])):
                    writer.writerow([i, repr(math.log2(n)), repr(value)])
        subprocess.run([options.linkwork, "plot", *paths, "--x", "log2 n", "--y", "ns per body", "--log",
                        "--size", "640x400", "--title", "one evaluation of a chain of n hinges, ns per body",
                        "-o", options.picture], check=True, stdout=subprocess.DEVNULL)
    return 0


if __name__ == "__main__":
    sys.exit(main())
