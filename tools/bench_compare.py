#!/usr/bin/env python3
"""Compares two benchmark files: times of the second over those of the first.

usage: bench_compare.py A.json B.json

Files are those of `linkwork bench --json` or of bench/peers/run.py.  A ratio below 1 means that B is
faster.  Exit status: 0, 1 when nothing is common to both, 2 wrong use.
"""
import json
import sys


def read(path):
    """The file's header and {(program, case, method): entry}."""
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    entries = report.get("results", report.get("cases"))
    return report, {(e.get("program", "linkwork"), e["case"], e["method"]): e for e in entries}


def about(path, report):
    return "%s: commit %s, %s" % (path, report.get("commit", "unknown"), report.get("cpu", "unknown"))


def main(paths):
    if len(paths) != 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    (report_a, a), (report_b, b) = read(paths[0]), read(paths[1])
    print(about(paths[0], report_a))
    print(about(paths[1], report_b))
    if report_a.get("cpu") != report_b.get("cpu"):
        print("different processors: the ratios say little")
    common = [key for key in a if key in b]
    print("\n%-12s %-16s %-12s %12s %12s %8s %8s" % ("program", "case", "method", "A minimum",
                                                      "B minimum", "B/A", "medians"))
    for key in common:
        x, y = a[key], b[key]
        print("%-12s %-16s %-12s %12.5g %12.5g %8.3f %8.3f" % (
            *key, x["minimum"], y["minimum"], y["minimum"] / x["minimum"], y["median"] / x["median"]))
    return 0 if common else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
