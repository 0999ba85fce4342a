#!/usr/bin/env python3
"""The examples of [anderson2003], section 4, reproduced with `linkwork`.

usage: report.py --program PROGRAM [--tests FOLDER] [--reference FOLDER] [--output FOLDER] [--quick]

Runs the four-bar, the parallel mechanisms and the ladders of the paper with coordinate reduction (rcr) and
with the traditional method (lagrange: plain, with Baumgarte's gains, projected onto the constraints each step),
against absolute coordinates (dense), measures drift and cost, checks the statements of the report, draws the
counterparts of the paper's figures 5 to 11 and writes README.md beside them, with the table of the specification's
numbers that the tests in --tests (build/tests) print, and of the trajectories in --reference.  --quick takes
short runs and no timings and writes nothing; it is what the tests run.

Exit status: 0; 1 when a statement does not hold.  Needs nothing but Python and the program.
"""
import argparse
import csv
import json
import math
import os
import re
import subprocess
import sys
import tempfile

import models

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, ".."))

import reports
from reports import exponent, fill, power, read_table, table

# method, options; the last is not in the paper
METHODS = [
    ("rcr", "ground", ("rcr",)),
    ("lagrange, plain", "rocker", ("lagrange",)),
    ("lagrange, plain, rows of the ground", "ground", ("lagrange",)),
    ("lagrange, Baumgarte 10, 10", "rocker", ("lagrange", "--baumgarte", "10,10")),
    ("lagrange, projected each step", "rocker", ("lagrange", "--project", "always")),
    ("rcr, momenta", "ground", ("rcr", "--state", "momenta")),
]
# docs/theory/rcr.md's source: position error at 5, 10, 20, 40 s, exponent, energy error at 40 s
PUBLISHED = {
    "rcr": ((2.6e-6, 5.2e-6, 1.04e-5, 2.14e-5), 0.96, -1.5e-2),
    "lagrange, plain": ((1.13e-3, 5.04e-3, 2.04e-2, 7.18e-2), 2.05, 1.35),
    "lagrange, Baumgarte 10, 10": ((3.2e-6, 9.7e-7, 2.5e-7, 3.9e-6), None, 7e-4),
    "rcr, momenta": (None, 1.06, None),
}
TIMES = (5, 10, 20, 40)
HELD = ("lagrange, Baumgarte 10, 10", "lagrange, projected each step")


class Study(reports.Study):
    def run(self, text, formulation, *options, rows=False):
        """Summary of a run, and its table where rows are wanted: {column: values}."""
        output = self.path("run.csv")
        summary = self.summary(self.write("model.yaml", text), "--formulation", formulation, *options,
                               *(("-o", output) if rows else ()))
        return summary, read_table(output) if rows else None


def fixed(step, duration, sample=None):
    return ("--integrator", "rk4", "--step", repr(step), "--duration", repr(duration), "--sample",
            repr(sample or duration))


# ------------------------------------------------------------------------------------ figures 5, 6

def closing_error(table):
    """Distance of the rocker's end from its pivot, at every row."""
    return [math.hypot(x - 0.7, y) for x, y in zip(table["marker.D.x"], table["marker.D.y"])]


def drift(study, duration):
    """{method: table with `error`, its exponent from 2 s on, energy error at the end}."""
    found = {}
    for name, rows, options in METHODS:
        project = () if "--project" in options else ("--project", "never")
        _, table = study.run(models.four_bar(rows), *options, *project, *fixed(0.01, duration, 0.1),
                             rows=True)
        table["error"] = closing_error(table)
        most = [max(table["error"][:i + 1]) for i in range(len(table["error"]))]
        later = [i for i, t in enumerate(table["time"]) if t >= 2 and i % 5 == 0]
        table["exponent"] = exponent([table["time"][i] for i in later], [most[i] for i in later])
        table["energy"] = table["sys.E"][-1] - table["sys.E"][0]
        found[name] = table
    return found


def at(table, time, values):
    return values[min(range(len(table["time"])), key=lambda i: abs(table["time"][i] - time))]


def check_drift(study, found):
    end = found["rcr"]["time"][-1]
    for t in (t for t in TIMES if t <= end):
        error = at(found["rcr"], t, found["rcr"]["error"])
        printed = PUBLISHED["rcr"][0][TIMES.index(t)]
        study.hold(f"four-bar, rcr: {error:.2e} m off at {t} s, {printed:.2e} m specified",
                   abs(error / printed - 1) < 0.03)
    study.hold(f"rcr drifts with time^{found['rcr']['exponent']:.2f}", 0.85 < found["rcr"]["exponent"] < 1.15)
    plain = found["lagrange, plain"]["exponent"]
    study.hold(f"lagrange drifts with time^{plain:.2f}", 1.8 < plain < 2.4)
    ratio = found["lagrange, plain"]["error"][-1] / found["rcr"]["error"][-1]
    study.hold(f"and is {ratio:.0f} times as far off at the end", ratio > 100)
    study.hold("rcr meets the velocities to round-off, lagrange does not",
               max(found["rcr"]["sys.cvel"]) < 1e-14 < 1e-5 < max(found["lagrange, plain"]["sys.cvel"]))
    for name in HELD:
        study.hold(f"{name}: never more than {max(found[name]['error']):.1e} m off",
                   max(found[name]["error"]) < 2e-5)
    grown = found["rcr, momenta"]["exponent"]
    study.hold(f"rcr with momenta drifts with time^{grown:.2f}", 0.85 < grown < 1.3)
    turns = [abs(a - b) for a, b in zip(found["rcr"]["joint.A.q0"][:51], plain_angles(found)[:51])]
    study.hold(f"figure 5: crank angles of both within {max(turns):.1e} rad over 5 s", max(turns) < 0.05)


def plain_angles(found):
    return found["lagrange, plain"]["joint.A.q0"]


def orders(study):
    """Position error after 10 s by step: {method: errors}."""
    steps, found = (0.02, 0.01, 0.005), {}
    for name, rows, options in METHODS[:2]:
        found[name] = [closing_error(study.run(models.four_bar(rows), *options, "--project", "never",
                                               *fixed(step, 10.0), rows=True)[1])[-1] for step in steps]
    study.hold("rcr: halving the step divides the drift by 13 to 18",
               all(13 < a / b < 18 for a, b in zip(found["rcr"], found["rcr"][1:])))
    return steps, found


# -------------------------------------------------------------------------------------- figures 7, 8

EXACT = ("--integrator", "verner87", "--rtol", "1e-11", "--atol", "1e-11", "--project", "never")


def compare(study, name, text, columns, duration, tolerance):
    """rcr and absolute coordinates on one mechanism: largest distance in these columns, and both tables."""
    tables, sums = [], []
    for formulation in ("rcr", "dense"):
        done, table = study.run(text, formulation, *EXACT, "--duration", repr(duration), "--sample", "0.02",
                                rows=True)
        tables.append(table)
        sums.append(done)
    off = max(abs(a - b) for c in columns for a, b in zip(tables[0][c], tables[1][c]))
    study.hold(f"{name}: {', '.join(columns)} of rcr and dense within {off:.1e} over {duration:g} s",
               off < tolerance)
    study.hold(f"{name}: velocities meet the loops to {sums[0]['residual'][1]:.1e}, positions to "
               f"{sums[0]['residual'][0]:.1e}", sums[0]["residual"][1] < 1e-12 and sums[0]["residual"][0] < 1e-8)
    return off, tables, sums[0]


PARALLEL = {
    "five-bar, one leg (figure 7a)": (lambda: models.five_bar(1), ("joint.A.q0", "joint.B.q0"), 1.0, 1e-7),
    "five-bar, two legs (figure 7a)": (lambda: models.five_bar(2), ("joint.A.q0", "joint.B.q0"), 1.0, 1e-7),
    "under-actuated (figure 7b)": (models.under_actuated, ("marker.P.x", "marker.P.y"), 1.0, 1e-7),
    "hexapod, spatial": (models.hexapod, ("marker.P.x", "marker.P.y", "marker.P.z"), 3.0, 1e-7),
}


def parallel(study, share=1):
    found = {name: compare(study, name, text(), columns, duration * share, tolerance)
             for name, (text, columns, duration, tolerance) in PARALLEL.items()}
    for name, q in (("one leg", (2.363035, -2.151649)), ("two legs", (2.346690, -2.094690))):
        table = study.run(models.five_bar(1 + (name == "two legs")), "rcr", *fixed(0.0025, 0.25), rows=True)[1]
        mine = [table[f"joint.{j}.q0"][-1] for j in "AB"]
        study.hold(f"five-bar, {name}: q at 0.25 s as specified", all(abs(a - b) < 2e-6 for a, b in zip(mine, q)))
    return found


# ---------------------------------------------------------------------------------- figures 9 to 11

def ladders(study, sizes):
    """Angles of the first leg over 5 s, RK4 of 10 ms: {L: (q1, q2, distance from the pendulum, closure)}."""
    exact = models.pendulum_equations(5, 0.01)
    found = {}
    for cells in sizes:
        _, table = study.run(models.ladder(cells), "rcr", "--project", "never", *fixed(0.01, 5.0, 0.05),
                             rows=True)
        q = table["joint.foot0.q0"], table["joint.foot0.q1"]
        off = max(abs(a[-1] - b) for a, b in zip(q, exact))
        found[cells] = (table["time"], *q, off, table["sys.cpos"][-1])
        study.hold(f"ladder of {cells}: {off:.1e} rad from the pendulum's equations at 5 s, closed to "
                   f"{table['sys.cpos'][-1]:.1e}", off < 1e-9 and table["sys.cpos"][-1] < 1e-12)
    return found


COSTS = [("constraints ignored", "aba", lambda n: models.ladder(n, False), 1024),
         ("traditional", "lagrange", models.ladder, 64),
         ("dense, cubic", "dense", models.ladder, 32),
         ("rcr", "rcr", models.ladder, 1024)]


def measure(study, text, formulation, seconds=0.08):
    """Time of one evaluation [us] by RK4 steps of 1 ms, as many as `seconds` ask for."""
    steps = 20
    done, _ = study.run(text, formulation, "--project", "never", *fixed(0.001, 0.001 * steps))
    each = done["wall"] / done["evaluations"]
    steps = max(1, min(2000, round(seconds / each / 4)))
    done, _ = study.run(text, formulation, "--project", "never", *fixed(0.001, 0.001 * steps))
    return 1e6 * done["wall"] / done["evaluations"]


def costs(study, sizes, rounds):
    """{name: {L: least us per evaluation}}, the methods in turn."""
    least = {name: {} for name, *_ in COSTS}
    for _ in range(rounds):
        for n in sizes:
            for name, formulation, text, most in COSTS:
                if n <= most:
                    us = measure(study, text(n), formulation)
                    least[name][n] = min(us, least[name].get(n, math.inf))
    return least


def grown(of, first):
    large = [n for n in of if n >= first]
    return exponent(large, [of[n] for n in large])


# from how many cells on, and between which exponents
GROWTH = {"rcr": (1, 0.5, 1.05), "constraints ignored": (1, 0.5, 1.05), "traditional": (16, 2, 3.2),
          "dense, cubic": (8, 2, 3.2)}


def check_costs(study, least):
    for name, (first, low, high) in GROWTH.items():
        power = grown(least[name], first)
        study.hold(f"cost of {name} grows with L^{power:.2f} from {first} loops on", low < power < high)
    crossing = [n for n in least["traditional"] if least["rcr"][n] < least["traditional"][n]]
    study.hold(f"rcr is cheaper than the traditional method from {min(crossing, default=0)} loops on",
               bool(crossing))


# ------------------------------------------------------------------------- the specification's numbers

TESTS = ("test_rcr", "test_rcr_loops", "test_rcr_switch", "test_rcr_random")
# 13.12: positions and accelerations printed for the general method, or the plain one where that alone was run
TRAJECTORIES = {
    "P4b_four_bar_regular": (3e-11, 8e-10), "P5_single_loop_4": (1e-12, 3e-11),
    "P6_single_loop_8": (7e-11, 4e-9), "P7_double_loop_8": (4e-11, 6e-10),
    "P10_spatial_slider_crank": (9e-11, 2e-8), "P11_parallel_five_bar": (1e-10, 8e-8),
    "P12_ladder_4": (8e-14, 1e-12), "P13_rheonomic_four_bar": (2e-14, 1e-12),
}
GOLDEN = os.path.join(HERE, "..", "..", "tests", "golden")
CASES = os.path.join(HERE, "..", "..", "tests", "reference", "run_cases.py")


def told(study, folder):
    """Rows that the tests print; they fail by themselves where a number is not met."""
    rows = []
    for name in TESTS:
        done = subprocess.run([os.path.join(folder, name)], capture_output=True, text=True, check=False)
        study.hold(f"{name} passes", done.returncode == 0)
        rows += [[cell.strip() for cell in line.split("|")[1:]] for line in (done.stdout + done.stderr).splitlines()
                 if line.startswith("table| ")]
    return rows


def trajectories(study, reference):
    """Rows of check 13.12, of the collection where there is one, else of what travels with the sources."""
    where = ["--reference", reference] if reference else ["--golden", GOLDEN]
    rows = []
    for name, printed in TRAJECTORIES.items():
        if not os.path.exists(os.path.join(where[1], name + ".csv")):
            continue
        done = subprocess.run([sys.executable, CASES, "--program", study.program, *where, "--case", name,
                               "--formulation", "rcr"], capture_output=True, text=True, check=False)
        study.hold(f"{name}: within the reference's error", done.returncode == 0)
        errors = next((x.split()[2:] for x in done.stdout.splitlines() if x.startswith(name)), [])
        if len(errors) > 2:
            rows.append(["13.12", name.split("_")[0] + ": positions [m], accelerations",
                         ", ".join(map(power, printed)), ", ".join(errors[i].rstrip("!") for i in (0, 2))])
    return rows


def check_table(study, tests, reference):
    if not tests:
        return "(Made without the tests' folder.)"
    rows = told(study, tests) + trajectories(study, reference)
    return table(["check", "what", "printed", "measured"],
                 sorted(rows, key=lambda row: ([int(x) for x in re.findall(r"\d+", row[0])], row[0])))


# ------------------------------------------------------------------------------------------ report

def drift_table(found):
    rows = []
    for name, t in found.items():
        printed = PUBLISHED.get(name, (None, None, None))
        cells = []
        for i, time in enumerate(TIMES):
            cells.append(power(at(t, time, t["error"])) + (f" ({power(printed[0][i])})" if printed[0] else ""))
        grows = "–" if name in HELD else f"{t['exponent']:.2f}"
        grows += f" ({printed[1]:.2f})" if printed[1] else ""
        energy = power(t["energy"]) + (f" ({power(printed[2])})" if printed[2] else "")
        rows.append([name, *cells, grows, power(max(t["sys.cvel"])), energy])
    return table(["method", *(f"{t} s [m]" for t in TIMES), "exponent", "velocity residual", "energy [J]"], rows)


def cost_table(least):
    sizes = sorted({n for of in least.values() for n in of})
    return table(["loops", *(f"{name} [us]" for name in least)],
                 [[n, *(f"{of[n]:.1f}" if n in of else "–" for of in least.values())] for n in sizes])


def write_curves(path, x, columns):
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(["time", x[0], *columns])
        for i, value in enumerate(x[1]):
            out.writerow([i, value, *(repr(c[i]) for c in columns.values())])


def draw(study, output, files, x, y, title, *extra):
    subprocess.run([study.program, "plot", *files, "--x", x, "--y", y, "--size", "560x300", "--title", title,
                    *extra, "-o", output], check=True, capture_output=True)


def plot(study, output, x, columns, title, *extra):
    path = study.path("curve.csv")
    write_curves(path, x, columns)
    draw(study, output, [path], x[0], ",".join(columns), title, *extra)


def pictures(study, folder, found, arms, pendula, least):
    def to(name):
        return os.path.join(folder, name)

    both = found["rcr"], found["lagrange, plain"]
    plot(study, to("figure-5.svg"), ("t [s]", both[0]["time"][:51]),
         {f"{j} {n}": t[f"joint.{j}.q0"][:51] for n, t in zip(("rcr", "lagrange"), both) for j in "ABC"},
         "four-bar: joint angles [rad]")
    times = both[0]["time"][5:]
    plot(study, to("figure-6.svg"), ("log10 t [s]", [math.log10(t) for t in times]),
         {name.replace(",", ""): [max(t["error"][:i + 6]) for i in range(len(times))]
          for name, t in found.items() if "rows" not in name}, "four-bar: closing point is off by [m]", "--log")
    for name, what, picture in (("five-bar, two legs (figure 7a)", "figure-8.svg", "redundant five-bar"),
                                ("under-actuated (figure 7b)", "figure-7b.svg", "under-actuated mechanism"),
                                ("hexapod, spatial", "hexapod.svg", "hexapod")):
        _, tables, _ = arms[name]
        columns = PARALLEL[name][1]
        plot(study, to(what), ("t [s]", tables[0]["time"]),
             {f"{c} {f}": t[c] for f, t in zip(("rcr", "dense"), tables) for c in columns}, picture)
    first = next(iter(pendula.values()))
    plot(study, to("figure-10.svg"), ("t [s]", first[0]),
         {f"q{k + 1} L={n}": of[1 + k] for n, of in pendula.items() if n in (1, 8, 64) for k in range(2)},
         "ladders: angles of the legs [rad]")
    curves = []
    for name, of in least.items():
        curves.append(study.path(name.replace(",", "") + ".csv"))
        write_curves(curves[-1], ("log2 loops", [math.log2(n) for n in sorted(of)]),
                     {"one evaluation in us": [of[n] for n in sorted(of)]})
    draw(study, to("figure-11.svg"), curves, "log2 loops", "one evaluation in us", "", "--log")


def full(study, folder, rounds, tests, reference):
    os.makedirs(folder, exist_ok=True)
    checks = check_table(study, tests, reference)
    found = drift(study, 40.0)
    check_drift(study, found)
    steps, by_step = orders(study)
    arms = parallel(study)
    pendula = ladders(study, (1, 2, 4, 8, 16, 32, 64))
    least = costs(study, (1, 2, 4, 8, 16, 32, 64, 256, 1024), rounds)
    check_costs(study, least)
    pictures(study, folder, found, arms, pendula, least)
    info = json.loads(subprocess.run([study.program, "bench", "--case", "chain-7", "--samples", "1", "--json"],
                                     capture_output=True, text=True, check=True).stdout)
    text = fill(HERE, {
        "machine": f"{info['cpu']}, {info['compiler']}, linkwork {info['version']}",
        "checks": checks,
        "drift": drift_table(found),
        "orders": table(["method", *(f"step {s:g} s [m]" for s in steps)],
                        [[name, *map(power, errors)] for name, errors in by_step.items()]),
        "parallel": table(["mechanism", "degrees of freedom, loops", "rcr and dense differ by",
                           "position residual", "velocity residual"],
                          [[name, FREEDOMS[name], power(off), power(done["residual"][0]),
                            power(done["residual"][1])] for name, (off, _, done) in arms.items()]),
        "ladders": table(["loops", "off the pendulum at 5 s [rad]", "closure [m]"],
                         [[n, power(of[3]), power(of[4])] for n, of in pendula.items()]),
        "costs": cost_table(least),
        "exponents": ", ".join(f"{name} {grown(least[name], GROWTH[name][0]):.2f} from "
                               f"{GROWTH[name][0]} loops on" for name in least),
        "per-cell": ", ".join(f"{least['rcr'][n] / n:.1f} us at {n}" for n in (1, 16, 64, 256, 1024)),
        "crossing": str(min(n for n in least["traditional"] if least["rcr"][n] < least["traditional"][n])),
        "times-traditional": f"{least['traditional'][64] / least['rcr'][64]:.0f}",
        "times-ignored": f"{least['rcr'][64] / least['constraints ignored'][64]:.0f}",
    })
    with open(os.path.join(folder, "README.md"), "w", encoding="utf-8") as file:
        file.write(text)


FREEDOMS = {"five-bar, one leg (figure 7a)": "2, 1", "five-bar, two legs (figure 7a)": "2, 2",
            "under-actuated (figure 7b)": "4, 2", "hexapod, spatial": "6, 5"}


def quick(study):
    check_drift(study, drift(study, 10.0))
    parallel(study, 0.2)
    ladders(study, (1, 8))
    keys = ("machine", "checks", "drift", "orders", "parallel", "ladders", "costs", "exponents", "crossing",
            "times-traditional", "times-ignored", "per-cell")
    fill(HERE, dict.fromkeys(keys, ""))


def main():
    parser = argparse.ArgumentParser(description="the examples of [anderson2003] with linkwork")
    parser.add_argument("--program", required=True)
    parser.add_argument("--output", metavar="FOLDER", default="docs/reports/rcr-2003")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--tests", metavar="FOLDER", help="of test_rcr and its like: build/tests")
    parser.add_argument("--reference", metavar="FOLDER", help="reference trajectories")
    parser.add_argument("--rounds", type=int, default=5, help="of timings")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        study = Study(os.path.abspath(arguments.program), folder)
        if arguments.quick:
            quick(study)
        else:
            full(study, arguments.output, arguments.rounds, arguments.tests, arguments.reference)
    return 1 if study.failed else 0


if __name__ == "__main__":
    sys.exit(main())
