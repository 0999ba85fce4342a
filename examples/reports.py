"""What the studies in these folders share: runs of the program, statements that hold or do not, tables, templates.

They put this folder on their path: `sys.path.append(os.path.join(HERE, ".."))`.
"""
import csv
import json
import math
import os
import re
import subprocess
import sys


class Study:
    """Runs the program in a folder, counts the statements that do not hold."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.failed = 0
        self.told = sys.stdout  #: where statements are printed
        self.why = ""  #: what the last run said that broke down

    def hold(self, statement, true):
        """Checks a statement of the report."""
        print(("  " if true else "! ") + statement, file=self.told, flush=True)
        self.failed += not true

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        """A file of the study's folder; its path."""
        path = self.path(name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def summary(self, model, *options, may_break=False):
        """Summary of a run; None where it may break down, and does."""
        done = subprocess.run([self.program, "run", model, "--json", *options], capture_output=True, text=True,
                              check=False)
        if may_break and done.returncode == 1:
            self.why = done.stderr
            return None
        if done.returncode:
            raise RuntimeError(done.stderr)
        return json.loads(done.stdout)

    def plot(self, output, files, panels, *extra):
        """A picture of files of columns, a panel each."""
        panels = [word for panel in panels for word in ("--y", panel)]
        subprocess.run([self.program, "plot", *files, *panels, *extra, "-o", output], check=True, capture_output=True)


def read_table(path, wanted=None):
    """{column: values}; only some of the columns, where a test of their names is given."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = csv.reader(file)
        head = next(rows)
        chosen = [i for i, name in enumerate(head) if wanted is None or name == "time" or wanted(name)]
        values = [[float(row[i]) for i in chosen] for row in rows]
    return dict(zip((head[i] for i in chosen), zip(*values)))


def write_table(path, columns):
    """A result file of {column: values}; its path."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(columns)
        out.writerows(zip(*columns.values()))
    return path


def exponent(x, y):
    """Slope of the straight line through the logarithms."""
    x, y = [math.log(a) for a in x], [math.log(b) for b in y]
    mx, my = sum(x) / len(x), sum(y) / len(y)
    return sum((a - mx) * (b - my) for a, b in zip(x, y)) / sum((a - mx) ** 2 for a in x)


def power(x, digits=1, none="–"):
    """A number in a table as 1.2e-03."""
    return none if x is None else f"{x:.{digits}e}"


def table(head, rows):
    """Of Markdown."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(c) for c in row) + " |" for row in rows])


def fill(folder, parts):
    """The template report.md.in of a folder with {{its parts}}."""
    with open(os.path.join(folder, "report.md.in"), encoding="utf-8") as file:
        text = file.read()
    for key, value in parts.items():
        text = text.replace("{{" + key + "}}", value)
    left = re.findall(r"\{\{.*?\}\}", text)
    if left:
        raise RuntimeError(f"the report asks for {left}")
    return text
