#!/usr/bin/env python3
"""What a run by several processes takes: counted here for 1 to 8 processes, predicted up to 1024.

usage: ranks.py --program PROGRAM        counts, writes results.json here and docs/reports/ranks.md; built with -DLW_ISA=all
       ranks.py --report                 writes the report from results.json
       ranks.py --program PROGRAM --check   counts nothing: a small model has the messages and bytes that are predicted

Counts are instructions by valgrind (--tool=callgrind) of the steps of dopri5 over 1 ns, without those of MPI, and messages
and bytes by `linkwork run --ranks --json`.  Neither depends on what else the machine runs.
"""
import argparse
import glob
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
RESULTS = os.path.join(HERE, "results.json")
REPORT = os.path.join(ROOT, "docs/reports/ranks.md")
sys.path.append(os.path.join(ROOT, "bench/runs"))
from runs import calls  # noqa: E402  the calls in a file of callgrind

ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}
COUNTS = (1, 2, 4, 8)
# name: model, options, kind of sharing
CASES = {
    "chain of 4096, `hdca`": ("{chain: {n: 4096, qd: [0.3, 0, 0]}}", ["--formulation", "hdca"], "segments"),
    "ladder of 250 loops, `hdca`": ("{ladder: {n: 250, q: [0.2, 0.3, 0], qd: [0.5, 1, 0]}}",
                                    ["--formulation", "hdca", "--plan", "balanced"], "elimination"),
    "net of 8 × 8 meshes, `hdca`": ("{net: {n: 8, q: [0.2, 0, 0]}}", ["--formulation", "hdca", "--plan", "balanced"],
                                      "elimination"),
}
# parts of a step: functions (file, name) that contain them
RATES = ("integrators.c", "lwi_problem_rates")
BETWEEN = ("simulation.c", "pre_step")
STEPS = ("simulation.c", "lwi_sim_advance_plain")
GATHER = ("ranks.c", "lwi_ranks_gather_all")
SHARED = {"segments": [("schedule.c", "lwi_path_run")],
          "elimination": [("threads.c", "lwi_elim_sweep_matrix"), ("threads.c", "lwi_elim_sweep_vectors")]}
NETS = (8, 12, 16, 20)
# of a cluster, assumed: one core, and messages between machines
INSTRUCTIONS = 3.0    # per ns
SEGMENTS = 30.0       # ns of a body in segments with `hdca`, measured with AVX-512 (docs/theory/segments.md)
LATENCY = 2000.0      # ns of a message
BANDWIDTH = 10.0      # bytes per ns
LANES = 8
ENDS = {"hdca": 2, "dca": 3}  # passes up and down of an evaluation of a long path
# numbers of an end of a segment that go up and down in these passes (segments/ends.h)
UP = {"hdca": (87, 10), "dca": (87, 10, 10)}
DOWN = {"hdca": (17, 10), "dca": (3, 10, 10)}


def write(folder, name, generate):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write("linkwork: 1\ngenerate: " + generate + "\n")
    return path


STEP = ["--integrator", "dopri5", "--rtol", "0.5", "--atol", "0.5", "--duration", "1e-9", "--sample", "1", "--json"]


def callgrind(folder, *toggles):
    return ["valgrind", "--tool=callgrind", "--collect-atstart=no", *("--toggle-collect=" + t for t in toggles),
            "--callgrind-out-file=" + os.path.join(folder, "%p")]


def finished(*words):
    done = subprocess.run(words, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def run(program, model, options, count, counted):
    """Summary, and of each process {function: instructions} of the evaluations in steps."""
    with tempfile.TemporaryDirectory() as folder:
        tool = callgrind(folder, RATES[1], "exchange_by_mpi") if counted else []
        summary = finished("mpirun", "-n", str(count), *tool, program, "run", model, "--ranks", *options, *STEP)
        return summary, [(inclusive(path), collected(path)) for path in glob.glob(os.path.join(folder, "*"))]


def count_steps(program, model, options):
    """Instructions of a step besides evaluations: of the integrator, and between steps."""
    with tempfile.TemporaryDirectory() as folder:
        summary = finished(*callgrind(folder, STEPS[1]), program, "run", model, *options, *STEP)
        path, = glob.glob(os.path.join(folder, "*"))
        found, total = inclusive(path), collected(path)
        between, rates = found.get(BETWEEN, 0), found[RATES]
    return {"integrator": (total - rates - between) / summary["evaluations"], "between": between / summary["evaluations"]}


def collected(path):
    with open(path, encoding="utf-8") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(("summary:", "totals:")))


def inclusive(path):
    found = {}
    for caller, callee, cost in calls(path):
        if caller != callee:
            found[callee] = found.get(callee, 0) + cost
    return found


def parts(found, total, kind, evaluations):
    """Instructions of an evaluation."""
    shared = sum(found.get(f, 0) for f in SHARED[kind])
    gather = found.get(GATHER, 0)
    if kind == "elimination":  # its exchanges are within
        shared -= gather
    return {"shared": shared / evaluations, "gather": gather / evaluations, "own": (total - shared - gather) / evaluations}


def plan(program, model):
    done = subprocess.run([program, "check", model, "--plan", "--json"], capture_output=True, text=True, check=True)
    about = json.loads(done.stdout)
    balanced = next(p for p in about["plans"] if p["kind"] == "balanced")
    return {"work": balanced["work"], "critical": balanced["critical"], "bodies": len(about["bodies"])}


def measure(program):
    results = {"cases": {}, "nets": []}
    with tempfile.TemporaryDirectory() as folder:
        for name, (generate, options, kind) in CASES.items():
            model = write(folder, "model.yaml", generate)
            case = {"kind": kind, "plan": plan(program, model), "counts": []}
            steps = count_steps(program, model, options)
            for count in COUNTS:
                summary, processes = run(program, model, options, count, True)
                all_parts = [{**parts(found, total, kind, summary["evaluations"]), **steps} for found, total in processes]
                busiest = max(all_parts, key=lambda p: sum(p.values()))
                case["counts"].append({"processes": count, "evaluations": summary["evaluations"], "parts": busiest,
                                       "messages": summary["ranks"]["messages"] / summary["evaluations"],
                                       "bytes": summary["ranks"]["bytes"] / summary["evaluations"]})
                print(name, case["counts"][-1], flush=True)
            results["cases"][name] = case
        for n in NETS:
            results["nets"].append({"n": n, **plan(program, write(folder, "net.yaml", "{net: {n: %d, q: [0.2, 0, 0]}}" % n))})
    return results


# ----------------------------------------------------------------------------------------- predictions


def messages_of_path(formulation, count):
    """Joins of ranks up and down, tips to the next rank, results to all."""
    if count == 1:
        return 0
    return 2 * ENDS[formulation] * (count - 1) + count * (1 + math.log2(count))


def bytes_of_path(formulation, count, joints):
    if count == 1:
        return 0
    ends = (count - 1) * LANES * (sum(UP[formulation]) + sum(DOWN[formulation]))
    tips = count * 3 * LANES
    results = joints * (2 if formulation == "hdca" else 1)
    return 8 * (ends + tips + (count - 1) * results + count * (count - 1))  # and a number for whether each is valid


def share_of(case, count):
    """Part of the shared work that the busiest process has, at the best: an equal share, and the longest path."""
    if count == 1:
        return 1
    p = case["plan"]
    return 1 / count + (p["critical"] / p["work"] if case["kind"] == "elimination" else 0)


def rest_of(one):
    """What every process computes."""
    return one["own"] + one["integrator"] + one["between"]


def predicted(case, count):
    """Instructions of an evaluation from those of one process."""
    one = case["counts"][0]["parts"]
    return rest_of(one) + one["shared"] * share_of(case, count)


def time_of_path(bodies, count, per_body, spread):
    """[ns] of an evaluation of `hdca`, with its part of a step. spread: the state would be too."""
    rest = rest_of(per_body) / INSTRUCTIONS
    work = bodies * (SEGMENTS / count + (rest / count if spread else rest))
    if count == 1:
        return work
    levels = math.ceil(math.log2(count))
    hops = 2 * ENDS["hdca"] * levels + 1
    ends = 8 * LANES * levels * (sum(UP["hdca"]) + sum(DOWN["hdca"])) / BANDWIDTH
    gather = 0 if spread else levels * LATENCY + 16 * bodies / BANDWIDTH + 2 * bodies * 2 / INSTRUCTIONS
    return work + hops * LATENCY + ends + gather


def exponent(x, y):
    a, b = [math.log(v) for v in x], [math.log(v) for v in y]
    ma, mb = sum(a) / len(a), sum(b) / len(b)
    return sum((p - ma) * (q - mb) for p, q in zip(a, b)) / sum((p - ma) ** 2 for p in a)


def net_model(results):
    """Instructions of nets from multiplications of their plans, continued by powers."""
    nets = results["nets"]
    case = next(c for name, c in results["cases"].items() if name.startswith("net"))
    one = case["counts"][0]["parts"]
    last = nets[-1]
    bodies = [n["bodies"] for n in nets]
    return {"per_work": one["shared"] / case["plan"]["work"], "rest": rest_of(one) / case["plan"]["bodies"],
            "bodies": last["bodies"], "work": last["work"], "critical": last["critical"],
            "work_power": exponent(bodies[-3:], [n["work"] for n in nets][-3:]),
            "critical_power": exponent(bodies[-3:], [n["critical"] for n in nets][-3:])}


def time_of_net(m, bodies, count):
    work = m["work"] * (bodies / m["bodies"]) ** m["work_power"]
    critical = m["critical"] * (bodies / m["bodies"]) ** m["critical_power"]
    share = 1 if count == 1 else 1 / count + critical / work
    time = (m["per_work"] * work * min(1, share) + m["rest"] * bodies) / INSTRUCTIONS
    if count == 1:
        return time
    levels = math.ceil(math.log2(count))
    return time + (2 * 3 * levels + 2 * levels) * LATENCY + 8 * 12 * bodies / BANDWIDTH


# --------------------------------------------------------------------------------------------- report

SIZES = (10**4, 10**5, 10**6, 10**7)
MANY = (8, 64, 256, 1024)


def number(x):
    return f"{x:.3g}"


def power(x):
    return "10" + "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(c)] for c in str(round(math.log10(x))))


def counted_table(results):
    lines = ["| mechanism | processes | shared | results to all | of each process | integrator | between steps | sum | predicted | messages | predicted | kB | predicted |",
             "|---|---|---|---|---|---|---|---|---|---|---|---|---|"]
    for name, case in results["cases"].items():
        formulation = "dca" if name.endswith("`dca`") else "hdca"
        for c in case["counts"]:
            p, count = c["parts"], c["processes"]
            known = case["kind"] == "segments"
            messages = f"{messages_of_path(formulation, count):.0f}" if known else ""
            size = f"{bytes_of_path(formulation, count, 4096) / 1e3:.1f}" if known else ""
            lines.append(f"| {name} | {count} | " + " | ".join(f"{p[k] / 1e3:.0f}" for k in ("shared", "gather", "own", "integrator", "between"))
                         + f" | {sum(p.values()) / 1e3:.0f} | {predicted(case, count) / 1e3:.0f} | {c['messages']:.0f} | {messages} | "
                         + f"{c['bytes'] / 1e3:.1f} | {size} |")
    return "\n".join(lines)


def strong_table(rows):
    lines = ["| bodies | 1 process, ms | " + " | ".join(str(p) for p in MANY) + " | largest gain | with processes |",
             "|---|---|" + "---|" * (len(MANY) + 2)]
    for bodies, time in rows:
        one = time(1)
        best = max((one / time(2**k), 2**k) for k in range(0, 13))
        lines.append(f"| {power(bodies)} | {one / 1e6:.3g} | " + " | ".join(f"{one / time(p):.3g}" for p in MANY)
                     + f" | {best[0]:.3g} | {best[1]} |")
    return "\n".join(lines)


def weak_table(per_body):
    each = 10**4
    lines = ["| processes | bodies | chain, as built | chain, with its state spread |", "|---|---|---|---|"]
    for count in (1, *MANY):
        bodies = each * count
        cells = [time_of_path(bodies, count, per_body, False), time_of_path(bodies, count, per_body, True)]
        lines.append(f"| {count} | {bodies:.3g} | " + " | ".join(f"{c / 1e6:.3g}" for c in cells) + " |")
    return "\n".join(lines)


def write_report(results):
    chain = results["cases"]["chain of 4096, `hdca`"]
    per_body = {k: v / 4096 for k, v in chain["counts"][0]["parts"].items()}
    net = net_model(results)
    built = [(n, lambda p, n=n: time_of_path(n, p, per_body, False)) for n in SIZES]
    spread = [(n, lambda p, n=n: time_of_path(n, p, per_body, True)) for n in SIZES]
    nets = [(n, lambda p, n=n: time_of_net(net, n, p)) for n in SIZES[:2]]
    limit = 1 + SEGMENTS * INSTRUCTIONS / rest_of(per_body)
    worst = max(abs(predicted(case, c["processes"]) / sum(c["parts"].values()) - 1)
                for case in results["cases"].values() if case["kind"] == "segments" for c in case["counts"])
    worst_tree = max(sum(c["parts"].values()) / predicted(case, c["processes"]) - 1
                     for case in results["cases"].values() if case["kind"] == "elimination" for c in case["counts"])
    ladder = next(c for name, c in results["cases"].items() if name.startswith("ladder"))["counts"][0]["parts"]
    share = 100 * ladder["shared"] / sum(ladder.values())
    gain = sum(ladder.values()) / (sum(ladder.values()) - ladder["shared"])
    with open(REPORT, "w", encoding="utf-8") as file:
        file.write(f"""# One mechanism over several processes

Made by `bench/ranks/ranks.py`; how it works and how to run it: [one mechanism over several processes](../ranks.md). What
is *counted* was counted here. What is *predicted* for more than 8 processes was computed from these counts and from numbers
of a cluster that are assumed; it was not run.

## Counted

Instructions of the busiest process for one evaluation and its part of a step of `dopri5`, in thousands, without those of MPI;
messages and bytes sent by all processes for one evaluation. *Shared*: segments and joins, or the passes of the elimination.
*Of each process*: poses, rows, loads and copies, which every process computes, as the integrator and what is done between steps:
the gap of loops, the search for singular positions. Rows of results are the same bytes for all numbers of
processes (`tests/cli/test_ranks.py`, `tests/simulate/test_ranks.c`).

{counted_table(results)}

Predicted instructions: those of one process, with the shared part divided by the number of processes; in the elimination the longest
path of the plan is added. Segments: within {100 * worst:.0f} % of what was counted. The elimination has up to
{100 * worst_tree:.0f} % more: subtrees are not equal, and joins of several rows above them are on one process. Messages of segments:
{ENDS['hdca']} passes up and down (`hdca`; {ENDS['dca']} of `dca`) with P − 1 each, P to the next rank, P log₂ P with the results.

## Predicted: long chains

Assumed: a core with {INSTRUCTIONS:.0f} instructions per ns, messages of {LATENCY / 1000:.0f} µs and {BANDWIDTH:.0f} GB/s. Segments take
{SEGMENTS:.0f} ns of a body, as [measured](../theory/segments.md#cost) with vectors of eight lanes, which valgrind does not have: the
counts above are of four lanes, of a program built with `LW_ISA=all`. The bandwidth of memory is left out; it makes long vectors on one core slower.
Gain over one process of an evaluation of `hdca` with its part of a step:

{strong_table(built)}

Every process has the whole state and all rates, so what it computes itself limits the gain to {limit:.1f}, and the results sent
to all cost more than they save for many processes. If each process advanced its part of the state only, which is **not
built**, the same counts would give

{strong_table(spread)}

with 2 log₂ P messages, one after the other, for each pass. Steps by tolerances would add one sum over all components for each
step.

## Predicted: nets

Square nets by the elimination with a balanced plan. Multiplications of plans of {NETS[-3]} × {NETS[-3]} to {NETS[-1]} × {NETS[-1]} meshes are
continued by powers of the number of bodies: {net['work_power']:.2f} for the work, {net['critical_power']:.2f} for the longest path.

{strong_table(nets)}

The joins of the largest halves are dense and on one process, and they grow as the whole work does. More processes than a few do
not pay unless these joins are shared, as [threads](../theory/assembly.md#threads) do within one machine.

## Predicted: equal work for each process

10⁴ bodies for each process, ms of an evaluation:

{weak_table(per_body)}

## Where it pays

* A chain of fewer than 10⁵ bodies: on one machine, by `--threads`; an evaluation with 10⁴ bodies takes {time_of_path(10**4, 1, per_body, False) / 1e6:.2g} ms,
  as long as {time_of_path(10**4, 1, per_body, False) / LATENCY:.0f} messages.
* Longer chains, as built: with 10⁶ bodies the gain is more than half the number of processes for at most {max(2**k for k in range(11) if time_of_path(10**6, 1, per_body, False) / time_of_path(10**6, 2**k, per_body, False) > 0.5 * 2**k)}
  processes; for hundreds if each advanced only its own part of the state.
* Ladders and nets of small meshes: the elimination is {share:.0f} % of what the ladder above takes, rows, poses and momenta are the rest,
  which every process computes; so no number of processes gains more than a factor of {gain:.2g}.
* Anything that has many runs: [studies](../cluster.md), which scale by themselves.
""")


def check(program):
    """Messages and bytes of a small chain are those predicted."""
    with tempfile.TemporaryDirectory() as folder:
        model = write(folder, "model.yaml", "{chain: {n: 2048, qd: [0.3, 0, 0]}}")
        for formulation in ENDS:
            for count in (2, 4):
                summary, _ = run(program, model, ["--formulation", formulation], count, False)
                found = [summary["ranks"][k] / summary["evaluations"] for k in ("messages", "bytes")]
                expected = [messages_of_path(formulation, count), bytes_of_path(formulation, count, 2048)]
                if found != expected:
                    sys.exit(f"{formulation}, {count} processes: messages and bytes {found}, predicted {expected}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program")
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    if arguments.check:
        if not shutil.which("mpirun") or "without MPI" in subprocess.run([arguments.program, "run", "x", "--ranks"], env=ENVIRONMENT,
                                                                         capture_output=True, text=True, check=False).stderr:
            print("skipped: no MPI (tools/install-deps --mpi)")
            sys.exit(77)
        check(arguments.program)
        return
    if not arguments.report:
        results = measure(arguments.program)
        with open(RESULTS, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
            file.write("\n")
    with open(RESULTS, encoding="utf-8") as file:
        write_report(json.load(file))


if __name__ == "__main__":
    main()
