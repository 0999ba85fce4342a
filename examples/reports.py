"""What the studies in these folders share: runs of the program, statements that hold or do not, stored numbers, pages.

They put this folder on their path: `sys.path.append(os.path.join(HERE, ".."))`.
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


def processor(program):
    """Of the machine that times are measured on, compiler and version."""
    done = subprocess.run([program, "bench", "--case", "chain-7", "--samples", "1", "--json"], capture_output=True,
                          text=True, check=True)
    info = json.loads(done.stdout)
    return f"{info['cpu']}, {info['compiler']}, linkwork {info['version']}"


# ------------------------------------------------------------------------------------ stored numbers

SAY = {True: "yes", False: "no", None: "–"}  # None: not measured


def stored(folder, name="results.json"):
    """The results of the last full run."""
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return json.load(file)


def rounded(value):
    """Six digits of every number: more than a page shows."""
    if isinstance(value, dict):
        return {str(key): rounded(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(item) for item in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def store(folder, results, name="results.json"):
    """Writes results one entry of the second level a line; what stored() then returns."""
    lines = []
    for key, value in results.items():
        text = json.dumps(rounded(value), ensure_ascii=False)
        if isinstance(value, dict):
            parts = [f"  {json.dumps(str(k))}: {json.dumps(rounded(v), ensure_ascii=False)}" for k, v in value.items()]
            text = "{\n" + ",\n".join(parts) + "\n }"
        lines.append(f" {json.dumps(key)}: {text}")
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write("{\n" + ",\n".join(lines) + "\n}\n")
    return stored(folder, name)


def differences(found, known, tolerance, path=()):
    """What was found and is not what is stored; a quick run finds less than is stored.  tolerance(path): relative and
    absolute tolerance of a number."""
    if isinstance(found, dict):
        return [text for key, value in found.items()
                for text in (differences(value, known[key], tolerance, (*path, key)) if key in known else
                             [".".join((*path, key)) + " is not stored"])]
    if isinstance(found, list):
        return [text for i, value in enumerate(found) for text in differences(value, known[i], tolerance, (*path, str(i)))]
    name = ".".join(path)
    if isinstance(found, str) or None in (found, known):
        return [] if found == known else [f"{name}: {found}, stored {known}"]
    relative, absolute = tolerance(path)
    if abs(found - known) <= max(absolute, relative * abs(known)):
        return []
    return [f"{name}: {found:.3g}, stored {known:.3g}"]


class Report:
    """A study whose page is made from its results.json alone; `--quick` finds numbers or a page that differ."""

    here = None     #: folder of the study: results.json, report.md.in
    page_file = None  #: the page, from the root of the repository
    pictures = None   #: folder of its pictures
    about = ""
    statements = "the paper says"  #: head of the answers

    def options(self, parser):
        """More options of the program."""

    def begin(self, options):
        """Before anything is measured."""

    def measure(self, study, options):
        """Numbers that do not depend on the machine, options.quick: some of them."""
        raise NotImplementedError

    def measure_times(self, study, options):
        """Numbers that do, and which machine it is; None: there are none."""

    def draw(self, study, results):
        """Pictures of what measure() did."""

    def draw_times(self, study, results):
        """Pictures of times."""

    def answers(self, results):
        """[(a statement, the answer for which the text of the page is written, the answer, the numbers)]"""
        raise NotImplementedError

    def parts(self, results):
        """{name: text} of the template."""
        raise NotImplementedError

    def tolerance(self, path):
        """Relative and absolute, of a stored number that is measured again."""
        return 0.25, 1e-9

    study = Study

    def page(self, results):
        verdicts = table([self.statements, "here", ""],
                         [[what, SAY[holds], text] for what, _, holds, text in self.answers(results)])
        return fill(self.here, {"answers": verdicts, **self.parts(results)})

    def check(self, study, results):
        for what, expected, holds, text in self.answers(results):
            study.hold(f"{what}: {SAY[holds]}, {text}", holds == expected)

    def path(self, name):
        return os.path.join(self.here, "..", "..", name)

    def quick(self, study, options):
        results = stored(self.here)
        found = rounded(self.measure(study, options))
        off = differences(found, results["accuracy"], self.tolerance)
        study.hold("the numbers are those of results.json" + "".join("\n    " + text for text in off), not off)
        self.check(study, results)
        with open(self.path(self.page_file), encoding="utf-8") as file:
            study.hold("the page is made from results.json (report.py --render)", file.read() == self.page(results))

    def full(self, study, options):
        results = stored(self.here) if os.path.exists(os.path.join(self.here, "results.json")) else {}
        if self.pictures:
            os.makedirs(self.path(self.pictures), exist_ok=True)
        if not (options.times or options.render):
            results["accuracy"] = self.measure(study, options)
            self.draw(study, results)
        if not (options.accuracy or options.render):
            results["times"] = self.measure_times(study, options)
            self.draw_times(study, results)
        results = store(self.here, results)
        self.check(study, results)
        with open(self.path(self.page_file), "w", encoding="utf-8") as file:
            file.write(self.page(results))

    def main(self):
        """The program: its exit status."""
        parser = argparse.ArgumentParser(description=self.about)
        parser.add_argument("--program", required=True)
        part = parser.add_mutually_exclusive_group()
        for name, what in (("quick", "what the tests run: compares, writes nothing"), ("accuracy", "keep the stored times"),
                           ("times", "keep the stored numbers"), ("render", "only make the page")):
            part.add_argument("--" + name, action="store_true", help=what)
        self.options(parser)
        options = parser.parse_args()
        with tempfile.TemporaryDirectory() as folder:
            study = self.study(os.path.abspath(options.program), folder)
            self.begin(options)
            (self.quick if options.quick else self.full)(study, options)
        return 1 if study.failed else 0
