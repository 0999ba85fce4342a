#!/usr/bin/env python3
"""What [naudet2003] says of its recursion, measured with `linkwork`.

usage: report.py --program PROGRAM [--ops PROGRAM] [--generic PROGRAM] [--quick | --accuracy | --times | --render]

Counts operations (bench_ops and bench_generic; where they were not built the stored counts are kept), measures how far
speeds come back from stored momenta, how energy drifts, what adaptive integrators need and how long evaluations take.
Writes results.json, and from that the page with its verdicts (examples/reports.py).

Exit status: 0; 1 when a statement does not hold, or a number or the page is not what is stored.  Needs nothing but
Python and the programs.
"""
import csv
import json
import math
import os
import re
import subprocess
import sys

import models

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, ".."))

import reports
from reports import processor, stored, table

# table 1 of the paper: additions, multiplications (a n + b each); where the sums printed differ
PAPER = [("Featherstone", (275, -18), (336, -220)), ("Vukobratovic", (231, -294), (249, -272)),
         ("Valasek", (206, -345), (226, -343)), ("Rein", (195, -247), (216, -317)),
         ("Naudet and Lefeber", (178, -230), (185, -245))]
# tests/tree/test_momenta_count.c asserts these: every zero and constant folded away
FOLDED = [("folded, a given wrench on each body", (173, -281), (178, -270)),
          ("folded, no wrench (falling frame)", (155, -253), (158, -242))]


class Study(reports.Study):
    def run(self, text, *options, rows=False):
        """Summary of a run (None: it broke down), and its first row where rows are wanted."""
        output = self.path("run.csv")
        summary = self.summary(self.write("model.yaml", text), *options, *(("-o", output) if rows else ()),
                               may_break=True)
        if not summary or not rows:
            return summary, None
        with open(output, newline="", encoding="utf-8") as file:
            return summary, next(csv.DictReader(file))


# ------------------------------------------------------------------------------------- operations

def read_counts(*programs):
    """{name: ((additions, at 0), (multiplications, at 0))} of bench_ops and bench_generic."""
    found = {}
    line = re.compile(r"(.+?)\s+([\d.]+) n +([+-][\d.]+) x +([\d.]+) n +([+-][\d.]+) \+")
    for program in programs:
        if not program or not os.path.exists(program):
            continue
        done = subprocess.run([program], capture_output=True, text=True, check=False)
        for text in done.stdout.splitlines():
            if match := line.match(text):
                m, m0, a, a0 = (float(x) for x in match.groups()[1:])
                found[match.group(1).strip()] = ((a, a0), (m, m0))
    return found


def total(pair):
    return tuple(a + m for a, m in zip(*pair))


def operations(study, counts):
    ours, theirs = total(counts["momenta oblique"]), total(PAPER[-1][1:])
    study.hold(f"the running text of momenta has {linear(ours)} operations, gravity among them, the "
               f"paper {linear(theirs)}, from three links on",
               ours[0] <= theirs[0] and 3 * ours[0] + ours[1] <= 3 * theirs[0] + theirs[1])
    study.hold("aba has at least a sixth more", total(counts["aba oblique"])[0] >= 7 / 6 * ours[0])
    study.hold("square axes save a quarter or more of both",
               all(total(counts[f + " square"])[0] <= 0.75 * total(counts[f + " oblique"])[0]
                   for f in ("momenta", "aba")))
    if "momenta generic" in counts:
        study.hold("the generic implementation has at least 1.9 times as many",
                   all(total(counts[f + " generic"])[0] >= 1.9 * total(counts[f + " oblique"])[0]
                       for f in ("momenta", "aba")))


def linear(pair):
    return f"{pair[0]:g} n {'+' if pair[1] > 0 else '-'} {abs(pair[1]):g}"


def operation_table(counts):
    rows = [[name + ", printed", linear(a), linear(m), linear(total((a, m)))] for name, a, m in PAPER]
    names = [("momenta oblique", "**`momenta`, the kernel, with gravity**"),
             ("momenta square", "`momenta`, the kernel, square axes"),
             ("momenta generic", "`momenta`, the generic implementation, with gravity")]
    names += [(key.replace("momenta", "aba"), name.replace("momenta", "aba").strip("*"))
              for key, name in names]
    listed = [[name, *(linear(p) for p in counts[key]), linear(total(counts[key]))] for key, name in names]
    folded = [[f"`momenta`, {name}", linear(a), linear(m), linear(total((a, m)))]
              for name, a, m in FOLDED]
    return table(["", "additions", "multiplications", "sum"], rows + folded + listed)


# ------------------------------------------------------------------------------------ conditioning

def speeds_error(study, n):
    """Largest error of the speeds that a run finds from its momenta at the start."""
    text, speeds = models.slender(n)
    _, row = study.run(text, "--formulation", "momenta", "--duration", "0", rows=True)
    found = [float(row[f"joint.j{i}.qd0"]) for i in range(n)]
    return max(abs(a - b) for a, b in zip(found, speeds)) / max(map(abs, speeds))


def conditioning(study, sizes):
    errors = {n: speeds_error(study, n) for n in sizes}
    for n, error in errors.items():
        print(f"  {n} links: speeds come back to {error:.1e}")
    most = max(sizes)
    study.hold("8 links lose nothing that matters", errors[min(sizes)] < 1e-12)
    study.hold(f"{most} links lose at least three more digits than 8",
               errors[most] > 1e3 * errors[min(sizes)])
    if most >= 1024:
        study.hold("1024 links keep six digits and not eight", 1e-8 < errors[1024] < 1e-5)
    return errors


# ------------------------------------------------------------------------------------------ energy

FORMS = ("momenta", "aba")
STEPS = (0.01, 0.005, 0.0025)


def fixed_steps(study, n, steps):
    """{form: energy errors in 5 s} of rk4, None where it breaks down."""
    text = models.hanging(n)
    found = {}
    for form in FORMS:
        found[form] = []
        for step in steps:
            done, _ = study.run(text, "--formulation", form, "--integrator", "rk4", "--step", repr(step),
                                "--duration", "5", "--sample", "steps")
            found[form].append(done and done["energy_error"])
    return found


def drift(study, sizes):
    errors = {n: fixed_steps(study, n, STEPS) for n in sizes}
    for form in FORMS:
        a = errors[2][form]
        study.hold(f"two rods, {form}: halving the step divides the energy error by 13 to 40",
                   all(13 < x / y < 40 for x, y in zip(a, a[1:])))
    study.hold("two rods: momenta lose more energy with coarse steps, by less than a factor 2",
               errors[2]["aba"][0] < errors[2]["momenta"][0] < 2 * errors[2]["aba"][0])
    return errors


WEIGHTS = (("momenta", ("--formulation", "momenta", "--atol-p", "TOLERANCE")),
           ("momenta, scaled", ("--formulation", "momenta")), ("aba", ("--formulation", "aba")))


def adaptive(study, tolerances, n=5):
    """{name: {tolerance: (evaluations, energy error)}} of dopri5 over 5 s.  The absolute tolerance of a momentum is
    that of all else, or that times the inertia its joint feels, as the program does by itself."""
    found = {}
    for name, options in WEIGHTS:
        found[name] = {}
        for tolerance in tolerances:
            t = repr(tolerance)
            done, _ = study.run(models.hanging(n), *(o if o != "TOLERANCE" else t for o in options),
                                "--integrator", "dopri5", "--rtol", t, "--atol", t, "--duration", "5",
                                "--sample", "steps")
            found[name][t] = (done["evaluations"], done["energy_error"])
    study.hold("at equal tolerances momenta take fewer evaluations than aba and lose more energy",
               all(a[0] < b[0] and a[1] > b[1] for a, b in zip(found["momenta"].values(), found["aba"].values())))
    return found


def balls(study):
    """Chains on spherical joints, rk4 of 5 ms for 2 s."""
    found = {}
    for n in (2, 4, 8, 16):
        errors = []
        for form in FORMS:
            done, _ = study.run(models.spherical(n), "--formulation", form, "--integrator", "rk4",
                                "--step", "0.005", "--duration", "2", "--sample", "steps")
            errors.append(done and done["energy_error"])
        found[n] = errors
    study.hold("16 spherical joints, rk4 of 5 ms: momenta break down, accelerations do not",
               found[16][0] is None and found[16][1] is not None)
    return found


# ------------------------------------------------------------------------------------------- times

def times(study, rounds):
    """{case: {method: least ns}}, the cases in turn."""
    least = {}
    for _ in range(rounds):
        done = subprocess.run([study.program, "bench", "--case", "chain,humanoid,arms", "--seconds",
                               "0.1", "--json"], capture_output=True, text=True, check=True)
        for case in json.loads(done.stdout)["cases"]:
            of = least.setdefault(case["case"], {"bodies": case["bodies"]})
            of[case["method"]] = min(of.get(case["method"], math.inf), case["minimum"])
    return least


def time_table(least):
    rows = []
    for name, of in least.items():
        if "momenta" in of and "aba" in of:
            rows.append([name, f"{of['momenta'] / 1e3:.3f}", f"{of['aba'] / 1e3:.3f}",
                         f"{of['momenta'] / of['bodies']:.0f}", f"{of['aba'] / of['bodies']:.0f}",
                         f"{of['aba'] / of['momenta']:.2f}"])
    return table(["case", "momenta [us]", "aba [us]", "momenta [ns per body]", "aba [ns per body]",
                  "aba / momenta"], rows)


# ------------------------------------------------------------------------------------------ report

def power(x):
    return reports.power(x, none="breaks down")


def plot(study, output, x, columns, title):
    """columns {label: values} over x as an SVG, logarithmic."""
    path = study.path("curve.csv")
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["time", x[0], *columns])
        for i, value in enumerate(x[1]):
            writer.writerow([i, value, *(repr(c[i]) if c[i] is not None else "nan"
                                         for c in columns.values())])
    subprocess.run([study.program, "plot", path, "--x", x[0], "--y", ",".join(columns), "--log",
                    "--size", "560x300", "--title", title, "-o", output], check=True,
                   capture_output=True)


def ratios(over, under):
    return [a / b for a, b in zip(over, under) if a and b]


def span(values, digits=1):
    """least to most."""
    least, most = f"{min(values):.{digits}f}", f"{max(values):.{digits}f}"
    return least if least == most else f"{least} to {most}"


def at_equal_error(adaptive):
    """Evaluations of both ways to scale momenta over those of aba with the same energy error, by straight lines through
    the logarithms of aba's; where it has such an error."""
    points = sorted((math.log(e), math.log(n)) for n, e in adaptive["aba"].values())
    found = []
    for name, _ in WEIGHTS[:2]:
        for evaluations, error in adaptive[name].values():
            x = math.log(error)
            found += [evaluations / math.exp(n0 + (n1 - n0) * (x - x0) / (x1 - x0))
                      for (x0, n0), (x1, n1) in zip(points, points[1:]) if x0 <= x < x1]
    return found


def chains(least):
    """{links: aba's time over that of momenta}"""
    return {of["bodies"]: of["aba"] / of["momenta"] for name, of in least.items() if name.startswith("chain")}


class Naudet(reports.Report):
    here, page_file, pictures = HERE, "docs/reports/naudet-2003.md", "docs/reports/naudet-2003"
    about = "the statements of [naudet2003] with linkwork"
    study = Study

    def options(self, parser):
        parser.add_argument("--ops", help="bench_ops")
        parser.add_argument("--generic", help="bench_generic")
        parser.add_argument("--rounds", type=int, default=7, help="of timings")

    def measure(self, study, options):
        quick = options.quick
        counts = read_counts(options.ops, options.generic)
        if len(counts) < 6:
            print("  counts: bench_ops and bench_generic were not named: as stored")
            counts = stored(HERE)["accuracy"]["counts"]
        operations(study, counts)
        return {"counts": counts, "conditioning": conditioning(study, (8, 64, 256) if quick else [2 ** k for k in range(3, 11)]),
                "drift": drift(study, (2,) if quick else (2, 5, 10)),
                "adaptive": adaptive(study, (1e-6,) if quick else (1e-4, 1e-6, 1e-8)), "balls": balls(study)}

    def measure_times(self, study, options):
        return {"machine": processor(study.program), "least": times(study, options.rounds)}

    def draw(self, study, results):
        found, folder = results["accuracy"], self.path(self.pictures)
        errors = found["conditioning"]
        plot(study, os.path.join(folder, "speeds.svg"), ("log2 n", [math.log2(n) for n in errors]),
             {"error of the speeds": list(errors.values())}, "speeds from stored momenta, chain of n links")
        plot(study, os.path.join(folder, "energy.svg"),
             ("log10 evaluations per s", [math.log10(4 / s) for s in STEPS]),
             {f"{f} {n} rods": found["drift"][n][f] for n in (2, 5) for f in FORMS},
             "rk4 over 5 s: energy error [J]")

    def draw_times(self, study, results):
        of = {of["bodies"]: of for name, of in results["times"]["least"].items() if name.startswith("chain")}
        plot(study, os.path.join(self.path(self.pictures), "times.svg"), ("log2 n", [math.log2(n) for n in of]),
             {f: [of[n][f] / n for n in of] for f in FORMS}, "one evaluation, ns per body, chain of n links")

    def tolerance(self, path):
        return (2.0 if path[0] == "conditioning" else 0.25), 1e-15  # what is round-off is 3 times as large elsewhere

    def answers(self, results):
        found, counts = results["accuracy"], results["accuracy"]["counts"]
        ours, theirs = total(counts["momenta oblique"]), total(counts["aba oblique"])
        faster = chains(results["times"]["least"])
        short, long = ([r for n, r in faster.items() if (n <= 128) == few] for few in (True, False))
        fixed = [r for of in found["drift"].values() for r in ratios(of["momenta"], of["aba"])]
        tolerances = [r for name, _ in WEIGHTS[:2] for r in
                      ratios(*([e for _, e in found["adaptive"][f].values()] for f in (name, "aba")))]
        return [
            ("fewer operations than any recursion based on accelerations", True,
             ours[0] < theirs[0] and all(ours[0] < total((a, m))[0] for _, a, m in PAPER[:-1]),
             f"{linear(ours)} with gravity, `aba` {linear(theirs)}"),
            ("two sweeps over the bodies instead of three", None, None, "a property of the equations, [below](#two-sweeps-or-three)"),
            ("faster, therefore", True, min(short) > 1, f"{span(short, 2)} times as fast as `aba` for chains of up to 128 links; "
             f"{span(long, 2)} times for those of 256 and 1024"),
            ("better behaviour in numerical integration", False, max(fixed) < 1 and max(tolerances) < 1,
             f"energy errors are {span(fixed)} times those of `aba` at equal steps, {span(tolerances)} times at equal tolerances"),
        ]

    def parts(self, results):
        found, least = results["accuracy"], results["times"]["least"]
        counts, drifts, evaluations = found["counts"], found["drift"], found["adaptive"]
        ours, printed, aba = total(counts["momenta oblique"]), total(PAPER[-1][1:]), total(counts["aba oblique"])
        square = [1 - total(counts[f + " square"])[0] / total(counts[f + " oblique"])[0] for f in FORMS]
        return {
            "machine": results["times"]["machine"],
            "operations": operation_table(counts),
            "fewer from": str(next(n for n in range(1, 100) if ours[0] * n + ours[1] <= printed[0] * n + printed[1])),
            "square": f"{100 * min(square):.0f} to {100 * max(square):.0f} %",
            "count ratio": f"{aba[0]:g} to {ours[0]:g} would be {aba[0] / ours[0]:.2f}",
            "conditioning": table(["links", "error of the speeds"],
                                  [[n, power(e)] for n, e in found["conditioning"].items()]),
            "drift": table(["rods", "form"] + [f"step {s:g} s" for s in STEPS],
                           [[n, f, *(power(x) for x in drifts[n][f])] for n in drifts for f in FORMS]),
            "two rods": span(ratios(drifts["2"]["momenta"], drifts["2"]["aba"])),
            "more rods": span([r for n in ("5", "10") for r in ratios(drifts[n]["momenta"], drifts[n]["aba"])]),
            "adaptive": table(["tolerance"] + [f"{name}: evaluations, error [J]" for name, _ in WEIGHTS],
                              [[t, *(f"{n}, {power(e)}" for n, e in (evaluations[name][t] for name, _ in WEIGHTS))]
                               for t in evaluations["aba"]]),
            "equal error": span(at_equal_error(evaluations), 2),
            "balls": table(["spherical joints", "momenta [J]", "aba [J]"],
                           [[n, *(power(e) for e in errors)] for n, errors in found["balls"].items()]),
            "times": time_table(least),
            "pictures": os.path.basename(self.pictures),
        }


if __name__ == "__main__":
    sys.exit(Naudet().main())
