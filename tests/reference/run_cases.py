#!/usr/bin/env python3
"""Run reference cases with the program and compare every quantity with the reference.

usage: run_cases.py --program PROGRAM (--golden FOLDER | --reference FOLDER)
                    [--case NAME ...] [--formulation NAME ...] [--part K] [--worst] [--order]

--golden     NAME.yaml and NAME.csv: models and trajectories with few rows, tests/golden
--reference  NAME.model.json, NAME.meta.json, NAME.csv: the full collection, from which tools/make_golden makes the
             former; models are converted by tools/reference2yaml

Each case runs with the formulations that its topology allows, an integrator of high order and
tolerances of 1e-12, so that differences come from the model and its equations.  Exit status: 0 all
agree, 1 some do not.

--part       0 to 6: of the runs, in their order, each seventh from this one on
--order      index3 instead of these, with equal steps of h, h/2 and h/4: largest errors relative to the
             reference and their ratios, which are near 4 for a method of order two
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import trajectory

TREES = ("momenta", "aba", "dense", "hdca", "dca", "rcr")
LOOPS = ("dense", "hdca", "dca", "lagrange", "rcr")
SOLVER = ["--integrator", "fehlberg8", "--rtol", "1e-12", "--atol", "1e-12"]
POSITION = 1e-9  # the references are good to 1e-11 and better

# formulations, tolerance of positions, last time compared
CASES = {
    "P1_simple_pendulum": (TREES, POSITION, None),
    "P2_planar_double_pendulum": (TREES, POSITION, None),
    "P3_spatial_double_pendulum": (TREES, POSITION, None),
    # a change point at t = 1.01, where a second branch of motion begins
    "P4_four_bar_singular": (LOOPS, POSITION, 0.95),
    "P4b_four_bar_regular": (LOOPS, POSITION, None),
    "P5_single_loop_4": (LOOPS, POSITION, None),
    "P6_single_loop_8": (LOOPS, POSITION, None),
    "P7_double_loop_8": (LOOPS, POSITION, None),
    "P8_mixed_joint_arm": (TREES, POSITION, None),
    "P9_floating_tree": (TREES, POSITION, None),
    "P10_spatial_slider_crank": (LOOPS, POSITION, None),
    "P11_parallel_five_bar": (LOOPS, POSITION, None),
    "P12_ladder_1": (LOOPS, POSITION, None),
    "P12_ladder_2": (LOOPS, POSITION, None),
    "P12_ladder_4": (LOOPS, POSITION, None),
    "P12_ladder_8": (LOOPS, POSITION, None),
    "P13_rheonomic_four_bar": (LOOPS, POSITION, None),
    # 48 degrees of freedom, chaotic: errors grow by 10^4 in the 2 s
    "P14_chain_16_spherical": (TREES, 1e-8, None),
    # singular where the rods are horizontal, first at t = 0.67
    "P15_n_four_bar_1": (LOOPS, POSITION, 0.6),
    "P15_n_four_bar_2": (LOOPS, POSITION, 0.6),
    "P15_n_four_bar_5": (LOOPS, POSITION, 0.6),
    "P15_n_four_bar_10": (LOOPS, POSITION, 0.6),
}
# index3: largest step, last time compared.  Steps are those at which errors are of their order already.
ORDERS = {
    "P5_single_loop_4": (0.01, 2),
    "P10_spatial_slider_crank": (0.005, None),
    "P12_ladder_8": (0.01, 2),
    "P15_n_four_bar_5": (0.005, 0.6),
    "P15_n_four_bar_10": (0.005, 0.6),
}
RATIOS = (3.3, 4.7)
SHOWN = ["position", "velocity", "acceleration", "joint_q", "reaction_force", "reaction_torque",
         "energy", "momentum"]


def convert(folder, name, where):
    """The native model of a case of the collection."""
    tool = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools",
                        "reference2yaml")
    model = os.path.join(where, name + ".yaml")
    subprocess.run([sys.executable, tool, os.path.join(folder, name + ".model.json"), "-o", model],
                   check=True)
    return model


def columns_to_skip(folder, name):
    """Reactions that redundant constraints leave undetermined."""
    meta = os.path.join(folder, name + ".meta.json")
    if not os.path.exists(meta):
        return ()
    with open(meta, encoding="utf-8") as file:
        return set(json.load(file).get("nonunique_columns", ()))


def run_program(program, model, formulation, reference, until, where, solver=None):
    """The trajectory of a run with rows at the reference's times."""
    time = [t for t in reference["time"] if until is None or t <= until * (1 + 1e-9)]
    output = os.path.join(where, "out.csv")
    command = [program, "run", model, "--quiet", "--formulation", formulation,
               *(solver or SOLVER),
               "--duration", repr(time[-1]), "--sample", repr(time[-1] / (len(time) - 1)),
               "-o", output]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ValueError(f"exit status {done.returncode}: {done.stderr.strip()}")
    return trajectory.read(output)


def show(name, formulation, differences, failed):
    columns = []
    for group in SHOWN:
        d = differences.get(group)
        mark = "!" if group in failed else " "
        columns.append("       - " if d is None else f"{d.error:8.1e}{mark}")
    print(f"{name:28s} {formulation:8s} " + " ".join(columns), flush=True)


def run_case(arguments, folder, name, formulation, where):
    """True when everything agrees."""
    _, position, until = CASES[name]
    reference = trajectory.read(os.path.join(folder, name + ".csv"))
    if arguments.golden:
        model = os.path.join(folder, name + ".yaml")
    else:
        model = convert(folder, name, where)
    try:
        candidate = run_program(arguments.program, model, formulation, reference, until, where)
        differences = trajectory.compare(reference, candidate,
                                         float("inf") if until is None else until,
                                         columns_to_skip(folder, name))
    except ValueError as error:
        print(f"{name:28s} {formulation:8s} FAILED: {error}", flush=True)
        return False
    failed = [group for group, d in differences.items()
              if not d.error <= d.limit(position if group == "position" else None)]
    show(name, formulation, differences, failed)
    for group in failed if not arguments.worst else differences:
        d = differences[group]
        print(f"    {group}: {d.error:.3e} at {d.column}, t = {d.time:g}; scale {d.scale:.3g}")
    return not failed


def run_order(arguments, folder, name, where):
    """True when errors fall by four for steps of half the length."""
    step, until = ORDERS[name]
    reference = trajectory.read(os.path.join(folder, name + ".csv"))
    model = os.path.join(folder, name + ".yaml") if arguments.golden else convert(folder, name, where)
    errors = {}
    for part in (1, 2, 4):
        candidate = run_program(arguments.program, model, "index3", reference, until, where,
                                ["--step", repr(step / part)])
        differences = trajectory.compare(reference, candidate,
                                         float("inf") if until is None else until,
                                         columns_to_skip(folder, name))
        for group in ("position", "velocity", "reaction_force", "reaction_torque"):
            if group in differences:
                errors.setdefault(group, []).append(differences[group].error)
    good = True
    for group, (one, half, quarter) in errors.items():
        if one < 1e-9:
            continue  # a quantity that stays zero
        right = all(RATIOS[0] < r < RATIOS[1] for r in (one / half, half / quarter))
        good &= right
        print(f"{name:28s} {group:16s} {one:9.2e} {half:9.2e} {quarter:9.2e}  "
              f"{one / half:5.2f} {half / quarter:5.2f}{'' if right else ' !'}", flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(description="compare runs with reference trajectories")
    parser.add_argument("--program", required=True)
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--golden", metavar="FOLDER")
    where.add_argument("--reference", metavar="FOLDER")
    parser.add_argument("--case", action="append", metavar="NAME", help="default: all")
    parser.add_argument("--formulation", action="append", metavar="NAME", help="default: all")
    parser.add_argument("--part", type=int, choices=range(7), help="each seventh run from this one on; default: all")
    parser.add_argument("--order", action="store_true", help="order of index3 in the step")
    parser.add_argument("--worst", action="store_true", help="show the worst column of each group")
    arguments = parser.parse_args()
    folder = arguments.golden or arguments.reference
    names = [n for n in CASES if os.path.exists(os.path.join(folder, n + ".csv"))]
    if arguments.order:
        names = [n for n in names if n in ORDERS]
    if arguments.case:
        names = [n for n in names if n in arguments.case]
    if not names:
        print(f"no cases in {folder}")
        return 1
    if arguments.order:
        print(f"{'case':28s} {'largest error of':16s} {'h':>9s} {'h/2':>9s} {'h/4':>9s}  ratios")
        with tempfile.TemporaryDirectory() as temporary:
            good = all([run_order(arguments, folder, n, temporary) for n in names])
        print("all of order two" if good else "SOME ARE NOT OF ORDER TWO")
        return 0 if good else 1
    print(f"{'case':28s} {'':8s} " + " ".join(f"{g.replace('acceleration', 'accel')[:9]:>9s}"
                                               for g in SHOWN))
    runs = [(n, f) for n in names for f in CASES[n][0] if not arguments.formulation or f in arguments.formulation]
    good = True
    with tempfile.TemporaryDirectory() as temporary:
        for name, formulation in runs[arguments.part::7] if arguments.part is not None else runs:
            good &= run_case(arguments, folder, name, formulation, temporary)
    print("all agree" if good else "SOME DO NOT AGREE")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
