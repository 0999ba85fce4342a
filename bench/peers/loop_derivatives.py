#!/usr/bin/env python3
"""Derivatives of forward dynamics through loops beside central differences of Pinocchio and MuJoCo: a table.

usage: loop_derivatives.py --pinocchio FILE --bench PROGRAM [--cases A,B] [--rounds 20] [--json FILE]
       loop_derivatives.py --table FILE

The quantity is the same for all: the derivatives of all accelerations of a spanning tree by all of its coordinates,
speeds and efforts, for every change of the state that the loops admit. Here `lw_forward_dynamics_derivatives` (exact; PROGRAM
is bench_derivatives), `Python`: `Data.forward_derivatives` with the interpreter; Pinocchio: central differences of `constraintDynamics` in C++ (bench/peers/pinocchio_loops.cpp,
FILE is what it is built to), by each of the tree's 3 n coordinates, speeds and efforts; `along dof` is the part of that time
for the changes that the loops admit alone, 3 for each degree of freedom, whose directions would be known; `its exact`:
`computeConstraintDynamicsDerivatives`, which is marked as unsupported there. MuJoCo: `mjd_transitionFD`, central, in C.
Pinocchio closes loops by points that coincide, MuJoCo by `connect`, which is soft.

Columns: speeds n of the tree, degrees of freedom, rows of the loops in Pinocchio; microseconds of a call, in turns, the
least of the rounds; those of others in times of ours; errors: the largest difference from differences of order six of
`constraintDynamics` at accuracy 1e-14, along all changes admitted, relative to the largest entry by coordinates, by speeds
and by efforts. Needs the packages linkwork, numpy and mujoco; without mujoco its columns are `-`.
Exit status: 0, or 1 if ours is off by more than 1e-7.
"""
import argparse
import ctypes
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time

try:
    import numpy as np
except ImportError:
    np = None  # --table needs none

LIMIT = 1e-7
STEP, WIDE = 1e-6, 2e-3  # of central differences and of those of order six
SIX = ((1, 45 / 60), (2, -9 / 60), (3, 1 / 60))
ACCURACY, MU = 1e-8, 1e-6  # as in pinocchio.cpp


# -------------------------------------------------------------------------------------------- mechanisms

class Mechanism:
    """Bodies in depth-first order, each with the joint that carries it; frames parallel to the world's."""

    def __init__(self, gravity):
        self.gravity, self.bodies, self.loops = gravity, [], []

    def body(self, name, parent, kind, at, com, mass, inertia, axis=(0, 0, 1), axis2=(0, 0, 0)):
        """inertia: xx, yy, zz, xy, xz, yz."""
        self.bodies.append({"name": name, "parent": parent, "type": kind, "at": np.array(at, float), "com": np.array(com, float), "mass": mass,
                            "inertia": inertia, "axis": unit(axis), "axis2": unit(axis2) if any(axis2) else np.zeros(3)})

    def loop(self, body1, body2, at, hinge=None):
        """A ball joint, or a hinge about an axis."""
        self.loops.append({"bodies": (body1, body2), "at": np.array(at, float), "axis": hinge})

    def index(self, name):
        return next((i for i, b in enumerate(self.bodies) if b["name"] == name), -1)

    def place(self, name):
        i = self.index(name)
        return self.bodies[i]["at"] if i >= 0 else np.zeros(3)


def unit(axis):
    return np.array(axis, float) / np.linalg.norm(axis)


def rod_inertia(mass, a, b, thick=1e-4):
    d = np.subtract(b, a)
    J = mass / 12 * (d @ d * np.eye(3) - np.outer(d, d)) + thick * np.eye(3)
    return [J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]]


def rod(m, name, parent, kind, a, b, mass, **axes):
    a, b = np.array(a, float), np.array(b, float)
    m.body(name, parent, kind, a, (a + b) / 2, mass, rod_inertia(mass, a, b), **axes)


def four_bars(n):
    """Cranks on the ground, couplers between their ends: n loops, one degree of freedom."""
    m = Mechanism([0, -9.81, 0])
    foot = [(1.0 * i, 0, 0) for i in range(n + 1)]
    top = [(i + 0.4 * math.cos(1.1 + 0.02 * i), 0.4 * math.sin(1.1 + 0.02 * i) + 0.03 * (i % 3), 0) for i in range(n + 1)]
    for i in range(n + 1):
        rod(m, f"crank{i}", "ground", "revolute", foot[i], top[i], 0.5 + 0.1 * i)
        if i < n:
            rod(m, f"coupler{i}", f"crank{i}", "revolute", top[i], top[i + 1], 1.0 + 0.05 * i)
    for i in range(n):
        m.loop(f"coupler{i}", f"crank{i + 1}", top[i + 1], hinge=(0, 0, 1))
    return m


def delta():
    """Three motors, two bars on universal joints for each arm, a platform on ball joints."""
    m = Mechanism([0, 0, -9.81])
    R, r, L, w, a, z = 0.2, 0.05, 0.3, 0.06, 0.35, -0.55
    ends = {}
    for k in range(3):
        c, s = math.cos(2 * math.pi * k / 3), math.sin(2 * math.pi * k / 3)

        def at(x, y, height):
            return np.array([c * x - s * y, s * x + c * y, height])

        ex, ez = R + L * math.cos(a), -L * math.sin(a)
        rod(m, f"upper{k}", "ground", "revolute", at(R, 0, 0), at(ex, 0, ez), 1.2, axis=at(0, 1, 0))
        for side in (1, -1):
            name = f"bar{k}{'l' if side > 0 else 'r'}"
            ends[name] = at(r, side * w, z)
            rod(m, name, f"upper{k}", "universal", at(ex, side * w, ez), ends[name], 0.08, axis=at(0, 1, 0), axis2=at(-(z - ez), 0, r - ex))
            if len(ends) == 1:
                m.body("platform", name, "spherical", ends[name], (0, 0, z), 0.4, [1e-3, 1.1e-3, 2e-3, 0, 0, 0])
    for name in list(ends)[1:]:
        m.loop(name, "platform", ends[name])
    return m


def stewart():
    """Six legs of a cylinder on a universal joint and a rod that slides in it, a platform on ball joints."""
    m = Mechanism([0, 0, -9.81])
    tops = []
    for i in range(6):
        side, middle = 1 if i % 2 else -1, 120 * (i // 2)
        base, top = (math.radians(middle + side * x) for x in (10, 48))
        a, b = np.array([0.8 * math.cos(base), 0.8 * math.sin(base), 0]), np.array([0.45 * math.cos(top), 0.45 * math.sin(top), 1.1])
        d = b - a
        rod(m, f"cylinder{i}", "ground", "universal", a, a + 0.6 * d, 6, axis=(d[1], -d[0], 0), axis2=(d[2] * d[0], d[2] * d[1], -d[0] ** 2 - d[1] ** 2))
        rod(m, f"rod{i}", f"cylinder{i}", "prismatic", a + 0.4 * d, b, 3, axis=d)
        if i == 0:
            m.body("platform", "rod0", "spherical", b, (0.02, -0.01, 1.25), 60, [3, 3.6, 4.8, 0, 0, 0])
        tops.append(b)
    for i in range(1, 6):
        m.loop(f"rod{i}", "platform", tops[i])
    return m


CASES = {"four-bar": lambda: four_bars(1), "four-bars-10": lambda: four_bars(10), "delta": delta, "stewart": stewart}


# ---------------------------------------------------------------------------------------------- the three

def text_of(x):
    return ", ".join(repr(float(v)) for v in x)


class Ours:
    """At the drawn position; numbers in the order of the description."""

    def __init__(self, m):
        import linkwork as lw
        lines = ["linkwork: 1", f"gravity: [{text_of(m.gravity)}]", "bodies:"]
        lines += [f"  {b['name']}: {{mass: {b['mass']!r}, inertia: [{text_of(b['inertia'])}], position: [{text_of(b['com'])}]}}" for b in m.bodies]
        lines += ["joints:"]
        for b in m.bodies:
            axes = "" if b["type"] == "spherical" else f", axis: [{text_of(b['axis'])}]"
            axes += f", axis2: [{text_of(b['axis2'])}]" if b["type"] == "universal" else ""
            lines.append(f"  J{b['name']}: {{type: {b['type']}, between: [{b['parent']}, {b['name']}], at: [{text_of(b['at'])}]{axes}}}")
        for i, loop in enumerate(m.loops):
            hinge = f"type: revolute, axis: [{text_of(loop['axis'])}]" if loop["axis"] else "type: spherical"
            lines.append(f"  L{i}: {{{hinge}, between: [{', '.join(loop['bodies'])}], at: [{text_of(loop['at'])}], cut: always}}")
        self.text = "\n".join(lines) + "\n"
        self.model = lw.Model.from_string(self.text)
        self.data = lw.Data(self.model)
        self.q = np.array(self.model.start()[0])
        self.n = self.model.tree_nv
        self.order = np.concatenate([np.arange(self.n)[self.model.joint("J" + b["name"]).tree_v] for b in m.bodies])

    def jacobian(self, displacement):
        q = self.model.integrate(self.q, self.own(displacement))
        return self.data.constraint_jacobian(q)[:, self.order]

    def own(self, x):
        out = np.zeros(self.n)
        out[self.order] = x
        return out

    def keep(self, v, tau):
        self.v, self.tau = self.own(v), self.own(tau)

    def call(self):
        return self.data.forward_derivatives(self.q, self.v, self.tau)

    def time_in_c(self, program):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.yaml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(self.text)
            printed = subprocess.run([program, path], check=True, capture_output=True, text=True).stdout
        return float(re.search(r"derivatives +([\d.]+) us", printed)[1])

    def derivatives(self):
        pick = np.ix_(self.order, self.order)
        return [x[pick] for x in self.call()[1:]]


class Pinocchio:
    """By the library of pinocchio_loops.cpp."""

    def __init__(self, m, path, accuracy=ACCURACY, mu=MU):
        lines = ["gravity " + " ".join(map(repr, map(float, m.gravity)))]
        for b in m.bodies:
            J = [b["inertia"][i] for i in (0, 3, 1, 4, 5, 2)]
            numbers = [*(b["at"] - m.place(b["parent"])), *b["axis"], *b["axis2"], b["mass"], *(b["com"] - b["at"]), *J]
            kind = {"revolute": "R", "prismatic": "P", "universal": "U", "spherical": "S"}[b["type"]]
            lines.append(f"body {m.index(b['parent'])} {kind} " + " ".join(repr(float(x)) for x in numbers))
        for loop in m.loops:
            ends = [f"{m.index(n)} " + " ".join(repr(float(x)) for x in loop["at"] - m.place(n)) for n in loop["bodies"]]
            lines.append("loop " + " ".join(ends))
        self.lib = ctypes.CDLL(path)
        self.lib.pin_create.restype = ctypes.c_void_p
        self.lib.pin_create.argtypes = [ctypes.c_char_p, ctypes.c_double, ctypes.c_double]
        self.handle = ctypes.c_void_p(self.lib.pin_create(("\n".join(lines) + "\n").encode(), accuracy, mu))
        self.n = self.lib.pin_nv(self.handle)

    @staticmethod
    def at(x):
        return x.ctypes.data_as(ctypes.POINTER(ctypes.c_double))

    def keep(self, v, tau):
        self.v, self.tau = np.array(v), np.array(tau)
        self.by = np.zeros((3, self.n, self.n))

    def accelerations(self, dq, v, tau):
        out = np.zeros(self.n)
        dq, v, tau = (np.ascontiguousarray(x) for x in (dq, v, tau))
        self.lib.pin_accelerations(self.handle, self.at(dq), self.at(v), self.at(tau), self.at(out))
        return out

    def differences(self):
        self.lib.pin_differences(self.handle, self.at(self.v), self.at(self.tau), ctypes.c_double(STEP), *(self.at(x) for x in self.by))
        return self.by

    def exact(self):
        self.lib.pin_derivatives(self.handle, self.at(self.v), self.at(self.tau), *(self.at(x) for x in self.by))
        return self.by

    def order_six(self, direction):
        dq, dv, dtau = np.split(direction, 3)
        return sum(w * (self.accelerations(k * WIDE * dq, self.v + k * WIDE * dv, self.tau + k * WIDE * dtau)
                        - self.accelerations(-k * WIDE * dq, self.v - k * WIDE * dv, self.tau - k * WIDE * dtau)) / WIDE for k, w in SIX)


class Mujoco:
    """Steps of Euler's method: the next speeds are v + h times the accelerations."""

    def __init__(self, m):
        import mujoco
        self.mujoco = mujoco
        inside = {b["name"]: "" for b in m.bodies}
        roots, motors = "", ""
        for b in reversed(m.bodies):
            def joint(kind, axis, name):
                return f'<joint name="{name}" type="{kind}" axis="{text(axis)}"/>'

            def text(x):
                return " ".join(repr(float(v)) for v in x)

            name = b["name"]
            kinds = {"revolute": [("hinge", b["axis"])], "prismatic": [("slide", b["axis"])], "spherical": [("ball", (0, 0, 1))],
                     "universal": [("hinge", b["axis"]), ("hinge", b["axis2"])]}[b["type"]]
            joints = "".join(joint(kind, axis, f"{name}{k}") for k, (kind, axis) in enumerate(kinds))
            one = "".join(f'<motor joint="{name}{k}"/>' for k in range(len(kinds)))
            three = "".join(f'<motor joint="{name}0" gear="{text(row)} 0 0 0"/>' for row in np.eye(3))
            motors = (three if b["type"] == "spherical" else one) + motors
            element = (f'<body name="{name}" pos="{text(b["at"] - m.place(b["parent"]))}">{joints}<inertial pos="{text(b["com"] - b["at"])}" '
                       f'mass="{b["mass"]!r}" fullinertia="{text(b["inertia"])}"/>{inside[name]}</body>')
            if b["parent"] == "ground":
                roots = element + roots
            else:
                inside[b["parent"]] = element + inside[b["parent"]]
        connect = "".join(f'<connect body1="{x["bodies"][0]}" body2="{x["bodies"][1]}" anchor="{" ".join(map(repr, map(float, x["at"] - m.place(x["bodies"][0]))))}" solimp="0.9999 0.9999 0.001 0.5 2"/>'
                          for x in m.loops)
        self.model = mujoco.MjModel.from_xml_string(
            f'<mujoco><option gravity="{" ".join(map(str, m.gravity))}" integrator="Euler" tolerance="1e-12" timestep="1e-3"><flag contact="disable"/></option>'
            f"<worldbody>{roots}</worldbody><equality>{connect}</equality><actuator>{motors}</actuator></mujoco>")
        self.data = mujoco.MjData(self.model)
        self.n = self.model.nv
        self.A, self.B = np.zeros((2 * self.n, 2 * self.n)), np.zeros((2 * self.n, self.n))

    def keep(self, v, tau):
        self.data.qvel[:], self.data.ctrl[:] = v, tau
        self.mujoco.mj_forward(self.model, self.data)

    def call(self):
        self.mujoco.mjd_transitionFD(self.model, self.data, STEP, 1, self.A, self.B, None, None)

    def derivatives(self):
        self.call()
        n, h = self.n, self.model.opt.timestep
        return self.A[n:, :n] / h, (self.A[n:, n:] - np.eye(n)) / h, self.B[n:] / h


# ---------------------------------------------------------------------------------------------- measuring

def least_times(calls, rounds, least=2e-3):
    """Microseconds of each, in turns."""
    best, repeat = {}, {}
    for name, call in calls.items():
        began = time.perf_counter()
        call()
        repeat[name], best[name] = max(1, int(least / (time.perf_counter() - began))), math.inf
    for _ in range(rounds):
        for name, call in calls.items():
            began = time.perf_counter()
            for _ in range(repeat[name]):
                call()
            best[name] = min(best[name], (time.perf_counter() - began) / repeat[name] * 1e6)
    return best


def admitted(ours, v):
    """[3 groups][count, 3 n]: changes of coordinates (with those of speeds that follow), of speeds, of efforts."""
    n = ours.n
    J, still = ours.jacobian(np.zeros(n)), np.zeros(n)
    _, s, rows = np.linalg.svd(J)
    Z = rows[np.sum(s > 1e-9 * s[0]):]
    h = 1e-4
    follow = [-np.linalg.lstsq(J, (ours.jacobian(h * z) - ours.jacobian(-h * z)) / (2 * h) @ v, rcond=1e-9)[0] for z in Z]
    return [np.array([[*z, *w, *still] for z, w in zip(Z, follow)]), np.array([[*still, *z, *still] for z in Z]),
            np.array([[*still, *still, *x] for x in np.eye(n)])], Z


def apart(found, expected):
    return max(float(np.max(np.abs(a - b)) / np.max(np.abs(b))) for a, b in zip(found, expected))


def measure(name, library, program, rounds):
    m = CASES[name]()
    ours, pin, fine = Ours(m), Pinocchio(m, library), Pinocchio(m, library, 1e-14, 1e-10)
    try:
        mujoco = Mujoco(m)
    except ImportError:
        mujoco = None
    n, rng = ours.n, np.random.default_rng(1)
    groups, Z = admitted(ours, np.zeros(n))
    v, tau = Z.T @ rng.normal(size=len(Z)), rng.normal(size=n)
    groups, _ = admitted(ours, v)
    everybody = [x for x in (ours, pin, fine, mujoco) if x]
    for one in everybody:
        one.keep(v, tau)
    expected = [np.array([fine.order_six(d) for d in group]) for group in groups]

    def along(derivatives):
        return [group @ np.hstack(derivatives).T for group in groups]

    calls = {"python": ours.call, "pinocchio": pin.differences, "pinocchio exact": pin.exact}
    if mujoco:
        calls["mujoco"] = mujoco.call
    times = {}
    for _ in range(rounds):
        now = {"linkwork": ours.time_in_c(program), **least_times(calls, 2)}
        times = {what: min(times.get(what, math.inf), t) for what, t in now.items()}
    errors = {"linkwork": apart(along(ours.derivatives()), expected), "pinocchio": apart(along(list(pin.differences())), expected),
              "pinocchio exact": apart(along(list(pin.exact())), expected)}
    if mujoco:
        errors["mujoco"] = apart(along(mujoco.derivatives()), expected)
    return {"case": name, "speeds": n, "dof": len(Z), "rows": 3 * len(m.loops), "us": times, "error": errors}


# ------------------------------------------------------------------------------------------------- table

HEAD = ["case", "speeds", "dof", "rows", "here [µs]", "Python [µs]", "error", "Pinocchio [times]", "along dof [times]", "error", "its exact [times]", "error",
        "MuJoCo [times]", "error"]


def line(row):
    own = row["us"]["linkwork"]

    def pair(peer):
        return [f"{row['us'][peer] / own:.1f}", f"{row['error'][peer]:.0e}"] if peer in row["us"] else ["-", "-"]
    times, error = pair("pinocchio")
    part = f"{row['us']['pinocchio'] / own * row['dof'] / row['speeds']:.1f}"
    return [row["case"], str(row["speeds"]), str(row["dof"]), str(row["rows"]), f"{own:.1f}", f"{row['us']['python']:.1f}", f"{row['error']['linkwork']:.0e}", times, part, error,
            *pair("pinocchio exact"), *pair("mujoco")]


def table(rows):
    return ["| " + " | ".join(cells) + " |" for cells in [HEAD, ["---"] * len(HEAD), *map(line, rows)]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pinocchio", metavar="FILE", help="libpinocchio_loops.so")
    parser.add_argument("--bench", help="bench_derivatives")
    parser.add_argument("--table", metavar="FILE", help="prints the table of a file of --json")
    parser.add_argument("--json")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--cases", default=",".join(CASES))
    a = parser.parse_args()
    if a.table:
        with open(a.table, encoding="utf-8") as file:
            print("\n".join(table(json.load(file)["rows"])))
        return 0
    if not a.pinocchio or not a.bench:
        parser.error("expected --pinocchio and --bench, or --table")
    rows = [measure(name, a.pinocchio, a.bench, a.rounds) for name in a.cases.split(",")]
    print("\n".join(table(rows)))
    if a.json:
        with open(a.json, "w", encoding="utf-8") as file:
            json.dump({"rows": rows}, file, indent=1)
            file.write("\n")
    return int(any(row["error"]["linkwork"] > LIMIT for row in rows))


if __name__ == "__main__":
    sys.exit(main())
