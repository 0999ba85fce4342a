#!/usr/bin/env python3
"""Where the instructions of whole runs go.

usage: runs.py --program PROGRAM [--cases A,B] [--root ROOT] [--json FILE [--label LABEL]]
       runs.py --program PROGRAM --check
       runs.py --table FILE

A run of each case with its rows in a CSV file, as a user starts it, counted by valgrind --tool=callgrind.  Reading the
model and the preparation of the run are left out: shares are those of lw_sim_run.

  evaluations  rates of the formulation, or its own steps, which the integrator asks for
  integrator   what is left: steps, error control, solution of implicit steps
  events       contacts and stops: their gaps at the ends of steps
  monitor      search for singular positions
  across       steps across singular positions, in place of those of the integrator
  projection   checks that loops are closed, and their closing
  observation  quantities of rows
  output       rows to the file

The last columns are steps, evaluations and rows.  The file has the hash of all rows, too: changes that only save time leave
it as it is.  Functions are found by debug information (-g1), which the preset `dev` has.  Counts do not depend on what else
the machine runs; valgrind has AVX2, not AVX-512.

--cases   see CASES below (all)
--root    folder of the sources (default: that of this script)
--json    adds what was measured to the file, under --label
--check   only runs a hundredth second of each case, not counted: the models are valid, and the counted functions exist
--table   prints the tables of docs/benchmarks.md from such a file, one for each label
"""
import argparse
import glob
import hashlib
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# category: functions as called by simulation and program: file, name
CATEGORIES = {
    "evaluations": [("simulation.c", "rates"), ("simulation.c", "step")],
    "events": [("events.c", "examine_state"), ("events.c", "add_accelerations"), ("events.c", "change_modes")],
    "monitor": [("singularity_monitor.c", "lwi_sim_monitor"), ("crossing.c", "lwi_sim_accept"),
                ("crossing.c", "lwi_sim_bound"), ("singularity_monitor.c", "lwi_sim_end_monitor")],
    "across": [("crossing.c", "lwi_sim_cross"), ("crossing.c", "lwi_sim_follow_crossing")],
    "projection": [("project.c", "lwi_projection_apply")],
    "observation": [("simulation.c", "lw_sim_observe")],
    "output": [("rows.c", "cli_rows_write")],
}
TOTAL = ("run.c", "lw_sim_run")

# ------------------------------------------------------------------------------------------ models


def rod(at, to, mass):
    """A rod between two points, in world axes."""
    d = [b - a for a, b in zip(at, to)]
    length2 = sum(x * x for x in d)
    J = [[mass * ((1.01 * length2 if i == j else 0) - d[i] * d[j]) / 12 for j in range(3)] for i in range(3)]
    return {"mass": mass, "inertia": [J[0][0], J[1][1], J[2][2], J[0][1], J[0][2], J[1][2]],
            "position": [(a + b) / 2 for a, b in zip(at, to)]}


def turned(angle, p):
    c, s = math.cos(angle), math.sin(angle)
    return [c * p[0] - s * p[1], s * p[0] + c * p[1], p[2]]


def delta():
    """A Delta robot with servos that lead its three arms along sines: base 0.2 m, arms 0.3 m, rods 0.8 m."""
    tip, foot, height, half = 0.5, 0.06, math.sqrt(0.64 - 0.44 * 0.44), 0.04
    bodies = {"platform": {"mass": 0.5, "inertia": [1e-3, 1e-3, 2e-3, 0, 0, 0], "position": [0, 0, -height]}}
    joints, forces, functions = {}, {}, {}
    for k in range(3):
        angle = 2 * math.pi * k / 3
        along = turned(angle, [0, 1, 0])
        bodies[f"arm{k}"] = rod(turned(angle, [0.2, 0, 0]), turned(angle, [tip, 0, 0]), 0.6)
        joints[f"motor{k}"] = {"type": "revolute", "between": ["ground", f"arm{k}"],
                               "at": turned(angle, [0.2, 0, 0]), "axis": along}
        for side in (-1, 1):
            upper, lower = turned(angle, [tip, side * half, 0]), turned(angle, [foot, side * half, -height])
            name = f"rod{k}{'ab'[side > 0]}"
            bodies[name] = rod(upper, lower, 0.1)
            joints[f"{name}_upper"] = {"type": "universal", "between": [f"arm{k}", name], "at": upper, "axis": along,
                                       "axis2": turned(angle, [height, 0, foot - tip])}
            joints[f"{name}_lower"] = {"type": "spherical", "between": [name, "platform"], "at": lower}
        functions[f"wanted{k}"] = {"type": "formula", "of": f"0.3*sin(6*t + {k})"}
        forces[f"servo{k}"] = {"type": "servo", "joint": f"motor{k}", "target": f"wanted{k}", "kp": 400, "kd": 20}
    return {"bodies": bodies, "joints": joints, "functions": functions, "forces": forces, "gravity": [0, 0, -9.81]}


def humanoid():
    """A floating pelvis with two legs of six hinges, a trunk of two and two arms of five."""
    bodies = {"pelvis": {"mass": 10, "inertia": [0.1, 0.08, 0.06, 0, 0, 0], "position": [0, 0, 1]}}
    joints = {"base": {"type": "free", "between": ["ground", "pelvis"], "at": [0, 0, 1]}}
    axes = {"x": [1, 0, 0], "y": [0, 1, 0], "z": [0, 0, 1]}

    def limb(parent, at, side, segments, name):
        at = list(at)
        for i, (axis, mass, offset) in enumerate(segments):
            body = f"{name}{i}"
            offset = [offset[0], side * offset[1], offset[2]]
            bodies[body] = rod(at, [a + o for a, o in zip(at, offset)], mass)
            bodies[body]["inertia"] = [x + (1e-3 if j < 3 else 0) for j, x in enumerate(bodies[body]["inertia"])]
            joints[f"{body}_hinge"] = {"type": "revolute", "between": [parent, body], "at": list(at), "axis": axes[axis]}
            parent, at = body, [a + o for a, o in zip(at, offset)]
        return parent

    leg = [("z", 1, (0, 0, -0.02)), ("x", 1, (0, 0, -0.02)), ("y", 5, (0, 0, -0.4)), ("y", 3, (0, 0, -0.4)),
           ("y", 0.3, (0, 0, -0.02)), ("x", 1, (0.08, 0, -0.05))]
    arm = [("y", 0.8, (0, 0.05, 0)), ("x", 0.8, (0, 0.01, 0)), ("z", 1.5, (0, 0, -0.3)), ("y", 1, (0, 0, -0.25)),
           ("z", 0.5, (0, 0, -0.1))]
    for side, name in ((1, "left"), (-1, "right")):
        limb("pelvis", (0, side * 0.1, 0.9), side, leg, f"{name}_leg")
    torso = limb("pelvis", (0, 0, 1.15), 1, [("z", 1, (0, 0, 0.02)), ("y", 20, (0, 0, 0.5))], "trunk")
    for side, name in ((1, "left"), (-1, "right")):
        limb(torso, (0, side * 0.2, 1.57), side, arm, f"{name}_arm")
    return {"bodies": bodies, "joints": joints, "gravity": [0, 0, -9.81]}


def generated(**kind):
    return {"generate": kind, "gravity": [0, -9.81, 0]}


def strandbeest(root):
    return subprocess.run([sys.executable, os.path.join(root, "examples/strandbeest/walker.py"), "--pairs", "8"],
                          check=True, capture_output=True, text=True).stdout


# name: (model, words of the run); a string is a file below ROOT
CASES = {
    "arm": ("examples/models/ur5.urdf", ["--duration", "2"]),
    "humanoid": (humanoid, ["--duration", "0.5"]),
    "chain-128": (lambda: generated(chain={"n": 128, "joint": "spherical", "qd": [0, 0, 0.1]}), ["--duration", "0.5"]),
    "four-bars-1": (lambda: generated(n_four_bar={"n": 1, "q": [0.3, 0, 0], "qd": [1, 0, 0]}), ["--duration", "5"]),
    "four-bars-100": (lambda: generated(n_four_bar={"n": 100, "q": [0.3, 0, 0], "qd": [1, 0, 0]}), ["--duration", "2"]),
    "ladder-40": (lambda: generated(ladder={"n": 40, "q": [0.2, 0.3, 0], "qd": [0.5, 1, 0]}), ["--duration", "1"]),
    "strandbeest": (strandbeest, ["--duration", "0.5"]),
    "delta": (delta, ["--duration", "2"]),
    "suspension": ("examples/suspension/quarter_car.yaml", ["--integrator", "bdf", "--duration", "1.5"]),
    "index3-chain": (lambda: generated(chain={"n": 32, "joint": "spherical", "qd": [0, 0, 0.1]}),
                     ["--formulation", "index3", "--step", "0.005", "--duration", "0.5"]),
}


def write_model(case, root, folder):
    model, _ = CASES[case]
    if isinstance(model, str):
        return os.path.join(root, model)
    text = model(root) if model is strandbeest else json.dumps({"linkwork": 1, **model()})
    path = os.path.join(folder, f"{case}.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


# ------------------------------------------------------------------------------------------- counts


def calls(path):
    """(caller, callee, instructions) of all calls in a file of callgrind; functions are (file, name)."""
    files, names = {}, {}

    def named(table, text):
        key, _, name = text.partition(" ")
        if name:
            table[key] = name
        return table[key]

    file_here, file_of_callee, function, callee, called = "", None, None, None, False
    with open(path, encoding="utf-8") as file:
        for line in file:
            key, _, value = line.rstrip("\n").partition("=")
            if key in ("fl", "fi", "fe"):
                read = named(files, value)
                if key == "fl":
                    file_here = read
            elif key == "fn":
                function = (os.path.basename(file_here), re.sub(r"'\d+$", "", named(names, value)))
            elif key in ("cfi", "cfl"):
                file_of_callee = named(files, value)
            elif key == "cfn":
                callee = (os.path.basename(file_of_callee or file_here), re.sub(r"'\d+$", "", named(names, value)))
                file_of_callee = None
            elif key == "calls":
                called = True
            elif called and re.match(r"[+\-*0-9]", line):
                yield function, callee, int(line.split()[1])
                called = False


def count(path):
    """{category: instructions}, and the total."""
    inclusive = {}
    for caller, callee, cost in calls(path):
        if caller != callee:
            inclusive[callee] = inclusive.get(callee, 0) + cost
    if TOTAL not in inclusive:
        sys.exit("the program has no debug information, by which functions are found: build with -g1")
    found = {name: sum(inclusive.get(f, 0) for f in functions) for name, functions in CATEGORIES.items()}
    total = inclusive[TOTAL]
    found["integrator"] = total - sum(found.values())
    return found, total


def measure(program, case, root):
    with tempfile.TemporaryDirectory() as folder:
        out, rows = os.path.join(folder, "out"), os.path.join(folder, "rows.csv")
        model = write_model(case, root, folder)
        done = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", program, "run", model,
                               *CASES[case][1], "-o", rows, "--json"], capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{case}: {done.stderr}")
        summary = json.loads(done.stdout)
        with open(rows, "rb") as file:  # without the comments, which have the version
            digest = hashlib.sha256(b"".join(line for line in file if not line.startswith(b"#"))).hexdigest()
        found, total = count(out)
    return {"case": case, "total": total, "instructions": found, "steps": summary["steps"],
            "evaluations": summary["evaluations"], "rows": summary["rows"],
            "method": f"{summary['options']['formulation']}, {summary['options']['integrator']}", "hash": digest}


# -------------------------------------------------------------------------------------------- tables

COLUMNS = ["evaluations", "integrator", "events", "monitor", "across", "projection", "observation", "output"]


def print_table(results):
    print("| run | | total, 10⁶ | " + " | ".join(f"{name}, %" for name in COLUMNS) + " | steps | evaluations | rows |")
    print("|---|---|---|" + "---|" * (len(COLUMNS) + 3))
    for r in sorted(results, key=lambda row: list(CASES).index(row["case"])):
        shares = [f"{100 * r['instructions'].get(name, 0) / r['total']:.1f}" for name in COLUMNS]
        print(f"| {r['case']} | {r['method']} | {r['total'] / 1e6:.1f} | " + " | ".join(shares)
              + f" | {r['steps']} | {r['evaluations']} | {r['rows']} |")


def stored(path):
    if not path or not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def check(program, cases, root):
    for name, function in [TOTAL, *(f for functions in CATEGORIES.values() for f in functions)]:
        sources = glob.glob(os.path.join(root, "src", "**", name), recursive=True)
        if not any(re.search(rf"^\S.*\b{function}\(", pathlib.Path(source).read_text(encoding="utf-8"), re.MULTILINE)
                   for source in sources):
            sys.exit(f"no source {name} defines {function}, whose instructions are counted")
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            words = CASES[case][1][:-1] + ["0.01"]  # the duration is last
            subprocess.run([program, "run", write_model(case, root, folder), *words, "-q"], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--program")
    parser.add_argument("--cases", type=lambda s: s.split(","), default=list(CASES))
    parser.add_argument("--root", default=ROOT)
    parser.add_argument("--json")
    parser.add_argument("--label", default="after")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--table")
    a = parser.parse_args()
    if a.table:
        for i, (label, results) in enumerate(stored(a.table).items()):
            print(f"{label[0].upper()}{label[1:]}:\n" if i == 0 else f"\n{label[0].upper()}{label[1:]}:\n")
            print_table(results)
        return
    if not a.program:
        parser.error("--program or --table is needed")
    if a.check:
        check(a.program, a.cases, a.root)
        return
    found = stored(a.json)
    results = found.setdefault(a.label, [])
    for case in a.cases:
        of = measure(a.program, case, a.root)
        results[:] = [r for r in results if r["case"] != case] + [of]
        print(f"{case}: {of['total'] / 1e6:.1f}e6 instructions, hash {of['hash'][:12]}", file=sys.stderr, flush=True)
        if a.json:
            with open(a.json, "w", encoding="utf-8") as file:
                json.dump(found, file, indent=1)
                file.write("\n")
    print_table(results)


if __name__ == "__main__":
    main()
