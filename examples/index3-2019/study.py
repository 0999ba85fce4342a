"""Runs of the program, their results, and what is measured on them."""
import csv
import json
import math
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "bench", "steps"))


class Study:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.failed = 0

    def hold(self, statement, true):
        """Checks a statement of the report."""
        print(("  " if true else "! ") + statement, flush=True)
        self.failed += not true

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, model, formulation, duration, sample, *options, name="run", columns=None):
        """Summary of a run (None: it broke down), and its table."""
        output = self.path(name + ".csv")
        done = subprocess.run([self.program, "run", model, "--json", "--formulation", formulation,
                               "--duration", repr(duration), "--sample", repr(sample), "-o", output,
                               *options], capture_output=True, text=True, check=False)
        if done.returncode == 1:
            print("  " + done.stderr.strip().splitlines()[0])
            return None, None
        if done.returncode:
            raise RuntimeError(done.stderr)
        return json.loads(done.stdout), read_table(output, columns)

    def index3(self, model, method, h, duration, sample=None, name="index3", columns=None):
        return self.run(model, "index3", duration, sample or h, "--step", repr(h), "--index3", method,
                        name=name, columns=columns)

    def exact(self, model, formulation, duration, sample, name="exact", tolerance=1e-12, columns=None):
        t = repr(tolerance)
        return self.run(model, formulation, duration, sample, "--integrator", "verner87", "--rtol", t,
                        "--atol", t, "--project", "always", name=name, columns=columns)

    def knows(self, method):
        """Is there such a method?"""
        model = self.path("knows.yaml")
        with open(model, "w", encoding="utf-8") as file:
            file.write("linkwork: 1\nbodies: {a: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}}\n"
                       "joints: {j: {type: spherical, between: [ground, a], at: [0, 0, 0]}}\n")
        done = subprocess.run([self.program, "run", model, "--formulation", "index3", "--step", "0.01",
                               "--duration", "0.01", "--index3", method], capture_output=True,
                              check=False)
        return done.returncode == 0

    def plot(self, output, files, panels, *extra):
        panels = [word for panel in panels for word in ("--y", panel)]
        subprocess.run([self.program, "plot", *files, *panels, *extra, "-o", output], check=True,
                       capture_output=True)

    def write(self, name, columns):
        """A result file of the columns given."""
        path = self.path(name + ".csv")
        with open(path, "w", newline="", encoding="utf-8") as file:
            out = csv.writer(file)
            out.writerow(columns)
            out.writerows(zip(*columns.values()))
        return path


def read_table(path, wanted=None):
    """{column: values}; only some of the columns, where a test of their names is given."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = csv.reader(file)
        head = next(rows)
        chosen = [i for i, name in enumerate(head) if wanted is None or name == "time" or wanted(name)]
        values = [[float(row[i]) for i in chosen] for row in rows]
    return dict(zip((head[i] for i in chosen), zip(*values)))


def vectors(table, of, letters="xyz"):
    return list(zip(*(table[of + c] for c in letters)))


def distance(a, b):
    return max(math.dist(x, y) for x, y in zip(a, b))


def energy(table):
    """Change of the total energy, row by row."""
    return [e - table["sys.E"][0] for e in table["sys.E"]]


def largest_difference(a, b, wanted):
    """Largest difference of the columns that are wanted."""
    return max(abs(x - y) for name in a if name in b and wanted(name) for x, y in zip(a[name], b[name]))


def four_bar_angle(times, down):
    """phi of the rhombus, phi'' = +-(2 g / 3.5) cos phi from 45 degrees at rest: classical Runge-Kutta with
    steps of a millisecond, whose own error is below 1e-10."""
    k = (1 if down else -1) * 2 * 9.81 / 3.5
    h, t, phi, rate, found = 1e-3, 0, math.pi / 4, 0.0, []
    for wanted in times:
        while t < round(wanted / h):
            a1 = k * math.cos(phi)
            a2 = k * math.cos(phi + h / 2 * rate)
            a3 = k * math.cos(phi + h / 2 * (rate + h / 2 * a1))
            a4 = k * math.cos(phi + h * (rate + h / 2 * a2))
            phi += h * rate + h * h / 6 * (a1 + a2 + a3)
            rate += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
            t += 1
        found.append(phi)
    return found


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(c) for c in row) + " |" for row in rows])


def power(x):
    return "–" if x is None else f"{x:.2e}"


def micro(x):
    return f"{1e6 * x:.3g}"
