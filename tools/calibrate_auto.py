#!/usr/bin/env python3
"""Measure the cost of evaluations and calibrate the choice of `auto` with it.

usage: calibrate_auto.py --programs FOLDER [--turns N] [--run SECONDS] [--only TEXT] [--unseen]
                         [--save FILE | --load FILE] [--write] [--evaluations FILE]
       calibrate_auto.py --programs FOLDER --accuracy SECONDS [--whole] [--only TEXT] [--unseen]
                         [--save FILE | --load FILE] [--json FILE]

--programs  folder with linkwork, bench_auto and bench_accuracy (build/bin)
--accuracy  instead: the cost of a run of so many simulated seconds with all bodies within 1e-6 m, and
            1e-9 m, of their exact positions, each formulation with its best tolerance: the measure of the
            quality of `auto`
--whole     includes the set-up of that run, and rows as the program writes them, with reactions
--turns     repetitions of every formulation and model; the minimum time counts (40)
--run       and the time of a run of so many simulated seconds by each formulation
--only      models whose name contains it
--unseen    models not used for fitting instead of the set, to validate the table
--save      keeps the measurements, one line of JSON per model
--load      reads them instead of measuring; for evaluations the minimum of several files, separated by commas
--json      writes what the table of docs/methods.md is made from (bench/results/MACHINE/accuracy.json)
--write     writes the table to src/kinematics/costs.def
--rows      fits these rows of the table alone, separated by commas; others are kept, and times are relative to them
--evaluations  writes the times of closed models' evaluations, of which docs/theory/rcr.md shows some

Prints the table of times and estimates, and the regret of each choice: its time over that of the
best formulation whose velocities satisfy the constraints (rcr, hdca; trees: aba), and over the best
of all.
"""
import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile

import accuracy_table
import numpy
import scipy.optimize

SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
TABLE = "src/kinematics/costs.def"
# contributions to the cost of a formulation; features are those of src/kinematics/costs.h
TERMS = {
    "aba": ("one", "bodies", "speeds"),
    "momenta": ("one", "bodies", "speeds"),
    "hdca": ("one", "bodies", "rows", "joins", "closings", "redundant", "products", "pivoted", "panels", "laned"),
    "dca": ("one", "bodies", "rows", "joins", "closings", "redundant", "products", "pivoted", "panels", "laned"),
    "rcr clusters": ("one", "clusters", "steps", "lane_products"),
    "rcr dense path": ("one", "bodies", "speeds", "row_paths", "row_products"),
    "rcr elimination": ("one", "closures", "nodes", "plain", "unconstrained", "fronts", "cubes"),
    "lagrange": ("one", "bodies", "speeds", "paths", "reflections"),
    "dense": ("one", "bodies", "dense"),
}
TREES = ("aba", "momenta")
CLOSED = ("rcr", "hdca")  # velocities satisfy the constraints
WORTH = 1.2               # they may be slower by that, as in src/simulate/cost.c

# ------------------------------------------------------------------------------- the benchmark set


def generated(gravity=(0, 0, -9.81), **kind):
    return json.dumps({"linkwork": 1, "gravity": gravity, "generate": kind})


def generated_models():
    for n in (7, 16, 64, 128, 256, 1024):
        yield f"chain-{n}", generated(chain={"n": n, "seed": 1})
    for n in (7, 128, 1024):
        yield f"spherical-{n}", generated(chain={"n": n, "joint": "spherical", "qd": [0, 0, 0.1]})
    yield "tree-127", generated(tree={"n": 127, "seed": 1})
    for n in (3, 4, 8, 32, 128):
        yield f"loop-{n}", generated(loop={"n": n, "axes": "z", "mass": 1})
    for n in (8, 32):
        yield f"loop-spherical-{n}", generated(loop={"n": n, "joint": "spherical"})
        yield f"loop-universal-{n}", generated(loop={"n": n, "joint": "universal"})
    for n in (1, 2, 5, 10, 20, 40, 100):
        yield f"four-bars-{n}", generated(
            (0, -9.81, 0), n_four_bar={"n": n, "q": [0.3, 0, 0], "qd": [1, 0, 0]})
    for n in (1, 2, 4, 8, 16, 40, 100, 256):
        yield f"ladder-{n}", generated(
            ladder={"n": n, "q": [0.2, 0.3, 0], "qd": [0.5, 1, 0]})
    for n, m in ((2, 2), (3, 3), (4, 4), (6, 6), (10, 10), (20, 2), (40, 1), (2, 20)):
        yield f"net-{n}x{m}", generated((0, -9.81, 0), net={"n": n, "m": m, "q": [0.3, 0, 0]})
    for n, m in ((3, 3), (5, 5), (6, 6), (7, 7)):
        yield f"net-spherical-{n}x{m}", generated(
            (0, -9.81, 0), net={"n": n, "m": m, "joint": "spherical", "q": [0.3, 0, 0]})


def rod(mass, a, b):
    """A slender rod of that mass from a to b, without spin axis of its own."""
    a, b = numpy.array(a, float), numpy.array(b, float)
    d = b - a
    length = float(numpy.linalg.norm(d))
    J = mass * (length**2 * numpy.eye(3) - numpy.outer(d, d)) / 12
    J += mass * (0.03 * length)**2 * numpy.eye(3)  # it is 3 % thick
    return {"mass": mass, "position": list((a + b) / 2),
            "inertia": [J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]]}


def rotation(axis, angle):
    x, y, z = numpy.array(axis, float) / numpy.linalg.norm(axis)
    K = numpy.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return numpy.eye(3) + math.sin(angle) * K + (1 - math.cos(angle)) * K @ K


def joint(kind, one, two, at, axis=(0, 0, 1), **more):
    return {"type": kind, "between": [one, two], "at": [float(x) for x in at],
            "axis": [float(x) for x in axis], **more}


def model(bodies, joints, gravity=(0, 0, -9.81), **more):
    return json.dumps({"linkwork": 1, "gravity": gravity, "bodies": bodies, "joints": joints,
                       **more}, default=float)


def delta():
    """Three arms on hinges, forearms on universal joints, a platform that does not rotate."""
    bodies, joints = {}, {}
    base, arm, forearm, tip, down = 0.2, 0.3, 0.6, 0.05, 0.4
    reach = base + arm * math.cos(down) - tip
    height = arm * math.sin(down) + math.sqrt(forearm**2 - reach**2)
    bodies["platform"] = {"mass": 0.5, "inertia": [1e-3, 1e-3, 2e-3, 0, 0, 0],
                          "position": [0, 0, -height]}
    for i in range(3):
        angle = 2 * math.pi * i / 3
        out, side = (numpy.array([math.cos(angle), math.sin(angle), 0]),
                     numpy.array([-math.sin(angle), math.cos(angle), 0]))
        shoulder = base * out
        elbow = shoulder + arm * (math.cos(down) * out - [0, 0, math.sin(down)])
        wrist = tip * out - [0, 0, height]
        across = numpy.cross(side, wrist - elbow) / forearm
        bodies[f"arm{i}"] = rod(0.4, shoulder, elbow)
        bodies[f"forearm{i}"] = rod(0.2, elbow, wrist)
        joints[f"shoulder{i}"] = joint("revolute", "ground", f"arm{i}", shoulder, side)
        joints[f"elbow{i}"] = joint("universal", f"arm{i}", f"forearm{i}", elbow, side,
                                    axis2=list(across))
        joints[f"wrist{i}"] = joint("universal", "platform", f"forearm{i}", wrist, side,
                                    axis2=list(across))
    return model(bodies, joints)


def stewart():
    """A platform on six sliding legs."""
    bodies = {"platform": {"mass": 5, "inertia": [0.1, 0.1, 0.2, 0, 0, 0], "position": [0, 0, 1]}}
    joints = {}
    for i in range(6):
        low, high = math.pi / 3 * (i // 2 * 2 + 0.3 * (-1)**i), math.pi / 3 * (i // 2 * 2 + 0.7 * (-1)**i)
        foot = numpy.array([math.cos(low), math.sin(low), 0])
        top = numpy.array([0.5 * math.cos(high), 0.5 * math.sin(high), 1])
        along = (top - foot) / numpy.linalg.norm(top - foot)
        first = numpy.cross(along, [1, 0, 0])
        first /= numpy.linalg.norm(first)
        middle = (foot + top) / 2
        bodies[f"lower{i}"], bodies[f"upper{i}"] = rod(1, foot, middle), rod(1, middle, top)
        joints[f"foot{i}"] = joint("universal", "ground", f"lower{i}", foot, first,
                                   axis2=list(numpy.cross(along, first)))
        joints[f"slide{i}"] = joint("prismatic", f"lower{i}", f"upper{i}", middle, along)
        joints[f"top{i}"] = joint("spherical", f"upper{i}", "platform", top)
    return model(bodies, joints)


def bennett():
    """Four hinges in space, more rows than rank."""
    length, twist = (0.5, 0.8), (0.6, math.asin(0.8 * math.sin(0.6) / 0.5))
    theta = (1, 2.771126414, -1, 3.512058893)
    bodies, joints = {}, {}
    R, p, before = numpy.eye(3), numpy.zeros(3), "ground"
    for i in range(4):
        name = f"link{i}" if i < 3 else "ground"
        joints[f"hinge{i}"] = joint("revolute", before, name, p, R[:, 2])
        c, s = math.cos(theta[i]), math.sin(theta[i])
        R = R @ [[c, -s, 0], [s, c, 0], [0, 0, 1]]
        end = p + R[:, 0] * length[i % 2]
        if i < 3:
            bodies[name] = rod(1 + 0.2 * i, p, end)
        c, s = math.cos(twist[i % 2]), math.sin(twist[i % 2])
        R, p, before = R @ [[1, 0, 0], [0, c, -s], [0, s, c]], end, name
    return model(bodies, joints)


def gears(n):
    """Wheels on parallel shafts, each geared to the previous one."""
    wheel = {"mass": 1, "inertia": [1e-2, 1e-2, 2e-2, 0, 0, 0]}
    bodies = {f"wheel{i}": {**wheel, "position": [0.2 * i, 0, 0], "com": [0.01, 0, 0]} for i in range(n)}
    joints = {f"shaft{i}": joint("revolute", "ground", f"wheel{i}", (0.2 * i, 0, 0)) for i in range(n)}
    couplings = [{"joint": f"shaft{i}", "coordinate": "q0", "of": f"shaft{i - 1}",
                  "with": "q0", "polynomial": [0, -1]}
                 for i in range(1, n)]
    return model(bodies, joints, (0, -9.81, 0), couplings=couplings)


def ring(kinds, tilt=0.0):
    """Rods end to end, back to the ground: an upright polygon, with these kinds of joints in turn."""
    n = len(kinds)
    at = [rotation((1, 0, 0), tilt) @ [math.cos(2 * math.pi * i / n) - 1, 0.2 * math.sin(4 * math.pi * i / n),
                                       math.sin(2 * math.pi * i / n)] for i in range(n)]
    bodies = {f"rod{i}": rod(1, at[i], at[i + 1]) for i in range(n - 1)}
    names = ["ground", *bodies, "ground"]
    joints = {}
    for i, kind in enumerate(kinds):
        axis = at[(i + 1) % n] - at[i - 1]
        across = numpy.cross(axis, (0.3, 1, 0.2))
        across /= numpy.linalg.norm(across)
        more = {"axis2": list(numpy.cross(across, axis / numpy.linalg.norm(axis)))} if kind == "universal" else {}
        joints[f"joint{i}"] = joint(kind, names[i], names[i + 1], at[i], across, **more)
    return model(bodies, joints)


def crossed_rings(n):
    """Two rings of balls with four balls between opposite rods."""
    bodies, joints = {}, {}
    for side in range(2):
        one = json.loads(ring(["spherical"] * n, 0.4 + 1.0 * side))
        for name, body in one["bodies"].items():
            bodies[f"{name}_{side}"] = body
        for name, given in one["joints"].items():
            ends = [e if e == "ground" else f"{e}_{side}" for e in given["between"]]
            joints[f"{name}_{side}"] = {**given, "between": ends}
    for i in range(1, 5):
        k = i * n // 5
        ends = [numpy.array(bodies[f"rod{k}_{side}"]["position"]) for side in range(2)]
        bodies[f"bridge{i}"] = rod(1, *ends)
        for side in range(2):
            joints[f"bridge{i}_{side}"] = joint("spherical", f"rod{k}_{side}", f"bridge{i}", ends[side])
    return model(bodies, joints)


def rotary_platform(legs, stages=1):
    """Platforms on cranks and rods with balls at both ends, one on the other."""
    bodies, joints, below, z = {}, {}, "ground", 0.0
    for s in range(stages):
        top = f"platform{s}"
        bodies[top] = {"mass": 2, "inertia": [0.05, 0.05, 0.1, 0, 0, 0], "position": [0, 0, z + 0.8]}
        for i in range(legs):
            angle = 2 * math.pi * (i // 2 + (0.12 if i % 2 else -0.12)) / (legs / 2)
            out = numpy.array([math.cos(angle), math.sin(angle), 0])
            side = numpy.array([-math.sin(angle), math.cos(angle), 0])
            foot = 0.6 * out + [0, 0, z]
            knee = foot + 0.25 * out + [0, 0, 0.1]
            tip = 0.4 * out + [0, 0, z + 0.8]
            bodies[f"crank{s}_{i}"], bodies[f"rod{s}_{i}"] = rod(0.3, foot, knee), rod(0.3, knee, tip)
            joints[f"crank{s}_{i}"] = joint("revolute", below, f"crank{s}_{i}", foot, side)
            joints[f"knee{s}_{i}"] = joint("universal", f"crank{s}_{i}", f"rod{s}_{i}", knee, side,
                                           axis2=list(numpy.cross(side, (tip - knee) / numpy.linalg.norm(tip - knee))))
            joints[f"tip{s}_{i}"] = joint("spherical", f"rod{s}_{i}", top, tip)
        below, z = top, z + 0.8
    return model(bodies, joints)


def geared_four_bars(n):
    """Four-bars side by side with geared cranks, each to the previous one."""
    bodies, joints, couplings = {}, {}, []
    for i in range(n):
        at = numpy.array([[0, 0, i], [0.2, 0.3, i], [1.0, 0.8, i], [1.2, 0, i]])
        for k, name in enumerate(("crank", "bar", "rocker")):
            bodies[f"{name}{i}"] = rod(1, at[k], at[k + 1])
        chain = ["ground", f"crank{i}", f"bar{i}", f"rocker{i}", "ground"]
        for k in range(4):
            joints[f"{'abcd'[k]}{i}"] = joint("revolute", chain[k], chain[k + 1], at[k])
        if i:
            couplings.append({"joint": f"a{i}", "coordinate": "q0", "of": f"a{i - 1}", "with": "q0",
                              "polynomial": [0, 1]})
    return model(bodies, joints, (0, -9.81, 0), couplings=couplings)


def with_spring(program, folder, name, text, body):
    """The model and a weak spring between the ground and a point."""
    path = os.path.join(folder, "plain.yaml")
    with open(path, "w") as file:
        file.write(text)
    out = os.path.join(folder, "converted.yaml")
    subprocess.run([program, "convert", path, "-o", out], check=True, capture_output=True)
    with open(out) as file:
        text = file.read()
    return name, text + (f"\nforces:\n  weak: {{type: spring, between: [ground, {body}], "
                         "point1: [0, -5, 0], stiffness: 1, length: 3}\n")


def write_model(folder, name, text):
    path = os.path.join(folder, name + ".yaml")
    with open(path, "w") as file:
        file.write(text)
    return name, path


def unseen_models(programs, folder):
    """name, path of models that validate the table of costs and are never used for fitting."""
    def write(name, text):
        return write_model(folder, name, text)
    program = os.path.join(programs, "linkwork")
    for n, m in ((3, 8), (5, 5), (8, 3), (2, 12), (7, 4)):
        yield write(f"net-{n}x{m}", generated((0, -9.81, 0), net={"n": n, "m": m, "q": [0.3, 0, 0]}))
    balls = generated((0, -9.81, 0), net={"n": 4, "m": 4, "joint": "spherical", "q": [0.3, 0, 0]})
    yield write("net-spherical-4x4", balls)
    yield write(*with_spring(program, folder, "net-spherical-4x4-spring", balls, "upright0"))
    yield write(*with_spring(program, folder, "net-4x4-spring", generated(
        (0, -9.81, 0), net={"n": 4, "m": 4, "q": [0.3, 0, 0]}), "upright0"))
    yield write("net-spherical-3x5-swung", generated((0, -9.81, 0), net={
        "n": 3, "m": 5, "joint": "spherical", "q": [0.3, 0, 0], "qd": [0.4, 0.2, 0.6]}))
    yield write("loop-64", generated(loop={"n": 64, "axes": "z", "mass": 1}))
    yield write("loop-spherical-16", generated(loop={"n": 16, "joint": "spherical"}))
    yield write("loop-universal-64", generated(loop={"n": 64, "joint": "universal"}))
    yield write("ring-mixed-24", ring(["spherical", "universal", "revolute"] * 8, 0.5))
    yield write("ring-mixed-12", ring(["universal", "revolute", "cylindrical"] * 4, 0.5))
    yield write("ring-mixed-16", ring(["universal", "spherical"] * 8, 0.3))
    for n in (10, 16):
        yield write(f"crossed-rings-{n}", crossed_rings(n))
    for legs in (6, 8):
        yield write(f"rotary-{legs}", rotary_platform(legs))
    for stages in (2, 3):
        yield write(f"rotary-6x{stages}", rotary_platform(6, stages))
    yield write(*with_spring(program, folder, "rotary-6-spring", rotary_platform(6), "platform0"))
    yield write("geared-four-bars-4", geared_four_bars(4))
    yield write("geared-four-bars-20", geared_four_bars(20))
    for path in ("examples/delta/delta.yaml", "examples/stewart/stewart.yaml"):
        yield os.path.basename(path).split(".")[0], os.path.join(SOURCES, path)


def all_models(programs, folder):
    """name, path"""
    def write(name, text):
        return write_model(folder, name, text)
    program = os.path.join(programs, "linkwork")
    for name, text in generated_models():
        yield write(name, text)
    texts = dict(generated_models())
    for name, body in (("four-bars-5", "rod0"), ("four-bars-40", "rod0"), ("ladder-4", "post0"),
                       ("ladder-16", "post0"), ("ladder-100", "post0"), ("four-bars-1", "rod0")):
        yield write(*with_spring(program, folder, name + "-spring", texts[name], body))
    yield write("delta", delta())
    yield write("stewart", stewart())
    yield write("rotary-4", rotary_platform(4))
    yield write("bennett", bennett())
    for n in (2, 5, 20, 100):
        yield write(f"gears-{n}", gears(n))
    walker = os.path.join(SOURCES, "examples/strandbeest/walker.py")
    for pairs, frame in ((1, "fixed"), (3, "fixed"), (1, "floating"), (3, "floating")):
        text = subprocess.run([sys.executable, walker, "--pairs", str(pairs), "--frame", frame],
                              check=True, capture_output=True, text=True).stdout
        yield write(f"walker-{pairs}-{frame}", text)
    for path in ("examples/models/four_bar.yaml", "examples/models/ur5.urdf",
                 "examples/models/anymal_c.urdf", "examples/models/crane.yaml",
                 "tests/golden/P4b_four_bar_regular.yaml", "tests/golden/P5_single_loop_4.yaml",
                 "tests/golden/P8_mixed_joint_arm.yaml", "tests/golden/P9_floating_tree.yaml",
                 "tests/golden/P10_spatial_slider_crank.yaml",
                 "tests/golden/P13_rheonomic_four_bar.yaml"):
        yield os.path.basename(path).split(".")[0], os.path.join(SOURCES, path)


# ------------------------------------------------------------------------------------- whole runs

CONTENDERS = ("auto", "rcr", "hdca", "dca", "lagrange", "lagrange/auto/always")
PATIENCE = 120         # [s] for one model: a run that cannot reach the accuracy would not end
NEAR = 2               # tolerances to either side with the same time per evaluation


def ask_all(arguments, program, *options, limit=None):
    """The output of a program for each selected model; failures are reported and left out."""
    results = []
    with tempfile.TemporaryDirectory() as folder:
        models = unseen_models if arguments.unseen else all_models
        for name, path in models(arguments.programs, folder):
            if arguments.only and arguments.only not in name:
                continue
            command = [os.path.join(arguments.programs, program), *options, path]
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
            except subprocess.TimeoutExpired:
                print(f"{name}: takes too long", file=sys.stderr)
                continue
            if done.returncode:
                print(f"{name}: {done.stderr.strip() or done.returncode}", file=sys.stderr)
                continue
            results.append(json.loads(done.stdout))
    return results


def measure_runs(arguments):
    whole = ["--whole", "--sample", "0.01"] if arguments.whole else []
    return ask_all(arguments, "bench_accuracy", "--duration", str(arguments.accuracy), "--limit", "1",
                   "--tolerances", "4,10,3", "--repeat", "2", "--with", ",".join(CONTENDERS), *whole, limit=PATIENCE)


def quiet(runs):
    """The same with times as on an idle machine: the number of evaluations, which is reproducible, times the
    minimum time of one in runs at nearby tolerances."""
    pace = [seconds / count for _, seconds, _, count, *_ in runs]
    return [(tolerance, count * min(pace[max(0, i - NEAR):i + NEAR + 1]), *rest[:1], count)
            for i, (tolerance, _, *rest, count, _) in enumerate(runs)]


def time_to(error, result):
    """The minimum time of a run within that error, by contender; interpolated between two tolerances
    logarithmically, because it is chance whether one of them just reaches the error."""
    best = {}
    for name, runs in result["runs"].items():
        runs = quiet(runs)
        times = [seconds for _, seconds, off, *_ in runs if off <= error]
        for (_, s1, e1, *_), (_, s2, e2, *_) in zip(runs, runs[1:]):
            if e1 > error > e2 > 0:
                part = math.log(e1 / error) / math.log(e1 / e2)
                times.append(s1**(1 - part) * s2**part)
        if times and result["doubt"] < error / 10:
            best[name] = min(times)
    return best


def qualities(results):
    """Rows of tools/accuracy_table.py.  The times of `auto` are those of the formulation that it chose: a run by name is
    the same run."""
    rows = []
    for r in results:
        if not r["runs"].get("auto"):
            continue
        chosen, errors = r["runs"]["auto"][0][4], {}
        for error in accuracy_table.ERRORS:
            best = time_to(float(error), r)
            mine = min(best.get("auto", math.inf), best.get(chosen, math.inf))
            if mine < math.inf:
                others = {n: best[n] / mine for n in CONTENDERS[1:] if n in best}
                errors[error] = {"auto": mine, "others": others, "best": 1 / min(1, *others.values())}
        rows.append({"model": r["model"], "auto": chosen, "errors": errors})
    return rows


def describe_qualities(arguments, rows):
    done = subprocess.run([os.path.join(arguments.programs, "linkwork"), "bench", "--case", "chain-7", "--seconds", "0.01",
                           "--json"], capture_output=True, text=True, check=True)
    about = {"about": f"tools/calibrate_auto.py --accuracy {arguments.accuracy}", "cpu": json.loads(done.stdout)["cpu"]}
    found = {**about, "rows": rows}
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(found, file, indent=1)
            file.write("\n")
    return found


# ------------------------------------------------------------------------------------- measurements


def load(files):
    """Saved measurements; for several measurements of evaluations the minimum times."""
    results = {}
    for name in files:
        with open(name) as file:
            for r in map(json.loads, file):
                before = results.get(r["model"])
                if before and "formulations" in r:
                    for n, times in r["formulations"].items():
                        least = before["formulations"].setdefault(n, times)
                        for what in least.keys() & times.keys():
                            least[what] = min(least[what], times[what])
                else:
                    results[r["model"]] = r
    return list(results.values())


def measure(arguments):
    return ask_all(arguments, "bench_auto", "--turns", str(arguments.turns), "--run", str(arguments.run))


def row_of(name, result):
    """The row of the table of costs: rcr has one for each of its ways."""
    return result["way"] if name == "rcr" else name


def times_of(result):
    """Times of one evaluation by row of the table; trees use other rows than loops."""
    tree = result["features"]["closures"] == 0
    return {row_of(n, result): f["evaluation"] for n, f in result["formulations"].items()
            if "evaluation" in f and row_of(n, result) in TERMS and (row_of(n, result) in TREES) == tree}


def write_evaluations(results, arguments):
    """Microseconds by formulation, and which way `rcr` takes, a line for each model."""
    done = subprocess.run([os.path.join(arguments.programs, "linkwork"), "bench", "--case", "chain-7", "--samples", "1",
                           "--json"], capture_output=True, text=True, check=True)
    machine = json.loads(done.stdout)
    lines = ['"about": "tools/calibrate_auto.py: microseconds of an evaluation at the start"']
    lines += [f'"{key}": {json.dumps(machine[key])}' for key in ("cpu", "compiler")]
    for r in results:
        if r["features"]["closures"]:
            times = {n: float(f"{1e6 * f['evaluation']:.3g}")
                     for n, f in r["formulations"].items() if "evaluation" in f}
            lines.append(json.dumps(r["model"]) + ": " + json.dumps({"way": r["way"], **times}))
    with open(arguments.evaluations, "w") as file:
        file.write("{\n " + ",\n ".join(lines) + "\n}\n")


def closeness(result):
    """The weight of a model: larger if the two candidates are close to each other."""
    times = [result["formulations"].get(n, {}).get("evaluation") for n in CLOSED]
    return 1 / (0.2 + abs(math.log(times[0] / times[1]))) if all(times) else 1.0


def fit(terms, rows):
    """Coefficients with the minimum errors of logarithms: a factor of two is as wrong as one half."""
    A = numpy.array([[f[t] / (1e9 * e) for t in terms] for f, e, _ in rows])
    weight = numpy.array([w for _, _, w in rows])
    share = numpy.array([1 / numpy.median(c[c > 0]) if (c > 0).any() else 1 for c in A.T])

    def errors(z):
        return weight * numpy.log(A * share @ z + 1e-9)
    found = scipy.optimize.least_squares(errors, numpy.full(len(terms), 1 / len(terms)),
                                         loss="soft_l1", f_scale=0.1, bounds=(0, numpy.inf))
    x = found.x * share
    felt = (A * x).max(axis=0) > 0.05  # omit coefficients without effect on any time
    return {t: float(f"{c:.3g}") for t, c, f in zip(terms, x, felt) if f}


def deviations(table, result):
    """Logarithms of measured over estimated times."""
    return {n: math.log(t / estimate(table, n, result["features"])) for n, t in times_of(result).items()}


def calibrate(results, names=None, rounds=8):
    """The table.  A shared machine is at times twice as slow, equally for all formulations of a model:
    this factor of each model is fitted together with the coefficients.  Rows that are not fitted are kept."""
    pace = [1.0] * len(results)
    names = names or list(TERMS)
    table = {name: row for name, row in read_table().items() if name not in names}
    for _ in range(rounds):
        for name in names:
            rows = [(r["features"], times_of(r)[name] / p, closeness(r))
                    for r, p in zip(results, pace) if name in times_of(r)]
            if rows:
                table[name] = fit(TERMS[name], rows)
        for i, r in enumerate(results):
            off = deviations(table, r)
            pace[i] = math.exp(min(0.7, max(-0.7, numpy.median(list(off.values()))))) if len(off) > 2 else 1.0
        level = numpy.quantile(pace, 0.2)  # an idle machine
        pace = [p / level for p in pace]
    return table


def expect(table, name, result):
    """As in the library."""
    return estimate(table, row_of(name, result), result["features"])


def estimate(table, name, features):
    return 1e-9 * sum(c * features[t] for t, c in table[name].items())


def read_table():
    """The table in the sources."""
    table = {}
    with open(os.path.join(SOURCES, TABLE)) as file:
        for name, row in re.findall(r'\{"([^"]+)",\s*\{([^{}]*)\}\}', file.read()):
            table[name] = {t: float(c) for t, c in re.findall(r"\.(\w+) = ([^,]+)", row)}
    return table


def ways(results, table):
    """Errors of the estimates, apart from the factor of the machine for the whole model, and the loss of rcr by
    choosing between the dense path and the elimination with them."""
    off = {name: [] for name in TERMS}
    for r in results:
        logs = deviations(table, r)
        pace = numpy.median(list(logs.values())) if len(logs) > 2 else 0
        for name, x in logs.items():
            off[name].append(x - pace)
    for name, logs in off.items():
        if logs:
            print(f"{name}: measured over estimated {math.exp(min(logs)):.2f} to {math.exp(max(logs)):.2f}, "
                  f"mean deviation {100 * float(numpy.std(logs)):.0f} %")
    few, elimination = "rcr dense path", "rcr elimination"
    for r in results:
        times = times_of(r)
        if r["way"] != "rcr clusters" and few in times and elimination in times:
            better = min((few, elimination), key=lambda n: estimate(table, n, r["features"]))
            loss = times[better] / min(times[few], times[elimination])
            if loss > 1.05:
                print(f"{r['model']}: {better} takes {loss:.2f} of the time of the other way")
    print()


def table_text(table):
    lines = []
    for name, row in table.items():
        inner = ", ".join(f".{t} = {c:.4g}" for t, c in row.items())
        lines.append(f'    {{"{name}", {{{inner}}}}},\n')
    return "".join(lines)


def choose(table, result):
    """The choice of the library with this table."""
    if result["auto"] not in (*CLOSED, "dca"):
        return result["auto"]
    takes = [n for n in CLOSED if "evaluation" in result["formulations"].get(n, {}) and row_of(n, result)]
    cost = {n: expect(table, n, result) * (result["momenta_take"] if n == "hdca" else 1) for n in takes}
    best = min(takes, key=cost.get)
    return "dca" if len(takes) > 1 and WORTH * expect(table, "dca", result) < cost[best] else best


def regret(results, table, what):
    """Rows of markdown and the largest regrets."""
    worst, worst_all, over = 0, 0, []
    names = ("aba", "momenta", "hdca", "dca", "rcr", "lagrange", "dense")
    print(f"| model | {' | '.join(names)} | `auto` | estimate | over the best closed | over the best |")
    print("|---|" + "---|" * (len(names) + 4))
    for r in results:
        times = {n: f.get(what, math.inf) for n, f in r["formulations"].items() if n in names}
        chosen = choose(table, r)
        best = CLOSED if r["features"]["closures"] else ("aba",)
        closed = [times[n] for n in best if n in times]
        if times[chosen] == math.inf:
            continue
        a, b = times[chosen] / min(closed), times[chosen] / min(times.values())
        worst, worst_all = max(worst, a), max(worst_all, b)
        if a > 1.2:
            over.append(r["model"])
        cell = [f"{1e6 * times[n]:.3g}" if times.get(n, math.inf) < math.inf else "" for n in names]
        print(f"| {r['model']} | {' | '.join(cell)} | `{chosen}` | "
              f"{1e6 * expect(table, chosen, r):.3g} | "
              f"{a:.2f} | {b:.2f} |")
    print(f"\n{len(results)} models, {what}: at most {worst:.2f} times the best that keeps velocities closed "
          f"({len(over)} above 1.2: {', '.join(over)}), {worst_all:.2f} times the best of all")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--programs", default="build/bin")
    parser.add_argument("--turns", type=int, default=40)
    parser.add_argument("--run", type=float, default=0)
    parser.add_argument("--accuracy", type=float, default=0)
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--only")
    parser.add_argument("--unseen", action="store_true")
    parser.add_argument("--save")
    parser.add_argument("--load")
    parser.add_argument("--json")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--rows")
    parser.add_argument("--evaluations")
    arguments = parser.parse_args()
    if arguments.load:
        results = load(arguments.load.split(","))
    else:
        results = measure_runs(arguments) if arguments.accuracy else measure(arguments)
    if arguments.save:
        with open(arguments.save, "w") as file:
            file.writelines(json.dumps(r) + "\n" for r in results)
    if arguments.accuracy:
        accuracy_table.print_all(describe_qualities(arguments, qualities(results)))
        return
    if arguments.evaluations:
        write_evaluations(results, arguments)
    rows = arguments.rows.split(",") if arguments.rows else None
    table = read_table() if arguments.unseen else calibrate(results, rows)
    ways(results, table)
    regret(results, table, "evaluation")
    if any("run" in f for r in results for f in r["formulations"].values()):
        regret(results, table, "run")
    if arguments.unseen:
        return
    print("\n" + table_text(table))
    if arguments.write:
        with open(os.path.join(SOURCES, TABLE), "w") as file:
            file.write(table_text(table))


if __name__ == "__main__":
    main()
