#!/usr/bin/env python3
"""The pictures of the first page are those that their scripts make of the program and of the committed measurements.

usage: test_pictures.py LINKWORK SOURCES

Everything but numbers must be the same; numbers agree to half a pixel, since processors differ in the last digits.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
NEAR = 0.5


def differ(made, kept):
    """What differs between two SVG files; None: nothing."""
    pictures = []
    for path in (made, kept):
        with open(path, encoding="utf-8") as file:
            pictures.append(file.read())
    if NUMBER.sub("#", pictures[0]) != NUMBER.sub("#", pictures[1]):
        return "other elements"
    worst = max(abs(float(a) - float(b)) for a, b in zip(*(NUMBER.findall(text) for text in pictures)))
    return f"numbers differ by {worst:g}" if worst > NEAR else None


def main():
    program, sources = (os.path.abspath(a) for a in sys.argv[1:3])
    peers = ["bench/peers/plot.py", "--linkwork", program]
    results = glob.glob(os.path.join(sources, "bench/results/*/peers.json"))
    assert len(results) == 1, results
    pictures = {"strandbeest.svg": ["examples/strandbeest/animate.py", "--program", program],
                "peers-speed.svg": [*peers, *results, "speed"], "peers-error.svg": [*peers, *results, "error"],
                "benchmarks-chains.svg": [*peers, *results, "chains"]}
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, (script, *arguments) in pictures.items():
            made = os.path.join(folder, name)
            subprocess.run([sys.executable, os.path.join(sources, script), *arguments, made], check=True)
            why = differ(made, os.path.join(sources, "docs/images", name))
            if why:
                print(f"docs/images/{name}: {why}; repeat it: {script} {' '.join(arguments)} docs/images/{name}")
                wrong += 1
    print(f"{len(pictures)} pictures, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
