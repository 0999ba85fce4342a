#!/usr/bin/env python3
"""linkwork optimize: minima in closed form, constraints, fits, designs without a run, files, messages.

usage: test_optimize.py PROGRAM
"""
import json
import math
import os
import subprocess
import sys
import tempfile
import unittest

# Pushed from rest: x = F t^2 / 2 m.  `miss` is smallest at F/m = 4; a rod below 0.5 m has no mass.
MODEL = """linkwork: 1
gravity: [0, 0, 0]
parameters:
  m: {value: 500, unit: g, min: 100, description: of the box}
  F: 3
  rod: {value: 1, unit: m}
functions: {push: {type: constant, value: F}}
bodies:
  box: {mass: m, inertia: [1, 1, 1, 0, 0, 0]}
  bar: {mass: (1 + 0*sqrt(rod/(1 m) - 0.5))*1 kg, inertia: [1, 1, 1, 0, 0, 0], position: [0, rod, 0]}
joints:
  rail: {type: prismatic, between: [ground, box], at: [0, 0, 0], axis: [1, 0, 0], effort: {q0: push}}
  other: {type: fixed, between: [ground, bar], at: [0, 0, 0]}
measures:
  way: joint.rail.q0
  miss: (joint.rail.q0 - 8)^2
  short: {of: body.bar.y, unit: m}
  both: (body.bar.y - 0.2)^2 + (joint.rail.q0/12 - 1)^2
simulation: {duration: 2, sample: 1}
"""

GATE = """linkwork: 1
parameters: {k: 20, c: 0.3, m: 1 kg}
bodies:
  gate: {mass: m, inertia: [m*1e-3 m^2, m*0.08 m^2, m*0.08 m^2, 0, 0, 0], position: [0.5, 0, 0]}
joints:
  A: {type: revolute, between: [ground, gate], at: [0, 0, 0], axis: [0, 1, 0], q: [0.4], spring: {q0: {stiffness: k, damping: c}}}
simulation: {duration: 1, sample: 0.04}
"""


class Optimize(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.model = self.save("push.yaml", MODEL)
        text = self.run_program("optimize", self.model, "--minimize", "miss", code=2)
        self.nlopt = "without NLopt" not in text

    def save(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def run_program(self, *arguments, code=0):
        done = subprocess.run([sys.argv[1], *arguments], capture_output=True, text=True, check=False,
                              cwd=self.folder, timeout=120)
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        return done.stdout if code == 0 else done.stdout + done.stderr

    def optimize(self, *arguments, code=0):
        text = self.run_program("optimize", self.model, *arguments, "--json", code=code)
        return json.loads(text[:text.rindex("}") + 1])

    def need_nlopt(self):
        if not self.nlopt:
            self.skipTest("SKIPPED: the program was built without NLopt")

    def test_minimum(self):
        """By every algorithm, with and without the adjoint: F/m = 4."""
        self.need_nlopt()
        for algorithm, gradient in (("slsqp", "auto"), ("slsqp", "adjoint"), ("mma", "differences"), ("lbfgs", "adjoint")):
            found = self.optimize("--vary", "F=1:5", "--minimize", "miss", "--algorithm", algorithm,
                                  "--method", gradient)
            self.assertTrue(found["converged"])
            self.assertAlmostEqual(found["parameters"]["F"]["end"], 2, delta=1e-4)
            self.assertAlmostEqual(found["start_objective"], 16, delta=1e-8)
            self.assertEqual(found["gradient"], "adjoint" if gradient == "adjoint" else "differences")
            self.assertLessEqual(found["evaluations"][-1]["runs"], found["runs"])

    def test_maximum_and_constraints(self):
        """The way is largest at the ends of the ranges, or on the constraint."""
        self.need_nlopt()
        found = self.optimize("--vary", "F=1:5", "--vary", "m=0.4:0.9 kg", "--maximize", "way")
        self.assertAlmostEqual(found["end_objective"], 2 * 5 / 0.4, delta=1e-6)
        self.assertEqual(found["parameters"]["m"]["unit"], "g")
        self.assertAlmostEqual(found["parameters"]["m"]["end"], 400, delta=1e-6)
        for constraint in ("way <= 9", "way.max<=9", "way = 9", "joint.rail.q0 == 9"):
            found = self.optimize("--vary", "F=1:5", "--maximize", "way", "--subject-to", constraint)
            self.assertAlmostEqual(found["constraints"][constraint], 9, delta=1e-5)
            self.assertAlmostEqual(found["parameters"]["F"]["end"], 9 / 4, delta=1e-5)
        found = self.optimize("--vary", "F=1:5", "--minimize", "way", "--subject-to", "way >= 9", "--subject-to",
                              "way.mean >= 4")
        self.assertAlmostEqual(found["parameters"]["F"]["end"], 8 / 3, delta=1e-5)

    def test_no_design_meets_constraints(self):
        self.need_nlopt()
        text = self.run_program("optimize", self.model, "--vary", "F=1:5", "--minimize", "way", "--subject-to", "way <= 1",
                                code=1)
        self.assertIn("no design meets all of --subject-to", text)

    def test_infeasible_designs(self):
        """The best rod would be shorter than those that have a mass: the search ends at the edge."""
        self.need_nlopt()
        found = self.optimize("--vary", "rod=0.1:2", "--vary", "F=1:5", "--minimize", "both")
        failures = [e["failure"] for e in found["evaluations"] if "failure" in e]
        self.assertTrue(failures and all("body 'bar': mass" in text for text in failures), found)
        self.assertGreaterEqual(found["parameters"]["rod"]["end"], 0.5)
        self.assertLess(found["end_objective"], 0.25)
        text = self.run_program("optimize", self.model, "--vary", "rod=0.1:2", "--set", "rod=0.3", "--minimize", "short",
                                code=3)
        self.assertIn("sqrt", text)

    def test_fit(self):
        """Of exact rows: the parameter, a standard deviation near 0; of rows with known errors the textbook's line."""
        rows = "time,joint.rail.q0\n" + "".join(f"{t},{3.2 * t * t / 2}\n" for t in (0, 0.25, 1, 1.5))
        found = self.optimize("--vary", "F=1:5", "--fit", self.save("rows.csv", rows))
        force = found["parameters"]["F"]
        self.assertTrue(found["converged"])
        self.assertAlmostEqual(force["end"], 1.6, delta=1e-7)
        self.assertLess(force["deviation"], 1e-6)
        times, errors = (0.5, 1, 1.5, 2), (0.1, -0.2, 0.1, 0.05)
        measured = [3 * t * t + e for t, e in zip(times, errors)]
        rows = "time,joint.rail.q0\n" + "".join(f"{t},{x}\n" for t, x in zip(times, measured))
        force = self.optimize("--vary", "F=1:5", "--fit", self.save("rows.csv", rows), "--weights",
                              "joint.rail.q0=3")["parameters"]["F"]
        basis = [t * t for t in times]  # x = F basis for m = 0.5 kg
        expected = sum(b * x for b, x in zip(basis, measured)) / sum(b * b for b in basis)
        left = sum((x - expected * b) ** 2 for b, x in zip(basis, measured))
        self.assertAlmostEqual(force["end"], expected, delta=1e-6)
        self.assertAlmostEqual(force["deviation"], math.sqrt(left / 3 / sum(b * b for b in basis)), delta=1e-6)

    def test_fit_by_method(self):
        """A gate, by differences and forward: the same parameters; by default forward for three, differences for one."""
        self.model = self.save("gate.yaml", GATE)
        self.run_program("run", self.model, "--set", "k=33", "--set", "c=0.7", "--columns", "joint.A.q0", "-o", "rows.csv")
        two = ["--vary", "k=1:90", "--vary", "c=0:3", "--fit", "rows.csv"]
        for method in ("differences", "forward"):
            found = self.optimize(*two, "--method", method)
            self.assertEqual((found["gradient"], found["converged"]), (method, True))
            self.assertAlmostEqual(found["parameters"]["k"]["end"], 33, delta=1e-5)
            self.assertAlmostEqual(found["parameters"]["c"]["end"], 0.7, delta=1e-6)
        self.assertIn("gradient by forward", self.run_program("optimize", self.model, *two, "--method", "forward"))
        self.assertEqual(self.optimize(*two[:2], *two[4:])["gradient"], "differences")
        self.assertEqual(self.optimize(*two, "--vary", "m=0.3:3")["gradient"], "forward")

    def test_forward_at_the_end_of_a_range_in_the_file(self):
        """Its variants leave the range of the file: differences, and a warning says so."""
        rows = self.save("rows.csv", "time,joint.rail.q0\n1,3\n2,12\n")
        model = self.save("spring.yaml", MODEL.replace("F: 3", "F: {value: 3, max: 3}"))
        done = subprocess.run([sys.argv[1], "optimize", model, "--vary", "F=1:3", "--fit", rows, "--method", "forward"],
                              capture_output=True, text=True, check=False, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("warning: --method forward: ", done.stderr)

    def test_fit_that_is_not_determined(self):
        """Force and mass together: only their ratio."""
        rows = "time,joint.rail.q0\n" + "".join(f"{t},{1.6 * t * t}\n" for t in (0.5, 1, 1.5, 2))
        fit = ["--vary", "F=1:5", "--vary", "m=400:900", "--fit", self.save("rows.csv", rows)]
        found = self.optimize(*fit)["parameters"]
        self.assertAlmostEqual(found["F"]["end"] / found["m"]["end"], 3.2e-3, delta=1e-8)
        self.assertEqual([found["F"]["deviation"], found["m"]["deviation"]], [None, None])
        self.assertIn("do not determine", self.run_program("optimize", self.model, *fit))

    def test_fit_that_errors_of_differences_would_determine(self):
        """A gate: its mass, stiffness and damping together; their Jacobian has full rank by its errors alone."""
        self.model = self.save("gate.yaml", GATE)
        self.run_program("run", self.model, "--set", "k=33", "--set", "c=0.7", "--columns", "joint.A.q0", "-o", "rows.csv")
        fit = ["--vary", "k=1:90", "--vary", "c=0:3", "--fit", "rows.csv"]
        of = self.optimize(*fit)["parameters"]
        self.assertLess(of["k"]["deviation"], 1e-6)
        self.assertAlmostEqual(of["k"]["end"], 33, delta=1e-5)
        of = self.optimize(*fit, "--vary", "m=0.3:3")["parameters"]
        self.assertAlmostEqual(of["k"]["end"] / of["m"]["end"], 33, delta=1e-4)
        self.assertEqual([of[name]["deviation"] for name in "kcm"], [None] * 3)

    def test_adjoint_at_the_end_of_a_range_in_the_file(self):
        """Its variants leave the range of the file: differences, and a warning says so."""
        if not self.nlopt:
            self.skipTest("built without NLopt")
        self.model = self.save("spring.yaml", MODEL.replace("F: 3", "F: {value: 3, max: 3}"))
        given = ["optimize", self.model, "--vary", "F=1:3", "--minimize", "miss", "--method", "adjoint"]
        done = subprocess.run([sys.argv[1], *given], capture_output=True, text=True, check=False, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("warning: --method adjoint:", done.stderr)
        self.model = self.save("spring.yaml", MODEL)
        done = subprocess.run([sys.argv[1], *given], capture_output=True, text=True, check=False, cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_fit_ends_at_a_bound(self):
        rows = self.save("rows.csv", "time,joint.rail.q0\n1,8\n2,32\n")
        found = self.optimize("--vary", "F=1:5", "--vary", "m=400:900", "--fit", rows)["parameters"]
        self.assertEqual((found["F"]["end"], found["m"]["end"]), (5, 400))

    def test_file(self):
        """The model that is written has the parameters and its expressions."""
        rows = self.save("rows.csv", "time,joint.rail.q0\n1,1.6\n2,6.4\n")
        best = os.path.join(self.folder, "best.yaml")
        self.run_program("optimize", self.model, "--vary", "F=1:5", "--fit", rows, "-o", best)
        with open(best, encoding="utf-8") as file:
            text = file.read()
        self.assertIn("mass: m", text)
        self.assertIn('description: "of the box"', text)
        again = json.loads(self.run_program("optimize", best, "--vary", "F=1:5", "--fit", rows, "--json"))
        self.assertLess(again["start_objective"], 1e-7)

    def test_evaluations(self):
        rows = self.save("rows.csv", "time,joint.rail.q0\n1,1.6\n2,6.4\n")
        found = self.optimize("--vary", "F=1:5", "--fit", rows, "--evaluations", "1")
        self.assertEqual(len(found["evaluations"]), 1)
        self.assertFalse(found["converged"])
        self.assertIn("number of evaluations", found["end"])

    def test_messages(self):
        rows = self.save("rows.csv", "time,joint.rail.q0\n1,1.6\n2,6.4\n")
        wrong = self.save("wrong.csv", "time,joint.rai.q0\n1,1.6\n")
        fit = ("--fit", rows)
        for arguments, text in (
                ((*fit,), "--vary NAME=FROM:TO"),
                (("--vary", "F=1:5"), "one of --minimize"),
                (("--vary", "F=1:5", "--minimize", "way", *fit), "one of --minimize"),
                (("--vary", "F", *fit), "--vary F: expected NAME=FROM:TO"),
                (("--vary", "F=1,2", *fit), "--vary F=1,2: expected NAME=FROM:TO"),
                (("--vary", "F=1:2:3", *fit), "expected NAME=FROM:TO"),
                (("--vary", "F=5:1", *fit), "its first end below the second"),
                (("--vary", "G=1:5", *fit), "G"),
                (("--vary", "gravity.x=1:5", *fit), "expected a name under `parameters:`"),
                (("--vary", "F=1:2", *fit), "begins at the value of the model, 3"),
                (("--vary", "m=1:900", *fit), "parameter 'm': range 1:900; its file allows 100:inf g"),
                (("--vary", "F=1:5", "--vary", "F=1:4", *fit), "'F' is given twice"),
                (("--vary", "F=1:5", "--fit", wrong), "joint.rai.q0"),
                (("--vary", "F=1:5", *fit, "--subject-to", "way <= 1"), "--fit has no --subject-to"),
                (("--vary", "F=1:5", *fit, "--method", "adjoint"), "residuals of data"),
                (("--vary", "F=1:5", *fit, "--method", "exact"), "expected auto, differences, adjoint or forward"),
                (("--vary", "F=1:5", *fit, "--weights", "joint.rail.q0=a"), "expected COLUMN=NUMBER"),
                (("--vary", "F=1:5", *fit, "--weights", "joint.rail.q1=1"), "joint.rail.q1"),
                (("--vary", "F=1:5", *fit, "--evaluations", "0"), "--evaluations 0"),
                (("--vary", "F=1:5", *fit, "-o", "best.csv"), "models are written as .yaml")):
            with self.subTest(arguments=arguments):
                self.assertIn(text, self.run_program("optimize", self.model, *arguments, code=2))
        if not self.nlopt:
            return
        for arguments, text in (
                (("--minimize", "wy"), "wy"),
                (("--minimize", "way", "--subject-to", "way"), "expected MEASURE <= NUMBER"),
                (("--minimize", "way", "--subject-to", "way <= x"), "expected MEASURE <= NUMBER"),
                (("--minimize", "way", "--subject-to", "way < 1"), "expected <= in place of <"),
                (("--minimize", "way", "--subject-to", "way>1"), "expected >= in place of >"),
                (("--minimize", "way", "--algorithm", "newton"), "expected slsqp, mma or lbfgs"),
                (("--minimize", "way", "--algorithm", "lbfgs", "--subject-to", "way <= 1"), "has no constraints"),
                (("--minimize", "way", "--algorithm", "mma", "--subject-to", "way = 1"), "inequalities only"),
                (("--minimize", "way", "--method", "forward"), "expected data, and no measures with them"),
                (("--minimize", "way", "--weights", "way=1"), "those of columns of --fit")):
            with self.subTest(arguments=arguments):
                self.assertIn(text, self.run_program("optimize", self.model, "--vary", "F=1:5", *arguments, code=2))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
