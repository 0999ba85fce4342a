#!/usr/bin/env python3
"""How the cost of everything around the solver grows with the mechanism.

usage: growth.py --program PROGRAM [--kinds A,B] [--bodies N,N,...] [--limit S] [--instructions] [--rows] [--json FILE]
                 [--check]
       growth.py --table FILE | --table-of-rows FILE

For each kind of mechanism and number of bodies, in seconds of processor time and MB of memory:
  check       linkwork check
  csv, hdf5   from the model file to the first row: linkwork run --duration 0 -o FILE
  evaluation  of the formulation that `auto` takes, from steps of rk4
  row         a row of all columns to CSV, including its reactions
With --instructions also:
  reading     starting the program and reading the model, the part of csv that is not set-up
  text        the part of row that writes numbers
  numbers     how many of them are not 0
  columns     of the row; hdf5 less csv, what another file takes, is printed for 1000 of them, in rows
Exponents are fitted to sizes of at least 100 bodies that take at least 0.03 s and 60 MB. A command that is predicted to
take longer than the limit, from the sizes before, is left out, and so are larger sizes after one that did take longer.

--kinds         chain, tree, loop, n_four_bar, ladder, net, star, platform (all)
--bodies        numbers of bodies; nets take squares of at most 64 x 64 (1563, 6250, 25000, 100000)
--limit         seconds for one command (120)
--instructions  counts instructions (valgrind) in place of seconds: exponents without noise and caches, on machines that
                do other things, too; memory is that of csv; a command takes some 50 times as long, so the default sizes
                are 391, 1563, 6250; of nets 406, 820, 1596
--rows          counts the instructions of evaluation, row and text again, and nothing else
--json          writes what was measured, after each size; what else is in this file is kept
--check         exit status 1 if a command fails, or an exponent is above its limit: 1.15, nets 1.7
--table, --table-of-rows  print the tables of docs/benchmarks.md from such a file
"""
import argparse
import json
import math
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile

KINDS = ("chain", "tree", "loop", "n_four_bar", "ladder", "net", "star", "platform")
VALUES = ("check", "csv", "hdf5", "evaluation", "row", "memory")
READER = "lw_model_read"  # reads a model file
WRITER = "lw_csv_row"     # writes a row as text
LIMITS = {"net": 1.7}   # exponents
LIMIT = 1.15
SHORT, LIGHT = 0.03, 60  # [s], [MB] less is not used in fits: what starting the program takes
PER_SECOND = 4e9         # instructions, about
SIZES = [1563, 6250, 25000, 100000]
SIZES_COUNTED = [391, 1563, 6250]
NETS_COUNTED = [400, 800, 1600]
DEAR = ("net", "platform")  # evaluations of them: counts are of runs of 1 and 2 steps
FIRST = 100              # bodies: fewer are not used in fits
LARGEST_NET = 64
SETTING_UP = 50         # evaluations, the aim for `csv`
# Large blocks are cleared and copied by one instruction for all of it, which valgrind counts once for each byte: a tenth
# of the set-up of four-bars, in no time. Vectors are used instead.
VECTORS = {"GLIBC_TUNABLES": "glibc.cpu.x86_rep_stosb_threshold=0xffffffff:glibc.cpu.x86_rep_movsb_threshold=0xffffffff"}
STEP = 1e-9             # [s] nothing moves
FEW, STAGES = 4, 4      # steps of the short run; evaluations in a step of rk4

# ------------------------------------------------------------------------------------------ models


def rod(at, to, mass=1.0):
    """A rod of square cross section between two points, in world axes."""
    d = [b - a for a, b in zip(at, to)]
    length2 = sum(x * x for x in d)
    J = [[mass * ((1.01 * length2 if i == j else 0) - d[i] * d[j]) / 12 for j in range(3)] for i in range(3)]
    return {"mass": mass, "inertia": [J[0][0], J[1][1], J[2][2], J[0][1], J[0][2], J[1][2]],
            "position": [(a + b) / 2 for a, b in zip(at, to)]}


def star(arms):
    """A hub on a hinge, with arms on hinges around it."""
    bodies = {"hub": {"mass": 10, "inertia": [1, 1, 2, 0, 0, 0], "position": [0, 0, 0]}}
    joints = {"axle": {"type": "revolute", "between": ["ground", "hub"], "at": [0, 0, 0], "axis": [0, 0, 1]}}
    for i in range(arms):
        angle = 2 * math.pi * i / arms
        c, s = math.cos(angle), math.sin(angle)
        bodies[f"arm{i}"] = rod((c, s, 0), (2 * c, 2 * s, 0))
        joints[f"hinge{i}"] = {"type": "revolute", "between": ["hub", f"arm{i}"], "at": [c, s, 0],
                               "axis": [-s, c, 0]}
    return {"linkwork": 1, "gravity": [0, 0, -9.81], "bodies": bodies, "joints": joints}


def platform(legs):
    """A platform on legs of two rods each: universal, prismatic, spherical."""
    bodies = {"platform": {"mass": 10, "inertia": [1, 1, 2, 0, 0, 0], "position": [0, 0, 1]}}
    joints = {}
    for i in range(legs):
        angle = 2 * math.pi * i / legs
        out, side = (math.cos(angle), math.sin(angle), 0.0), (-math.sin(angle), math.cos(angle), 0.0)
        foot, tip = [1.5 * x for x in out], [x for x in out[:2]] + [1.0]
        middle = [(a + b) / 2 for a, b in zip(foot, tip)]
        along = [b - a for a, b in zip(foot, tip)]
        second = [side[1] * along[2], -side[0] * along[2], side[0] * along[1] - side[1] * along[0]]
        bodies[f"lower{i}"], bodies[f"upper{i}"] = rod(foot, middle), rod(middle, tip)
        joints[f"foot{i}"] = {"type": "universal", "between": ["ground", f"lower{i}"], "at": foot,
                              "axis": list(side), "axis2": second}
        joints[f"slide{i}"] = {"type": "prismatic", "between": [f"lower{i}", f"upper{i}"], "at": middle,
                               "axis": along, "spring": {"q0": {"stiffness": 1e3}}}
        joints[f"ball{i}"] = {"type": "spherical", "between": [f"upper{i}", "platform"], "at": tip}
    return {"linkwork": 1, "gravity": [0, 0, -9.81], "bodies": bodies, "joints": joints}


def net_side(bodies):
    """Meshes on a side of the square net with about that many bodies, n (2 n + 1)."""
    return max(1, min(LARGEST_NET, round((math.sqrt(1 + 8 * bodies) - 1) / 4)))


def model(kind, bodies):
    """The model, and its number of bodies."""
    half = max(1, (bodies - 1) // 2)
    if kind in ("chain", "tree", "loop"):
        generate, count = {kind: {"n": bodies}}, bodies
    elif kind == "n_four_bar":
        generate, count = {kind: {"n": half, "q": [0.3, 0, 0], "qd": [1, 0, 0]}}, 2 * half + 1
    elif kind == "ladder":
        generate, count = {kind: {"n": half, "q": [0.2, 0.3, 0], "qd": [0.5, 1, 0]}}, 2 * half + 1
    elif kind == "net":
        n = net_side(bodies)
        generate, count = {kind: {"n": n, "m": n, "q": [0.3, 0, 0]}}, n * (2 * n + 1)
    else:
        made = star(bodies - 1) if kind == "star" else platform(half)
        return made, len(made["bodies"])
    return {"linkwork": 1, "gravity": [0, -9.81, 0], "generate": generate}, count


# ------------------------------------------------------------------------------------ measurements


class Failed(Exception):
    """A command took too long, or failed."""


FAILURES = []  # messages of commands that failed


def run(arguments, limit):
    """Processor seconds, MB and standard output of a command."""
    def bounded():
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(limit), math.ceil(limit) + 1))
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen(arguments, stdout=out, stderr=subprocess.STDOUT, preexec_fn=bounded,
                                 env={**os.environ, **VECTORS} if arguments[0] == "valgrind" else None)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        seconds = usage.ru_utime + usage.ru_stime
        out.seek(0)
        text = out.read().decode()
    if child.returncode > 0:
        FAILURES.append(f"{' '.join(arguments)}: {text[-300:]}")
        print(FAILURES[-1], file=sys.stderr)
    if child.returncode or seconds > limit:
        raise Failed
    return seconds, usage.ru_maxrss / 1024, text


def count(arguments, limit, function=None):
    """The same with instructions in place of seconds and of MB: those in a function of the program, with what it calls."""
    with tempfile.NamedTemporaryFile("r", suffix=".callgrind") as file:
        tool = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={file.name if function else '/dev/null'}"]
        _, _, text = run(tool + arguments, limit)
        inside = inclusive(file, function) if function else 0
    return float(re.search(r"Collected : (\d+)", text).group(1)), inside, text


def inclusive(file, function):
    """Of all calls of a function in a file of callgrind."""
    names, called, calls, total = {}, None, False, 0
    for line in file:
        if line.startswith("cfn=") or line.startswith("fn="):
            number, _, name = line.split("=", 1)[1].strip().partition(" ")
            names.setdefault(number, name)
            called = names[number] if line.startswith("cfn=") else called
        elif line.startswith("calls="):
            calls = True
        elif calls:
            total += int(line.split()[1]) if called == function else 0
            calls = False
    return float(total)


def numbers_of_row(csv):
    """How many numbers of its last row are not 0, and how many there are."""
    with open(csv, encoding="ascii") as file:
        *_, row = file
    numbers = row.strip().split(",")
    return sum(number not in ("0", "-0") for number in numbers), len(numbers)


def summary(text):
    """The summary of a run among the lines of its program."""
    return json.JSONDecoder().raw_decode(text[text.index("{"):])[0]


def predicted(before, value, bodies):
    """From the sizes before: at least linear; 0 where nothing is known."""
    known = [r for r in before if value in r]
    if not known:
        return 0
    last = known[-1]
    slope = 1.0
    if len(known) > 1:
        slope = max(1.0, math.log(last[value] / known[-2][value]) / math.log(last["bodies"] / known[-2]["bodies"]))
    return last[value] * (bodies / last["bodies"])**slope


class Measurement:
    """Of one model; `before` has the smaller ones of its kind."""

    def __init__(self, arguments, kind, path, bodies, before):
        self.program, self.path, self.bodies, self.before = arguments.program, path, bodies, before
        self.meter = count if arguments.instructions else run
        self.rows = arguments.rows
        self.limit, self.unit = arguments.limit, PER_SECOND if arguments.instructions else 1.0
        self.slow = 50 if arguments.instructions else 1  # seconds for one
        self.found, self.memory = {"bodies": bodies}, 0.0
        self.few = 1 if arguments.instructions and kind in DEAR else FEW

    def left_out(self, name):
        """True where the limit would not suffice; a size that has no value ends its column."""
        if self.before and name not in self.before[-1]:
            return True
        if self.slow * predicted(self.before, name, self.bodies) / self.unit <= self.limit:
            return False
        print(f"{self.path}: {name} left out: predicted above {self.limit} s", file=sys.stderr)
        return True

    def command(self, name, arguments):
        if self.left_out(name):
            return
        try:
            if self.meter is run:
                self.found[name], used, _ = run([self.program] + arguments, self.limit)
                self.memory = max(self.memory, used)
            elif name == "csv":
                self.found[name], inside, _ = count([self.program] + arguments, self.limit, READER)
                self.found["reading"] = inside + count([self.program, "--version"], self.limit)[0]
            else:
                self.found[name] = count([self.program] + arguments, self.limit)[0]
        except Failed:
            pass

    def arguments_of_steps(self, csv, number, rows):
        return [self.program, "run", self.path, "--json", "--integrator", "rk4", "--step", repr(STEP), "--duration",
                repr(number * STEP), "--sample", repr(number // (rows - 1) * STEP), "-o", csv]

    def steps(self, csv, number, rows, function=None):
        """A run of so many steps."""
        arguments = self.arguments_of_steps(csv, number, rows)
        return count(arguments, self.limit, function) if self.meter is count else run(arguments, self.limit)

    def more_steps(self):
        """So many that they take about as long as the set-up, from the size before."""
        if self.meter is count:
            return 2 * self.few if self.few < FEW else 4 * FEW
        if not self.before or not self.before[-1].get("evaluation", 0) > 0:
            return 4 * FEW
        evaluation = predicted(self.before, "evaluation", self.bodies)
        return FEW * max(4, math.ceil(min(self.found["csv"], self.limit / 4) / (STAGES * FEW * evaluation)))

    def evaluation_and_row(self, csv):
        if self.left_out("row"):
            return
        few_steps = self.few
        try:
            few, text_of_few, text = self.steps(csv, few_steps, 2, WRITER)
            self.found["formulation"] = summary(text)["options"]["formulation"]
            number = self.more_steps()
            more = self.steps(csv, number, 2)[0]
            enough = 0 if self.meter is count else max(self.found["csv"] / 2, SHORT)
            while more - few < min(enough, self.limit / 4):
                number *= 4
                more = self.steps(csv, number, 2)[0]
            self.found["evaluation"] = (more - few) / (STAGES * (number - few_steps))
            rows = max(2, few_steps) if self.meter is count else 4 * FEW  # seconds are noisy
            steps = STAGES * (rows - few_steps) * self.found["evaluation"]
            all_rows, text, _ = self.steps(csv, rows, rows + 1, WRITER)
            row = (all_rows - few - steps) / (rows - 1)
            if row > 0:
                self.found["row"] = row
            if self.meter is count:
                self.found["text"] = (text - text_of_few) / (rows - 1)
                self.found["numbers"], self.found["columns"] = numbers_of_row(csv)
        except Failed:
            pass

    def memory_of_counts(self, csv):
        """That of valgrind would be another."""
        if self.meter is run or "csv" not in self.found:
            return
        try:
            self.memory = run([self.program, "run", self.path, "--quiet", "--duration", "0", "-o", csv], self.limit)[1]
        except Failed:
            pass

    def all(self):
        """The values of the model; those that take too long are left out."""
        with tempfile.TemporaryDirectory() as folder:
            if self.rows:
                csv = os.path.join(folder, "x.csv")
                self.evaluation_and_row(csv)
                return self.found
            csv, h5 = os.path.join(folder, "x.csv"), os.path.join(folder, "x.h5")
            self.command("check", ["check", self.path])
            self.command("csv", ["run", self.path, "--quiet", "--duration", "0", "-o", csv])
            self.memory_of_counts(csv)
            self.command("hdf5", ["run", self.path, "--quiet", "--duration", "0", "-o", h5])
            if "csv" in self.found:
                self.evaluation_and_row(csv)
        return {**self.found, "memory": self.memory}


def stored(path):
    if not path or not os.path.exists(path):
        return {"instructions": None, "results": []}
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def merged(arguments, results):
    """What is in the file, with what was measured in place of it."""
    before = stored(arguments.json)
    if before["instructions"] not in (None, arguments.instructions):
        sys.exit(f"{arguments.json}: has {'instructions' if before['instructions'] else 'seconds'}")
    of = {(r["kind"], r["bodies"]): r for r in before["results"]}
    for r in results:
        key = r["kind"], r["bodies"]
        of[key] = {**of.get(key, {}), **r} if arguments.rows else r
    return sorted(of.values(), key=lambda r: (KINDS.index(r["kind"]), r["bodies"]))


def write(arguments, results):
    if arguments.json:
        found = {"instructions": arguments.instructions, "results": merged(arguments, results)}
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(found, file, indent=1)
            file.write("\n")


def default_sizes(kind, instructions):
    if not instructions:
        return SIZES
    return NETS_COUNTED if kind == "net" else SIZES_COUNTED


def measure_all(arguments):
    results = []
    for kind in arguments.kinds:
        before = []
        for bodies in arguments.bodies or default_sizes(kind, arguments.instructions):
            made, number = model(kind, bodies)
            if before and number == before[-1]["bodies"]:
                continue
            with tempfile.NamedTemporaryFile("w", prefix=f"{kind}-{number}-", suffix=".yaml") as file:
                json.dump(made, file)
                file.flush()
                found = Measurement(arguments, kind, file.name, number, before).all()
            before.append(found)
            results.append({"kind": kind, **found})
            print(json.dumps(results[-1]), flush=True)
            write(arguments, results)
    return results


# --------------------------------------------------------------------------------------------- fits


def exponent(results, kind, value, unit):
    """Slope of log(value) over log(bodies); None with fewer than two sizes that take long enough."""
    points = [(math.log(r["bodies"]), math.log(r[value])) for r in results
              if r["kind"] == kind and r["bodies"] >= FIRST and r.get(value, 0) > 0 and is_long(r, value, unit)]
    if len(points) < 2:
        return None
    x, y = (sum(p[i] for p in points) / len(points) for i in (0, 1))
    return sum((a - x) * (b - y) for a, b in points) / sum((a - x)**2 for a, _ in points)


def is_long(result, value, unit):
    short = LIGHT if value == "memory" else unit * (SHORT / 1000 if value == "evaluation" else SHORT)
    return result[value] > short


def exceeding(results, unit):
    """What grows faster than its limit."""
    kinds = list(dict.fromkeys(r["kind"] for r in results))
    return [(kind, value, e) for kind in kinds for value in VALUES
            for e in [exponent(results, kind, value, unit)] if e and e > LIMITS.get(kind, LIMIT)]


def cell(result, value):
    if value not in result or (value == "memory" and not result[value]):
        return "–"
    return f"{result[value]:.0f}" if value == "memory" else f"{result[value]:.2g}"


def evaluations(result, value):
    """A value as a multiple of an evaluation."""
    if value not in result or not result.get("evaluation", 0) > 0:
        return "–"
    ratio = result[value] / result["evaluation"]
    return f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.1f}"


def rows_for_file(result):
    """What a file of HDF5 takes more than one of CSV, for 1000 columns, in rows to CSV."""
    if not all(v in result for v in ("hdf5", "csv", "row", "columns")):
        return "–"
    return f"{(result['hdf5'] - result['csv']) / result['row'] / (result['columns'] / 1000):.2g}"


def print_rows(results):
    print("| kind | bodies | `auto` | evaluation | row | of which text | numbers | text, instr. a number "
          "| row, evaluations | text, evaluations | without text |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for r in results:
        if "text" not in r:
            continue
        r["bare"] = r["row"] - r["text"]
        each = f"{r['text'] / r['numbers']:.0f}" if "numbers" in r else "–"
        print(f"| {r['kind']} | {r['bodies']} | `{r.get('formulation', '–')}` | "
              + " | ".join(cell(r, v) for v in ("evaluation", "row", "text"))
              + f" | {r.get('numbers', '–')} | {each} | "
              + " | ".join(evaluations(r, v) for v in ("row", "text", "bare")) + " |")


def print_tables(results, instructions):
    unit, name = (PER_SECOND, "instr.") if instructions else (1.0, "s")
    print(f"| kind | bodies | `auto` | `check` {name} | to CSV {name} | to HDF5 {name} | evaluation {name} | row {name} "
          "| MB | to CSV, evaluations | of which reading | row, evaluations"
          + (" | of which text | HDF5 file, rows a 1000 columns |" if instructions else " |"))
    print("|---|---|---|---|---|---|---|---|---|---|---|---|" + ("---|---|" if instructions else ""))
    for r in results:
        print(f"| {r['kind']} | {r['bodies']} | `{r.get('formulation', '–')}` | "
              + " | ".join(cell(r, v) for v in VALUES) + " | "
              + " | ".join(evaluations(r, v) for v in ("csv", "reading", "row"))
              + (f" | {evaluations(r, 'text')} | {rows_for_file(r)} |" if instructions else " |"))
    print("\n| exponent | " + " | ".join(VALUES) + " | limit |\n|---|" + "---|" * (len(VALUES) + 1))
    for kind in dict.fromkeys(r["kind"] for r in results):
        fits = [exponent(results, kind, v, unit) for v in VALUES]
        print(f"| {kind} | " + " | ".join("–" if e is None else f"{e:.2f}" for e in fits)
              + f" | {LIMITS.get(kind, LIMIT)} |")
    above = exceeding(results, unit)
    print("\nAbove the limit: " + (", ".join(f"{k} {v} {e:.2f}" for k, v, e in above) or "none") + ".")
    return above


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--program")
    parser.add_argument("--kinds", type=lambda s: s.split(","), default=list(KINDS))
    parser.add_argument("--bodies", type=lambda s: [int(n) for n in s.split(",")])
    parser.add_argument("--limit", type=float, default=120)
    parser.add_argument("--instructions", action="store_true")
    parser.add_argument("--rows", action="store_true")
    parser.add_argument("--json")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--table")
    parser.add_argument("--table-of-rows")
    arguments = parser.parse_args()
    if arguments.table_of_rows:
        print_rows(stored(arguments.table_of_rows)["results"])
        return
    if not arguments.table and not arguments.program:
        parser.error("--program or --table is needed")
    arguments.instructions = arguments.instructions or arguments.rows
    if arguments.instructions and not shutil.which("valgrind"):
        parser.error("--instructions: there is no valgrind")
    if arguments.table:
        read = stored(arguments.table)
        results, arguments.instructions = read["results"], read["instructions"]
    else:
        results = measure_all(arguments)
        write(arguments, results)
    if arguments.rows:
        print_rows(results)
        sys.exit(1 if arguments.check and FAILURES else 0)
    above = print_tables(results, arguments.instructions)
    sys.exit(1 if arguments.check and (above or FAILURES) else 0)


if __name__ == "__main__":
    main()
