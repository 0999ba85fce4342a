"""Runs of the program, their results, and what is measured on them."""
import math
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "bench", "steps"))
sys.path.append(os.path.join(HERE, ".."))

import reports
from reports import read_table

H = 0.01  # step [s]
SIZES = [2 ** k for k in range(1, 13)]  # links of the chains that are timed; the paper's end at 1024


class Study(reports.Study):
    def run(self, model, formulation, duration, sample, *options, name="run", columns=None):
        """Summary of a run (None: it broke down), and its table."""
        output = self.path(name + ".csv")
        summary = self.summary(model, "--formulation", formulation, "--duration", repr(duration), "--sample",
                               repr(sample), "-o", output, *options, may_break=True)
        if summary is None:
            print("  " + self.why.strip().splitlines()[0])
            return None, None
        return summary, read_table(output, columns)

    def index3(self, model, method, h, duration, sample=None, name="index3", columns=None):
        return self.run(model, "index3", duration, sample or h, "--step", repr(h), "--index3", method,
                        name=name, columns=columns)

    def exact(self, model, formulation, duration, sample, name="exact", tolerance=1e-12, columns=None):
        t = repr(tolerance)
        return self.run(model, formulation, duration, sample, "--integrator", "verner87", "--rtol", t,
                        "--atol", t, "--project", "always", name=name, columns=columns)


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


def power(x):
    return reports.power(x, digits=2)


def micro(x):
    return f"{1e6 * x:.3g}"
