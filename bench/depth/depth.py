#!/usr/bin/env python3
"""What the busiest thread executes for an evaluation.

usage: depth.py --program BENCH_DEPTH [--cases A,B] [--formulations A,B | --rows] [--threads N,N,...] [--json FILE]
       depth.py --program BENCH_DEPTH --times [--rounds N] [--threads N,N,...] [--json FILE]
       depth.py --table FILE | --table-of-times FILE

Instructions of every thread for one evaluation, of index3 one step, by valgrind --tool=callgrind
--separate-threads=yes; bench_depth starts counting after a first one.  What threads execute while they wait is left
out.  These counts do not depend on the machine's number of processors, nor on what else it runs; they do not see caches
and memory.  A copy of long rows by one instruction of the processor counts as its loop in the C library, which would
otherwise count once for each byte.

--cases         see CASES below (all)
--formulations  those of the case: hdca,dca,index3, of trees momenta,aba too; with :row (hdca:row) a row of results with
                all reactions instead
--rows          rows of results of the case in place of evaluations
--threads       1,2,4,8,16
--json          writes what was measured; earlier results in this file are kept
--times         instead: wall-clock time of an evaluation, the least of --rounds runs (3) of bench_depth, which take turns;
                for a machine that does nothing else and has as many processors (threads: 1,2)
--table, --table-of-times  print the tables of docs/benchmarks.md from such a file
"""
import argparse
import glob
import json
import math
import os
import re
import subprocess
import sys
import tempfile

# generate:, plan, and the step of index3 where that of bench_depth is too long: Newton's iteration diverges
CASES = {
    "chain 4000": ({"chain": {"n": 4000, "seed": 1}}, "auto"),
    "chain 131072": ({"chain": {"n": 131072, "seed": 1}}, "auto", "1e-4"),
    "balls 4000": ({"chain": {"n": 4000, "joint": "spherical", "qd": [0, 0, 0.1]}}, "balanced"),
    "tree 4000": ({"tree": {"n": 4000, "seed": 1}}, "balanced"),
    "ladder 2000": ({"ladder": {"n": 2000, "q": [0.2, 0.3, 0], "qd": [0.5, 1, 0]}}, "balanced"),
    "net 32": ({"net": {"n": 32, "m": 32, "q": [0.3, 0, 0], "qd": [0, 0, 1]}}, "auto"),
}
FORMULATIONS = ["hdca", "dca", "index3"]
OF_TREES = {"tree 4000": ["momenta", "aba"]}
ROWS = {case: ["hdca:row", "dca:row"] for case in CASES if case != "chain 131072"}
ROWS["tree 4000"] += ["momenta:row", "aba:row"]
WAITING = ("lwi_barrier_wait", "wait_for_task", "wait_for_end", "notify")
SYSTEM = ("pthread_", "sched_yield", "__")
NO_STRING_INSTRUCTIONS = ("glibc.cpu.x86_rep_movsb_threshold=100000000:"
                          "glibc.cpu.x86_rep_stosb_threshold=100000000")
ALLOWED = 0.06   # share of the total that the busiest thread may execute above its part


def count(path):
    """Instructions of one thread, from its file, without those of waiting functions and the system calls of these."""
    names, function, callee, all_of_them, waiting, called = {}, "", "", 0, 0, False
    with open(path, encoding="utf-8") as file:
        for line in file:
            named = re.match(r"(c?fn)=\((\d+)\)(?: (.*))?", line)
            if named:
                if named[3]:
                    names[named[2]] = named[3].split("'")[0]
                if named[1] == "fn":
                    function = names.get(named[2], "")
                else:
                    callee = names.get(named[2], "")
            elif line.startswith("calls="):
                called = True
            elif re.match(r"[+\-*0-9]", line):
                cost = int(line.split()[1])
                if not called:
                    all_of_them += cost
                # a thread that was waiting when counting began seems to call all that it does later from there
                if function in WAITING and (not called or callee.startswith(SYSTEM)):
                    waiting += cost
                called = False
    return all_of_them - waiting


def measure(program, case, formulation, threads):
    """The instructions of every thread for one evaluation."""
    with tempfile.TemporaryDirectory() as folder:
        model, plan, *step = write_model(case, folder)
        formulation, *row = formulation.split(":")
        step = row or step
        out = os.path.join(folder, "out")
        subprocess.run(["valgrind", "--tool=callgrind", "--separate-threads=yes", "--instr-atstart=no",
                        f"--callgrind-out-file={out}", program, model, formulation, plan, str(threads), "1", *step],
                       check=True, capture_output=True,
                       env={**os.environ, "GLIBC_TUNABLES": NO_STRING_INSTRUCTIONS})
        counts = [count(path) for path in sorted(glob.glob(out + "-*"))]
    if not sum(counts):
        sys.exit(f"{program} counts nothing: it was built without valgrind/callgrind.h")
    return counts


def write_model(case, folder):
    generate, *rest = CASES[case]
    model = os.path.join(folder, "model.yaml")
    with open(model, "w", encoding="utf-8") as file:
        json.dump({"linkwork": 1, "gravity": [0, -9.81, 0], "generate": generate}, file)
    return model, *rest


def repeats(program, model, formulation, plan, step):
    """Evaluations that take some 0.2 s; few steps of index3, which move the mechanism on."""
    once = int(subprocess.run([program, model, formulation, plan, "1", "3", *step], check=True, capture_output=True).stdout)
    return str(max(3, min(10 if formulation == "index3" else 20000, int(2e8 / once))))


def measure_times(program, case, formulation, threads, rounds):
    """{threads: least time of an evaluation [us]}; the numbers of threads take turns."""
    least = {}
    with tempfile.TemporaryDirectory() as folder:
        model, plan, *step = write_model(case, folder)
        formulation, *row = formulation.split(":")
        step = row or step
        times = repeats(program, model, formulation, plan, step)
        for _ in range(rounds):
            for n in threads:
                done = subprocess.run([program, model, formulation, plan, str(n), times, *step], check=True,
                                      capture_output=True)
                least[n] = min(int(done.stdout) / 1e3, least.get(n, math.inf))
    return least


def print_times(times):
    counts = sorted({int(n) for of in times for n in of["us"]})
    print("| case | |" + "".join(f" T = {n}, us |" for n in counts) + "".join(f" times as fast, {n} |" for n in counts[1:]))
    print("|---|---|" + "---|" * (2 * len(counts) - 1))
    for of in sorted(times, key=lambda row: list(CASES).index(row["case"])):
        us = {int(n): t for n, t in of["us"].items()}
        print(f"| {of['case']} | `{of['formulation']}` |" + "".join(f" {us[n]:.4g} |" for n in counts)
              + "".join(f" {us[1] / us[n]:.2f} |" for n in counts[1:]))


def print_table(results):
    """A row for each case and formulation: the total, and the busiest thread's share of it."""
    counts = sorted({r["threads"] for r in results if r["threads"] > 1})
    print("| case | plan | | total, 10⁶ | " + " | ".join(f"T = {n}" for n in counts) + " |")
    print("|---|---|---|---|" + "---|" * len(counts))
    order = list(CASES)
    for case, formulation in sorted(dict.fromkeys((r["case"], r["formulation"]) for r in results),
                                    key=lambda row: order.index(row[0])):
        rows = {r["threads"]: r for r in results if (r["case"], r["formulation"]) == (case, formulation)}
        cells = []
        for n in counts:
            if n not in rows:
                cells.append("–")
                continue
            share = max(rows[n]["instructions"]) / sum(rows[n]["instructions"])
            cells.append(f"{100 * share:.1f}" if share <= 1 / n + ALLOWED else f"**{100 * share:.1f}**")
        total = sum(rows[min(rows)]["instructions"]) / 1e6
        print(f"| {case} | {CASES[case][1]} | `{formulation}` | {total:.1f} | " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--program")
    parser.add_argument("--cases", type=lambda s: s.split(","), default=list(CASES))
    parser.add_argument("--formulations", type=lambda s: s.split(","), default=None)
    parser.add_argument("--threads", type=lambda s: [int(n) for n in s.split(",")])
    parser.add_argument("--times", action="store_true")
    parser.add_argument("--rows", action="store_true")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json")
    parser.add_argument("--table")
    parser.add_argument("--table-of-times")
    arguments = parser.parse_args()
    if arguments.table:
        print_table(stored(arguments.table)["results"])
    elif arguments.table_of_times:
        print_times(stored(arguments.table_of_times)["times"])
    elif not arguments.program:
        parser.error("--program or --table is needed")
    else:
        (time_all if arguments.times else count_all)(arguments)


def stored(path):
    if not path or not os.path.exists(path):
        return {"results": []}
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def store(path, found):
    if path:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(found, file, indent=1)
            file.write("\n")


def selected(arguments):
    return [(case, formulation) for case in arguments.cases
            for formulation in arguments.formulations or default_of(case, arguments.rows)]


def default_of(case, rows):
    return ROWS.get(case, []) if rows else FORMULATIONS + OF_TREES.get(case, [])


def count_all(arguments):
    found = stored(arguments.json)
    for case, formulation in selected(arguments):
        for threads in arguments.threads or [1, 2, 4, 8, 16]:
            key = {"case": case, "formulation": formulation, "threads": threads}
            each = measure(arguments.program, case, formulation, threads)
            found["results"] = [r for r in found["results"] if {k: r[k] for k in key} != key]
            found["results"].append({**key, "instructions": each})
            print(json.dumps({**key, "busiest": max(each), "total": sum(each)}), file=sys.stderr, flush=True)
            store(arguments.json, found)
    print_table(found["results"])


def time_all(arguments):
    found = stored(arguments.json)
    found["times"] = []
    for case, formulation in selected(arguments):
        us = measure_times(arguments.program, case, formulation, arguments.threads or [1, 2], arguments.rounds)
        found["times"].append({"case": case, "formulation": formulation, "us": us})
        print(case, formulation, us, file=sys.stderr, flush=True)
        store(arguments.json, found)
    print_times(found["times"])


if __name__ == "__main__":
    main()
