#!/usr/bin/env python3
"""Long runs: what `rattle` and `gauss` keep, their orders, and what the same costs by other methods.

usage: structure.py long|steps|orders|work|costs [--bin FOLDER] [--json FILE] [--periods N] [--peers PYTHON] [CASE...]
       structure.py --table FILE long|orders|costs, or steps|work CASE

FOLDER has bench_structure and linkwork.
long    every CASE of LONG_RUNS over its periods, or --periods of them: energy in ten blocks of rows, residuals, momenta,
        wall and CPU time
steps   the same over 10^4 periods of a chaotic motion, by several steps
orders  errors of positions with a step and its halves, and how far a motion that is reversed ends from its start
work    the error of the energy, in tenths of a run of 1000 periods, and the CPU time, of every method of WORK; with
        --peers, a Python that has mujoco and pinocchio, also of these (peers.py), or with --only-peers of them alone
costs   CPU time of a step of `rattle` in units of a step of `index3`
Results are added to --json after each case; tables are printed from there.
"""
import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
TESTS, MODELS = os.path.join(ROOT, "tests/models/structure"), os.path.join(HERE, "models")
ROUNDS = 3  # of a cost; the least counts
ROW = 0.3  # s, about: between rows of `work`

RATTLE = {"formulation": "rattle"}
GAUSS = {"formulation": "momenta", "integrator": "gauss"}

# model, options, step [s], period [s] and what it is, periods, steps between rows, kept momenta: indices in P, L about the
# origin, L about the mass centre
LONG_RUNS = {
    "double pendulum": (TESTS, "double_pendulum", RATTLE, 0.025, 1.5, "swing", 10**6, 11, ()),
    "double pendulum, order 4": (TESTS, "double_pendulum", {**RATTLE, "order": 4}, 0.1, 1.5, "swing", 10**5, 3, ()),
    "double pendulum, order 6": (TESTS, "double_pendulum", {**RATTLE, "order": 6}, 0.15, 1.5, "swing", 10**4, 5, ()),
    "double pendulum, `gauss` of order 6": (TESTS, "double_pendulum", {**GAUSS, "order": 6}, 0.1, 1.5, "swing", 10**6, 3, ()),
    "heavy top": (TESTS, "heavy_top", RATTLE, 0.005, 0.20944, "turn", 10**6, 11, (5,)),
    "four-bar": (TESTS, "four_bar", RATTLE, 0.04, 4.8, "swing", 10**6, 11, ()),
    "four-bar, half the step": (TESTS, "four_bar", RATTLE, 0.02, 4.8, "swing", 41667, 5, ()),
    "floating loop": (TESTS, "floating_loop", RATTLE, 0.1, 6.0, "turn", 10**6, 11, (0, 1, 2)),
    "floating loop, half the step": (TESTS, "floating_loop", RATTLE, 0.05, 6.0, "turn", 10**4, 11, (0, 1, 2)),
    "floating loop, mass centre at rest": (MODELS, "resting_loop", RATTLE, 0.1, 6.0, "turn", 10**5, 11, (0, 1, 2, 6, 7, 8)),
    "chain of 8 in a loop": (MODELS, "chain8", RATTLE, 0.005, 1.9, "swing", 10**6, 23, ()),
}

# A chaotic motion by several steps [s]: what is left of its energy error, in units of h^2, is none of the steps.
STEPS = {"chain of 8 in a loop": (0.01, 0.005, 0.0025)}
STEPS_PERIODS, STEPS_ROW = 10**4, 0.23  # s between rows

# model, duration [s], options, first step [s]
ORDERS = {
    **{f"double pendulum, `rattle` {order}": ("double_pendulum", 2, {**RATTLE, "order": order}, 0.1 if order > 6 else 0.04)
       for order in (2, 4, 6, 8)},
    **{f"heavy top, `rattle` {order}": ("heavy_top", 1, {**RATTLE, "order": order}, 0.02) for order in (2, 4, 6)},
    **{f"four-bar, `rattle` {order}": ("four_bar", 2, {**RATTLE, "order": order}, 0.02) for order in (2, 4, 6)},
    **{f"double pendulum, `gauss` {order}": ("double_pendulum", 2, {**GAUSS, "order": order}, 0.25 if order > 6 else 0.1)
       for order in (4, 6, 8)},
}
HALVINGS = 3

# folder, model, period [s], joint that closes its loop
WORK_MODELS = {
    "double pendulum": (TESTS, "double_pendulum", 1.5, None),
    "heavy top": (TESTS, "heavy_top", 0.20944, None),
    "four-bar": (TESTS, "four_bar", 4.8, "j3"),
    "chain of 8 in a loop": (MODELS, "chain8", 1.9, "j8"),
}
TREE, LOOP = {"formulation": "momenta"}, {"formulation": "rcr"}
CLOSED = {**LOOP, "project": "always"}  # positions on the joints after each step


def own_methods(formulation, rattle, gauss, index3, rk4, dopri5, verner87):
    """Methods of a mechanism: options, and steps [s] or tolerances."""
    return {
        **{f"`rattle` {order}": ({**RATTLE, "order": order}, "step", steps) for order, steps in rattle.items()},
        **{f"`gauss` {order}": ({**GAUSS, "order": order}, "step", steps) for order, steps in gauss.items()},
        "`index3`": ({"formulation": "index3"}, "step", index3),
        "`rk4`": ({**formulation, "integrator": "rk4"}, "step", rk4),
        "`dopri5`": ({**formulation, "integrator": "dopri5"}, "rtol", dopri5),
        "`verner87`": ({**formulation, "integrator": "verner87"}, "rtol", verner87),
    }


WORK = {
    "double pendulum": own_methods(
        TREE, {2: (0.04, 0.02, 0.01), 4: (0.1, 0.05), 6: (0.15, 0.1)}, {4: (0.1, 0.05), 6: (0.2, 0.1), 8: (0.3, 0.2)},
        (0.02, 0.01, 0.005), (0.02, 0.01, 0.005), (1e-6, 1e-8, 1e-10), (1e-8, 1e-10, 1e-12)),
    "heavy top": own_methods(
        TREE, {2: (0.01, 0.005), 4: (0.02, 0.01), 6: (0.02,)}, {4: (0.01, 0.005), 6: (0.02, 0.01)},
        (0.005, 0.0025), (0.01, 0.005), (1e-6, 1e-8), (1e-8, 1e-10)),
    "four-bar": own_methods(
        LOOP, {2: (0.04, 0.02), 4: (0.06, 0.03), 6: (0.1, 0.06)}, {}, (0.02, 0.01), (0.02, 0.01), (1e-6, 1e-8), (1e-8, 1e-10)),
    "chain of 8 in a loop": own_methods(
        CLOSED, {2: (0.01, 0.005), 4: (0.02, 0.01)}, {}, (0.01, 0.005), (0.01, 0.005), (1e-6, 1e-8), (1e-8, 1e-10)),
}

# method: integrator of peers.py, steps [s] for each mechanism
PENDULUM_STEPS = {"fine": (0.004, 0.002, 0.001), "coarse": (0.02, 0.01, 0.005)}
PEERS = {
    "double pendulum": {"MuJoCo, implicitfast": ("implicitfast", PENDULUM_STEPS["fine"]),
                        "MuJoCo, RK4": ("RK4", PENDULUM_STEPS["coarse"]),
                        "Pinocchio, semi-implicit Euler": ("pinocchio", PENDULUM_STEPS["fine"]),
                        "Pinocchio, RK4": ("pinocchio-RK4", PENDULUM_STEPS["coarse"])},
    "heavy top": {"MuJoCo, implicitfast": ("implicitfast", (0.002, 0.001)), "MuJoCo, implicit": ("implicit", (0.002, 0.001)),
                  "MuJoCo, RK4": ("RK4", (0.01, 0.005)),
                  "Pinocchio, semi-implicit Euler": ("pinocchio", (0.002, 0.001)),
                  "Pinocchio, RK4": ("pinocchio-RK4", (0.01, 0.005))},
    "four-bar": {"MuJoCo, implicitfast": ("implicitfast", (0.004, 0.002)), "MuJoCo, RK4": ("RK4", (0.01, 0.005))},
    "chain of 8 in a loop": {"MuJoCo, implicitfast": ("implicitfast", (0.004, 0.002)), "MuJoCo, RK4": ("RK4", (0.01, 0.005))},
}

# generated model, step [s], steps
COSTS = {"chain of 128": ("chain: {n: 128, seed: 1}", 2e-4, 200), "chain of 1024": ("chain: {n: 1024, seed: 1}", 1e-4, 40),
         "ladder of 40": ("ladder: {n: 40, q: [0.2, 0.3, 0], qd: [0.5, 1, 0]}", 1e-3, 200)}


def read(path):
    if not path or not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def store(path, part, name, row):
    """Adds a row of a part to the file of measurements."""
    print(name, json.dumps(row), flush=True)
    if not path:
        return
    found = read(path)
    found.setdefault(part, {})[name] = row
    with open(path, "w", encoding="utf-8") as file:
        json.dump(found, file, indent=1)
        file.write("\n")


def bench(arguments, model, interval, rows, every, *more, **options):
    """What bench_structure prints of a run, or why it failed."""
    command = [os.path.join(arguments.bin, "bench_structure"), model, "--step", repr(interval), "--rows", str(rows), "--every",
               str(every), *more]
    for key, value in options.items():
        command += ["--set", f"{key}={value}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"failed": done.stderr.strip().split(f"{model}: ")[-1]}
    return json.loads(done.stdout)


def path_of(folder, model):
    return os.path.join(folder, model + ".yaml")


# -------------------------------------------------------------------------------------------- long


def measure_long(arguments):
    for name in arguments.names or LONG_RUNS:
        folder, model, options, step, period, _, own, every, _ = LONG_RUNS[name]
        periods = arguments.periods or own
        rows = max(20, round(periods * period / (step * every)))
        found = bench(arguments, path_of(folder, model), step, rows, every, **options, step=step)
        found.pop("end", None)
        store(arguments.json, "long", name, {"periods": periods, **found})


def reason(row):
    return "fails: " + row["failed"].split(": ")[-1][:60]


def power_of_ten(number):
    return f"{number:.0e}".replace("e+0", "e")


def table_long(rows):
    cells = [["mechanism", "periods", "steps", "E - E₀ [J]: range", "mean of the first tenth", "of the last tenth",
              "positions, velocities off by", "kept momenta change by", "CPU time [s]"]]
    for name, case in LONG_RUNS.items():
        row = rows.get(name)
        if not row or "failed" in row:
            cells.append([f"{name}, {case[3]} s", power_of_ten(row["periods"]) if row else "", "",
                          reason(row) if row else "not measured"] + 5 * [""])
            continue
        kept = max((row["momenta"][i] for i in case[8]), default=None)
        cells.append([f"{name}, {power_of_ten(case[3]) if case[3] < 1e-3 else case[3]} s", power_of_ten(row["periods"]),
                      f"{row['steps']:.1e}", f"{min(row['least']):.4g} to {max(row['largest']):.4g}",
                      f"{row['mean'][0]:.7g}", f"{row['mean'][-1]:.7g}",
                      f"{max(row['position']):.0e}, {max(row['velocity']):.0e}", "" if kept is None else f"{kept:.0e}",
                      f"{row['cpu']:.0f}"])
    return cells


# -------------------------------------------------------------------------------------------- steps


def measure_steps(arguments):
    for name, steps in STEPS.items():
        folder, model, options, _, period, *_ = LONG_RUNS[name]
        rows = round((arguments.periods or STEPS_PERIODS) * period / STEPS_ROW)
        for step in steps:
            found = bench(arguments, path_of(folder, model), step, rows, round(STEPS_ROW / step), **options, step=step)
            found.pop("end", None)
            store(arguments.json, "steps", f"{name}: {step:g}", found)


def table_steps(rows, case):
    cells = [["h [s]", "mean of E - E₀ over h² [J/s²]: first tenth", "third to last: minimum, maximum",
              "largest of each tenth over h²: minimum, maximum", "CPU time [s]"]]
    for name, row in rows.items():
        if not name.startswith(case + ": "):
            continue
        h = name[len(case) + 2:]
        if "failed" in row:
            cells.append([h, reason(row)] + 3 * [""])
            continue
        mean, largest = ([value / float(h)**2 for value in row[key]] for key in ("mean", "largest"))
        cells.append([h, f"{mean[0]:.0f}", f"{min(mean[2:]):.0f}, {max(mean[2:]):.0f}",
                      f"{min(largest):.0f}, {max(largest):.0f}", f"{row['cpu']:.0f}"])
    return cells


# -------------------------------------------------------------------------------------------- orders


def difference(a, b):
    return max(abs(x - y) for one, other in zip(a, b) for x, y in zip(one, other))


def measure_orders(arguments):
    exact = {}
    for name, (model, duration, options, first) in ORDERS.items():
        if arguments.names and name not in arguments.names:
            continue
        path = path_of(TESTS, model)
        if model not in exact:
            exact[model] = bench(arguments, path, duration, 1, 1, "--blocks", "1", formulation="rcr", integrator="verner87",
                                 rtol=1e-14, atol=1e-14, step=1e-3)["end"]
        errors, steps = [], [first / 2**k for k in range(HALVINGS)]
        for step in steps:
            rows = round(duration / step)
            errors.append(difference(bench(arguments, path, step, rows, 1, "--blocks", "1", **options, step=step)["end"],
                                     exact[model]))
        back = bench(arguments, path, steps[1], 2000, 1, "--blocks", "1", "--reverse", "1", **options, step=steps[1])
        store(arguments.json, "orders", name, {"steps": steps, "errors": errors, "reversal": back["reversal"]})


def table_orders(rows):
    cells = [["mechanism, method", "h [s]", "error with h [m]", "h/2", "h/4", "orders", "2000 steps and back: off by [m]"]]
    for name, row in rows.items():
        e = row["errors"]
        orders = [f"{math.log2(a / b):.2f}" if b > 1e-12 else "–" for a, b in zip(e, e[1:])]
        cells.append([name, f"{row['steps'][0]:g}", *(f"{x:.2e}" for x in e), ", ".join(orders), f"{row['reversal']:.0e}"])
    return cells


# -------------------------------------------------------------------------------------------- work


def work_row(found, duration):
    keep = {k: found[k] for k in ("mean", "least", "largest")}
    return {**keep, "cpu": found["cpu"], "duration": duration}


def least_cost(runs):
    best = min((r for r in runs if "failed" not in r), key=lambda r: r["cpu"], default=None)
    return best or runs[0]


def measure_work(arguments):
    for case, (folder, model, period, closing) in WORK_MODELS.items():
        if arguments.names and case not in arguments.names:
            continue
        duration = (arguments.periods or 1000) * period
        path = path_of(folder, model)
        for method, (options, key, values) in ({} if arguments.only_peers else WORK[case]).items():
            for value in values:
                interval = value if key == "step" else 0.1
                every = max(1, round(ROW / interval))
                settings = {**options, key: value}
                if key == "rtol":
                    settings["atol"] = value
                runs = [bench(arguments, path, interval, round(duration / (interval * every)), every, **settings)
                        for _ in range(arguments.rounds)]
                best = least_cost(runs)
                name = f"{case}: {method}, {key} {value:g}"
                store(arguments.json, "work", name, best if "failed" in best else work_row(best, duration))
        if arguments.peers:
            measure_peers(arguments, path, case, duration, closing)


def without_joint(path, joint, folder):
    """A copy of the model without its last joint, and where that joint was: the body, the points on it and on the ground."""
    with open(path, encoding="utf-8") as file:
        tree, last = file.read().split(f"  {joint}:\n")
    body, ground = re.search(r"between: \[(\w+), (\w+)\]", last).groups()
    points = re.findall(r"position: \[([^\]]*)\]", last)
    if ground != "ground" or len(points) != 2:
        raise ValueError(f"{path}: joint {joint} is none between a body and the ground")
    copy = os.path.join(folder, "tree.yaml")
    with open(copy, "w", encoding="utf-8") as file:
        file.write(tree)
    return copy, body, [point.replace(",", "") for point in points]


def close_loop(path, body, points):
    """Adds the constraint that holds a point of a body to one of the ground, as strong as the step allows."""
    tree = xml.etree.ElementTree.parse(path)
    world = tree.find("worldbody")
    for of, name, point in ((world.find(f".//body[@name='{body}']"), "moving", points[0]), (world, "held", points[1])):
        xml.etree.ElementTree.SubElement(of, "site", name=name, pos=point)
    equality = xml.etree.ElementTree.SubElement(tree.getroot(), "equality")
    xml.etree.ElementTree.SubElement(equality, "connect", site1="moving", site2="held", solref="0 1",
                                     solimp="0.9999 0.9999 0.001 0.5 2")
    tree.write(path)


def write_mjcf(arguments, path, closing, folder):
    model, body = os.path.join(folder, "model.xml"), None
    if closing:
        path, body, points = without_joint(path, closing, folder)
    subprocess.run([os.path.join(arguments.bin, "linkwork"), "convert", path, "-o", model], check=True, capture_output=True)
    if body:
        close_loop(model, body, points)
    return model


def measure_peers(arguments, path, case, duration, closing):
    with tempfile.TemporaryDirectory() as folder:
        model = write_mjcf(arguments, path, closing, folder)
        for method, (integrator, steps) in PEERS[case].items():
            for step in steps:
                done = subprocess.run([arguments.peers, os.path.join(HERE, "peers.py"), model, integrator, repr(step),
                                       repr(duration)], check=False, capture_output=True, text=True)
                row = json.loads(done.stdout) if done.returncode == 0 else {"failed": done.stderr.strip().split("\n")[-1]}
                if not all(math.isfinite(mean) for mean in row.get("mean", [])):
                    row = {"failed": "the energy becomes no finite number"}
                store(arguments.json, "work", f"{case}: {method}, step {step:g}", row)


def table_work(rows, case):
    cells = [["method, step or tolerance", "CPU per second of motion [µs]", "E - E₀ [J]: largest", "drift of its mean"]]
    for name, row in rows.items():
        if not name.startswith(case + ": "):
            continue
        method = name[len(case) + 2:]
        if "failed" in row:
            cells.append([method, "", reason(row), ""])
            continue
        largest = max(max(row["largest"]), -min(row["least"]))
        cells.append([method, f"{1e6 * row['cpu'] / row['duration']:.3g}", f"{largest:.1e}",
                      f"{row['mean'][-1] - row['mean'][0]:.1e}"])
    return cells


# -------------------------------------------------------------------------------------------- costs


def measure_costs(arguments):
    with tempfile.TemporaryDirectory() as folder:
        for name, (text, step, steps) in COSTS.items():
            path = os.path.join(folder, "model.yaml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(f"linkwork: 1\ngenerate: {{{text}}}\n")
            row = {}
            for formulation in ("rattle", "index3"):
                runs = [bench(arguments, path, step, 2, steps // 2, "--blocks", "1", formulation=formulation, step=step)
                        for _ in range(arguments.rounds)]
                best = least_cost(runs)
                row[formulation] = best["cpu"] / best["steps"]
            store(arguments.json, "costs", name, row)


def table_costs(rows):
    return [["mechanism", "a step of `rattle` [µs]", "of `index3` [µs]", "ratio"],
            *([name, f"{1e6 * row['rattle']:.3g}", f"{1e6 * row['index3']:.3g}", f"{row['rattle'] / row['index3']:.1f}"]
              for name, row in rows.items())]


MEASURE = {"long": measure_long, "steps": measure_steps, "orders": measure_orders, "work": measure_work, "costs": measure_costs}
TABLE = {"long": table_long, "steps": table_steps, "orders": table_orders, "work": table_work, "costs": table_costs}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=sorted(MEASURE))
    parser.add_argument("names", nargs="*", metavar="CASE")
    parser.add_argument("--bin")
    parser.add_argument("--json")
    parser.add_argument("--periods", type=int)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--peers")
    parser.add_argument("--only-peers", action="store_true")
    parser.add_argument("--table")
    arguments = parser.parse_intermixed_args()
    if arguments.table:
        cells = TABLE[arguments.part](read(arguments.table).get(arguments.part, {}), *arguments.names)
        for line in (cells[0], ["---"] * len(cells[0]), *cells[1:]):
            print("|" + "|".join(line if line[0] == "---" else [f" {cell} " for cell in line]) + "|")
        return 0
    if not arguments.bin:
        parser.error("--bin is missing")
    MEASURE[arguments.part](arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
