#!/usr/bin/env python3
"""Prints the quality of the choice of `auto`, the blocks of docs/methods.md, from what tools/calibrate_auto.py --json wrote.

usage: accuracy_table.py FILE [table|loops|summary]

The file has "cpu" and "rows": for each model its name, the formulation that `auto` chose, and for each error in metres
(1e-6, 1e-9) the time of `auto` in seconds ("auto"), the times of formulations over it ("others") and that of `auto` over
the best of all ("best"); no entry for an error that none of them reaches.
"""
import json
import math
import re
import sys

ERRORS = ("1e-6", "1e-9")
SHOWN = ("rcr", "hdca", "dca", "lagrange")
CLOSE = 1.2  # `auto` may take so many times as long as the best
LANES = r"four-bars|ladder|bennett|gears|walker|net-20x2|net-40x1"  # loops of hinges and balls


def print_table(rows, cpu):
    print(f"Measured on {cpu}.\n")
    head = [cell for e in ERRORS for cell in (f"{e} m", *(f"`{n}`" for n in SHOWN), "best")]
    print("| model | `auto` | " + " | ".join(head) + " |\n|---|---|" + "---|" * len(head))
    for row in rows:
        cells = []
        for error in ERRORS:
            found = row["errors"].get(error)
            if not found:
                cells += ["–"] * (len(SHOWN) + 2)
                continue
            others = found["others"]
            cells += [f"{1e3 * found['auto']:.3g}", *(f"{others[n]:.2f}" if n in others else "–" for n in SHOWN),
                      f"{found['best']:.2f}"]
        print(f"| `{row['model']}` | `{row['auto']}` | " + " | ".join(cells) + " |")


def print_loops(rows):
    """The best of the others over `rcr` where loop clusters are computed in lanes."""
    loops = []
    for row in rows:
        others = row["errors"].get("1e-6", {"others": {}})["others"]
        if row["auto"] == "rcr" and re.match(LANES, row["model"]) and len(others) > 1:
            loops.append((min(others[n] for n in SHOWN[1:] if n in others), row["model"]))
    if not loops:
        return
    (least, first), (most, last) = min(loops), max(loops)
    print("Where loops of hinges and balls are computed in lanes, `rcr` reaches 1e-6 m "
          f"{least:.1f} (`{first}`) to\n{most:.1f} (`{last}`) times as fast as the best of the others.")


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def print_summary(rows):
    found = [(e["best"], row["model"], error, e["others"]) for row in rows for error, e in row["errors"].items()]
    ratios = [best for best, *_ in found]
    far = sorted(((best, model, error) for best, model, error, _ in found if best > CLOSE), reverse=True)
    print(f"Of {len(ratios)} runs {len(ratios) - len(far)} take at most {CLOSE:.2f} times as long as the best single "
          f"choice for their model,\nand the mean is {mean(ratios):.2f}. The others:\n"
          + (",\n".join(f"`{model}` at {error} m {best:.2f}" for best, model, error in far) or "none") + ".\n")
    always = [(name, [others[name] for *_, others in found if name in others]) for name in SHOWN]
    print("One choice for all models takes, in the mean of the runs that it can do, so many times as long as `auto`:\n")
    print("| " + " | ".join(f"`{name}`" for name, _ in always) + " |\n|" + "---|" * len(always))
    print("| " + " | ".join(f"{mean(values):.1f}" if values else "–" for _, values in always) + " |")


def print_all(found, *parts):
    for part in parts or ("table", "loops", "summary"):
        if part == "table":
            print_table(found["rows"], found["cpu"])
        else:
            {"loops": print_loops, "summary": print_summary}[part](found["rows"])
        if not parts:
            print()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as source:
        print_all(json.load(source), *sys.argv[2:])
