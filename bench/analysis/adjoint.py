#!/usr/bin/env python3
"""The adjoint gradient of a run in multiples of one run, and its error: a table.

usage: adjoint.py --program LINKWORK [--count] [--cases A,B] [--by 1,10,100] [--lengths 1,4] [--tolerance 1e-10]
                  [--keep FOLDER]

Mechanisms: a four-bar with a spring, a Stewart platform on six springs with dampers, a chain of 64 links with springs, a
chain of 16 links with springs between points and torques of formulas that read several joints and bodies.
Parameters are masses, inertias, springs, dampers, and of the loops the places of their joints. The run is that of
`linkwork run --integrator verner87` with the adjoint's tolerance, without rows between its ends; the reading of the file
(`linkwork check`) is subtracted from both. Ratios are those of the processor's time, the least of three interleaved runs,
or with --count of instructions (valgrind --tool=callgrind, build with -DLW_ISA=all). `error`: the largest difference to
the derivatives of `--method forward` with the tolerance 1e-12, relative to the largest of the same parameter's kind.
"""
import argparse
import json
import math
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

FINE = "1e-12"


def four_bar(steps):
    """The four-bar of the reference, with a spring and a damper at each joint on the ground."""
    rods = ("crank", "coupler", "rocker")
    own = ["crank: 0.4 m", "coupler: 1 m", "rocker: 0.8 m", "base: 1 m", "line: 1 kg/m", "rate: 20 N m/rad",
           "rate2: 3 N m/rad", "loss: 0.02", "loss2: 0.03"]
    more = [f"{rod}_m{i}: 0.0{i % 9 + 1} kg" for i in range(16) for rod in rods]
    more += [f"{rod}_I{i}: 1e-4 kg m^2" for i in range(15) for rod in rods]
    by = [p.split(":")[0] for p in own + more]
    extra = {rod: [" + ".join(n for n in by if n.startswith(rod + f"_{c}")) for c in "mI"] for rod in rods}
    dependent = ["x1: crank*cos(1.2)", "y1: crank*sin(1.2)", 'd: "hypot(base - x1, y1)"',
                 'a2: "atan2(-y1, base - x1) + acos((coupler^2 + d^2 - rocker^2)/(2*coupler*d))"',
                 "x2: x1 + coupler*cos(a2)", "y2: y1 + coupler*sin(a2)", 'a3: "atan2(y2, x2 - base)"']
    place = {"crank": ("x1/2, y1/2, 0", "cos(0.6), 0, 0, sin(0.6)"),
             "coupler": ("(x1+x2)/2, (y1+y2)/2, 0", "cos(a2/2), 0, 0, sin(a2/2)"),
             "rocker": ("(base+x2)/2, y2/2, 0", "cos(a3/2), 0, 0, sin(a3/2)")}
    bodies = [f"{rod}_rod: {{mass: line*{rod} + {extra[rod][0]}, "
              f"inertia: [0, line*{rod}^3/12 + {extra[rod][1]}, line*{rod}^3/12 + {extra[rod][1]}, 0, 0, 0], "
              f"position: [{place[rod][0]}], orientation: [{place[rod][1]}]}}" for rod in rods]
    joints = ["A: {type: revolute, between: [ground, crank_rod], at: [0, 0, 0], axis: [0, 0, 1], "
              "spring: {q0: {stiffness: rate, damping: loss, at: -0.15}}}",
              "B: {type: revolute, between: [crank_rod, coupler_rod], at: [x1, y1, 0], axis: [0, 0, 1]}",
              "C: {type: revolute, between: [coupler_rod, rocker_rod], at: [x2, y2, 0], axis: [0, 0, 1]}",
              "D: {type: revolute, between: [ground, rocker_rod], at: [base, 0, 0], axis: [0, 0, 1], "
              "spring: {q0: {stiffness: rate2, damping: loss2}}}"]
    return by, own + more + dependent, bodies, joints, "body.coupler_rod.x", "[0, -9.81, 0]", 20 * steps


def stewart(steps):
    """Six legs of a cylinder on a universal joint and a rod, with a spring and a damper in the slide."""
    own, bodies, joints, by = ["payload: 60 kg", "tall: 1.1 m", "Ix: 3", "Iy: 3.6"], [], [], []
    for i in range(1, 7):
        side = 1 if i % 2 else -1
        middle = 120 * ((i - 1) // 2)
        base, top = (math.radians(middle + side * a) for a in (10, 48))
        own += [f"bx{i}: {0.8 * math.cos(base)!r} m", f"by{i}: {0.8 * math.sin(base)!r} m", f"px{i}: {0.45 * math.cos(top)!r} m",
                f"py{i}: {0.45 * math.sin(top)!r} m", f"mc{i}: 6 kg", f"mr{i}: 3 kg", f"Ic{i}: 0.2", f"Jc{i}: 0.202",
                f"Ir{i}: 0.1", f"Jr{i}: 0.101", f"k{i}: {20000 + 1000 * i}", f"c{i}: {100 + 20 * i}", f"f{i}: {0.0005 * i} m",
                f"ac{i}: 0.35 m", f"ar{i}: 0.3 m", f"cb{i}: 0.1"]
    by = [p.split(":")[0] for p in own]
    for i in range(1, 7):
        own += [f"dx{i}: px{i} - bx{i}", f"dy{i}: py{i} - by{i}", f"l{i}: sqrt(dx{i}^2 + dy{i}^2 + tall^2)",
                f"n{i}: sqrt(2*l{i}*(l{i} + tall))"]
        turn = f"orientation: [(l{i} + tall)/n{i}, -dy{i}/n{i}, dx{i}/n{i}, 0]"
        bodies += [f"cylinder{i}: {{mass: mc{i}, inertia: [Ic{i}, Jc{i}, 0.01, 0, 0, 0], position: [bx{i} + dx{i}*ac{i}/l{i}, "
                   f"by{i} + dy{i}*ac{i}/l{i}, tall*ac{i}/l{i}], {turn}}}",
                   f"rod{i}: {{mass: mr{i}, inertia: [Ir{i}, Jr{i}, 0.01, 0, 0, 0], position: [px{i} - dx{i}*ar{i}/l{i}, "
                   f"py{i} - dy{i}*ar{i}/l{i}, tall - tall*ar{i}/l{i}], {turn}}}"]
        joints += [f"base{i}: {{type: universal, between: [ground, cylinder{i}], at: [bx{i}, by{i}, 0], axis: [dy{i}, -dx{i}, 0], "
                   f"axis2: [tall*dx{i}, tall*dy{i}, -(dx{i}^2 + dy{i}^2)], spring: {{q0: {{damping: cb{i}}}}}}}",
                   f"slide{i}: {{type: prismatic, between: [cylinder{i}, rod{i}], at: [px{i}, py{i}, tall], "
                   f"axis: [dx{i}, dy{i}, tall], spring: {{q0: {{stiffness: k{i}, damping: c{i}, at: f{i}}}}}}}",
                   f"top{i}: {{type: spherical, between: [rod{i}, platform], at: [px{i}, py{i}, tall]}}"]
    bodies.append("platform: {mass: payload, inertia: [Ix, Iy, 4.8, 0, 0, 0], com: [0, 0, 0.15], position: [0, 0, tall]}")
    return by, own, bodies, joints, "body.platform.z", "[0, 0, -9.81]", 4 * steps


def chain(steps):
    """64 links that hang and swing, springs and dampers at all joints."""
    n = 64
    own = [f"m{i}: {1 + 0.01 * i} kg" for i in range(n)] + [f"k{i}: {10 + 0.1 * i}" for i in range(36)]
    by = [p.split(":")[0] for p in own]
    bodies = [f"link{i}: {{mass: m{i}, inertia: [0.002, 0.002, 0.001, 0, 0, 0], position: [0, 0, {-0.1 * i - 0.05}]}}"
              for i in range(n)]
    joints = [f"J{i}: {{type: revolute, between: [{'ground' if i == 0 else f'link{i - 1}'}, link{i}], at: [0, 0, {-0.1 * i}], "
              f"axis: [0, 1, 0], q: [{0.4 if i == 0 else 0.01}], "
              f"spring: {{q0: {{stiffness: {f'k{i}' if i < 36 else 12}, damping: 0.05}}}}}}" for i in range(n)]
    return by, own, bodies, joints, f"body.link{n - 1}.x", "[0, 0, -9.81]", 4 * steps


def springs(steps):
    """16 links that hang, with springs and dampers between points, a bushing, and torques of formulas that read several joints."""
    n = 16
    own = [f"m{i}: {1 + 0.01 * i} kg" for i in range(n)] + [f"k{i}: {40 + i}" for i in range(n)] + [f"c{i}: 0.{i + 1:02}" for i in range(n)]
    own += [f"g{i}: 0.{i + 1:02}" for i in range(n)] + [f"I{i}: 0.00{i % 9 + 1}" for i in range(n)] + [f"d{i}: 0.1{i}" for i in range(n)]
    own += ["kx: 200", "kr: 3", "cx: 2", "cr: 0.1"]
    by = [p.split(":")[0] for p in own]
    bodies = [f"link{i}: {{mass: m{i}, inertia: [I{i}, 0.01, 0.01, 0, 0, 0], position: [0, 0, {-0.2 * i - 0.1}]}}" for i in range(n)]
    joints = [f"J{i}: {{type: revolute, between: [{'ground' if i == 0 else f'link{i - 1}'}, link{i}], at: [0, 0, {-0.2 * i}], "
              f"axis: [{i % 2}, {1 - i % 2}, 0], q: [{0.3 if i == 0 else 0.02}], "
              f"spring: {{q0: {{damping: d{i}}}}}, effort: {{q0: T{i}}}}}" for i in range(n)]
    signals = [f"T{i}: {{type: formula, of: \"-g{i}*sin(J{i}.q0 - J{(i + 3) % n}.q0) - 0.01*J{i}.qd0*body.link{(i + 5) % n}.z\"}}"
               for i in range(n)]
    forces = [f"S{i}: {{type: spring, between: [{'ground' if i % 2 else f'link{max(i - 2, 0)}'}, link{max(i, 3)}], "
              f"point1: [0.3, 0.1, {-0.1 * (i % 2)}], point2: [0, 0.05, 0], stiffness: k{i}, damping: c{i}, length: 0.3}}"
              for i in range(n)]
    forces += [f"B: {{type: bushing, between: [link{n - 2}, link{n - 1}], at: [0, 0, {-0.2 * n}], "
               "stiffness: [kx, kx, kx, kr, kr, kr], damping: [cx, cx, cx, cr, cr, cr]}"]
    more = {"signals": signals, "forces": forces}
    return by, own, bodies, joints, f"body.link{n - 1}.x", "[0, 0, -9.81]", 1 * steps, more


CASES = {"four-bar": four_bar, "stewart": stewart, "chain-64": chain, "springs-16": springs}


def write(folder, name, steps):
    by, parameters, bodies, joints, column, gravity, duration, *more = CASES[name](steps)
    more = more[0] if more else {}
    lines = ["linkwork: 1", f"gravity: {gravity}"]
    lists = {"parameters": parameters, "signals": more.get("signals"), "bodies": bodies, "joints": joints, "forces": more.get("forces")}
    for key, items in lists.items():
        if not items:
            continue
        lines += [f"{key}:"] + [f"  {item}" for item in items]
    lines += [f"simulation: {{duration: {duration}, sample: {duration}}}", ""]
    path = pathlib.Path(folder) / f"{name}.yaml"
    path.write_text("\n".join(lines))
    return path, by, column


def used(command, count):
    """Instructions or seconds of the processor of a command, and what it prints."""
    if not count:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cost = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    else:
        valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
        done = subprocess.run(valgrind + command, capture_output=True, text=True)
        cost = float((re.search(r"Collected : (\d+)", done.stderr) or [0, "nan"])[1])
    if done.returncode:
        sys.exit(f"adjoint.py: {' '.join(command)}: exit {done.returncode}\n{done.stderr}")
    return cost, done.stdout


def gradient(program, path, by, column, method, tolerance):
    return [program, "sensitivity", str(path), "--by", ",".join(by), "--watch", column, "--method", method, "--rtol", tolerance,
            "--atol", tolerance, "--json"]


def kind(name):
    return re.sub(r"\d+$", "", name)


def error_of(found, exact):
    largest = {}
    for name, value in exact.items():
        largest[kind(name)] = max(largest.get(kind(name), 0), abs(value))
    return max(abs(found[name] - value) / largest[kind(name)] for name, value in exact.items() if largest[kind(name)] > 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--count", action="store_true")
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--by", default="1,10,100")
    parser.add_argument("--lengths", default="1", help="multiples of the durations")
    parser.add_argument("--tolerance", default="1e-10", help="of the run and of the adjoint")
    parser.add_argument("--keep", help="folder for the models")
    a = parser.parse_args()
    print(f"{'case':10} {'duration':>8} {'parameters':>10} {'run':>10} {'adjoint':>10} {'runs':>6} {'error':>8}")
    with tempfile.TemporaryDirectory() as scratch:
        folder = a.keep or scratch
        for name in a.cases.split(","):
            for steps in map(float, a.lengths.split(",")):
                path, names, column = write(folder, name, steps)
                for count in map(int, a.by.split(",")):
                    by = names[:: len(names) // count][:count]
                    read = [a.program, "check", str(path)]
                    run = [a.program, "run", str(path), "--integrator", "verner87", "--rtol", a.tolerance, "--atol", a.tolerance,
                           "--columns", column, "-o", str(pathlib.Path(scratch) / "out.csv"), "--quiet"]
                    commands = (read, run, gradient(a.program, path, by, column, "adjoint", a.tolerance))
                    turns = [[used(c, a.count) for c in commands] for _ in range(1 if a.count else 3)]
                    base, one, all_ = (min(turn[i][0] for turn in turns) for i in range(3))
                    exact = used(gradient(a.program, path, by, column, "forward", FINE), False)[1]
                    found, exact = (json.loads(text)["columns"][column]["derivative"] for text in (turns[0][2][1], exact))
                    print(f"{name:10} {steps:8g} {len(by):10} {one - base:10.3g} {all_ - base:10.3g} "
                          f"{(all_ - base) / (one - base):6.2f} {error_of(found, exact):8.1e}", flush=True)


if __name__ == "__main__":
    main()
