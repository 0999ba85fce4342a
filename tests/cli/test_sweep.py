#!/usr/bin/env python3
"""`linkwork sweep` and `run --batch`: instances against single runs, files, refusals, exit codes.

usage: test_sweep.py LINKWORK MODELS
"""
import csv
import json
import os
import signal
import subprocess
import sys
import time
import unittest

from in_folder import LINKWORK, MODELS, InFolder, linkwork

MODEL = os.path.join(MODELS, "cart_arm.yaml")


class Sweep(InFolder):
    def rows(self, name):
        with open(os.path.join(self.path, name), encoding="ascii") as file:
            return list(csv.DictReader(file))

    def test_every_combination(self):
        out = json.loads(self.run_ok(
            "sweep", MODEL, "--vary", "joint.rail.q0=0:1:3", "--vary", "gravity.z=-9.81,-1.62",
            "--duration", "0.2", "--json", "--watch", "body.cart.x,sys.E", "-o", "all.csv"))
        values = [(i["values"]["joint.rail.q0"], i["values"]["gravity.z"]) for i in out["instances"]]
        self.assertEqual(values, [(x, g) for x in (0, 0.5, 1) for g in (-9.81, -1.62)])
        rows = self.rows("all.csv")
        self.assertEqual(len(rows), 6 * 21)
        for instance in out["instances"]:
            mine = [r for r in rows if int(r["instance"]) == instance["instance"]]
            x = [float(r["body.cart.x"]) for r in mine]
            self.assertEqual(instance["body.cart.x"], [min(x), max(x)])
            self.assertEqual(float(mine[0]["vary.gravity.z"]), instance["values"]["gravity.z"])

    def test_energies_that_no_row_has_are_unknown(self):
        words = ("sweep", MODEL, "--vary", "gravity.z=-9.81,-1.62", "--duration", "0.1", "--json")
        self.assertEqual([i["energy_error"] for i in json.loads(self.run_ok(*words))["instances"]], [None, None])
        for instance in json.loads(self.run_ok(*words, "-o", "all.csv"))["instances"]:
            self.assertGreater(instance["energy_error"], 0)

    def test_momenta_of_instances_are_those_of_runs(self):
        out = json.loads(self.run_ok(
            "sweep", MODEL, "--vary", "joint.rail.qd0=0,1", "--duration", "0.1", "--json", "--level", "momentum",
            "--watch", "joint.rail.p0,body.cart.px", "-o", "all.csv"))
        rows = self.rows("all.csv")
        for instance in out["instances"]:
            p = [float(r["joint.rail.p0"]) for r in rows if int(r["instance"]) == instance["instance"]]
            self.assertEqual(instance["joint.rail.p0"], [min(p), max(p)])
            self.assertGreater(abs(p[-1] - p[0]) + abs(p[0]), 0.01)

    def test_a_row_is_a_single_run(self):
        with open(os.path.join(self.path, "b.csv"), "w", encoding="ascii") as file:
            file.write("gravity.z\n-9.81\n-9.81\n")
        for integrator in ("dopri54", "rk4"):
            words = (MODEL, "--duration", "0.3", "--integrator", integrator, "--level", "momentum")
            self.run_ok("run", *words, "--batch", "b.csv", "-o", "many.csv", "-o", "many.h5")
            self.run_ok("run", *words, "-o", "one.csv")
            many, one = self.rows("many.csv"), self.rows("one.csv")
            for instance in "01":
                mine = [r for r in many if r["instance"] == instance]
                self.assertEqual([{k: r[k] for k in one[0]} for r in mine], one)
            self.run_ok("convert", "many.h5", "-o", "again.csv")
            self.assertEqual(self.rows("again.csv"), many)

    def test_rows_at_impulses_are_those_after_them(self):
        model = os.path.join(self.path, "struck.yaml")
        with open(MODEL, encoding="utf-8") as file, open(model, "w", encoding="utf-8") as struck:
            struck.write(file.read() + "impulses:\n  hit: {time: 0.1, body: cart, impulse: [0.5, 0, 0]}\n"
                         "  late: {time: 0.25, joint: elbow, effort: 0.1}\n")
        words = (model, "--duration", "0.3", "--sample", "0.05", "--integrator", "dopri54")
        self.run_ok("sweep", *words, "--vary", "gravity.z=-9.81,-1.62", "-o", "many.csv")
        self.run_ok("run", *words, "-o", "one.csv")
        one, many = self.rows("one.csv"), [r for r in self.rows("many.csv") if r["instance"] == "0"]
        self.assertEqual([r["sys.impact"] for r in many], ["0", "0", "2", "0", "0", "2", "0"])
        after = [r for r in one if r["sys.impact"] != "1"]
        self.assertEqual([{k: r[k] for k in one[0]} for r in many], after)
        self.assertNotEqual(float(many[2]["joint.rail.ifz"]), 0)
        self.assertNotEqual(float(many[5]["joint.elbow.ifx"]), 0)

    def test_a_study_ends_in_a_table(self):
        with open(os.path.join(self.path, "study.yaml"), "w", encoding="utf-8") as file:
            file.write("linkwork: 1\nparameters: {l: 0.5, c: 2}\nbodies:\n"
                       "  arm: {mass: 2, inertia: [0.1, 0.2, 0.2, 0, 0, 0], position: [l, 0, 0]}\njoints:\n"
                       "  A: {type: revolute, between: [ground, arm], at: [0, 0, 0], axis: [0, 1, 0],\n"
                       "      spring: {q0: {stiffness: 40, damping: c}}}\nmarkers:\n"
                       "  tip: {body: arm, position: [l, 0, 0]}\nmeasures:\n"
                       "  load: hypot(joint.A.fx@tip, joint.A.fz)\n  drop: {of: -marker.tip.z, unit: mm}\n")
        words = ("study.yaml", "--duration", "1", "--integrator", "dopri54", "--formulation", "aba")
        self.run_ok("sweep", *words, "--vary", "l=0.4:0.6:3", "--vary", "c=1,4", "--table", "study.csv", "-q")
        self.assertEqual(sorted(os.listdir(self.path)), ["study.csv", "study.yaml"])
        rows = self.rows("study.csv")
        self.assertEqual([(r["instance"], r["l"], r["c"], r["failure"]) for r in rows][:2],
                         [("0", "0.4", "1", ""), ("1", "0.4", "4", "")])
        self.assertEqual(len(rows), 6)
        for row in rows:
            one = json.loads(self.run_ok("run", *words, "--set", "l=" + row["l"], "--set", "c=" + row["c"], "--json"))
            self.assertEqual(int(row["steps"]), one["steps"])
            for name, measure in one["measures"].items():
                for part in ("min", "max", "range", "mean", "rms", "last", "time_of_min", "time_of_max", "integral"):
                    self.assertEqual(float(row["measure.%s.%s" % (name, part)]), measure[part], (row, name, part))
        # instances that fail are rows with their reason
        done = linkwork("sweep", *words, "--vary", "c=1,4", "--max-steps", "3", "--table", "failed.csv", "--watch",
                        "sys.T", cwd=self.path)
        self.assertEqual(done.returncode, 1)
        failed = self.rows("failed.csv")
        self.assertEqual(len(failed), 2)
        for row in failed:
            self.assertIn("steps", row["failure"])
            self.assertLess(float(row["end"]), 1)
            self.assertEqual(float(row["sys.T.min"]), 0)

    def test_work_of_elements(self):
        with open(os.path.join(self.path, "work.yaml"), "w", encoding="ascii") as file:
            file.write("linkwork: 1\nbodies:\n  arm: {mass: 2, inertia: [0.1, 0.2, 0.2, 0, 0, 0], position: [0.5, 0, 0]}\n"
                       "joints:\n  A: {type: revolute, between: [ground, arm], at: [0, 0, 0], axis: [0, 1, 0],\n"
                       "      spring: {q0: {stiffness: 40, damping: 2}}}\nmeasures:\n  spring: joint.A.spring_power0\n"
                       "  damper: joint.A.damper_power0\n  stored: joint.A.spring_energy0\n  lost: sys.Wnc\n")
        errors = []
        for sample in ("0.02", "0.01", "0.005"):
            measures = json.loads(self.run_ok("run", "work.yaml", "--duration", "1", "--sample", sample, "--json"))["measures"]
            errors.append((abs(measures["spring"]["integral"] + measures["stored"]["last"]),
                           abs(measures["damper"]["integral"] - measures["lost"]["last"])))
        self.assertGreater(measures["stored"]["last"], 0.3)
        for one, half in zip(errors, errors[1:]):  # of second order
            for a, b in zip(one, half):
                self.assertTrue(3 < a / b < 5, errors)

    def test_designs(self):
        words = ("sweep", MODEL, "--duration", "0.1", "-q", "--watch", "joint.rail.q0,sys.*pos", "--vary",
                 "joint.rail.q0=0:100 mm", "--vary", "body.cart.mass=normal:5:0.5 kg")
        for design in ("lhs:8", "sobol:8", "random:8"):
            tables = []
            for seed in ("1", "1", "7"):
                self.run_ok(*words, "--design", design, "--seed", seed, "--table", "t.csv")
                tables.append(self.rows("t.csv"))
            self.assertEqual(tables[0], tables[1], design)
            self.assertNotEqual(tables[0], tables[2], design)
            self.assertEqual([len(t) for t in tables], [8, 8, 8])
            for row in tables[0]:
                self.assertTrue(0 <= float(row["joint.rail.q0"]) <= 0.1)
                self.assertTrue(3 < float(row["body.cart.mass"]) < 7)
                self.assertEqual(float(row["joint.rail.q0.min"]) <= float(row["joint.rail.q0"]), True)
                self.assertIn("sys.cpos.max", row)

    def test_any_integrator(self):
        for integrator, formulation in (("bdf", "auto"), ("index3", "index3")):
            words = ("--duration", "0.2", "--integrator", integrator, "--formulation", formulation, "--step", "0.001", "-q")
            self.run_ok("sweep", MODEL, "--vary", "gravity.z=-9.81,-1.62", "-o", "many.csv", *words)
            self.run_ok("run", MODEL, "-o", "one.csv", *words)
            one, many = self.rows("one.csv"), [r for r in self.rows("many.csv") if float(r["instance"]) == 0]
            self.assertEqual(len(one), 21)
            self.assertEqual(one, [{k: r[k] for k in one[0]} for r in many])

    def test_threads_and_lanes_change_nothing(self):
        words = ("sweep", MODEL, "--vary", "joint.rail.q0=0:1:11", "--duration", "0.2")
        self.run_ok(*words, "--threads", "1", "--lanes", "1", "-o", "a.csv")
        self.run_ok(*words, "--threads", "3", "--lanes", "8", "-o", "b.csv")
        self.assertEqual(self.rows("a.csv"), self.rows("b.csv"))

    def test_groups_follow_each_other_for_any_number_of_threads_and_lanes(self):
        words = ("sweep", MODEL, "--vary", "body.cart.mass=1:2:3000", "--duration", "0.001", "--level", "pose", "-q")
        self.run_ok(*words, "--threads", "1", "--lanes", "1", "-o", "a.csv")
        self.run_ok(*words, "--threads", "3", "--lanes", "8", "-o", "b.csv")
        rows = self.rows("a.csv")
        self.assertEqual(len(rows), 6000)
        self.assertGreater(sum(1 for a, b in zip(rows, rows[1:]) if float(b["time"]) < float(a["time"])), 0)
        self.assertEqual(rows, self.rows("b.csv"))

    def test_a_signal_keeps_the_runs_that_have_ended(self):
        count, enough = 20000, 3000000
        with subprocess.Popen([LINKWORK, "sweep", MODEL, "--vary", "body.cart.mass=1:2:%d" % count, "--duration",
                               "0.02", "--json", "-o", "part.csv"], cwd=self.path, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as sweep:
            part, end = os.path.join(self.path, "part.csv"), time.monotonic() + 100
            while time.monotonic() < end and not (os.path.exists(part) and os.stat(part).st_size > enough):
                time.sleep(0.01)
            sweep.send_signal(signal.SIGINT)
            began = time.monotonic()
            out, error = sweep.communicate(timeout=100)
        self.assertLess(time.monotonic() - began, 20)  # no row waits; a second on an idle machine
        self.assertEqual(sweep.returncode, 1, error)
        out = json.loads(out)
        self.assertEqual(out["ended"], "stopped")
        done = [i["instance"] for i in out["instances"] if i["ended"] == "done"]
        self.assertIn("%d of %d instances were done" % (len(done), count), error)
        self.assertTrue(0 < len(done) < count, len(done))
        rows = self.rows("part.csv")
        last = [int(r["instance"]) for r in rows if float(r["time"]) == 0.02]
        self.assertEqual(last, done)
        self.assertGreaterEqual(len(rows), 3 * len(done))
        self.assertEqual(sorted(os.listdir(self.path)), ["part.csv"])

    def test_a_signal_before_the_first_run_has_a_message(self):
        for wait in (0.2, 0.4, 0.8, 1.6):  # on a busy machine the program may not have begun
            with subprocess.Popen([LINKWORK, "sweep", MODEL, "--vary", "body.cart.mass=1:2:2000000", "--duration", "1",
                                   "-q", "--table", "t.csv"], cwd=self.path, text=True, stderr=subprocess.PIPE) as sweep:
                time.sleep(wait)
                sweep.send_signal(signal.SIGINT)
                error = sweep.communicate(timeout=100)[1]
            self.assertEqual(sweep.returncode, -signal.SIGINT, error)
            self.assertEqual(os.listdir(self.path), [])
            if error:
                break
        self.assertIn("linkwork: stopped before the first run; nothing is written", error)

    def test_one_instance_that_is_not_a_number_ends_alone(self):
        with open(os.path.join(self.path, "wall.yaml"), "w", encoding="ascii") as file:
            file.write("linkwork: 1\ngravity: [0, 0, 0]\n"
                       "functions: {wall: {type: formula, of: 'sqrt(0.3 - s.q0)'}}\n"
                       "bodies: {a: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}}\n"
                       "joints: {s: {type: prismatic, between: [ground, a], at: [0, 0, 0], axis: [1, 0, 0],\n"
                       "             effort: {q0: wall}}}\n")
        for integrator in ("dopri54", "rk4"): # the third goes beyond 0.3 m
            done = linkwork("sweep", "wall.yaml", "--vary", "joint.s.qd0=-5,-4,0.5,-3", "--duration", "1", "--sample", "0.1",
                            "--step", "0.01", "--integrator", integrator, "-o", "some.csv", cwd=self.path)
            self.assertEqual(done.returncode, 1)
            self.assertIn("linkwork: instance 2: ", done.stderr)
            self.assertIn("linkwork: 1 of 4 instances failed\n", done.stderr)
            rows = self.rows("some.csv")
            for instance in range(4):
                last = max(float(row["time"]) for row in rows if float(row["instance"]) == instance)
                self.assertEqual(last == 1, instance != 2, (integrator, instance, last))

    def test_a_table_with_a_statistic_that_overflows_is_read(self):
        with open(os.path.join(self.path, "grows.yaml"), "w", encoding="ascii") as file:
            file.write("linkwork: 1\nparameters: {c: 1}\nbodies: {a: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}}\n"
                       "joints: {s: {type: prismatic, between: [ground, a], at: [0, 0, 0], axis: [1, 0, 0], qd: [1],\n"
                       "             spring: {q0: {damping: c}}}}\nmeasures: {v: s.qd0^2}\n")
        done = linkwork("sweep", "grows.yaml", "--vary", "c=1,-1000,2", "--duration", "1", "--step", "0.001", "--integrator",
                        "rk4", "--table", "t.h5", "--table", "t.csv", cwd=self.path)
        self.assertIn("1 of 3 instances failed", done.stderr)
        self.assertEqual(self.rows("t.csv")[1]["measure.v.rms"], "")  # 1e300 squared
        for table in ("t.h5", "t.csv"):
            self.run_ok("plot", table, "--x", "c", "--y", "measure.v.max", "-o", "t.svg")

    def test_refusals(self):
        with open(os.path.join(self.path, "bad.csv"), "w", encoding="ascii") as file:
            file.write("gravity.z\nfast\n")
        with open(os.path.join(self.path, "swing.yaml"), "w", encoding="ascii") as file:
            file.write("linkwork: 1\nbodies: {a: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}}\n"
                       "joints: {j: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 1, 0]}}\n"
                       "measures: {swing: j.q0}\n")
        for code, text, *words in (
                (2, "nothing differs", "sweep", MODEL),
                (2, "did you mean 'measure.swing'?", "sweep", "swing.yaml", "--vary", "gravity.z=1,2", "--watch", "swing"),
                (2, "did you mean 'rail'", "sweep", MODEL, "--vary", "joint.rial.q0=1,2"),
                (2, "expected NAME=FROM:TO:COUNT", "sweep", MODEL, "--vary", "gravity.z"),
                (2, "NAME=FROM:TO:COUNT or NAME=A,B,... for a grid", "sweep", MODEL, "--vary", "gravity.z=1:2"),
                (2, "design lhs: expected grid, lhs:N", "sweep", MODEL, "--vary", "gravity.z=1:2", "--design", "lhs"),
                (2, "--seed -1: expected a whole number", "sweep", MODEL, "--vary", "gravity.z=1,2", "--seed", "-1"),
                (2, "a value in mm, expected m/s^2", "sweep", MODEL, "--vary", "gravity.z=1,2 mm"),
                (2, "tables are written as .h5 or .csv", "sweep", MODEL, "--vary", "gravity.z=1,2", "--table", "a.txt"),
                (2, "to be written twice", "sweep", MODEL, "--vary", "gravity.z=1,2", "--table", "a.csv", "-o", "a.csv"),
                (1, "none/a.csv: cannot be written", "sweep", MODEL, "--vary", "gravity.z=1,2", "--table", "none/a.csv",
                 "-o", "rows.csv"),
                (2, "--vary gravity.u=1: gravity.u: there is no", "sweep", MODEL, "--vary", "gravity.u=1"),
                (2, "whole COUNT from 1 to", "sweep", MODEL, "--vary", "gravity.z=0:1:99999999999"),
                (2, "linkwork: 89999991 cases are too many", "sweep", MODEL, "--vary", "gravity.z=0:1:9999999", "--vary", "gravity.y=0:1:9"),
                (2, "too many", "sweep", MODEL, "--vary", "gravity.x=0:1:9999", "--vary",
                 "gravity.y=0:1:9999"),
                (1, "instance 1: body.cart.mass", "sweep", MODEL, "--vary", "body.cart.mass=1,-1"),
                (2, "pace", "sweep", MODEL, "--vary", "gravity.z=1,2", "--pace", "1"),
                (2, "rows at times only", "sweep", MODEL, "--vary", "gravity.z=1,2", "--sample",
                 "steps"),
                (2, "--watch: ", "sweep", MODEL, "--vary", "gravity.z=1,2", "--watch", "sys.Z"),
                (2, "expected pose, twist", "run", MODEL, "--level", "momenta"),
                (2, "expected 1, 4 or 8", "sweep", MODEL, "--vary", "gravity.z=1,2", "--lanes", "3"),
                (2, "--batch", "run", MODEL, "--lanes", "8"),
                (2, "--initial", "run", MODEL, "--batch", "bad.csv", "--initial", "x.h5"),
                (3, "bad.csv:2:1", "run", MODEL, "--batch", "bad.csv"),
                (3, "cannot be opened", "run", MODEL, "--batch", "none.csv"),
                (2, ".h5 or .csv", "run", MODEL, "--batch", "bad.csv", "-o", "x.txt")):
            done = linkwork(*words, cwd=self.path)
            self.assertEqual(done.returncode, code, (words, done.stderr))
            self.assertIn(text, done.stderr)
        self.assertEqual(sorted(os.listdir(self.path)), ["bad.csv", "swing.yaml"])  # nothing was begun

    def test_a_table_that_cannot_be_written_is_refused_before_the_runs(self):
        with open(MODEL, encoding="utf-8") as file, open(os.path.join(self.path, "m.yaml"), "w", encoding="utf-8") as model:
            model.write(file.read().replace("cart", "base/cart"))
        words = ("sweep", "m.yaml", "--vary", "body.base/cart.mass=1,2", "--watch", "sys.T", "--duration", "0.1")
        done = linkwork(*words, "--table", "a.h5", "-o", "rows.csv", cwd=self.path)
        self.assertEqual(done.returncode, 2)
        self.assertIn("'body.base/cart.mass' has a slash", done.stderr)
        self.assertEqual(os.listdir(self.path), ["m.yaml"])
        linkwork(*words, "--table", "a.csv", cwd=self.path)
        before = self.rows("a.csv")
        os.mkdir(os.path.join(self.path, "full.csv"))
        done = linkwork(*words, "--table", "a.csv", "--table", "full.csv", "-o", "rows.csv", cwd=self.path)
        self.assertEqual(done.returncode, 1)
        self.assertIn("full.csv: cannot be written", done.stderr)
        self.assertEqual(sorted(os.listdir(self.path)), ["a.csv", "full.csv", "m.yaml"])
        self.assertEqual(self.rows("a.csv"), before)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
