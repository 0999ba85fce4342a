#!/usr/bin/env python3
"""linkwork equilibrium, linearize, modes, sensitivity: tables, JSON, files, messages.

usage: test_analysis.py PROGRAM
"""
import json
import math
import os
import re
import struct
import subprocess
import sys
import tempfile
import unittest

MODEL = """
linkwork: 1
gravity: [0, -9.81, 0]
inputs: [torque]
bodies:
  one: {mass: 1, position: [0.6, -0.8, 0]}
  two: {mass: 1, position: [0.6, -1.8, 0]}
joints:
  a: {type: revolute, between: [ground, one], at: [0, 0, 0], axis: [0, 0, 1], effort: {q0: torque}}
  b: {type: revolute, between: [one, two], at: [0.6, -0.8, 0], axis: [0, 0, 1]}
"""
FREQUENCIES = [math.sqrt((2 + sign * math.sqrt(2)) * 9.81) / (2 * math.pi) for sign in (-1, 1)]


def mat_elements(content, order):
    at = 0
    while at < len(content):
        kind, size = struct.unpack(order + "II", content[at:at + 8])
        yield kind, content[at + 8:at + 8 + size]
        at += 8 + size + -size % 8
    assert at == len(content)


def mat_variables(content, order):
    for kind, inside in mat_elements(content, order):
        assert kind == 14
        (_, flags), (_, shape), (_, name), *data = mat_elements(inside, order)
        rows, columns = struct.unpack(order + "ii", shape)
        what = struct.unpack(order + "II", flags)[0]
        if what == 6:
            values = struct.unpack(f"{order}{rows * columns}d", data[0][1])
            yield name.decode(), [list(values[i::rows]) for i in range(rows)]
        elif what == 4:
            yield name.decode(), data[0][1].decode("utf-16-le" if order == "<" else "utf-16-be")
        else:
            start = 32 + 8 + len(name) + -len(name) % 8
            yield name.decode(), [text for _, text in mat_variables(inside[start:], order)]


class Analysis(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.model = self.path("double.yaml")
        with open(self.model, "w", encoding="utf-8") as file:
            file.write(MODEL)

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_program(self, *arguments, code=0):
        done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout if code == 0 else done.stderr

    def json(self, *arguments):
        return json.loads(self.run_program(*arguments, "--json"))

    def test_equilibrium(self):
        found = self.json("equilibrium", self.model, "-o", self.path("hanging.yaml"))
        self.assertIs(found["stable"], True)
        self.assertEqual(found["stability"], "stable")
        self.assertEqual(list(found["joints"]), ["a", "b"])
        self.assertAlmostEqual(found["joints"]["a"][0], -math.atan2(0.6, 0.8), delta=1e-12)
        self.assertAlmostEqual(found["bodies"]["two"]["position"][1], -2, delta=1e-12)
        again = self.json("equilibrium", self.path("hanging.yaml"))  # begins where it ends
        self.assertEqual(again["iterations"], 0)
        text = self.run_program("equilibrium", self.model)
        self.assertIn("stable, 2 dof", text)
        held = self.json("equilibrium", self.model, "--inputs", "torque=9.81")
        self.assertAlmostEqual(held["bodies"]["one"]["position"][0], 0.5, delta=1e-12)

    def test_reactions_of_an_equilibrium(self):
        """A table on four legs, with forces of minimum norm: W/4 (1 + a x + b y) for its mass centre at (a, b). The hinges of
        two pendulums carry two weights and one."""
        path = self.path("table.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write("linkwork: 1\nbodies: {top: {mass: 40, inertia: [3, 3, 6, 0, 0, 0], position: [0.05, 0.02, 1]}}\njoints:\n"
                       + "".join(f"  L{i}: {{type: spherical, between: [ground, top], at: [{x}, {y}, 1]}}\n"
                                 for i, (x, y) in enumerate(((1, 1), (-1, 1), (-1, -1), (1, -1)))))
        found = self.json("equilibrium", path)["reactions"]
        for i, (x, y) in enumerate(((1, 1), (-1, 1), (-1, -1), (1, -1))):
            leg = found[f"L{i}"]
            self.assertAlmostEqual(leg["force"][2], 98.1*(1 + 0.05*x + 0.02*y), delta=1e-9)
            self.assertEqual(leg["undetermined"], ["fx", "fy", "fz"])
        text = self.run_program("equilibrium", path)
        self.assertIn("statically indeterminate", text)
        self.assertIn("L3                       fx fy fz\n", text)
        self.assertRegex(text, r"\nreactions +on the second body +fx \[N\] +fy \[N\] +fz \[N\] +tx \[N m\] .*\n"
                               r"reaction +L0 ")
        held = self.json("equilibrium", self.model, "--inputs", "torque=9.81")["reactions"]
        self.assertEqual([r["undetermined"] for r in held.values()], [[], []])
        self.assertAlmostEqual(held["a"]["force"][1], 2 * 9.81, delta=1e-9)
        self.assertAlmostEqual(held["b"]["force"][1], 9.81, delta=1e-9)
        self.assertNotIn("statically", self.run_program("equilibrium", self.model))

    def test_equilibrium_without_reactions(self):
        """The round-off of an effort of 1e35 accelerates 1e-300 kg infinitely: the reason is said."""
        path = self.path("dust.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write("linkwork: 1\nfunctions: {f: {type: constant, value: 1.23456e35}}\n"
                       "bodies: {a: {mass: 1e-300, inertia: [1e-300, 1e-300, 1e-300, 0, 0, 0]}}\n"
                       "joints: {a: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 1, 0],\n"
                       "  effort: {q0: f}, spring: {q0: {stiffness: 1.23456e35*1.1, at: 0.1}}}}\n")
        done = subprocess.run([PROGRAM, "equilibrium", path, "--json"], capture_output=True, text=True, check=False)
        found = json.loads(done.stdout)
        self.assertEqual((done.returncode, found["reactions"]), (0, {}))
        self.assertEqual(len(found["warnings"]), 1)
        self.assertRegex(found["warnings"][0], "no reactions: .*not a finite number")
        self.assertEqual(done.stderr, f"warning: {path}: {found['warnings'][0]}\n")
        self.assertEqual(self.json("equilibrium", self.model)["warnings"], [])

    def test_linearize(self):
        file = self.path("linear.json")
        system = self.json("linearize", self.model, "--at", "equilibrium", "--outputs", "body.two.x", "-o", file)
        with open(file, encoding="utf-8") as written:
            self.assertEqual(json.load(written), system)
        self.assertEqual(system["states"], ["joint.a.q0", "joint.b.q0", "joint.a.qd0", "joint.b.qd0"])
        self.assertEqual(system["inputs"], ["torque"])
        self.assertEqual([len(row) for row in system["A"]], [4] * 4)
        self.assertEqual([len(row) for row in system["B"]], [1] * 4)
        self.assertEqual([len(row) for row in system["D"]], [1])
        self.assertAlmostEqual(system["C"][0][0], 2, delta=1e-9)
        self.assertIn("joint.a.qd0", self.run_program("linearize", self.model))

    def test_actuators_are_inputs(self):
        system = self.json("linearize", self.model, "--at", "equilibrium", "--actuators", "a,b")
        self.assertEqual(system["inputs"], ["torque", "joint.b.actuator0"])
        inverse = [row[:] for row in system["mass_matrix"]]  # its inverse is B of torques on all coordinates
        (a, b), (c, d) = inverse
        for i, row in enumerate(((d, -b), (-c, a))):
            for j, x in enumerate(row):
                self.assertAlmostEqual(system["B"][2 + i][j], x / (a * d - b * c), delta=1e-9)
        self.assertIn("there is no joint 'c'", self.run_program("linearize", self.model, "--actuators", "c", code=2))

    def test_run_from_rest(self):
        rest = self.path("rest.csv")
        self.run_program("run", self.model, "--from", "rest", "--duration", "1", "--sample", "0.5", "-o", rest, "-q")
        with open(rest, encoding="utf-8") as file:
            names, *rows = [line.strip().split(",") for line in file]
        for row in rows:  # it remains at the equilibrium
            self.assertAlmostEqual(float(row[names.index("body.two.y")]), -2, delta=1e-9)
        for arguments, code, text in (
                (("--from", "top"), 2, "--from top: expected start or rest"),
                (("--from", "rest", "--initial", rest), 2, "--from rest is of one run")):
            self.assertIn(text, self.run_program("run", self.model, *arguments, code=code))
    def test_misuse(self):
        """Dependent actuators, dead points, singular positions, rigid motions, no equilibrium: what is printed."""
        bar = "mass: 1, inertia: [0.01, 0.05, 0.05, 0, 0, 0]"
        crank = ("linkwork: 1\ngravity: [0, -9.81, 0]\nbodies:\n"
                 f"  crank: {{{bar}, position: [0.25, 0, 0]}}\n  rod: {{{bar}, position: [1, 0, 0]}}\n"
                 f"  piston: {{{bar}, position: [1.5, 0, 0]}}\njoints:\n"
                 "  A: {type: revolute, between: [ground, crank], at: [0, 0, 0], axis: [0, 0, 1]}\n"
                 "  B: {type: revolute, between: [crank, rod], at: [0.5, 0, 0], axis: [0, 0, 1]}\n"
                 "  C: {type: revolute, between: [rod, piston], at: [1.5, 0, 0], axis: [0, 0, 1]}\n")
        slider = "  D: {type: prismatic, between: [ground, piston], at: [1.5, 0, 0], axis: [1, 0, 0]}\n"
        rocker = "  D: {type: revolute, between: [ground, piston], at: [1, 0, 0], axis: [0, 0, 1]}\n"
        models = {"dead": crank + slider, "line": crank + rocker,
                  "afloat": f"linkwork: 1\ngravity: [0, 0, 0]\nbodies: {{one: {{{bar}}}, two: {{{bar}, position: [1, 0, 0]}}}}\n"
                            "joints: {A: {type: revolute, between: [one, two], at: [0.5, 0, 0], axis: [0, 0, 1], "
                            "spring: {q0: {stiffness: 10}}}}\n",
                  "slide": f"linkwork: 1\nbodies: {{box: {{{bar}}}}}\n"
                           "joints: {rail: {type: prismatic, between: [ground, box], at: [0, 0, 0], axis: [1, 0, -1]}}\n"}
        for name, text in models.items():
            with open(self.path(name + ".yaml"), "w", encoding="utf-8") as file:
                file.write(text)
        for verb, name, arguments, code, text in (
                ("inverse", "dead", ("--actuators", "A,D"), 0, "minimum norm: 2 actuators of rank 1, 1 dof"),
                ("inverse", "dead", ("--actuators", "D"), 1, "infeasible: the actuators (rank 0, dof 1) cannot give what the "
                 "motion needs along joint.A.q0; 100 % of it is missing; expected other --actuators"),
                ("inverse", "line", ("--actuators", "A"), 1, "singular position: constraints of joint 'C'"),
                ("equilibrium", "line", (), 1, "2 degrees of freedom here, 1 nearby"),
                ("linearize", "line", (), 1, "analyses need a position where both are equal"),
                ("modes", "line", (), 1, "singular position"),
                ("equilibrium", "afloat", (), 0, "6 displacements meet no force"),
                ("equilibrium", "afloat", (), 0, "softest      0 1/s^2"),
                ("modes", "afloat", (), 0, "rigid: "),
                ("equilibrium", "slide", (), 1, "forces still move joint.rail.q0"),
                ("modes", "slide", (), 1, "forces still move joint.rail.q0"),
                ("linearize", "slide", ("--at", "equilibrium"), 1, "no equilibrium found"),
                ("run", "slide", ("--from", "rest"), 1, "--from rest: no equilibrium found")):
            with self.subTest(verb=verb, name=name):
                self.assertIn(text, self.run_program(verb, self.path(name + ".yaml"), *arguments, code=code))

    def test_no_equilibrium(self):
        with open(self.path("falls.yaml"), "w", encoding="utf-8") as file:
            file.write("linkwork: 1\nbodies: {stone: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}}\n")
        self.assertIn("--from rest: no equilibrium found", self.run_program("run", self.path("falls.yaml"), "--from",
                                                                            "rest", code=1))

    def test_mat_file(self):
        """The file by its definition: header, variables, names; numbers by columns."""
        file = self.path("linear.mat")
        system = self.json("linearize", self.model, "--outputs", "body.two.x,body.one.y", "-o", file)
        with open(file, "rb") as opened:
            content = opened.read()
        self.assertTrue(content.startswith(b"MATLAB 5.0 MAT-file"))
        order = {b"IM": "<", b"MI": ">"}[content[126:128]]
        found = dict(mat_variables(content[128:], order))
        for name in ("A", "B", "C", "D", "mass_matrix"):
            self.assertEqual(found[name], system[name])
        self.assertEqual([x for x, in found["accelerations"]], system["accelerations"])
        for name in ("states", "inputs", "outputs"):
            self.assertEqual(found[name], system[name])

    def test_modes(self):
        for arguments in ((), ("--independent", "b")):
            modes = self.json("modes", self.model, *arguments)["modes"]
            for mode, frequency in zip(modes, FREQUENCIES):
                self.assertAlmostEqual(mode["frequency_hz"], frequency, delta=1e-10)
                self.assertEqual(mode["damping_ratio"], 0)
        self.assertIn("0.381526", self.run_program("modes", self.model))

    def test_modes_of_several_cases(self):
        """A pendulum with a spring against its stiffness: frequency sqrt(g / l + k / m l^2) / 2 pi."""
        path, file = self.path("vary.yaml"), self.path("vary.csv")
        with open(path, "w", encoding="utf-8") as model:
            model.write("""
linkwork: 1
gravity: [0, -9.81, 0]
parameters: {k: 2}
bodies: {bob: {mass: 1, position: [0, -1, 0]}}
joints: {a: {type: revolute, between: [ground, bob], at: [0, 0, 0], axis: [0, 0, 1], spring: {q0: {stiffness: k}}}}
""")
        found = self.json("modes", path, "--vary", "k=0:4:3", "-o", file)
        self.assertEqual([case["values"]["k"] for case in found["cases"]], [0, 2, 4])
        for case in found["cases"]:
            self.assertAlmostEqual(case["modes"][0]["frequency_hz"],
                                   math.sqrt(9.81 + case["values"]["k"]) / (2 * math.pi), delta=1e-10)
        with open(file, encoding="utf-8") as rows:
            self.assertEqual(rows.readline(), "k,mode,frequency_hz,damping_ratio,re,im,failure\n")
            self.assertEqual(len(rows.readlines()), 3)
        self.assertIn("frequency", self.run_program("modes", path, "--vary", "k=1,2"))
        with open(path, encoding="utf-8") as model:
            text = model.read()
        with open(path, "w", encoding="utf-8") as model:
            model.write(text.replace("{k: 2}", "{k: {value: 2, max: 3}}"))
        done = subprocess.run([PROGRAM, "modes", path, "--vary", "k=1,4,2", "-o", file, "--json"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        found = json.loads(done.stdout)
        self.assertEqual([len(case["modes"]) for case in found["cases"]], [1, 0, 1])
        self.assertIn("4", found["cases"][1]["failure"])
        with open(file, encoding="utf-8") as rows:
            self.assertIn("4,0,nan,nan,nan,nan,\"", rows.read())
        self.assertIn("no parameter 'c'", self.run_program("modes", path, "--vary", "c=1,2", code=2))
        self.assertIn("of the cases of --vary", self.run_program("modes", path, "-o", file, code=2))

    def test_page_of_modes(self):
        page = os.path.join(self.folder, "modes.html")
        self.assertIn("written", self.run_program("modes", self.model, "-o", page))
        with open(page, encoding="utf-8") as file:
            text = file.read()
        names = re.findall(r'{"name":"(\d: [^"]*)","first":(\d+),"last":(\d+)}', text)
        self.assertEqual([name.split(" Hz")[0] for name, _, _ in names],
                         ["%d: %.4g" % (i + 1, f) for i, f in enumerate(FREQUENCIES)])
        self.assertEqual([(int(a), int(b)) for _, a, b in names], [(33 * i, 33 * i + 32) for i in range(len(names))])

    def test_initial(self):
        result = self.path("run.h5")
        self.run_program("run", self.model, "--duration", "0.5", "-o", result, "--quiet")
        start = self.json("linearize", self.model)
        later = self.json("linearize", self.model, "--initial", result)
        self.assertNotEqual(start["A"], later["A"])
        self.assertNotEqual(later["A"][2][2], 0)  # it moves
        self.assertEqual(later["at"], "the state of --initial")

    def test_initial_has_its_time(self):
        """A stiffness that is a function of time, and a drive: both as they are at the time of the result."""
        path, result = self.path("time.yaml"), self.path("time.h5")
        with open(path, "w", encoding="utf-8") as file:
            file.write("""
linkwork: 1
gravity: [0, 0, 0]
functions:
  soft: {type: formula, of: -(2 + 3*t)*a.q0}
  steady: {type: polynomial, coefficients: [0, 1]}
bodies: {bob: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [0, -1, 0]}, arm: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}}
joints:
  a: {type: revolute, between: [ground, bob], at: [0, 0, 0], axis: [0, 0, 1], effort: {q0: soft}, qd: [0.1]}
  b: {type: revolute, between: [ground, arm], at: [0, 0, 0], axis: [0, 0, 1], motion: {q0: steady}}
""")
        self.run_program("run", path, "--duration", "1", "-o", result, "--quiet")
        self.assertAlmostEqual(self.json("linearize", path)["A"][1][0], -2 / 2, delta=1e-9)
        later = self.json("linearize", path, "--initial", result)
        self.assertAlmostEqual(later["A"][1][0], -5 / 2, delta=1e-9)
        self.assertAlmostEqual(self.json("modes", path, "--at", "start", "--initial", result)["modes"][0]
                               ["frequency_hz"], math.sqrt(2.5) / (2 * math.pi), delta=1e-9)

    def test_kinematics(self):
        crank = self.path("crank.yaml")
        with open(crank, "w", encoding="utf-8") as file:
            file.write(MODEL.replace("inputs: [torque]", "functions: {drive: {type: polynomial, coefficients: [0, 2]}}")
                       .replace("effort: {q0: torque}", "motion: {q0: drive}")
                       .replace("axis: [0, 0, 1]}", "axis: [0, 0, 1], motion: {q0: drive}}")
                       + "parameters: {unused: 1}\n")
        self.json("kinematics", crank, "--duration", "1", "--set", "unused=2")
        for command in ("kinematics", "inverse"):  # choices are no warnings
            done = subprocess.run([PROGRAM, command, crank, "--duration", "1", "--quiet"], capture_output=True, text=True,
                                  check=True)
            self.assertEqual(done.stderr, "")
        report = self.json("kinematics", crank, "--duration", "1", "--sample", "0.25", "-o", self.path("crank.csv"))
        self.assertEqual(report["rows"], 5)
        with open(self.path("crank.csv"), encoding="utf-8") as file:
            last = file.readlines()
        names, values = last[0].strip().split(","), [float(x) for x in last[-1].split(",")]
        self.assertEqual(values[names.index("joint.b.q0")], 2)
        self.assertIn("2 have none: joint.a.q0, joint.b.q0",
                      self.run_program("kinematics", self.model, code=2))
        with open(crank, encoding="utf-8") as file:
            text = file.read()
        with open(self.path("lag.yaml"), "w", encoding="utf-8") as file:
            file.write(text + "\nsignals: {late: {type: lag, of: t, time: 0.1}}\n")
        self.assertIn("does not integrate", self.run_program("kinematics", self.path("lag.yaml"), code=1))

    def test_inverse(self):
        held = self.json("inverse", self.model, "--actuators", "a,b")  # the torques that hold it at the start
        self.assertEqual((held["kind"], held["dof"], held["rank"]), ("unique", 2, 2))
        self.assertAlmostEqual(held["efforts"]["torque"][0], 2 * 9.81 * 0.6, delta=1e-12)
        result, again = self.path("run.h5"), self.path("again.csv")
        self.run_program("run", self.model, "--duration", "0.5", "--sample", "0.1", "-o", result, "--quiet")
        found = self.json("inverse", self.model, "--motion", result, "--actuators", "a,b", "-o", again)
        self.assertEqual(found["rows"], 6)
        some = self.json("inverse", self.model, "--motion", result, "--actuators", "a,b", "--duration", "0.4",
                         "--sample", "0.2")
        self.assertEqual(some["time"], found["time"][0:5:2])
        for effort in found["efforts"].values():
            self.assertLess(max(map(abs, effort)), 1e-8)
        with open(again, encoding="utf-8") as file:
            self.assertIn("joint.b.actuator0", file.readline())
        self.assertIn("minimum norm: 3 actuators of rank 2",
                      self.run_program("inverse", self.model_with_spring(), "--actuators", "a,b,pull"))
        for arguments, code, text in (
                (("--actuators", "b"), 1, "infeasible: the actuators (rank 1, dof 2)"),
                (("--actuators", "b"), 1, "expected as many --actuators as degrees of freedom"),
                (("--actuators", "c"), 2, "actuators: there is no joint 'c'"),
                (("--actuators", "a.q7"), 2, ": actuators: joint 'a' has no coordinate q7; it has 1, numbered from q0"),
                (("--actuators", "a", "--weights", "a"), 2, "expected ACTUATOR=NUMBER"),
                (("--actuators", "a", "--weights", "b=1"), 2, "weights: 'b' is no actuator"),
                (("--motion", result, "-o", result), 2, "is a file that is read")):
            self.assertIn(text, self.run_program("inverse", self.model, *arguments, code=code))

    def test_inverse_of_a_result_with_drives(self):
        model, result = self.path("driven.yaml"), self.path("driven.h5")
        with open(model, "w", encoding="utf-8") as file:
            file.write("linkwork: 1\nbodies: {rod: {mass: 2, inertia: [0, 0.1, 0.1, 0, 0, 0], position: [0.5, 0, 0]}}\n"
                       "joints: {a: {type: revolute, between: [ground, rod], at: [0, 0, 0], axis: [0, 1, 0],"
                       " motion: {q0: 0.3*sin(5*t)}}}\n")
        self.run_program("run", model, "--duration", "0.1", "--sample", "0.05", "-o", result, "--quiet")
        named = self.json("inverse", model, "--motion", result, "--actuators", "a")
        self.assertEqual(self.json("inverse", model, "--motion", result)["efforts"], named["efforts"])
        self.assertAlmostEqual(named["efforts"]["joint.a.actuator0"][0], -2 * 9.81 * 0.5, delta=1e-9)

    def test_inverse_at_a_singular_position(self):
        path = self.path("line.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write("linkwork: 1\nbodies:\n" + "".join(
                f"  {name}: {{mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [{x}, 0, 0]}}\n"
                for name, x in (("a", 0.5), ("b", 1.5), ("c", 2.5))) + "joints:\n" + "".join(
                    f"  {name}: {{type: revolute, between: [{ends}], at: [{x}, 0, 0], axis: [0, 1, 0]}}\n"
                    for name, ends, x in (("A", "ground, a", 0), ("B", "a, b", 1), ("C", "b, c", 2), ("D", "ground, c", 3))))
        self.assertIn(f"{path}:9:3: singular position: constraints of joint 'C'",
                      self.run_program("inverse", path, "--actuators", "A", code=1))

    def test_inverse_of_a_motion_off_the_loops(self):
        """More coordinates than degrees of freedom: those that the loops contradict are named, with the time."""
        model = os.path.join(os.path.dirname(__file__), "../../examples/models/four_bar.yaml")
        table = self.path("motion.csv")

        def solve(text, code=0):
            with open(table, "w", encoding="utf-8") as file:
                file.write(text)
            done = subprocess.run([PROGRAM, "inverse", model, "--motion", table, "--actuators", "A"], text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
            self.assertEqual(done.returncode, code, done.stderr)
            return done.stderr

        self.run_program("run", model, "--duration", "0.05", "--sample", "0.01", "-o", table, "--quiet")
        with open(table, encoding="utf-8") as file:
            self.assertEqual(solve(file.read()), "")
        self.assertIn("motion: at t = 0.1 s joint.",
                      solve("time,joint.A.q0,joint.B.q0\n0,0,0\n0.1,0.02,0.5\n0.2,0.04,0.1\n"))
        self.assertIn("motion: row 2, t = 0.2 s: the loops close to", solve("time,joint.D.q0\n0,0\n0.1,0.02\n0.2,3\n", 1))
        self.assertIn("expected columns like 'joint.", solve("time,joint.Q.q0\n0,0\n", 2))

    def model_with_spring(self):
        path = self.path("spring.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(MODEL.replace("[torque]", "[torque, pull]") + """
forces:
  rope: {type: spring, between: [ground, two], from: [1, 0, 0], to: [0.6, -1.8, 0], length: 1, force: pull}
""")
        return path

    def test_sensitivity(self):
        """Of a force F, constant, on a mass m: x = F t^2 / 2 m after t = 2 s."""
        path = self.path("pushed.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write("linkwork: 1\nparameters: {m: {value: 500, unit: g}, F: 3}\n"
                       "functions: {push: {type: constant, value: F}}\n"
                       "bodies: {box: {mass: m, inertia: [1, 1, 1, 0, 0, 0]}}\n"
                       "joints: {rail: {type: prismatic, between: [ground, box], at: [0, 0, 0], axis: [1, 0, 0], "
                       "effort: {q0: push}}}\nsimulation: {duration: 2, sample: 1}\n")
        for key in ("--watch", "--columns"):
            found = self.json("sensitivity", path, "--by", "m,F", key, "joint.rail.q0")["columns"]["joint.rail.q0"]
            self.assertAlmostEqual(found["value"], 12, delta=1e-10)
            self.assertAlmostEqual(found["derivative"]["m"], -24e-3, delta=1e-10)
            self.assertAlmostEqual(found["derivative"]["F"], 4, delta=1e-8)
        found = self.json("sensitivity", path, "--by", "m,F", "--watch", "joint.rail.q0",
                          "--method", "adjoint")["columns"]["joint.rail.q0"]
        self.assertAlmostEqual(found["derivative"]["m"], -24e-3, delta=1e-10)
        self.assertAlmostEqual(found["derivative"]["F"], 4, delta=1e-8)
        self.assertEqual(found["error"], {})
        arguments = ("sensitivity", path, "--by", "m", "--watch", "joint.rail.q0", "--method")
        self.assertIn("expected differences, adjoint or forward", self.run_program(*arguments, "complex", code=2))
        for method in ("differences", "adjoint", "forward"):
            found = self.json(*arguments, method, "--statistic", "max")["columns"]["joint.rail.q0"]
            self.assertAlmostEqual(found["derivative"]["m"], -24e-3, delta=1e-8)
        for method in ("differences", "adjoint", "forward"):  # v = 6 t: mean 6, rms 12/sqrt(3)
            found = self.json("sensitivity", path, "--by", "m", "--method", method, "--watch",
                              "joint.rail.qd0.rms,joint.rail.qd0.mean,joint.rail.q0")["columns"]
            self.assertEqual([c["statistic"] for c in found.values()], ["last", "mean", "rms"])
            self.assertAlmostEqual(found["joint.rail.q0"]["derivative"]["m"], -24e-3, delta=1e-8)
            self.assertAlmostEqual(found["joint.rail.qd0.mean"]["derivative"]["m"], -12e-3, delta=1e-8)
            self.assertAlmostEqual(found["joint.rail.qd0.rms"]["derivative"]["m"], -24e-3/3**0.5, delta=1e-8)
        self.assertIn("\njoint.rail.qd0.mean = 6 ", self.run_program("sensitivity", path, "--by", "m", "--method", "adjoint",
                                                                   "--watch", "joint.rail.qd0.mean"))
        rope = self.path("rope.yaml")
        with open(rope, "w", encoding="utf-8") as file:
            file.write("linkwork: 1\nparameters: {k: 400}\nbodies: {a: {mass: 2, inertia: [1, 1, 1, 0, 0, 0], com: [0.5, 0, 0]}}\n"
                       "joints: {A: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 1, 0]}}\nforces:\n"
                       "  rope: {type: tendon, stiffness: k, length: 0.45, slack: 10,\n"
                       "    path: [{point: [0.5, 0, 0.4]}, {body: a, point: [0.5, 0, 0]}]}\nsimulation: {duration: 0.5}\n")
        done = subprocess.run([PROGRAM, "sensitivity", rope, "--by", "k", "--method", "adjoint", "--watch", "joint.A.q0"],
                              stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, check=True)
        self.assertIn(f"warning: {rope}: line 6: tendon 'rope' passes a corner", done.stderr)
        self.assertIn("'time' chooses no column of results but the time",
                      self.run_program("sensitivity", path, "--by", "m", "--watch", "time", code=2))
        self.assertIn("has no `measures:`",
                      self.run_program("sensitivity", path, "--by", "m", "--method", "adjoint", code=2))
        self.assertIn("--watch", self.run_program("sensitivity", path, "--by", "m", code=2))
        self.assertIn("'m' is given twice", self.run_program("sensitivity", path, "--by", "m,F,m", "--watch", "joint.rail.q0",
                                                             code=2))
        self.assertIn("--by", self.run_program("sensitivity", path, code=2))

    def test_messages(self):
        for arguments, code, text in (
                (("modes", self.model, "--at", "rest"), 2, "--at rest: expected start or equilibrium"),
                (("linearize", self.model, "--outputs", "body.two.xx"), 2, "did you mean 'body.two.x'?"),
                (("linearize", self.model, "--independent", "c"), 2, "there is no joint 'c'"),
                (("linearize", self.model, "-o", "x.csv"), 2, "linear systems are written as .json, .mat or .h5"),
                (("equilibrium", self.model, "--inputs", "torqe=1"), 2, "did you mean torque?"),
                (("equilibrium", self.model, "--inputs", "torque"), 2, "expected NAME=VALUE"),
                (("equilibrium", self.model, "-o", "x.h5"), 2, "models are written as .yaml")):
            self.assertIn(text, self.run_program(*arguments, code=code))
        with open(self.path("falls.yaml"), "w", encoding="utf-8") as file:
            file.write("linkwork: 1\nbodies: {stone: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}}\n")
        self.assertIn("no equilibrium found in 200 steps: forces still move body.stone.d2; expected a joint, spring or stop",
                      self.run_program("equilibrium", self.path("falls.yaml"), code=1))
        self.assertIn("accelerations there up to 9.81 (0: equilibrium)",
                      self.run_program("modes", self.path("falls.yaml"), "--at", "start"))


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
