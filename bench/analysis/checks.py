#!/usr/bin/env python3
"""Known numbers of plane mechanisms, found by the program: a table of deviations.

usage: checks.py --program LINKWORK

The numbers were computed in minimal coordinates with complex steps, and confirmed by closed forms or differences of fourth
order.  The mechanisms here are spatial: the four-bar has four parallel hinges, three redundant rows.

  four-bar      crank 0.4 m, coupler 1 m, rocker 0.8 m, base 1 m, thin rods of 1 kg/m, a torsion spring of 20 N m/rad on the
                crank without torque at 60 degrees: its equilibrium, reduced mass and stiffness, frequency; its acceleration and
                derivatives along the loop in motion; gradients of a run from rest at crank 1.2 rad, of the place of the
                coupler's middle after 2 s and of the integral of the crank's squared speed
  slider-crank  crank 0.1 m, 1 kg, rod 0.3 m, 0.6 kg, piston 0.8 kg, 100 rad/s: torque at four angles
  pendulums     of 1, 2 and 5 point masses of 1 kg on massless rods of 1 m: frequencies

Exit status 1: a deviation, relative to the number, is above 1e-9, of gradients 1e-7 (tolerances of the run, digits).
"""
import argparse
import csv
import json
import pathlib
import re
import subprocess
import sys
import tempfile

EQUILIBRIUM = {"crank angle": 0.9532432576031371, "reduced mass": 0.13136266455296938, "stiffness": 17.80378035671408,
               "frequency [Hz]": 1.852850039}
MOTION = {"acceleration": 4.781832445984627, "by angle": -157.20531783365666, "by speed": -3.1012125537962136}
MEASURES = (0.671159599632231, 8.27985301791174)
END = {"crank angle at 2 s": 0.964232315969, "crank speed at 2 s": 2.809928301935}
GRADIENT = {"crank": (5.949232505844005, -44.42662134586868), "coupler": (1.8681501726165572, -0.8785657202587747),
            "rocker": (-1.1853578908594575, 5.6963352709091115), "base": (-0.32444359465659717, -6.979560110539491),
            "line": (0.7619414256257783, -4.518041290196964), "rate": (-0.03809707128128109, 0.2259020645125097)}
TORQUE = {0.0: 0.7848, 1.0: 49.645149287266214, 2.5: -38.56427634640164, 4.0: 49.25245502379041}
PENDULUM = {1: [0.498487916486281], 2: [0.38152613374698435, 0.9210855664917412],
            5: [0.25591435543678465, 0.5926354806393181, 0.9453446829061664, 1.3269341980464116, 1.7723191491364032]}

FOUR_BAR = """linkwork: 1
gravity: [0, -9.81, 0]
parameters:
  crank: 0.4
  coupler: 1
  rocker: 0.8
  base: 1
  line: 1
  rate: 20
  start: 1.2
  x1: crank*cos(start)
  y1: crank*sin(start)
  d: "hypot(base - x1, y1)"
  a2: "atan2(-y1, base - x1) + acos((coupler^2 + d^2 - rocker^2)/(2*coupler*d))"
  x2: x1 + coupler*cos(a2)
  y2: y1 + coupler*sin(a2)
  a3: "atan2(y2, x2 - base)"
signals: {squared: {type: integral, of: A.qd0^2}}
bodies:
  a: {mass: line*crank, inertia: [0, line*crank^3/12, line*crank^3/12, 0, 0, 0], position: [x1/2, y1/2, 0],
    orientation: [cos(start/2), 0, 0, sin(start/2)]}
  b: {mass: line*coupler, inertia: [0, line*coupler^3/12, line*coupler^3/12, 0, 0, 0], position: [(x1 + x2)/2, (y1 + y2)/2, 0],
    orientation: [cos(a2/2), 0, 0, sin(a2/2)]}
  c: {mass: line*rocker, inertia: [0, line*rocker^3/12, line*rocker^3/12, 0, 0, 0], position: [(base + x2)/2, y2/2, 0],
    orientation: [cos(a3/2), 0, 0, sin(a3/2)]}
joints:
  A: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 0, 1], QD
    spring: {q0: {stiffness: rate, at: pi/3 - start}}}
  B: {type: revolute, between: [a, b], at: [x1, y1, 0], axis: [0, 0, 1]}
  C: {type: revolute, between: [b, c], at: [x2, y2, 0], axis: [0, 0, 1]}
  D: {type: revolute, between: [ground, c], at: [base, 0, 0], axis: [0, 0, 1]}
simulation: {duration: 2, sample: 2}
"""
SLIDER = """linkwork: 1
gravity: [0, -9.81, 0]
parameters: {angle: 0, x: 0.1*cos(angle), y: 0.1*sin(angle), tilt: -asin(y/0.3), end: x + 0.3*cos(tilt)}
functions: {turn: {type: polynomial, coefficients: [0, 100]}}
bodies:
  crank: {mass: 1, inertia: [0, 1/1200, 1/1200, 0, 0, 0], position: [x/2, y/2, 0], orientation: [cos(angle/2), 0, 0, sin(angle/2)]}
  rod: {mass: 0.6, inertia: [0, 0.0045, 0.0045, 0, 0, 0], position: [(x + end)/2, y/2, 0],
    orientation: [cos(tilt/2), 0, 0, sin(tilt/2)]}
  piston: {mass: 0.8, position: [end, 0, 0]}
joints:
  A: {type: revolute, between: [ground, crank], at: [0, 0, 0], axis: [0, 0, 1], motion: {q0: turn}}
  B: {type: revolute, between: [crank, rod], at: [x, y, 0], axis: [0, 0, 1]}
  C: {type: revolute, between: [rod, piston], at: [end, 0, 0], axis: [0, 0, 1]}
  D: {type: prismatic, between: [ground, piston], at: [end, 0, 0], axis: [1, 0, 0]}
"""


def pendulum(n):
    bodies = [f"  m{i}: {{mass: 1, position: [0, {-i - 1}, 0]}}" for i in range(n)]
    joints = [f"  J{i}: {{type: revolute, between: [{f'm{i - 1}' if i else 'ground'}, m{i}], at: [0, {-i}, 0], axis: [0, 0, 1]}}"
              for i in range(n)]
    return "\n".join(["linkwork: 1", "gravity: [0, -9.81, 0]", "bodies:", *bodies, "joints:", *joints, ""])


class Checks:
    def __init__(self, program, folder):
        self.program, self.folder, self.bad = program, pathlib.Path(folder), 0

    def model(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return str(path)

    def call(self, *words):
        done = subprocess.run([self.program, *words], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"checks.py: {' '.join(words)}: exit {done.returncode}\n{done.stderr}")
        return done.stdout

    def ask(self, *words):
        return json.loads(self.call(*words, "--json"))

    def compare(self, what, found, expected, limit=1e-9):
        off = abs(found / expected - 1)
        self.bad += not off <= limit
        print(f"{what:44} {expected:22.15g} {found:22.15g} {off:8.1e}{'' if off <= limit else '  above ' + str(limit)}")

    def four_bar(self):
        rest = self.model("four_bar.yaml", FOUR_BAR.replace("QD", ""))
        found = self.ask("equilibrium", rest)
        self.compare("four-bar: equilibrium, crank angle", 1.2 + found["joints"]["A"][0], EQUILIBRIUM["crank angle"])
        linear = self.ask("linearize", rest, "--at", "equilibrium", "--actuators", "A", "--independent", "A")
        mass = 1 / linear["B"][1][0]
        self.compare("four-bar: reduced mass", mass, EQUILIBRIUM["reduced mass"])
        self.compare("four-bar: stiffness", -linear["A"][1][0] * mass, EQUILIBRIUM["stiffness"])
        plain = self.model("plain.yaml", re.sub("signals:.*\n", "", FOUR_BAR.replace("QD", "")))  # its integral is a mode too
        frequency = self.ask("modes", plain)["modes"][0]["frequency_hz"]
        self.compare("four-bar: frequency [Hz]", frequency, EQUILIBRIUM["frequency [Hz]"])
        moving = self.model("moving.yaml", FOUR_BAR.replace("QD", "qd: [2],").replace("start: 1.2", "start: 0.9"))
        linear = self.ask("linearize", moving, "--independent", "A")
        self.compare("four-bar in motion: acceleration", linear["accelerations"][0], MOTION["acceleration"])
        self.compare("four-bar in motion: by angle", linear["A"][1][0], MOTION["by angle"])
        self.compare("four-bar in motion: by speed", linear["A"][1][1], MOTION["by speed"])
        self.run(rest)

    def run(self, model):
        out = self.folder / "run.csv"
        self.call("run", model, "--rtol", "1e-12", "--atol", "1e-12", "-o", str(out), "--quiet")
        row = list(csv.DictReader(out.open()))[-1]
        for (what, expected), found in zip(END.items(), (1.2 + float(row["joint.A.q0"]), float(row["joint.A.qd0"]))):
            self.compare(f"run of the four-bar: {what}", found, expected)
        columns = ("body.b.x", "signal.squared.value")
        for method in ("differences", "forward", "adjoint"):
            found = self.ask("sensitivity", model, "--by", ",".join(GRADIENT), "--watch", ",".join(columns), "--method", method,
                             "--rtol", "1e-12", "--atol", "1e-12")["columns"]
            for k, column in enumerate(columns):
                if method == "differences":
                    self.compare(f"run of the four-bar: {column}", found[column]["value"], MEASURES[k])
                for name, expected in GRADIENT.items():
                    derivative = found[column]["derivative"][name]
                    self.compare(f"{method}: {column} by {name}", derivative, expected[k], 1e-7)

    def slider_crank(self):
        for angle, expected in TORQUE.items():
            path = self.model("slider.yaml", SLIDER.replace("angle: 0,", f"angle: {angle},"))
            out = self.folder / "slider.csv"
            self.call("inverse", path, "--duration", "1e-3", "--sample", "1e-3", "-o", str(out), "--quiet")
            found = float(next(csv.DictReader(out.open()))["joint.A.actuator0"])
            self.compare(f"slider-crank: torque at {angle} rad", found, expected)

    def pendulums(self):
        for n, expected in PENDULUM.items():
            modes = self.ask("modes", self.model(f"pendulum{n}.yaml", pendulum(n)))["modes"]
            for i, frequency in enumerate(expected):
                self.compare(f"pendulum of {n}: frequency {i + 1} [Hz]", modes[i]["frequency_hz"], frequency)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", required=True)
    a = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        checks = Checks(a.program, folder)
        print(f"{'number':44} {'expected':>22} {'found':>22} {'off':>8}")
        checks.four_bar()
        checks.slider_crank()
        checks.pendulums()
    sys.exit(1 if checks.bad else 0)


if __name__ == "__main__":
    main()
