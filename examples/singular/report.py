#!/usr/bin/env python3
"""What every formulation does at singular positions.

usage: report.py --program PROGRAM [--output FILE.md] [--quick]

Two mechanisms whose links come into a line, where another branch of the motion begins: a rhombus of
three bars that swings (five times in ten seconds), and rows of four-bars with one common freedom (benchmark
A02 of the IFToMM).  On
the branch that they start on, all bars turn by one angle: a pendulum's equation, integrated here, is
what runs are compared with.

--quick takes few runs and writes nothing; its exit status is 1 when a run is silent about a singular
position, yields something that is no number, or ends without saying where and why.  The tests run it.
"""
import argparse
import csv
import functools
import json
import math
import os
import re
import subprocess
import sys
import tempfile

GRAVITY = 9.81
DURATION = 10.0
LEFT = 0.1       # [rad] by which a coupler has turned where its loop has left the branch
FORMULATIONS = ["dense", "lagrange", "dca", "hdca", "rcr", "index3"]
TOLERANCES = ["1e-4", "1e-6", "1e-8", "1e-10", "1e-12"]
MOST_STEPS = 20000  # what is beside a singular position may need any number
STEPS = ["0.05", "0.02", "0.01", "0.005", "0.001"]

ACROSS = re.compile(r"passed (\d+) singular positions? straight on, first at t = ([-+.\de]+) s")
CLOSE = re.compile(r"passed close to a singular position at t = ([-+.\de]+) s \(times in all: (\d+)")
STOPPED = re.compile(r"singular position at t = ([-+.\de]+) s: the constraints of (.*?) depend on each "
                     r"other here, but not nearby \(pivot ([-+.\de]+)\)")


class Mechanism:
    """T = inertia/2 angle'^2, V = weight sin(angle); couplers do not turn."""

    def __init__(self, name, text, couplers, inertia, weight, angle, speed):
        self.name, self.text, self.couplers = name, text, couplers
        self.inertia, self.weight, self.angle, self.speed = inertia, weight, angle, speed

    @functools.lru_cache(maxsize=None)
    def exact(self, until):
        """Angle at a time, by Runge and Kutta's method; steps of 0.1 ms leave 1e-12."""
        def rate(angle):
            return -self.weight / self.inertia * math.cos(angle)
        n = max(1, math.ceil(until / 1e-4))
        h, a, w = until / n, self.angle, self.speed
        for _ in range(n):
            k1, l1 = w, rate(a)
            k2, l2 = w + h / 2 * l1, rate(a + h / 2 * k1)
            k3, l3 = w + h / 2 * l2, rate(a + h / 2 * k2)
            k4, l4 = w + h * l3, rate(a + h * k3)
            a += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
            w += h / 6 * (l1 + 2 * l2 + 2 * l3 + l4)
        return a


def bar(name, inertia, x, y, angle, velocity=(0, 0), spin=0.0):
    return (f"  {name}: {{mass: 1, inertia: [{inertia[0]!r}, {inertia[1]!r}, {inertia[1]!r}, 0, 0, 0], "
            f"position: [{x!r}, {y!r}, 0], orientation: [{math.cos(angle / 2)!r}, 0, 0, "
            f"{math.sin(angle / 2)!r}], velocity: [{velocity[0]!r}, {velocity[1]!r}, 0], "
            f"angular_velocity: [0, 0, {spin!r}]}}\n")


def hinge(name, body1, body2, x1, x2, y1=0.0):
    """Points in the bodies' axes: lengths are equal to the last bit."""
    return (f"  {name}: {{type: revolute, between: [{body1}, {body2}], "
            f"frame1: {{position: [{x1!r}, {y1!r}, 0]}}, frame2: {{position: [{x2!r}, 0, 0]}}}}\n")


def rhombus():
    """Bars of 1 m, 1 kg, 1 kg m2, pivots one above the other; the cranks start at 45 degrees, at rest."""
    angle = math.pi / 4
    c, s = math.cos(angle) / 2, math.sin(angle) / 2
    text = (f"linkwork: 1\ngravity: [0, {-GRAVITY}, 0]\nbodies:\n" + bar("A", (1, 1), c, s, angle) +
            bar("B", (1, 1), 2 * c, 2 * s + 0.5, math.pi / 2) + bar("C", (1, 1), c, s + 1, angle) +
            "joints:\n" + hinge("j1", "ground", "A", 0.0, -0.5) + hinge("j2", "A", "B", 0.5, -0.5) +
            hinge("j3", "B", "C", 0.5, 0.5) + hinge("j4", "ground", "C", 0.0, -0.5, 1.0))
    return Mechanism("the rhombus", text, ["B"], 3.5, 2 * GRAVITY, angle, 0.0)


def four_bars(n):
    """n + 1 upright bars of 1 m and 1 kg under n level ones; they fall with 1 rad/s."""
    slim = (0.01, 1 / 12)
    bodies = "".join(bar(f"v{i}", slim, float(i), 0.5, math.pi / 2, (0.5, 0.0), -1.0)
                     for i in range(n + 1))
    bodies += "".join(bar(f"h{i}", slim, i + 0.5, 1.0, 0.0, (1.0, 0.0)) for i in range(n))
    joints = "".join(hinge(f"g{i}", "ground", f"v{i}", float(i), -0.5) for i in range(n + 1))
    joints += "".join(hinge(f"a{i}", f"v{i}", f"h{i}", 0.5, -0.5) +
                      hinge(f"b{i}", f"h{i}", f"v{i + 1}", 0.5, 0.5) for i in range(n))
    text = f"linkwork: 1\ngravity: [0, {-GRAVITY}, 0]\nbodies:\n{bodies}joints:\n{joints}"
    name = "one four-bar" if n == 1 else f"{n} four-bars in a row"
    return Mechanism(name, text, [f"h{i}" for i in range(n)], (n + 1) / 3 + n,
                     ((n + 1) / 2 + n) * GRAVITY, math.pi / 2, -1.0)


# ---------------------------------------------------------------------------------------------- runs

class Run:
    """One run: what became of it."""

    def __init__(self, program, folder, mechanism, formulation, accuracy):
        model = os.path.join(folder, "model.yaml")
        output = os.path.join(folder, "run.csv")
        with open(model, "w", encoding="utf-8") as file:
            file.write(mechanism.text)
        command = [program, "run", model, "--json", "--formulation", formulation, "--duration",
                   repr(DURATION), "--sample", "steps", "-o", output, "--max-steps", str(MOST_STEPS)]
        if formulation == "index3":
            command += ["--step", accuracy]
        else:
            command += ["--integrator", "dopri5", "--rtol", accuracy, "--atol", accuracy]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1):
            raise RuntimeError(f"{formulation}, {accuracy}: exit status {done.returncode}: {done.stderr}")
        self.formulation, self.accuracy = formulation, accuracy
        self.ended = done.returncode == 0
        self.why = " ".join(done.stderr.split())
        summary = json.loads(done.stdout) if done.stdout.strip() else {}
        self.steps = summary.get("steps", 0)
        self.energy = summary.get("energy_error", math.nan)
        self.closure = summary.get("residual", [math.nan])[0]
        notice = summary.get("notice", "")
        across, close = ACROSS.search(notice), CLOSE.search(notice)
        self.across = int(across.group(1)) if across else 0
        times = [float(across.group(2))] if across else []
        times += [float(close.group(1))] if close else []
        self.first = min(times) if times else None
        self.close = int(close.group(2)) if close else 0
        stopped = STOPPED.search(done.stderr)
        self.singular = stopped.groups() if stopped else None
        self.read(mechanism, output)

    def read(self, mechanism, output):
        """End, loops that left their branch, distance from the exact motion where none did."""
        self.finite, self.left, self.end, self.error = True, None, 0.0, math.nan
        gone, last = set(), None
        if not os.path.exists(output):
            return
        with open(output, newline="", encoding="utf-8") as file:
            rows = csv.reader(file)
            head = {name: i for i, name in enumerate(next(rows))}
            start = None
            for row in rows:
                values = [float(x) for x in row]
                self.finite = self.finite and all(map(math.isfinite, values))
                turn = [2 * math.atan2(values[head[f"body.{c}.qz"]], values[head[f"body.{c}.qw"]])
                        for c in mechanism.couplers]
                start = start or turn
                for c, a, b in zip(mechanism.couplers, turn, start):
                    if abs(math.remainder(a - b, 2 * math.pi)) > LEFT:
                        gone.add(c)
                        self.left = self.left or values[0]
                last = values
        os.remove(output)
        self.gone = len(gone)
        if last is None:
            return
        self.end = last[0]
        if not gone:
            c = mechanism.couplers[0]
            first = mechanism.exact(0.0)
            angle = mechanism.exact(self.end)
            x0, y0 = coupler_at_start(mechanism)
            dx = x0 + math.cos(angle) - math.cos(first) - last[head[f"body.{c}.x"]]
            dy = y0 + math.sin(angle) - math.sin(first) - last[head[f"body.{c}.y"]]
            self.error = math.hypot(dx, dy)

    def outcome(self):
        if not self.ended:
            where = f"stopped at {self.end:.3g} s"
            if self.singular:
                where += f": constraints of {self.singular[1]}, pivot {self.singular[2]}"
            elif "max_steps" in self.why:
                where += f" after {self.steps} steps"
            else:
                where += ": no step is small enough"
            return where + (f"; {self.gone} left the branch" if self.gone else "")
        if self.left is None:
            return "kept"
        return f"left at {self.left:.3g} s" + (f" ({self.gone} loops)" if self.gone > 1 else "")


def coupler_at_start(mechanism):
    if mechanism.couplers == ["B"]:
        return math.cos(mechanism.angle), math.sin(mechanism.angle) + 0.5
    return 0.5, 1.0


# -------------------------------------------------------------------------------------------- report

def number(x):
    return "–" if not math.isfinite(x) else f"{x:.0e}".replace("e-0", "e-").replace("e+0", "e+")


def table(runs):
    lines = ["| formulation | tolerance, step | steps | the branch | first, across + close | energy error [J] | "
             "closure [m] | coupler off at the end [m] |", "|---|---|---|---|---|---|---|---|"]
    for r in runs:
        accuracy = f"h = {r.accuracy} s" if r.formulation == "index3" else r.accuracy
        passages = f"{r.first:.4g} s, {r.across} + {r.close}" if r.first else "–"
        lines.append(f"| `{r.formulation}` | {accuracy} | {r.steps} | {r.outcome()} | {passages} | "
                     f"{number(r.energy)} | {number(r.closure)} | {number(r.error)} |")
    return "\n".join(lines)


def study(program, mechanism, formulations, tolerances, steps):
    with tempfile.TemporaryDirectory() as folder:
        return [Run(program, folder, mechanism, f, a) for f in formulations
                for a in (steps if f == "index3" else tolerances)]


def complaints(mechanism, runs):
    """What no run may do."""
    for r in runs:
        which = f"{mechanism.name}, {r.formulation}, {r.accuracy}"
        if not r.finite:
            yield f"{which}: something is no number"
        if r.ended and not r.first:
            yield f"{which}: silent about the singular positions it passed"
        if r.formulation != "index3" and float(r.accuracy) <= 1e-4 and (r.left or not r.ended or r.close):
            yield f"{which}: {r.outcome()}, {r.close} positions are not stepped across"
        if not r.ended and not r.singular and "integration stops at t = " not in r.why:
            yield f"{which}: ended without saying where: {r.why}"
        if r.singular and "'" not in r.singular[1]:
            yield f"{which}: no joint is named"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--output")
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    here = os.path.dirname(os.path.abspath(__file__))
    wrong = []
    if given.quick:
        for mechanism in (rhombus(), four_bars(1), four_bars(3)):
            runs = study(given.program, mechanism, FORMULATIONS, ["1e-3", "1e-6"], ["0.02"])
            wrong += complaints(mechanism, runs)
            print(table(runs))
        print("\n".join(wrong))
        return 1 if wrong else 0
    version = subprocess.run([given.program, "--version"], capture_output=True, text=True,
                             check=True).stdout.split()[-1]
    with open(os.path.join(here, "report.md.in"), encoding="utf-8") as file:
        text = file.read().replace("{{version}}", version)
    for key, mechanism in (("rhombus", rhombus()), ("two", four_bars(2)), ("ten", four_bars(10)),
                           ("forty", four_bars(40))):
        # `dense` and `lagrange` decompose matrices of 1200 x 800 numbers in every evaluation of the forty
        runs = study(given.program, mechanism, FORMULATIONS[2 if key == "forty" else 0:], TOLERANCES, STEPS)
        wrong += complaints(mechanism, runs)
        text = text.replace("{{" + key + "}}", table(runs))
    import reactions  # which imports this file
    for key in reactions.HEADS:
        text = text.replace("{{" + key + "}}", "\n".join(reactions.stored_table(key)))
    output = given.output or os.path.join(here, "..", "..", "docs", "reports", "singular.md")
    with open(output, "w", encoding="utf-8") as file:
        file.write(text)
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
