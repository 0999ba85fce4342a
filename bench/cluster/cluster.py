#!/usr/bin/env python3
"""A study on a cluster of 1000 machines, as a model of discrete events; its rates are measured here.

usage: cluster.py --program LINKWORK [--python PYTHON]   measures, checks, simulates: results.json, docs/reports/cluster.md
       cluster.py --simulate                             the same with the rates of results.json
       cluster.py --report                               writes the report from results.json
       cluster.py --test                                 the model against closed forms; measures nothing

Measured: the store (time of a part besides its run, of a part that is looked at), and with PYTHON, which has the packages linkwork
and distributed, what an executor takes for a part that does next to nothing.  Checked: a study by two processes that are killed at
random, against the model with the same parts, kills and pauses.

The model.  Parts wait in one queue.  An executor is a server that takes a time for each part that it gives out, and for each
that ends; without one (shares of an array of jobs) workers take parts by themselves.  A worker computes a part, then writes it: the
store is a server too, with as many writers at once as it has.  Machines are lost at random, with the parts that their workers
were making, and come back after a while.  The executor ends at random; then all parts in work are lost, and it begins again by
looking at all parts.  The disk is slow for a while at random.
"""
import argparse
import heapq
import json
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
RESULTS = os.path.join(HERE, "results.json")
REPORT = os.path.join(ROOT, "docs/reports/cluster.md")
MODEL = os.path.join(ROOT, "examples/models/four_bar.yaml")

# ---------------------------------------------------------------------------------------------- model


@dataclass
class Cluster:
    """Times in seconds; 0 of a mean time: never."""

    nodes: int = 1000
    cores: int = 64
    parts: int = 4 * 64000
    part: float = 20.0          #: mean time of a part
    spread: float = 0.2         #: standard deviation of its logarithm
    executor: float = 0.0       #: time of the executor for a part; 0: there is none
    window: int = 0             #: parts that the executor has at once; 0: any number
    write: float = 0.0          #: time of the store for a part
    writers: int = 1            #: parts that it writes at once
    node_life: float = 0.0      #: mean time to the loss of a machine
    node_away: float = 600.0    #: until it is back
    executor_life: float = 0.0  #: mean time to the end of the executor
    executor_away: float = 60.0
    look: float = 0.0           #: time to look at a part, when the executor begins again
    slow_every: float = 0.0     #: mean time between slow times of the disk
    slow_for: float = 600.0
    slow_by: float = 10.0       #: writes take so many times as long
    seed: int = 1


class Server:
    """Serves in order, so many at once."""

    def __init__(self, places=1):
        self.free = [0.0] * places
        self.busy = 0.0

    def serve(self, now, takes):
        """When it is done."""
        begin = max(now, heapq.heappop(self.free))
        heapq.heappush(self.free, begin + takes)
        self.busy += takes
        return begin + takes


class Simulation:
    """One study, from the first part to the last."""

    def __init__(self, c, kills=None):
        self.c, self.random = c, random.Random(c.seed)
        self.events, self.number = [], 0
        self.store, self.executor = Server(c.writers), Server()
        self.waiting, self.done, self.lost, self.useful, self.losses, self.ends = c.parts, 0, 0.0, 0.0, 0, 0
        self.worker = {}  # of those that have a part: (number of the attempt, begin)
        self.idle = list(range(c.nodes * c.cores))
        self.away = set()  # machines
        self.slow_until, self.closed_until, self.given = -1.0, 0.0, 0
        self.last = 0.0
        for t, node in kills or []:
            self.at(t, "lose", node)
        if c.node_life:
            self.at(self.next(c.node_life / c.nodes), "lose", -1)
        if c.executor_life:
            self.at(self.next(c.executor_life), "end", 0)
        if c.slow_every:
            self.at(self.next(c.slow_every), "slow", 0)

    def next(self, mean):
        return self.random.expovariate(1 / mean)

    def at(self, t, what, who):
        self.number += 1
        heapq.heappush(self.events, (t, self.number, what, who))

    def give(self, now):
        """Parts to idle workers."""
        c = self.c
        while self.idle and self.waiting and not (c.window and self.given >= c.window):
            w = self.idle.pop()
            if w // c.cores in self.away:
                continue
            self.waiting -= 1
            self.given += 1
            begin = self.executor.serve(max(now, self.closed_until), c.executor / 2) if c.executor else now
            takes = c.part * math.exp(self.random.gauss(-c.spread**2 / 2, c.spread)) if c.spread else c.part
            self.number += 1
            self.worker[w] = self.number, begin, takes
            self.at(begin + takes, "computed", (w, self.number))

    def drop(self, w, now):
        """The part of a worker is lost."""
        if w not in self.worker:
            return
        _, begin, _ = self.worker.pop(w)
        self.lost += max(0.0, now - begin)
        self.waiting += 1
        self.given -= 1

    def computed(self, now, who):
        w, attempt = who
        if self.worker.get(w, (0,))[0] == attempt:
            slow = self.c.slow_by if now < self.slow_until else 1
            self.at(self.store.serve(now, self.c.write * slow), "written", who)

    def written(self, now, who):
        w, attempt = who
        if self.worker.get(w, (0,))[0] != attempt:
            return
        self.useful += self.worker.pop(w)[2]
        self.done += 1
        self.last = now
        self.at(self.executor.serve(now, self.c.executor / 2) if self.c.executor else now, "free", w)

    def free(self, now, w):
        self.given -= 1
        if w // self.c.cores not in self.away:
            self.idle.append(w)
        self.give(now)

    def lose(self, now, node):
        c = self.c
        if node < 0:
            node = self.random.randrange(c.nodes)
            self.at(now + self.next(c.node_life / c.nodes), "lose", -1)
        if node in self.away:
            return
        self.losses += 1
        self.away.add(node)
        for w in range(node * c.cores, (node + 1) * c.cores):
            self.drop(w, now)
        self.idle = [w for w in self.idle if w // c.cores != node]
        self.at(now + c.node_away, "back", node)
        self.give(now)

    def back(self, now, node):
        self.away.discard(node)
        self.idle += range(node * self.c.cores, (node + 1) * self.c.cores)
        self.give(now)

    def end(self, now, _):
        """The executor ends, with all parts in work."""
        c = self.c
        self.ends += 1
        for w in list(self.worker):
            self.drop(w, now)
            self.idle.append(w)
        self.given = 0
        self.closed_until = now + c.executor_away + c.look * c.parts
        self.executor = Server()
        self.at(self.closed_until, "open", 0)
        self.at(self.closed_until + self.next(c.executor_life), "end", 0)

    def open(self, now, _):
        self.give(now)

    def slow(self, now, _):
        self.slow_until = now + self.c.slow_for
        self.at(self.slow_until + self.next(self.c.slow_every), "slow", 0)

    def run(self):
        """{what: number} of the whole study."""
        c = self.c
        self.give(0.0)
        while self.done < c.parts:
            now, _, what, who = heapq.heappop(self.events)
            getattr(self, what)(now, who)
        ideal = c.parts * c.part / (c.nodes * c.cores)
        return {"time": self.last, "rate": c.parts / self.last, "of_ideal": ideal / self.last,
                "lost": self.lost / (self.lost + self.useful), "losses": self.losses, "ends": self.ends,
                "store": self.store.busy / c.writers / self.last,
                "executor": (c.parts * c.executor / self.last) if c.executor else 0.0}


def test():
    """The model against closed forms."""
    base = Cluster(nodes=2, cores=2, parts=400, part=1, spread=0)
    assert Simulation(base).run()["time"] == 100, "parts by workers"
    assert abs(Simulation(replace(base, executor=1.0)).run()["time"] - 401) < 2, "an executor that is the bottleneck"
    assert abs(Simulation(replace(base, write=1.0)).run()["time"] - 401) < 2, "a store that is the bottleneck"
    assert abs(Simulation(replace(base, window=1)).run()["time"] - 400) < 1e-9, "one part at a time"
    # of exponential losses of one worker per node: lost time is that of attempts that end before the part does
    c = Cluster(nodes=200, cores=1, parts=40000, part=1, spread=0, node_life=2, node_away=0, seed=3)
    found = Simulation(c).run()["lost"]
    rate = 1 / c.node_life
    mean_attempts = math.exp(rate * c.part) - 1
    mean_lost = mean_attempts * (1 / rate - c.part / (math.exp(rate * c.part) - 1))
    expected = mean_lost / (mean_lost + c.part)
    assert abs(found - expected) < 0.02 * expected, (found, expected)


# ------------------------------------------------------------------------------------------- measured


def sweep(program, *words):
    begin = time.perf_counter()
    done = subprocess.run([program, "sweep", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return time.perf_counter() - begin


def measure_store(program, folder):
    """A part besides its run, and to look at one: the least of several, since the machine may do something else."""
    parts, writes, looks = 40, [], []
    words = [MODEL, "--vary", f"gravity.y=-9.81:-1:{parts}", "--duration", "1e-6", "--watch", "sys.T", "--threads", "1", "--quiet"]
    for i in range(15):
        store = os.path.join(folder, f"store{i}")
        many = sweep(program, *words, "--store", store, "--part-rows", "1")
        one = sweep(program, *words, "--store", store + "-whole", "--part-rows", str(parts))
        writes.append((many - one) / (parts - 1))
        looks.append(sweep(program, "--status", store) / parts)
    sizes = [os.path.getsize(os.path.join(store, "parts", name)) for name in os.listdir(os.path.join(store, "parts"))]
    writes.sort()
    return {"write": writes[0], "median": writes[len(writes) // 2], "look": min(looks), "bytes": sum(sizes) / parts}


EXECUTOR = """
import sys, time
import linkwork as lw
from linkwork import _store
kind, folder, parts, workers = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
if __name__ == "__main__":
    study = dict(model=%r, space={"gravity.y": f"-9.81:-1:{parts}"})
    if kind == "dask":
        from distributed import Client
        executor = Client(n_workers=workers, threads_per_worker=1, dashboard_address=None)
    else:
        from concurrent.futures import ProcessPoolExecutor
        executor = ProcessPoolExecutor(workers)
    times = []
    for i in range(3):
        begin = time.process_time()
        lw.sweep(%r, {"gravity.y": f"-9.81:-1:{parts}"}, "sys.T", duration=1e-6, store=f"{folder}/{kind}{i}", part_rows=1,
                 executor=executor)
        times.append(time.process_time() - begin)
    print(min(times) / parts)
""" % (MODEL, MODEL)


def measure_executor(python, kind, folder):
    parts = 300
    script = os.path.join(folder, "executor.py")
    with open(script, "w", encoding="utf-8") as file:
        file.write(EXECUTOR)
    done = subprocess.run([python, script, kind, folder, str(parts), "1"], capture_output=True, text=True, check=False, timeout=600)
    if done.returncode:
        print(done.stderr[-2000:], file=sys.stderr)
        return None
    return float(done.stdout.split()[-1])


# --------------------------------------------------------------------------------- a real run with kills


def complete_parts(folder):
    return len([n for n in os.listdir(os.path.join(folder, "parts")) if n.endswith(".csv") and not n.startswith(".")])


class Half:
    """A process that makes half of a study, begun again after each kill. Its clock is processor time, which does not depend on what
    else the machine runs."""

    def __init__(self, words):
        self.words, self.used, self.kills, self.ended = words, 0.0, [], False
        self.start()

    def start(self):
        self.pid = subprocess.Popen(self.words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).pid

    def wait(self, how):
        pid, _, usage = os.wait4(self.pid, how)
        if pid:
            self.used += usage.ru_utime + usage.ru_stime
        return pid

    def look(self):
        if not self.ended:
            self.ended = bool(self.wait(os.WNOHANG))

    def kill(self):
        if self.ended:
            return
        os.kill(self.pid, signal.SIGKILL)
        self.wait(0)
        self.kills.append(self.used)
        self.start()


def run_killed(program, folder, parts, rows, kills):
    """Two processes make the halves of a study, and are killed at the times given. Both, and the time that it took."""
    words = [program, "sweep", MODEL, "--vary", f"gravity.y=-9.81:-1:{parts * rows}", "--duration", "3", "--watch", "sys.T",
             "--threads", "1", "--quiet", "--part-rows", str(rows), "--store", folder]
    begin = time.perf_counter()
    halves = [Half([*words, "--part", f"{k}/2"]) for k in (1, 2)]
    pending = sorted(kills)
    while not all(half.ended for half in halves):
        for half in halves:
            half.look()
        if pending and time.perf_counter() - begin >= pending[0][0]:
            halves[pending.pop(0)[1]].kill()
        time.sleep(0.002)
    return halves, time.perf_counter() - begin


def check_run(program, folder):
    """Undisturbed, then with kills: measured and predicted, in processor time."""
    parts, rows, rounds = 60, 40, []
    for i in range(3):
        calm, wall = run_killed(program, os.path.join(folder, f"calm{i}"), parts, rows, [])
        again, _ = run_killed(program, os.path.join(folder, f"calm{i}"), parts, rows, [])  # nothing is missing
        begin = sum(half.used for half in again) / 2
        part = (sum(half.used for half in calm) / 2 - begin) / (parts / 2)
        source = random.Random(i)
        kills = [(source.uniform(0.05, 0.95) * wall, source.randrange(2)) for _ in range(16)]
        store = os.path.join(folder, f"killed{i}")
        halves, _ = run_killed(program, store, parts, rows, kills)
        assert complete_parts(store) == parts
        predicted = 0.0
        for half in halves:  # each half is a queue of its own
            c = Cluster(nodes=1, cores=1, parts=parts // 2, part=part, spread=0, node_away=begin)
            predicted += begin + Simulation(c, [(t - begin, 0) for t in half.kills]).run()["time"]
        rounds.append({"part": part, "begin": begin, "kills": sum(len(half.kills) for half in halves),
                       "calm": sum(half.used for half in calm), "real": sum(half.used for half in halves), "predicted": predicted})
        print(rounds[-1], flush=True)
    return rounds


# -------------------------------------------------------------------------------------------- scenarios

DAY = 86400.0


def scenarios(measured):
    write, look = measured["store"]["write"], measured["store"]["look"]
    shares = Cluster(write=write, writers=1, look=look)
    dask = replace(shares, executor=measured["dask"] or 0.001)
    wide = replace(shares, writers=16)
    long = replace(wide, part=600)
    scheduled = replace(long, executor=dask.executor)
    return [
        ("shares of job arrays", shares), ("the same, parts of 60 s", replace(shares, part=60)),
        ("a store with 16 writers at once", wide),
        ("the same, parts of 10 minutes", long),
        ("and machines that live 30 days", replace(long, node_life=30 * DAY)),
        ("and machines that live 1 day", replace(long, node_life=DAY)),
        ("and a disk that is 100 times as slow for 5 minutes of 15", replace(long, slow_every=600, slow_for=300, slow_by=100)),
        ("Dask, 256 parts at once", replace(dask, writers=16, window=256, parts=64000)),
        ("Dask, as many as there are workers", replace(dask, writers=16)),
        ("the same, parts of 10 minutes", scheduled),
        ("and a scheduler that dies every 20 minutes, machines live 30 days",
         replace(scheduled, executor_life=1200, node_life=30 * DAY)),
    ]


def write_report(r):
    m = r["measured"]
    rows = "\n".join(
        f"| {s['name']} | {s['part']:.0f} | {s['result']['rate']:.0f} | {100 * s['result']['of_ideal']:.0f} | {100 * s['result']['lost']:.2g} | "
        f"{s['result']['losses']} | {s['result']['ends']} | {100 * s['result']['store']:.0f} | {min(100, 100 * s['result']['executor']):.0f} |" for s in r["scenarios"])
    checks = "\n".join(f"| {c['kills']} | {c['part'] * 1000:.0f} | {c['begin'] * 1000:.0f} | {c['calm']:.2f} | {c['real']:.2f} | {c['predicted']:.2f} | "
                       f"{100 * (c['predicted'] / c['real'] - 1):+.0f} |" for c in r["checks"])
    def microseconds(x):
        return "not measured" if x is None else f"{x * 1e6:.0f}"
    with open(REPORT, "w", encoding="utf-8") as file:
        file.write(f"""# A study on 1000 machines

Made by `bench/cluster/cluster.py`: a model of discrete events, with rates measured on one machine. **No cluster of this size was
used.** How studies are run: [when one machine is not enough](../cluster.md).

## Measured here

| | µs of a part |
|---|---|
| store: a part besides its run: temporary file, fsync, rename, fsync of the folder ({m['store']['bytes']:.0f} bytes); minimum of 15 | {microseconds(m['store']['write'])} |
| the same, median | {microseconds(m['store']['median'])} |
| store: to check that a part is complete, `--status` | {microseconds(m['store']['look'])} |
| executor, a process pool: submit, wait, result; processor time of the calling process | {microseconds(m['processes'])} |
| executor, Dask: the same, with its scheduler | {microseconds(m['dask'])} |

Other work made the machine busy (a load of {m['load']:.0f} on {os.cpu_count()} processors), so the store was slower than on one that is idle; times of
executors are processor time. A shared file system over a network takes longer for
fsync than this disk; the table below is for this disk, and a store that is n times as slow has n times the load.

## Checked: two processes that are killed

Two `linkwork sweep --part K/2` make 60 parts; they are killed at random times and begun again at once. The model has the same
kills, and from the run without kills the times of a part and of a process that begins. Times are those of the processor, of
both processes together, so that other work on the machine does not count.

| kills | part, ms | begin, ms | without kills, s | with kills, s | predicted, s | error, % |
|---|---|---|---|---|---|---|
{checks}

## 1000 machines with 64 cores

64 000 workers, 4 parts for each, times of parts spread by a fifth. *Of the ideal*: rate by that of 64 000 workers that never
wait. The last parts of a study of only four for each worker leave workers without work; this is in all rows. Lost: computing time of
parts that were not completed, in % of all.

| | part, s | parts/s | of the ideal, % | lost, % | machines lost | ends of the executor | store busy, % | executor busy, % |
|---|---|---|---|---|---|---|---|---|
{rows}

## What follows

* Parts of 20 s of 64 000 workers are 3200 files in a second, each with two fsync. One writer at a time makes
  {1 / m['store']['write']:.0f} of them in a second on this disk. Longer parts are the remedy: `--part-rows`.
* An executor with one scheduler gives out {1 / (m['dask'] or math.nan):.0f} parts in a second here. Parts must take
  {64000 * (m['dask'] or math.nan):.0f} s for 64 000 workers not to wait for it. Shares of job arrays (`--part K/N`) have no scheduler.
* Machines that are lost cost half a part for each of their workers, which is little at any lifetime of machines that occurs. A scheduler that
  dies costs half a part of all workers, and the time to begin again.
""")


def save(results):
    with open(RESULTS, "w", encoding="utf-8") as file:
        json.dump(results, file, indent=1)
        file.write("\n")


def simulate():
    with open(RESULTS, encoding="utf-8") as file:
        results = json.load(file)
    results["scenarios"] = []
    for name, cluster in scenarios(results["measured"]):
        results["scenarios"].append({"name": name, "part": cluster.part, "result": Simulation(cluster).run()})
        print(results["scenarios"][-1], flush=True)
    save(results)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program")
    parser.add_argument("--python")
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--simulate", action="store_true")
    parser.add_argument("--test", action="store_true")
    arguments = parser.parse_args()
    if arguments.test:
        test()
        return
    if not arguments.report and not arguments.simulate:
        folder = tempfile.mkdtemp()
        try:
            measured = {"store": measure_store(arguments.program, folder)}
            for kind in ("processes", "dask"):
                measured[kind] = measure_executor(arguments.python, kind, folder) if arguments.python else None
            measured["load"] = os.getloadavg()[0]
            print(measured, flush=True)
            save({"measured": measured, "checks": check_run(arguments.program, folder), "scenarios": []})
        finally:
            shutil.rmtree(folder)
    if not arguments.report:
        simulate()
    with open(RESULTS, encoding="utf-8") as file:
        write_report(json.load(file))


if __name__ == "__main__":
    main()
