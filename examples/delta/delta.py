#!/usr/bin/env python3
"""A Delta robot that follows a path: model from a file, controller of the program at 1 kHz.

usage: delta.py MODEL  (with the Python package)

delta.c is the same program in C; it prints the same digits.
"""
import math
import sys

import linkwork as lw

RATE, SECONDS = 1000, 1                        # of the controller [1/s]; of the path
R, r, L, l, START = 0.2, 0.05, 0.3, 0.6, 20*math.pi/180
KP, KD = 400, 20                               # [N m/rad], [N m s/rad]


def path(t, height):
    """A circle of radius 0.1 m with a dip of 50 mm, from rest to rest."""
    way = 2*math.pi*t - math.sin(2*math.pi*t)
    return 0.1*math.sin(way), 0.1*(1 - math.cos(way)), height - 0.05*math.sin(way/2)*math.sin(way/2)


def angle(p, arm):
    """Angle of a motor from the start at which its arm holds the platform at p: inverse kinematics in the plane of the arm."""
    phi = 2*math.pi/3*arm
    x, y = p[0]*math.cos(phi) + p[1]*math.sin(phi), p[1]*math.cos(phi) - p[0]*math.sin(phi)
    a = x + r - R
    E, F = 2*a*L, -2*p[2]*L
    G = a*a + y*y + p[2]*p[2] + L*L - l*l
    return math.atan2(F, E) - math.acos(G/math.hypot(E, F)) - START


def main():
    model = lw.load(sys.argv[1])
    sim = lw.Simulation(model)
    motor = [model.joint(f"arm{i}.motor") for i in (1, 2, 3)]
    height = float(sim.observe("pose").position[model.body("platform").index][2])
    before = [angle(path(0, height), i) for i in range(3)]
    worst = 0
    for k in range(RATE*SECONDS):
        now = sim.observe("twist")
        p = path(k/RATE, height)
        for i in range(3):
            q, qd = float(now.q[motor[i].q][0]), float(now.qd[motor[i].v][0])
            goal = angle(p, i)
            rate = (goal - before[i])*RATE
            worst = max(worst, abs(goal - q))
            before[i] = goal
            sim.inputs[f"torque{i + 1}"] = KP*(goal - q) + KD*(rate - qd)
        sim.step(until=(k + 1)/RATE)
        if (k + 1) % 100 == 0:
            now = sim.observe("twist")
            print(f"{now.time:.1f}", *(f"{float(now.q[m.q][0]):.17g}" for m in motor))
    print(f"largest error of an angle {worst:.3g} rad")
    return 0 if worst < 0.05 else 1


if __name__ == "__main__":
    sys.exit(main())
