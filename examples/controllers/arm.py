#!/usr/bin/env python3
"""The arm under PID of its file, and under the same law in Python: prints the largest difference of its angles.

usage: arm.py  (with the Python package)
"""
import math
import os
import sys

import numpy as np

import linkwork as lw

HERE = os.path.dirname(os.path.abspath(__file__))
TOLERANCE = 1e-8  # rad; both runs have relative errors of 1e-10 a step
GAIN = np.array([1.0, 0.3])
KP, KI, KD = 900 * GAIN, 1500 * GAIN, 90 * GAIN


def torques(state):
    """Of both joints; the states are the integrals of the errors."""
    goal = np.array([0.6 + 0.4 * math.cos(2 * state.time), -1.2 + 0.4 * math.sin(2 * state.time)])
    return KP * (goal - state.q) + KI * state.states - KD * state.qd


def main():
    by_file = lw.simulate(os.path.join(HERE, "arm.yaml"))
    sim = lw.Simulation(lw.load(os.path.join(HERE, "arm_program.yaml")))
    sim.set_callback(torques)
    by_program = sim.run()
    difference = max(np.abs(by_file[name] - by_program[name]).max() for name in ("joint.shoulder.q0", "joint.elbow.q0"))
    print(f"largest difference of the angles: {difference:.1e} rad")
    return 0 if difference < TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main())
