#!/usr/bin/env python3
"""The cases and the performance study of [malczyk2019] with `linkwork`.

usage: report.py --program PROGRAM [--method KEYS] [--paper KEYS] [--steps N] [--chain-steps N]
                 [--priority N] [--output FOLDER] [--quick]

Runs the double pendulum, the four-bar through its singular position and the chain of 128 links by `index3`,
by its defaults and as the paper has it where the program can; compares with explicit integration and closed
forms, times steps, draws the counterparts of the paper's figures, checks the statements of the report and
writes it.  --method: what follows `--index3` in place of the defaults; --paper: the same for the paper's way
(case by case by default); --steps, --chain-steps: how many steps the distributions of step times have;
--priority: of timed runs, as SCHED_FIFO.
--quick leaves timings and the long runs out and writes nothing; it is what the tests run.

Exit status: 0; 1 when a statement does not hold.  Needs nothing but Python and the program; valgrind counts
instructions where there is one.
"""
import argparse
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

import cases
import paper
from study import (HERE, Study, distance, energy, four_bar_angle, largest_difference, micro, power,
                   vectors)
import steps as step_bench  # bench/steps
from reports import fill, read_table, table, write_table

H = 0.01
# The paper's way: penalty and iterations of each case are those it names; projections with the tangent's matrix.
PAPER = "coordinates=7,penalty={penalty},iterations={iterations},tolerance=1e-12,tangent={level},projection=tangent,output=newton"
PAPER_CASES = {"pendulum": ("1e6", 3), "four-bar": ("1e6", 4), "chain": ("1e9", 3)}
REFERENCES = {"P4": "P4-four-bar", "P5": "P5-single-loop", "P7": "P7-double-loop", "P10": "P10-slider-crank"}


class Methods:
    """What is run: {name: text of --index3} for a case."""

    def __init__(self, study, method, paper_keys):
        self.method, self.paper = method, paper_keys
        self.has_paper = study.knows(self.keys("pendulum"))

    def keys(self, case, level=0, penalty=None):
        usual, iterations = PAPER_CASES[case]
        return self.paper or PAPER.format(penalty=penalty or usual, iterations=iterations, level=level)

    def of(self, case):
        found = {"default": self.method}
        if self.has_paper:
            found["paper"] = self.keys(case)
        if self.has_paper and case == "chain" and not self.paper:
            found["paper, level 1"] = self.keys(case, 1)
            found["paper, level 2"] = self.keys(case, 2)
        return found


def near(a, b):
    return abs(a - b) <= paper.SAME * abs(b)


# ------------------------------------------------------------------------------------ double pendulum

def pendulum(study, methods):
    """Rows of the table and result files of the pictures."""
    model = cases.write(study.folder, "pendulum")["pendulum"]
    _, exact = study.exact(model, "aba", 10.0, H, name="pendulum-exact")
    for t, (a, b, force) in paper.PENDULUM_AT.items():
        i = round(t / H)
        off = max(math.dist(vectors(exact, "body.A.")[i], a), math.dist(vectors(exact, "body.B.")[i], b),
                  math.dist(vectors(exact, "joint.j1.f")[i], force))
        study.hold(f"double pendulum: the explicit run is at the prototype's place at {t} s ({off:.1e})",
                   off < 2e-6)
    rows = []
    for name, method in methods.of("pendulum").items():
        _, run = study.index3(model, method, H, 10.0, name=f"pendulum-{name}")
        forces = {"rows": distance(vectors(run, "joint.j1.f"), vectors(exact, "joint.j1.f"))}
        for output in ("newton", "step"):
            keys = ",".join(k for k in method.split(",") if k != "auto" and not k.startswith("output="))
            _, own = study.index3(model, ",".join(filter(None, (keys, "output=" + output))), H, 10.0)
            forces[output] = distance(vectors(own, "joint.j1.f"), vectors(exact, "joint.j1.f"))
            wanted = paper.PENDULUM_FORCE[name][output]
            study.hold(f"double pendulum, {name}, output={output}: the force is off by {forces[output]:.3f} N, "
                       f"prototype {wanted}", abs(forces[output] - wanted) < 0.02 * wanted)
        off = distance(vectors(run, "body.A."), vectors(exact, "body.A."))
        e = energy(run)
        known, brackets = paper.PENDULUM[name], paper.PENDULUM_FORCE[name]
        cacc = max(run["sys.cacc"])
        rows.append([name, f"{power(off)} ({power(known[0])})",
                     power(forces["rows"]) if name == "default" else "–",
                     *(f"{power(forces[k])} ({power(brackets[k])})" for k in ("step", "newton")),
                     power(max(run["sys.cpos"])), power(max(run["sys.cvel"])), power(cacc), f"{power(min(e))} ({power(known[1])})",
                     f"{power(e[-1])} ({power(known[2])})"])
        study.hold(f"double pendulum, {name}: A is off by {off:.2e} m, energy at least {min(e):.2e} J, as "
                   "the prototype has it", near(off, known[0]) and near(min(e), known[1]))
        study.hold(f"double pendulum, {name}: positions fulfil the joints better than velocities do",
                   max(run["sys.cpos"]) < max(run["sys.cvel"]))
        study.said["loss of " + name] = min(e)
        if name == "paper":
            residuals = [max(run["sys." + c]) for c in ("cpos", "cvel", "cacc")]
            right = residuals == sorted(residuals)
            study.hold("double pendulum: residuals of positions, velocities, accelerations by the paper's method: "
                       + ", ".join(map(power, residuals)), right)
            study.said["residuals"] = ("yes: " if right else "**no**: ") + ", ".join(map(power, residuals)) + \
                " by the paper's method"
    return table(["", "largest position error of A [m]", "of the force at joint 1 [N]",
                  "of that of the steps", "of Newton's multipliers alone",
                  "position residual", "velocity residual", "acceleration residual", "minimum energy [J]", "energy at 10 s [J]"], rows)


# ------------------------------------------------------------------------------------------- four-bar

def four_bar_errors(run, reading):
    """Position error of A, and how far the coupler is from where the branch has it [m]."""
    down = reading == "I"
    side = -1 if down else 1
    off = branch = 0
    angles = four_bar_angle(run["time"], down)
    for phi, a, b in zip(angles, vectors(run, "body.A.", "xy"), vectors(run, "body.B.", "xy")):
        off = max(off, math.dist(a, (0.5 * math.cos(phi), side * 0.5 * math.sin(phi))))
        branch = max(branch, math.dist(b, (2 * a[0], 2 * a[1] + side / 2)))
    return off, branch


def coupler_force_error(run):
    """Largest error of the force at joint 2 against the closed form at the rows' own positions and speeds [N]: the
    coupler does not rotate, and both bars carry half of it."""
    worst = 0
    for x, y, w, fx, fy in zip(*(run[c] for c in ("body.A.x", "body.A.y", "body.A.wz", "joint.j2.fx", "joint.j2.fy"))):
        phi = math.atan2(y, x)
        rate = -2 * 9.81 * math.cos(phi) / 3.5
        a = (-rate * math.sin(phi) - w * w * math.cos(phi), rate * math.cos(phi) - w * w * math.sin(phi))
        worst = max(worst, math.hypot(fx - a[0] / 2, fy - (a[1] + 9.81) / 2))
    return worst


def passages(study):
    """Forces while the links pass through their line, by the three kinds of output."""
    rows = []
    for output in ("motion", "step", "newton"):
        found = []
        for reading in ("I", "II"):
            model = cases.write(study.folder, "four-bar-" + reading)["four-bar-" + reading]
            for h in (0.01, 0.001):
                _, run = study.index3(model, "output=" + output, h, 10.0)
                found.append(coupler_force_error(run))
                if output == "motion":
                    study.hold(f"four-bar {reading}, h = {h} s: forces off by {found[-1]:.1e} N in every row",
                               found[-1] < 1e-4)
        rows.append([f"`output={output}`", *map(power, found)])
    return table(["largest error of the force [N]", "I, h = 0.01 s", "I, 0.001 s", "II, 0.01 s", "II, 0.001 s"], rows)


def four_bar(study, methods, long):
    paths = cases.write(study.folder, "four-bar-I", "four-bar-II")
    rows = []
    for reading in ("I", "II"):
        model = paths["four-bar-" + reading]
        for name, method in methods.of("four-bar").items():
            _, run = study.index3(model, method, H, 30.0, name=f"four-bar-{reading}-{name}")
            if run is None:
                rows.append([reading, name, 30] + ["breaks down"] * 5)
                continue
            off, branch = four_bar_errors(run, reading)
            e = energy(run)
            rows.append([reading, name, 30, power(off), power(branch), power(max(run["sys.cpos"])),
                         power(max(run["sys.cvel"])), f"{power(min(e))} ... {power(max(e))}"])
            if name != "default":
                continue
            study.hold(f"four-bar {reading}: on its branch for 30 s, the coupler is off by {branch:.1e} m",
                       branch < 1e-11)
            if reading == "I":
                least, error = paper.FOUR_BAR["default"]
                study.hold(f"four-bar I: energy at least {min(e):.2e} J, A is off by {off:.2e} m",
                           min(e) > least * (1 + paper.SAME) and off < error * (1 + paper.SAME))
    if long:
        model, method = paths["four-bar-I"], methods.of("four-bar")["default"]
        _, run = study.index3(model, method, H, 3600.0, sample=0.25, name="four-bar-long")
        e = energy(run)
        _, branch = four_bar_errors(run, "I")
        rows.append(["I", "default", 3600, "–", power(branch), power(max(run["sys.cpos"])),
                     power(max(run["sys.cvel"])), f"{power(min(e))} ... {power(max(e))}"])
        study.hold(f"four-bar I: an hour on its branch ({branch:.1e} m), energy within "
                   f"{max(map(abs, e)):.1e} J of 5.7 J", branch < 1e-11 and max(map(abs, e)) < 5e-2)
    return table(["reading", "", "time [s]", "position error of A [m]", "coupler off its branch [m]",
                  "position residual", "velocity residual", "energy [J]"], rows)


# ---------------------------------------------------------------------------------------------- chain

def wanted_of_chain(name):
    return name.startswith(("sys.", "marker.", "joint.j1.")) or re.match(r"body\.b\d+\.[xy]$", name)


def chain(study, methods, long):
    paths = cases.write(study.folder, "chain-128", "chain-1024")
    rows = []
    for name, method in methods.of("chain").items():
        _, run = study.index3(paths["chain-128"], method, H, 10.0, name=f"chain-{name}",
                              columns=wanted_of_chain)
        if run is None:
            rows.append([name] + ["breaks down"] * 6)
            continue
        e, time = energy(run), run["time"]
        peak = max(range(len(time)), key=lambda i: run["sys.T"][i])
        low = min(range(len(time)), key=lambda i: e[i])
        errors = {t: math.dist((run["body.b128.x"][round(t / H)], run["body.b128.y"][round(t / H)]), at)
                  for t, at in paper.CHAIN_TIP.items()}
        known = paper.CHAIN[name]
        rows.append([name, f"{e[low]:.2f} at {time[low]:.2f} s ({known[0]})",
                     f"{e[-1]:.2f} ({known[1]})", f"{run['sys.T'][peak]:.0f} at {time[peak]:.2f} s",
                     ", ".join(power(x) for x in errors.values()), power(max(run["sys.cpos"])),
                     power(max(run["sys.cvel"]))])
        study.hold(f"chain of 128, {name}: at least {e[low]:.2f} J, prototype {known[0]}",
                   abs(e[low] - known[0]) < 1.5)
        study.hold(f"chain of 128, {name}: {e[-1]:.2f} J after 10 s, prototype {known[1]}",
                   abs(e[-1] - known[1]) < (0.05 if name in ("default", "paper") else 3))
        if name == "default":
            study.said["chain"] = f"{e[low]:.0f} J and {e[-1]:.0f} J at {time[low]:.2f} s and the end"
            study.said["peak"] = f"{100 * abs(run['sys.T'][peak] / paper.CHAIN_KINETIC[0] - 1):.2g} %"
            study.hold("chain of 128: the kinetic energy is largest at 5.22 s, to 0.05 %",
                       abs(run["sys.T"][peak] - paper.CHAIN_KINETIC[0]) < 5e-4 * paper.CHAIN_KINETIC[0]
                       and abs(time[peak] - paper.CHAIN_KINETIC[1]) < 0.015)
            study.hold("chain of 128: the tip is as near to the exact one at 1, 3 and 5 s as any link of the "
                       "prototype's (" + ", ".join(power(x) for x in errors.values()) + " m)",
                       all(errors[t] < paper.CHAIN_ERROR[t] * (1 + paper.SAME) for t in errors))
    text = table(["", "minimum energy [J]", "energy at 10 s [J]", "largest kinetic energy [J]",
                  "error of the tip at 1, 3, 5 s [m]", "position residual", "velocity residual"],
                 rows + [["the paper", f"{paper.CHAIN_PAPER[0]} at 5.22 s", f"about {paper.CHAIN_PAPER[1]}",
                          "at 5.22 s", "–", "–", "–"]])
    if methods.has_paper and not methods.paper:
        for penalty in ("1e6", "1e7", "1e8"):
            _, run = study.index3(paths["chain-128"], methods.keys("chain", 0, penalty), H, 1.0,
                                  name="chain-penalty", columns=wanted_of_chain)
            gone = run is None or max(map(abs, energy(run))) > 1e3
            text += f"\n{'' if penalty != '1e6' else chr(10)}* Penalty {penalty}: " + (
                "ends before a second is over" if run is None else
                f"energy off by {max(map(abs, energy(run))):.3g} J within a second") + "."
            study.hold(f"chain of 128: the paper's way fails with a penalty of {penalty}, too", gone)
    if long:
        summary, run = study.index3(paths["chain-1024"], methods.of("chain")["default"], H, 10.0,
                                    sample=10.0, name="chain-1024", columns=wanted_of_chain)
        last = energy(run)[-1]
        study.hold(f"chain of 1024: {last:.2f} J after 10 s, {summary['rejected']} steps halved",
                   paper.CHAIN_1024[0] < last < paper.CHAIN_1024[1])
        text += f"\n\n1024 links: {last:.2f} J after 10 s (prototype: -3.7 to -4.0)."
    return text


# ----------------------------------------------------------------------------------------- orders

GROUPS = [("positions [m]", lambda n: re.match(r"body\..*\.[xyz]$", n)),
          ("velocities [m/s]", lambda n: re.match(r"body\..*\.v[xyz]$", n)),
          ("forces [N]", lambda n: re.match(r"joint\..*\.f[xyz]$", n))]


def wanted_of_orders(name):
    return any(test(name) for _, test in GROUPS)


def orders(study, method, sizes=(0.01, 0.005, 0.0025)):
    """index3 against explicit integration of hdca and dense, to 1 s, three step sizes."""
    rows = []
    for name, file in REFERENCES.items():
        model = os.path.join(HERE, "reference", file + ".yaml")
        steps = [h / 2 for h in sizes] if name == "P10" else list(sizes)
        exact = {f: study.exact(model, f, 1.0, 0.01, columns=wanted_of_orders)[1]
                 for f in ("hdca", "dense")}
        runs = [study.index3(model, method, h, 1.0, sample=0.01, columns=wanted_of_orders)[1]
                for h in steps]
        for what, test in GROUPS:
            between = largest_difference(exact["hdca"], exact["dense"], test)
            errors = [largest_difference(run, exact["hdca"], test) for run in runs]
            ratios = [a / b for a, b in zip(errors, errors[1:])]
            rows.append([name, what, *(power(x) for x in errors), ", ".join(f"{x:.2f}" for x in ratios),
                         power(between)])
            study.hold(f"{name}, {what}: halving the step divides the error by "
                       + ", ".join(f"{x:.2f}" for x in ratios), all(3.4 < x < 4.6 for x in ratios))
    return table(["", "largest error of", "h", "h/2", "h/4", "ratios", "hdca against dense"], rows)


def through(study, method, sizes=(0.01, 0.005, 0.0025)):
    """P4 through its singular positions, where explicit integration would lose its way: 10 s against the
    closed form."""
    model = os.path.join(HERE, "reference", REFERENCES["P4"] + ".yaml")
    rows, errors = [], []
    for h in sizes:
        _, run = study.index3(model, method, h, 10.0, sample=0.05)
        off, branch = four_bar_errors(run, "II")
        errors.append(off)
        rows.append([f"{h:g}", power(off), power(branch), power(min(energy(run)))])
    ratios = [a / b for a, b in zip(errors, errors[1:])]
    study.hold("P4 through its singular positions, 10 s: halving the step divides the error by "
               + ", ".join(f"{x:.2f}" for x in ratios), all(3.4 < x < 4.6 for x in ratios))
    return table(["h [s]", "position error of A [m]", "coupler off its branch [m]", "minimum energy [J]"], rows)


# ------------------------------------------------------------------------------------- performance

SIZES = [2 ** k for k in range(1, 13)]  # the paper's end at 1024
WORK = 0.4  # seconds that a timing takes about, from a guess of a third of a microsecond per link: less, and two
# threads may still be on one processor
COUNTED = [16, 64, 256, 1024, 4096]  # links whose steps' instructions are counted


def measure_times(study, rounds, priority, threads=(1, 2)):
    """{(links, threads): time of a step [s]} and shares of the time [%].  Steps do the same work, so the
    least of them is the one that nothing has disturbed."""
    paths = cases.write(study.folder, *(f"chain-{n}" for n in SIZES))
    least, shares = {}, {}
    for _ in range(rounds):
        for n in SIZES:
            for k in threads:
                count = max(50, min(4000, int(WORK / (3.3e-7 * n))))
                found = step_bench.times(study.program, paths[f"chain-{n}"], count, H, k, priority)
                if found["least"] < least.get((n, k), math.inf):
                    least[n, k] = found["least"]
                    if k == 1:
                        shares[n] = tuple(float(x) for x in re.findall(r"([\d.]+) %", found["report"]))
    return least, shares


def divide(study, priority):
    """The paper's share of time of Newton's iterations, and ours of a chain of 128 by its method in six coordinates, with
    two right sides on Newton's factors, and by the default."""
    path = cases.write(study.folder, "chain-128")["chain-128"]
    measured = []
    for text in ("projection=tangent", "auto"):
        with open(path, encoding="utf-8") as file:
            model = study.write("shares.yaml", file.read() + f'simulation: {{index3: "{text}"}}\n')
        report = step_bench.times(study.program, model, 2000, H, 1, priority)["report"]
        assembly, solution, projections = (float(x) for x in re.findall(r"([\d.]+) %", report)[:3])
        measured.append((assembly + solution, projections))
    ours = measured[0][0]
    study.hold(f"Newton's iterations take {ours:.0f} % of a step, {paper.SHARES[0]} % in the paper",
               abs(ours - paper.SHARES[0]) < 10)
    return (f"{measured[0][0]:.0f} % and {measured[0][1]:.0f} % for both with `projection=tangent`, where they use Newton's "
            f"factors, too; {measured[1][0]:.0f} % and {measured[1][1]:.0f} % by default, with factors for both")


def count_instructions(study):
    """{links: instructions of a step per link}; {}: no valgrind."""
    if not shutil.which("valgrind"):
        return {}
    paths = cases.write(study.folder, *(f"chain-{n}" for n in COUNTED))
    found = {n: max(step_bench.instructions(study.program, paths[f"chain-{n}"], 3, H)) / n for n in COUNTED}
    study.hold("the instructions of a step per link do not grow with their number: "
               + ", ".join(f"{found[n]:.0f} of {n}" for n in COUNTED),
               all(found[b] < 1.05 * found[a] for a, b in zip(COUNTED, COUNTED[1:])))
    return found


def performance(study, folder, rounds, priority):
    least, shares = measure_times(study, rounds, priority)
    counted = count_instructions(study)
    newton = {n: 100 - shares[n][2] for n in SIZES}
    rows = [[n, micro(least[n, 1]), f"{1e6 * least[n, 1] / n:.2f}", f"{1000 * least[n, 1]:.3g}",
             f"{H / least[n, 1]:.3g}", f"{counted[n]:.0f}" if n in counted else "",
             f"{newton[n]:.0f}, {shares[n][2]:.0f}", micro(least[n, 2]),
             f"{least[n, 1] / least[n, 2]:.2f}", f"{50 * least[n, 1] / least[n, 2]:.0f} %"] for n in SIZES]
    log2 = [math.log2(n) for n in SIZES]
    for name, columns in {
            "times": {"whole steps": [1000 * least[n, 1] for n in SIZES],
                      "Newton": [10 * newton[n] * least[n, 1] for n in SIZES],
                      "projections": [10 * shares[n][2] * least[n, 1] for n in SIZES],
                      "two threads": [1000 * least[n, 2] for n in SIZES]},
            "speedup": {"speedup of two threads": [least[n, 1] / least[n, 2] for n in SIZES],
                        "efficiency": [least[n, 1] / least[n, 2] / 2 for n in SIZES]}}.items():
        path = write_table(study.path(name + ".csv"), {"time": range(len(SIZES)), "log2 n": log2, **columns})
        study.plot(os.path.join(folder, name + ".svg"), [path], [",".join(columns)], "--x", "log2 n",
                   "--size", "560x320", *(["--log"] if name == "times" else []), "--title",
                   "10 s of motion [s]" if name == "times" else "two threads against one")
    per = [1e9 * least[n, 1] / n for n in SIZES if n >= 16]
    print(f"  a step takes {min(per):.0f} to {max(per):.0f} ns per link from 16 to 4096 links")
    study.hold("128 links are faster than real time on one core", least[128, 1] < H)
    return table(["links", "a step [us]", "per link [us]", "10 s of motion [s]", "real-time factor",
                  "instructions per link", "Newton, projections [%]", "two threads [us]", "speedup",
                  "efficiency"], rows)


def jitter(study, counts, priority):
    """Distributions of step times, and instructions of steps."""
    paths = cases.write(study.folder, *counts)
    rows = []
    for name, path in paths.items():
        counted = (50 if name == "chain-128" else 300) if shutil.which("valgrind") else 0
        found = step_bench.measure(study.program, path, counts[name], H, 1, counted, priority)
        text = "–"
        if "instructions" in found:
            i = found["instructions"]
            text = f"{i['least']} to {i['most']} ({100 * i['spread']:.2g} %)"
            study.hold(f"{name}: steps have {text} instructions, the same but for 1 %", i["spread"] < 0.01)
        rows.append([name, found["steps"], *(micro(found[k]) for k in ("median", "p99", "p999", "worst")),
                     found["slow"], text])
    return table(["", "steps", "median [us]", "99 %", "99.9 %", "worst", "longer than 10 ms",
                  "instructions of a step"], rows)


VARIANTS = ["", "tangent=1", "projection=tangent", "newton=modified", "newton=modified,projection=tangent", "iterations=2", "iterations=2,tangent=1",
            "coordinates=7,penalty=1e9,tangent=0,projection=tangent"]


def variants(study, priority, rounds):
    """What a step of the chain of 128 costs in other ways, and how well it does."""
    path = cases.write(study.folder, "chain-128")["chain-128"]
    models, least, rows = {}, {}, []
    for i, text in enumerate(VARIANTS):
        models[text] = study.path(f"variant-{i}.yaml")
        with open(path, encoding="utf-8") as chain_file, open(models[text], "w", encoding="utf-8") as file:
            file.write(chain_file.read() + f'simulation: {{index3: "{text or "auto"}"}}\n')
    for text in VARIANTS * rounds:
        found = step_bench.times(study.program, models[text], 1000, H, 1, priority)["least"]
        least[text] = min(found, least.get(text, math.inf))
    for text, model in models.items():
        method = ",".join(["mode=real-time", text] if text else ["mode=real-time"])
        counted = max(step_bench.instructions(study.program, model, 5, H)) if shutil.which("valgrind") else 0
        _, run = study.index3(path, method, H, 10.0, name="variant", columns=wanted_of_chain)
        e = energy(run)
        off = math.dist((run["body.b128.x"][500], run["body.b128.y"][500]), paper.CHAIN_TIP[5])
        rows.append([f"`{text}`" if text else "default, three iterations", micro(least[text]), counted or "",
                     f"{min(e):.1f}", f"{e[-1]:.1f}", power(off), power(max(run["sys.cpos"]))])
    return table(["`mode=real-time`", "a step [us]", "instructions", "minimum energy [J]", "energy at 10 s [J]",
                  "error of the tip at 5 s [m]", "position residual"], rows)


# ---------------------------------------------------------------------------------------- pictures

def draw(study, methods, folder):
    """Counterparts of the paper's figures 4 to 11, from the files of the runs."""
    def at(name):
        return os.path.join(folder, name + ".svg")

    def files(stem, case):
        return [study.path(f"{stem}-{name}.csv") for name in methods.of(case)]

    def with_energy(paths, stem):
        found = []
        for path in paths:
            run = read_table(path, wanted_of_chain)
            label = os.path.basename(path)[:-4].rpartition("-")[2]
            found.append(write_table(study.path(f"{stem} {label}.csv"), {
                "time": run["time"], "energy change": energy(run), "positions": run["sys.cpos"],
                "velocities": run["sys.cvel"], "accelerations": run["sys.cacc"]}))
        return found

    size = ("--size", "640x420")
    study.plot(at("pendulum"), [study.path("pendulum-exact.csv"), study.path("pendulum-default.csv")],
               ["body.A.x,body.A.y,body.A.z", "joint.j1.fx,joint.j1.fy,joint.j1.fz"], *size, "--title",
               "double pendulum: explicit integration below, index3 above")
    study.plot(at("four-bar"), [study.path("four-bar-I-default.csv")],
               ["body.A.x,body.A.y", "body.A.vx,body.A.vy", "body.A.ax,body.A.ay", "joint.j1.fx,joint.j1.fy"],
               "--to", "10", "--size", "640x640", "--title", "four-bar, reading I")
    study.plot(at("chain"), [study.path("chain-default.csv")],
               ["marker.C.x,marker.C.y", "marker.C.vx,marker.C.vy", "joint.j1.fx,joint.j1.fy",
                "sys.T,sys.V,sys.E"], "--size", "640x640", "--title", "chain of 128 links")
    for name, case, stem in (("pendulum", "pendulum", "pendulum"), ("four-bar", "four-bar", "four-bar-II"),
                             ("chain", "chain", "chain")):
        found = with_energy(files(stem, case), name)
        study.plot(at(name + "-residuals"), found, ["positions,velocities,accelerations"], "--log", "--from", "0.05",
                   "--size", "640x280", "--title", "largest residual of the joints")
        study.plot(at(name + "-energy"), found, ["energy change"], "--size", "640x280", "--title",
                   "change of the total energy [J]")
    run = read_table(study.path("chain-default.csv"), wanted_of_chain)
    shots = []
    for t in (0, 1, 2, 3, 4, 5, 6):
        i = round(t / H)
        shots.append(write_table(study.path(f"{t} s.csv"), {
            "time": range(129), "x": [0] + [run[f"body.b{k}.x"][i] for k in range(1, 129)],
            "y": [0] + [run[f"body.b{k}.y"][i] for k in range(1, 129)]}))
    study.plot(at("chain-shapes"), shots, ["y"], "--x", "x", "--size", "640x420", "--title",
               "the chain at 0 to 6 s [m]")


# ------------------------------------------------------------------------------------------ report

def machine(study):
    done = subprocess.run([study.program, "bench", "--case", "chain-7", "--samples", "1", "--json"],
                          capture_output=True, text=True, check=True)
    info = json.loads(done.stdout)
    return f"{info['cpu']}, {info['compiler']}, linkwork {info['version']}"


def full(study, methods, folder, arguments):
    os.makedirs(folder, exist_ok=True)
    parts = {
        "method": "`--index3 " + methods.method + "`" if methods.method != "auto" else "its defaults",
        "paper": (f"*paper*: `--index3\n{methods.keys('pendulum')}`,\npenalty and iterations as the case "
                  "has them." if methods.has_paper else
                  "The paper's own way (`coordinates=7,penalty=...`) is not in this version."),
        "pendulum": pendulum(study, methods),
        "four-bar": four_bar(study, methods, True),
        "passages": passages(study),
        "chain": chain(study, methods, True),
    }
    parts["residuals"] = study.said["residuals"]
    parts["loss"] = f"{study.said['loss of default'] / study.said['loss of paper']:.2f}"
    parts["energy_of_chain"], parts["peak"] = study.said["chain"], study.said["peak"]
    parts["shares"] = divide(study, arguments.priority)
    draw(study, methods, folder)
    parts["orders"] = orders(study, methods.method)
    parts["through"] = through(study, methods.method)
    priority = arguments.priority
    parts["times"] = performance(study, folder, arguments.rounds, priority)
    parts["jitter"] = jitter(study, {"four-bar-I": arguments.steps, "chain-128": arguments.chain_steps},
                             priority)
    parts["variants"] = variants(study, priority, arguments.rounds)
    parts["priority"] = f"with priority (`chrt -f {priority}`)" if priority else "without priority"
    parts["machine"] = machine(study)
    with open(os.path.join(folder, "README.md"), "w", encoding="utf-8") as file:
        file.write(fill(HERE, parts))


def quick(study, methods):
    pendulum(study, methods)
    four_bar(study, methods, False)
    chain(study, methods, False)
    orders(study, methods.method, (0.01, 0.005))
    fill(HERE, dict.fromkeys(("method", "paper", "pendulum", "four-bar", "chain", "orders", "through", "times",
                        "jitter", "machine", "priority", "variants", "passages", "residuals", "loss",
                        "energy_of_chain", "peak", "shares"), ""))


def main():
    parser = argparse.ArgumentParser(description="the study of [malczyk2019] with linkwork")
    parser.add_argument("--program", required=True)
    parser.add_argument("--method", metavar="KEYS", default="auto", help="of --index3")
    parser.add_argument("--paper", metavar="KEYS", help="of --index3, the paper's way")
    parser.add_argument("--steps", type=int, default=1000000, help="of the distribution of step times")
    parser.add_argument("--chain-steps", type=int, default=1000000)
    parser.add_argument("--priority", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=5, help="of timings")
    parser.add_argument("--output", metavar="FOLDER", default="docs/reports/index3-2019")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        study = Study(os.path.abspath(arguments.program), folder)
        methods = Methods(study, arguments.method, arguments.paper)
        if arguments.quick:
            quick(study, methods)
        else:
            full(study, methods, arguments.output, arguments)
    return 1 if study.failed else 0


if __name__ == "__main__":
    sys.exit(main())
