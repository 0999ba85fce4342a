#!/usr/bin/env python3
"""Result files of the program: HDF5 and CSV, continuing from them, what a killed run leaves.

usage: test_results.py LINKWORK MODELS [--kills N] [unittest arguments]

--kills N   kill a writing run at N random times (default 10)
"""
import csv
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM, MODELS = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
KILLS = 10


def model(name):
    return os.path.join(MODELS, name)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def lines(path):
    """Complete lines of a file that is being written."""
    return read(path).count(b"\n") if os.path.exists(path) else 0


class Results(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def call(self, *arguments, code=0, **more):
        done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=300,
                              check=False, **more)
        self.assertEqual(done.returncode, code, "%s\n%s%s" % (arguments, done.stdout, done.stderr))
        return done

    def times(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return [float(line.split(",")[0]) for line in list(file)[1:]]

    def test_events_are_a_table(self):
        with open(self.path("m.yaml"), "w", encoding="ascii") as file:
            file.write("""linkwork: 1
gravity: [0, 0, 0]
bodies: {cart: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}}
joints: {s: {type: prismatic, between: [ground, cart], at: [0, 0, 0], axis: [1, 0, 0], qd: [1]}}
signals: {n: {type: switch, value: 0}}
events:
  "half, \\"way\\"": {when: s.q0 > 0.5, record: true}
  tick: {every: 0.4, set: {n: n + 1}}
  end: {when: s.q0 > 0.95, stop: true, set: {n: 0}}
""")
        self.call("run", self.path("m.yaml"), "-q", "--sample", "0.3", "-o", self.path("m.h5"), "-o", self.path("m.csv"),
                  "--events", self.path("e.csv"))
        with open(self.path("e.csv"), encoding="utf-8", newline="") as file:
            table = list(csv.DictReader(file))
        self.assertEqual([(e["event"], e["action"], e["row"]) for e in table],
                         [("tick", "set n", "0"), ("tick", "set n", "2"), ('half, "way"', "record", "2"),
                          ("tick", "set n", "4"), ("end", "set n, stop", "5")])
        for event, time_of in zip(table, (0, 0.4, 0.5, 0.8, 0.95)):
            self.assertAlmostEqual(float(event["time"]), time_of, 12)
        words = ("run", self.path("m.yaml"), "--sample", "0.3", "-o", self.path("n.csv"), "--events", self.path("e.csv"))
        self.assertEqual(json.loads(self.call(*words, "--json").stdout)["files"], [self.path("n.csv"), self.path("e.csv")])
        self.assertIn("written      %s\n" % self.path("e.csv"), self.call(*words).stdout)
        self.call("convert", self.path("m.h5"), "--events", self.path("f.csv"), "-o", self.path("g.h5"))
        self.call("convert", self.path("g.h5"), "--events", self.path("g.csv"))
        self.assertEqual(read(self.path("f.csv")), read(self.path("e.csv")))
        self.assertEqual(read(self.path("g.csv")), read(self.path("e.csv")))
        for code, text, words in ((2, "events are written as .csv", ("run", self.path("m.yaml"), "--events", "e.h5")),
                                  (2, "the model has no events", ("run", model("crane.yaml"), "--events", self.path("x.csv"))),
                                  (2, "is to be written twice", ("run", self.path("m.yaml"), "--events", self.path("x.csv"),
                                                                 "-o", self.path("x.csv"))),
                                  (3, "has no events", ("convert", self.path("m.csv"), "--events", self.path("x.csv"))),
                                  (2, "expected one of the two", ("convert", self.path("m.h5"), "--at", "0.5",
                                                               "--events", self.path("x.csv"))),
                                  (2, "those of a result", ("convert", self.path("m.yaml"), "--events", self.path("x.csv")))):
            self.assertIn(text, self.call(*words, code=code).stderr)
        # what is refused leaves an earlier result
        before = read(self.path("m.csv"))
        self.call("run", model("crane.yaml"), "-o", self.path("m.csv"), "--events", self.path("x.csv"), code=2)
        self.call("run", self.path("m.yaml"), "-o", self.path("m.csv"), "--events", self.path("none/x.csv"), code=1)
        self.assertEqual(read(self.path("m.csv")), before)

    def test_an_event_may_set_any_number_of_switches(self):
        names = [f"a_switch_with_a_long_name_{k:04d}" for k in range(160)]
        with open(self.path("s.yaml"), "w", encoding="ascii") as file:
            file.write("linkwork: 1\nbodies: {cart: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}}\n"
                       "joints: {s: {type: prismatic, between: [ground, cart], at: [0, 0, 0], axis: [1, 0, 0]}}\n"
                       "signals:\n" + "".join(f"  {n}: {{type: switch, value: 0}}\n" for n in names) +
                       "events: {all: {at: [0.05], set: {" + ", ".join(f"{n}: 1" for n in names) + "}}}\n"
                       "simulation: {duration: 0.1, sample: 0.1, columns: sys.*}\n")
        self.call("run", self.path("s.yaml"), "-q", "-o", self.path("s.h5"), "--events", self.path("s.csv"))
        self.call("convert", self.path("s.h5"), "-o", self.path("t.h5"))
        for file in ("s.h5", "t.h5"):
            self.call("convert", self.path(file), "--events", self.path("t.csv"))
            self.assertEqual(read(self.path("t.csv")), read(self.path("s.csv")))
        self.assertIn(("set " + ", set ".join(names)).encode(), read(self.path("s.csv")))

    STATES = """linkwork: 1
gravity: [0, 0, 0]
parameters: {goal: 0.3}
signals:
  u: {type: pid, reference: goal, measured: rail.q0, kp: 40, ki: 30, kd: 12, filter: 0.01}
  force: {type: lag, of: u, time: 0.02}
  count: {type: switch, value: 1}
bodies: {cart: {mass: 2, inertia: [1, 1, 1, 0, 0, 0]}}
joints: {rail: {type: prismatic, between: [ground, cart], at: [0, 0, 0], axis: [1, 0, 0], effort: {q0: force}}}
forces: {motor: {type: servo, joint: rail, rate: 0, kd: 2, lag: 0.03}}
events: {up: {when: rail.q0 - 0.2, set: {count: count + 1}}}
simulation: {formulation: aba, duration: 0.5, sample: 0.5, rtol: 1e-11, atol: 1e-12}
"""

    def last(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return [float(x) for x in list(file)[-1].split(",")]

    def test_states_of_signals_continue(self):
        with open(self.path("m.yaml"), "w", encoding="utf-8") as file:
            file.write(self.STATES)
        with open(self.path("other.yaml"), "w", encoding="utf-8") as file:
            file.write(self.STATES.replace("mass: 2", "mass: 2.5"))
        columns = ["--columns", "joint.rail.q*,signal.*,servo.motor.effort"]
        self.call("run", self.path("m.yaml"), "-o", self.path("half.h5"))
        self.call("run", self.path("m.yaml"), "-o", self.path("half.csv"), "--columns", "*", "--level", "force")
        self.call("run", self.path("m.yaml"), "--duration", "1", *columns, "-o", self.path("whole.csv"))
        whole = self.last("whole.csv")
        self.assertGreater(abs(whole[-1]), 0.01)
        # by another formulation
        done = self.call("run", self.path("m.yaml"), "--initial", self.path("half.h5"), "--formulation", "dense",
                         *columns, "-o", self.path("second.csv"))
        self.assertNotIn("begin as at a start", done.stdout)
        for a, b in zip(whole, self.last("second.csv")):
            self.assertAlmostEqual(a, b, delta=1e-8)
        # as a model that starts there
        self.call("convert", self.path("half.h5"), "--at", "0.5", "-o", self.path("there.yaml"))
        self.call("run", self.path("there.yaml"), *columns, "-o", self.path("second.csv"))
        for a, b in list(zip(whole, self.last("second.csv")))[1:]:
            self.assertAlmostEqual(a, b, delta=1e-8)
        # in a changed model: the states at the start are those of the end of the first half
        self.call("run", self.path("other.yaml"), "--initial", self.path("half.h5"), "--duration", "1e-9", *columns,
                  "-o", self.path("other.csv"))
        self.call("run", self.path("m.yaml"), *columns, "-o", self.path("first.csv"))
        here, there = self.last("first.csv"), self.last("other.csv")
        for k in (1, 2, -4, -3, -2, -1):
            self.assertAlmostEqual(here[k], there[k], delta=1e-6)
        # a table has no states of the controller
        done = self.call("run", self.path("m.yaml"), "--initial", self.path("half.csv"), *columns, "-o",
                         self.path("second.csv"))
        self.assertIn("states of signals that begin as at a start: signal.u.state0, signal.u.state1, servo.motor.state",
                      done.stdout)

    def test_both_formats_of_one_run_are_the_same_table(self):
        self.call("run", model("cart_arm.yaml"), "--duration", "1", "-o", self.path("a.h5"), "-o",
                  self.path("a.csv"))
        self.call("convert", self.path("a.h5"), "-o", self.path("b.csv"))
        self.assertEqual(read(self.path("a.csv")), read(self.path("b.csv")))
        self.call("convert", self.path("a.csv"), "-o", self.path("c.h5"))
        self.call("convert", self.path("c.h5"), "-o", self.path("c.csv"))
        self.assertEqual(read(self.path("a.csv")), read(self.path("c.csv")))

    def table(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return [{k: float(v) for k, v in row.items()} for row in csv.DictReader(file)]

    def test_rows_have_what_their_level_says(self):
        options = ("run", model("cart_arm.yaml"), "--duration", "0.2", "--sample", "0.1")
        before = set()
        for level in ("pose", "twist", "energy", "acceleration", "reaction", "force", "momentum"):
            self.call(*options, "--level", level, "-o", self.path("a.csv"), "-o", self.path("a.h5"))
            self.call("convert", self.path("a.h5"), "-o", self.path("b.csv"))
            self.assertEqual(read(self.path("a.csv")), read(self.path("b.csv")))
            names = set(self.table("a.csv")[0])
            self.assertGreater(names, before)
            before = names
        self.call(*options, "-o", self.path("b.csv"))
        self.assertEqual(len(before - set(self.table("b.csv")[0])), 3 * 6 + 3 + 3 * 6 + 7 + 7 + 8 + 7)
        summary = self.call(*options, "--level", "pose", "-o", self.path("a.csv")).stdout
        self.assertIn("residual: position", summary)  # reactions, and with them accelerations, are not computed
        self.assertNotIn(", acceleration", summary)
        done = self.call("run", model("cart_arm.yaml"), "--initial", self.path("a.csv"), code=3)
        self.assertIn("body.cart.vx", done.stderr)

    def test_momenta_of_joints_are_those_of_the_bodies_behind_them(self):
        for formulation in ("aba", "momenta", "hdca", "rcr", "dense"):
            self.call("run", model("cart_arm.yaml"), "--duration", "0.2", "--sample", "0.1", "--level", "momentum",
                      "--formulation", formulation, "-o", self.path("a.csv"))
            off = 1e-7 if formulation == "dense" else 1e-10  # its bodies drift apart
            for row in self.table("a.csv"):
                bodies = ("cart", "upper", "fore")
                for axis in "xyz":
                    self.assertAlmostEqual(sum(row["body.%s.p%s" % (b, axis)] for b in bodies),
                                           row["sys.p" + axis], delta=1e-12)
                self.assertAlmostEqual(row["joint.rail.p0"], row["sys.px"], delta=off)
                # about the elbow, at the upper end of the fore arm, and its axis y
                c, s = (row["body.fore." + k] for k in ("qw", "qy"))
                arm = -0.2 * 2 * c * s, -0.2 * (c * c - s * s)  # from the elbow to the mass centre
                p = [row["body.fore.p" + axis] for axis in "xz"]
                about = row["body.fore.ly"] + arm[1] * p[0] - arm[0] * p[1]
                self.assertAlmostEqual(row["joint.elbow.p0"], about, delta=off)
                self.assertAlmostEqual(row["joint.elbow.sty"], about, delta=off)
                self.assertAlmostEqual(row["joint.elbow.sfx"], p[0], delta=off)

    def test_a_result_carries_its_model(self):
        self.call("run", model("crane.yaml"), "--duration", "1", "-o", self.path("a.h5"))
        self.call("convert", self.path("a.h5"), "-o", self.path("a.yaml"))
        self.call("convert", model("crane.yaml"), "-o", self.path("b.yaml"))
        text = read(self.path("b.yaml"))
        self.assertEqual(read(self.path("a.yaml")), text[:text.index(b"simulation:")])

    def test_columns_are_chosen_when_a_result_is_converted(self):
        self.call("run", model("crane.yaml"), "--duration", "1", "-o", self.path("a.h5"), "-o", self.path("a.csv"))
        patterns = "joint.*.f?, sys.E"
        for source, to in (("a.h5", "b.csv"), ("a.csv", "c.csv"), ("a.h5", "b.h5"), ("b.h5", "d.csv")):
            chosen = () if source == "b.h5" else ("--columns", patterns)
            done = self.call("convert", self.path(source), *chosen, "-q", "-o", self.path(to))
            self.assertEqual((done.stdout, done.stderr), ("", ""))
        rows = [line.split(",") for line in read(self.path("a.csv")).decode().splitlines()]
        kept = [k for k, name in enumerate(rows[0])
                if name in ("time", "sys.E") or re.fullmatch(r"joint\..*\.f.", name)]
        self.assertGreater(len(kept), 4)
        expected = "".join(",".join(row[k] for k in kept) + "\n" for row in rows)
        for name in ("b.csv", "c.csv", "d.csv"):
            self.assertEqual(read(self.path(name)).decode(), expected, name)
        # the state is kept: a run resumes from it with the bits of one from all columns
        fixed = ("--integrator", "rk4", "--step", "0.01", "--duration", "0.1")
        for name in "ab":
            self.call("run", model("crane.yaml"), *fixed, "--initial", self.path(name + ".h5"), "-o", self.path(name + "2.csv"))
        self.assertEqual(read(self.path("a2.csv")), read(self.path("b2.csv")))
        wrong = self.call("convert", self.path("a.h5"), "--columns", "sys.K", "-o", self.path("x.csv"), code=2).stderr
        self.assertIn("a.h5: columns: no column of the result matches 'sys.K', did you mean 'sys.", wrong)
        self.assertFalse(os.path.exists(self.path("x.csv")))
        for empty in ("", " , "):
            wrong = self.call("convert", self.path("a.h5"), "--columns", empty, "-o", self.path("x.csv"), code=2).stderr
            self.assertIn("columns: expected auto, or names of columns with commas", wrong)
        for operand, output in (("a.h5", "x.yaml"), (model("crane.yaml"), "x.yaml")):
            self.assertIn("--columns are those of a result",
                          self.call("convert", self.path(operand), "--columns", "sys.E", "-o", self.path(output), code=2).stderr)

    def test_names_of_columns_have_spaces(self):
        text = read(model("four_bar.yaml")).decode().replace("coupler", "'left coupler'")
        with open(self.path("names.yaml"), "w") as file:
            file.write(text)
        self.call("run", self.path("names.yaml"), "--duration", "0.1", "-o", self.path("names.h5"))
        for k, columns in enumerate(("body.left coupler.x,joint.A.q0", " joint.A.q0 , body.left coupler.x,")):
            self.call("convert", self.path("names.h5"), "--columns", columns, "-o", self.path("c%d.csv" % k))
            self.assertEqual(read(self.path("c%d.csv" % k)).decode().splitlines()[0], "time,body.left coupler.x,joint.A.q0")

    def test_a_run_goes_on_from_a_result(self):
        fixed = ("--integrator", "rk4", "--step", "0.003", "--sample", "0.1")
        self.call("run", model("cart_arm.yaml"), "--duration", "2", *fixed, "-o", self.path("a.csv"))
        self.call("run", model("cart_arm.yaml"), "--duration", "1", *fixed, "-o", self.path("b.h5"))
        text = self.call("run", model("cart_arm.yaml"), "--duration", "1", *fixed, "--initial",
                         self.path("b.h5"), "-o", self.path("c.csv")).stdout
        self.assertIn("at t = 1 s: state of aba, bit for bit", text)
        whole = read(self.path("a.csv")).splitlines()
        second = read(self.path("c.csv")).splitlines()
        self.assertEqual(whole[0], second[0])
        self.assertEqual(whole[-11:], second[1:])
        text = self.call("run", model("cart_arm.yaml"), "--duration", "1", "--formulation", "momenta",
                         "--initial", self.path("b.h5")).stdout
        self.assertIn(": motion, computed by aba", text)
        self.call("run", model("cart_arm.yaml"), "--initial", self.path("a.csv"), "--duration", "0")

    def test_a_result_of_another_model_is_refused(self):
        self.call("run", model("cart_arm.yaml"), "--duration", "0", "-o", self.path("a.h5"))
        done = self.call("run", model("crane.yaml"), "--initial", self.path("a.h5"), code=3)
        self.assertIn("a.h5: is of another model, without a body or joint of this one", done.stderr)
        done = self.call("run", model("crane.yaml"), "--initial", self.path("none.h5"), code=3)
        self.assertIn("none.h5: cannot be opened: No such file", done.stderr)

    ROD = """linkwork: 1
parameters: {l: 500 mm, k: 3 N m/rad}
bodies:
  rod: {mass: 2*l/1 m*1 kg, com: [0, 0, -l/2], inertia: [0.1, 0.1, 0.01, 0, 0, 0]}
  bob: {mass: 1, inertia: [0.01, 0.01, 0.01, 0, 0, 0], position: [0, 0, -l]}
joints:
  hinge: {type: revolute, between: [ground, rod], at: [0, 0, 0], axis: [0, 1, 0], q: [0.5], qd: [0.1],
          spring: {q0: {stiffness: k, damping: 0.2}}}
  ball: {type: spherical, between: [rod, bob], at: [0, 0, -l], spring: {all: {damping: 0.2}}}
"""

    def test_motion_goes_into_a_changed_model(self):
        with open(self.path("rod.yaml"), "w", encoding="utf-8") as file:
            file.write(self.ROD)
        with open(self.path("more.yaml"), "w", encoding="utf-8") as file:
            file.write(self.ROD.replace("joints:", "  more: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [3, 0, 0]}\njoints:"))
        self.call("run", self.path("rod.yaml"), "--duration", "1", "-o", self.path("a.h5"), "-o", self.path("a.csv"))
        lines = read(self.path("a.csv")).decode().splitlines()
        last = dict(zip(lines[0].split(","), lines[-1].split(",")))
        text = self.call("run", self.path("more.yaml"), "--set", "l=600", "--duration", "0", "--initial", self.path("a.h5"),
                         "-o", self.path("b.csv")).stdout
        self.assertIn("starts at t = 0 with the motion of", text)
        self.assertIn("; 4 bodies and joints have their motion, not in the result: more, assembled:", text)
        self.assertNotIn("the motion of joint", text)
        head, row = read(self.path("b.csv")).decode().splitlines()[:2]
        now = dict(zip(head.split(","), row.split(",")))
        self.assertEqual(float(now["time"]), 0)
        self.assertEqual(float(now["body.more.x"]), 3)
        for name in ("joint.hinge.q0", "joint.hinge.qd0", "body.bob.wy"):
            self.assertAlmostEqual(float(now[name]), float(last[name]), 9)
        self.assertAlmostEqual(float(now["body.bob.x"]), 1.2 * float(last["body.bob.x"]), 9)

    # at 3 rad/s the crank of a four-bar at rest moves its coupler at 3 m/s, the rocker at half its speed
    FOUR_BAR = """
linkwork: 1
gravity: [0, 0, 0]
functions: {angle: {type: polynomial, coefficients: [0, 3]}}
bodies:
  crank: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}
  rod: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], com: [1, 0, 0]}
  rocker: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], com: [3, 2, 0]}
joints:
  A: {type: revolute, between: [ground, crank], at: [0, 0, 0], MOTION}
  B: {type: revolute, between: [crank, rod], at: [1, 0, 0]}
  C: {type: revolute, between: [rod, rocker], at: [3, 2, 0]}
  D: {type: revolute, between: [ground, rocker], at: [3, 0, 0]}
"""

    def test_a_drive_that_starts_with_a_speed_is_named(self):
        for name, motion in (("free", "spring: {q0: {damping: 1}}"), ("driven", "motion: {q0: angle}")):
            with open(self.path(name + ".yaml"), "w", encoding="utf-8") as file:
                file.write(self.FOUR_BAR.replace("MOTION", motion))
        self.call("run", self.path("free.yaml"), "--duration", "1", "-o", self.path("a.h5"), "-o", self.path("a.csv"))
        text = self.call("run", self.path("driven.yaml"), "--duration", "0", "--initial", self.path("a.h5"),
                         "-o", self.path("b.csv")).stdout
        self.assertIn("; 7 bodies and joints have their motion, assembled: bodies move by at most 0 m, their speeds "
                      "change by at most 3 m/s; the motion of joint 'A' starts with qd0 = 3, where the result has 0\n", text)
        head, row = (line.split(",") for line in read(self.path("b.csv")).decode().splitlines()[:2])
        self.assertAlmostEqual(float(dict(zip(head, row))["body.rod.vy"]), 3, 12)
        text = self.call("run", self.path("driven.yaml"), "--duration", "0", "--initial", self.path("a.csv"), code=3).stderr
        self.assertIn("the largest residual of position is 3: the motion of joint 'A' has q0 = 3 at t = 1 s, this motion 0", text)
        text = self.call("check", self.path("driven.yaml")).stdout
        self.assertIn("starts in motion: that of joint 'A' has qd0 = 3 at the start\n", text)
        self.assertNotIn("starts in motion", self.call("check", self.path("free.yaml")).stdout)

    def test_a_model_is_written_at_a_time(self):
        with open(self.path("rod.yaml"), "w", encoding="utf-8") as file:
            file.write(self.ROD)
        self.call("run", self.path("rod.yaml"), "--duration", "1", "-o", self.path("a.h5"), "-o", self.path("a.csv"))
        rows = [line.split(",") for line in read(self.path("a.csv")).decode().splitlines()]
        for time in (0.5, 0.505):
            self.call("convert", self.path("a.h5"), "--at", str(time), "-o", self.path("then.yaml"))
            text = read(self.path("then.yaml")).decode()
            self.assertIn("mass: 2*l/1 m*1 kg", text)
            self.call("run", self.path("then.yaml"), "--duration", "0", "-o", self.path("then.csv"))
            head, row = (line.split(",") for line in read(self.path("then.csv")).decode().splitlines()[:2])
            now = dict(zip(head, row))
            near = dict(zip(rows[0], min(rows[1:], key=lambda r: abs(float(r[0]) - time))))
            for name in ("body.bob.x", "body.bob.z", "body.rod.wy", "joint.hinge.q0", "joint.hinge.qd0"):
                self.assertAlmostEqual(float(now[name]), float(near[name]), 12 if time == 0.5 else 1)
        self.assertIn("end at 1 s", self.call("convert", self.path("a.h5"), "--at", "2", "-o", self.path("x.yaml"), code=2).stderr)
        self.assertIn("expected a time", self.call("convert", self.path("a.h5"), "--at", "x", "-o", self.path("x.yaml"), code=2).stderr)
        self.assertIn("is a model", self.call("convert", self.path("rod.yaml"), "--at", "1", "-o", self.path("x.yaml"), code=2).stderr)

    def test_wrong_endings_and_inputs(self):
        self.assertIn(".h5 or .csv", self.call("run", model("crane.yaml"), "-o", "x.hdf", code=2).stderr)
        with open(self.path("a.csv"), "w", encoding="utf-8") as file:
            file.write("time,x\n0,1\n1,y\n")
        self.assertIn("a.csv:3:3: ",
                      self.call("convert", self.path("a.csv"), "-o", self.path("a.h5"), code=3).stderr)
        self.call("convert", self.path("a.csv"), code=2)
        with open(self.path("a.csv"), "w", encoding="utf-8") as file:
            file.write("time,x\n0,1\n")
        self.assertIn("has no model", self.call("convert", self.path("a.csv"), "-o",
                                                self.path("a.yaml"), code=3).stderr)

    def test_a_stopped_run_ends_with_a_row_where_it_was(self):
        # rows are many steps apart; the CSV next to it shows that some have been written
        run = subprocess.Popen([PROGRAM, "run", model("cart_arm.yaml"), "--duration", "1e7", "--sample",
                                "10", "-o", self.path("a.h5"), "-o", self.path("b.csv")],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while run.poll() is None and lines(self.path("b.csv")) < 3:
            time.sleep(0.01)
        run.send_signal(signal.SIGINT)
        _, errors = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 1, errors)
        self.call("convert", self.path("a.h5"), "-o", self.path("a.csv"))
        self.assertEqual(read(self.path("a.csv")), read(self.path("b.csv")))
        times = self.times("a.csv")
        self.assertEqual(times[:-1], [10 * k for k in range(len(times) - 1)])
        self.assertIn("stopped at t = %g s" % times[-1], errors)

    def wait_for_rows(self, run, name):
        """Until a run has written its first rows: before that there is nothing to keep."""
        while run.poll() is None:
            if os.path.exists(self.path(name)) and subprocess.run(
                    [PROGRAM, "convert", self.path(name), "-o", self.path("first.csv")],
                    stderr=subprocess.DEVNULL, check=False).returncode == 0:
                return
            time.sleep(0.005)

    def test_a_full_disk_is_reported_and_rows_before_it_are_kept(self):
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (3000000, 3000000))

        for name in ("a.h5", "a.csv"):
            done = self.call("run", model("cart_arm.yaml"), "--duration", "1e5", "-o", self.path(name),
                             code=1, preexec_fn=limit)
            self.assertIn(name + ": cannot be written: File too large", done.stderr)
            self.assertNotIn("HDF5", done.stderr)
            self.call("convert", self.path(name), "-o", self.path("b.csv"))
            self.assertGreater(len(self.times("b.csv")), 100)

    def test_a_killed_run_leaves_what_it_flushed(self):
        options = ("run", model("cart_arm.yaml"), "--sample", "0.001", "--quiet")
        self.call(*options, "--duration", "60", "-o", self.path("whole.csv"))
        whole = read(self.path("whole.csv"))
        chance = random.Random(1)
        rows = []
        for _ in range(KILLS):
            run = subprocess.Popen([PROGRAM, *options, "--duration", "1e6", "-o", self.path("a.h5")])
            self.wait_for_rows(run, "a.h5")
            time.sleep(0.25 * chance.random())
            run.kill()
            run.wait()
            self.call("convert", self.path("a.h5"), "-o", self.path("a.csv"))
            killed = read(self.path("a.csv"))
            self.assertEqual(killed[:len(whole)], whole[:len(killed)])
            rows.append(killed.count(b"\n") - 1)
            os.remove(self.path("a.h5"))
        self.assertGreater(max(rows), 0)
        print("%d kills, %d to %d rows" % (KILLS, min(rows), max(rows)))


if __name__ == "__main__":
    arguments = sys.argv[3:]
    if "--kills" in arguments:
        at = arguments.index("--kills")
        KILLS = int(arguments[at + 1])
        del arguments[at:at + 2]
    unittest.main(argv=sys.argv[:1] + arguments)
