#!/usr/bin/env python3
"""What [naudet2003] says of its recursion, measured with `linkwork`.

usage: report.py --program PROGRAM [--ops PROGRAM] [--generic PROGRAM] [--output FILE.md] [--quick]

Counts operations (bench_ops and bench_generic, where they were built), measures how far speeds come back from stored
momenta, how energy drifts, what adaptive integrators need and how long evaluations take, checks the
statements of the report and writes it, its pictures beside it in a folder of the same name.
--quick leaves timings and the long cases out and writes nothing; it is what the tests run.

Exit status: 0; 1 when a statement does not hold.  Needs nothing but Python and the programs.
"""
import argparse
import csv
import json
import math
import os
import re
import subprocess
import sys
import tempfile

import models

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, ".."))

import reports
from reports import fill, table

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
    if not counts:
        print("  counts: bench_ops is not there (no C++ compiler)")
        return
    ours, theirs = total(counts["momenta oblique"]), total(PAPER[-1][1:])
    study.hold(f"the running text of momenta has {linear(ours)} operations, gravity among them, the "
               f"paper {linear(theirs)}, from three links on",
               ours[0] <= theirs[0] and 3 * ours[0] + ours[1] <= 3 * theirs[0] + theirs[1])
    study.hold("aba has at least a sixth more", total(counts["aba oblique"])[0] >= 7 / 6 * ours[0])
    study.hold("square axes save a quarter or more of both",
               all(total(counts[f + " square"])[0] <= 0.75 * total(counts[f + " oblique"])[0]
                   for f in ("momenta", "aba")))
    if "momenta generic" in counts:
        study.hold("the generic implementation has more than twice as many",
                   all(total(counts[f + " generic"])[0] > 2 * total(counts[f + " oblique"])[0]
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
    listed = [[name, *(linear(p) for p in counts[key]), linear(total(counts[key]))]
              for key, name in names if key in counts]
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
    steps = (0.01, 0.005, 0.0025)
    errors = {n: fixed_steps(study, n, steps) for n in sizes}
    for form in FORMS:
        a = errors[2][form]
        study.hold(f"two rods, {form}: halving the step divides the energy error by 13 to 40",
                   all(13 < x / y < 40 for x, y in zip(a, a[1:])))
    study.hold("two rods: momenta lose more energy with coarse steps, by less than a factor 2",
               errors[2]["aba"][0] < errors[2]["momenta"][0] < 2 * errors[2]["aba"][0])
    return steps, errors


WEIGHTS = (("momenta", ("--formulation", "momenta", "--atol-p", "TOLERANCE")),
           ("momenta, scaled", ("--formulation", "momenta")), ("aba", ("--formulation", "aba")))


def adaptive(study, tolerances, n=5):
    """{name: [(evaluations, energy error)]} of dopri5 over 5 s.  The absolute tolerance of a momentum is
    that of all else, or that times the inertia its joint feels, as the program does by itself."""
    found = {}
    for name, options in WEIGHTS:
        found[name] = []
        for tolerance in tolerances:
            t = repr(tolerance)
            done, _ = study.run(models.hanging(n), *(o if o != "TOLERANCE" else t for o in options),
                                "--integrator", "dopri5", "--rtol", t, "--atol", t, "--duration", "5",
                                "--sample", "steps")
            found[name].append((done["evaluations"], done["energy_error"]))
    for name in ("momenta", "momenta, scaled"):
        fewer = [a[0] / b[0] for a, b in zip(found[name], found["aba"])]
        worse = [a[1] / b[1] for a, b in zip(found[name], found["aba"])]
        print(f"  {name}: evaluations / aba's " + ", ".join(f"{x:.2f}" for x in fewer) +
              "; energy errors / aba's " + ", ".join(f"{x:.1f}" for x in worse))
    study.hold("at equal tolerances momenta take fewer evaluations than aba and lose more energy",
               all(a[0] < b[0] and a[1] > b[1] for a, b in zip(found["momenta"], found["aba"])))
    return found


def balls(study):
    """Chains on spherical joints, rk4 of 5 ms for 2 s."""
    rows = []
    for n in (2, 4, 8, 16):
        errors = []
        for form in FORMS:
            done, _ = study.run(models.spherical(n), "--formulation", form, "--integrator", "rk4",
                                "--step", "0.005", "--duration", "2", "--sample", "steps")
            errors.append(done and done["energy_error"])
        rows.append((n, errors))
    study.hold("16 spherical joints, rk4 of 5 ms: momenta break down, accelerations do not",
               rows[-1][1][0] is None and rows[-1][1][1] is not None)
    return rows


# ------------------------------------------------------------------------------------------- times

def times(study, rounds):
    """{case: {method: least seconds}}, the cases in turn."""
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


def full(study, counts, output, rounds):
    folder = os.path.splitext(output)[0]
    os.makedirs(folder, exist_ok=True)
    operations(study, counts)
    errors = conditioning(study, (8, 16, 32, 64, 128, 256, 512, 1024))
    steps, energies = drift(study, (2, 5, 10))
    tolerances = (1e-4, 1e-6, 1e-8)
    evaluations = adaptive(study, tolerances)
    breakdown = balls(study)
    least = times(study, rounds)
    plot(study, os.path.join(folder, "speeds.svg"), ("log2 n", [math.log2(n) for n in errors]),
         {"error of the speeds": list(errors.values())}, "speeds from stored momenta, chain of n links")
    chains = {n: of for name, of in least.items() if name.startswith("chain")
              for n in (of["bodies"],)}
    plot(study, os.path.join(folder, "times.svg"), ("log2 n", [math.log2(n) for n in chains]),
         {f: [of[f] / n for n, of in chains.items()] for f in FORMS},
         "one evaluation, ns per body, chain of n links")
    plot(study, os.path.join(folder, "energy.svg"),
         ("log10 evaluations per s", [math.log10(4 / s) for s in steps]),
         {f"{f} {n} rods": energies[n][f] for n in (2, 5) for f in FORMS},
         "rk4 over 5 s: energy error [J]")
    info = json.loads(subprocess.run([study.program, "bench", "--case", "chain-7", "--samples", "1",
                                      "--json"], capture_output=True, text=True, check=True).stdout)
    text = fill(HERE, {
        "machine": f"{info['cpu']}, {info['compiler']}, linkwork {info['version']}",
        "operations": operation_table(counts),
        "conditioning": table(["links", "error of the speeds"],
                              [[n, power(e)] for n, e in errors.items()]),
        "drift": table(["rods", "form"] + [f"step {s:g} s" for s in steps],
                       [[n, f, *(power(x) for x in energies[n][f])] for n in energies for f in FORMS]),
        "adaptive": table(["tolerance"] + [f"{name}: evaluations, error [J]" for name, _ in WEIGHTS],
                          [[f"{t:g}", *(f"{evaluations[name][i][0]}, {power(evaluations[name][i][1])}"
                                        for name, _ in WEIGHTS)]
                           for i, t in enumerate(tolerances)]),
        "balls": table(["spherical joints", "momenta [J]", "aba [J]"],
                       [[n, *(power(e) for e in found)] for n, found in breakdown]),
        "times": time_table(least),
        "pictures": os.path.basename(folder),
    })
    with open(output, "w", encoding="utf-8") as file:
        file.write(text)


def quick(study, counts):
    operations(study, counts)
    conditioning(study, (8, 64, 256))
    drift(study, (2,))
    adaptive(study, (1e-6,))
    balls(study)
    fill(HERE, dict.fromkeys(("machine", "operations", "conditioning", "drift", "adaptive", "balls", "times",
                        "pictures"), ""))


def main():
    parser = argparse.ArgumentParser(description="the statements of [naudet2003] with linkwork")
    parser.add_argument("--program", required=True)
    parser.add_argument("--ops", help="bench_ops")
    parser.add_argument("--generic", help="bench_generic")
    parser.add_argument("--output", metavar="FILE", default="docs/reports/naudet-2003.md")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rounds", type=int, default=7, help="of timings")
    arguments = parser.parse_args()
    counts = read_counts(arguments.ops, arguments.generic)
    with tempfile.TemporaryDirectory() as folder:
        study = Study(os.path.abspath(arguments.program), folder)
        if arguments.quick:
            quick(study, counts)
        else:
            full(study, counts, arguments.output, arguments.rounds)
    return 1 if study.failed else 0


if __name__ == "__main__":
    sys.exit(main())
