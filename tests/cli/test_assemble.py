#!/usr/bin/env python3
"""linkwork assemble: closed models, reports, what cannot be closed.

usage: test_assemble.py LINKWORK MODELS [unittest arguments]
"""
import json
import os
import re
import sys
import unittest

from program import PARALLELOGRAM, Program


class Assemble(Program):
    """The crank of the parallelogram rotated by 0.5 rad; its speed alone is given."""

    def parallelogram(self, crank, speeds=False):
        text = PARALLELOGRAM.replace("axis: [0, 1, 0]}", "axis: [0, 1, 0], %s}" % crank, 1)
        return text if speeds else re.sub(r"(?s), velocity:[^}]*", "", text)

    def test_a_model_that_closes_is_written(self):
        model = self.write("open.yaml", self.parallelogram("q: [0.5], qd: [2]"))
        refused = self.call("run", model, "--duration", "0.1", code=3).stderr
        self.assertRegex(refused, r"joint '[A-D]'.*linkwork assemble")
        done = self.call("assemble", model, "-o", self.path("closed.yaml"))
        self.assertRegex(done.stdout, r"written +\S+closed.yaml")
        found = json.loads(self.call("check", self.path("closed.yaml"), "--json").stdout)
        self.assertLess(max(found["residual"]), 1e-12)
        self.call("run", self.path("closed.yaml"), "--duration", "0.1", "-o", self.path("a.csv"))
        head, rows = self.rows("a.csv")
        start = dict(zip(head, rows[0]))
        for joint, q, qd in (("A", 0.5, 2), ("B", -0.5, -2), ("C", 0.5, 2), ("D", 0.5, 2)):
            self.assertAlmostEqual(abs(start["joint.%s.q0" % joint]), abs(q), places=12)
            self.assertAlmostEqual(abs(start["joint.%s.qd0" % joint]), abs(qd), places=12)

    def test_json_reports_what_was_done(self):
        model = self.write("open.yaml", self.parallelogram("q: [0.5], qd: [2]"))
        report = json.loads(self.call("assemble", model, "--json").stdout)
        self.assertGreater(report["iterations"], 0)
        self.assertLess(max(report["residual_after"]), 1e-12)
        self.assertAlmostEqual(report["moved"]["by"], 2 * 0.25, delta=0.01)  # the coupler, on an arc
        self.assertEqual(report["moved"]["name"], "coupler")

    def test_speeds_that_follow_are_reported(self):
        model = self.write("speed.yaml", self.parallelogram("qd: [2]"))
        self.assertIn("speeds of 3 joints follow", self.call("check", model).stdout)

    def test_what_cannot_be_closed_exits_1_and_writes_nothing(self):
        text = self.parallelogram("qd: [2]").replace(
            "C: {type: revolute, between: [coupler, rocker], at: [1, 0, 1], axis: [0, 1, 0]}",
            "C: {type: spherical, between: [coupler, rocker], frame1: {position: [5, 0, 0]}, frame2: {}}")
        model = self.write("open.yaml", text)
        done = self.call("assemble", model, "-o", self.path("closed.yaml"), code=1)
        self.assertRegex(done.stderr, r"cannot be put together.*joint 'C' by [0-9.]+")
        self.assertFalse(os.path.exists(self.path("closed.yaml")))

    def test_coordinates_to_assemble_near(self):
        model = self.write("near.yaml", self.parallelogram("qd: [2]"))
        out = self.path("near-closed.yaml")
        self.call("assemble", model, "--near", "A=0.25", "-o", out)
        with open(out, encoding="utf-8") as file:
            self.assertRegex(file.read(), r"A:(?:\n    .*)*\n    q: \[0\.2(?:5|4999)")
        for near, part in (("A", "needs =Q"), ("A=x", "needs =Q"), ("A=1:2", "has 1 coordinate, not 2"), ("A=1:2:3:4:5:6:7:8:9:1", "needs =Q"),
                           ("Z=1", "no joint 'Z'")):
            self.assertIn(part, self.call("assemble", model, "--near", near, code=2).stderr)

    def test_names_to_hold_must_exist(self):
        message = self.call("assemble", self.model, "--hold", "rod,bob", code=2).stderr
        self.assertIn("'bob'", message)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
