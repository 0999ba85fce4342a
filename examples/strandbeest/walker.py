#!/usr/bin/env python3
"""A walking machine after Theo Jansen's beach animals, as a model file.

usage: walker.py [--pairs N] [--frame fixed|floating] [--speed W] [--driven] > MODEL.yaml

A crankshaft along y carries N cranks, evenly spread over a turn; each drives a leg to the left and its
mirror image to the right.  A leg is six bodies of rods on nine hinges, three loops: 6 N loops in all.
The proportions are Jansen's "holy numbers"; one unit is a centimetre, a metre of rod has 0.5 kg.  The
frame is the ground, or a body that floats without gravity.  Needs nothing but Python.
"""
import argparse
import math
import sys

# Jansen's numbers: a, l place the leg's pivot beside the crank's axis, m is the crank
HOLY = dict(a=38.0, b=41.5, c=39.3, d=40.1, e=55.8, f=39.4, g=36.7, h=65.7, i=49.0, j=50.0, k=61.9,
            l=7.8, m=15.0)
CENTIMETRE = 0.01
ROD = 0.5          # kg/m
RADIUS = 0.006     # of a rod [m]
SPACING = 0.08     # between two cranks along the shaft [m]
LOOPS_PER_PAIR = 6


def meet(p, q, r, s, side):
    """The point at distance r of p and s of q; `side` +1 to the left of the way from p to q."""
    dx, dy = q[0] - p[0], q[1] - p[1]
    d = math.hypot(dx, dy)
    along = (r * r - s * s + d * d) / (2 * d)
    across = side * math.sqrt(r * r - along * along)
    return (p[0] + (along * dx - across * dy) / d, p[1] + (along * dy + across * dx) / d)


def leg(angle, side):
    """Points of a leg to the left (side -1) or right (+1), in the plane of x and the vertical."""
    n = {key: value * CENTIMETRE for key, value in HOLY.items()}
    crank = (n["m"] * math.cos(angle), n["m"] * math.sin(angle))
    pivot = (side * n["a"], -n["l"])
    # mirrored legs have their points on the other side of the same ways
    upper = meet(pivot, crank, n["b"], n["j"], -side)
    lower = meet(pivot, crank, n["c"], n["k"], side)
    far = meet(pivot, upper, n["d"], n["e"], -side)
    knee = meet(far, lower, n["f"], n["g"], side)
    foot = meet(lower, knee, n["i"], n["h"], -side)
    return dict(crank=crank, pivot=pivot, upper=upper, lower=lower, far=far, knee=knee, foot=foot)


def numbers(values):
    return "[" + ", ".join(repr(round(v, 17) + 0.0) for v in values) + "]"


class Model:
    def __init__(self):
        self.bodies, self.joints, self.markers = [], [], []

    def frame_of_rods(self, name, rods, y):
        """One body of thin rods between points; its frame in its mass centre, along the world's axes."""
        pieces = [(math.dist(p, q) * ROD, p, q) for p, q in rods]
        mass = sum(m for m, _, _ in pieces)
        cx, cz = (sum(m * (p[i] + q[i]) / 2 for m, p, q in pieces) / mass for i in (0, 1))
        xx = zz = xz = 0
        for m, p, q in pieces:
            dx, dz = q[0] - p[0], q[1] - p[1]
            x, z = (p[0] + q[0]) / 2 - cx, (p[1] + q[1]) / 2 - cz
            thick = m * RADIUS ** 2 / 4
            xx += m * (dz * dz / 12 + z * z) + thick
            zz += m * (dx * dx / 12 + x * x) + thick
            xz -= m * (dx * dz / 12 + x * z)
        # a plane thing, but for the thickness of its rods
        self.bodies.append(f"  {name}: {{mass: {mass!r}, inertia: {numbers((xx, xx + zz, zz, 0, xz, 0))}, "
                           f"position: {numbers((cx, y, cz))}}}")
        return cx, cz

    def hinge(self, name, body1, body2, at, y, more=""):
        self.joints.append(f"  {name}: {{type: revolute, between: [{body1}, {body2}], "
                           f"at: {numbers((at[0], y, at[1]))}, axis: [0, 1, 0]{more}}}")

    def leg(self, name, p, y, frame):
        rods = {"j": [("crank", "upper")], "k": [("crank", "lower")], "c": [("pivot", "lower")],
                "f": [("far", "knee")], "bde": [("pivot", "upper"), ("upper", "far"), ("far", "pivot")],
                "ghi": [("lower", "knee"), ("knee", "foot"), ("foot", "lower")]}
        for part, ends in rods.items():
            place = self.frame_of_rods(f"{name}_{part}", [(p[a], p[b]) for a, b in ends], y)
            if part == "ghi":
                self.markers.append(f"  {name}_foot: {{body: {name}_ghi, position: "
                                    f"{numbers((p['foot'][0] - place[0], 0, p['foot'][1] - place[1]))}}}")
        hinges = (("upper", "shaft", "j", "crank"), ("lower", "shaft", "k", "crank"),
                  ("rocker", frame, "bde", "pivot"), ("lever", frame, "c", "pivot"),
                  ("X", "j", "bde", "upper"), ("Y", "k", "c", "lower"), ("Z", "c", "ghi", "lower"),
                  ("W", "bde", "f", "far"), ("V", "f", "ghi", "knee"))
        for part, one, two, at in hinges:
            first = one if one in ("shaft", frame) else f"{name}_{one}"
            self.hinge(f"{name}_{part}", first, f"{name}_{two}", p[at], y)


def walker(pairs, frame="fixed", speed=3.0, driven=False):
    """Text of a model file; a driven crank keeps its speed [rad/s], another one only starts with it."""
    model, base = Model(), "ground" if frame == "fixed" else "frame"
    width = (pairs - 1) * SPACING
    if frame != "fixed":  # a box of rods about the pivots
        mass, half = 4.0, HOLY["a"] * CENTIMETRE
        box = (width ** 2 / 12 + half ** 2 / 9, half ** 2 / 3 + half ** 2 / 9, width ** 2 / 12 + half ** 2 / 3)
        model.bodies.append(f"  frame: {{mass: {mass}, inertia: "
                            f"{numbers([*(mass * b for b in box), 0, 0, 0])}, velocity: [0.2, 0, 0.1]}}")
    crank = HOLY["m"] * CENTIMETRE
    mass = ROD * (width + 2 * pairs * crank)
    heavy = mass * crank ** 2 / 2  # webs and pins, spread about the axis
    along = mass * (width ** 2 / 12 + crank ** 2 / 4)
    model.bodies.append(f"  shaft: {{mass: {mass!r}, inertia: {numbers((along, heavy, along, 0, 0, 0))}}}")
    model.hinge("crank", base, "shaft", (0, 0), 0,
                f", motion: {{q0: {{type: ramp, rate: {speed!r}}}}}" if driven else f", qd: [{speed!r}]")
    for i in range(pairs):
        y, angle = i * SPACING - width / 2, 2 * math.pi * i / pairs
        for side, letter in ((-1, "l"), (1, "r")):
            model.leg(f"{letter}{i + 1}", leg(angle, side), y, base)
    return "\n".join([f"# {pairs} pairs of legs, {LOOPS_PER_PAIR * pairs} loops; frame {frame}",
                      "linkwork: 1", f"gravity: [0, 0, {-9.81 if frame == 'fixed' else 0}]",
                      "bodies:", *model.bodies, "joints:", *model.joints, "markers:", *model.markers]) + "\n"


def main():
    parser = argparse.ArgumentParser(description="a walking machine after Theo Jansen, as a model file")
    parser.add_argument("--pairs", type=int, default=8)
    parser.add_argument("--frame", choices=("fixed", "floating"), default="fixed")
    parser.add_argument("--speed", type=float, default=3.0, help="of the crank at the start [rad/s]")
    parser.add_argument("--driven", action="store_true", help="the crank keeps its speed")
    arguments = parser.parse_args()
    sys.stdout.write(walker(arguments.pairs, arguments.frame, arguments.speed, arguments.driven))


if __name__ == "__main__":
    main()
