#!/usr/bin/env python3
"""Times Linkwork beside other libraries: the same mechanisms, one core, turns taken in one run.

usage: run.py --linkwork PROGRAM [--linkwork LABEL=PROGRAM ...] --peers FOLDER [options]

PROGRAM is `linkwork`, LABEL tells several builds apart; FOLDER has the drivers peer_* built from this directory.  In every round each
case is given to every program in turn, so that what disturbs the machine disturbs all alike.  The
minimum over the rounds and the median of the rounds' medians count.  Accelerations are checked:
against published values to nine digits where there are some, else against each other.

  --case A,B,...    cases (default: chains, humanoid, arms, spherical; `loops`, `falls`: rows of loops,
                    simulations; `long`: long paths, for divide and conquer; `runs`: work and precision of whole runs;
                    `compiled`: compiled code beside the library and others)
  --threads N,N     threads of Linkwork, for the cases of `long` (default 1); several threads have as many cores
  --rounds N        rounds (default 5); simulations have one
  --seconds S       for each case, program and method in a round (default 0.1)
  --compiled        Linkwork's compiled code as well, in the cases of `runs` and `compiled`
  --exudyn PYTHON   interpreter that has Exudyn: it takes part in the cases of `runs`
  --core N          core to run on (default 1 where there are two, else 0)
  --machine NAME    folder under bench/results (default: made from the processor's name)
  --name NAME       of the results and of the table in the page (default: peers)
  --page FILE       put the tables between the markers of this page (docs/benchmarks.md)

Writes bench/results/MACHINE/NAME.json and prints the tables.
Exit status: 0, or 1 when accelerations of some program are not the right ones.
"""
import argparse
import datetime
import json
import math
import os
import platform
import re
import resource
import signal
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))

EVALUATIONS = ["chain-7", "chain-16", "chain-32", "chain-64", "chain-128", "chain-256", "chain-1024",
               "humanoid", "arms", "spherical-128", "spherical-1024"]
LOOPS = ["four-bars-1", "four-bars-10", "four-bars-40", "four-bars-100",
         "ladder-1", "ladder-10", "ladder-40", "ladder-100"]
FALLS = ["fall-128", "fall-1024"]
LONG = ["path-256", "path-1024", "path-4096", "path-16384", "path-131072", "rope-1024", "rope-16384", "branches-63",
        "ring-320", "ring-4096"]
RUNS = ["run-chain-7", "run-chain-32", "run-ur5", "run-humanoid", "run-four-bars-1", "run-four-bars-10", "run-ladder-1",
        "run-ladder-10", "run-delta"]
COMPILED = ["ur5", "humanoid", "four-bars-1", "delta"]
ERRORS = (1e-3, 1e-5, 1e-7, 1e-9)   # of angles at the end of runs [rad]
REFERENCE = ("verner87", 1e-12)     # method and setting of Linkwork whose angles are the right ones
LIMIT = 20          # CPU seconds that a program may take for a case
FALL_LIMIT = 90
RUN_LIMIT = 240
LONG_LIMIT = 8      # of other libraries for a long path: some build their models in a time that grows with the square
MEMORY = 8 << 30    # bytes that a program may have
DIGITS = 5          # fewer right digits of accelerations are a fault; fewer than 9 are told
OF_MOMENTA = ("momenta", "hdca")  # but of these, which lose digits of speeds on long paths: reported only


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n", 1)[1])
    parser.add_argument("--linkwork", action="append", required=True)
    parser.add_argument("--peers", required=True)
    parser.add_argument("--case", default=",".join(EVALUATIONS))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.1)
    parser.add_argument("--core", type=int, default=min(1, (os.cpu_count() or 1) - 1))
    parser.add_argument("--machine")
    parser.add_argument("--name", default="peers")
    parser.add_argument("--threads", type=lambda s: [int(n) for n in s.split(",")], default=[1])
    parser.add_argument("--page")
    parser.add_argument("--compiled", action="store_true")
    parser.add_argument("--exudyn", metavar="PYTHON")
    return parser.parse_args()


def programs(options):
    """[(label, command, threads)], Linkwork first."""
    found = []
    for given in options.linkwork:
        label, _, path = given.rpartition("=")
        for threads in options.threads:
            several = ["--threads", str(threads)] if threads > 1 else []
            found.append(("linkwork" + (f", {label}" if label else "") + (f", {threads} threads" if several else ""),
                          [os.path.abspath(path), "bench", "--json", *several], threads))
    for name in sorted(os.listdir(options.peers)):
        if name.startswith("peer_"):
            found.append((name[5:], [os.path.join(os.path.abspath(options.peers), name)], 1))
    if options.exudyn:
        found.append(("exudyn", [options.exudyn, os.path.join(HERE, "exudyn_runs.py"), "--scenes",
                                 os.path.join(os.path.abspath(options.peers), "libscenes.so")], 1))
    return found


def ask(command, threads, case, options):
    """What a program says of a case: its JSON, or (None, why)."""
    limit = (RUN_LIMIT if case in RUNS else FALL_LIMIT if case in FALLS
             else LONG_LIMIT if case in LONG and "bench" not in command else LIMIT)

    def prepare():
        os.sched_setaffinity(0, {options.core} if threads == 1 else set(range(threads)))
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    done = subprocess.run(command + ["--case", case, "--seconds", str(options.seconds)],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=prepare)
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return None, "not done after %d s" % limit
    why = done.stderr.decode(errors="replace").strip()
    try:
        return json.loads(done.stdout), why
    except ValueError:
        return None, why or "exit status %d" % done.returncode


def take_turns(options, cases):
    """{(case, label, method): [entry of each round]}, {label: about}, [refusals]"""
    seen, about, refused = {}, {}, {}
    for number in range(options.rounds):
        for case in cases:
            for label, command, threads in programs(options):
                if (case, label) in refused or (number and case in FALLS):
                    continue
                if (threads > 1 and case not in LONG) or (label == "exudyn" and case not in RUNS):
                    continue
                if options.compiled and "bench" in command and case in RUNS + COMPILED:
                    command = [*command, "--compiled", "on"]
                said, why = ask(command, threads, case, options)
                if why:
                    refused[case, label] = why
                    print("%s, %s: %s" % (case, label, why), file=sys.stderr)
                if not said:
                    continue
                about[label] = {k: v for k, v in said.items() if k != "cases"}
                for entry in said["cases"]:
                    seen.setdefault((case, label, entry["method"], entry.get("setting")), []).append(entry)
        print("round %d of %d done" % (number + 1, options.rounds), file=sys.stderr)
    return seen, about, [dict(case=c, program=p, why=w) for (c, p), w in refused.items()]


def merge(seen):
    results = []
    for (_, label, _, _), rounds in seen.items():
        entry = dict(rounds[-1], program=label, rounds=len(rounds))
        entry["minimum"] = min(r["minimum"] for r in rounds)
        entry["median"] = statistics.median(r["median"] for r in rounds)
        if "compiling" in entry:
            entry["compiling"] = max(r["compiling"] for r in rounds)  # later rounds find what the first one compiled
        results.append(entry)
    return results


def check(results):
    """Complaints about accelerations; marks the entries."""
    wrong = []
    for entry in results:
        a = entry.get("accelerations")
        if not a or "soft" in entry["method"]:  # soft joints have other accelerations by design
            continue
        if "ninth_digit" in a:
            entry["digits"] = min(9, 9 - math.ceil(math.log10(max(a["ninth_digit"], 1e-9))))
        else:
            peers = [e["accelerations"] for e in results
                     if e["case"] == entry["case"] and "accelerations" in e]
            worst = max(abs(a[k] - statistics.median(p[k] for p in peers))
                        for k in ("sum", "max", "first", "last"))
            entry["digits"] = min(9, math.floor(-math.log10(worst / a["max"] + 1e-16)))
        if entry["digits"] < DIGITS and entry["method"] not in OF_MOMENTA:
            wrong.append("%s, %s %s: %s" % (entry["case"], entry["program"], entry["method"], a))
    return wrong


def processor():
    """Name, family and model of the processor."""
    fields = {}
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            key, _, value = line.partition(":")
            fields.setdefault(key.strip(), value.strip())
    return "%s, family %s model %s" % (fields.get("model name", platform.machine()),
                                       fields.get("cpu family", "?"), fields.get("model", "?"))


def measured_table(parser, needed, measure, print_table):
    """The main program of a file with a table: of what `measure` returns of the arguments, with date, processor and load, or
    of the file of --table.  Returns that."""
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--table", metavar="FILE")
    options = parser.parse_args()
    if options.table:
        with open(options.table, encoding="utf-8") as file:
            found = json.load(file)
    else:
        if not getattr(options, needed):
            parser.error(f"--{needed} or --table is needed")
        load = os.getloadavg()[0]
        found = {"date": datetime.date.today().isoformat(), "cpu": processor(), "rounds": options.rounds, **measure(options)}
        found["load"] = f"{load:.1f} to {os.getloadavg()[0]:.1f}"
        if options.json:
            with open(options.json, "w", encoding="utf-8") as file:
                json.dump(found, file, indent=1)
                file.write("\n")
    print_table(found)
    return found


def commit(about):
    """What Linkwork was built from: the program's word, and whether the sources differ from it now."""
    built = next(iter(about.values())).get("commit", "unknown")
    try:
        changed = subprocess.run(("git", "diff", "--quiet", built, "--", "src", "include",
                                  "CMakeLists.txt"), cwd=ROOT, check=False).returncode
    except OSError:
        return built
    return built + ("+changes" if changed else "")


# ------------------------------------------------------------------------------------------ tables

def ours(entry):
    return entry["program"].startswith("linkwork")


def title(entry, about):
    name = entry["program"]
    version = about.get(name, {}).get("version", "")
    if ours(entry):
        compiler = about[name].get("compiler", "").split()
        return "**%s %s**, %s" % (name, entry["method"], " ".join(compiler[:2]).lower())
    return "%s %s, %s" % (name, version, entry["method"])


def evaluation_table(results, about, cases, scale, unit):
    """Rows by program and method; cells minimum / median and how many times the fastest of ours."""
    rows = {}
    for e in results:
        if e["case"] in cases and e["method"] != "rnea" and e["unit"] == "ns":
            rows.setdefault(title(e, about), {})[e["case"]] = e
    best = {c: min((r[c]["minimum"] for r in rows.values() if c in r and ours(r[c])),
                   default=None) for c in cases}
    lines = ["| %s | %s |" % (unit, " | ".join(cases)), "|---" * (len(cases) + 1) + "|"]
    for name, row in rows.items():
        cells = []
        for c in cases:
            if c not in row:
                cells.append("–")
                continue
            e = row[c]
            ratio = " (%.2g)" % (e["minimum"] / best[c]) if best[c] else ""
            digits = e.get("digits", 9)
            cells.append("%.4g / %.4g%s%s" % (scale * e["minimum"], scale * e["median"], ratio,
                                              "" if digits >= 9 else " **%d digits**" % digits))
        lines.append("| %s | %s |" % (name, " | ".join(cells)))
    return lines


def fall_table(results, about):
    lines = ["| program | case | CPU s per simulated s | energy error | height of the tip, m |",
             "|---|---|---|---|---|"]
    for e in results:
        if "energy_error" in e:
            lines.append("| %s | %s | %.3g | %.1e | %.2f |" % (
                title(e, about), e["case"], e["minimum"], e["energy_error"], e["tip"]))
    return lines if len(lines) > 2 else []


# ------------------------------------------------------------------------------- work and precision

def error_of(entry, right):
    """Of angles at the end [rad], by the sum with weights up to 7, the largest, first and last one."""
    return max(abs(entry["angles"][k] - right["angles"][k]) for k in ("sum", "max", "first", "last"))


def curves(results, case):
    """{(program, method): [(error, seconds)]}, the largest error first."""
    here = [e for e in results if e["case"] == case]
    right = next(e for e in here if ours(e) and (e["method"], e["setting"]) == REFERENCE)
    found = {}
    for e in here:
        if e is not right:
            found.setdefault((e["program"], e["method"]), []).append((max(error_of(e, right), 1e-16), e["minimum"]))
    return {key: sorted(points, reverse=True) for key, points in found.items()}


def time_to(points, error):
    """Seconds to this error, by straight lines of logarithms between settings; None: it is not reached."""
    best = min((t for e, t in points if e <= error), default=None)
    for (e0, t0), (e1, t1) in zip(points, points[1:]):
        if e1 <= error < e0:
            part = math.log(e0 / error) / math.log(e0 / e1)
            best = min(best, math.exp(math.log(t0) + part * math.log(t1 / t0)))
    return best


def fastest(found, error, choose):
    """(seconds, method) of the fastest of the programs and methods that are chosen."""
    times = [(time_to(points, error), method) for (program, method), points in found.items() if choose(program, method)]
    return min(((t, method) for t, method in times if t), default=(None, ""))


def run_table(results, cases):
    others = ("pinocchio", "simbody", "exudyn", "mujoco")
    lines = ["| run | error, rad | linkwork | linkwork, `rk4` | compiled | " + " | ".join(others)
             + " | fastest exact other over linkwork | over compiled |", "|---" * 11 + "|"]
    for case in cases:
        found = curves(results, case)
        for error in ERRORS:
            own, method = fastest(found, error, lambda p, m: p.startswith("linkwork") and "compiled" not in m)
            fast, how = fastest(found, error, lambda p, m: p.startswith("linkwork") and "compiled" in m)
            columns = [(own, method), fastest(found, error, lambda p, m: p.startswith("linkwork") and m == "rk4"),
                       (fast, how.split(":")[0])]
            for name in others:
                columns.append(fastest(found, error, lambda p, m, name=name: p == name))
            other, _ = fastest(found, error, lambda p, m: not p.startswith("linkwork") and "soft" not in m)
            cells = [f"{1e3 * t:.3g}" + (f" `{m}`" if i in (0, 2, 3, 5) else "") if t else "–"
                     for i, (t, m) in enumerate(columns)]
            cells += [f"{other / t:.3g}" if other and t else "–" for t in (own, fast)]
            lines.append(f"| {case[4:]} | {error:.0e} | " + " | ".join(cells) + " |")
    return lines


def agreement(results, cases):
    """The smallest error of another exact program in each case."""
    least = {}
    for case in cases:
        for (program, method), points in curves(results, case).items():
            if not program.startswith("linkwork") and "soft" not in method:
                least[case] = min(least.get(case, (1, "")), (min(e for e, _ in points), f"{program}, {method}"))
    return ["Closest to the reference, `%s` with %g: " % REFERENCE
            + "; ".join("%s %.0e (%s)" % (case[4:], *least[case]) for case in cases if case in least) + "."]


def compiled_table(results, cases):
    """Compiled code beside the library and the fastest methods of others: microseconds of an evaluation."""
    names = [n for n in ("pinocchio", "simbody", "dart", "bullet", "mujoco") if any(e["program"] == n for e in results)]
    lines = ["| us | library | compiled | in lanes | " + " | ".join(names)
             + " | fastest exact other over compiled | over lanes | compiling, s |", "|---" * (7 + len(names)) + "|"]
    for case in cases:
        here = [e for e in results if e["case"] == case]
        own = {e["method"]: e for e in here if ours(e)}
        library = min((own[m] for m in ("aba", "momenta", "rcr") if m in own), key=lambda e: e["minimum"])
        single, lanes = own["compiled"], own["compiled:many"]
        cells = [f"{library['minimum'] / 1e3:.3g} `{library['method']}`", *(f"{e['minimum'] / 1e3:.3g}" for e in (single, lanes))]
        exact = []
        for name in names:
            of = [e for e in here if e["program"] == name]
            exact += [e["minimum"] for e in of if "soft" not in e["method"] and e.get("digits", 9) >= DIGITS]
            best = min(of, key=lambda e: e["minimum"], default=None)
            cells.append(f"{best['minimum'] / 1e3:.3g} `{best['method']}`" if best else "–")
        cells += [f"{min(exact) / e['minimum']:.3g}" for e in (single, lanes)] + [f"{single['compiling']:.2g}"]
        lines.append(f"| {case} | " + " | ".join(cells) + " |")
    return lines


def compiled_page(report):
    return "\n".join(["Measured %s on %s, commit %s; %d rounds, one core, load %s; minima." % (
        report["date"], report["cpu"], report["commit"], report["rounds"], report["load"]), "",
        *compiled_table(report["results"], [c for c in COMPILED if any(e["case"] == c for e in report["results"])])]) + "\n"


def run_page(report):
    cases = [c for c in RUNS if any(e["case"] == c for e in report["results"])]
    head = ("Measured %s on %s, commit %s; %d rounds, one core, load %s. Milliseconds to an error of the angles at the end; "
            "– where no setting reaches it." % (report["date"], report["cpu"], report["commit"], report["rounds"],
                                                  report["load"]))
    return "\n".join([head, "", *run_table(report["results"], cases), "", *agreement(report["results"], cases)]) + "\n"


def tables(report):
    results, about = report["results"], report["programs"]
    if any("setting" in e for e in results):
        return run_page(report)
    if any(e["method"] == "compiled" for e in results):
        return compiled_page(report)
    there = [c for c in EVALUATIONS + LOOPS + LONG if any(e["case"] == c for e in results)]
    groups = [[c for c in there if c.startswith("chain")],
              [c for c in there if not c.startswith("chain") and c not in LOOPS + LONG],
              [c for c in there if c.startswith("path")],
              [c for c in there if c in LONG and not c.startswith("path")],
              [c for c in there if c.startswith("four-bars")],
              [c for c in there if c.startswith("ladder")]]
    lines = ["Measured %s on %s, commit %s; %d rounds, one core%s, load %s. Entries: minimum / median in "
             "microseconds of one evaluation, in brackets the multiple of the fastest of ours; where fewer "
             "than nine digits of the accelerations are right, how many."
             % (report["date"], report["cpu"], report["commit"], report["rounds"],
                ", for several threads as many" if any("threads" in name for name in about) else "",
                report["load"]), ""]
    for group in groups:
        if group:
            lines += evaluation_table(results, about, group, 1e-3, "us") + [""]
    lines += fall_table(results, about)
    if report["refused"]:
        lines += ([""] if lines[-1] else []) + ["* %s, %s: %s" % (r["program"], r["case"],
                                           r["why"].split("\n")[0].split(r["case"] + ": ")[-1])
                         for r in report["refused"]]
    return "\n".join(lines).rstrip() + "\n"


def put_in_page(path, name, text):
    name = name.replace("_", "-")
    begin, end = f"<!-- table {name}: made by tools/doc_tables.py -->\n", "<!-- end of table -->\n"
    with open(path, encoding="utf-8") as file:
        page = file.read()
    head, rest = page.split(begin, 1)
    with open(path, "w", encoding="utf-8") as file:
        file.write(head + begin + "\n" + text + "\n" + end + rest.split(end, 1)[1])


def main():
    options = arguments()
    groups = {"loops": LOOPS, "falls": FALLS, "long": LONG, "runs": RUNS, "compiled": COMPILED}
    cases = [c for word in options.case.split(",") for c in groups.get(word, [word])]
    load = "%.1f" % os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder  # compilers start from nothing
        seen, about, refused = take_turns(options, cases)
    report = {"date": datetime.date.today().isoformat(), "cpu": processor(), "commit": commit(about),
              "system": platform.platform(), "load": load + " to %.1f" % os.getloadavg()[0],
              "rounds": options.rounds, "seconds": options.seconds, "programs": about,
              "refused": refused, "results": merge(seen)}
    wrong = check(report["results"])
    machine = options.machine or re.sub(r"[^a-z0-9]+", "-", report["cpu"].lower()).strip("-")
    folder = os.path.join(ROOT, "bench", "results", machine)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, options.name + ".json"), "w", encoding="utf-8") as file:
        json.dump(report, file, indent=1)
        file.write("\n")
    text = tables(report)
    print(text)
    if options.page:
        put_in_page(options.page, options.name, text)
    for line in wrong:
        print("wrong accelerations: " + line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
