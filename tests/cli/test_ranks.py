#!/usr/bin/env python3
"""`mpirun -n P linkwork run MODEL --ranks`: the rows of one process, byte for byte, and as many messages as predicted.

usage: test_ranks.py LINKWORK MODELS
Skipped without mpirun, or if the program was built without MPI (tools/install-deps --mpi).
"""
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest

from in_folder import LINKWORK, InFolder, linkwork

ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
               "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}  # those of MPI itself
CHAIN = "linkwork: 1\ngenerate: {chain: {n: %d, qd: [0.3, 0, 0]}}\n"
LADDER = "linkwork: 1\ngenerate: {ladder: {n: 60, q: [0.2, 0.3, 0], qd: [0.5, 1, 0]}}\n"


def mpirun(count, *arguments):
    return subprocess.run(["mpirun", "-n", str(count), LINKWORK, "run", *arguments, "--ranks"], env=ENVIRONMENT,
                          capture_output=True, text=True, timeout=300)


class Ranks(InFolder):
    def write(self, name, text):
        path = os.path.join(self.path, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def same_rows(self, model, counts, *options):
        """The summaries of all counts."""
        files = {count: os.path.join(self.path, "%d.csv" % count) for count in (0, *counts)}
        alone = linkwork("run", model, *options, "--quiet", "-o", files[0])
        self.assertEqual(alone.returncode, 0, alone.stderr)
        with open(files[0], "rb") as file:
            expected = file.read()
        summaries = {}
        for count in counts:
            done = mpirun(count, model, *options, "--json", "-o", files[count])
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(files[count], "rb") as file:
                self.assertEqual(file.read(), expected, "%d processes" % count)
            summaries[count] = json.loads(done.stdout)  # of the first process alone
            self.assertEqual(summaries[count]["ranks"]["count"], count)
        return summaries

    def test_chain(self):
        model = self.write("chain.yaml", CHAIN % 2000)
        options = ("--integrator", "rk4", "--step", "1e-4", "--duration", "1e-4", "--sample", "steps")
        for formulation, passes in (("hdca", 2), ("dca", 3)):
            for count, summary in self.same_rows(model, (1, 2, 4, 8), "--formulation", formulation, *options).items():
                # ends up and down the joins of the ranks, tips to the next rank, results to all
                expected = 2 * passes * (count - 1) + (count > 1) * count * (1 + math.log2(count))
                self.assertEqual(summary["ranks"]["messages"], expected * summary["evaluations"])

    def test_loops(self):
        model = self.write("ladder.yaml", LADDER)
        summaries = self.same_rows(model, (1, 2, 4, 8), "--formulation", "hdca", "--plan", "balanced", "--duration", "2e-3",
                                   "--sample", "1e-3")
        self.assertGreater(summaries[8]["ranks"]["messages"], summaries[2]["ranks"]["messages"])

    def test_only_the_first_process_writes_events(self):
        model = self.write("ladder.yaml", LADDER + "events: {tick: {every: 5e-4, record: true}}\n")
        words = [LINKWORK, "run", model, "--formulation", "hdca", "--plan", "balanced", "--duration", "2e-3", "--sample", "1e-3",
                 "--quiet", "--events", "events.csv"]
        self.assertEqual(linkwork(*words[1:], cwd=self.path).returncode, 0)
        folders = [os.path.join(self.path, name) for name in ("first", "second")]
        for folder in folders:
            os.mkdir(folder)
        one, two = (["-n", "1", "--wdir", folder, *words, "--ranks"] for folder in folders)
        done = subprocess.run(["mpirun", *one, ":", *two], env=ENVIRONMENT, capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.bytes_of("first/events.csv"), self.bytes_of("events.csv"))
        self.assertEqual(os.listdir(folders[1]), [])

    def test_disk_full_ends_all(self):
        model = self.write("chain.yaml", CHAIN % 1100)
        full = os.path.join(self.path, "full.csv")
        os.symlink("/dev/full", full)
        done = mpirun(2, model, "--formulation", "hdca", "--integrator", "rk4", "--step", "1e-4", "--duration", "1",
                      "--sample", "steps", "--quiet", "-o", full)  # of 10^4 steps
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("full.csv", done.stderr)

    def stopped_by_a_signal(self, rows, late):
        """Output and messages of a run of two processes, of which the second is suspended for `late` seconds."""
        model = self.write("chain.yaml", CHAIN % 1100)
        words = ["--formulation", "hdca", "--integrator", "rk4", "--step", "1e-4", "--duration", "100", "--sample", "0.01"]
        run = subprocess.Popen(["mpirun", "-n", "2", LINKWORK, "run", model, *words, "--ranks", "-o", rows], env=ENVIRONMENT,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        limit = time.time() + 200
        while time.time() < limit and run.poll() is None and not (os.path.exists(rows) and os.path.getsize(rows)):
            time.sleep(0.01)
        listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(run.pid)], capture_output=True, text=True, check=True)
        ranks = sorted(map(int, listed.stdout.split()))
        self.assertEqual(len(ranks), 2)
        os.kill(ranks[1], signal.SIGSTOP)
        for rank in reversed(ranks):  # a process that is not the first one waits for it
            os.kill(rank, signal.SIGTERM)
        time.sleep(late)
        os.kill(ranks[1], signal.SIGCONT)
        out, errors = run.communicate(timeout=200)
        self.assertNotEqual(run.returncode, 0)
        return out, errors

    def test_a_signal_closes_the_files(self):
        rows = os.path.join(self.path, "rows.csv")
        for _ in range(5):  # a step that takes 4 s, on a machine that is very busy, ends the program
            out, errors = self.stopped_by_a_signal(rows, 1.5)
            if "stopped at t = " in errors:
                break
            os.remove(rows)
        self.assertIn("stopped at t = ", errors)
        self.assertIn("written      " + rows, out)
        with open(rows, encoding="ascii") as file:
            lines = file.read().split("\n")
        self.assertEqual(lines.pop(), "")
        self.assertEqual({line.count(",") for line in lines}, {lines[0].count(",")})
        self.assertAlmostEqual(float(lines[-1].split(",")[0]), float(errors.split("stopped at t = ")[1].split(" s")[0]), 5)

    def test_errors_are_printed_once(self):
        missing = os.path.join(self.path, "missing.yaml")
        done = mpirun(2, missing)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stderr.count("missing.yaml"), 1, done.stderr)
        done = mpirun(2, self.write("small.yaml", CHAIN % 2), "-o", os.path.join(self.path, "none", "x.csv"))
        self.assertNotEqual(done.returncode, 0)  # only the first process writes, and all end
        self.assertIn("cannot be written", done.stderr)
        done = mpirun(2, self.write("ladder.yaml", LADDER), "--formulation", "rcr")
        self.assertIn("expected one of dca, hdca", done.stderr)

    def test_the_file_for_mpi_of_another_version_is_refused(self):
        version = linkwork("--version").stdout.split()[-1]
        folder = os.path.join(os.path.dirname(os.path.dirname(LINKWORK)), "lib")
        with open(os.path.join(folder, "linkwork-mpi.so"), "rb") as file:
            code = file.read()
        other = "9" * version.index(".") + version[version.index("."):]
        self.assertIn(version.encode() + b"\0", code)
        with open(os.path.join(self.path, "linkwork-mpi.so"), "wb") as file:
            file.write(code.replace(version.encode() + b"\0", other.encode() + b"\0"))
        done = subprocess.run([LINKWORK, "run", "model.yaml", "--ranks"], env={**ENVIRONMENT, "LD_LIBRARY_PATH": self.path},
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("is of version " + other, done.stderr)

    def test_refused(self):
        for options in (("--checkpoint", "c"), ("--resume", "c"), ("--batch", "table.csv"), ("--real-time",)):
            done = linkwork("run", "model.yaml", "--ranks", *options)
            self.assertEqual(done.returncode, 2)
            self.assertIn("--ranks and %s exclude one another" % options[0], done.stderr)


if __name__ == "__main__":
    if not shutil.which("mpirun"):
        print("skipped: mpirun is not installed (tools/install-deps --mpi)")
        sys.exit(77)
    if "without MPI" in subprocess.run([LINKWORK, "run", "x", "--ranks"], capture_output=True, text=True,
                                       env=ENVIRONMENT).stderr:
        print("skipped: the program was built without MPI (tools/install-deps --mpi, then build again)")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
