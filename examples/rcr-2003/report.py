#!/usr/bin/env python3
"""The examples of [anderson2003], section 4, reproduced with `linkwork`.

usage: report.py --program PROGRAM [--tests FOLDER] [--reference FOLDER] [--quick | --accuracy | --times | --render]

Runs the four-bar, the parallel mechanisms and the ladders of the paper with coordinate reduction (rcr) and
with the traditional method (lagrange: plain, with Baumgarte's gains, projected onto the constraints each step),
against absolute coordinates (dense), measures drift and cost, draws the counterparts of the paper's figures 5 to 11.
Writes results.json, and from that the page with its verdicts (examples/reports.py), with the table of the
specification's numbers that the tests in --tests (build/tests; without it the stored ones are kept) print, and of the
trajectories in --reference.

Exit status: 0; 1 when a statement does not hold, or a number or the page is not what is stored.  Needs nothing but
Python and the program.
"""
import csv
import math
import os
import re
import subprocess
import sys

import models

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, ".."))

import reports
from reports import exponent, power, processor, read_table, stored, table

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
STEPS = (0.02, 0.01, 0.005)
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
    found = {}
    for name, rows, options in METHODS[:2]:
        found[name] = [closing_error(study.run(models.four_bar(rows), *options, "--project", "never",
                                               *fixed(step, 10.0), rows=True)[1])[-1] for step in STEPS]
    study.hold("rcr: halving the step divides the drift by 13 to 18",
               all(13 < a / b < 18 for a, b in zip(found["rcr"], found["rcr"][1:])))
    return found


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
                    least[name][str(n)] = min(us, least[name].get(str(n), math.inf))
    return least


def grown(of, first):
    large = [n for n in of if int(n) >= first]
    return exponent([int(n) for n in large], [of[n] for n in large])


# from how many cells on, and between which exponents
GROWTH = {"rcr": (1, 0.5, 1.05), "constraints ignored": (1, 0.5, 1.05), "traditional": (16, 2, 3.2),
          "dense, cubic": (8, 2, 3.2)}


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


def checks(study, tests, reference):
    rows = told(study, tests) + trajectories(study, reference)
    return sorted(rows, key=lambda row: ([int(x) for x in re.findall(r"\d+", row[0])], row[0]))


# ------------------------------------------------------------------------------------------ report

def drift_numbers(found):
    """What is stored of the tables of the runs; at the end: what depends on the duration."""
    numbers = {}
    for name, t in found.items():
        times = [time for time in TIMES if time <= t["time"][-1]]
        numbers[name] = {"off": [at(t, time, t["error"]) for time in times], "largest": [
            max(e for e, then in zip(t["error"], t["time"]) if then < time + 0.01) for time in times]}
        if len(times) == len(TIMES):
            numbers[name] |= {"exponent": t["exponent"], "velocity": max(t["sys.cvel"]), "energy": t["energy"]}
    return numbers


def drift_table(found):
    rows = []
    for name, r in found.items():
        printed = PUBLISHED.get(name, (None, None, None))
        cells = [power(off) + (f" ({power(printed[0][i])})" if printed[0] else "") for i, off in enumerate(r["off"])]
        grows = "–" if name in HELD else f"{r['exponent']:.2f}"
        grows += f" ({printed[1]:.2f})" if printed[1] else ""
        energy = power(r["energy"]) + (f" ({power(printed[2])})" if printed[2] else "")
        rows.append([name, *cells, grows, power(r["velocity"]), energy])
    return table(["method", *(f"{t} s [m]" for t in TIMES), "exponent", "velocity residual", "energy [J]"], rows)


def cost_table(least):
    sizes = sorted({n for of in least.values() for n in of}, key=int)
    return table(["loops", *(f"{name} [us]" for name in least)],
                 [[n, *(f"{of[n]:.1f}" if n in of else "–" for of in least.values())] for n in sizes])


def write_curves(path, x, columns):
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(["time", x[0], *columns])
        for i, value in enumerate(x[1]):
            out.writerow([i, value, *(repr(c[i]) for c in columns.values())])


def draw_curves(study, output, files, x, y, title, *extra):
    subprocess.run([study.program, "plot", *files, "--x", x, "--y", y, "--size", "560x300", "--title", title,
                    *extra, "-o", output], check=True, capture_output=True)


def plot(study, output, x, columns, title, *extra):
    path = study.path("curve.csv")
    write_curves(path, x, columns)
    draw_curves(study, output, [path], x[0], ",".join(columns), title, *extra)


def draw(study, folder, found, arms, pendula):
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


def draw_costs(study, folder, least):
    curves = []
    for name, of in least.items():
        curves.append(study.path(name.replace(",", "") + ".csv"))
        write_curves(curves[-1], ("log2 loops", [math.log2(int(n)) for n in of]),
                     {"one evaluation in us": [of[n] for n in of]})
    draw_curves(study, os.path.join(folder, "figure-11.svg"), curves, "log2 loops", "one evaluation in us", "", "--log")


FREEDOMS = {"five-bar, one leg (figure 7a)": "2, 1", "five-bar, two legs (figure 7a)": "2, 2",
            "under-actuated (figure 7b)": "4, 2", "hexapod, spatial": "6, 5"}


class Rcr(reports.Report):
    here, page_file, pictures = HERE, "docs/reports/rcr-2003/README.md", "docs/reports/rcr-2003"
    about = "the examples of [anderson2003] with linkwork"
    study = Study
    raw = None  #: tables of the runs, for the pictures

    def options(self, parser):
        parser.add_argument("--tests", metavar="FOLDER", help="of test_rcr and its like: build/tests")
        parser.add_argument("--reference", metavar="FOLDER", help="reference trajectories")
        parser.add_argument("--rounds", type=int, default=5, help="of timings")

    def measure(self, study, options):
        quick = options.quick
        drifts = drift(study, 10.0 if quick else 40.0)
        check_drift(study, drifts)
        arms = parallel(study, 0.2 if quick else 1)
        pendula = ladders(study, (1, 8) if quick else (1, 2, 4, 8, 16, 32, 64))
        self.raw = drifts, arms, pendula
        found = {"drift": drift_numbers(drifts), "ladders": {str(n): of[3:] for n, of in pendula.items()}}
        if not quick:
            found["orders"] = orders(study)
            found["parallel"] = {name: [off, *done["residual"][:2]] for name, (off, _, done) in arms.items()}
            found["checks"] = checks(study, options.tests, options.reference) if options.tests else \
                stored(HERE)["accuracy"]["checks"]
        return found

    def measure_times(self, study, options):
        least = costs(study, (1, 2, 4, 8, 16, 32, 64, 256, 1024), options.rounds)
        return {"machine": processor(study.program), "run": least}

    def draw(self, study, results):
        draw(study, self.path(self.pictures), *self.raw)

    def draw_times(self, study, results):
        draw_costs(study, self.path(self.pictures), results["times"]["run"])

    def answers(self, results):
        drifts, least = results["accuracy"]["drift"], results["times"]["run"]
        rcr, plain = drifts["rcr"]["exponent"], drifts["lagrange, plain"]["exponent"]
        arms = [off for off, _, _ in results["accuracy"]["parallel"].values()]
        growth = {name: grown(least[name], first) for name, (first, _, _) in GROWTH.items()}
        within = {name: low < growth[name] < high for name, (_, low, high) in GROWTH.items()}
        cubic = least["dense, cubic"]
        return [
            ("positions drift in proportion to time, those of the traditional method with its square", True,
             0.85 < rcr < 1.15 and 1.8 < plain < 2.4, f"with t^{rcr:.2f} and t^{plain:.2f}"),
            ("at the ninth decimal place", False, drifts["rcr"]["off"][0] < 1e-8,
             f"{power(drifts['rcr']['off'][0])} m after {TIMES[0]} s: the drift is the integrator's error"),
            ("redundant and under-actuated parallel mechanisms need no special treatment", True, max(arms) < 1e-7,
             f"at most {power(max(arms))} from absolute coordinates"),
            ("a ladder of L loops costs O(L)", True, within["rcr"], f"L^{growth['rcr']:.2f}"),
            ("the traditional method costs O(L³)", True, within["traditional"],
             f"L^{growth['traditional']:.2f} from {GROWTH['traditional'][0]} loops on"),
            ("and may be slower than a dense one", False, any(least["traditional"][n] > cubic[n] for n in cubic),
             "`dense` is " + " to ".join(f"{f(cubic[n] / least['traditional'][n] for n in cubic):.0f}" for f in (min, max)) +
             " times slower; it has absolute coordinates, many more than the joints'"),
        ]

    def parts(self, results):
        found, least = results["accuracy"], results["times"]["run"]
        drifts = found["drift"]
        crossing = min((n for n in least["traditional"] if least["rcr"][n] < least["traditional"][n]), key=int)
        return {
            "machine": results["times"]["machine"],
            "drift": drift_table(drifts),
            "orders": table(["method", *(f"step {s:g} s [m]" for s in STEPS), "power of the step"],
                            [[name, *map(power, errors), f"{exponent(STEPS, errors):.1f}"]
                             for name, errors in found["orders"].items()]),
            "held": " and ".join(f"{power(drifts[name]['largest'][-1])} m ({name.partition(', ')[2]})" for name in HELD),
            "rcr off": power(drifts["rcr"]["largest"][-1]) + " m",
            "further": f"{100 * (drifts['lagrange, plain']['off'][-1] / PUBLISHED['lagrange, plain'][0][-1] - 1):.0f} %",
            "momenta": f"{drifts['rcr, momenta']['off'][-1] / drifts['rcr']['off'][-1]:.1f}",
            "parallel": table(["mechanism", "degrees of freedom, loops", "rcr and dense differ by",
                               "position residual", "velocity residual"],
                              [[name, FREEDOMS[name], *map(power, numbers)] for name, numbers in found["parallel"].items()]),
            "ladders": table(["loops", "off the pendulum at 5 s [rad]", "closure [m]"],
                             [[n, *map(power, of)] for n, of in found["ladders"].items()]),
            "costs": cost_table(least),
            "exponents": ", ".join(f"{name} {grown(least[name], GROWTH[name][0]):.2f} from "
                                   f"{GROWTH[name][0]} on" for name in least),
            "per-cell": ", ".join(f"{least['rcr'][n] / int(n):.2f} us at {n}" for n in ("1", "16", "64", "256", "1024")),
            "crossing": crossing,
            "times-traditional": f"{least['traditional']['64'] / least['rcr']['64']:.0f}",
            "times-ignored": ", ".join(f"{least['rcr'][n] / least['constraints ignored'][n]:.1f} times at {n}"
                                       for n in ("1", "64", "1024")),
            "checks": table(["check", "what", "printed", "measured"], found["checks"]),
        }


if __name__ == "__main__":
    sys.exit(Rcr().main())
