#!/usr/bin/env python3
"""Derivatives of inverse and forward dynamics of URDF robots, compared with Pinocchio: a table.

usage: derivatives.py [--states 10] [--limit 1e-10] [--times] [FOLDER or FILE...]

Robots, states and conversions are those of robots.py; robots with joints that mimic others are left out. Columns: free
speeds; the largest differences of the derivatives by q and by v of efforts (`computeRNEADerivatives`) and of
accelerations (`computeABADerivatives`), relative to the largest entry of the same matrix; `own`, the same difference of
Pinocchio's forward derivatives from -M^-1 times its inverse ones, which shows what round-off does to an
ill-conditioned robot. A robot is right if all are below the limit, or below ten times `own`. With --times also `ours/pin`:
the time of a call of Data.forward_derivatives, in calls of pin.computeABADerivatives; both from Python, interleaved, the
least of each; calls of small robots are mostly those of Python.
Needs the packages linkwork, pin, numpy. Exit status: 0, or 1 if a robot is wrong.
"""
import argparse
import sys
import time

import numpy as np
import pinocchio as pin

import linkwork as lw
from robots import Ours, Reference, find_robots


class Columns(Ours):
    """The same with the matrix P of speeds: ours are P times those of Pinocchio."""

    def __init__(self, path, reference):
        super().__init__(path, reference)
        ours, ref = self.model, self.reference
        self.P = np.zeros((ours.tree_nv, ref.model.nv))
        for name in ref.names:
            self.P[ours.joint(name).tree_v, ref.joint(name).idx_v] = 1
        if self.base:
            for i, twist in enumerate(np.eye(6)):
                moved = self.X.actInv(pin.Motion(twist))
                self.P[self.base.tree_v, i] = np.concatenate(
                    (moved.linear + np.cross(moved.angular, self.com), moved.angular))

    def state(self, angles, q, v, tau):
        x = np.zeros(self.model.tree_nq)
        for name in self.reference.names:
            x[self.model.joint(name).tree_q] = angles[name]
        if self.base:
            root = pin.SE3(pin.Quaternion(q[6], q[3], q[4], q[5]).toRotationMatrix(), q[:3])
            pose = root * self.X
            x[self.base.tree_q] = np.concatenate((pose.act(self.com), lw.quaternion.from_matrix(pose.rotation)))
        return x, self.P @ v, np.linalg.solve(self.P.T, tau)


def relative(a, b, least=1e-300):
    return np.max(np.abs(a - b)) / max(np.max(np.abs(b)), least)


def least_times(first, second, rounds=15, least=2e-3):
    """Seconds of a call of each, in turns."""
    began = time.perf_counter()
    first()
    calls = max(1, int(least / (time.perf_counter() - began)))
    best = [float("inf")] * 2
    for _ in range(rounds):
        for i, function in enumerate((first, second)):
            began = time.perf_counter()
            for _ in range(calls):
                function()
            best[i] = min(best[i], (time.perf_counter() - began) / calls)
    return best


def differences(path, floating, states, times):
    """(speeds, errors by q, v of efforts and accelerations, own), with `times` the ratio of times too; or None."""
    reference = Reference(path, floating)
    if reference.mimics or reference.model.nv == 0:
        return None
    ours = Columns(path, reference)
    if floating and not ours.base:
        return None
    P, model, data = ours.P, reference.model, reference.data
    rng, worst = np.random.default_rng(1), np.zeros(5)
    for _ in range(states):
        angles, q, v, tau = reference.state(rng)
        x, u, effort = ours.state(angles, q, v, tau)
        a = np.array(pin.aba(model, data, q, v, tau))
        by = [np.array(m) for m in pin.computeRNEADerivatives(model, data, q, v, a)]
        forward = [np.array(m) for m in pin.computeABADerivatives(model, data, q, v, tau)[:2]]
        mine = ours.data.inverse_derivatives(x, u, P @ a)
        mine_forward = ours.data.forward_derivatives(x, u, effort)[1:3]
        M = np.triu(by[2]) + np.triu(by[2], 1).T
        least = 1e-6 * max(1.0, np.max(np.abs(M)))  # a rotor on its axis: all derivatives by v are round-off
        least_a = 1e-6 * max(1.0, np.max(np.abs(np.linalg.inv(M))))
        errors = [relative(P.T @ m @ P, b, least) for m, b in zip(mine[:2], by)]
        errors += [relative(np.linalg.solve(P, m @ P), b, least_a) for m, b in zip(mine_forward, forward)]
        own = max(relative(-np.linalg.solve(M, b), f, least_a) for b, f in zip(by, forward))
        worst = np.maximum(worst, errors + [own])
    if not times:
        return (model.nv, *worst)
    mine, theirs = least_times(lambda: ours.data.forward_derivatives(x, u, effort),
                               lambda: pin.computeABADerivatives(model, data, q, v, tau))
    return (model.nv, *worst, mine / theirs)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("places", nargs="*", metavar="FOLDER or FILE")
    parser.add_argument("--states", type=int, default=10)
    parser.add_argument("--limit", type=float, default=1e-10)
    parser.add_argument("--times", action="store_true")
    arguments = parser.parse_args()
    good = wrong = 0
    print(f"{'robot':44} {'base':9} {'speeds':>6} {'tau, q':>9} {'tau, v':>9} {'a, q':>9} {'a, v':>9} {'own':>9}" + "  ours/pin" * arguments.times)
    for path in find_robots(arguments.places):
        for base in ("fixed", "floating"):
            try:
                result = differences(path, base == "floating", arguments.states, arguments.times)
            except (lw.Error, NotImplementedError, KeyError, ValueError):
                continue  # robots.py says why
            if result is None:
                continue
            right = max(result[1:5]) <= max(arguments.limit, 10 * result[5])
            wrong, good = wrong + (not right), good + right
            head = f"{path.parent.parent.name + '/' + path.stem:44.44} {base:9} {result[0]:6}"
            ratio = f"{result[6]:10.2f}" if arguments.times else ""
            print(head, " ".join(f"{x:9.1e}" for x in result[1:6]) + ratio + ("" if right else "  WRONG"))
    print(f"{good} right, {wrong} wrong")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
