#!/usr/bin/env python3
"""How long steps of `index3` in real-time mode take, and that they all do the same work.

usage: steps.py --program PROGRAM [--count N] [--step H] [--instructions N] [--threads N] [--priority N]
                [--json FILE] [MODEL...]
       steps.py --table FILE

For each model: N steps (default 10000) without rows in between; median, 99 %, 99.9 % and largest wall time
of a step, and what was late.  With --instructions the same under callgrind for that many steps: fewest and
most instructions of a step.  Valgrind counts the instructions of machines without AVX-512.  --priority runs
the program as SCHED_FIFO (chrt), which needs the right to.  Without MODEL: the cases of docs/real-time.md, whose table
--table prints from such a file.

Exit status: 0; 1 when a run fails, or when instructions of a MODEL differ by more than 1 %.
"""
import argparse
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

SAME = 0.01  # steps may differ by so much
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PENDULUM = """linkwork: 1
gravity: [0, -9.81, 0]
bodies:
  A: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [0.5, 0, 0]}
  B: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [1.5, 0, 0]}
joints:
  J1: {type: revolute, between: [ground, A], at: [0, 0, 0], axis: [0, 0, 1], %s}
  J2: {type: revolute, between: [A, B], at: [1, 0, 0], axis: [0, 0, 1], %s}
"""
LIMITS = "limits: {q0: {lower: -0.3, upper: 0.3, stiffness: 1e4, damping: 20}}"
FRICTION = "friction: {q0: {coulomb: 4, viscous: 0.1, speed: 0.001}}"


def cases(folder):
    """{name: path} of the models in docs/real-time.md."""
    sys.path.insert(0, os.path.join(ROOT, "examples/index3-2019"))
    import cases as paper  # pylint: disable=import-outside-toplevel
    found = {"chain of 128 balls": paper.write(folder, "chain-128")["chain-128"],
             "four-bar through its singular position": paper.write(folder, "four-bar-I")["four-bar-I"],
             "cart with arm, springs, a force of time": os.path.join(ROOT, "examples/models/cart_arm.yaml")}
    for name, what in (("double pendulum", "q: [0]"), ("double pendulum, limits of both hinges", LIMITS),
                       ("double pendulum, dry friction in both hinges", FRICTION)):
        found[name] = os.path.join(folder, f"pendulum-{len(found)}.yaml")
        with open(found[name], "w", encoding="utf-8") as file:
            file.write(PENDULUM % (what, what))
    return found


def command(program, model, count, step, threads=1, priority=0):
    end = repr(count * step)
    first = ["chrt", "-f", str(priority)] if priority else []
    return [*first, program, "run", model, "--real-time", "--step", repr(step), "--duration", end,
            "--sample", end, "--threads", str(threads), "--json"]


def times(program, model, count, step=0.01, threads=1, priority=0):
    """Wall times [s] of so many steps: the program's `step_times`, and its report."""
    done = subprocess.run(command(program, model, count, step, threads, priority), capture_output=True,
                          text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{model}: {done.stderr.strip()}")
    summary = json.loads(done.stdout)
    return {**summary["step_times"], "report": summary["report"]}


def instructions(program, model, count, step=0.01):
    """Instructions of each of so many steps under callgrind, in order."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "step")
        done = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}",
                               "--toggle-collect=lwi_index3_step", "--dump-after=lwi_index3_step",
                               *command(program, model, count, step)], capture_output=True, text=True,
                              check=False)
        if done.returncode:
            raise RuntimeError(f"{model}: {done.stderr.strip()}")
        counts = []
        for path in sorted(glob.glob(out + ".*"), key=lambda p: int(p.rpartition(".")[2])):
            with open(path, encoding="utf-8") as file:
                counts.append(int(re.search(r"^(?:summary|totals): (\d+)", file.read(), re.M).group(1)))
    return [c for c in counts if c > 0][:count]


def measure(program, model, count, step, threads=1, counted=0, priority=0, name=None):
    found = {"model": name or os.path.basename(model),
             **times(program, model, count, step, threads, priority)}
    if counted:
        seen = instructions(program, model, counted, step)
        found["instructions"] = {"steps": len(seen), "least": min(seen), "most": max(seen),
                                 "spread": max(seen) / min(seen) - 1}
    return found


def tell(found):
    text = (f"{found['model']}: {found['steps']} steps; median {1e6 * found['median']:.3g} us, 99 % "
            f"{1e6 * found['p99']:.3g} us, 99.9 % {1e6 * found['p999']:.3g} us, at most "
            f"{1e6 * found['worst']:.3g} us; {found['slow']} took longer than they simulate")
    if "instructions" in found:
        i = found["instructions"]
        text += f"\n    {i['steps']} steps of {i['least']} to {i['most']} instructions ({100 * i['spread']:.2g} %)"
    return text


def print_table(all_found):
    print("| steps | fewest instructions | most | difference |\n|---|---|---|---|")
    for i in (f for f in all_found if "instructions" in f):
        n = i["instructions"]
        print(f"| {i['model']} | {n['least']} | {n['most']} | {100 * n['spread']:.2g} % |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--program")
    parser.add_argument("--count", type=int, default=10000, help="steps that are timed")
    parser.add_argument("--step", type=float, default=0.01, help="length of a step [s]")
    parser.add_argument("--instructions", type=int, default=0, help="steps that are counted by callgrind")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--priority", type=int, default=0, help="1 to 99, as SCHED_FIFO")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--table", metavar="FILE")
    parser.add_argument("model", nargs="*")
    a = parser.parse_args()
    if a.table:
        with open(a.table, encoding="utf-8") as file:
            print_table(json.load(file))
        return 0
    if not a.program:
        parser.error("--program is missing")
    all_found = []
    with tempfile.TemporaryDirectory() as folder:
        for name, model in [(None, m) for m in a.model] or cases(folder).items():
            try:
                all_found.append(measure(a.program, model, a.count, a.step, a.threads, a.instructions,
                                         a.priority, name))
            except RuntimeError as failure:
                print(failure, file=sys.stderr)
                return 1
            print(tell(all_found[-1]), flush=True)
    if a.json:
        with open(a.json, "w", encoding="utf-8") as file:
            json.dump(all_found, file, indent=1)
            file.write("\n")
    return int(bool(a.model) and any(f["instructions"]["spread"] > SAME for f in all_found if "instructions" in f))


if __name__ == "__main__":
    sys.exit(main())
