#!/usr/bin/env python3
"""What every formulation does at singular positions.

usage: report.py --program PROGRAM [--quick | --accuracy | --render]

Two mechanisms whose links come into a line, where another branch of the motion begins: a rhombus of
three bars that swings (five times in ten seconds), and rows of four-bars with one common freedom (benchmark
A02 of the IFToMM).  On
the branch that they start on, all bars turn by one angle: a pendulum's equation, integrated here, is
what runs are compared with.

Writes results.json, and from that and reactions.json, which reactions.py writes, the page with its verdicts
(examples/reports.py).  --quick takes few runs and writes nothing; the tests run it.  The exit status is 1 when a statement
does not hold, a number or the page is not what is stored, or a run is silent about a singular position, yields something
that is no number, or ends without saying where and why.
"""
import csv
import functools
import json
import math
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, ".."))

import reports  # noqa: E402

GRAVITY = 9.81
DURATION = 10.0
LEFT = 0.1       # [rad] by which a coupler has turned where its loop has left the branch
BY_TOLERANCE = "index3, by tolerance"
FORMULATIONS = ["dense", "lagrange", "dca", "hdca", "rcr", "auto", "index3", BY_TOLERANCE]
TOLERANCES = ["1e-4", "1e-6", "1e-8", "1e-10", "1e-12"]
MAX_STEPS = 20000  # what is beside a singular position may need any number
STEPS = ["0.05", "0.02", "0.01", "0.005", "0.001"]
SECOND_ORDER = ["1e-4", "1e-6", "1e-8"]  # tolerances of index3; others take more than MAX_STEPS

ACROSS = re.compile(r"passed (\d+) singular positions? straight on, first at t = ([-+.\de]+) s")
CLOSE = re.compile(r"passed close to a singular position at t = ([-+.\de]+) s \(times in all: (\d+)")
STOPPED = re.compile(r"singular position at t = ([-+.\de]+) s: the constraints of (.*?) depend on each "
                     r"other here, but not nearby \(pivot ([-+.\de]+)\)")


class Mechanism:
    """T = inertia/2 angle'^2, V = weight sin(angle); couplers do not turn."""

    def __init__(self, name, text, couplers, inertia, weight, angle, speed, level=0.0):
        self.name, self.text, self.couplers = name, text, couplers
        self.inertia, self.weight, self.angle, self.speed = inertia, weight, angle, speed
        self.level = level  # angle of the couplers

    def motion(self, until):
        """(time, angle) at every step of Runge and Kutta's method; steps of 0.1 ms leave 1e-12."""
        def rate(angle):
            return -self.weight / self.inertia * math.cos(angle)
        n = max(1, math.ceil(until / 1e-4))
        h, a, w = until / n, self.angle, self.speed
        yield 0.0, a
        for i in range(n):
            k1, l1 = w, rate(a)
            k2, l2 = w + h / 2 * l1, rate(a + h / 2 * k1)
            k3, l3 = w + h / 2 * l2, rate(a + h / 2 * k2)
            k4, l4 = w + h * l3, rate(a + h * k3)
            a += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
            w += h / 6 * (l1 + 2 * l2 + 2 * l3 + l4)
            yield (i + 1) * h, a

    @functools.lru_cache(maxsize=None)
    def exact(self, until):
        """Angle at a time."""
        for _, angle in self.motion(until):
            pass
        return angle

    def in_line(self):
        """When all links are in a line for the first time, and how often after that."""
        found, before = [], None
        for t, angle in self.motion(DURATION):
            s = math.sin(angle - self.level)
            if before and before[1] * s < 0:
                found.append(before[0] + (t - before[0]) * before[1] / (before[1] - s))
            before = t, s
        return f"at {found[0]:.6g} s, and {len(found) - 1} more times"


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
    return Mechanism("the rhombus", text, ["B"], 3.5, 2 * GRAVITY, angle, 0.0, math.pi / 2)


def four_bars(n, up=1.0, speed=-1.0):
    """n + 1 upright bars of 1 m and 1 kg under n level ones; they fall with 1 rad/s.  up = -1: below."""
    slim = (0.01, 1 / 12)
    angle, rate = up * math.pi / 2, -up * speed
    bodies = "".join(bar(f"v{i}", slim, float(i), 0.5 * up, angle, (0.5 * rate, 0.0), speed)
                     for i in range(n + 1))
    bodies += "".join(bar(f"h{i}", slim, i + 0.5, up, 0.0, (rate, 0.0)) for i in range(n))
    joints = "".join(hinge(f"g{i}", "ground", f"v{i}", float(i), -0.5) for i in range(n + 1))
    joints += "".join(hinge(f"a{i}", f"v{i}", f"h{i}", 0.5, -0.5) +
                      hinge(f"b{i}", f"h{i}", f"v{i + 1}", 0.5, 0.5) for i in range(n))
    text = f"linkwork: 1\ngravity: [0, {-GRAVITY}, 0]\nbodies:\n{bodies}joints:\n{joints}"
    name = "one four-bar" if n == 1 else f"{n} four-bars in a row"
    return Mechanism(name, text, [f"h{i}" for i in range(n)], (n + 1) / 3 + n,
                     ((n + 1) / 2 + n) * GRAVITY, angle, speed)


# ---------------------------------------------------------------------------------------------- runs

class Run:
    """One run: what became of it."""

    def __init__(self, program, folder, mechanism, formulation, accuracy):
        model = os.path.join(folder, "model.yaml")
        output = os.path.join(folder, "run.csv")
        with open(model, "w", encoding="utf-8") as file:
            file.write(mechanism.text)
        command = [program, "run", model, "--json", "--formulation", formulation.split(",")[0], "--duration",
                   repr(DURATION), "--sample", "steps", "-o", output, "--max-steps", str(MAX_STEPS)]
        if formulation == "index3":
            command += ["--step", accuracy]
        elif formulation in ("auto", BY_TOLERANCE):
            command += ["--rtol", accuracy, "--atol", accuracy]
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
        self.energy = summary.get("energy_error")
        self.closure = summary.get("residual", [None])[0]
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
        self.finite, self.left, self.end, self.error = True, None, 0.0, None
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
    return "–" if x is None else f"{x:.0e}".replace("e-0", "e-").replace("e+0", "e+")


def table(found):
    """Of {formulation: {tolerance or step: numbers}}."""
    rows = [[f"`{formulation}`", f"h = {accuracy} s" if formulation == "index3" else accuracy, r["steps"], r["branch"],
             f"{r['first']:.4g} s, {r['across']} + {r['close']}" if r["first"] else "–", number(r["energy"]),
             number(r["closure"]), number(r["off"])]
            for formulation, runs in found.items() for accuracy, r in runs.items()]
    return reports.table(["formulation", "tolerance, step", "steps", "the branch", "first, across + close", "energy error [J]",
                          "closure [m]", "coupler off at the end [m]"], rows)


def numbers(runs):
    """What is stored of them."""
    found = {}
    for r in runs:
        found.setdefault(r.formulation, {})[r.accuracy] = {
            "steps": r.steps, "branch": r.outcome(), "first": r.first, "across": r.across, "close": r.close,
            "energy": r.energy, "closure": r.closure, "off": r.error}
    return found


def study_of(program, mechanism, formulations, tolerances, steps):
    with tempfile.TemporaryDirectory() as folder:
        return [Run(program, folder, mechanism, f, a) for f in formulations
                for a in (steps if f == "index3" else tolerances) if f != BY_TOLERANCE or a in SECOND_ORDER]


def steps_of_hanging(program, n, tolerances):
    """Steps of `auto` for a row that swings by 72 degrees to both sides and passes no singular position."""
    with tempfile.TemporaryDirectory() as folder:
        runs = [Run(program, folder, four_bars(n, -1.0, 4.0), "auto", a) for a in tolerances]
    return {r.accuracy: r.steps for r in runs if r.ended and not r.first}


def complaints(mechanism, runs):
    """What no run may do."""
    for r in runs:
        which = f"{mechanism.name}, {r.formulation}, {r.accuracy}"
        if not r.finite:
            yield f"{which}: something is no number"
        if r.ended and not r.first:
            yield f"{which}: silent about the singular positions it passed"
        if not r.formulation.startswith("index3") and float(r.accuracy) <= 1e-4 and (r.left or not r.ended or r.close):
            yield f"{which}: {r.outcome()}, {r.close} positions are not stepped across"
        if not r.ended and not r.singular and "integration stops at t = " not in r.why:
            yield f"{which}: ended without saying where: {r.why}"
        if r.singular and "'" not in r.singular[1]:
            yield f"{which}: no joint is named"


STORED = {"rhombus": rhombus, "two": functools.partial(four_bars, 2), "ten": functools.partial(four_bars, 10),
          "forty": functools.partial(four_bars, 40)}


def share(which):
    which = list(which)
    return f"{sum(which)} of {len(which)} runs"


class Singular(reports.Report):
    here, page_file = HERE, "docs/reports/singular.md"
    about, statements = __doc__.splitlines()[0], "statement"

    def measure(self, study, options):
        return self.quick_runs(study) if options.quick else self.runs(study)

    def quick_runs(self, study):
        """Those of the rhombus that are stored, and others that are not."""
        wrong = []
        for mechanism in (rhombus(), four_bars(1), four_bars(3)):
            runs = study_of(study.program, mechanism, FORMULATIONS, ["1e-3", "1e-6"], ["0.02"])
            wrong += complaints(mechanism, runs)
            print(table(numbers(runs)))
            if mechanism.couplers == ["B"]:
                found = numbers(r for r in runs if r.accuracy != "1e-3")
        study.hold("no run is silent" + "".join("\n    " + text for text in wrong), not wrong)
        return {"rhombus": found}

    def runs(self, study):
        found, wrong = {}, []
        for key, mechanism in STORED.items():
            # `dense` and `lagrange` decompose matrices of 1200 x 800 numbers in every evaluation of the forty
            formulations = FORMULATIONS[2:-1] if key == "forty" else FORMULATIONS
            runs = study_of(study.program, mechanism(), formulations, TOLERANCES, STEPS)
            wrong += complaints(mechanism(), runs)
            found[key] = numbers(runs)
            print(table(found[key]), flush=True)
        found["complaints"] = wrong
        found["hanging"] = {str(n): steps_of_hanging(study.program, n, TOLERANCES) for n in (2, 10)}
        return found

    def tolerance(self, path):
        return 0.5, 1e-9

    def answers(self, results):
        found = {key: results["accuracy"][key] for key in STORED}
        adaptive = [r for of in found.values() for f, runs in of.items() if not f.startswith("index3")
                    for r in runs.values()]
        fixed = [r for of in found.values() for f in ("index3", BY_TOLERANCE) for r in of.get(f, {}).values()]
        hanging = results["accuracy"]["hanging"]
        ratios = [found[key]["auto"][a]["steps"] / hanging[n][a] for key, n in (("two", "2"), ("ten", "10"))
                  for a in TOLERANCES]
        grows = [reports.exponent(list(map(float, runs)), [r["off"] for r in runs.values()])
                 for of in found.values() for f, runs in of.items() if not f.startswith("index3")]
        order = [reports.exponent(list(map(float, STEPS[2:])), [of["index3"][h]["energy"] for h in STEPS[2:]])
                 for of in found.values()]
        coarse = [of["index3"][STEPS[0]]["off"] for key, of in found.items() if key != "rhombus"]
        silent, reactions = results["accuracy"]["complaints"], self.reactions()

        def kept(runs):
            return [r["branch"] == "kept" for r in runs]

        def verdicts(key):
            return [entry[-1] for entry in reactions[key]]

        def worst(key, first):
            return max(float(x) for entry in reactions[key] for x in entry[first:-1])

        return [
            ("`rcr`, `dca`, `hdca`, `dense`, `lagrange` and `auto` keep the branch at every tolerance from 1e-4 to 1e-12", True,
             all(kept(adaptive)), share(kept(adaptive))),
            ("each position is passed by one [step across](../theory/loops.md#steps-across-singular-positions)", True,
             all(r["across"] and not r["close"] for r in adaptive), share(not r["close"] for r in adaptive)),
            ("their errors fall with the tolerance", True, min(grows) > 0.5,
             f"as its power {min(grows):.1f} to {max(grows):.1f}"),
            ("`auto` takes at most three times the steps of the same row swinging below, where it passes no such position", True,
             max(ratios) <= 3, f"{min(ratios):.1f} to {max(ratios):.1f} times, rows of two and ten"),
            ("`index3`, which has its own steps, keeps the branch", True, all(kept(fixed)),
             share(kept(fixed)) + ": multipliers are regularised, positions satisfy the constraints in each step"),
            ("its energy errors are of order two", True, 1.8 < min(order) <= max(order) < 2.4,
             f"powers {min(order):.2f} to {max(order):.2f} of h from {STEPS[2]} to {STEPS[-1]} s"),
            (f"steps of {STEPS[0]} s resolve the motion of the four-bars", False, max(coarse) < 0.1,
             f"couplers are off by up to {max(coarse):.1f} m"),
            ("each run reports the positions that it passed, with the joints", True, not silent,
             f"{len(silent)} runs do not"),
            ("reactions are those of minimum norm", True, all(verdicts("equal")), f"off by at most {worst('equal', 2):.0e}"),
            ("a row with all reactions costs at most two evaluations", True, all(verdicts("cost")),
             f"{worst('cost', 1):.2f}"),
            ("reactions are smooth through the positions", True, all(verdicts("smooth")), share(verdicts("smooth"))),
        ]

    def reactions(self):
        return reports.stored(HERE, "reactions.json")

    def parts(self, results):
        import reactions  # which imports this file
        return {**{key: table(results["accuracy"][key]) for key in STORED},
                **{key: "\n".join(reactions.stored_table(key)) for key in reactions.HEADS},
                "rhombus in line": rhombus().in_line(), "two in line": four_bars(2).in_line(),
                "passages": str(self.reactions()["passages"]), "machine": self.reactions()["machine"]}


if __name__ == "__main__":
    sys.exit(Singular().main())
