#!/usr/bin/env python3
"""Kills processes of studies in folders and of runs with checkpoints at random times, and fills disks; what is in the
results afterwards is compared with those of one undisturbed thread.

usage: chaos.py --program LINKWORK [--python PYTHON] [--rows N] [--kills K] [--runs K] [--full K] [--damage K] [--seed S]
                [--hours H] [--only NAME,...]
       chaos.py --report

PYTHON has the package linkwork, and distributed, mpi4py, ray for the executors of these; those it does not have are reported as
not run.  K kills of each number of workers and each executor; --runs: kills of single runs; --full: disks that are full;
--damage: parts that are damaged.  All are tried side by side, since most of the time they wait; after --hours none begins again,
and the report has what was done.  results.json here has a list of calls, each with its version, time and rows; what has ended is
written to it at once.  docs/reports/studies.md is written from it, with the sums over all calls, by --report alone.  Exit status 1: a table or a result differs.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import random
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
MODEL = os.path.join(ROOT, "examples/models/four_bar.yaml")
REPORT = os.path.join(ROOT, "docs/reports/studies.md")
PAUSE = {"program": (0.02, 0.4), "processes": (1, 3), "dask": (1, 4), "mpi": (1, 3), "ray": (3, 8)}  # s between kills


def sha(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def start(*words, **more):
    return subprocess.Popen([str(w) for w in words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                            start_new_session=True, **more)


def kill_group(process):
    """A process and all that it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
    process.stderr.close()


def children(pid):
    """All processes that a process has started, and theirs."""
    found, last = [], [pid]
    while last:
        out = subprocess.run(["ps", "-o", "pid=", "--ppid", ",".join(map(str, last))], capture_output=True, text=True, check=False)
        last = [int(word) for word in out.stdout.split()]
        found += last
    return found


def count(row, victim):
    row["kills"] += 1
    row[victim] = row.get(victim, 0) + 1


class Chaos:
    def __init__(self, options, of=None, name=""):
        self.o, self.name = options, name
        self.rows = options.rows
        self.random = random.Random(f"{options.seed} {name}")
        self.folder = of.folder if of else tempfile.mkdtemp(prefix="chaos-")
        self.failed = of.failed if of else []
        self.version = of.version if of else self.linkwork("--version").strip()
        self.whole = of.whole if of else self.reference()
        self.begun = of.begun if of else time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())
        self.seconds = None  # of a run
        self.until = of.until if of else time.monotonic() + 3600 * options.hours

    def wanted(self, done, of):
        """Whether more are to be done, and there is time."""
        return done < of and time.monotonic() < self.until

    def at(self, name):
        return os.path.join(self.folder, name)

    def linkwork(self, *words):
        done = subprocess.run([self.o.program, *map(str, words)], capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{' '.join(map(str, words))}: {done.stderr}")
        return done.stdout

    # ------------------------------------------------------------------------------------- studies

    def study(self):
        return ("sweep", MODEL, "--vary", f"gravity.y=-9.81:-1:{self.rows}", "--duration", 0.5, "--sample", 0.05, "--watch",
                "sys.T,joint.A.q0")

    def reference(self):
        """SHA-256 of the table by one thread that nothing disturbs."""
        path = self.at(self.name + "whole.csv")
        self.linkwork(*self.study(), "--threads", 1, "--table", path, "-q")
        return sha(path)

    def begin(self, name):
        folder = self.at(self.name + name)
        self.linkwork(*self.study(), "--store", folder, "--part-rows", max(1, self.o.rows // 100), "--part", "1/1000000", "-q")
        return folder

    def complete(self, folder):
        state = json.loads(self.linkwork("sweep", "--status", folder, "--json"))
        return state["complete"] == state["parts"]

    def finish(self, folder, row):
        """What came of it, once all is complete."""
        self.linkwork("sweep", "--resume", folder, "-q")
        self.linkwork("sweep", "--verify", folder, "-q")
        table = folder + ".csv"
        self.linkwork("sweep", "--merge", folder, "-o", table, "-q")
        with open(table, encoding="ascii") as file:
            numbers = [int(line.split(",", 1)[0]) for line in file.readlines()[1:]]
        row["lost"] = row.get("lost", 0) + self.rows - len(set(numbers))
        row["doubled"] = row.get("doubled", 0) + len(numbers) - len(set(numbers))
        row["same"] = row.get("same", True) and sha(table) == self.whole
        if row["lost"] or row["doubled"] or not row["same"]:
            self.failed.append(row)
        shutil.rmtree(folder)
        print(row, flush=True)
        return row

    def next_pause(self, kind):
        time.sleep(self.random.uniform(*PAUSE[kind]))

    def of_program(self, workers):
        """Drivers of one folder; one is killed and replaced, again and again; when a study is complete another one begins."""
        row = {"executor": "program", "workers": workers, "kills": 0, "studies": 0}
        while self.wanted(row["kills"], self.o.kills):
            folder, drivers = self.begin(f"program{row['studies']}"), []
            row["studies"] += 1
            while self.wanted(row["kills"], self.o.kills) and not self.complete(folder):
                drivers = [d for d in drivers if d.poll() is None]
                while len(drivers) < workers:
                    drivers.append(start(self.o.program, "sweep", "--resume", folder, "--threads", 1, "-q"))
                self.next_pause("program")
                victim = self.random.choice(drivers)
                if victim.poll() is None:
                    count(row, "driver")
                kill_group(victim)
            for driver in drivers:
                kill_group(driver)
            row = self.finish(folder, row)
        return row

    def has(self, module):
        return self.o.python and not subprocess.run([self.o.python, "-c", f"import linkwork, {module}"], capture_output=True,
                                                    check=False).returncode

    def driver(self, kind, folder, workers, scheduler):
        words = [self.o.python, "-m", "linkwork.engine", folder, "--engine", kind, "--quiet", "--workers", workers]
        if kind == "mpi":
            words[1:1] = ["-m", "mpi4py.futures"]
            words = ["mpiexec", "--allow-run-as-root", "--oversubscribe", "-n", workers + 1, *words]
        return start(*words, *(["--scheduler", scheduler] if scheduler else []))

    def of_python(self, kind, workers):
        """The driver or any process that it started is killed; then all of it begins again."""
        module = {"processes": "concurrent.futures", "dask": "distributed", "mpi": "mpi4py", "ray": "ray"}[kind]
        row = {"executor": kind, "workers": workers, "kills": 0, "studies": 0}
        if not self.has(module):
            return {**row, "absent": module}
        while self.wanted(row["kills"], self.o.kills):
            folder = self.begin(f"{kind}{row['studies']}")
            row["studies"] += 1
            cluster = Dask(self.o.python, workers) if kind == "dask" else None
            driver = None
            while self.wanted(row["kills"], self.o.kills) and not self.complete(folder):
                if driver is None or driver.poll() is not None:
                    driver = self.driver(kind, folder, workers, cluster and cluster.address)
                self.next_pause(kind)
                if cluster and self.random.random() < 0.7:
                    scheduler = cluster.kill_one(self.random)
                    count(row, "scheduler" if scheduler else "worker")
                    if scheduler:  # the driver cannot continue
                        kill_group(driver)
                    continue
                victim = self.random.choice([driver.pid, *children(driver.pid)])
                if driver.poll() is None:
                    try:
                        os.kill(victim, signal.SIGKILL)
                        count(row, "driver" if victim == driver.pid else "worker")
                    except ProcessLookupError:
                        pass
                    time.sleep(0.3)
                    kill_group(driver)
            if driver:
                kill_group(driver)
            if cluster:
                cluster.end()
            row = self.finish(folder, row)
        return row

    def with_workers(self, kind):
        """1, 2 and 4 workers of an executor, one after the other, each for a third of the time."""
        end = self.until
        for n, share in ((1, 3), (2, 2), (4, 1)):
            self.until = time.monotonic() + (end - time.monotonic()) / share
            self.keep("studies", self.of_program(n) if kind == "program" else self.of_python(kind, n))

    def keep(self, name, row):
        """Adds a row to the results; one in which there was no time for anything is left out."""
        if "absent" not in row and (row.get("studies") == 0 or row.get("runs") == 0):
            return
        with KEEPING:
            result = read_results()
            call = next((c for c in result["calls"] if c["begun"] == self.begun), None)
            if not call:
                call = {"begun": self.begun, "version": self.version, "rows": self.rows, "cpus": os.cpu_count(), "seed": self.o.seed}
                result["calls"].append(call)
            call.setdefault(name, []).append(row)
            write_results(result)

    def side_by_side(self, only):
        """All that is to be tried."""
        tries = {kind: lambda one, kind=kind: one.with_workers(kind) for kind in PAUSE}
        tries.update(two=lambda one: one.keep("studies", one.two_drivers()), full=lambda one: one.keep("full", one.full_disks()),
                     damages=lambda one: one.keep("damages", one.damages()), runs=Chaos.single_runs,
                     overhead=lambda one: one.keep("overhead", one.overhead()))
        tries = {name: of for name, of in tries.items() if name in only}
        with concurrent.futures.ThreadPoolExecutor(len(tries)) as pool:
            for future in [pool.submit(of, Chaos(self.o, self, name)) for name, of in tries.items()]:
                future.result()

    def two_drivers(self):
        """Without deaths: what is in the folder, and how many parts were made twice."""
        folder = self.begin("two")
        drivers = [start(self.o.program, "sweep", "--resume", folder, "--threads", 1, "--json") for _ in range(2)]
        for driver in drivers:
            driver.communicate()
        return self.finish(folder, {"executor": "program", "workers": 2, "kills": 0, "studies": 1})

    def full_disks(self):
        """The largest size of a file, or of a file system where one can be mounted, is reached at a random time."""
        row = {"executor": "program", "workers": 1, "full": 0, "studies": 0, "file systems": 0}
        while self.wanted(row["full"], self.o.full):
            disk = self.at("disk")
            os.makedirs(disk, exist_ok=True)
            mounted = not subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={self.random.randint(64, 2500)}k", "tmpfs", disk],
                                         capture_output=True, check=False).returncode
            row["file systems"] += mounted
            folder = os.path.join(disk, "study")
            size = self.random.randint(100, 60000)

            def limit(size=size):
                resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

            done = subprocess.run([self.o.program, *map(str, self.study()), "--store", folder, "--part-rows",
                                   str(max(1, self.o.rows // 100)), "-q"], capture_output=True, text=True, check=False,
                                  preexec_fn=None if mounted else limit)
            hit = done.returncode == 1 and ("No space left" in done.stderr or "File too large" in done.stderr)
            row["full"] += hit
            if done.returncode and not hit:
                self.failed.append({"full disk": done.stderr})
            if mounted:
                subprocess.run(["mount", "-o", "remount,size=100m", disk], check=True)
            self.linkwork(*self.study(), "--store", folder, "--part-rows", max(1, self.o.rows // 100), "-q")
            self.linkwork("sweep", "--merge", folder, "-o", self.at("full.csv"), "-q")
            row["studies"] += 1
            row["same"] = row.get("same", True) and sha(self.at("full.csv")) == self.whole
            shutil.rmtree(folder)
            if mounted:
                subprocess.run(["umount", disk], check=True)
        if not row.get("same", True):
            self.failed.append(row)
        print(row, flush=True)
        return row

    def damages(self):
        """A few parts of a complete study are changed, cut or lost; verify names those that it finds, and they are computed again."""
        row = {"damaged": 0, "found": 0, "lost": 0, "studies": 0}
        while self.wanted(row["damaged"], self.o.damage):
            folder = self.begin("damaged")
            self.linkwork("sweep", "--resume", folder, "-q")
            parts = os.path.join(folder, "parts")
            chosen = self.random.sample(sorted(os.listdir(parts)), min(10, self.o.damage - row["damaged"]))
            for part in chosen:
                self.damage(os.path.join(parts, part))
            named = subprocess.run([self.o.program, "sweep", "--verify", folder], capture_output=True, text=True, check=False)
            row["damaged"] += len(chosen)
            row["found"] += sum(part in named.stderr + named.stdout for part in chosen)
            self.finish(folder, row)
            row["studies"] += 1
        if row["found"] != row["damaged"]:
            self.failed.append(row)
        return row

    def damage(self, path):
        """A byte is changed, or the end is cut."""
        with open(path, "rb") as file:
            text = bytearray(file.read())
        at = self.random.randrange(len(text))
        if self.random.random() < 0.5:
            text[at] ^= 1 << self.random.randrange(8)
        else:
            del text[at:]
        with open(path, "wb") as file:
            file.write(text)

    # ---------------------------------------------------------------------------------------- runs

    def single_runs(self):
        """Runs with checkpoints, killed and continued until they end; each method in a separate folder."""
        methods = [("dopri54",), ("rk4", "--step", 0.001), ("dopri5",), ("verner87",), ("bdf",), ("adams",),
                   ("index3", "--formulation", "index3", "--step", 0.002), ("index3", "--formulation", "index3"),
                   ("rattle", "--formulation", "rattle", "--step", 0.002)]

        def tried(i):
            one = Chaos(self.o, self, f"runs {i}")
            one.folder = self.at(f"runs{i}")
            os.makedirs(one.folder)
            one.keep("runs", one.runs_of(methods[i], self.o.runs / len(methods)))

        with concurrent.futures.ThreadPoolExecutor(len(methods)) as pool:
            list(pool.map(tried, range(len(methods))))

    def runs_of(self, method, kills):
        """Runs of one method until there are so many kills."""
        words = ["run", MODEL, "--duration", 6, "-q", "--integrator", *method, "--every", 0.3]
        whole = self.run_through(words)
        self.seconds = whole["seconds"]
        row = {"integrator": " ".join(map(str, method)), "kills": 0, "runs": 0, "same": 0}
        while self.wanted(row["kills"], kills):
            row["kills"] += self.killed_run(words)
            row["runs"] += 1
            row["same"] += self.results("b") == whole["results"]
        if row["same"] != row["runs"]:
            self.failed.append(row)
        print(row, flush=True)
        return row

    def results(self, name):
        """Hashes of the rows, of the HDF5 result by way of CSV."""
        self.linkwork("convert", self.at(name + ".h5"), "-o", self.at("rows.csv"))
        found = sha(self.at(name + ".csv")), sha(self.at("rows.csv"))
        os.remove(self.at("rows.csv"))
        return found

    def run_through(self, words):
        begun = time.monotonic()
        self.linkwork(*words, "--checkpoint", self.at("a.ck"), "-o", self.at("a.csv"), "-o", self.at("a.h5"))
        return {"seconds": time.monotonic() - begun, "results": self.results("a")}

    def killed_run(self, words):
        """Until it has ended; how often it was killed.  How long a run takes depends on what else the machine does, so the time
        in which it is killed follows from how often it ended before."""
        for name in ("b.ck", "b.csv", "b.h5"):
            if os.path.exists(self.at(name)):
                os.remove(self.at(name))
        first = [*words, "--checkpoint", self.at("b.ck"), "-o", self.at("b.csv"), "-o", self.at("b.h5")]
        kills, most = 0, 8
        while True:
            begun = os.path.exists(self.at("b.ck")) and os.path.getsize(self.at("b.ck"))
            run = start(self.o.program, *(("run", "--resume", self.at("b.ck"), "-q") if begun else first))
            if kills < most:
                time.sleep(self.random.uniform(0, 0.7 * self.seconds))
            else:
                run.wait()
                self.seconds *= 1.3
            if kills == 0 and run.poll() is not None:
                self.seconds *= 0.8
            if run.poll() is not None:
                if run.returncode:
                    raise SystemExit(f"{words}: {run.stderr.read()}")
                run.stderr.close()
                return kills
            kills += 1
            kill_group(run)

    # ------------------------------------------------------------------------------------- overhead

    def overhead(self):
        """Instructions of a study in a folder relative to those of the same sweep without one."""
        if not shutil.which("valgrind"):
            return {"absent": "valgrind"}
        words = ("sweep", MODEL, "--vary", "gravity.y=-9.81:-1:400", "--duration", 1, "--watch", "sys.T", "--threads", 1, "-q")

        def count(*more):
            done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", self.o.program,
                                   *map(str, words + more)], capture_output=True, text=True, check=False)
            found = re.search(r"Collected : (\d+)", done.stderr)
            if done.returncode or not found:
                raise SystemExit(done.stderr)
            return int(found.group(1))

        bare = count("--table", self.at("o.csv"))
        rows = []
        for part_rows in (400, 100, 25):
            folder = self.at(f"overhead{part_rows}")
            rows.append({"part rows": part_rows, "ratio": count("--store", folder, "--part-rows", part_rows) / bare})
        print(bare, rows, flush=True)
        return {"instructions": bare, "rows": rows, "studies": 1}


class Dask:
    """A scheduler and workers as separate processes."""

    def __init__(self, python, workers):
        self.python, self.n = python, workers
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.workers = []
        self.begin_scheduler()

    def begin_scheduler(self):
        self.scheduler = start(self.python, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", self.port,
                               "--no-dashboard")
        for worker in self.workers:
            kill_group(worker)
        self.workers = [self.begin_worker() for _ in range(self.n)]

    def begin_worker(self):
        return start(self.python, "-m", "distributed.cli.dask_worker", self.address, "--nthreads", 1, "--no-nanny", "--no-dashboard")

    def kill_one(self, chosen):
        """A worker, which is replaced, or the scheduler: true."""
        if chosen.random() < 0.25:
            kill_group(self.scheduler)
            self.begin_scheduler()
            return True
        k = chosen.randrange(self.n)
        kill_group(self.workers[k])
        self.workers[k] = self.begin_worker()
        return False

    def end(self):
        for process in (self.scheduler, *self.workers):
            kill_group(process)


# -------------------------------------------------------------------------------------------- report

def table(head, rows):
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head),
                      *("| " + " | ".join(map(str, row)) + " |" for row in rows)])


def verdict(row):
    return f"not run: no {row['absent']}" if "absent" in row else "yes" if row.get("same") else "NO"


def report(results):
    calls = results["calls"]
    r = {name: sums(calls, name) for name in ("studies", "full", "damages", "runs")}
    sizes = sorted({call["rows"] for call in calls})
    parts = [f"""# Studies and runs that are killed

Made by `bench/chaos/chaos.py`, which kills processes by SIGKILL at random times and fills disks. A study has {" or ".join(map(str, sizes))} runs
of a four-bar in 100 parts; its table is compared with that of one thread that nothing disturbed, by
SHA-256. [When one machine is not enough](../cluster.md) says how studies are made.

Rows below are sums over calls of that program; the column *calls* has the numbers of these:
"""]
    parts.append(table(["call", "begun", "version", "processors", "runs of a study"],
                       [(k, call["begun"], call["version"], call["cpus"], call["rows"]) for k, call in enumerate(calls, 1)]))
    parts.append("""
## Studies

*Program*: several `linkwork sweep --resume` of one folder, one of which is killed and begun again. *Processes*, *dask*, *mpi*,
*ray*: `linkwork.engine`; the driver, a worker or the scheduler is killed. The workers of processes, mpi and ray are all that the
driver has started: `mpiexec` and its ranks, the scheduler and the other servers of Ray.
""")
    r["studies"].sort(key=lambda row: (list(PAUSE).index(row["executor"]), row["workers"], -row["kills"]))
    kills = sum(row["kills"] for row in r["studies"])
    rows = [(row["executor"], row["workers"], of_calls(row), row["studies"], *(row.get(k, 0) for k in ("kills", "driver", "worker", "scheduler")),
             row.get("lost", "-"), row.get("doubled", "-"), verdict(row)) for row in r["studies"]]
    parts.append(table(["executor", "workers", "calls", "studies", "kills", "driver", "worker", "scheduler", "rows lost", "rows doubled",
                        "same table"], rows))
    parts.append(f"\n{kills} kills in all. Two drivers of one folder without kills are the row with 0.")
    for f in r["full"]:
        limits = f["studies"] - f["file systems"]
        parts.append(f"\n## Full disks\n\n{f['full']} of {f['studies']} studies (calls: {of_calls(f)}) met a full disk at a random time ("
                     f"{f['file systems']} on a file system of limited size, {limits} by a limit for files), ended with status 1 and "
                     f"the message of the operating system, and were continued when there was room: same table: {verdict(f)}.")
    for d in r["damages"]:
        parts.append(f"\n## Damaged parts\n\nIn {d['studies']} complete studies (calls: {of_calls(d)}) {d['damaged']} parts were damaged, by a "
                     f"changed bit or a missing end. `--verify` found {d['found']} of them, and `--resume` computed them again: same tables: {verdict(d)}.")
    if r["runs"]:
        kills = sum(row["kills"] for row in r["runs"])
        parts.append("\n## Runs with checkpoints\n\nA four-bar over 6 s, a checkpoint every 0.3 s, rows as CSV and HDF5; killed at "
                     f"random times and continued until it has ended. {kills} kills in all.\n")
        parts.append(table(["integrator", "calls", "runs", "kills", "same rows, bit for bit"],
                           [(f"`{row['integrator']}`", of_calls(row), row["runs"], row["kills"], f"{row['same']} of {row['runs']}")
                            for row in r["runs"]]))
    for o in [o for call in calls for o in call.get("overhead", []) if "rows" in o][-1:]:
        parts.append("\n## Cost of the folder\n\nInstructions (callgrind) of a study of 400 runs over 1 s in a folder, relative to the same "
                     f"sweep without one ({o['instructions'] / 1e9:.2f}e9). When a study begins and `--part-rows` is not "
                     "given, a few runs for a second come in addition.\n")
        parts.append(table(["runs of a part", "instructions, relative"],
                           [(row["part rows"], f"{row['ratio']:.4f}") for row in o["rows"]]))
    if os.path.exists(OVERHEAD):
        with open(OVERHEAD, encoding="utf-8") as file:
            o = json.load(file)
        parts.append(f"\n## Cost of Dask\n\nBy `bench/cluster/overhead.py`: {o['rows']} runs of a four-bar over {o['duration']} s in {o['parts']} "
                     f"parts by {o['workers']} workers of a cluster that has begun, and by one sweep with as many threads, in turn; the load of the machine at the "
                     f"end, these included, was {o['load']:.0f}. Processor time is that of scheduler, driver and workers. Both have the same "
                     "table, but each worker is a process with one thread, and the sweep one process with all threads: the column "
                     "*more, %* is the cost of Dask with that difference.\n")
        parts.append(table(["try", "processor, Dask, s", "one sweep, s", "more, %", "wall, Dask, s", "one sweep, s"],
                           [(k + 1, *(f"{t[kind]['processor']:.2f}" for kind in ("dask", "bare")),
                             f"{100 * (t['dask']['processor'] / t['bare']['processor'] - 1):.1f}",
                             *(f"{t[kind]['wall']:.1f}" for kind in ("dask", "bare"))) for k, t in enumerate(o["tries"])]))
    with open(REPORT, "w", encoding="utf-8") as file:
        file.write("\n".join(parts) + "\n")


KEEPING = threading.Lock()
NAMES = ("executor", "workers", "integrator")  # of what a row is
OVERHEAD = os.path.join(ROOT, "bench/cluster/overhead.json")
RESULTS = os.path.join(HERE, "results.json")


def read_results():
    if not os.path.exists(RESULTS):
        return {"calls": []}
    with open(RESULTS, encoding="utf-8") as file:
        return json.load(file)


def write_results(result):
    with open(RESULTS + ".new", "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
        file.write("\n")
    os.replace(RESULTS + ".new", RESULTS)


def sums(calls, name):
    """Rows of all calls, those of the same kind added up; `same` is that of all, `calls` the numbers of their calls from 1."""
    of = {}
    for number, call in enumerate(calls, 1):
        for row in call.get(name, []):
            row = {**row, "calls": [number]}
            if row.get("executor") == "program" and "kills" in row:
                row["driver"] = row["kills"]  # it kills nothing else
            key = (*(row.get(k) for k in NAMES), row.get("kills") == 0, "absent" in row)
            of[key] = add(of[key], row) if key in of else row
    return list(of.values())


def add(one, other):
    total = dict(one)
    for key, value in other.items():
        if isinstance(value, bool):
            total[key] = total.get(key, True) and value
        elif key == "calls":
            total[key] = sorted({*total[key], *value})
        elif key not in NAMES and isinstance(value, (int, float)):
            total[key] = total.get(key, 0) + value
    return total


def of_calls(row):
    return ", ".join(map(str, row["calls"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program")
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--python")
    parser.add_argument("--rows", type=int, default=10000)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--full", type=int, default=50)
    parser.add_argument("--damage", type=int, default=100)
    parser.add_argument("--hours", type=float, default=24)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="program,processes,dask,mpi,ray,two,full,damages,runs,overhead")
    options = parser.parse_args()
    if options.report:
        report(read_results())
        return 0
    options.program = os.path.abspath(options.program)
    chaos = Chaos(options)
    chaos.side_by_side(options.only.split(","))
    shutil.rmtree(chaos.folder)
    report(read_results())
    for failure in chaos.failed:
        print("FAILED", failure)
    return bool(chaos.failed)


if __name__ == "__main__":
    sys.exit(main())
