"""The mechanisms of [malczyk2019], section 4, as model files; run it to write them: cases.py FOLDER.

Links of 1 m, 1 kg and 1 kg m^2 about every axis, gravity along -y.

    pendulum    two links on spherical joints, one along x, one along z
    four-bar    a rhombus of hinges at rest at 45 degrees; all its links come to lie on the y axis, a
                singular position.  The paper shows it in a picture only; two readings agree with its text:
                I swings through that position and back, II falls through it and goes round
    chain-N     N links on spherical joints, straight along x
"""
import math
import os
import sys

LINK = "mass: 1, inertia: [1, 1, 1, 0, 0, 0]"
HEAD = ["linkwork: 1", "gravity: [0, -9.81, 0]"]


def number(x):
    return repr(round(x, 17) + 0.0)


def vector(*x):
    return "[" + ", ".join(number(c) for c in x) + "]"


def along(x, y):
    """Turn about z of a link from the origin towards (x, y)."""
    half = 0.5 * math.atan2(y, x)
    return vector(math.cos(half), 0, 0, math.sin(half))


def pendulum():
    return "\n".join(["# double pendulum of [malczyk2019], section 4.2", *HEAD, "bodies:",
                      f"  A: {{{LINK}, position: [0.5, 0, 0]}}",
                      f"  B: {{{LINK}, position: [1, 0, 0.5]}}",
                      "joints:",
                      "  j1: {type: spherical, between: [ground, A], at: [0, 0, 0]}",
                      "  j2: {type: spherical, between: [A, B], at: [1, 0, 0]}"]) + "\n"


def four_bar(reading):
    """A from the origin, C from (0, s), B between their tips."""
    s = -1 if reading == "I" else 1
    x, y = math.cos(math.pi / 4), s * math.sin(math.pi / 4)
    z = "axis: [0, 0, 1]}"
    return "\n".join([f"# four-bar of [malczyk2019], section 4.3, reading {reading}", *HEAD, "bodies:",
                      f"  A: {{{LINK}, position: {vector(x / 2, y / 2, 0)}, orientation: {along(x, y)}}}",
                      f"  B: {{{LINK}, position: {vector(x, y + s / 2, 0)}, orientation: {along(0, s)}}}",
                      f"  C: {{{LINK}, position: {vector(x / 2, y / 2 + s, 0)}, orientation: {along(x, y)}}}",
                      "joints:",
                      f"  j1: {{type: revolute, between: [ground, A], at: [0, 0, 0], {z}",
                      f"  j2: {{type: revolute, between: [A, B], at: {vector(x, y, 0)}, {z}",
                      f"  j3: {{type: revolute, between: [B, C], at: {vector(x, y + s, 0)}, {z}",
                      f"  j4: {{type: revolute, between: [ground, C], at: {vector(0, s, 0)}, {z}"]) + "\n"


def chain(n):
    bodies = [f"  b{i}: {{{LINK}, position: [{i - 0.5}, 0, 0]}}" for i in range(1, n + 1)]
    joints = [f"  j{i}: {{type: spherical, between: [{f'b{i - 1}' if i > 1 else 'ground'}, b{i}], "
              f"at: [{i - 1}, 0, 0]}}" for i in range(1, n + 1)]
    return "\n".join([f"# chain of [malczyk2019], section 4.4, {n} links", *HEAD, "bodies:", *bodies,
                      "joints:", *joints,
                      "markers:", f"  C: {{body: b{n}, position: [0.5, 0, 0]}}"]) + "\n"


def text(name):
    kind, _, which = name.partition("-")
    if kind == "chain":
        return chain(int(which))
    return pendulum() if kind == "pendulum" else four_bar(name.rpartition("-")[2])


def write(folder, *names):
    """{name: path} of model files."""
    os.makedirs(folder, exist_ok=True)
    paths = {}
    for name in names:
        paths[name] = os.path.join(folder, name + ".yaml")
        with open(paths[name], "w", encoding="utf-8") as file:
            file.write(text(name))
    return paths


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: cases.py FOLDER")
    for written in write(sys.argv[1], "pendulum", "four-bar-I", "four-bar-II", "chain-128").values():
        print(written)
