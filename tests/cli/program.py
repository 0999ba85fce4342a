"""Tests that call the program with models that they write, by absolute paths."""
import csv
import os
import tempfile
import unittest

from in_folder import linkwork

PENDULUM = """linkwork: 1
bodies:
  rod: {mass: 1, inertia: [0.1, 0.1, 0.01, 0, 0, 0], position: [0, 0, -0.5]}
joints:
  hinge: {type: revolute, between: [ground, rod], at: [0, 0, 0], axis: [0, 1, 0], q: [0.5]}
simulation: {duration: 1, sample: 0.1}
"""

PARALLELOGRAM = """linkwork: 1
bodies:
  crank: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [0, 0, 0.5], velocity: [1.5, 0, 0],
          angular_velocity: [0, 3, 0]}
  coupler: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [0.5, 0, 1], velocity: [3, 0, 0]}
  rocker: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [1, 0, 0.5], velocity: [1.5, 0, 0],
           angular_velocity: [0, 3, 0]}
joints:
  A: {type: revolute, between: [ground, crank], at: [0, 0, 0], axis: [0, 1, 0]}
  B: {type: revolute, between: [crank, coupler], at: [0, 0, 1], axis: [0, 1, 0]}
  C: {type: revolute, between: [coupler, rocker], at: [1, 0, 1], axis: [0, 1, 0]}
  D: {type: revolute, between: [ground, rocker], at: [1, 0, 0], axis: [0, 1, 0]}
simulation: {duration: 1, sample: 0.01}
"""


class Program(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.model = self.write("pendulum.yaml", PENDULUM)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def call(self, *arguments, code=0):
        done = linkwork(*arguments)
        self.assertEqual(done.returncode, code, "%s\n%s%s" % (arguments, done.stdout, done.stderr))
        return done

    def has_rows(self, name):
        """Whether a file that is being written has a row behind that of the start."""
        if not os.path.exists(self.path(name)):
            return False
        with open(self.path(name), "rb") as file:
            return file.read().count(b"\n") > 2

    def rows(self, name):
        with open(self.path(name), encoding="utf-8", newline="") as file:
            head, *rows = list(csv.reader(file))
        for row in rows:
            self.assertEqual(len(row), len(head))
        return head, [[float(x) for x in row] for row in rows]
