#!/usr/bin/env python3
"""linkwork run --compiled: when it compiles, what it says where it cannot, and its rows.

usage: test_compiled.py PROGRAM COMPILER
"""
import csv
import json
import os
import signal
import subprocess
import sys
import time
import unittest

from program import PARALLELOGRAM, Program

STOPS = """linkwork: 1
bodies:
  slider: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0]}
joints:
  rail: {type: prismatic, between: [ground, slider], at: [0, 0, 0], axis: [1, 0, 0], qd: [1],
         limits: {q0: {lower: -1, upper: 0.05, stiffness: 1e4}}}
simulation: {duration: 0.1, sample: 0.05}
"""
MAP = """linkwork: 1
bodies:
  slider: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0]}
joints:
  rail: {type: prismatic, between: [ground, slider], at: [0, 0, 0], axis: [1, 0, 0], qd: [1]}
signals:
  m: {type: map, of: joint.rail.q0, of2: t, x: [0, 1, 2], x2: [0, 1], rows: [[0, 1], [1, 2], [2, 3]], interpolation: linear}
forces:
  f: {type: wrench, body: slider, force_of: [m, 0, 0]}
simulation: {duration: 0.1, sample: 0.05}
"""
PUSHED = """linkwork: 1
inputs: [push]
bodies:
  bob: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [0.5, 0, 0]}
joints:
  hinge: {type: revolute, between: [ground, bob], at: [0, 0, 0], axis: [0, 1, 0], effort: {q0: push}}
simulation: {duration: 1, sample: 0.05, integrator: dopri54, rtol: 1e-8, atol: 1e-8}
"""
# swings below its feet, without singular positions
ROW = """linkwork: 1
gravity: [0, -9.81, 0]
generate: {n_four_bar: {n: 10, q: [3, 0, 0], qd: [1, 0, 0]}}
simulation: {duration: 1800, sample: 100}
"""
# a run that compiled code makes some times shorter
LONG = """linkwork: 1
gravity: [0, -9.81, 0]
generate: {chain: {n: 6}}
simulation: {duration: 600, sample: 200}
"""
COMPILER = [""]


class Compiled(Program):
    def setUp(self):
        super().setUp()
        self.environment = dict(os.environ, XDG_CACHE_HOME=self.path("cache"), CC=COMPILER[0])

    def run_with(self, model, *arguments, **environment):
        return subprocess.run([sys.argv[1], "run", model, *arguments], env={**self.environment, **environment},
                              capture_output=True, text=True, check=False)

    def rows(self, name):
        with open(self.path(name), newline="", encoding="utf-8") as file:
            rows = list(csv.reader(row for row in file if not row.startswith("#")))
        return rows[0], [[float(x) for x in row] for row in rows[1:]]

    def test_on_compiles_once(self):
        model = self.write("loop.yaml", PARALLELOGRAM)
        for expected in ("compiled     in ", "compiled     found"):
            done = self.run_with(model, "--compiled", "on", "-o", self.path("on.csv"))
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn(expected, done.stdout)
        self.assertIn("method       rcr", done.stdout)
        self.assertIn("singular position", done.stdout)  # it passes them
        self.run_with(model, "-o", self.path("off.csv"), "--formulation", "rcr")
        head, on = self.rows("on.csv")
        other, off = self.rows("off.csv")
        self.assertEqual((head, len(on)), (other, len(off)))
        poses = [i for i, name in enumerate(head) if name.endswith((".x", ".z", ".qd0"))]
        self.assertGreater(len(poses), 6)
        for a, b in zip(on, off):
            for i in poses:
                self.assertAlmostEqual(a[i], b[i], delta=1e-4, msg=head[i])

    def test_auto_is_off_where_the_run_is_short(self):
        done = self.run_with(self.model, "--compiled", "auto")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertNotIn("compiled", done.stdout)
        self.run_with(self.model, "--compiled", "on")
        for duration in ((), ("--duration", "0")):
            done = self.run_with(self.model, "--compiled", "auto", *duration)  # what is there would take longer to find
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertNotIn("compiled", done.stdout)

    def test_auto_takes_what_was_compiled(self):
        model = self.write("long.yaml", LONG)
        self.run_with(model, "--compiled", "on", "--duration", "1")
        done = self.run_with(model, "--compiled", "auto")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("compiled     found", done.stdout)

    def test_auto_leaves_what_is_slower(self):
        """By a compiler that does not optimise."""
        script = self.path("plain-compiler")
        with open(script, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\nexec {COMPILER[0]} "$@" -O0\n')
        os.chmod(script, 0o700)
        model = self.write("row.yaml", ROW)
        for when, expected in (("on", True), ("auto", False)):
            done = self.run_with(model, "--compiled", when, CC=script)
            said = done.stderr.splitlines()
            self.assertEqual((done.returncode, len(said)), (0, int(expected)), said)
            self.assertTrue(all("compiled: on: by the first part of the run the library's rates are faster" in line for line in said))
            self.assertEqual("compiled     " in done.stdout, expected, done.stdout)

    def test_the_file_may_say_it(self):
        """Options of the command line win."""
        model = self.write("loop.yaml", PARALLELOGRAM.replace("simulation: {", "simulation: {compiled: on, "))
        done = self.run_with(model)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("compiled     in ", done.stdout)
        done = self.run_with(model, "--compiled", "off")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertNotIn("compiled", done.stdout)
        done = self.run_with(model, CC="/nonexistent")
        self.assertEqual(done.returncode, 2)
        self.assertIn("compiled: on: the compiler of CC, '/nonexistent', cannot be called", done.stderr)
        done = self.run_with(model, "--compiled", "auto", "--checkpoint", self.path("c"))
        self.assertEqual(done.returncode, 0)
        self.assertIn("compiled: auto: not compiled: expected runs by one process, without checkpoints", done.stderr)

    def test_without_compiler(self):
        done = self.run_with(self.model, "--compiled", "on", CC="/nonexistent")
        self.assertEqual(done.returncode, 2)
        self.assertIn("compiled: on: the compiler of CC, '/nonexistent', cannot be called", done.stderr)
        done = self.run_with(self.write("long.yaml", LONG), "--compiled", "auto", CC="/nonexistent")
        self.assertEqual(done.returncode, 0)
        self.assertIn("compiled: auto: not compiled: the compiler of CC", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertNotIn("compiled", done.stdout)

    def test_models_and_formulations_without_it(self):
        model = self.write("map.yaml", MAP)
        for name, arguments, reason in ((model, (), "map"), (self.model, ("--formulation", "hdca"), "hdca cannot use")):
            done = self.run_with(name, "--compiled", "on", *arguments)
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn(reason, done.stderr)
            done = self.run_with(name, *arguments)
            self.assertEqual(done.returncode, 0, done.stderr)
        done = self.run_with(model, "--compiled", "auto")  # a short run
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_modes_of_forces(self):
        model = self.write("stops.yaml", STOPS)
        done = self.run_with(model, "--compiled", "on", "--level", "energy", "-o", self.path("on.csv"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("contacts     2", done.stdout)
        self.run_with(model, "--level", "energy", "-o", self.path("off.csv"))
        (head, on), (_, off) = self.rows("on.csv"), self.rows("off.csv")
        self.assertGreater(abs(off[-1][head.index("body.slider.vx")] - 1), 0.1)  # it has met the stop
        for name in ("body.slider.x", "body.slider.vx"):
            self.assertAlmostEqual(on[-1][head.index(name)], off[-1][head.index(name)], delta=1e-6, msg=name)

    def sweep(self, model, *arguments):
        return subprocess.run([sys.argv[1], "sweep", model, "--json", *arguments], env=self.environment, capture_output=True,
                              text=True, check=False)

    def test_sweeps_of_inputs_compile_once(self):
        self.check_sweep(PUSHED)

    def test_sweeps_of_separate_simulations(self):
        self.check_sweep(PUSHED + "events: {e: {at: [0.5], record: true}}\n")
        for file in os.listdir(self.path("cache/linkwork")):
            os.unlink(self.path("cache/linkwork/" + file))
        self.check_sweep(PUSHED, "--integrator", "bdf")

    def check_sweep(self, text, *arguments):
        model = self.write("pushed.yaml", text)
        vary = ("--vary", "input.push=1:3:3", "--watch", "joint.hinge.q0", *arguments)
        off, on = (self.sweep(model, *vary, "--compiled", when) for when in ("off", "on"))
        self.assertEqual((on.returncode, on.stderr), (0, ""))
        self.assertEqual(len([file for file in os.listdir(self.path("cache/linkwork")) if file.endswith(".so")]), 1)
        ranges = [[run["joint.hinge.q0"] for run in json.loads(done.stdout)["instances"]] for done in (off, on)]
        self.assertGreater(max(abs(x - y) for x, y in zip(ranges[0][0], ranges[0][2])), 0.01)  # the input acts
        self.assertNotEqual(ranges[0], ranges[1])  # by other code
        for a, b in zip(*ranges):
            for x, y in zip(a, b):
                self.assertAlmostEqual(x, y, delta=1e-5 if arguments else 1e-6)  # bdf adds up more errors

    def test_auto_searches_the_cache_where_a_sweep_is_long(self):
        """A compiler that cannot be called is noticed where text is generated and the cache searched, and there alone."""
        self.environment["CC"] = "/nonexistent"
        model = self.write("pushed.yaml", PUSHED)
        for runs, expected in ((3, 0), (5000, 1)):
            done = self.sweep(model, "--vary", f"input.push=1:3:{runs}", "--compiled", "auto")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stderr.count("compiled: auto: not compiled: the compiler of CC"), expected, done.stderr)

    def test_sweeps_of_parameters_are_refused(self):
        model = self.write("pushed.yaml", PUSHED)
        for arguments, reason in (((), "body.bob.mass changes the model"), (("--store", self.path("study")), "without a folder")):
            done = self.sweep(model, "--vary", "body.bob.mass=1:3:3", "--compiled", "on", *arguments)
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn(reason, done.stderr)
        done = self.sweep(model, "--vary", "body.bob.mass=1:3:3", "--compiled", "auto")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_signal_to_the_program_ends_the_compiler(self):
        """A compiler that waits for another program, which has to end, too."""
        script, started = self.path("slow-compiler"), self.path("started")
        with open(script, "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\ncase "$*" in *--version*) echo slow 1.0; exit 0;; esac\n'
                       f"sleep 600 &\necho $! >'{started}.new'; mv '{started}.new' '{started}'; wait\n")
        os.chmod(script, 0o700)
        with subprocess.Popen([sys.argv[1], "run", self.model, "--compiled", "on", "-o", self.path("none.csv")],
                              env={**self.environment, "CC": script}, stderr=subprocess.PIPE, text=True) as program:
            while not os.path.exists(started):
                self.assertIsNone(program.poll())
                time.sleep(0.01)
            program.send_signal(signal.SIGINT)
            said = program.communicate()[1]
        self.assertNotEqual(program.returncode, 0)
        self.assertIn("stopped while the compiler", said)
        self.assertFalse(os.path.exists(self.path("none.csv")))
        with open(started, encoding="utf-8") as file:
            child = file.read().strip()
        for _ in range(500):
            try:
                with open(f"/proc/{child}/stat", encoding="utf-8") as file:
                    ended = file.read().split()[2] == "Z"
            except OSError:
                ended = True
            if ended:
                break
            time.sleep(0.01)
        self.assertTrue(ended)

    def test_use(self):
        for arguments, text in ((("--compiled", "maybe"), "none of off, on, auto"),
                                (("--compiled", "on", "--checkpoint", self.path("c")), "without checkpoints")):
            done = self.run_with(self.model, *arguments)
            self.assertEqual(done.returncode, 2)
            self.assertIn(text, done.stderr)


if __name__ == "__main__":
    COMPILER[0] = sys.argv.pop()
    unittest.main(argv=sys.argv[:1])
