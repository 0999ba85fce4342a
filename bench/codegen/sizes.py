#!/usr/bin/env python3
"""Compiled random trees of growing size: length of the generated text, seconds of the compiler, time of an evaluation.

usage: sizes.py --program PROGRAM [--compiler CC] [--rounds N] [--speeds N,...] [--count] [--json FILE]
       sizes.py --table FILE

Trees of hinges, sliders, universal, cylindrical and ball joints in random order, with random inertias, axes and places, so that
few parts are equal. One evaluation is that of a run by rk4, of the library (`aba`) and with compiled rates in turns, minimum of
the rounds (5), with all that a step does besides. The compiler's time is that of the processor, of the rates for one state and
for lanes. --count: instructions by valgrind in place of times; PROGRAM is built with -DLW_ISA=all then.
"""
import os
import random
import re
import resource
import subprocess
import sys
import tempfile

from common import argument_parser, call, conditions, main

SPEEDS = (64, 256, 1024)
JOINTS = (("revolute", 1), ("prismatic", 1), ("universal", 2), ("cylindrical", 2), ("spherical", 3))
STEP, STEPS = 1e-5, 40


def numbers(draw, n, low=-1.0, high=1.0):
    return "[" + ", ".join(f"{draw.uniform(low, high):.6f}" for _ in range(n)) + "]"


def tree(speeds, seed=1):
    """A model file."""
    draw, bodies, joints, left, n = random.Random(seed), [], [], speeds, 0
    while left > 0:
        name, dof = draw.choice([joint for joint in JOINTS if joint[1] <= left])
        parent = "ground" if n == 0 else f"b{draw.randrange(max(0, n - 4), n)}"
        inertia = numbers(draw, 3, 0.1, 0.15)[:-1] + ", 0.01, -0.02, 0.015]"
        bodies.append(f"  b{n}: {{mass: {draw.uniform(1, 2):.6f}, inertia: {inertia}, position: {numbers(draw, 3)}}}")
        axes = {"spherical": "", "universal": ", axis: [0.6, 0.8, 0], axis2: [-0.8, 0.6, 0]"}
        axis = axes.get(name, f", axis: {numbers(draw, 3)}")
        joints.append(f"  j{n}: {{type: {name}, between: [{parent}, b{n}], at: {numbers(draw, 3)}{axis}}}")
        left, n = left - dof, n + 1
    return "\n".join(["linkwork: 1", "bodies:", *bodies, "joints:", *joints, ""])


def run(arguments, model, when, steps, environment, before=()):
    """The result of a run of so many steps."""
    done = subprocess.run([*before, arguments.program, "run", model, "--integrator", "rk4", "--step", repr(STEP), "--duration",
                           repr(steps * STEP), "--formulation", "aba", "--compiled", when, "--level", "pose", "--json"],
                          env=environment, capture_output=True, text=True, check=True)
    return done


def evaluation(arguments, model, when, environment):
    """Microseconds, or instructions."""
    if not arguments.count:
        found = call(arguments.program, "run", model, "--integrator", "rk4", "--step", STEP, "--duration", STEPS * STEP,
                     "--formulation", "aba", "--compiled", when, "--level", "pose", "--json", env=environment)
        wall, count = (float(re.search(rf'"{key}": *([0-9.e+-]+)', found).group(1)) for key in ("wall", "evaluations"))
        return 1e6 * wall / count
    valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    total = [int(re.search(r"Collected : (\d+)", run(arguments, model, when, steps, environment, valgrind).stderr).group(1))
             for steps in (STEPS, 2 * STEPS)]
    return (total[1] - total[0]) / (4 * STEPS)


def measure_tree(arguments, speeds, environment, folder):
    model = os.path.join(folder, f"tree-{speeds}.yaml")
    with open(model, "w", encoding="utf-8") as file:
        file.write(tree(speeds))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(arguments, model, "off", 1, environment)
    between = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(arguments, model, "on", 1, environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = [u.ru_utime + u.ru_stime for u in (before, between, after)]
    found = {"speeds": speeds, "compiling": seconds[2] - 2 * seconds[1] + seconds[0], "off": [], "on": []}
    cache = os.path.join(environment["XDG_CACHE_HOME"], "linkwork")
    found["object"] = max(os.path.getsize(os.path.join(cache, name)) for name in os.listdir(cache))
    for _ in range(1 if arguments.count else arguments.rounds):
        for when in ("off", "on"):
            found[when].append(evaluation(arguments, model, when, environment))
    return found


def measure(arguments):
    trees = []
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, XDG_CACHE_HOME=folder, CC=arguments.compiler)
        if arguments.count:
            environment["CC"] += " -mno-avx512f"
        for speeds in (int(word) for word in arguments.speeds.split(",")):
            trees.append(measure_tree(arguments, speeds, environment, folder))
    return {**conditions(arguments), "counted": arguments.count, "trees": trees}


def print_table(found):
    unit = "instructions" if found["counted"] else "µs"
    print(f"{found['cpu']}; {found['compiler']}.\n")
    print(f"| speeds | compiling [s] | machine code [kB] | library [{unit}] | compiled [{unit}] |\n|---|---|---|---|---|")
    for t in found["trees"]:
        print(f"| {t['speeds']} | {t['compiling']:.2g} | {t['object'] / 1000:.0f} | {min(t['off']):.3g} | {min(t['on']):.3g} |")


if __name__ == "__main__":
    options = argument_parser(__doc__)
    options.add_argument("--speeds", default=",".join(map(str, SPEEDS)))
    options.add_argument("--count", action="store_true")
    sys.exit(main(options, measure, print_table))
