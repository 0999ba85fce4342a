#!/usr/bin/env python3
"""The cases and the performance study of [malczyk2019] with `linkwork`.

usage: report.py --program PROGRAM [--method KEYS] [--paper KEYS] [--steps N] [--chain-steps N]
                 [--priority N] [--quick | --accuracy | --times | --render]

Runs the double pendulum, the four-bar through its singular position and the chain of 128 links by `index3`,
by its defaults and as the paper has it; compares with explicit integration and closed forms, times steps, draws the
counterparts of the paper's figures, and checks the statements of the report.  What was found is written to
results.json, numbers that do not depend on the machine apart from times, which name theirs; page.py makes the report
from this file.  --method: what follows `--index3` in place of the defaults; --paper: the same for the paper's way
(case by case by default); --steps, --chain-steps: how many steps the distributions of step times have;
--priority: of timed runs, as SCHED_FIFO.
--accuracy, --times: only this part is measured anew, the other one is kept.  --render: nothing is, only the page is
made.  --quick leaves timings and the long runs out, compares what it finds with results.json, and the page with what
page.py makes of it; it writes nothing and is what the tests run.

Exit status: 0; 1 when a statement does not hold, or a number or the page is not what is stored.  Needs nothing but
Python and the program; valgrind counts instructions where there is one.
"""
import math
import os
import re
import shutil
import sys

import cases
import page
import paper
from study import (H, HERE, SIZES, Study, distance, energy, four_bar_angle, largest_difference, power,
                   vectors)
import steps as step_bench  # bench/steps
from reports import Report, processor, read_table, rounded, write_table

# The paper's way: penalty and iterations of each case are those it names; projections with the tangent's matrix.
PAPER = "coordinates=7,penalty={penalty},iterations={iterations},tolerance=1e-12,tangent={level},projection=tangent,output=newton"
PAPER_CASES = {"pendulum": ("1e6", 3), "four-bar": ("1e6", 4), "chain": ("1e9", 3)}
REFERENCES = {"P4": "P4-four-bar", "P5": "P5-single-loop", "P7": "P7-double-loop", "P10": "P10-slider-crank"}


class Methods:
    """What is run: {name: text of --index3} for a case."""

    def __init__(self, method, paper_keys):
        self.method, self.paper = method, paper_keys

    def keys(self, case, level=0, penalty=None):
        usual, iterations = PAPER_CASES[case]
        return self.paper or PAPER.format(penalty=penalty or usual, iterations=iterations, level=level)

    def of(self, case):
        found = {"default": self.method, "paper": self.keys(case)}
        if case == "chain" and not self.paper:
            found["paper, level 1"] = self.keys(case, 1)
            found["paper, level 2"] = self.keys(case, 2)
        return found


def near(a, b):
    return abs(a - b) <= paper.SAME * abs(b)


def residuals(run, *kinds):
    return {kind: max(run["sys." + kind]) for kind in kinds}


def stopped(study):
    """When the last run broke down [s]."""
    return float(re.search(r"stops at t = ([\d.e+-]+)", study.why).group(1))


# ------------------------------------------------------------------------------------ double pendulum

def pendulum(study, methods):
    """What was found, and result files of the pictures."""
    model = cases.write(study.folder, "pendulum")["pendulum"]
    _, exact = study.exact(model, "aba", 10.0, H, name="pendulum-exact")
    for t, (a, b, force) in paper.PENDULUM_AT.items():
        i = round(t / H)
        off = max(math.dist(vectors(exact, "body.A.")[i], a), math.dist(vectors(exact, "body.B.")[i], b),
                  math.dist(vectors(exact, "joint.j1.f")[i], force))
        study.hold(f"double pendulum: the explicit run is at the prototype's place at {t} s ({off:.1e})",
                   off < 2e-6)
    found = {}
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
        known = paper.PENDULUM[name]
        found[name] = {"off": off, "force": forces, "least": min(e), "last": e[-1],
                       **residuals(run, "cpos", "cvel", "cacc")}
        study.hold(f"double pendulum, {name}: A is off by {off:.2e} m, energy at least {min(e):.2e} J, as "
                   "the prototype has it", near(off, known[0]) and near(min(e), known[1]))
        study.hold(f"double pendulum, {name}: positions fulfil the joints better than velocities do",
                   found[name]["cpos"] < found[name]["cvel"])
    return found


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
    found = {}
    for output in ("motion", "step", "newton"):
        found[output] = []
        for reading in ("I", "II"):
            model = cases.write(study.folder, "four-bar-" + reading)["four-bar-" + reading]
            for h in (0.01, 0.001):
                _, run = study.index3(model, "output=" + output, h, 10.0)
                found[output].append(coupler_force_error(run))
                if output == "motion":
                    study.hold(f"four-bar {reading}, h = {h} s: forces off by {found[output][-1]:.1e} N in every row",
                               found[output][-1] < 1e-4)
    return found


def passages_in_an_hour():
    """Of reading I, from those in the first 30 s of the closed form."""
    vertical = [math.cos(phi) > 0 for phi in four_bar_angle([0.01 * i for i in range(3001)], True)]
    return 120 * sum(a != b for a, b in zip(vertical, vertical[1:]))


def four_bar(study, methods, long):
    paths = cases.write(study.folder, "four-bar-I", "four-bar-II")
    found = []
    for reading in ("I", "II"):
        model = paths["four-bar-" + reading]
        for name, method in methods.of("four-bar").items():
            _, run = study.index3(model, method, H, 30.0, name=f"four-bar-{reading}-{name}")
            entry = {"reading": reading, "method": name, "time": 30}
            found.append(entry)
            if run is None:
                entry["ends"] = stopped(study)
                continue
            off, branch = four_bar_errors(run, reading)
            e = energy(run)
            entry.update(off=off, branch=branch, least=min(e), most=max(e), **residuals(run, "cpos", "cvel"))
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
        found.append({"reading": "I", "method": "default", "time": 3600, "branch": branch, "least": min(e),
                      "most": max(e), **residuals(run, "cpos", "cvel")})
        study.hold(f"four-bar I: an hour on its branch ({branch:.1e} m), energy within "
                   f"{max(map(abs, e)):.1e} J of 5.7 J", branch < 1e-11 and max(map(abs, e)) < 5e-2)
    return found


# ---------------------------------------------------------------------------------------------- chain

def wanted_of_chain(name):
    return name.startswith(("sys.", "marker.", "joint.j1.")) or re.match(r"body\.b\d+\.[xy]$", name)


def chain(study, methods, long):
    paths = cases.write(study.folder, "chain-128", "chain-1024")
    found = {"methods": {}, "penalties": {}}
    for name, method in methods.of("chain").items():
        _, run = study.index3(paths["chain-128"], method, H, 10.0, name=f"chain-{name}",
                              columns=wanted_of_chain)
        e, time = energy(run), run["time"]
        peak = max(range(len(time)), key=lambda i: run["sys.T"][i])
        low = min(range(len(time)), key=lambda i: e[i])
        errors = {t: math.dist((run["body.b128.x"][round(t / H)], run["body.b128.y"][round(t / H)]), at)
                  for t, at in paper.CHAIN_TIP.items()}
        known = paper.CHAIN[name]
        found["methods"][name] = {"least": e[low], "least_at": time[low], "last": e[-1], "kinetic": run["sys.T"][peak],
                                  "kinetic_at": time[peak], "tip": list(errors.values()),
                                  **residuals(run, "cpos", "cvel")}
        study.hold(f"chain of 128, {name}: at least {e[low]:.2f} J, prototype {known[0]}",
                   abs(e[low] - known[0]) < 1.5)
        study.hold(f"chain of 128, {name}: {e[-1]:.2f} J after 10 s, prototype {known[1]}",
                   abs(e[-1] - known[1]) < (0.05 if name in ("default", "paper") else 3))
        if name == "default":
            study.hold("chain of 128: the kinetic energy is largest at 5.22 s, to 0.05 %",
                       abs(run["sys.T"][peak] - paper.CHAIN_KINETIC[0]) < 5e-4 * paper.CHAIN_KINETIC[0]
                       and abs(time[peak] - paper.CHAIN_KINETIC[1]) < 0.015)
            study.hold("chain of 128: the tip is as near to the exact one at 1, 3 and 5 s as any link of the "
                       "prototype's (" + ", ".join(power(x) for x in errors.values()) + " m)",
                       all(errors[t] < paper.CHAIN_ERROR[t] * (1 + paper.SAME) for t in errors))
    for penalty in ("1e6", "1e7", "1e8") if not methods.paper else ():
        _, run = study.index3(paths["chain-128"], methods.keys("chain", 0, penalty), H, 1.0,
                              name="chain-penalty", columns=wanted_of_chain)
        study.hold(f"chain of 128: the paper's way fails with a penalty of {penalty}, too", run is None)
        if run is None:
            found["penalties"][penalty] = stopped(study)
    if long:
        summary, run = study.index3(paths["chain-1024"], methods.of("chain")["default"], H, 10.0,
                                    sample=10.0, name="chain-1024", columns=wanted_of_chain)
        found["1024"] = energy(run)[-1]
        study.hold(f"chain of 1024: {found['1024']:.2f} J after 10 s, {summary['rejected']} steps halved",
                   paper.CHAIN_1024[0] < found["1024"] < paper.CHAIN_1024[1])
    return found


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
            rows.append({"case": name, "what": what, "errors": errors, "ratios": ratios, "between": between})
            study.hold(f"{name}, {what}: halving the step divides the error by "
                       + ", ".join(f"{x:.2f}" for x in ratios), all(3.4 < x < 4.6 for x in ratios))
    return rows


def through(study, method, sizes=(0.01, 0.005, 0.0025)):
    """P4 through its singular positions, where explicit integration would lose its way: 10 s against the
    closed form."""
    model = os.path.join(HERE, "reference", REFERENCES["P4"] + ".yaml")
    rows, errors = [], []
    for h in sizes:
        _, run = study.index3(model, method, h, 10.0, sample=0.05)
        off, branch = four_bar_errors(run, "II")
        errors.append(off)
        rows.append({"h": h, "off": off, "branch": branch, "least": min(energy(run))})
    ratios = [a / b for a, b in zip(errors, errors[1:])]
    study.hold("P4 through its singular positions, 10 s: halving the step divides the error by "
               + ", ".join(f"{x:.2f}" for x in ratios), all(3.4 < x < 4.6 for x in ratios))
    return rows


def variants(study):
    """How well the chain of 128 does with other settings in real-time mode."""
    path = cases.write(study.folder, "chain-128")["chain-128"]
    found = {}
    for text in VARIANTS:
        method = ",".join(["mode=real-time", text] if text else ["mode=real-time"])
        _, run = study.index3(path, method, H, 10.0, name="variant", columns=wanted_of_chain)
        e = energy(run)
        off = math.dist((run["body.b128.x"][500], run["body.b128.y"][500]), paper.CHAIN_TIP[5])
        found[text] = {"least": min(e), "last": e[-1], "tip": off, **residuals(run, "cpos")}
    return found


# ------------------------------------------------------------------------------------- performance

WORK = 0.4  # seconds that a timing takes about, from a guess of a third of a microsecond per link: less, and two
# threads may still be on one processor
COUNTED = [16, 64, 256, 1024, 4096]  # links whose steps' instructions are counted
VARIANTS = ["", "tangent=1", "projection=tangent", "newton=modified", "newton=modified,projection=tangent", "iterations=2",
            "iterations=2,tangent=1", "coordinates=7,penalty=1e9,tangent=0,projection=tangent"]


def shares_of(report):
    """Of rows and matrix, solution, projections [%]."""
    return [float(x) for x in re.findall(r"([\d.]+) %", report)[:3]]


def measure_chains(study, rounds, priority):
    """{links: least times of a step [s] by one and two threads, share of projections [%]}.  Steps do the same work, so
    the least of them is the one that nothing has disturbed."""
    paths = cases.write(study.folder, *(f"chain-{n}" for n in SIZES))
    found = {str(n): {"one": math.inf, "two": math.inf} for n in SIZES}
    for _ in range(rounds):
        for n in SIZES:
            entry = found[str(n)]
            for threads, name in ((1, "one"), (2, "two")):
                count = max(50, min(4000, int(WORK / (3.3e-7 * n))))
                seen = step_bench.times(study.program, paths[f"chain-{n}"], count, H, threads, priority)
                if seen["least"] < entry[name]:
                    entry[name] = seen["least"]
                    if threads == 1:
                        entry["projections"] = shares_of(seen["report"])[2]
    if not shutil.which("valgrind"):
        return found
    for n in COUNTED:
        found[str(n)]["instructions"] = max(step_bench.instructions(study.program, paths[f"chain-{n}"], 3, H))
    per = [found[str(n)]["instructions"] / n for n in COUNTED]
    study.hold("the instructions of a step per link do not grow with their number: "
               + ", ".join(f"{x:.0f} of {n}" for n, x in zip(COUNTED, per)),
               all(b < 1.05 * a for a, b in zip(per, per[1:])))
    return found


def with_options(study, text, name):
    path = cases.write(study.folder, "chain-128")["chain-128"]
    with open(path, encoding="utf-8") as file:
        return study.write(name, file.read() + f'simulation: {{index3: "{text or "auto"}"}}\n')


def divide(study, priority):
    """Shares of Newton's iterations and of both projections [%] for the chain of 128: by the paper's method in six
    coordinates, with two right sides on Newton's factors, and by the default."""
    found = {}
    for name, text in (("tangent", "projection=tangent"), ("default", "")):
        model = with_options(study, text, "shares.yaml")
        assembly, solution, projections = shares_of(step_bench.times(study.program, model, 2000, H, 1, priority)["report"])
        found[name] = [assembly + solution, projections]
    return found


def jitter(study, counts, priority):
    """Distributions of step times, and instructions of steps."""
    found = {}
    for name, path in cases.write(study.folder, *counts).items():
        counted = (50 if name == "chain-128" else 300) if shutil.which("valgrind") else 0
        seen = step_bench.measure(study.program, path, counts[name], H, 1, counted, priority)
        found[name] = {k: seen[k] for k in ("steps", "median", "p99", "p999", "worst", "slow", "instructions") if k in seen}
        if counted:
            spread = seen["instructions"]["spread"]
            study.hold(f"{name}: the instructions of steps differ by {100 * spread:.2g} %", spread < 0.01)
    return found


def time_variants(study, priority, rounds):
    models = {text: with_options(study, text, f"variant-{i}.yaml") for i, text in enumerate(VARIANTS)}
    found = {text: {"step": math.inf} for text in VARIANTS}
    for text in VARIANTS * rounds:
        seen = step_bench.times(study.program, models[text], 1000, H, 1, priority)["least"]
        found[text]["step"] = min(seen, found[text]["step"])
    if shutil.which("valgrind"):
        for text, model in models.items():
            found[text]["instructions"] = max(step_bench.instructions(study.program, model, 5, H))
    return found


def draw_times(study, chains, folder):
    log2 = [math.log2(n) for n in SIZES]
    one, two = ([chains[str(n)][k] for n in SIZES] for k in ("one", "two"))
    projections = [chains[str(n)]["projections"] for n in SIZES]
    for name, columns in {
            "times": {"whole steps": [1000 * t for t in one],
                      "Newton": [10 * (100 - p) * t for p, t in zip(projections, one)],
                      "projections": [10 * p * t for p, t in zip(projections, one)],
                      "two threads": [1000 * t for t in two]},
            "speedup": {"speedup of two threads": [a / b for a, b in zip(one, two)],
                        "efficiency": [a / b / 2 for a, b in zip(one, two)]}}.items():
        path = write_table(study.path(name + ".csv"), {"time": range(len(SIZES)), "log2 n": log2, **columns})
        study.plot(os.path.join(folder, name + ".svg"), [path], [",".join(columns)], "--x", "log2 n",
                   "--size", "560x320", *(["--log"] if name == "times" else []), "--title",
                   "10 s of motion [s]" if name == "times" else "two threads against one")


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

def measure_accuracy(study, methods, long=True):
    found = {"pendulum": pendulum(study, methods), "four-bar": four_bar(study, methods, long),
             "chain": chain(study, methods, long),
             "orders": orders(study, methods.method, (0.01, 0.005, 0.0025) if long else (0.01, 0.005))}
    if long:
        found.update({"passages in an hour": passages_in_an_hour(), "passages": passages(study),
                      "through": through(study, methods.method), "variants": variants(study)})
    return found


def measure_times(study, arguments):
    priority, rounds = arguments.priority, arguments.rounds
    return {"machine": processor(study.program), "priority": priority, "chains": measure_chains(study, rounds, priority),
            "shares": divide(study, priority), "variants": time_variants(study, priority, rounds),
            "jitter": jitter(study, {"four-bar-I": arguments.steps, "chain-128": arguments.chain_steps}, priority)}


# Energies after the chain has snapped, where the motion amplifies round-off: held to 3 J instead.
AMPLIFIED = {("chain", "methods", f"paper, level {k}", "last") for k in (1, 2)}


class Index3(Report):
    here, page_file, pictures = HERE, "docs/reports/index3-2019/README.md", "docs/reports/index3-2019"
    about = "the study of [malczyk2019] with linkwork"
    study = Study
    methods = None

    def options(self, parser):
        parser.add_argument("--method", metavar="KEYS", default="auto", help="of --index3")
        parser.add_argument("--paper", metavar="KEYS", help="of --index3, the paper's way")
        parser.add_argument("--steps", type=int, default=1000000, help="of the distribution of step times")
        parser.add_argument("--chain-steps", type=int, default=1000000)
        parser.add_argument("--priority", type=int, default=0)
        parser.add_argument("--rounds", type=int, default=5, help="of timings")

    def begin(self, options):
        self.methods = Methods(options.method, options.paper)

    def measure(self, study, options):
        found = measure_accuracy(study, self.methods, not options.quick)
        if not options.quick:
            found["method"] = self.methods.method
            found["paper's method"] = self.methods.keys("pendulum")
        return found

    def measure_times(self, study, options):
        return measure_times(study, options)

    def draw(self, study, results):
        draw(study, self.methods, self.path(self.pictures))

    def draw_times(self, study, results):
        draw_times(study, rounded(results["times"])["chains"], self.path(self.pictures))

    def tolerance(self, path):
        return (math.inf if path in AMPLIFIED else 0.25), 1e-9

    def answers(self, results):
        return page.answers(results["accuracy"], results["times"])

    def parts(self, results):
        return page.parts(results)


if __name__ == "__main__":
    sys.exit(Index3().main())
