#!/usr/bin/env python3
"""How exact Pinocchio's articulated bodies are on chains of spherical joints that are a little bent.

usage: spherical_accuracy.py      (needs `pin`)

Rods as in the benchmarks, attitudes within 0.05 rad of straight, relative angular velocities up to
0.3 rad/s, no efforts.  The accelerations of aba are compared with those of the dense mass matrix.
Linkwork's recursions are held against its dense formulation by its tests.
"""
import numpy as np
import pinocchio as pin


def chain(n):
    model = pin.Model()
    model.gravity.linear = np.array([0, 0, -9.81])
    parent = 0
    inertia = pin.Inertia(1, np.array([0.5, 0, 0]), np.diag([0.00125, 0.25 / 3 + 0.000625, 0.25 / 3 + 0.000625]))
    for i in range(n):
        at = pin.SE3(np.eye(3), np.array([1.0 if i else 0.0, 0, 0]))
        parent = model.addJoint(parent, pin.JointModelSpherical(), at, "j%d" % i)
        model.appendBodyToJoint(parent, inertia, pin.SE3.Identity())
    return model


def main():
    print("pinocchio %s: largest error of accelerations relative to the largest one" % pin.__version__)
    for n in (8, 16, 32, 64, 128):
        model = chain(n)
        data = model.createData()
        draw = np.random.default_rng(1)
        q = pin.integrate(model, pin.neutral(model), draw.uniform(-0.05, 0.05, model.nv))
        v, tau = draw.uniform(-0.3, 0.3, model.nv), np.zeros(model.nv)
        M = pin.crba(model, data, q)
        M = np.triu(M) + np.triu(M, 1).T
        exact = np.linalg.solve(M, tau - pin.nonLinearEffects(model, data, q, v))
        errors = [abs(pin.aba(model, data, q, v, tau, axes) - exact).max() / abs(exact).max()
                  for axes in (pin.Convention.LOCAL, pin.Convention.WORLD)]
        print("n = %3d   local axes %.1e   world axes %.1e   condition of M %.1e"
              % (n, *errors, np.linalg.cond(M)))


if __name__ == "__main__":
    main()
