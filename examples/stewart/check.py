#!/usr/bin/env python3
"""The leg forces of the Stewart platform against inverse dynamics written out by hand.

usage: check.py LINKWORK

Three ways to the same forces: `kinematics`, where drives hold the legs; `inverse`, where the drives are removed and six
actuators take their place; and `run`, which integrates. All are compared with the principle of virtual power: the motion of the
platform and its derivatives are formulas, those of the legs follow from the joints' by vector algebra.
"""
import csv
import math
import os
import subprocess
import sys
import tempfile

MODEL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "stewart.yaml")
BASE, TOP, BASE_HALF, TOP_HALF, HEIGHT = 0.8, 0.45, math.radians(10), math.radians(12), 1.1
PAYLOAD, CENTRE = 60, (0, 0, 0.15)
INERTIA = (0.05*PAYLOAD, 0.06*PAYLOAD, 0.08*PAYLOAD)
CYLINDER, ROD = (6, 0.2, 0.35), (3, 0.1, 0.3)           # mass, moment about an axis across, mass centre from the joint
GRAVITY = (0, 0, -9.81)
SHIFTS = ((0.10, 4), (0.08, 5), (0.06, 6))              # amplitude, frequency of x, y, z
ANGLES = ((0.10, 3, 2), (0.12, 4, 1), (0.15, 5, 0))     # of yaw, pitch, roll; axis


def sine(amplitude, omega, t):
    """Value and two derivatives."""
    return amplitude*math.sin(omega*t), amplitude*omega*math.cos(omega*t), -amplitude*omega**2*math.sin(omega*t)


def add(*vectors):
    return tuple(map(sum, zip(*vectors)))


def times(factor, a):
    return tuple(factor*x for x in a)


def dot(a, b):
    return sum(x*y for x, y in zip(a, b))


def cross(a, b):
    return a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]


def multiply(a, b):
    return [[sum(a[i][k]*b[k][j] for k in range(3)) for j in range(3)] for i in range(3)]


def transposed(a):
    return [list(row) for row in zip(*a)]


def apply(a, b):
    return tuple(dot(row, b) for row in a)


def rotation(axis, angle, rate, acceleration):
    """A rotation about a coordinate axis and its derivatives by time."""
    c, s = math.cos(angle), math.sin(angle)
    i, j = (axis + 1) % 3, (axis + 2) % 3

    def entries(along, cosine, sine_):
        matrix = [[0.0]*3 for _ in range(3)]
        matrix[axis][axis] = along
        matrix[i][i] = matrix[j][j] = cosine
        matrix[j][i], matrix[i][j] = sine_, -sine_
        return matrix

    return (entries(1, c, s), entries(0, -s*rate, c*rate),
            entries(0, -c*rate**2 - s*acceleration, -s*rate**2 + c*acceleration))


def product(a, b):
    """Of two rotations with their derivatives."""
    def total(*matrices):
        return [[sum(m[i][j] for m in matrices) for j in range(3)] for i in range(3)]

    twice = multiply(a[1], b[1])
    return (multiply(a[0], b[0]), total(multiply(a[1], b[0]), multiply(a[0], b[1])),
            total(multiply(a[2], b[0]), twice, twice, multiply(a[0], b[2])))


def platform(t):
    """Position, velocity, acceleration of the centre; attitude, angular velocity and acceleration; all in world axes."""
    place, velocity, acceleration = zip(*(sine(*shift, t) for shift in SHIFTS))
    turn = None
    for amplitude, omega, axis in ANGLES:
        part = rotation(axis, *sine(amplitude, omega, t))
        turn = product(turn, part) if turn else part
    spin = multiply(turn[1], transposed(turn[0]))
    change = multiply(turn[2], transposed(turn[0]))
    back = multiply(turn[1], transposed(turn[1]))
    rate = [[change[i][j] + back[i][j] for j in range(3)] for i in range(3)]
    return (add(place, (0, 0, HEIGHT)), velocity, acceleration, turn[0],
            (spin[2][1], spin[0][2], spin[1][0]), (rate[2][1], rate[0][2], rate[1][0]))


def carried(arm, velocity, acceleration, omega, alpha):
    """Velocity and acceleration of a point of a body."""
    return add(velocity, cross(omega, arm)), add(acceleration, cross(alpha, arm), cross(omega, cross(omega, arm)))


def joints():
    """Of the legs: on the base, on the platform."""
    for leg in range(6):
        middle, side = math.radians(120*(leg//2)), 1 if leg % 2 == 0 else -1
        base, top = middle + side*BASE_HALF, middle + side*(math.pi/3 - TOP_HALF)
        yield (BASE*math.cos(base), BASE*math.sin(base), 0), (TOP*math.cos(top), TOP*math.sin(top), 0)


def solved(matrix, right):
    """By elimination with row interchanges."""
    n = len(right)
    rows = [[*row, value] for row, value in zip(matrix, right)]
    for k in range(n):
        best = max(range(k, n), key=lambda i: abs(rows[i][k]))
        rows[k], rows[best] = rows[best], rows[k]
        for i in range(k + 1, n):
            factor = rows[i][k]/rows[k][k]
            rows[i] = [a - factor*b for a, b in zip(rows[i], rows[k])]
    x = [0.0]*n
    for k in reversed(range(n)):
        x[k] = (rows[k][n] - sum(rows[k][j]*x[j] for j in range(k + 1, n)))/rows[k][k]
    return x


def forces(t):
    """Lengths of the legs and the forces that push their ends apart."""
    centre, velocity, acceleration, turn, omega, alpha = platform(t)
    moments = [[sum(turn[i][k]*INERTIA[k]*turn[j][k] for k in range(3)) for j in range(3)] for i in range(3)]
    lever = apply(turn, CENTRE)
    _, a = carried(lever, velocity, acceleration, omega, alpha)
    force = times(PAYLOAD, add(a, times(-1, GRAVITY)))
    torque = add(apply(moments, alpha), cross(omega, apply(moments, omega)), cross(lever, force))
    right = [*force, *torque]                           # power for a unit of each of six virtual velocities
    lengths, columns = [], []
    for base, point in joints():
        arm = apply(turn, point)
        way = add(centre, arm, times(-1, base))
        v, a = carried(arm, velocity, acceleration, omega, alpha)
        length = math.sqrt(dot(way, way))
        u = times(1/length, way)
        rate = dot(u, v)
        du = times(1/length, add(v, times(-rate, u)))
        second = dot(u, a) + dot(du, v)
        ddu = times(1/length, add(a, times(-second, u), times(-2*rate, du)))
        outer = length - ROD[2]
        loads = []                                      # (mass * acceleration - weight), and place along the leg
        loads.append((times(CYLINDER[0], add(times(CYLINDER[2], ddu), times(-1, GRAVITY))), CYLINDER[2], 0))
        rod = add(times(second, u), times(2*rate, du), times(outer, ddu))
        loads.append((times(ROD[0], add(rod, times(-1, GRAVITY))), outer, 1))
        moment = times(CYLINDER[1] + ROD[1], cross(u, ddu))
        column = []
        for k in range(6):
            unit = tuple(float(i == k % 3) for i in range(3))
            virtual = unit if k < 3 else cross(unit, arm)   # velocity of the joint on the platform
            along = dot(virtual, u)
            across = times(1/length, add(virtual, times(-along, u)))
            for load, place, slides in loads:
                right[k] += dot(load, add(times(place, across), times(slides*along, u)))
            right[k] += dot(moment, cross(u, across))
            column.append(along)
        lengths.append(length)
        columns.append(column)
    return lengths, solved(transposed(columns), right)


def main():
    program = sys.argv[1]
    start = forces(0)[0]
    with tempfile.TemporaryDirectory() as folder:
        for verb, column in (("kinematics", "drive0"), ("inverse", "actuator0"), ("run", "drive0")):
            result = os.path.join(folder, verb + ".csv")
            subprocess.run([program, verb, MODEL, "--columns", f"joint.leg?.slide.q0,joint.leg?.slide.{column}",
                            "--duration", "2", "--sample", "0.02", "-o", result], check=True, stdout=subprocess.DEVNULL)
            with open(result, newline="", encoding="utf-8") as file:
                rows = [{name: float(text) for name, text in row.items()} for row in csv.DictReader(file)]
            assert len(rows) == 101
            worst, largest, stroke = 0, 0, 0
            for row in rows:
                lengths, exact = forces(row["time"])
                for leg in range(6):
                    worst = max(worst, abs(row[f"joint.leg{leg + 1}.slide.{column}"] - exact[leg]))
                    largest = max(largest, abs(exact[leg]))
                    stroke = max(stroke, abs(row[f"joint.leg{leg + 1}.slide.q0"] - lengths[leg] + start[leg]))
            print(f"{verb}: largest force {largest:.1f} N, difference {worst:.1e} N, of strokes {stroke:.1e} m")
            assert largest > 100 and worst < 1e-9*largest and stroke < 1e-12
    return 0


if __name__ == "__main__":
    sys.exit(main())
