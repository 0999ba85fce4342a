#!/usr/bin/env python3
"""Whole runs with compiled rates beside those of the library's formulations.

usage: compiled.py --program PROGRAM [--compiler CC] [--rounds N] [--case NAME,...] [--json FILE]
       compiled.py --program PROGRAM --count [--compiler CC]
       compiled.py --table FILE

Each case is run with `--compiled off` and `on` in turn, minimum of the rounds (5), by the formulation that the program
takes in each; the tolerances are the model's. The compiler's time is that of an empty cache. --count: instructions of a
second half of the run by valgrind, exact for the binary. Valgrind has no AVX-512: PROGRAM is built with -DLW_ISA=all, and the
models are compiled with -mno-avx512f. --table prints the table of docs/compiled.md from such a file.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

from common import argument_parser, call, conditions, main, model_path

PARALLEL = "tests/models/parallel/{}/robot.urdf"
# name, file, assembled first, duration [s], of --count
CASES = (
    ("UR5", "examples/models/ur5.urdf", False, 50, 2),
    ("humanoid", "tests/models/humanoid.xml", False, 5, 0.2),
    ("four-bar", "examples/models/four_bar.yaml", False, 50, 2),
    ("five-bar", PARALLEL.format("5bar_linkage"), True, 0.5, 0.05),
    ("Delta", PARALLEL.format("robot_delta"), True, 1, 0.05),
    ("Cassie-like", PARALLEL.format("cassie_like"), True, 0.2, 0.02),
)


def run(arguments, model, duration, when, environment):
    text = call(arguments.program, "run", model, "--duration", duration, "--compiled", when, "--level", "pose", "--json",
                env=environment)
    return json.loads(text)


def seconds(arguments, model, environment):
    """Of the compiler, with an empty cache; None and the reason where it refuses the model."""
    done = subprocess.run([arguments.program, "run", model, "--duration", "1e-3", "--compiled", "on"], env=environment,
                          capture_output=True, text=True, check=False)
    found = re.search(r"^compiled +in ([0-9.e+-]+) s", done.stdout, re.M)
    return (float(found.group(1)), "") if found else (None, done.stderr.strip())


def count(arguments, model, duration, when, environment):
    """Instructions of the second half of the run."""
    numbers = []
    for part in (duration, 2 * duration):
        done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", arguments.program, "run", model,
                               "--duration", repr(part), "--compiled", when, "--level", "pose", "-q"], env=environment,
                              capture_output=True, text=True, check=True)
        numbers.append(int(re.search(r"Collected : (\d+)", done.stderr).group(1)))
    return numbers[1] - numbers[0]


def measure_case(arguments, case, folder, environment):
    name, file, assembled, duration, short = case
    model = model_path(arguments.program, name, file, assembled, folder)
    compiling, refused = seconds(arguments, model, environment)
    if compiling is None:
        print(f"{name}: {refused}", file=sys.stderr)
        return None
    found = {"name": name, "duration": duration, "compiling": compiling}
    if arguments.count:
        found["instructions"] = {when: count(arguments, model, short, when, environment) for when in ("off", "on")}
        return found
    for when in ("off", "on"):
        found[when] = {"wall": [], "evaluations": 0}
    for _ in range(arguments.rounds):
        for when in ("off", "on"):
            done = run(arguments, model, duration, when, environment)
            found[when]["wall"].append(done["wall"])
            found[when].update({key: done[key] for key in ("evaluations", "steps", "energy_error")})
            found[when]["formulation"] = done["options"]["formulation"]
    return found


def measure(arguments):
    cases = []
    wanted = arguments.case.split(",") if arguments.case else None
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, XDG_CACHE_HOME=folder, CC=arguments.compiler)
        if arguments.count:
            environment["CC"] += " -mno-avx512f"
        for case in CASES:
            if not wanted or case[0] in wanted:
                cases.append(measure_case(arguments, case, folder, environment))
    return {**conditions(arguments), "cases": [case for case in cases if case]}


def print_times(found):
    print(f"{found['cpu']}; {found['compiler']}; minimum of {found['rounds']} rounds, in turns.\n")
    print("| | simulated [s] | library [s] | compiled [s] | factor | evaluations | compiled | compiling [s] |")
    print("|---|---|---|---|---|---|---|---|")
    for c in found["cases"]:
        off, on = (min(c[when]["wall"]) for when in ("off", "on"))
        print(f"| {c['name']} | {c['duration']:g} | {off:.2g}, {c['off']['formulation']} | {on:.2g} | {off / on:.1f} | "
              f"{c['off']['evaluations']} | {c['on']['evaluations']} | {c['compiling']:.2g} |")


def print_counts(found):
    print("| instructions of a second half of a run | library | compiled | factor |\n|---|---|---|---|")
    for c in found["cases"]:
        off, on = (c["instructions"][when] for when in ("off", "on"))
        print(f"| {c['name']} | {off} | {on} | {off / on:.1f} |")


def print_table(found):
    counted = any("instructions" in c for c in found["cases"])
    (print_counts if counted else print_times)(found)


if __name__ == "__main__":
    options = argument_parser(__doc__)
    options.add_argument("--case")
    options.add_argument("--count", action="store_true")
    sys.exit(main(options, measure, print_table))
