#!/usr/bin/env python3
"""linkwork codegen --casadi: the interface of external functions, Jacobians against differences; CasADi itself where it is installed.

usage: test_casadi.py PROGRAM COMPILER SOURCES
"""
import ctypes
import os
import random
import subprocess
import sys
import tempfile
import unittest

MIXED = """linkwork: 1
bodies:
  arm: {mass: 2, inertia: [0.1, 0.2, 0.15, 0.01, 0, 0], position: [0.4, 0, 0]}
  ball: {mass: 1, inertia: [0.05, 0.02, 0.04, 0, 0, 0.003], position: [0.9, 0.1, 0]}
joints:
  A: {type: revolute, between: [ground, arm], at: [0, 0, 0], axis: [0, 1, 0], spring: {q0: {stiffness: 5, damping: 0.2}}}
  B: {type: spherical, between: [arm, ball], at: [0.8, 0, 0]}
"""
DOUBLES = ctypes.POINTER(ctypes.c_double)


class Function:
    """An external function, called as CasADi calls it."""

    def __init__(self, library, name):
        self.call, self.name = getattr(library, name), name
        self.ins, self.outs = (self.arguments(library, way) for way in ("in", "out"))
        sizes = [ctypes.c_longlong() for _ in range(4)]
        assert getattr(library, name + "_work")(*(ctypes.byref(s) for s in sizes)) == 0
        self.work = sizes[3].value

    def arguments(self, library, way):
        found = []
        for i in range(getattr(library, f"{self.name}_n_{way}")()):
            label, shape = (getattr(library, f"{self.name}_{what}_{way}") for what in ("name", "sparsity"))
            label.restype, shape.restype = ctypes.c_char_p, ctypes.POINTER(ctypes.c_longlong)
            rows, columns, dense = shape(ctypes.c_longlong(i))[:3]
            assert dense == 1
            found.append((label(ctypes.c_longlong(i)).decode(), rows, columns))
        assert not getattr(library, f"{self.name}_name_{way}")(ctypes.c_longlong(len(found)))
        return found

    def __call__(self, *given, wanted=None):
        """Lists of numbers, column by column; None: NULL."""
        arrays = [None if g is None else (ctypes.c_double * len(g))(*g) for g in given]
        room = [(ctypes.c_double * (rows * columns))() for _, rows, columns in self.outs]
        keep = [wanted is None or i in wanted for i in range(len(room))]
        arg = (DOUBLES * len(self.ins))(*(ctypes.cast(a, DOUBLES) if a else DOUBLES() for a in arrays))
        res = (DOUBLES * len(room))(*(ctypes.cast(r, DOUBLES) if k else DOUBLES() for r, k in zip(room, keep)))
        w = (ctypes.c_double * max(1, self.work))()
        assert self.call(arg, res, None, w, 0) == 0
        return [list(r) for r in room]


class Casadi(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def built(self, model):
        out = os.path.join(self.folder, "code")
        subprocess.run([sys.argv[1], "codegen", model, "--casadi", "-o", out, "-q"], check=True)
        name = os.path.splitext(os.path.basename(model))[0]
        subprocess.run(["make", "-s", "-C", out, name + ".so", "CC=" + sys.argv[2], "CFLAGS=-O0 -Wall -Wextra -Werror"], check=True)
        return os.path.join(out, name + ".so")

    def mixed(self):
        path = os.path.join(self.folder, "mixed.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(MIXED)
        return self.built(path)

    def compare(self, library, name):
        """jac_NAME against differences of order four of NAME."""
        f, jacobian = Function(library, name), Function(library, "jac_" + name)
        self.assertEqual([a[0] for a in jacobian.ins], [a[0] for a in f.ins] + ["out_" + f.outs[0][0]])
        self.assertEqual([a[0] for a in jacobian.outs], [f"jac_{f.outs[0][0]}_{a[0]}" for a in f.ins])
        x = [[random.uniform(0.2, 1) for _ in range(rows)] for _, rows, _ in f.ins]
        blocks, rows = jacobian(*x, None), f.outs[0][1]
        h, largest = 1e-3, 0
        for i, block in enumerate(blocks):
            for k in range(len(x[i])):
                def at(side):
                    moved = [list(a) for a in x]
                    moved[i][k] += side * h
                    return f(*moved)[0]
                values = [at(side) for side in (1, -1, 2, -2)]
                for row in range(rows):
                    one, other, two, far = (v[row] for v in values)
                    slope = (8 * (one - other) - (two - far)) / (12 * h)
                    self.assertAlmostEqual(block[k * rows + row], slope, delta=1e-6 * max(1, abs(slope)), msg=(name, i, k, row))
                    largest = max(largest, abs(slope))
        self.assertGreater(largest, 0.1)

    def test_jacobians(self):
        random.seed(4)
        models = [os.path.join(sys.argv[3], "examples/models", name)
                  for name in ("ur5.urdf", "four_bar.yaml", "wishbone_corner.yaml")]
        for path in (self.mixed(), *map(self.built, models)):
            library = ctypes.CDLL(path)
            for name in ("forward_dynamics", "inverse_dynamics", "coordinate_rates"):
                with self.subTest(path=path, name=name):
                    self.compare(library, name)

    def test_interface(self):
        """Shapes; an argument that is NULL is zero, a result that is NULL is not written."""
        library = ctypes.CDLL(self.mixed())
        f = Function(library, "momenta_rates")
        self.assertEqual(f.ins, [("q", 5, 1), ("p", 4, 1), ("tau", 4, 1)])
        self.assertEqual(f.outs, [("v", 4, 1), ("pdot", 4, 1)])
        self.assertEqual(Function(library, "mass_matrix").outs, [("M", 4, 4)])
        self.assertEqual(Function(library, "kinematics").outs, [("R", 9, 3), ("r", 3, 3)])
        q, p = [0.3, 1, 0, 0, 0], [0.1, 0.2, 0.3, 0.4]
        whole = f(q, p, [0] * 4)
        self.assertEqual(f(q, p, None), whole)
        self.assertEqual(f(q, p, None, wanted=[1]), [[0] * 4, whole[1]])
        self.assertNotEqual(whole[1], [0] * 4)

    def test_files(self):
        out = os.path.join(self.folder, "code")
        model = os.path.join(sys.argv[3], "examples/models/ur5.urdf")
        subprocess.run([sys.argv[1], "codegen", model, "-o", out, "-q"], check=True)
        self.assertNotIn("ur5_casadi.c", os.listdir(out))
        with open(os.path.join(out, "ur5_casadi.c"), "w", encoding="utf-8") as file:
            file.write("// mine\n")
        done = subprocess.run([sys.argv[1], "codegen", model, "--casadi", "-o", out, "-q"], check=False, capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("ur5_casadi.c exists and was not generated by Linkwork", done.stderr)

    def test_casadi_itself(self):
        try:
            import casadi
        except ImportError:
            print("SKIPPED: CasADi itself is NOT tested: it is not installed")
            return
        f = casadi.external("forward_dynamics", self.mixed())
        q, v, tau = (casadi.MX.sym(name, f.size1_in(i)) for i, name in enumerate(("q", "v", "tau")))
        jacobian = casadi.Function("J", [q, v, tau], [casadi.jacobian(f(q, v, tau), x) for x in (q, v, tau)])
        x = [0.3, 0.8, 0.6, 0, 0], [1, 2, 3, 4], [0.1, 0.2, 0.3, 0.4]
        expected = Function(ctypes.CDLL(os.path.join(self.folder, "code/mixed.so")),
                            "jac_forward_dynamics")(*x, None)
        for block, numbers in zip(jacobian(*x), expected):
            self.assertEqual([float(n) for n in casadi.vec(block).full().ravel()], numbers)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
