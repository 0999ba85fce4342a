#!/usr/bin/env python3
"""Tables of the documents that commands make: compared with the pages, or written into them.

usage: doc_tables.py PROGRAM [--write] [--bin FOLDER] [--root ROOT] [NAME...]

A table stands between <!-- table NAME: made by tools/doc_tables.py --> and <!-- end of table -->; what is checked
besides the text of its cells is the number in each: equal, or within the tolerance of the table for numbers that depend
on the libraries of the machine.  FOLDER has bench_ops and bench_generic (by default that of PROGRAM); where they are
missing their tables are left out, which is said.  Tables of times are made from the stored measurements in
bench/results.  Exit status: 0 the same or written, 1 with the differences.
"""
import argparse
import fnmatch
import glob
import importlib.util
import json
import math
import os
import re
import subprocess
import sys
import tempfile

TABLES = {}  # name: (page, relative tolerance of numbers, function)
END = "<!-- end of table -->"
ROUND_OFF = 1e-13  # numbers below are errors of which no digit is reproducible
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


class LeftOut(Exception):
    """A table that cannot be made here, with the reason."""


def made(page, tolerance=0.0):
    def add(function):
        TABLES[function.__name__.replace("_", "-")] = (page, tolerance, function)
        return function
    return add


class Source:
    """What the tables are made from."""

    def __init__(self, program, folder, root, work):
        self.program, self.bin, self.root, self.work = program, folder, root, work

    def path(self, *parts):
        return os.path.join(self.root, *parts)

    def call(self, *command):
        return subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True).stdout

    def generated(self, text, more=""):
        path = os.path.join(self.work, "model.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"linkwork: 1\ngenerate: {{{text}}}\n{more}\n")
        return path

    def run(self, model, unreliable=False, **options):
        """The summary of a run; one that is expected to be unreliable fails after its rows."""
        arguments = [f"--{key.replace('_', '-')}={value}" for key, value in options.items()]
        command = [self.program, "run", model, *arguments, "--json", "--quiet"]
        done = subprocess.run([str(c) for c in command], check=False, capture_output=True, text=True)
        if done.returncode and not (unreliable and "unreliable" in done.stderr):
            raise subprocess.CalledProcessError(done.returncode, command, done.stdout, done.stderr)
        return json.loads(done.stdout)

    def columns(self, model, **options):
        """The columns of a run by their names."""
        path = os.path.join(self.work, "columns.csv")
        self.run(model, output=path, **options)
        with open(path, encoding="utf-8") as file:
            names, *lines = file.read().splitlines()
        return dict(zip(names.split(","), zip(*([float(cell or "nan") for cell in line.split(",")] for line in lines))))

    def memory(self, *command):
        """MB that a command holds at most."""
        with subprocess.Popen([str(c) for c in command], stdout=subprocess.DEVNULL) as child:
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            raise subprocess.CalledProcessError(child.returncode, command)
        return usage.ru_maxrss / 1024

    def stored(self, name):
        """A file of measurements: the newest machine's that has one."""
        return max(glob.glob(self.path("bench/results/*", name)))

    def printed(self, program, name, *parts, option="--table"):
        """What a program in Python prints as tables of its file of measurements."""
        first = () if parts else (option,)
        return self.call(sys.executable, self.path(program), *first, self.stored(name), *parts).strip().split("\n")

    def plans(self, model):
        found = json.loads(self.call(self.program, "check", model, "--plan", "--json"))
        return len(found["bodies"]), {plan["kind"]: plan for plan in found["plans"]}

    def module(self, *parts):
        """A program in Python of the repository, as a module."""
        path = self.path(*parts)
        sys.path[:0] = [os.path.dirname(path), os.path.dirname(os.path.dirname(path))]
        spec = importlib.util.spec_from_file_location("source", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        del sys.path[:2]
        return module

    def counts(self):
        programs = [os.path.join(self.bin, name) for name in ("bench_ops", "bench_generic")]
        if not all(os.path.exists(p) for p in programs):
            raise LeftOut("bench_ops and bench_generic are not built")
        return self.module("examples/naudet-2003/report.py").read_counts(*programs)


def table(head, rows):
    return ["| " + " | ".join(head) + " |", "|---" * len(head) + "|",
            *("| " + " | ".join(str(cell) for cell in row) + " |" for row in rows)]


def matching(columns, pattern):
    return [values for name, values in columns.items() if fnmatch.fnmatchcase(name, pattern)]


def largest_error(exact, columns, pattern):
    return max(abs(a - b) for one, other in zip(matching(exact, pattern), matching(columns, pattern))
               for a, b in zip(one, other))


# ------------------------------------------------------------------------------------------ tables


@made("docs/results.md")
def columns(source):
    parts = json.loads(source.call(source.program, "info", "--json"))["columns"]
    return table(["columns", "what", "unit", "frame", "quantity"],
                 [[f"`{p['name']}`", p["summary"], "; ".join(dict.fromkeys(p["unit"])), p["frame"],
                   f"`{p['quantity']}`"] for p in parts])


@made("docs/codegen.md")
def codegen_sizes(source):
    robots = "examples/models"
    models = [("chain of 7 rods, axes x, y, z in turn", "chain: {n: 7}", (), 7),
              ("UR5", f"{robots}/ur5.urdf", (), 6),
              ("ANYmal C on the ground", f"{robots}/anymal_c.urdf", ("--base", "fixed"), 12),
              ("ANYmal C, floating", f"{robots}/anymal_c.urdf", ("--base", "floating"), 18),
              ("chain of 30", "chain: {n: 30}", (), 30), ("chain of 60", "chain: {n: 60}", (), 60)]
    rows = []
    for name, model, options, freedoms in models:
        path = source.generated(model) if "{" in model else source.path(model)
        text = source.call(source.program, "codegen", path, *options, "-o", os.path.join(source.work, "c"))
        found = {m[0]: f"{m[1]}, {m[2]}" for m in re.findall(r"^  (\w+) +(\d+) +(\d+)", text, re.M)}
        rows.append([name, freedoms, *(found[f] for f in ("forward_dynamics", "inverse_dynamics", "mass_matrix"))])
    return table(["model", "degrees of freedom", "forward dynamics", "inverse dynamics", "mass matrix"], rows)


@made("docs/integrators.md", 0.05)
def damped_four_bar(source):
    with open(source.path("examples/models/four_bar.yaml"), encoding="utf-8") as file:
        text = file.read()
    rows = []
    for damping in (0, 10, 100, 1000, 10000):
        path = os.path.join(source.work, "damped.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(re.sub(r"^(  B: \{)", rf"\1spring: {{q0: {{damping: {damping}}}}}, ", text, flags=re.M))
        rows.append([damping, *(source.run(path, integrator=name, duration=1, rtol=1e-9, atol=1e-9)["evaluations"]
                                for name in ("dopri5", "bdf", "adams"))])
    return table(["damping [N m s/rad]", "`dopri5`", "`bdf`", "`adams`"], rows)


BUSHING = """linkwork: 1
gravity: [0, -9.81, 0]
bodies:
  upper: {{mass: 1, inertia: [0.01, 0.0833, 0.0833, 0, 0, 0], position: [0.5, 0, 0]}}
  lower: {{mass: 1, inertia: [0.01, 0.0833, 0.0833, 0, 0, 0], position: [1.5, 0, 0]}}
joints:
  pivot: {{type: revolute, between: [ground, upper], at: [0, 0, 0], axis: [0, 0, 1]}}
forces:
  bush: {{type: bushing, between: [upper, lower], at: [1, 0, 0],
         stiffness: [{k}, {k}, {k}, {t}, {t}, 0], damping: [{c}, {c}, {c}, {d}, {d}, 0]}}
simulation: {{duration: 2, sample: 0.01}}
"""


@made("docs/integrators.md", 0.1)
def stiff_bushing(source):
    path, rows = os.path.join(source.work, "bushing.yaml"), []
    for k, ratio in ((1e5, 0.1), (1e6, 0.1), (1e7, 0), (1e7, 0.05), (1e7, 0.3), (1e7, 2)):
        c = 2 * ratio * math.sqrt(0.5 * k)  # of the reduced mass
        with open(path, "w", encoding="utf-8") as file:
            file.write(BUSHING.format(k=k, t=k / 100, c=c, d=c / 100))
        done = {name: source.run(path, integrator=name) for name in ("dopri5", "bdf", "auto")}
        exact = source.columns(path, integrator="verner87", rtol=1e-12, atol=1e-12)
        errors = [f"{largest_error(exact, source.columns(path, integrator=name), 'body.*.[xyz]'):.0e}"
                  for name in ("dopri5", "bdf")]
        rows.append([f"{k:.0e}".replace("e+0", "e"), ratio, done["dopri5"]["evaluations"], errors[0],
                     done["bdf"]["evaluations"], errors[1], f"`{done['auto']['options']['integrator']}`"])
    return table(["stiffness [N/m]", "damping ratio", "`dopri5`", "error [m]", "`bdf`", "error [m]", "`auto`"], rows)


@made("docs/integrators.md", 0.1)
def default_tolerances(source):
    rows = []
    for name, options in (("four_bar.yaml", {"duration": 5}), ("cart_arm.yaml", {"duration": 10}),
                          ("crane.yaml", {"duration": 10}), ("wishbone_axle.yaml", {"duration": 1}),
                          ("ur5.urdf", {"duration": 2, "sample": 0.01})):
        path = source.path("examples/models", name)
        exact = source.columns(path, integrator="verner87", rtol=1e-13, atol=1e-13, **options)
        got = source.columns(path, **options)
        row = [f"`{name}`", f"{options['duration']} s"]
        for pattern in ("body.*.[xyz]", "body.*.v[xyz]", "body.*.a[xyz]", "joint.*.f[xyz]"):
            size = max(max(map(abs, column)) for column in matching(exact, pattern))
            row.append(f"{largest_error(exact, got, pattern):.0e} of {size:.2g}")
        rows.append(row)
    return table(["model", "motion", "positions [m]", "velocities [m/s]", "accelerations [m/s²]", "joint forces [N]"],
                 rows)


@made("docs/integrators.md", 0.05)
def high_order(source):
    rows = []
    for model in ("examples/models/four_bar.yaml", "examples/models/cart_arm.yaml",
                  "tests/golden/P10_spatial_slider_crank.yaml", "tests/golden/P8_mixed_joint_arm.yaml"):
        rows.append([f"`{os.path.basename(model)}`",
                     *(source.run(source.path(model), integrator=name, duration=2, sample=0.01, sample_mode="stop",
                                  rtol=r, atol=r)["evaluations"]
                       for r in (1e-10, 1e-12) for name in ("dopri5", "verner87"))])
    return table(["", "`dopri5`, 1e-10", "`verner87`", "`dopri5`, 1e-12", "`verner87`"], rows)


@made("docs/integrators.md", 0.05)
def cost_and_accuracy(source):
    model, rows = source.path("examples/models/cart_arm.yaml"), []
    for name in ("bs3", "dopri5", "dopri54", "verner87", "fehlberg8", "adams", "bdf"):
        row = [f"`{name}`"]
        for r in (1e-6, 1e-9, 1e-12):
            if (name, r) == ("bs3", 1e-12):  # three million steps
                row += ["", ""]
                continue
            done = source.run(model, integrator=name, rtol=r, atol=r, sample="steps")
            row += [done["evaluations"], f"{done['energy_error']:.0e}"]
        rows.append(row)
    head = table(["rtol = atol", "1e-6", "", "1e-9", "", "1e-12", ""], rows)
    head[1] = "|---|---:|---:|---:|---:|---:|---:|"
    return head


@made("docs/methods.md")
def quality_of_auto(source):
    return source.printed("tools/accuracy_table.py", "accuracy.json", "table")


@made("docs/methods.md")
def loops_in_lanes(source):
    return source.printed("tools/accuracy_table.py", "accuracy.json", "loops")


@made("docs/methods.md")
def summary_of_auto(source):
    return source.printed("tools/accuracy_table.py", "accuracy.json", "summary")


@made("docs/theory/momenta.md", 0.05)
def momenta_and_aba(source):
    """Evaluations, and errors at the rows of reference trajectories."""
    reports, rows = source.module("examples/reports.py"), []
    for name, what, integrator, tolerance in (
            ("P2_planar_double_pendulum", "planar double pendulum, 5 s", "dopri5", 1e-8),
            ("P14_chain_16_spherical", "hanging chain of 16 rods with spherical joints, 2 s", "fehlberg8", 1e-11)):
        model = source.path("tests/golden", name + ".yaml")
        expected = reports.read_table(model[:-4] + "csv")
        row = [f"{what}; `{integrator}`, {tolerance:.0e}".replace("e-0", "e-")]
        for formulation in ("momenta", "aba"):
            output = os.path.join(source.work, "run.csv")
            done = source.run(model, formulation=formulation, integrator=integrator, rtol=tolerance, atol=tolerance,
                              output=output)
            found = reports.read_table(output)
            every = (len(found["time"]) - 1) // (len(expected["time"]) - 1)
            off = max(abs(a - b) for column in expected if re.search(r"\.w[xyz]$|time", column)
                      for a, b in zip(found[column][::every], expected[column]))
            row += [done["evaluations"], f"{done['energy_error']:.0e}", f"{off:.0e}"]
        rows.append(row)
    return table(["", *(f"`{f}`: {what}" for f in ("momenta", "aba")
                        for what in ("evaluations", "energy [J]", "angular velocities [rad/s]"))], rows)


@made("docs/theory/index3.md", 0.05)
def index3_tolerances(source):
    """Steps and largest position errors at two tolerances, against `dense` at 1e-12."""
    reports, rows = source.module("examples/reports.py"), []
    output = os.path.join(source.work, "run.csv")

    def positions(model, **options):
        done = source.run(model, duration=2, sample=0.05, output=output, **options)
        table_of = reports.read_table(output, lambda name: re.match(r"body\..*\.[xyz]$", name))
        return done["steps"], [value for column in table_of.values() for value in column]

    for name in ("cart_arm", "four_bar"):
        model = source.path("examples/models", name + ".yaml")
        _, exact = positions(model, formulation="dense", integrator="verner87", rtol=1e-12, atol=1e-12)
        found = []
        for tolerance in (1e-4, 1e-7):
            steps, values = positions(model, formulation="index3", rtol=tolerance, atol=tolerance)
            found.append((steps, max(abs(a - b) for a, b in zip(values, exact))))
        (few, large), (many, small) = found
        rows.append([f"`{name}.yaml`, 2 s", few, f"{large:.1e}", many, f"{small:.1e}", f"{many / few:.1f}",
                     f"{large / small:.0f}"])
    return table(["", "steps at 1e-4", "error [m]", "steps at 1e-7", "error [m]", "ratio of steps", "of errors"], rows)


@made("docs/theory/index3.md", 0.3)
def cassie_steps(source):
    """Energy errors of loops that are almost in line: order two."""
    model, steps = source.path("tests/models/cassie_v2.sdf"), (1e-2, 1e-3, 1e-4)
    errors = [source.run(model, base="fixed", formulation="index3", duration=0.6, sample=0.6, step=step)["energy_error"]
              for step in steps]
    return table(["h [s]"] + [f"{step:.0e}" for step in steps], [["[J]"] + [f"{error:.2g}" for error in errors]])


@made("docs/theory/index3.md", 0.02)
def index3_outputs(source):
    """Largest errors of a joint's force, against `dense` at 1e-12."""
    reports, rows = source.module("examples/reports.py"), []
    model, output = os.path.join(source.work, "pendulum.yaml"), os.path.join(source.work, "run.csv")
    with open(model, "w", encoding="utf-8") as file:
        file.write(source.module("examples/index3-2019/cases.py").pendulum())

    def forces(**options):
        source.run(model, duration=10, sample=0.01, output=output, **options)
        table_of = reports.read_table(output, lambda name: re.match(r"joint\.j1\.f[xyz]$", name))
        return list(zip(*(table_of[f"joint.j1.f{axis}"] for axis in "xyz")))

    exact = forces(formulation="dense", integrator="verner87", rtol=1e-12, atol=1e-12)
    paper = "coordinates=7,projection=tangent,tolerance=1e-12,penalty=1e6,tangent=0,iterations=3,"
    for name, method in (("default", ""), ("the paper's method, penalty 1e6", paper)):
        row = [name]
        for kind in ("motion", "step", "newton"):
            found = forces(formulation="index3", step=0.01, index3=f"{method}output={kind}")
            row.append(f"{max(math.dist(a, b) for a, b in zip(found, exact)):.3f}")
        rows.append(row)
    return table(["", "`motion`", "`step`", "`newton`"], rows)


@made("docs/theory/index3.md", 0.3)
def cassie_iterations(source):
    model, values, cells = source.path("tests/models/cassie_v2.sdf"), ("1e-8", "1e-9", "1e-10", "1e-11"), []
    for value in values:
        done = source.run(model, base="fixed", formulation="index3", duration=0.6, sample=0.6, step=1e-3,
                          index3=f"regularisation={value}")
        cells.append(f"{float(re.match(r'[0-9.]+', done['report'])[0]):.1f}")
    return table(["E", *values], [["iterations of a step", *cells]])


@made("docs/theory/index3.md", 0.3)
def cassie_tolerances(source):
    model, rows = source.path("tests/models/cassie_v2.sdf"), []
    for tolerance in (1e-6, 1e-9):
        done = source.run(model, base="fixed", formulation="index3", duration=1, rtol=tolerance, atol=tolerance)
        rows.append([f"{tolerance:.0e}", done["steps"], done["rejected"], f"{done['energy_error']:.1g}"])
    return table(["R", "steps", "rejected", "energy error [J]"], rows)


@made("docs/theory/index3.md", 0.02)
def index3_iterations(source):
    kinds = {"ladder": "q: [0.2, 0.3, 0], qd: [0.5, 1, 0]", "n_four_bar": "q: [0.3, 0, 0], qd: [1, 0, 0]"}
    rows = []
    for step in (1e-2, 1e-3, 1e-4):
        row = [f"{step:.0e}"]
        for kind, start in kinds.items():
            for n in (100, 1000):
                path = source.generated(f"{kind}: {{n: {n}, {start}}}", "gravity: [0, -9.81, 0]")
                done = source.run(path, formulation="index3", step=step, duration=50 * step, sample=50 * step)
                row.append(re.match(r"[\d.]+", done["report"])[0])
        rows.append(row)
    return table(["h [s]", *(f"{name}, {n} loops" for name in ("ladder", "four-bars") for n in (100, 1000))], rows)


@made("docs/theory/loops.md")
def stack_of_four_bars(source):
    _, plans = source.plans(source.generated("net: {n: 1, m: 334, q: [0.1, 0, 0]}"))
    return table(["plan", "depth", "widest join", "multiplications", "on the longest way"],
                 [[kind, plans[kind]["depth"], f"{plans[kind]['width']} equations", f"{plans[kind]['work']:.2g}",
                   f"{plans[kind]['critical']:.2g}"] for kind in ("comb", "balanced")])


@made("docs/theory/rcr.md", 0.05)
def rcr_leak(source):
    """The four-bar with momenta as state, and what the specification has."""
    models, reports = source.module("examples/rcr-2003/models.py"), source.module("examples/reports.py")
    path, output, rows = os.path.join(source.work, "four-bar.yaml"), os.path.join(source.work, "run.csv"), []
    with open(path, "w", encoding="utf-8") as file:
        file.write(models.four_bar())
    for kappa, theirs in (("none", ("2.0e-03", "-9.3", "851")), ("auto", ("9.1e-05", "-3.9e-02", "–"))):
        source.run(path, unreliable=kappa == "none", formulation="rcr", state="momenta", kappa=kappa, project="never",
                   integrator="rk4", step=0.01, duration=40, sample=0.1, level="momentum", output=output)
        run = reports.read_table(output)
        off = math.hypot(run["marker.D.x"][-1] - 0.7, run["marker.D.y"][-1])
        impulse = max(abs(value) for c in "xyz" for value in run[f"joint.D.sf{c}"])
        energy = run["sys.E"][-1] - run["sys.E"][0]
        cells = (f"{off:.1e}", f"{energy:.1f}" if kappa == "none" else f"{energy:.1e}", f"{impulse:.0f}")
        rows.append([f"`--kappa {kappa}`", *(f"{a} ({b})" for a, b in zip(cells, theirs))])
    return table(["", "closure [m]", "energy [J]", "largest component of the impulse [N s]"], rows)


@made("docs/theory/assembly.md")
def plans_of_graphs(source):
    rows = []
    for name, text in (("chain of 1024", "chain: {n: 1024}"), ("binary tree of 1023", "tree: {n: 1023}"),
                       ("ladder of 1000 loops", "ladder: {n: 1000}")):
        bodies, plans = source.plans(source.generated(text))
        rows.append([name, bodies, *(f"{plans[kind]['work'] / bodies:.0f}" for kind in ("comb", "balanced")),
                     *(plans[kind]["width"] for kind in ("comb", "balanced")), plans["balanced"]["depth"]])
    return table(["graph", "bodies", "sequential", "balanced", "widest join, sequential", "balanced",
                  "levels, balanced"], rows)


@made("docs/theory/assembly.md")
def longest_paths(source):
    plans = [(n, source.plans(source.generated(f"chain: {{n: {n}}}"))[1]["balanced"]) for n in (250, 1000, 4000, 16000)]
    return table(["chain", "joins one after the other", "factorisation", "bodies of a pass", "two passes", "evaluation"],
                 [[n, p["depth"], f"{p['critical']:.0f}", p["pass"], f"{p['evaluation'] - p['critical']:.0f}",
                   f"{p['evaluation']:.0f}"] for n, p in plans])


@made("docs/theory/assembly.md")
def lattices(source):
    rows, points = [], []
    for n in (4, 8, 12, 16, 20):
        bodies, plans = source.plans(source.generated(f"net: {{n: {n}, q: [0.1, 0, 0]}}"))
        work = min(plan["work"] for plan in plans.values())
        points.append((math.log(bodies), math.log(work)))
        rows.append([f"{n} × {n}", bodies, *(f"{plans[k]['work'] / bodies:.0f}" for k in ("comb", "balanced"))])
    growth = (points[-1][1] - points[0][1]) / (points[-1][0] - points[0][0])
    rows.append(["exponent of the cheaper", f"{growth:.2f}", "", ""])
    return table(["square net", "bodies", "sequential", "balanced"], rows)


@made("docs/benchmarks.md")
def operations(source):
    counts = source.counts()
    total = source.module("examples/naudet-2003/report.py").total
    before = {"momenta oblique": "467 n − 48", "momenta square": "the same", "aba oblique": "534 n − 27",
              "aba square": "the same"}
    names = [("momenta oblique", "`momenta`, axes at any angle"),
             ("momenta square", "`momenta`, square axes (`chain-*`)"),
             ("aba oblique", "`aba`, axes at any angle"), ("aba square", "`aba`, square axes"),
             ("momenta generic", "`momenta`, generic implementation"), ("aba generic", "`aba`, generic implementation")]

    def linear(pair):
        return f"{pair[0]:g} n {'+' if pair[1] > 0 else '−'} {abs(pair[1]):g}"

    rows = [[name, linear(counts[key][1]), linear(counts[key][0]), linear(total(counts[key])), before.get(key, "")]
            for key, name in names]
    rows[4:4] = [["naudet2003, momenta, a given wrench on each body", "185 n − 245", "178 n − 230", "363 n − 475", ""],
                 ["the same with every zero and constant used", "178 n − 270", "173 n − 281", "351 n − 551", ""]]
    return table(["", "multiplications", "additions", "sum", "before"], rows)


@made("examples/strandbeest/README.md", 0.05)
def walking_machine(source):
    text = source.call(sys.executable, source.path("examples/strandbeest/check.py"), "--program", source.program,
                       "--duration", "3", "--methods", "rcr;rcr, momenta", "--table")
    return text.strip().split("\n")


@made("examples/design/README.md")
def designs(source):
    return source.call(sys.executable, source.path("examples/design/design.py"), "--table", "runs").strip().split("\n")


@made("examples/design/README.md")
def design_platform(source):
    return source.call(sys.executable, source.path("examples/design/design.py"), "--table", "platform").strip().split("\n")


@made("examples/engine/README.md", 0.01)
def engine(source):
    model, rows = source.path("examples/engine/engine.yaml"), []
    for load in (0, 1):
        for speed in (1000, 3000, 6000):
            options = ["--set", f"speed={speed}", "--set", f"load={load}"]
            found = json.loads(source.call(source.program, "kinematics", model, *options, "--json"))["measures"]
            torque, pin, side = (found[name] for name in ("torque", "pin_load", "side"))
            mean = torque["mean"] if load else 0
            rows.append([speed, "full" if load else "none", f"{mean:.1f}", f"{torque['min']:.0f}", f"{torque['max']:.0f}",
                         f"{pin['max']:.1f}", f"{max(-side['min'], side['max']):.2f}"])
    return table(["speed [rpm]", "load", "torque [N m]", "least", "most", "pin 1 [kN]", "side force [kN]"], rows)


@made("examples/impulses/README.md", 0.05)
def struck(source):
    text = source.call(sys.executable, source.path("examples/impulses/struck.py"), "--program", source.program, "--table")
    return [line for line in text.split("\n") if line.startswith("|")]


@made("docs/theory/hdca.md", 0.05)
def kappa_cost(source):
    """Evaluations of the study's cases for multiples of the default of --kappa."""
    cases = source.module("examples/hdca-2017/cases.py")
    factors = (0.1, 1 / 3, 1, 3, 10, 30)
    heads = ["none", "a tenth of `auto`", "a third", "`auto`", "3 times", "10 times", "30 times"]
    rows = []
    for case, g in ((1, 9.81), (2, 9.81), (3, 9.81), (1, 8720), (1, 9.81e-4)):
        path = os.path.join(source.work, "case.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(cases.model(case).replace("[0, 0, -9.81]", f"[0, 0, -{g:g}]"))

        def done(kappa, duration=10 * math.sqrt(9.81 / g), case=case, path=path):
            return source.run(path, formulation="hdca", integrator="dopri5", cut=cases.cut(case, "middle"), kappa=kappa,
                              rtol=1e-6, atol=1e-6, project="never", duration=duration, sample=duration)

        auto = float(re.search(r"kappa ([0-9.e+-]+) 1/s", done("auto")["notice"])[1])
        rows.append([case, f"{g:g}", f"{0.6 / auto:.2g}", *(done(k)["evaluations"] for k in (
            "none", *(repr(auto * f) for f in factors)))])
    return table(["case", "g [m/s²]", "√(L/g) [s]", *heads], rows)


def drift_of(source, names):
    """Of the four-bar, from the stored numbers of examples/rcr-2003."""
    reports = source.module("examples/reports.py")
    stored = reports.stored(source.path("examples/rcr-2003"))["accuracy"]["drift"]
    return table(["", "5 s [m]", "10 s [m]", "20 s [m]", "40 s [m]", "exponent of time"],
                 [[shown, *map(reports.power, stored[name]["off"]), f"{stored[name]['exponent']:.2f}" if grows else "–"]
                  for name, shown, grows in names])


@made("docs/theory/rcr.md")
def rcr_drift(source):
    return drift_of(source, [("rcr", "`rcr`", True), ("rcr, momenta", "`rcr` with momenta as state", True),
                             ("lagrange, plain", "`lagrange`", True)])


@made("docs/theory/rcr.md")
def rcr_times(source):
    with open(source.stored("evaluations.json"), encoding="utf-8") as file:
        found = json.load(file)
    ways = {"rcr clusters": "loop clusters", "rcr dense path": "dense path", "rcr elimination": "elimination",
            "lagrange": "`lagrange`", "hdca": "`hdca`"}
    rows = []
    for model in ("four-bars-40", "four-bars-40-spring", "ladder-16", "net-2x2", "net-3x3", "gears-20",
                  "walker-1-fixed", "walker-3-fixed", "walker-1-floating", "walker-3-floating", "P10_spatial_slider_crank",
                  "loop-universal-8", "loop-spherical-8", "loop-spherical-32", "loop-32", "delta", "stewart", "net-4x4",
                  "net-10x10", "net-spherical-6x6"):
        times = {found[model]["way"]: found[model]["rcr"], **found[model]}  # a way that is not measured by itself
        cells = [times.get(name) for name in ways]
        taken = list(ways).index(found[model]["way"])
        cells = ["–" if t is None else f"**{t:.3g}**" if i == taken else f"{t:.3g}" for i, t in enumerate(cells)]
        rows.append([f"`{model}`", *cells])
    return [f"{found['cpu']}, {found['compiler']}, minimum of interleaved evaluations:", "",
            *table(["[us]", *ways.values()], rows)]


@made("docs/theory/lagrange.md")
def lagrange_drift(source):
    return drift_of(source, [("lagrange, plain", "`--baumgarte` not given", True),
                             ("lagrange, Baumgarte 10, 10", "`--baumgarte 10,10`", False)])


@made("docs/benchmarks.md")
def growth(source):
    return source.printed("bench/growth/growth.py", "growth.json")


@made("docs/benchmarks.md")
def growth_counts(source):
    return source.printed("bench/growth/growth.py", "growth_counts.json")


@made("docs/benchmarks.md")
def growth_rows(source):
    return source.printed("bench/growth/growth.py", "growth_counts.json", option="--table-of-rows")


@made("docs/benchmarks.md")
def runs(source):
    return source.printed("bench/runs/runs.py", "runs.json")


@made("docs/python.md")
def python_calls(source):
    return source.printed("bench/peers/python_calls.py", "python_calls.json")


@made("docs/benchmarks.md")
def depth(source):
    return source.printed("bench/depth/depth.py", "depth.json")


@made("docs/benchmarks.md")
def depth_rows(source):
    return source.printed("bench/depth/depth.py", "depth_rows.json")


@made("docs/benchmarks.md")
def depth_times(source):
    return source.printed("bench/depth/depth.py", "depth_times.json", option="--table-of-times")


@made("docs/theory/index3.md")
def parallel_robots(source):
    return source.printed("bench/parallel/parallel.py", "parallel.json")


def long_runs_part(source, part, *case):
    return source.call(sys.executable, source.path("bench/structure/structure.py"), part, *case, "--table",
                       source.stored("structure.json")).strip().split("\n")


@made("docs/analysis.md")
def modes_of_others(source):
    return source.call(sys.executable, source.path("bench/peers/modes.py"), "--table", source.stored("modes.json")).strip().split("\n")


@made("docs/analysis.md")
def derivatives_through_loops(source):
    return source.call(sys.executable, source.path("bench/peers/loop_derivatives.py"), "--table",
                       source.stored("loop_derivatives.json")).strip().split("\n")


@made("docs/long-runs.md")
def long_runs(source):
    return long_runs_part(source, "long")


@made("docs/long-runs.md")
def steps_of_long_runs(source):
    return long_runs_part(source, "steps", "chain of 8 in a loop")


@made("docs/long-runs.md")
def orders_of_long_runs(source):
    return long_runs_part(source, "orders")


@made("docs/long-runs.md")
def work_of_double_pendulum(source):
    return long_runs_part(source, "work", "double pendulum")


@made("docs/long-runs.md")
def work_of_heavy_top(source):
    return long_runs_part(source, "work", "heavy top")


@made("docs/long-runs.md")
def work_of_four_bar(source):
    return long_runs_part(source, "work", "four-bar")


@made("docs/long-runs.md")
def work_of_chain_in_loop(source):
    return long_runs_part(source, "work", "chain of 8 in a loop")


@made("docs/long-runs.md")
def costs_of_long_runs(source):
    return long_runs_part(source, "costs")


@made("docs/theory/segments.md")
def instructions_of_segments(source):
    return source.printed("bench/ops/count_paths.py", "paths.json")


@made("docs/theory/segments.md")
def times_of_segments(source):
    return source.printed("bench/ops/count_paths.py", "paths.json", option="--table-of-times")


@made("docs/theory/segments.md")
def chain_errors(source):
    return stored_output(source, "chains.txt")


def tables_of_run(source, name):
    """Of what bench/peers/run.py stored."""
    with open(source.stored(name), encoding="utf-8") as file:
        return source.module("bench/peers/run.py").tables(json.load(file)).strip().split("\n")


@made("docs/benchmarks.md")
def peers(source):
    return tables_of_run(source, "peers.json")


@made("docs/benchmarks.md")
def long_paths(source):
    return tables_of_run(source, "long_paths.json")


@made("docs/benchmarks.md")
def work_precision(source):
    return tables_of_run(source, "work_precision.json")


@made("docs/benchmarks.md")
def compiled_peers(source):
    return tables_of_run(source, "compiled_peers.json")


@made("docs/benchmarks.md")
def parallel_peers(source):
    return source.printed("bench/peers/parallel_robots.py", "parallel_peers.json")


@made("docs/benchmarks.md")
def batch_peers(source):
    return source.printed("bench/peers/batch.py", "batch_peers.json")


def lead_in(results, case):
    """The fastest of ours, the fastest of another library that is as exact, and its time over ours."""
    here = [r for r in results if r["case"] == case and r["unit"] == "ns" and r["method"] != "rnea"]
    mine = min((r for r in here if r["program"] == "linkwork"), key=lambda r: r["minimum"])
    exact = [r for r in here if not r["program"].startswith("linkwork") and r.get("digits", 9) >= 9
             and not r["method"].endswith("soft")]
    other = min(exact, key=lambda r: r["minimum"])
    return [f"`{mine['method']}`", f"{other['program']}, {other['method']}",
            f"{float(format(other['minimum'] / mine['minimum'], '.2g')):g}"]


@made("docs/benchmarks.md")
def leads(source):
    found = []
    for name in ("peers.json", "peers_four_lanes.json"):
        with open(source.stored(name), encoding="utf-8") as file:
            found.append(json.load(file))
    cases = dict.fromkeys(r["case"] for r in found[0]["results"] if r["unit"] == "ns")
    rows = [[f"`{case}`", *lead_in(found[0]["results"], case), *lead_in(found[1]["results"], case)] for case in cases]
    about = [f"{f['cpu']}, {f['date']}, load {f['load']}" for f in found]
    return [f"Eight lanes: {about[0]}; four: {about[1]}.", "",
            *table(["case", "eight lanes", "fastest other", "its time over ours",
                    "four lanes", "fastest other", "its time over ours"], rows)]


def stored_output(source, name):
    """What a program printed."""
    with open(source.stored(name), encoding="utf-8") as file:
        return ["```text", *file.read().rstrip().split("\n"), "```"]


@made("docs/benchmarks.md")
def bench_branches(source):
    return stored_output(source, "branches.txt")


@made("docs/benchmarks.md")
def bench_loops(source):
    return stored_output(source, "loops.txt")


@made("docs/batch.md")
def arms(source):
    with open(source.stored("peers.json"), encoding="utf-8") as file:
        found = json.load(file)
    times = {r["method"]: r["minimum"] for r in found["results"]
             if (r["case"], r["program"]) == ("arms", "linkwork") and r["method"] != "rnea"}
    return [f"{found['cpu']}, {found['programs']['linkwork']['compiler']}, minimum of the samples:", "",
            *table(["", *(f"`{name}`" for name in times)], [["one arm [ns]", *(f"{t:.0f}" for t in times.values())]])]


@made("docs/real-time.md")
def step_instructions(source):
    return source.printed("bench/steps/steps.py", "steps.json")


@made("docs/codegen.md")
def codegen_times(source):
    return source.printed("bench/codegen/codegen.py", "codegen.json")


@made("docs/compiled.md")
def compiled_sizes(source):
    return source.printed("bench/codegen/sizes.py", "sizes.json")


@made("docs/compiled.md")
def compiled_derivatives(source):
    return source.printed("bench/codegen/derivatives.py", "compiled_derivatives.json")


@made("docs/viewer.md", 0.1)
def page_sizes(source):
    rows = []
    for name, model, options in (
            ("four-bar", "examples/models/four_bar.yaml", {}),
            ("UR5", "examples/models/ur5.urdf", {"duration": 5, "sample": 0.01}),
            ("chain of 128", "chain: {n: 128}", {"duration": 2, "sample": 0.01}),
            ("chain of 1000", "chain: {n: 1000}", {"duration": 1, "sample": 0.01})):
        path = source.generated(model) if "{" in model else source.path(model)
        result, page = (os.path.join(source.work, "run" + ending) for ending in (".h5", ".html"))
        done = source.run(path, output=result, **options)
        source.call(source.program, "view", result, "-o", page)
        rows.append([name, done["rows"], f"{os.path.getsize(page) / 1e6:.2g} MB"])
    source.call(source.program, "view", source.path("examples/models/four_bar.yaml"), "-o", page)
    return table(["result", "rows", "page"],
                 [["four-bar, the model alone", "–", f"{os.path.getsize(page) / 1e6:.2g} MB"], *rows])


@made("docs/batch.md", 0.3)
def sweep_memory(source):
    counts = (100, 1000, 10000)
    model, output = source.path("examples/models/four_bar.yaml"), os.path.join(source.work, "sweep.csv")
    used = [source.memory(source.program, "sweep", model, "--vary", f"gravity.y=-9.81:-1:{n}", "--duration", 0.02,
                          "--sample", 0.02, "--threads", 1, "-o", output, "--quiet") for n in counts]
    return table(["N", *map(str, counts)], [["MB", *(f"{megabytes:.0f}" for megabytes in used)]])


# ------------------------------------------------------------------------------------------- pages


def begin_of(name):
    return f"<!-- table {name}: made by tools/doc_tables.py -->"


def parts_of(page, name):
    """Text before, of and after a table."""
    before, begin, rest = page.partition(begin_of(name))
    inside, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"'{begin_of(name)}' or '{END}' is missing")
    return before + begin, inside, end + after


def same_line(old, new, tolerance):
    if old == new:
        return True
    numbers = [[float(n) for n in NUMBER.findall(line)] for line in (old, new)]
    if not tolerance or NUMBER.sub("#", old) != NUMBER.sub("#", new):
        return False
    for a, b in zip(*numbers):  # numbers below 1 are errors with one digit
        if max(abs(a), abs(b)) > ROUND_OFF and abs(a - b) > (0.6 if abs(b) < 1e-3 else tolerance) * abs(b):
            return False
    return True


def compare(name, page, inside, lines, tolerance):
    old = inside.strip().split("\n")
    if len(old) == len(lines) and all(same_line(a, b, tolerance) for a, b in zip(old, lines)):
        return True
    print(f"{page}: table {name} is not what its command makes (tools/doc_tables.py PROGRAM --write {name}):")
    for a, b in zip(old + [""] * (len(lines) - len(old)), lines + [""] * (len(old) - len(lines))):
        if not same_line(a, b, tolerance):
            print(f"  page     {a}\n  command  {b}")
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("program")
    parser.add_argument("--write", action="store_true", help="write the tables into the pages")
    parser.add_argument("--bin", help="folder of bench_ops and bench_generic")
    parser.add_argument("--root", default=os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    parser.add_argument("name", nargs="*", choices=[[], *TABLES], help="only these tables")
    options = parser.parse_intermixed_args()  # names may follow options
    good = True
    with tempfile.TemporaryDirectory() as work:
        program = os.path.abspath(options.program)
        source = Source(program, options.bin or os.path.dirname(program), options.root, work)
        for name in options.name or TABLES:
            page, tolerance, function = TABLES[name]
            path = source.path(page)
            try:
                lines = function(source)
            except LeftOut as why:
                print(f"{page}: table {name} is NOT checked: {why}")
                continue
            with open(path, encoding="utf-8") as file:
                before, inside, after = parts_of(file.read(), name)
            if not options.write:
                good &= compare(name, page, inside, lines, tolerance)
                continue
            with open(path, "w", encoding="utf-8") as file:
                file.write(before + "\n\n" + "\n".join(lines) + "\n\n" + after)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
