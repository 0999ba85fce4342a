#!/usr/bin/env python3
"""Steps of RATTLE for a chain of bodies on ball joints, by another route than src/methods/rattle: multipliers of a whole step
by Newton's method with a matrix of differences, in dense linear algebra; the free body by its own Newton iteration.

usage: chain_steps.py MODEL.yaml STEP STEPS

Prints the mass centre of the last body, and the change of the energy.  Needs numpy and PyYAML.  Balls only, whose frame1 and
frame2 have a position alone.
"""
import sys

import numpy as np
import yaml


def cross_matrix(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def rotation_of(q):
    w, v = q[0], cross_matrix(q[1:])
    return np.eye(3) + 2 * w * v + 2 * v @ v


def exponential(x):
    angle = np.linalg.norm(x)
    if angle == 0:
        return np.eye(3)
    k = cross_matrix(x / angle)
    return np.eye(3) + np.sin(angle) * k + 2 * np.sin(angle / 2)**2 * k @ k


def momentum(x, inertia):
    """h Pi of the rotation vector x in a step."""
    t = x @ x
    half = np.sqrt(t) / 2
    b = 1 - t / 12 - t**2 / 720 - t**3 / 30240 if t < 1e-4 else half / np.tan(half)
    c = 1 / 12 + t / 720 + t**2 / 30240 if t < 1e-4 else (1 - b) / t
    y = inertia * x
    return b * y + np.cross(x, y) / 2 + c * (x @ y) * x


def differences(function, x, size):
    return np.array([(function(x + d) - function(x - d)) / (2 * size) for d in size * np.eye(len(x))]).T


def solve(function, x, size):
    """A zero of the function, until its value falls no more."""
    best, value = x, function(x)
    for _ in range(30):
        x = best - np.linalg.solve(differences(function, best, size), value)
        now = function(x)
        if not np.abs(now).max() < np.abs(value).max():
            return best
        best, value = x, now
    return best


class Chain:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            model = yaml.safe_load(file)
        names = list(model["bodies"])
        bodies = [model["bodies"][name] for name in names]
        self.gravity = np.array(model["gravity"], float)
        self.mass = np.array([b["mass"] for b in bodies], float)
        self.inertia = np.array([b["inertia"][:3] for b in bodies], float)
        self.r = np.array([b["position"] for b in bodies], float)
        self.R = np.array([rotation_of(np.array(b["orientation"])) for b in bodies])
        self.joints = [[(names.index(n) if n != "ground" else -1, np.array(j[f]["position"], float))
                        for n, f in zip(j["between"], ("frame1", "frame2"))] for j in model["joints"].values()]
        self.P, self.Pi = np.zeros((len(bodies), 3)), np.zeros((len(bodies), 3))
        self.guess = np.zeros(3 * len(self.joints))

    def closure(self, r, R):
        return np.concatenate([sum(sign * (r[k] + R[k] @ s if k >= 0 else s) for sign, (k, s) in zip((-1, 1), joint))
                               for joint in self.joints])

    def wrenches(self, R, multipliers):
        """Forces, and torques in body axes, of the joints."""
        force, torque = np.zeros_like(self.P), np.zeros_like(self.Pi)
        for i, joint in enumerate(self.joints):
            for sign, (k, s) in zip((-1, 1), joint):
                if k >= 0:
                    f = sign * multipliers[3 * i:3 * i + 3]
                    force[k] += f
                    torque[k] += np.cross(s, R[k].T @ f)
        return force, torque

    def drift(self, h, multipliers):
        force, torque = self.wrenches(self.R, multipliers)
        P = self.P + h / 2 * (self.mass[:, None] * self.gravity + force)
        Pi = self.Pi + h / 2 * torque
        x = np.array([solve(lambda x, k=k: momentum(x, self.inertia[k]) - h * Pi[k], h * Pi[k] / self.inertia[k], 1e-5)
                      for k in range(len(Pi))])
        Pi = Pi - np.array([np.cross(x[k], self.inertia[k] * x[k]) / h for k in range(len(Pi))])
        return self.r + h * P / self.mass[:, None], np.array([R @ exponential(v) for R, v in zip(self.R, x)]), P, Pi

    def rates(self, R, P, Pi):
        """d/dt of the closure with these momenta."""
        v, w = P / self.mass[:, None], Pi / self.inertia
        return np.concatenate([sum(sign * (v[k] + R[k] @ np.cross(w[k], s) if k >= 0 else 0 * s)
                                   for sign, (k, s) in zip((-1, 1), joint)) for joint in self.joints])

    def step(self, h):
        self.guess = solve(lambda m: self.closure(*self.drift(h, m)[:2]), self.guess, 1e-3)
        r, R, P, Pi = self.drift(h, self.guess)

        def end(multipliers):
            force, torque = self.wrenches(R, multipliers)
            return P + h / 2 * (self.mass[:, None] * self.gravity + force), Pi + h / 2 * torque

        mu = solve(lambda m: self.rates(R, *end(m)), self.guess, 1)
        self.r, self.R, (self.P, self.Pi) = r, R, end(mu)

    def energy(self):
        kinetic = (self.P**2 / self.mass[:, None]).sum() / 2 + (self.Pi**2 / self.inertia).sum() / 2
        return kinetic - (self.mass[:, None] * self.gravity * self.r).sum()


def main():
    chain, h, steps = Chain(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
    start = chain.energy()
    for _ in range(steps):
        chain.step(h)
    print(" ".join(f"{x:.15g}" for x in chain.r[-1]), f"{chain.energy() - start:.9g}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
