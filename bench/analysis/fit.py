#!/usr/bin/env python3
"""The Jacobian of a fit by differences of runs and by forward sensitivities, and which of them `--method auto` takes: a table.

usage: fit.py --program LINKWORK [--cases A,B] [--by 1,2,4,16] [--rows 10,100] [--repeat 3]

Mechanisms: those of adjoint.py, and the linkage and the platform of examples/design. The data are rows of the model's own run.
Seconds are those of one evaluation of residuals and Jacobian by one thread (`seconds` of `linkwork optimize --evaluations 1`),
the least of interleaved repetitions. The constants FORWARD_* of src/analysis/response.c are read off this table.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "examples" / "design")]
import adjoint  # noqa: E402
import design  # noqa: E402

METHODS = "differences", "forward", "auto"
DESIGNS = {"linkage": (design.LINKAGE, "marker.pen.x,marker.pen.y"), "platform": (design.PLATFORM, ",".join(design.COLUMNS))}
DURATIONS = {"four-bar": 1, "stewart": 0.2, "chain-64": 0.2, "springs-16": 0.3, "linkage": 1, "platform": 1}


def problem(name, folder):
    """The model, its column, and ranges of parameters."""
    if name in DESIGNS:
        ranges, columns = DESIGNS[name]
        return pathlib.Path(design.path(f"{name}.yaml")), columns, [f"{k}={a}:{b}" for k, (a, b) in ranges.items()]
    path, by, column = adjoint.write(folder, name, 1)
    values = dict(re.findall(r"^  (\w+): (-?[\d.e-]+)", path.read_text(), re.MULTILINE))
    width = {k: 0.05 * abs(float(values[k])) or 0.01 for k in by}
    return path, column, [f"{k}={float(values[k]) - width[k]}:{float(values[k]) + width[k]}" for k in by]


def evaluate(program, path, table, vary, method):
    command = [program, "optimize", str(path), "--fit", str(table), "--method", method, "--evaluations", "1", "--threads", "1",
               "--json", *(word for one in vary for word in ("--vary", one))]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 1) or "{" not in done.stdout:
        sys.exit(f"fit.py: {' '.join(command)}: exit {done.returncode}\n{done.stderr}")
    found = json.loads(done.stdout)
    return found["seconds"], found["gradient"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--cases", default=",".join(DURATIONS))
    parser.add_argument("--by", default="1,2,4,16")
    parser.add_argument("--rows", default="10,100")
    parser.add_argument("--repeat", type=int, default=3)
    a = parser.parse_args()
    print(f"{'case':10} {'rows':>5} {'parameters':>10} {'differences':>11} {'forward':>9} {'ratio':>6}  auto takes")
    with tempfile.TemporaryDirectory() as folder:
        for name in a.cases.split(","):
            path, columns, ranges = problem(name, folder)
            for rows in map(int, a.rows.split(",")):
                table = pathlib.Path(folder) / "rows.csv"
                subprocess.run([a.program, "run", str(path), "--duration", str(DURATIONS[name]), "--sample",
                                str(DURATIONS[name] / rows), "--columns", columns, "-o", str(table), "--quiet"], check=True)
                for count in sorted({min(int(n), len(ranges)) for n in a.by.split(",")}):
                    vary = ranges[:: len(ranges) // count][:count]
                    turns = [[evaluate(a.program, path, table, vary, m) for m in METHODS] for _ in range(a.repeat)]
                    least = [min(turn[i][0] for turn in turns) for i in range(len(METHODS))]
                    print(f"{name:10} {rows:5} {count:10} {least[0]:11.3g} {least[1]:9.3g} {least[1] / least[0]:6.2f}  "
                          f"{turns[0][2][1]}", flush=True)


if __name__ == "__main__":
    main()
