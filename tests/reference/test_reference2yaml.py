#!/usr/bin/env python3
"""reference2yaml says in the native form what the reference form says: the program then moves
mechanisms as closed forms demand.

usage: test_reference2yaml.py PROGRAM
"""
import json
import math
import os
import subprocess
import sys
import tempfile
import unittest

import trajectory

HERE = os.path.dirname(os.path.abspath(__file__))
TOOL = os.path.join(HERE, "..", "..", "tools", "reference2yaml")
PROGRAM = ""

TOLERANCE = 1e-8  # runs have tolerances of 1e-12 and last some seconds


def body(name, position, **more):
    b = {"name": name, "mass": 2.0, "inertia": [0.1, 0.2, 0.25, 0.01, -0.02, 0.005],
         "position": position, "quaternion": [1, 0, 0, 0], "velocity": [0, 0, 0],
         "angular_velocity": [0, 0, 0]}
    b.update(more)
    return b


def joint(name, kind, body1, body2, point1=(0, 0, 0), point2=(0, 0, 0), **more):
    j = {"name": name, "type": kind, "body1": body1, "body2": body2, "point1": list(point1),
         "point2": list(point2), "frame1": [1, 0, 0, 0], "frame2": [1, 0, 0, 0]}
    j.update(more)
    return j


def model(bodies, joints, **more):
    m = {"gravity": [0, 0, 0], "bodies": bodies, "joints": joints}
    m.update(more)
    return m


class Conversion(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def convert(self, source, good=True):
        with open(self.path("m.model.json"), "w", encoding="utf-8") as file:
            json.dump(source, file)
        done = subprocess.run([sys.executable, TOOL, self.path("m.model.json"), "-o",
                               self.path("m.yaml")], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0 if good else 2, done.stderr)
        return done.stderr

    def run_model(self, source, formulation="dense", duration=2):
        """Columns of a run of the converted model."""
        self.convert(source)
        done = subprocess.run([PROGRAM, "run", self.path("m.yaml"), "--quiet", "--formulation",
                               formulation, "--integrator", "fehlberg8", "--rtol", "1e-12", "--atol",
                               "1e-12", "--duration", str(duration), "--sample", "0.25", "-o",
                               self.path("m.csv")], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return trajectory.read(self.path("m.csv"))

    def follows(self, columns, name, expected):
        for t, x in zip(columns["time"], columns[name]):
            self.assertLess(abs(x - expected(t)), TOLERANCE, f"{name} at t = {t}")

    def test_springs_on_one_coordinate_act_together(self):
        slide = joint("j", "prismatic", "ground", "a")
        springs = [{"joint": "j", "coordinate": 0, "k": 30.0, "q0": 0.2},
                   {"joint": "j", "coordinate": 0, "k": 20.0, "c": 0.0, "q0": -0.1},
                   {"joint": "j", "coordinate": 0, "force": 1.5},
                   {"joint": "j", "coordinate": 0, "force": {"type": "constant", "value": 0.5}}]
        columns = self.run_model(model([body("a", [0, 0, 0])], [slide], joint_springs=springs))
        middle = (30 * 0.2 - 20 * 0.1 + 2) / 50  # where all forces cancel; 50 N/m on 2 kg: 5 rad/s
        self.follows(columns, "joint.j.q0", lambda t: middle * (1 - math.cos(5 * t)))

    def test_springs_on_one_coordinate_keep_their_energy(self):
        springs = [{"joint": "j", "coordinate": 0, "k": 30.0, "q0": 0.2},
                   {"joint": "j", "coordinate": 0, "k": 20.0, "q0": -0.1}]
        columns = self.run_model(model([body("a", [0, 0, 0])],
                                       [joint("j", "prismatic", "ground", "a")],
                                       joint_springs=springs))
        for q, stored in zip(columns["joint.j.q0"], columns["sys.V"]):
            self.assertAlmostEqual(stored, 15 * (q - 0.2) ** 2 + 10 * (q + 0.1) ** 2, delta=1e-13)

    def test_names_beyond_ascii_are_written_as_they_are(self):
        source = model([body("\U0001f600", [0, 0, 0])],
                       [joint("j", "prismatic", "ground", "\U0001f600")])
        self.run_model(source)

    def test_stiffnesses_that_cancel_leave_a_constant_force(self):
        springs = [{"joint": "j", "coordinate": 0, "k": 4.0, "q0": 0.5},
                   {"joint": "j", "coordinate": 0, "k": -4.0, "q0": 0.25}]
        columns = self.run_model(model([body("a", [0, 0, 0])],
                                       [joint("j", "prismatic", "ground", "a")],
                                       joint_springs=springs))
        self.follows(columns, "joint.j.q0", lambda t: 0.5 * 1.0 / 2.0 * t * t)

    def test_a_spherical_damper_without_coordinate(self):
        a = body("a", [0, 0, 0], inertia=[0.2, 0.2, 0.2, 0, 0, 0], angular_velocity=[0.6, 0, 0.8])
        columns = self.run_model(model([a], [joint("j", "spherical", "ground", "a")],
                                       joint_springs=[{"joint": "j", "c": 0.1},
                                                      {"joint": "j", "c": 0.05}]))
        self.follows(columns, "body.a.wx", lambda t: 0.6 * math.exp(-0.15 / 0.2 * t))
        self.follows(columns, "body.a.wz", lambda t: 0.8 * math.exp(-0.15 / 0.2 * t))

    def test_screw_pitch_is_per_turn(self):
        j = joint("j", "screw", "ground", "a", pitch=0.5)
        h = 0.5 / (2 * math.pi)
        columns = self.run_model(model([body("a", [0, 0, 0])], [j], gravity=[0, 0, -9.81]))
        rate = -2.0 * 9.81 * h / (0.25 + 2.0 * h * h)
        self.follows(columns, "joint.j.q0", lambda t: 0.5 * rate * t * t)
        self.follows(columns, "body.a.z", lambda t: h * 0.5 * rate * t * t)

    def test_distance_joint_and_ground_as_second_body(self):
        j = joint("rod", "distance", "a", "ground", point2=[0, 0, 0], length=2.0)
        a = body("a", [2, 0, 0], velocity=[0, 3, 0])
        columns = self.run_model(model([a], [j]))
        self.follows(columns, "body.a.x", lambda t: 2 * math.cos(1.5 * t))
        self.follows(columns, "body.a.y", lambda t: 2 * math.sin(1.5 * t))

    def test_driven_joint_follows_a_sum_of_functions(self):
        motion = {"type": "sum", "terms": [
            {"type": "polynomial", "coefficients": [0.0, 1.0, 0.5]},
            {"type": "sine", "amplitude": 0.2, "omega": 3.0},
            {"type": "sine", "offset": -0.1, "amplitude": 0.1, "omega": 2.0,
             "phase": math.pi / 2}]}
        a = body("a", [0, 0, 0], angular_velocity=[0, 0, 1.6])
        columns = self.run_model(model([a], [joint("j", "revolute_driven", "ground", "a",
                                                   motion=motion)]))
        self.follows(columns, "joint.j.q0", lambda t: t + 0.5 * t * t + 0.2 * math.sin(3 * t)
                     - 0.1 + 0.1 * math.cos(2 * t))
        self.follows(columns, "joint.j.tz", lambda t: 0.25 * (
            1 - 1.8 * math.sin(3 * t) - 0.4 * math.cos(2 * t)))

    def test_wrench_at_a_point_in_body_axes_and_scaled(self):
        a = body("a", [1, 0, 0], inertia=[0.5, 0.5, 0.5, 0, 0, 0])
        wrench = {"body": "a", "point": [0, 1, 0], "force": [0, 0, 3], "torque": [0, 0.5, 0],
                  "frame": "body", "scale": {"type": "polynomial", "coefficients": [0, 2]}}
        j = joint("j", "revolute", "ground", "a", point1=[1, 0, 0],
                  frame1=[math.sqrt(0.5), 0, math.sqrt(0.5), 0],  # z along x
                  frame2=[math.sqrt(0.5), 0, math.sqrt(0.5), 0])
        columns = self.run_model(model([a], [j], wrenches=[wrench]))
        self.follows(columns, "joint.j.q0", lambda t: 3 * 2 / 0.5 * t ** 3 / 6)

    def test_point_to_point_spring_pushes_with_its_force(self):
        spring = {"name": "s", "body1": "ground", "body2": "a", "point1": [0, 0, 0],
                  "point2": [0, 0, 0], "k": 8.0, "c": 0.0, "length0": 1.0, "force": 2.0}
        a = body("a", [1, 0, 0])
        columns = self.run_model(model([a], [], springs=[spring]))
        self.follows(columns, "body.a.x", lambda t: 1.25 - 0.25 * math.cos(2 * t))

    def test_every_joint_type_is_accepted(self):
        kinds = ["fixed", "revolute", "prismatic", "cylindrical", "universal", "spherical",
                 "planar"]
        bodies = [body(f"b{i}", [i, 0, 0]) for i in range(len(kinds))]
        joints = [joint(f"j {k}", k, f"b{i - 1}" if i else "ground", f"b{i}",
                        point1=[1 if i else 0, 0, 0]) for i, k in enumerate(kinds)]
        columns = self.run_model(model(bodies, joints, gravity=[0, 0, -9.81]), "aba", 0.5)
        self.assertIn("joint.j planar.q2", columns)

    def test_nothing_is_dropped(self):
        good = model([body("a", [0, 0, 0])], [joint("j", "revolute", "ground", "a")])
        cases = [({"colour": 1}, "unknown key 'colour'"),
                 ({"bodies": [body("a", [0, 0, 0], shape=1)]}, "unknown key 'shape'"),
                 ({"joints": [joint("j", "hinge", "ground", "a")]}, "unknown type 'hinge'"),
                 ({"joints": [joint("j", "revolute", "ground", "a", pitch=1)]}, "'pitch' belongs"),
                 ({"joints": [joint("j", "screw", "ground", "a")]}, "'pitch' belongs"),
                 ({"joint_springs": [{"joint": "j", "c": 1}]}, "needs a spherical joint"),
                 ({"joint_springs": [{"joint": "x", "c": 1}]}, "no such joint"),
                 ({"wrenches": [{"body": "a", "scale": {"type": "noise"}}]}, "function type"),
                 ({"bodies": [{"name": "a"}]}, "'mass' is missing")]
        for change, expected in cases:
            self.assertIn(expected, self.convert({**good, **change}, good=False))

    def test_duration_and_sample_come_from_the_meta_file(self):
        with open(self.path("m.meta.json"), "w", encoding="utf-8") as file:
            json.dump({"end_time": 4.0, "output_points": 161}, file)
        self.convert(model([body("a", [0, 0, 0])], []))
        with open(self.path("m.yaml"), encoding="utf-8") as file:
            text = file.read()
        self.assertIn("  duration: 4.0\n  sample: 0.025\n", text)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
