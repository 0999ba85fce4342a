#!/usr/bin/env python3
"""The engine's torque, loads of the pins and side forces of the pistons against closed forms.

usage: check.py LINKWORK [--speed RPM] [--table]

The closed forms are those of slider-crank mechanisms at constant speed: positions and their derivatives by the crank angle,
then the equations of Newton and Euler of piston and rod. Nothing in them is iterated.
"""
import argparse
import csv
import math
import os
import subprocess
import sys
import tempfile

MODEL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "engine.yaml")
G = 9.81
CRANK, ROD = 0.045, 0.140                               # radius, length [m]
M_ROD, I_ROD, CENTRE, M_PISTON = 0.6, 0.0016, 0.25, 0.45 # CENTRE: mass centre from the big end, by the length
PINS = (1, -1, -1, 1)                                   # heights of the crank pins at the start, by the radius


def cylinder(side, angle, speed, gas):
    """Force (x, z) of the crankshaft on the rod, force x of the bore on the piston, torque on the crankshaft."""
    x, z = side*CRANK*math.sin(angle), side*CRANK*math.cos(angle)
    dx, dz, ddx, ddz = z, -x, -x, -z                    # derivatives by the angle
    height = math.sqrt(ROD**2 - x**2)                   # of the piston over the crank pin
    dh = -x*dx/height
    ddh = -(dx**2 + x*ddx + dh**2)/height
    square = speed**2                                   # d2/dt2 = speed^2 d2/dangle2
    piston = (ddz + ddh)*square
    centre = ((1 - CENTRE)*ddx*square, (ddz + CENTRE*ddh)*square)
    turn = (-ddx*height + x*ddh)/ROD**2*square          # angular acceleration of the rod about y
    pull = M_PISTON*(piston + G) - gas                  # vertical force of the rod on the piston
    lift = M_ROD*(centre[1] + G) + pull                 # vertical force of the crankshaft on the rod
    big, small = (CENTRE*x, -CENTRE*height), (-(1 - CENTRE)*x, (1 - CENTRE)*height)   # from the mass centre to the ends
    sideways = -(I_ROD*turn - big[1]*M_ROD*centre[0] + big[0]*lift - small[0]*pull)/height
    push = M_ROD*centre[0] + sideways
    return push, lift, -sideways, x*lift - z*push


def compare(rows, speed):
    """For each quantity the largest difference and the largest value."""
    found = {"torque [N m]": [0, 0], "pins [N]": [0, 0], "side forces [N]": [0, 0]}

    def note(name, value, exact):
        entry = found[name]
        entry[0], entry[1] = max(entry[0], abs(value - exact)), max(entry[1], abs(exact))

    for row in rows:
        angle, torque = speed*row["time"], 0
        for k, side in enumerate(PINS, 1):
            push, lift, bore, part = cylinder(side, angle, speed, row[f"signal.gas{k}.value"])
            torque += part
            note("pins [N]", row[f"joint.pin{k}.fx"], push)
            note("pins [N]", row[f"joint.pin{k}.fz"], lift)
            note("side forces [N]", row[f"joint.c{k}.bore.fx"], bore)
        note("torque [N m]", -row["joint.crank.drive0"], torque)
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--speed", type=float, default=3000)
    parser.add_argument("--table", action="store_true", help="prints a table of Markdown")
    arguments = parser.parse_args()
    worst = {}
    with tempfile.TemporaryDirectory() as folder:
        for verb in ("kinematics", "run"):
            result = os.path.join(folder, verb + ".csv")
            subprocess.run([arguments.program, verb, MODEL, "--set", f"speed={arguments.speed!r}", "--columns",
                            "joint.*.f?,joint.crank.drive0,signal.*", "-o", result], check=True, stdout=subprocess.DEVNULL)
            with open(result, newline="", encoding="utf-8") as file:
                rows = [{name: float(text) for name, text in row.items()} for row in csv.DictReader(file)]
            assert len(rows) > 100
            worst[verb] = compare(rows, arguments.speed*2*math.pi/60)
    if arguments.table:
        print("| | largest | difference, `kinematics` | difference, `run` |\n|---|---:|---:|---:|")
        for name in worst["run"]:
            print(f"| {name} | {worst['run'][name][1]:.0f} | {worst['kinematics'][name][0]:.0e} | {worst['run'][name][0]:.0e} |")
    for verb, found in worst.items():
        for name, (difference, largest) in found.items():
            if not arguments.table:
                print(f"{verb}: {name}: largest {largest:.6g}, difference {difference:.1e}")
            assert largest > 1 and difference <= 1e-9*largest, (verb, name, difference, largest)
    return 0


if __name__ == "__main__":
    sys.exit(main())
