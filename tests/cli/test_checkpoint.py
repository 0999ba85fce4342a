#!/usr/bin/env python3
"""`linkwork run --checkpoint` and `--resume`: a run that was killed and continued has the rows and the sums of one that went
through, bit for bit.

usage: test_checkpoint.py LINKWORK MODELS
"""
import hashlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
import unittest

from in_folder import LINKWORK, MODELS, InFolder, linkwork

FOUR_BAR = os.path.join(MODELS, "four_bar.yaml")
# a pendulum that is struck, hits a stop, and is measured
STRUCK = """linkwork: 1
bodies:
  rod: {mass: 1, inertia: [0.02, 0.02, 0.001, 0, 0, 0], position: [0, 0, -0.25]}
joints:
  A: {type: revolute, between: [ground, rod], at: [0, 0, 0], axis: [0, 1, 0],
      limits: {q0: {lower: -0.4, upper: 0.5, stiffness: 2000, damping: 5}}}
impulses:
  hit: {time: 0.32, body: rod, impulse: [1, 0, 0]}
measures:
  load: hypot(joint.A.fx, joint.A.fz)
"""


class Checkpoint(InFolder):
    def at(self, name):
        return os.path.join(self.path, name)

    def rows_of(self, name):
        if name.endswith(".csv"):
            return self.bytes_of(name)
        self.run_ok("convert", name, "-o", name + ".csv")
        return self.bytes_of(name + ".csv")

    def events_of(self, name):
        self.run_ok("convert", name, "--events", "events.csv")
        return self.bytes_of("events.csv")

    def sums(self, text):
        """What a run reports, without times of the clock, and what depends on where it began."""
        found = json.loads(text)
        for key in ("model", "wall", "step_times", "real_time_factor", "files", "initial", "report", "notice", "inputs_unset",
                    "options", "rows", "occurrences"):
            found.pop(key, None)
        return found

    def stamp(self):
        """Of the checkpoint; None without one: the program tries whether the file can be written."""
        try:
            about = os.stat(self.at("b.ck"))
        except FileNotFoundError:
            return None
        return about.st_mtime_ns if about.st_size else None

    def killed(self, words, after, number=signal.SIGKILL):
        """Begins a run and ends it by a signal once there is a checkpoint; whether it was still running."""
        run = subprocess.Popen([LINKWORK, *words], cwd=self.path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        limit, before = time.time() + 200, self.stamp()
        while run.poll() is None and time.time() < limit and self.stamp() in (None, before):
            time.sleep(0.001)
        time.sleep(after)
        if run.poll() is None:
            run.send_signal(number)
        run.communicate(timeout=200)
        return run.returncode != 0

    def compare(self, *run):
        """Kills a run several times: its results and sums are those of a run that went through."""
        words = ("run", *run, "--checkpoint")
        whole = self.sums(self.run_ok(*words, "a.ck", "-o", "a.csv", "-o", "a.h5", "--json"))
        resumed = self.killed((*words, "b.ck", "-o", "b.csv", "-o", "b.h5"), 0)
        kills = int(resumed)
        for k in range(3):
            kills += resumed and self.killed(("run", "--resume", "b.ck", "-q"), 0.004 * k)
        again = self.sums(self.run_ok("run", "--resume", "b.ck", "--json"))
        self.assertEqual(self.rows_of("b.csv"), self.rows_of("a.csv"), run)
        self.assertEqual(self.rows_of("b.h5"), self.rows_of("a.h5"), run)
        self.assertEqual(self.events_of("b.h5"), self.events_of("a.h5"), run)
        self.assertEqual(again, whole)
        return kills

    def test_killed_runs_have_the_same_bits(self):
        kills = 0
        for run in ((FOUR_BAR, "--duration", "6", "--every", "0.5"),
                    (FOUR_BAR, "--duration", "6", "--every", "200steps", "--integrator", "bdf"),
                    (FOUR_BAR, "--duration", "4", "--every", "0.33", "--formulation", "index3"),
                    (FOUR_BAR, "--duration", "5", "--integrator", "verner87", "--sample", "steps"),
                    (FOUR_BAR, "--duration", "5", "--integrator", "dopri5", "--sample-mode", "interpolate")):
            kills += self.compare(*run)
            for name in os.listdir(self.path):
                os.remove(self.at(name))
        self.assertGreater(kills, 0)  # else nothing was tested

    def test_impulses_stops_and_measures(self):
        with open(self.at("m.yaml"), "w", encoding="ascii") as file:
            file.write(STRUCK)
        self.compare("m.yaml", "--duration", "20", "--every", "0.16", "--integrator", "dopri54")

    def test_events(self):
        with open(self.at("m.yaml"), "w", encoding="ascii") as file:
            file.write(STRUCK + """events:
  turn: {when: A.qd0, crossing: falling, record: true}
  tick: {every: 0.2, record: true}
""")
        self.compare("m.yaml", "--duration", "10", "--every", "0.3", "--integrator", "dopri5")
        self.assertGreater(self.events_of("a.h5").count(b"\n"), 50)
        self.refused(2, "--events is of one run without checkpoints", "run", "m.yaml", "--checkpoint", "c.ck", "--events", "e.csv")

    def test_exact_integrators_have_the_bits_of_a_run_without_checkpoints(self):
        words = ("run", FOUR_BAR, "--duration", "1", "--singular", "turn", "--json")
        for integrator in (("dopri54",), ("rk4", "--step", "0.002")):
            plain = self.sums(self.run_ok(*words, "--integrator", *integrator, "-o", "plain.csv"))
            saved = self.sums(self.run_ok(*words, "--integrator", *integrator, "-o", "saved.csv", "--checkpoint", "c.ck",
                                          "--every", "0.1"))
            self.assertEqual(self.bytes_of("saved.csv"), self.bytes_of("plain.csv"))
            for key in ("start", "end", "steps", "rejected", "energy_error", "energy_scale", "residual", "valid_until"):
                self.assertEqual(saved[key], plain[key], key)

    def test_a_signal_writes_one(self):
        words = ("run", FOUR_BAR, "--duration", "2000", "--singular", "turn", "--integrator", "dopri54", "--sample", "2")
        self.run_ok(*words, "-q", "-o", "a.csv")
        ended = False
        for k in range(20):
            run = subprocess.Popen([LINKWORK, *words, "--every", "1000", "--checkpoint", "b.ck", "-o", "b.csv"], cwd=self.path,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            while run.poll() is None and not os.path.exists(self.at("b.csv")):
                time.sleep(0.001)
            time.sleep(0.02 * (k + 1))
            run.terminate()
            _, errors = run.communicate(timeout=200)
            ended = os.path.exists(self.at("b.ck"))
            if ended:
                break
            os.remove(self.at("b.csv"))
        self.assertTrue(ended)  # no checkpoint was due: it is that of the signal
        self.assertIn("--resume b.ck` continues", errors)
        self.run_ok("run", "--resume", "b.ck", "-q")
        self.assertEqual(self.bytes_of("b.csv"), self.bytes_of("a.csv"))

    def test_a_finished_run_can_be_continued_from_its_last_checkpoint(self):
        self.run_ok("run", FOUR_BAR, "--duration", "1", "--checkpoint", "c.ck", "-o", "c.csv", "-o", "c.h5", "-q")
        before = self.rows_of("c.csv"), self.rows_of("c.h5")
        self.run_ok("run", "--resume", "c.ck", "-q")
        self.assertEqual((self.rows_of("c.csv"), self.rows_of("c.h5")), before)

    def test_rows_of_events_can_be_continued_from(self):
        for event in ("{every: 0.1, record: true}", "{every: 0.1, record: true, set: {u: u + 1}}"):
            with open(self.at("m.yaml"), "w", encoding="utf-8") as file:
                file.write(STRUCK + f"signals: {{u: {{type: switch, value: 0}}}}\nevents: {{tick: {event}}}\n"
                           "simulation: {duration: 1, sample: 0.1}\n")
            self.run_ok("run", "m.yaml", "--checkpoint", "c.ck", "--every", "0.2", "-o", "c.csv", "-q")
            before = self.rows_of("c.csv")
            self.run_ok("run", "--resume", "c.ck", "-q")  # of the last checkpoint: there was one
            self.assertEqual(self.rows_of("c.csv"), before)
            os.remove(self.at("c.ck"))

    def test_damaged_checkpoints_and_results(self):
        self.run_ok("run", FOUR_BAR, "--duration", "1", "--checkpoint", "c.ck", "-o", "c.csv", "-o", "c.h5", "-q")
        text = self.bytes_of("c.ck")
        for damaged in (text[:-100], text.replace(b"1", b"2", 1), b"", text + b" "):
            with open(self.at("d.ck"), "wb") as file:
                file.write(damaged)
            self.refused(3, "d.ck: is damaged", "run", "--resume", "d.ck")
        self.refused(3, "cannot be opened", "run", "--resume", "none.ck")
        shutil.move(self.at("c.csv"), self.at("moved.csv"))
        self.refused(1, "c.csv: cannot be opened", "run", "--resume", "c.ck")
        for wrong, text in ((b"time\n0\n", "has other columns"), (self.bytes_of("moved.csv")[:2000], "rows are missing")):
            with open(self.at("c.csv"), "wb") as file:
                file.write(wrong)
            self.refused(1, text, "run", "--resume", "c.ck")
        shutil.move(self.at("moved.csv"), self.at("c.csv"))
        self.run_ok("run", FOUR_BAR, "--duration", "0.1", "-o", "c.h5", "-q")
        self.refused(1, "has 11 rows", "run", "--resume", "c.ck")

    def forge(self, place, value):
        """c.ck as d.ck with another number in the list `run`, and the hash of that."""
        members = self.bytes_of("c.ck").split(b'  "hash": "')[0]
        listed = re.search(rb'"run": \[([^]]*)\]', members)
        run = listed[1].split(b",")
        run[place] = value
        members = members[:listed.start(1)] + b",".join(run) + members[listed.end(1):]
        with open(self.at("d.ck"), "wb") as file:
            file.write(members + b'  "hash": "' + hashlib.sha256(members).hexdigest().encode() + b'"\n}\n')

    def test_forged_rows_are_refused(self):
        self.run_ok("run", FOUR_BAR, "--duration", "1", "--checkpoint", "c.ck", "-o", "c.csv", "-q")
        before = self.bytes_of("c.csv")
        time, end, first, rows, k, written = 0, 3, 4, 5, 6, 7
        for place, value in ((time, b"-1"), (time, b'"nan"'), (time, b"0.93"), (end, b"1e9"), (end, b'"inf"'), (first, b"5"),
                             (rows, b"1e14"), (rows, b'"inf"'), (k, b"-1e14"), (k, b"0.5"), (k, b'"nan"'), (written, b'"nan"'),
                             (written, b"-1"), (written, b"1e300")):
            self.forge(place, value)
            self.refused(3, "d.ck: is damaged: 'run'", "run", "--resume", "d.ck")
        self.forge(written, b"1e9")
        self.refused(1, "rows are missing", "run", "--resume", "d.ck")
        self.assertEqual(self.bytes_of("c.csv"), before)

    def test_disk_full(self):
        words = ("run", FOUR_BAR, "--duration", "1", "--checkpoint", "b.ck", "-o", "b.csv", "-q")
        self.run_ok("run", FOUR_BAR, "--duration", "1", "--checkpoint", "a.ck", "-o", "a.csv", "-q")

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (60000, resource.RLIM_INFINITY))

        done = linkwork(*words, cwd=self.path, preexec_fn=limit)
        self.assertEqual(done.returncode, 1)
        self.assertIn("File too large", done.stderr)
        self.run_ok("run", "--resume", "b.ck", "-q")
        self.assertEqual(self.bytes_of("b.csv"), self.bytes_of("a.csv"))

    def test_wrong_use(self):
        self.refused(2, "MODEL is missing", "run")
        self.refused(2, "--every is for", "run", FOUR_BAR, "--every", "1")
        self.refused(2, "1000steps", "run", FOUR_BAR, "--checkpoint", "c", "--every", "-1")
        self.refused(2, "1000steps", "run", FOUR_BAR, "--checkpoint", "c", "--every", "xsteps")
        self.refused(2, "expected nothing but", "run", FOUR_BAR, "--resume", "c")
        self.refused(2, "expected nothing but", "run", "--resume", "c", "--rtol", "1e-3")
        self.refused(2, "expected nothing but", "run", "--resume", "c", "--level", "pose")
        self.refused(1, "cannot be written", "run", FOUR_BAR, "--checkpoint", "no/folder/c", "--duration", "0.1")

    def test_a_checkpoint_replaces_no_other_file(self):
        shutil.copy(FOUR_BAR, os.path.join(self.path, "m.yaml"))
        before = self.bytes_of("m.yaml")
        self.refused(2, "is a file that is read", "run", "m.yaml", "--checkpoint", "./m.yaml", "--duration", "0.1")
        self.assertEqual(self.bytes_of("m.yaml"), before)
        self.refused(2, "written twice", "run", "m.yaml", "-o", "a.csv", "--checkpoint", "./a.csv", "--duration", "0.1")
        self.run_ok("run", "m.yaml", "-o", "a.csv", "--checkpoint", "a.ck", "--duration", "0.1", "-q")
        self.refused(2, "written twice", "run", "--resume", "a.ck", "--checkpoint", "a.csv")
        os.mkfifo(os.path.join(self.path, "pipe"))
        self.refused(2, "no regular file", "run", "m.yaml", "--checkpoint", "pipe", "--duration", "0.1")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
