#!/usr/bin/env python3
"""Reactions of minimum norm, what a row of them costs, and how smooth they are through singular positions.

usage: reactions.py --program PROGRAM [--passages N] [--largest-net N] [--quick]

Three tables, and a verdict for each line of them; the exit status is 1 if one does not hold.  A run that is not --quick
stores them in reactions.json, with the machine, from which report.py --render makes docs/reports/singular.md.

1. Redundant mechanisms at the start: the largest difference of a component from that of `dense`, which has it by
   singular values, relative to the largest component.  At most 1e-10.
2. Nets of n x n cells: time of an output row with all reactions, in evaluations of the same formulation.  At most 2.
3. N passages, rows at every millisecond, default tolerances: the largest difference of a component from the polynomial
   through its six neighbours, relative to the largest component.  The limit is round-off: a state that is off by d has
   multipliers that are off by d / s^4 (src/simulate/crossing.c: accelerations by d / s^3), where s, the sine of the
   nearest state that reactions are continued from, is 0.03 times the largest one, taken as 0.5.  With the sum of the
   weights of the polynomial through these states, 128, and of those of the six neighbours, 3.2: at most 1.8e-6.
   Where loads must be held by bars in a line forces grow as one over s.  Of these s times the component is compared,
   3.2 d / s^3: at most 1e-5 with d = 3e-15 m, round-off along the loops, and s = 1e-3.  Rows with smaller s, at the
   position itself, where this part is not determined, are left out.

--quick takes the small ones of the first table and few passages.  The tests run it.
"""
import argparse
import collections
import csv
import json
import math
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
STORED = os.path.join(HERE, "reactions.json")
UNDETERMINED = 1e-3  # s of a row at the position itself
EQUAL, EVALUATIONS = 1e-10, 2.0
NEIGHBOURS = 64 / 20  # sum of the weights of a value and of the quintic through its six neighbours
# Of states that reactions are continued from, src/simulate/passage.c: sine of the nearest, and the sum of the weights of
# the quintic through them, at 1.5, 6 and the nodes of Gauss' rule between.
NEAREST, WEIGHTS, TYPICAL = 1.5 * 2e-2, 128.2, 0.5
SMOOTH = NEIGHBOURS * WEIGHTS * sys.float_info.epsilon / (NEAREST * TYPICAL) ** 4
GROWING = NEIGHBOURS * 3e-15 / UNDETERMINED ** 3
OTHERS = ("rcr", "dca", "hdca", "index3")


# -------------------------------------------------------------------------------------------- models

def model(bodies, joints, gravity=(0, -9.81, 0)):
    return f"linkwork: 1\ngravity: {list(gravity)}\nbodies:\n{''.join(bodies)}joints:\n{''.join(joints)}"


def link(name, p, q, mass=1.0):
    """A body between two points, with axes of the world."""
    middle = [(a + b) / 2 for a, b in zip(p, q)]
    return f"  {name}: {{mass: {mass}, inertia: [{0.1 * mass}, {0.2 * mass}, {0.25 * mass}, 0, 0, 0], " \
           f"position: {middle}}}\n"


def joint(name, body1, body2, at, axis, kind="revolute", more=""):
    return f"  {name}: {{type: {kind}, between: [{body1}, {body2}], at: {list(at)}, axis: {list(axis)}{more}}}\n"


def ring(points, axes, end="ground", start="ground", prefix="", mass=1.0):
    """Links from point to point with hinges at the points."""
    bodies, joints, before = [], [], start
    for i, (p, axis) in enumerate(zip(points, axes)):
        after = end
        if i < len(points) - 1:
            after = f"{prefix}b{i}"
            bodies.append(link(after, p, points[i + 1], mass * (1 + 0.3 * i)))
        joints.append(joint(f"{prefix}j{i}", before, after, p, axis))
        before = after
    return bodies, joints


def bricard():
    """Six links along edges of a cube, axes across their neighbours: Bricard's trihedral linkage."""
    points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (1, 1, 1), (0, 1, 1), (0, 0, 1)]
    return model(*ring(points, [(0, 1, 0), (0, 0, 1), (1, 0, 0)] * 2), gravity=(1, -2, -9))


def bennett():
    """Opposite links are equal, a / sin(alpha) = b / sin(beta)."""
    a, alpha = (0.5, 0.8), (0.6, math.asin(0.8 * math.sin(0.6) / 0.5))
    second = 2 * math.atan(math.sin((alpha[0] + alpha[1]) / 2) / math.sin((alpha[1] - alpha[0]) / 2) / math.tan(0.5))
    angles = (1, second, -1, -second)
    R, p, points, axes = [[1, 0, 0], [0, 1, 0], [0, 0, 1]], [0.0, 0.0, 0.0], [], []
    for i in range(4):
        c, s, ca, sa = (f(x) for x in (angles[i], alpha[i % 2]) for f in (math.cos, math.sin))
        points.append(tuple(p))
        axes.append(tuple(row[2] for row in R))
        step = (a[i % 2] * c, a[i % 2] * s, 0)
        p = [p[k] + sum(R[k][j] * step[j] for j in range(3)) for k in range(3)]
        A = [[c, -s * ca, s * sa], [s, c * ca, -c * sa], [0, sa, ca]]
        R = [[sum(R[k][j] * A[j][m] for j in range(3)) for m in range(3)] for k in range(3)]
    assert max(map(abs, p)) < 1e-12, p
    return model(*ring(points, axes))


def sarrus(n, height=1.0, gravity=(3, -2, -9), speed=0.0):
    """n platforms, each on two chains of three parallel hinges at right angles to each other."""
    bodies, joints, below = [], [], "ground"
    out = math.sqrt(0.41 - height * height / 4)
    for k in range(n):
        top, z = f"p{k}", (k * height, (k + 0.5) * height, (k + 1) * height)
        bodies.append(link(top, (-0.5, -0.5, z[2]), (0.7, 0.5, z[2]), 2))
        for name, place, axis in (("x", lambda r, h: (0, -r, h), (1, 0, 0)), ("y", lambda r, h: (-r, 0, h), (0, 1, 0))):
            points = [place(1, z[0]), place(1 + out, z[1]), place(1, z[2])]
            more_bodies, more_joints = ring(points, [axis] * 3, top, below, f"{name}{k}")
            bodies += more_bodies
            joints += more_joints
        below = top
    if speed:
        joints[0] = joints[0].replace("}\n", f", qd: [{speed}]}}\n")
    return model(bodies, joints, gravity)


def parallelogram():
    """Cranks of 0.7 m, 1.6 m apart, with 6 rad/s; the coupler is three times as heavy."""
    x, y = 0.7 * math.cos(1), 0.7 * math.sin(1)
    bodies = [link("a", (0, 0, 0), (x, y, 0)), link("b", (1.6, 0, 0), (1.6 + x, y, 0)),
              link("c", (x, y, 0), (1.6 + x, y, 0), 3.0)]
    z = (0, 0, 1)
    return model(bodies, [joint("g", "ground", "a", (0, 0, 0), z, more=", qd: [6]"), joint("h", "ground", "b", (1.6, 0, 0), z),
                          joint("d", "a", "c", (x, y, 0), z), joint("e", "c", "b", (1.6 + x, y, 0), z)])


def slider_crank():
    """Crank and rod of 0.5 m: they lie on each other where the crank is across the slide."""
    x, y = 0.5 * math.cos(0.6), 0.5 * math.sin(0.6)
    z = (0, 0, 1)
    bodies = [link("crank", (0, 0, 0), (x, y, 0)), link("rod", (x, y, 0), (2 * x, 0, 0)),
              link("slider", (2 * x, 0, 0), (2 * x, 0, 0))]
    return model(bodies, [joint("g", "ground", "crank", (0, 0, 0), z, more=", qd: [8]"), joint("a", "crank", "rod", (x, y, 0), z),
                          joint("b", "rod", "slider", (2 * x, 0, 0), z),
                          joint("s", "slider", "ground", (2 * x, 0, 0), (1, 0, 0), "prismatic")])


def generated(kind, n, gravity, q="0.3, 0, 0"):
    return f"linkwork: 1\ngravity: {list(gravity)}\ngenerate:\n  {kind}: {{n: {n}, q: [{q}]}}\n"


# ---------------------------------------------------------------------------------------------- runs

class Tables:
    def __init__(self, program, folder):
        self.program = program
        self.model, self.output = os.path.join(folder, "model.yaml"), os.path.join(folder, "run.csv")
        self.failed = 0
        self.found = {name: [] for name in HEADS}

    def write(self, text):
        with open(self.model, "w", encoding="utf-8") as file:
            file.write(text)

    def add(self, name, holds, *cells):
        """A line of a table."""
        self.failed += not holds
        self.found[name].append([*cells, holds])
        print(line_of(self.found[name][-1]), flush=True)

    def run(self, *options):
        done = subprocess.run([self.program, "run", self.model, *options, "-o", self.output], capture_output=True, text=True,
                              check=False)
        if done.returncode:
            raise RuntimeError(" ".join(options) + ": " + done.stderr)
        return done.stdout

    def reactions(self, *options):
        """Of the first row: all components."""
        self.run("--duration", "0", *options)
        with open(self.output, newline="", encoding="utf-8") as file:
            head, row = list(csv.reader(file))[:2]
        return [float(x) for n, x in zip(head, row) if n.startswith("joint.") and n.split(".")[-1] in COMPONENTS]

    def equal(self, name, text):
        self.write(text)
        expected = self.reactions("--formulation", "dense")
        size = max(map(abs, expected))
        off = [max(abs(a - b) for a, b in zip(self.reactions("--formulation", f), expected)) / size for f in OTHERS]
        self.add("equal", max(off) <= EQUAL, name, len(expected) // 6, *(f"{x:.0e}" for x in off))

    def cost(self, n, across):
        self.write(generated("net", n, (0, 0, -9.81) if across else (0, -9.81, 0)))
        best = {}
        for _ in range(3):  # other programs disturb single measurements
            done = subprocess.run([self.program, "bench", self.model, "--formulations", "dca,hdca", "--seconds", "0.5", "--json"],
                                  capture_output=True, text=True, check=True)
            for f in json.loads(done.stdout)["formulations"]:
                old = best.get(f["name"], (0, 0))
                best[f["name"]] = (max(old[0], f["evaluations_per_second"]), max(old[1], f["rows_per_second"]))
        ratios = {name: e / r for name, (e, r) in best.items()}
        self.add("cost", max(ratios.values()) <= EVALUATIONS, f"{n} x {n}, gravity {'across' if across else 'in'} the plane",
                 *(f"{ratios[f]:.2f}" for f in ("dca", "hdca")))

    def smooth(self, name, text, formulation, duration, passages, bars=None, step=None):
        """bars: a body; s is the sine of its angle."""
        self.write(text)
        options = ("--step", step) if step else ()
        said = self.run("--formulation", formulation, "--duration", repr(duration), "--sample", "0.001", *options)
        across = ACROSS.search(said)
        count = int(across.group(1)) if across else 0
        worst, largest = self.deviation(bars)
        holds = worst <= (GROWING if bars else SMOOTH) * largest and (count >= passages or formulation == "index3")
        self.add("smooth", holds, name, f"`{formulation}`", count, f"{worst:.1e}", f"{largest:.3g}",
                 f"{(GROWING if bars else SMOOTH) * largest:.1e}")

    def deviation(self, bars):
        """Largest difference from the neighbours' quintic, and largest component; of s F with bars."""
        with open(self.output, newline="", encoding="utf-8") as file:
            rows = csv.reader(file)
            head = next(rows)
            columns = [i for i, n in enumerate(head) if n.startswith("joint.") and n.split(".")[-1] in COMPONENTS]
            pose = [head.index(f"body.{bars}.{x}") for x in ("qw", "qz")] if bars else None
            last, worst, largest = collections.deque(maxlen=7), 0.0, 0.0
            for row in rows:
                s = math.sin(2 * math.atan2(*(float(row[i]) for i in reversed(pose)))) if bars else 1.0
                if abs(s) < UNDETERMINED:
                    last.clear()
                    continue
                last.append([s * float(row[i]) for i in columns])
                largest = max(largest, *map(abs, last[-1]))
                if len(last) == 7:
                    a, b, c, x, d, e, f = last
                    worst = max(worst, *(abs(x[k] - (15 * (c[k] + d[k]) - 6 * (b[k] + e[k]) + a[k] + f[k]) / 20)
                                         for k in range(len(columns))))
        os.remove(self.output)
        return worst, largest


HEADS = {"equal": ["mechanism", "joints", *(f"`{f}`" for f in OTHERS)],
         "cost": ["net", "`dca`", "`hdca`"],
         "smooth": ["mechanism", "formulation", "passed straight on", "from its neighbours [N, N m]", "largest [N, N m]", "limit"]}


def line_of(entry):
    cells = [*map(str, entry[:-1]), "holds" if entry[-1] else "**does not hold**"]
    return "| " + " | ".join(cells) + " |"


def head_of(name):
    return ["| " + " | ".join(HEADS[name]) + " | verdict |", "|---" * (len(HEADS[name]) + 1) + "|"]


def stored_table(name):
    """Lines of a table of the last full run."""
    with open(STORED, encoding="utf-8") as file:
        return head_of(name) + [line_of(entry) for entry in json.load(file)[name]]


def first_table(tables, quick):
    print("\n" + "\n".join(head_of("equal")))
    for n in (2,) if quick else (2, 4):
        tables.equal(f"net {n} x {n}, gravity in the plane", generated("net", n, (0, -9.81, 0)))
        tables.equal(f"net {n} x {n}, gravity across", generated("net", n, (0, 0, -9.81)))
    tables.equal("ladder of 8", generated("ladder", 8, (0.1, 0.2, -9.81), "0.3, 0.2, 0"))
    tables.equal("Bricard", bricard())
    tables.equal("Bennett", bennett())
    for n in (1,) if quick else (1, 2, 4):
        tables.equal(f"Sarrus, {n} high", sarrus(n))


def third_table(tables, passages):
    print("\n" + "\n".join(head_of("smooth")))
    few = max(2, passages // 10)
    # seconds between passages, or rather a little more
    studies = [("rhombus", report.rhombus().text, 2.0274, passages, None),
               ("four-bar of [malczyk2019]", cases.text("four-bar-I"), 1.38, passages, None),
               ("parallelogram", parallelogram(), 0.56, passages, None),
               ("slider-crank", slider_crank(), 0.42, passages, None),
               ("Sarrus", sarrus(1, 0.6, (0, 0, 0), 3.0), 0.7, passages, None),
               ("A02, N = 2, s F", report.four_bars(2).text, 1.0, few, "v0"),
               ("A02, N = 10, s F", report.four_bars(10).text, 1.0, max(2, few // 2), "v0"),
               ("A02, N = 40, s F", report.four_bars(40).text, 1.0, 2, "v0")]
    for name, text, period, count, bars in studies:
        for formulation in ("rcr", "hdca", "dca"):
            tables.smooth(name, text, formulation, period * count, count, bars)
        if name == "rhombus":
            tables.smooth(name, text, "index3", period * few, few, None, "0.001")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--passages", type=int, default=100)
    parser.add_argument("--largest-net", type=int, default=64)
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tables = Tables(given.program, folder)
        first_table(tables, given.quick)
        if given.quick:
            print("\n" + "\n".join(head_of("smooth")))
            for name, text, duration in (("parallelogram", parallelogram(), 1.2), ("slider-crank", slider_crank(), 0.9),
                                         ("Sarrus", sarrus(1, 0.6, (0, 0, 0), 3.0), 1.4)):
                tables.smooth(name, text, "rcr", duration, 2)
            return tables.failed > 0
        print("\n" + "\n".join(head_of("cost")))
        for n in (8, 16, 32, 64):
            if n <= given.largest_net:
                tables.cost(n, False)
                tables.cost(n, True)
        third_table(tables, given.passages)
        machine = json.loads(subprocess.run([given.program, "bench", "--case", "chain-7", "--samples", "1", "--json"],
                                            capture_output=True, text=True, check=True).stdout)["cpu"]
        with open(STORED, "w", encoding="utf-8") as file:
            json.dump({"machine": machine, "passages": given.passages, **tables.found}, file, indent=1)
            file.write("\n")
    return tables.failed > 0


if __name__ == "__main__":
    sys.exit(main())
