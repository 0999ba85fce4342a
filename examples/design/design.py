#!/usr/bin/env python3
"""Three designs by `lw.optimize`, each also by SciPy's own finite differences; or a check of them by the program alone.

usage: design.py [--results FILE] [--pictures FOLDER]   needs the Python package with SciPy
       design.py --check PROGRAM                        parts of the designs, in seconds
       design.py --table WHICH                          of results.json: runs, platform

Times are those of the processor, with one thread.
"""
import argparse
import csv
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
RESULTS = os.path.join(HERE, "results.json")
LINKAGE = {"x0": (-2, 2), "y0": (-2, 2), "tilt": (-3, 3), "a": (0.05, 1.5), "b": (0.1, 3), "c": (0.1, 3), "d": (0.1, 3),
           "u": (-3, 3), "w": (-3, 3), "t0": (-180, 180)}
PLATFORM = {"m": (30, 120), "z": (0, 300), "Ixx": (1, 8), "Iyy": (1, 8), "Izz": (1, 10), "k": (8, 60), "c": (10, 500)}
TRUE = {"m": 72, "z": 170, "Ixx": 3.7, "Iyy": 3.2, "Izz": 5.6, "k": 26, "c": 160}
NOISE = {"x": 1e-4, "y": 1e-4, "z": 1e-4, "qx": 5e-5, "qy": 5e-5, "qz": 5e-5}  # [m], of quaternions: 0.1 mrad
COLUMNS = ["body.platform." + name for name in NOISE]
KINDS = {"adjoint": "adjoint", "forward": "forward sensitivities", "differences": "differences in lanes"}  # of derivatives
KNOTS = [f"u{i}" for i in range(16)]
SWING = {name: (-20, 20) for name in KNOTS}
FIRST = {name: round(10 * math.sin(2 * math.pi * i / 8), 3) for i, name in enumerate(KNOTS)}  # pushes to and fro


def path(name):
    return os.path.join(HERE, name)


def measured(columns):
    """Rows of the true platform with errors: normal, independent, of the deviations NOISE."""
    errors = random.Random(19)
    return {"time": list(columns["time"]),
            **{name: [x + errors.gauss(0, deviation) for x in columns[name]]
               for name, deviation in zip(COLUMNS, NOISE.values())}}


# ------------------------------------------------------------------------------------- with the package


def described(best, seconds):
    return {"start": best.start.objective, "end": best.objective, "designs": len(best.designs), "runs": best.runs,
            "gradient": best.gradient, "seconds": seconds, "parameters": best.parameters}


def searched(lw, model, vary, **options):
    began = time.process_time()
    best = lw.optimize(model, vary, threads=1, **options)
    return best, described(best, time.process_time() - began)


def plain(lw, model, vary, start, minimize=None, **options):
    """The same by values alone: SciPy makes differences of them, design by design."""
    import numpy as np
    from scipy import optimize

    response = lw.Response(model, vary, minimize or (), threads=1, **options)
    first = np.array([start.get(name, x) for name, x in zip(response.names, response.start)])
    width, began, designs = response.upper - response.lower, time.process_time(), []

    def values(t):
        x = np.clip(response.lower + t * width, response.lower, response.upper)
        designs.append(x)
        try:
            return response(x)
        except lw.INFEASIBLE:
            return np.full(len(response.columns), np.nan)

    t = (first - response.lower) / width
    if minimize:
        found = optimize.minimize(lambda t: values(t)[0], t, bounds=[(0, 1)] * len(t), method="L-BFGS-B",
                                  options={"maxfun": 10000}, tol=1e-9)
        end = float(found.fun)
    else:
        found = optimize.least_squares(values, t, bounds=(0, 1), x_scale="jac", ftol=1e-9, xtol=1e-9, gtol=1e-14)
        end = math.sqrt(2 * found.cost / len(response.columns))
    first_values = response(first)
    start_value = first_values[0] if minimize else math.sqrt(float(first_values @ first_values) / len(first_values))
    return {"start": float(start_value), "end": end, "designs": len(designs), "runs": response.runs - 1,
            "gradient": "SciPy's differences", "seconds": time.process_time() - began}


def linkage(lw):
    given = {"fit": path("points.csv")}
    best, found = searched(lw, path("linkage.yaml"), LINKAGE, **given)
    _, differences = searched(lw, path("linkage.yaml"), LINKAGE, gradient="differences", **given)
    return best, {"search": found, "lanes": differences, "plain": plain(lw, path("linkage.yaml"), LINKAGE, {}, **given)}


def platform(lw):
    true = lw.simulate(lw.load(path("platform.yaml"), parameters=TRUE))
    given = {"fit": measured(true), "weights": {name: 1 / d for name, d in zip(COLUMNS, NOISE.values())}}
    best, found = searched(lw, path("platform.yaml"), PLATFORM, **given)
    found["deviations"] = best.deviations
    _, differences = searched(lw, path("platform.yaml"), PLATFORM, gradient="differences", **given)
    return best, {"search": found, "lanes": differences, "plain": plain(lw, path("platform.yaml"), PLATFORM, {}, **given), "true": TRUE}


def swing_up(lw):
    given = {"minimize": "miss", "start": FIRST}
    best, found = searched(lw, path("swingup.yaml"), SWING, method="L-BFGS-B", **given)
    _, differences = searched(lw, path("swingup.yaml"), SWING, method="L-BFGS-B", gradient="differences", **given)
    return best, {"search": found, "lanes": differences, "plain": plain(lw, path("swingup.yaml"), SWING, FIRST, minimize="miss")}


def pictures(lw, folder, best):
    """The curves of the linkage, the swing of the pendulum."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot

    with open(path("points.csv"), encoding="utf-8") as file:
        points = list(csv.DictReader(file))
    figure, axes = pyplot.subplots(figsize=(6.4, 3.6))
    axes.plot([float(p["marker.pen.x"]) for p in points], [float(p["marker.pen.y"]) for p in points], "ko", ms=4,
              label="20 points")
    for model, style, label in ((lw.load(path("linkage.yaml")), "C1--", "start"), (best["linkage"].model, "C0-", "end")):
        run = lw.simulate(model, sample=0.005)
        axes.plot(run["marker.pen.x"], run["marker.pen.y"], style, label=label)
    axes.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")
    axes.legend(loc="upper right")
    figure.savefig(os.path.join(folder, "design-linkage.svg"), bbox_inches="tight", metadata={"Date": None})
    columns = "joint.pivot.q0", "joint.rail.q0", "joint.rail.actuator0"
    run = lw.simulate(best["swing-up"].model, sample=0.01, columns=",".join(columns))
    figure, rows = pyplot.subplots(3, 1, figsize=(6.4, 5), sharex=True)
    for axes, column, label in zip(rows, columns,
                                   ("angle [rad]", "cart [m]", "force [N]")):
        axes.plot(run.time, run[column])
        axes.set_ylabel(label)
        axes.grid(alpha=0.3)
    rows[0].axhline(math.pi, color="k", lw=0.8, ls=":")
    rows[-1].set_xlabel("time [s]")
    figure.savefig(os.path.join(folder, "design-swingup.svg"), bbox_inches="tight", metadata={"Date": None})


def measure(arguments):
    import linkwork as lw

    best, results = {}, {}
    for name, design in (("linkage", linkage), ("platform", platform), ("swing-up", swing_up)):
        best[name], results[name] = design(lw)
        for which, found in results[name].items():
            if "runs" in found:
                print(name, which, {k: v for k, v in found.items() if k not in ("parameters", "deviations")}, flush=True)
    with open(arguments.results, "w", encoding="utf-8") as file:
        json.dump(results, file, indent=1)
        file.write("\n")
    if arguments.pictures:
        pictures(lw, arguments.pictures, best)


# ------------------------------------------------------------------------------------------- the table


def table(which):
    with open(RESULTS, encoding="utf-8") as file:
        results = json.load(file)
    if which == "platform":
        found = results["platform"]
        units = {"m": "kg", "z": "mm", "Ixx": "kg m²", "Iyy": "kg m²", "Izz": "kg m²", "k": "N/mm", "c": "N s/m"}
        print("| parameter | start | found | deviation | true |\n|---|---|---|---|---|")
        start = {"m": 60, "z": 150, "Ixx": 3, "Iyy": 3.6, "Izz": 4.8, "k": 20, "c": 100}
        for name, value in found["search"]["parameters"].items():
            print(f"| `{name}` [{units[name]}] | {start[name]} | {value:.5g} | {found['search']['deviations'][name]:.2g} "
                  f"| {found['true'][name]} |")
        return
    print("| design | derivatives | parameters | start | end | designs | runs | s |\n|---|---|---|---|---|---|---|---|")
    for name, found in results.items():
        for which_way, label in (("search", None), ("lanes", None), ("plain", "SciPy's differences of values")):
            if which_way in found:
                one = found[which_way]
                n = len(found["search"]["parameters"])
                kind = label or KINDS[one["gradient"]]
                print(f"| {name} | {kind} | {n} | {one['start']:.3g} | {one['end']:.2g} | {one['designs']} | {one['runs']} "
                      f"| {one['seconds']:.2g} |")


# ------------------------------------------------------------------------------------------- the check


def call(program, *arguments):
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1) or "{" not in done.stdout:
        raise SystemExit(f"{' '.join(arguments)}:\n{done.stderr}")
    return json.loads(done.stdout)


def ranges(vary):
    return [word for name, (low, high) in vary.items() for word in ("--vary", f"{name}={low}:{high}")]


def check(program):
    """The linkage comes near the points; the true platform is found from a few rows; the stored swing-up arrives."""
    with open(RESULTS, encoding="utf-8") as file:
        results = json.load(file)
    found = call(program, "optimize", path("linkage.yaml"), "--fit", path("points.csv"), *ranges(LINKAGE), "--evaluations", "12",
                 "--json")
    assert found["start_objective"] > 0.3 and found["end_objective"] < 0.05, found["end_objective"]
    with tempfile.TemporaryDirectory() as folder:
        rows = os.path.join(folder, "rows.csv")
        true = [word for name, value in TRUE.items() for word in ("--set", f"{name}={value}")]
        run = [program, "run", path("platform.yaml"), *true, "--duration", "0.2", "--sample", "0.05", "--columns",
               ",".join(COLUMNS), "-o", rows]
        subprocess.run(run, check=True, capture_output=True)
        two = {"m": PLATFORM["m"], "k": PLATFORM["k"]}
        others = [word for name, value in TRUE.items() if name not in two for word in ("--set", f"{name}={value}")]
        found = call(program, "optimize", path("platform.yaml"), *others, "--fit", rows, *ranges(two), "--json")["parameters"]
        for name in two:
            assert abs(found[name]["end"] / TRUE[name] - 1) < 1e-5, found
        knots = [word for name, value in results["swing-up"]["search"]["parameters"].items()
                 for word in ("--set", f"{name}={value!r}")]
        run = call(program, "run", path("swingup.yaml"), *knots, "--rtol", "1e-10", "--atol", "1e-10", "--json")
        miss = run["measures"]["miss"]["last"]
        assert miss < 1e-4, miss
    print("the three designs are as stored")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--check", metavar="PROGRAM")
    parser.add_argument("--table", choices=("runs", "platform"))
    parser.add_argument("--results", default=RESULTS)
    parser.add_argument("--pictures", metavar="FOLDER")
    arguments = parser.parse_args()
    if arguments.check:
        check(arguments.check)
    elif arguments.table:
        table(arguments.table)
    else:
        measure(arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
