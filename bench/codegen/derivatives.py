#!/usr/bin/env python3
"""Derivatives of forward and inverse dynamics by compiled models, by the library, and by Pinocchio: a table.

usage: derivatives.py --program PROGRAM [--count] [--pin PYTHON] [--compiler CC] [--json FILE]
       derivatives.py --table FILE

PROGRAM is beside bench_compiled_derivatives, of the same build (target bench_compiled_derivatives). Times are the minimum of
many calls in turns, or with --count instructions of a call by valgrind --tool=callgrind. In lanes they are those of a state.
Compiling is the processor time of the compiler for all functions, for one state and in lanes. PYTHON has the package `pin`:
computeABADerivatives and computeRNEADerivatives of the URDF file, called from Python; these are times even with --count,
and left out then. Chains of rods show how compiling grows with the number of speeds.
"""
import os
import re
import resource
import subprocess
import sys
import tempfile

from common import argument_parser, call, conditions, main, model_path

# name, file, assembled first; the humanoid has the most speeds
MODELS = (("four-bar", "examples/models/four_bar.yaml", False), ("UR5", "examples/models/ur5.urdf", False),
          ("Delta", "tests/models/parallel/robot_delta/robot.urdf", True), ("humanoid", "tests/models/humanoid.xml", False))
CHAINS = (8, 16, 32)
CALLS = ("library-forward", "compiled-forward", "lanes-forward", "library-inverse", "compiled-inverse", "lanes-inverse")
TIMES = 20
PIN = """
import sys, time
import numpy as np
import pinocchio as pin
model = pin.buildModelFromUrdf(sys.argv[1])
data, rng = model.createData(), np.random.default_rng(1)
q, v, a = pin.randomConfiguration(model), rng.uniform(-1, 1, model.nv), rng.uniform(-1, 1, model.nv)
for call in (pin.computeABADerivatives, pin.computeRNEADerivatives):
    best = 1.0
    for _ in range(60):
        began = time.perf_counter()
        for _ in range(20):
            call(model, data, q, v, a)
        best = min(best, (time.perf_counter() - began) / 20)
    print(1e6 * best)
"""


def count(bench, model, name, environment):
    """Instructions of a call; None: the model has none (inverse dynamics of loops)."""
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--instr-atstart=no", bench, model,
                           name, str(TIMES)], env=environment, capture_output=True, text=True, check=False)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode:
        return None
    lanes = int(re.search(r"(\d+) lanes", done.stdout)[1]) if name.startswith("lanes") else 1
    return int(found[1]) / TIMES / lanes


def measure_model(arguments, name, model, folder):
    cache = os.path.join(folder, "cache-" + name)
    environment = dict(os.environ, XDG_CACHE_HOME=cache, CC=arguments.compiler)
    bench = os.path.join(os.path.dirname(arguments.program), "bench_compiled_derivatives")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    call(bench, model, "compiled-forward", 1, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    text = call(bench, model, env=environment)
    kept = os.path.join(cache, "linkwork")
    found = {"model": name, "speeds": int(re.match(r"\d+", text)[0]), "lanes": int(re.search(r"(\d+) lanes", text)[1]),
             "compiling": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
             "object": max(os.path.getsize(os.path.join(kept, file)) for file in os.listdir(kept))}
    found["calls"] = ({key: count(bench, model, key, environment) for key in CALLS} if arguments.count else
                      {key: float(value) for key, value in re.findall(r"^([a-z]+-[a-z]+) (\S+)$", text, re.M)})
    if arguments.pin and not arguments.count and model.endswith("ur5.urdf"):
        forward, inverse = call(arguments.pin, "-c", PIN, model).split()
        found["calls"].update({"pin-forward": float(forward), "pin-inverse": float(inverse)})
    return found


def chain(n, folder):
    path = os.path.join(folder, f"chain-{n}.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"linkwork: 1\ngenerate: {{chain: {{n: {n}, seed: 1}}}}\n")
    return path


def measure(arguments):
    with tempfile.TemporaryDirectory() as folder:
        models = [(name, model_path(arguments.program, name, file, assembled, folder)) for name, file, assembled in MODELS]
        models += [(f"chain of {n}", chain(n, folder)) for n in CHAINS]
        found = [measure_model(arguments, name, path, folder) for name, path in models]
    return {**conditions(arguments), "counted": arguments.count, "models": found}


def cell(number):
    return "–" if number is None else f"{number:.3g}" if number < 1000 else f"{number:.0f}"


def print_table(found):
    unit = "instructions" if found["counted"] else "µs"
    rounds = "" if found["counted"] else "; minimum of 60 readings in turns; Pinocchio called from Python"
    print(f"{found['cpu']}; {found['compiler']}{rounds}.\n")
    kinds = ("library", "compiled", "lanes") + (() if found["counted"] else ("pin",))
    names = {"lanes": "in lanes", "pin": "Pinocchio"}
    head = [f"{which}, {names.get(kind, kind)}" for which in ("forward", "inverse") for kind in kinds]
    print(f"| [{unit}] | speeds | " + " | ".join(head) + " | compiling [s] | machine code [kB] |")
    print("|---" * (len(head) + 4) + "|")
    for m in found["models"]:
        cells = [cell(m["calls"].get(f"{kind}-{which}")) for which in ("forward", "inverse") for kind in kinds]
        print(f"| {m['model']} | {m['speeds']} | " + " | ".join(cells) + f" | {m['compiling']:.2g} | {m['object'] / 1000:.0f} |")


if __name__ == "__main__":
    options = argument_parser(__doc__)
    options.add_argument("--count", action="store_true")
    options.add_argument("--pin", metavar="PYTHON")
    sys.exit(main(options, measure, print_table))
