#!/usr/bin/env python3
"""What the busiest thread executes for an evaluation.

usage: depth.py --program BENCH_DEPTH [--cases A,B] [--formulations A,B] [--threads N,N,...] [--json FILE]
       depth.py --table FILE

Instructions of every thread for one evaluation, of index3 one step, by valgrind --tool=callgrind
--separate-threads=yes; bench_depth starts counting after a first one.  What threads execute while they wait is left
out.  These counts do not depend on the machine's number of processors, nor on what else it runs; they do not see caches
and memory.

--cases         see CASES below (all)
--formulations  those of the case: hdca,dca,index3, of trees momenta,aba too
--threads       1,2,4,8,16
--json          writes what was measured; earlier results in this file are kept
--table         prints the table of docs/benchmarks.md from such a file
"""
import argparse
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

# generate:, plan
CASES = {
    "chain 4000": ({"chain": {"n": 4000, "seed": 1}}, "auto"),
    "chain 131072": ({"chain": {"n": 131072, "seed": 1}}, "auto"),
    "balls 4000": ({"chain": {"n": 4000, "joint": "spherical", "qd": [0, 0, 0.1]}}, "balanced"),
    "tree 4000": ({"tree": {"n": 4000, "seed": 1}}, "balanced"),
    "ladder 2000": ({"ladder": {"n": 2000, "q": [0.2, 0.3, 0], "qd": [0.5, 1, 0]}}, "balanced"),
    "net 32": ({"net": {"n": 32, "m": 32, "q": [0.3, 0, 0], "qd": [0, 0, 1]}}, "auto"),
}
FORMULATIONS = ["hdca", "dca", "index3"]
OF_TREES = {"tree 4000": ["momenta", "aba"]}
WAITING = ("lwi_barrier_wait", "wait_for_task", "wait_for_end", "notify")
SYSTEM = ("pthread_", "sched_yield", "__")
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
    generate, plan = CASES[case]
    with tempfile.TemporaryDirectory() as folder:
        model, out = os.path.join(folder, "model.yaml"), os.path.join(folder, "out")
        with open(model, "w", encoding="utf-8") as file:
            json.dump({"linkwork": 1, "gravity": [0, -9.81, 0], "generate": generate}, file)
        subprocess.run(["valgrind", "--tool=callgrind", "--separate-threads=yes", "--instr-atstart=no",
                        f"--callgrind-out-file={out}", program, model, formulation, plan, str(threads), "1"],
                       check=True, capture_output=True)
        counts = [count(path) for path in sorted(glob.glob(out + "-*"))]
    if not sum(counts):
        sys.exit(f"{program} counts nothing: it was built without valgrind/callgrind.h")
    return counts


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
    parser.add_argument("--threads", type=lambda s: [int(n) for n in s.split(",")], default=[1, 2, 4, 8, 16])
    parser.add_argument("--json")
    parser.add_argument("--table")
    arguments = parser.parse_args()
    if arguments.table:
        with open(arguments.table, encoding="utf-8") as file:
            print_table(json.load(file)["results"])
        return
    if not arguments.program:
        parser.error("--program or --table is needed")
    results = []
    if arguments.json and os.path.exists(arguments.json):
        with open(arguments.json, encoding="utf-8") as file:
            results = json.load(file)["results"]
    for case in arguments.cases:
        for formulation in arguments.formulations or FORMULATIONS + OF_TREES.get(case, []):
            for threads in arguments.threads:
                key = {"case": case, "formulation": formulation, "threads": threads}
                each = measure(arguments.program, case, formulation, threads)
                results = [r for r in results if {k: r[k] for k in key} != key] + [{**key, "instructions": each}]
                print(json.dumps({**key, "busiest": max(each), "total": sum(each)}), file=sys.stderr, flush=True)
                if arguments.json:
                    with open(arguments.json, "w", encoding="utf-8") as file:
                        json.dump({"results": results}, file, indent=1)
    print_table(results)


if __name__ == "__main__":
    main()
