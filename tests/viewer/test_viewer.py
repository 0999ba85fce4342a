#!/usr/bin/env python3
"""The viewer in a real browser: the page is up to date with its sources, and works as documented.

usage: test_viewer.py LINKWORK SOURCES [unittest arguments]

Node and npm fetch what viewer/package-lock.json names; Chromium is one of the system (LW_CHROMIUM names
another).  What is missing skips the tests, with a word; where CI is set it fails them.
"""
import csv
import hashlib
import json
import math
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

import test_files

PROGRAM, SOURCES = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
MODELS = os.path.join(SOURCES, "examples", "models")
HERE = os.path.dirname(os.path.abspath(__file__))
WORK = os.path.abspath("viewer-work")  # keeps the packages between runs of the tests
LOCK = os.path.join(SOURCES, "viewer", "package-lock.json")
SKIPPED = 77


def missing(what):
    print("viewer tests left out: %s" % what, file=sys.stderr)
    sys.exit(1 if os.environ.get("CI") else SKIPPED)


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=500, check=False, **options)


def linkwork(*arguments):
    done = run(PROGRAM, *arguments)
    if done.returncode:
        raise AssertionError("linkwork %s: %s" % (" ".join(arguments), done.stderr))
    return done.stdout


def install():
    """Copies viewer/, and installs its packages if the lock file has changed."""
    with open(LOCK, "rb") as file:
        stamp = hashlib.sha256(file.read()).hexdigest()
    marker = os.path.join(WORK, "node_modules", ".linkwork-lock")
    if os.path.exists(marker) and open(marker, encoding="ascii").read() == stamp:
        fresh = False
    else:
        shutil.rmtree(WORK, ignore_errors=True)
        fresh = True
    shutil.copytree(os.path.join(SOURCES, "viewer"), WORK, dirs_exist_ok=True,
                    ignore=shutil.ignore_patterns("node_modules"))
    for script in ("browser.mjs", "gltf.mjs"):
        shutil.copy(os.path.join(HERE, script), WORK)
    if fresh:
        done = run("npm", "ci", "--no-audit", "--no-fund", "--fetch-retries=5", cwd=WORK)
        if done.returncode:
            missing("npm ci: %s" % done.stderr[-400:])
        with open(marker, "w", encoding="ascii") as file:
            file.write(stamp)


def chromium():
    names = [os.environ.get("LW_CHROMIUM"), "chromium", "chromium-browser", "google-chrome"]
    return next((found for found in map(shutil.which, filter(None, names)) if found), None)


class Bundle(unittest.TestCase):
    def test_page_is_what_the_sources_give(self):
        done = run("node", "build.mjs", "--check", cwd=WORK)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_changed_source_is_noticed(self):
        with open(os.path.join(WORK, "src", "style.css"), "a", encoding="utf-8") as file:
            file.write("/* changed */\n")
        self.assertEqual(run("node", "build.mjs", "--check", cwd=WORK).returncode, 1)
        shutil.copy(os.path.join(SOURCES, "viewer", "src", "style.css"), os.path.join(WORK, "src"))

    def test_lock_file_has_no_url(self):
        with open(LOCK, encoding="utf-8") as file:
            self.assertNotIn("://", file.read())


# A body on two balls rotates about the line through them; a component of the rotation vector is moved further than it goes.
TWO_BALLS = """
import {Kinematics} from '%s';
const R = Float64Array.of(1, 0, 0, 0, 1, 0, 0, 0, 1), body = (carrier) => ({orientation: [1, 0, 0, 0], position: [0, 0, 0], carrier});
const ball = (r) => ({body1: 0, body2: 1, R1: R, r1: r, R2: R, r2: r, q: [1, 0, 0, 0], factors: [[5, 0, 0]]});
const k = new Kinematics({bodies: [body(0), body(1)], couplings: [], joints: [ball([0, 0, 0]), ball([1, 2, 3])]}, 1);
let tries = 0;
const close = k.close.bind(k);
k.close = (fixed) => { if (++tries > 300) throw new Error('does not stop'); return close(fixed); };
console.log(JSON.stringify([0.5, 3, -0.2, -3].map((to) => [k.drag(0, 0, to), ...[0, 1, 2].map((c) => k.value(0, c))])));
"""


class Sliders(unittest.TestCase):
    def test_a_ball_in_a_loop_stops_at_half_a_revolution(self):
        source = os.path.join(SOURCES, "viewer", "src", "kinematics.js")
        done = subprocess.run(["node", "--input-type=module", "-e", TWO_BALLS % source], capture_output=True, text=True, timeout=60,
                              check=True)
        largest = math.pi / math.sqrt(14)
        for (at, *vector), expected in zip(json.loads(done.stdout), (0.5, largest, -0.2, -largest)):
            self.assertAlmostEqual(at, expected, delta=1e-3)
            for k in range(3):
                self.assertAlmostEqual(vector[k], (k + 1) * at, delta=1e-9)


# Bodies that tumble, with ropes round a sphere and a cylinder, past a side, through a ring, over a pulley; a slider-crank.
ROPES = """linkwork: 1
bodies:
  a: {mass: 1, inertia: [0.1, 0.2, 0.3, 0, 0, 0], com: [0.1, 0, 0.05], position: [1, 0.2, 0], velocity: [-1, 0.3, 5], angular_velocity: [3, 2, 1]}
  b: {mass: 1, inertia: [0.1, 0.2, 0.3, 0, 0, 0], com: [0, 0.1, 0], position: [-1, 0, 0.1], velocity: [0.5, 0.1, 5], angular_velocity: [-2, 3, 2]}
forces:
  ball: {type: tendon, path: [{body: a, point: [0.2, 0, 0]}, {point: [0, 0.1, 0.5], radius: 0.4}, {body: b}]}
  drum: {type: tendon, path: [{body: a}, {body: b, point: [0.5, 0, 0], radius: 0.3, axis: [0.1, 1, 0.2], side: [0.5, 0, 2]}, {body: b, point: [0, 0.2, 0]}]}
  ring: {type: tendon, path: [{point: [0, 1, 0]}, {body: a, point: [0.3, 0, 0], radius: 0.1, axis: [0, 0, 1], side: [0.3, 0, 0]}, {body: b}, {pulley: 2},
    {point: [0, 0, 3]}, {body: a}]}
  rod: {type: tendon, slider_crank: {crank: a, crank_point: [0.1, 0.2, 0], slider: b, slider_point: [0, 0.1, 0], axis: [1, 0.5, 0], rod: 3}}
"""
PIECES = """
import {readFileSync} from 'node:fs';
import {pieces} from '%s';
const {tendons, poses} = JSON.parse(readFileSync(0, 'utf8'));
console.log(JSON.stringify(poses.map((world) => tendons.flatMap((t) => pieces(t, world.map((elements) => ({elements})))))));
"""


def pose(r, q):
    """The matrix of three.js, by columns; q: scalar last, as in glTF."""
    x, y, z, w = (c / math.sqrt(sum(c * c for c in q)) for c in q)
    return [1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y), 0, 2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x), 0,
            2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y), 0, *r, 1]


class Ropes(unittest.TestCase):
    """Tendons: the script of the page and the program draw the same pieces at the same poses."""

    def test_page_and_gltf_have_the_same_pieces(self):
        with tempfile.TemporaryDirectory() as folder:
            model, motion, page, gltf = (os.path.join(folder, "r." + end) for end in ("yaml", "h5", "html", "gltf"))
            with open(model, "w", encoding="utf-8") as file:
                file.write(ROPES)
            linkwork("run", model, "--duration", "1", "--sample", "0.02", "-o", motion, "-q")
            linkwork("view", motion, "-o", page, "-q")
            linkwork("view", motion, "-o", gltf, "-q")
            with open(page, encoding="utf-8") as file:
                tendons = json.loads(re.search(r'<script[^>]*id="?data"?[^>]*>(.*?)</script>', file.read(), re.S).group(1))["tendons"]
            drawn = test_files.Gltf(gltf)
        nodes, series = drawn.root["nodes"], {}
        for channel in drawn.root["animations"][0]["channels"]:
            sampler = drawn.root["animations"][0]["samplers"][channel["sampler"]]
            series[channel["target"]["node"], channel["target"]["path"]] = drawn.numbers(sampler["output"])
        ropes = [i for i, node in enumerate(nodes) if node.get("name") == "tendon"]
        rows = range(len(series[1, "translation"]))
        poses = [[pose((0, 0, 0), (0, 0, 0, 1))] + [pose(series[b, "translation"][r], series[b, "rotation"][r]) for b in (1, 2)] for r in rows]
        done = subprocess.run(["node", "--input-type=module", "-e", PIECES % os.path.join(SOURCES, "viewer", "src", "path.js")], check=True,
                              capture_output=True, text=True, timeout=60, input=json.dumps({"tendons": tendons, "poses": poses}))
        lengths, wound = [], []
        for r, pieces in zip(rows, json.loads(done.stdout)):
            self.assertEqual(len(pieces), len(ropes))
            for node, (a, b) in zip(ropes, pieces):
                cylinder = pose(series[node, "translation"][r], series[node, "rotation"][r])
                lengths.append(math.dist(a, b))
                self.assertAlmostEqual(series[node, "scale"][r][2], max(lengths[-1], 1e-9), delta=3e-5)
                for k in range(3):
                    half = cylinder[8 + k] * series[node, "scale"][r][2] / 2
                    self.assertAlmostEqual(cylinder[12 + k] - half, a[k], delta=3e-5)
                    self.assertAlmostEqual(cylinder[12 + k] + half, b[k], delta=3e-5)
            wound += abs(math.dist(pieces[5][0], (0, 0.1, 0.5)) - 0.4) < 1e-4, len({round(math.dist(*piece), 4) for piece in pieces[12:24]}) > 1, math.dist(*pieces[28]) < 1e-6
        self.assertGreater(min(wound[k::3].count(True) for k in range(3)), 5)  # ball, drum and ring are touched


class Gltf(unittest.TestCase):
    def test_validator_finds_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            motion = os.path.join(folder, "run.h5")
            linkwork("run", os.path.join(MODELS, "crane.yaml"), "--duration", "1", "-o", motion, "-q")
            files = []
            shapes = os.path.join(folder, "shapes.yaml")
            with open(shapes, "w", encoding="utf-8") as file:
                file.write(SHAPES)
            ropes, tumbling = os.path.join(folder, "ropes.yaml"), os.path.join(folder, "ropes.h5")
            with open(ropes, "w", encoding="utf-8") as file:
                file.write(ROPES)
            linkwork("run", ropes, "--duration", "0.5", "-o", tumbling, "-q")
            for source in (motion, os.path.join(MODELS, "crane.yaml"), os.path.join(MODELS, "ur5.urdf"), shapes, ropes, tumbling):
                files.append(os.path.join(folder, "%d.gltf" % len(files)))
                linkwork("view", source, "-o", files[-1], "-q")
            done = run("node", "gltf.mjs", *files, cwd=WORK)
            self.assertEqual(done.returncode, 0, done.stderr)
            for file, issues in json.loads(done.stdout).items():
                self.assertEqual((issues["numErrors"], issues["numWarnings"]), (0, 0),
                                 "%s: %s" % (file, issues["messages"][:5]))


LOADS = """linkwork: 1
gravity: [0, 0, -9.81]
bodies:
  a: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [0, 0, -1], shape: {box: [0.1, 0.1, 0.1]}}
  b: {mass: 2, inertia: [1, 1, 1, 0, 0, 0], position: [1, 0, -1], shape: {box: [0.1, 0.1, 0.1]}}
joints:
  ja: {type: free, between: [ground, a], at: [0, 0, -1]}
  jb: {type: free, between: [ground, b], at: [1, 0, -1]}
forces:
  coil: {type: spring, between: [ground, a], from: [0, 0, 0], to: [0, 0, -1], stiffness: 50, length: 1}
  piston: {type: spring, between: [a, b], from: [0, 0, -1], to: [1, 0, -1], damping: 1}
  push: {type: spring, between: [b, ground], from: [1, 0, -1], to: [2, 0, -1], force: 3}
  load: {type: wrench, body: b, point: [0, 0, 0], force: [0, 0, 15], torque: [0, 0.1, 0]}
"""

# A drive, a spring on a coordinate, a bushing, a spring between points and a rope round a cylinder.
ELEMENTS = """linkwork: 1
gravity: [0, 0, -9.81]
bodies:
  arm: {mass: 2, inertia: [0.01, 0.2, 0.2, 0, 0, 0], position: [0.5, 0, 0], shape: {box: [1, 0.06, 0.06]}}
  link: {mass: 1, inertia: [0.01, 0.1, 0.1, 0, 0, 0], position: [1.4, 0, 0], shape: {box: [0.7, 0.05, 0.05]}}
  slide: {mass: 1, inertia: [0.01, 0.01, 0.01, 0, 0, 0], position: [0.4, 0, -0.8], shape: {box: [0.15, 0.1, 0.1]}}
joints:
  motor: {type: revolute, between: [ground, arm], at: [0, 0, 0], axis: [0, 1, 0], motion: {q0: {type: sine, amplitude: 0.3, omega: 6.283185307179586}}}
  rail: {type: prismatic, between: [ground, slide], at: [0.4, 0, -0.8], axis: [1, 0, 0], spring: {q0: {stiffness: 200}}}
forces:
  bush: {type: bushing, between: [arm, link], at: [1, 0, 0], stiffness: [2e4, 2e4, 2e4, 40, 10, 40], damping: [60, 60, 60, 1, 1, 1]}
  strut: {type: spring, between: [arm, slide], from: [0.5, 0, 0], to: [0.4, 0, -0.8], stiffness: 300, damping: 10, length: 0.7}
  rope: {type: tendon, path: [{body: arm, point: [0.5, 0, 0]}, {point: [0.64, 0, -0.5], radius: 0.1, axis: [0, 1, 0]}, {body: slide}]}
"""

# A loop with two spherical joints; its rod also rotates about itself. And a free body.
BALLS = """linkwork: 1
gravity: [0, 0, -9.81]
bodies:
  crank: {mass: 1, inertia: [0.01, 0.01, 0.01, 0, 0, 0], position: [0, 0.1, 0]}
  rod: {mass: 1, inertia: [0.001, 0.02, 0.02, 0, 0, 0], position: [0.3, 0.2, 0.15]}
  rocker: {mass: 1, inertia: [0.01, 0.01, 0.01, 0, 0, 0], position: [0.6, 0.2, 0.15]}
  flier: {mass: 1, inertia: [0.01, 0.02, 0.03, 0, 0, 0], position: [0, 1, 0]}
joints:
  A: {type: revolute, between: [ground, crank], at: [0, 0, 0], axis: [1, 0, 0], qd: [2]}
  B: {type: spherical, between: [crank, rod], at: [0, 0.2, 0]}
  C: {type: spherical, between: [rod, rocker], at: [0.6, 0.2, 0.3]}
  D: {type: revolute, between: [ground, rocker], at: [0.6, 0.2, 0], axis: [0, 1, 0]}
  F: {type: free, between: [ground, flier], at: [0, 1, 0], qd: [0.5, 0, 1, 2, 1, -1]}
simulation: {rtol: 1e-11, atol: 1e-11}
"""

SMALL = """linkwork: 1
bodies:
  a: {mass: 1, inertia: [1e-12, 1e-12, 1e-12, 0, 0, 0], position: [1e-6, 0, 0]}
joints:
  j: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 1, 0]}
"""

PENDULUM = """linkwork: 1
bodies:
  a: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [0, 0, -1]}
joints:
  j: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 1, 0], q: [1]}
"""

# Thrown: neither shape nor joint, a point that goes 2.4 m and comes down where it is as high as it began.
THROWN = """linkwork: 1
gravity: [0, 0, -10]
bodies:
  stone: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [0, 0, 0], velocity: [3, 0, 4]}
"""

# Two bodies on a hinge that fall as one: it has nothing to carry but round-off.
FALL = """linkwork: 1
gravity: [0, 0, -9.81]
bodies:
  a: {mass: 2, inertia: [1, 1, 1, 0, 0, 0], position: [0.3, 0.1, 0], velocity: [0.3, 0.2, 0.1]}
  b: {mass: 3, inertia: [1, 1, 1, 0, 0, 0], position: [1.3, 0.4, 0.2], velocity: [0.3, 0.2, 0.1]}
joints:
  pin: {type: revolute, between: [a, b], at: [0.8, 0.2, 0.1], axis: [0, 0.6, 0.8]}
"""

# As wide as high, so that corners distinguish a box and a cylinder along y from what is round; they part as they go.
SHAPES = """linkwork: 1
gravity: [0, 0, 0]
bodies:
  box: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [0, 0, 0], shape:
    # a box of two meshes, one is mirrored
    [{mesh: {vertices: [0, -1, -1, 1, -1, -1, 1, 1, -1, 0, 1, -1, 0, -1, 1, 1, -1, 1, 1, 1, 1, 0, 1, 1],
        triangles: [0, 2, 1, 0, 3, 2, 4, 5, 6, 4, 6, 7, 0, 1, 5, 0, 5, 4, 1, 2, 6, 1, 6, 5, 2, 3, 7, 2, 7, 6, 3, 0, 4, 3, 4, 7]},
        scale: [0.3, 0.3, 0.3], position: [0, 0, 0], color: [0.9, 0.1, 0.1, 1]},
     {mesh: {vertices: [0, -1, -1, 1, -1, -1, 1, 1, -1, 0, 1, -1, 0, -1, 1, 1, -1, 1, 1, 1, 1, 0, 1, 1]},
        scale: [-0.3, 0.3, 0.3], position: [0, 0, 0], color: [0.9, 0.1, 0.1, 1]}]}
  ball: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [2, 0, 0], shape: {sphere: 0.3, color: [0.1, 0.8, 0.1, 1]}}
  drum: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [4, 0, 0], shape: {cylinder: [0.3, 0.6], color: [0.1, 0.1, 0.9, 1]}}
  pill: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [6, 0, 0], shape: {capsule: [0.3, 0.1], color: [0.9, 0.9, 0.1, 0.5]}}
  egg: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [8, 0, 0], shape: {ellipsoid: [0.4, 0.3, 0.2]}}
  # of two parts, with the mass centre in [6, 0, 2]
  crate: {density: 100, shape: [{box: [0.6, 0.6, 0.4], position: [6, 0, 2.1], color: [0.1, 0.1, 0.9, 1]},
    {box: [0.6, 0.6, 0.2], position: [6, 0, 1.8], color: [0.9, 0.1, 0.1, 1]}]}
joints:
  jbox: {type: free, between: [ground, box], at: [0, 0, 0]}
  jball: {type: free, between: [ground, ball], at: [2, 0, 0]}
  jdrum: {type: free, between: [ground, drum], at: [4, 0, 0]}
  jpill: {type: free, between: [ground, pill], at: [6, 0, 0]}
  jegg: {type: free, between: [ground, egg], at: [8, 0, 0]}
  jcrate: {type: free, between: [ground, crate], at: [6, 0, 2]}
forces:
  pbox: {type: wrench, body: box, point: [0, 0, 0], force: [0, 0, 1]}
  pball: {type: wrench, body: ball, point: [0, 0, 0], force: [0, 0, 2]}
  pdrum: {type: wrench, body: drum, point: [0, 0, 0], force: [0, 0, 3]}
  pegg: {type: wrench, body: egg, point: [0, 0, 0], force: [0, 0, 4]}
  pcrate: {type: wrench, body: crate, point: [6, 0, 2], force: [0, 0, 21.6]}  # it has 21.6 kg
"""


@unittest.skipUnless(chromium(), "no chromium")
class Browser(unittest.TestCase):
    """One browser run; each test checks a part of its observations."""

    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            def path(name):
                return os.path.join(folder, name)

            model = os.path.join(MODELS, "four_bar.yaml")
            linkwork("run", model, "--duration", "2", "-o", path("motion.h5"), "-o", path("motion.csv"), "-q")
            linkwork("modes", os.path.join(MODELS, "wishbone_axle.yaml"), "-o", path("modes.html"), "-q")
            linkwork("view", path("motion.h5"), "-o", path("motion.html"), "-q")
            linkwork("view", model, "-o", path("still.html"), "-q")
            with open(path("small.yaml"), "w", encoding="utf-8") as file:
                file.write(SMALL)
            linkwork("view", path("small.yaml"), "-o", path("small.html"), "-q")
            with open(path("pendulum.yaml"), "w", encoding="utf-8") as file:
                file.write(PENDULUM)
            linkwork("run", path("pendulum.yaml"), "--duration", "250", "--sample", "0.005", "--sample-mode",
                     "interpolate", "-o", path("long.h5"), "-q")
            linkwork("view", path("long.h5"), "-o", path("long.html"), "-q")
            with open(path("loads.yaml"), "w", encoding="utf-8") as file:
                file.write(LOADS)
            linkwork("run", path("loads.yaml"), "--duration", "1", "-o", path("loads.csv"), "-o", path("loads.h5"), "-q")
            linkwork("view", path("loads.h5"), "-o", path("loads.html"), "-q")
            with open(path("loads.csv"), encoding="utf-8") as file:
                cls.loads = list(csv.DictReader(file))
            with open(path("shapes.yaml"), "w", encoding="utf-8") as file:
                file.write(SHAPES)
            linkwork("run", path("shapes.yaml"), "--duration", "1", "-o", path("shapes.csv"), "-o", path("shapes.h5"), "-q")
            linkwork("view", path("shapes.h5"), "-o", path("shapes.html"), "-q")
            with open(path("shapes.csv"), encoding="utf-8") as file:
                cls.shapes = list(csv.DictReader(file))
            for name, text, duration in (("thrown", THROWN, "0.8"), ("rests", THROWN, None), ("fall", FALL, "1")):
                with open(path(name + ".yaml"), "w", encoding="utf-8") as file:
                    file.write(text)
                source = path(name + (".h5" if duration else ".yaml"))
                if duration:
                    linkwork("run", path(name + ".yaml"), "--duration", duration, "-o", source, "-q")
                linkwork("view", source, "-o", path(name + ".html"), "-q")
            with open(path("large.yaml"), "w", encoding="utf-8") as file:
                file.write("linkwork: 1\ngenerate: {chain: {n: 1000}}\n")
            linkwork("run", path("large.yaml"), "--duration", "1", "--sample", "0.001", "--sample-mode",
                     "interpolate", "-o", path("large.h5"), "-q")
            linkwork("view", path("large.h5"), "-o", path("large.html"), "-q")
            with open(path("motion.csv"), encoding="utf-8") as file:
                rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
            cls.rows = rows
            bodies = [name[5:-2] for name in rows[0] if name.startswith("body.") and name.endswith(".x")]
            asked = [(row, body) for row in (rows[0], rows[1], rows[len(rows) // 3], rows[-1]) for body in bodies]
            cls.positions = [[float(row["body.%s.%s" % (body, axis)]) for axis in "xyz"] for row, body in asked]
            with open(path("asked.json"), "w", encoding="utf-8") as file:
                json.dump([(float(row["time"]), body) for row, body in asked], file)
            cls.moved = cls.make_joints(path, rows)
            cls.lighter = cls.make_second(path, model)
            with open(path("elements.yaml"), "w", encoding="utf-8") as file:
                file.write(ELEMENTS)
            linkwork("run", path("elements.yaml"), "--duration", "1", "--sample", "0.01", "--level", "force", "-o",
                     path("elements.h5"), "-o", path("elements.csv"), "-q")
            linkwork("view", path("elements.h5"), "-o", path("elements.html"), "-q")
            with open(path("elements.csv"), encoding="utf-8") as file:
                cls.elements = list(csv.DictReader(file))
            sizes = {name: os.path.getsize(path(name + ".html")) for name in ("motion", "still", "large")}
            done = run("node", "browser.mjs", chromium(), folder, cwd=WORK)
            if done.returncode:
                raise AssertionError(done.stderr)
            cls.seen = json.loads(done.stdout)
        for name, size in sizes.items():
            print("%s.html: %.2f MB, ready in %.1f s" % (name, size / 1e6, cls.seen[name]["ready"] / 1e3), file=sys.stderr)
        large = cls.seen["large"]
        print("large.html: the first picture after %.1f s, then %.1f a second" %
              (large["first"] / 1e3, large["per_second"]), file=sys.stderr)

    @staticmethod
    def make_joints(path, rows):
        """Rows of results to which the sliders of the models' pages move: {page: row}."""
        def value(row, slider):
            """Of a coordinate, or of a component of the rotation vector of a ball: 'B rotation x'."""
            joint, *axis = slider.split(" ")
            if "rotation" not in axis:
                return float(row["joint.%s.%s" % (joint, axis[0] if axis else "q0")])
            w, *v = (float(row["joint.%s.q%s" % (joint, part)]) for part in "wxyz")
            return 2 * math.atan2(math.hypot(*v), w) / math.hypot(*v) * v["xyz".index(axis[1])]

        found = {"still": rows[30]}
        asked = {"still": ["A"], "axle": ["heave", "roll", "right.lower", "left.lower"],
                 "ur5": ["shoulder_pan_joint", "shoulder_lift_joint", "elbow_joint", "wrist_1_joint", "wrist_2_joint",
                         "wrist_3_joint"],
                 "balls": ["B rotation x", "D"] + ["F " + axis for axis in ("x", "y", "z", "rotation x", "rotation y", "rotation z")]}
        with open(path("balls.yaml"), "w", encoding="utf-8") as file:
            file.write(BALLS)
        for name, model in (("axle", os.path.join(MODELS, "wishbone_axle.yaml")), ("ur5", os.path.join(MODELS, "ur5.urdf")),
                            ("balls", path("balls.yaml"))):
            linkwork("run", model, "--duration", "0.3", "--sample", "0.1", "-o", path(name + ".csv"), "-q")
            linkwork("view", model, "-o", path(name + ".html"), "-q")
            with open(path(name + ".csv"), encoding="utf-8") as file:
                found[name] = list(csv.DictReader(file))[-1]
        with open(path("many.yaml"), "w", encoding="utf-8") as file:
            file.write("linkwork: 1\ngenerate: {ladder: {n: 1000, q: [0.2, 0.3, 0]}}\n")
        linkwork("view", path("many.yaml"), "-o", path("many.html"), "-q")
        with open(path("joints.json"), "w", encoding="utf-8") as file:
            json.dump({page: [(slider, value(found[page], slider)) for slider in sliders]
                       for page, sliders in asked.items()}, file)
        return found

    @staticmethod
    def make_second(path, model):
        """Rows of the same mechanism with a lighter coupler, longer and with other rows; two.html compares them."""
        with open(model, encoding="utf-8") as file:
            text = file.read()
        with open(path("light.yaml"), "w", encoding="utf-8") as file:
            file.write(text.replace("{mass: 1.2,", "{mass: 0.4,"))
        linkwork("run", path("light.yaml"), "--duration", "2.5", "--sample", "0.013", "-o", path("light.h5"), "-o",
                 path("light.csv"), "-q")
        linkwork("view", path("motion.h5"), path("light.h5"), "-o", path("two.html"), "-q")
        with open(path("light.csv"), encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def after(self, key):
        return self.seen["motion"]["after"][key]

    def test_no_error_and_nothing_fetched(self):
        for name, page in self.seen.items():
            self.assertEqual((page["errors"], page["requests"]), ([], []), name)

    def test_keys_move_the_time(self):
        times = [float(row["time"]) for row in self.rows]
        for key, row, t in (("End", len(times) - 1, times[-1]), ("Home", 0, times[0]), ("ArrowRight", 1, times[1]),
                            ("ArrowLeft", 0, times[0])):
            self.assertEqual(self.after(key)["row"], row, key)
            self.assertAlmostEqual(self.after(key)["t"], t, 12, key)
        self.assertAlmostEqual(self.after("Shift+ArrowRight")["t"], 0.1 * times[-1], 12)
        self.assertTrue(self.after("End")["clock"].startswith("2.000 s"))

    def test_keys_change_the_view(self):
        start = self.seen["motion"]["start"]
        for key, what in (("d", "dark"), ("a", "axes"), ("r", "reactions"), ("g", "grid")):
            self.assertEqual(self.after(key)[what], not start[what], key)
        self.assertEqual(start["traced"], 0)
        self.assertGreater(self.after("t")["traced"], 0)
        self.assertEqual((start["following"], self.after("f")["following"]), (-1, 1))
        self.assertEqual((start["speed"], self.after("+")["speed"]), (1, 2))
        self.assertTrue(self.after("?")["keys"])

    def test_views_are_along_the_axes(self):
        up, views = [0, 1, 0], self.seen["views"]["from"]  # against gravity
        for key, name, right, above in (("1", "front", [1, 0, 0], up), ("2", "side", [0, 0, -1], up),
                                        ("3", "top", [1, 0, 0], [0, 0, -1]),
                                        ("4", "isometric", [0.5**0.5, 0, -0.5**0.5], [-6**-0.5, (2 / 3)**0.5, -6**-0.5])):
            self.assertEqual(views[key]["name"], name)
            for seen, true in ((views[key]["right"], right), (views[key]["above"], above)):
                self.assertLess(max(abs(a - b) for a, b in zip(seen, true)), 2e-5, name)

    def test_orthographic_views_have_no_perspective(self):
        near, middle, far = self.seen["views"]["perspective"]
        self.assertTrue(near < 0.95 * middle < 0.9 * far)
        flat = self.seen["views"]["flat"]
        self.assertLess(max(flat) - min(flat), 1e-12)
        self.assertAlmostEqual(flat[1], middle, 9)

    def test_bodies_are_hidden_and_faded(self):
        seen = self.seen["views"]
        body, (shown, hidden, faint, again) = seen["body"], seen["displays"]
        self.assertEqual((shown, again), ({"met": body, "display": "shown", "size": 1, "faint": 0},) * 2)
        self.assertEqual((hidden["size"], hidden["faint"], hidden["display"]), (0, 0, "hidden"))
        self.assertNotEqual(hidden["met"], body)
        self.assertEqual(faint, {"met": body, "display": "faint", "size": 0, "faint": 1})
        self.assertLess(seen["scene"][1], 0.95 * seen["scene"][0])
        self.assertEqual(seen["scene"][3], seen["scene"][0])
        self.assertEqual(seen["hidden"]["display"], "hidden")  # by a key, below the mouse

    def test_speeds_go_down_to_a_thousandth(self):
        speeds = self.seen["views"]["speeds"]
        self.assertEqual((speeds[0], speeds[-1]), (0.001, 0.2))  # the last: two seconds in ten
        self.assertEqual(self.seen["views"]["whole"], [0.2, 0.25, 0.1, 0.05])

    def test_a_picture_and_a_video_are_saved(self):
        seen = self.seen["views"]
        self.assertEqual(seen["picture"]["type"], "image/png")
        self.assertTrue(seen["picture"]["same"] and seen["picture"]["size"] > 5000)
        self.assertEqual(seen["files"][0], "motion.png")
        if seen["recorder"]:
            self.assertEqual((seen["video"]["type"], seen["video"]["head"]), ("video/webm", [0x1a, 0x45, 0xdf, 0xa3]))  # EBML
            self.assertGreater(seen["video"]["size"], 3000)
            self.assertGreater(seen["video"]["width"], 600)
            # played to its end: the two seconds of the motion, in pictures that move
            self.assertGreater(seen["video"]["seconds"], 1.9)
            self.assertGreater(seen["video"]["pictures"], 5)
            self.assertGreater(seen["video"]["different"], 3)
            self.assertEqual(seen["files"], 3 * ["motion.png"] + ["motion.webm"])

    def test_a_picture_and_a_video_have_the_numbers_of_the_page(self):
        numbers, none, *video = self.seen["views"]["written"]
        for seen in (numbers, none, *video):
            parts = {part["name"]: part for part in seen["parts"]}
            self.assertRegex(parts["scales"]["text"], r"^grid 0\.2 m\nlongest arrow [0-9.]+ N$")
            self.assertIn("time", parts)
            self.assertIn("axes", parts)
            # text of the page and of the canvas differ at the edges of letters
            for part in seen["parts"]:
                self.assertGreater(part["ink"], 50, part)
                self.assertLess(part["off"], 0.4, part)
        names = [part["name"] for part in numbers["parts"]]
        self.assertGreaterEqual(names.count("number"), 3)
        self.assertEqual([part["text"] for part in numbers["parts"] if part["name"] == "time"], ["0.620 s of 2.000"])
        self.assertEqual(numbers["outside"], 0)
        self.assertEqual((none["outside"], sorted(part["name"] for part in none["parts"])), (0, ["axes", "scales", "time"]))
        if self.seen["views"]["recorder"]:
            self.assertEqual([part["text"] for part in video[0]["parts"] if part["name"] == "time"], ["0.000 s of 2.000"])
            self.assertGreaterEqual([part["name"] for part in video[0]["parts"]].count("number"), 2)

    def test_sliders_move_joints_and_close_loops(self):
        # poses are those of simulations at the same coordinates, which have position errors of 1e-9 m
        for page, row in self.moved.items():
            seen = self.seen["joints"][page]
            self.assertLess(max(seen["gaps"]), 1e-11, page)
            self.assertEqual((seen["cut"], seen["zeros"]), ([], None), page)
            farthest = 0
            for body, position in seen["positions"].items():
                if body == "ground":
                    continue
                true = [float(row["body.%s.%s" % (body, axis)]) for axis in "xyz"]
                for a, b, drawn in zip(position, true, seen["shown"][body]):
                    self.assertLess(abs(a - b), 1e-8, "%s %s" % (page, body))
                    self.assertLess(abs(a - drawn), 1e-6)
                    farthest = max(farthest, abs(b))
                w, x, y, z = (float(row["body.%s.q%s" % (body, part)]) for part in "wxyz")
                for k, true in ((0, 1 - 2 * (y * y + z * z)), (3, 2 * (x * y + w * z)), (7, 2 * (y * z + w * x)), (8, 1 - 2 * (x * x + y * y))):
                    self.assertLess(abs(seen["rotations"][body][k] - true), 1e-8, "%s %s" % (page, body))
            self.assertGreater(farthest, 0.3)
        self.assertEqual((self.seen["joints"]["still"]["rows"], self.seen["joints"]["ur5"]["rows"]), (6, 0))
        self.assertEqual(self.seen["joints"]["many"], {"text": "Too many loops to move the joints here.", "errors": []})
        coordinates = self.seen["joints"]["still"]["coordinates"]  # of the others too
        for joint in "BCD":
            self.assertLess(abs(coordinates[joint] - float(self.moved["still"]["joint.%s.q0" % joint])), 1e-8)

    def test_modes_are_shown_one_at_a_time(self):
        seen = self.seen["modes"]
        self.assertTrue(seen["playing"] and seen["still"] and seen["sliders"])
        self.assertEqual([name.split(":")[0] for name in seen["names"]], ["1", "2", "3", "4"])
        self.assertEqual((seen["value"], seen["clock"]), ("1", "phase 0\u00b0"))
        for mode in seen["of"]:
            begin, quarter, half, end = mode["places"]
            self.assertEqual(begin, end)
            self.assertGreater(math.dist(begin, half) + math.dist(begin, quarter), 1e-3)
            self.assertEqual((mode["before"], mode["after"]), (0, 0))  # the clock stays in the mode

    def test_spherical_and_free_joints_have_sliders(self):
        seen, row = self.seen["joints"]["balls"], self.moved["balls"]
        self.assertEqual([name.split(":")[0] for name in seen["outputs"]],
                         ["A"] + ["%s rotation %s" % (j, axis) for j in "BC" for axis in "xyz"] + ["D"] +
                         ["F " + axis for axis in "xyz"] + ["F rotation " + axis for axis in "xyz"])
        for joint in "AD":
            self.assertLess(abs(seen["coordinates"][joint] - float(row["joint.%s.q0" % joint])), 1e-8)
        angle = seen["coordinates"]["F rotation x"]
        self.assertGreater(abs(angle), 0.2)
        self.assertIn("F rotation x: %.1f\u00b0" % math.degrees(angle), seen["outputs"])
        self.assertIn("F z: %.4g m" % float(row["joint.F.z"]), seen["outputs"])

    def test_sliders_stop_where_loops_do_not_close(self):
        seen = self.seen["joints"]["reach"]
        self.assertEqual(seen["name"], "D")
        self.assertEqual(seen["reached"], seen["at"])
        self.assertLess(seen["gap"], 1e-11)
        # a rocker of 1 m at (1.3, 0): farthest where crank and coupler (0.5 m, 1.2 m) are in line, 1.7 m or 0.7 m
        start = math.atan2(0.99997097366945, 1.3076191744022879 - 1.3)
        ends = [math.pi - math.acos((1.3**2 + 1 - far**2) / 2 / 1.3) - start for far in (0.7, 1.7)]
        self.assertLess(min(abs(seen["at"] - end) for end in ends), 0.02)
        self.assertEqual(seen["reset"], [0, 0, 0, 0])

    def test_two_results_in_one_page(self):
        seen, at = self.seen["two"], 0.52
        rows = [next(row for row in rows if abs(float(row["time"]) - at) < 1e-9) for rows in (self.rows, self.lighter)]
        apart = []
        for body in ("crank", "coupler", "rocker"):
            true = [[float(row["body.%s.%s" % (body, axis)]) for axis in "xyz"] for row in rows]
            for shown, position in zip((seen["first"][body], seen["second"][body]), true):
                self.assertLess(max(abs(a - b) for a, b in zip(shown, position)), 1e-6)
            apart.append(math.dist(*true))
        self.assertGreater(max(apart), 1e-3)
        self.assertLess(abs(seen["apart"] - max(apart)), 1e-6)
        self.assertIn("largest distance of the two [m]", [name for name, _ in seen["shown"]])
        self.assertTrue(seen["about"].startswith("compared with light.h5"))
        self.assertEqual(seen["curves"][1:], [len(self.rows), len(self.lighter)])
        self.assertGreater(seen["both"], 1.1 * seen["one"])
        self.assertEqual(seen["last"]["t"], 2.5)  # the clock is that of the longer one

    def test_forces_of_springs_and_bushings_are_arrows_with_numbers(self):
        row = next(row for row in self.elements if float(row["time"]) == 0.5)
        seen = self.seen["elements"]["at"]

        def of(name, parts):
            return [float(row["%s%s" % (name, part)]) for part in parts]

        def rotated(q, v):
            w, axis = q[0], q[1:]
            t = [2 * (axis[(k + 1) % 3] * v[(k + 2) % 3] - axis[(k + 2) % 3] * v[(k + 1) % 3]) for k in range(3)]
            return [v[k] + w * t[k] + axis[(k + 1) % 3] * t[(k + 2) % 3] - axis[(k + 2) % 3] * t[(k + 1) % 3]
                    for k in range(3)]

        arm = of("body.arm.q", "wxyz")
        forces = {"strut": of("spring.strut.f", "xyz"), "bush": rotated(arm, of("bushing.bush.f", "xyz"))}
        middle = of("body.link.", "xyz")
        roots = {"strut": of("body.slide.", "xyz"),
                 "bush": [m + d for m, d in zip(middle, rotated(of("body.link.q", "wxyz"), [-0.4, 0, 0]))]}
        self.assertEqual({arrow["name"] for arrow in seen["arrows"]}, set(forces))
        lengths = {}
        for arrow in seen["arrows"]:
            force, shaft = forces[arrow["name"]], arrow["shaft"]
            size, lengths[arrow["name"]] = math.hypot(*force), math.hypot(*shaft)
            for k in range(3):
                self.assertLess(abs(arrow["root"][k] - roots[arrow["name"]][k]), 1e-3)
                self.assertLess(abs(shaft[k] / lengths[arrow["name"]] - force[k] / size), 1e-3)
        ratio = math.hypot(*forces["strut"]) / math.hypot(*forces["bush"])
        self.assertLess(abs(lengths["strut"] / lengths["bush"] - ratio), 1e-3 * ratio)
        self.assertEqual(seen["labels"], ["%.3g N" % math.hypot(*forces[name]) for name in ("strut", "bush")])
        self.assertIn("longest arrow", seen["readout"])
        self.assertEqual(len(self.seen["elements"]["reactions"]), 4)  # and those of two joints
        self.assertEqual(self.seen["elements"]["together"], 1)  # at one place the largest
        self.assertEqual(self.seen["elements"]["without"], [])

    def test_drives_and_bushings_are_drawn(self):
        seen = self.seen["elements"]["at"]
        self.assertEqual(seen["drives"], [[{"kind": "drive", "axis": 0, "angle": True}],
                                          [{"kind": "spring", "axis": 0, "angle": False}]])
        self.assertEqual([(b["name"], b["axis"], b["body1"], b["body2"]) for b in seen["bushings"]], [("bush", 1, 1, 2)])
        self.assertEqual(sorted(seen["signs"]), ["arm", "ground", "ground", "ground", "link"])
        self.assertGreater(self.seen["elements"]["painted"][0], 1.02 * self.seen["elements"]["painted"][1])

    def test_ropes_go_with_their_bodies(self):
        row = next(row for row in self.elements if float(row["time"]) == 0.5)
        (pieces,) = self.seen["elements"]["at"]["ropes"]
        arm, slide = ([float(row["body.%s.%s" % (body, k)]) for k in "xyz"] for body in ("arm", "slide"))
        for k in range(3):
            self.assertLess(abs(pieces[0][0][k] - 2 * arm[k]), 1e-3)  # its end: the arm is fixed to the origin
            self.assertLess(abs(pieces[-1][1][k] - slide[k]), 1e-3)
        for (_, at), (following, _) in zip(pieces, pieces[1:]):
            self.assertLess(math.dist(at, following), 1e-4)
        self.assertEqual(sum(abs(math.hypot(at[0] - 0.64, at[2] + 0.5) - 0.1) < 1e-3 for _, at in pieces), len(pieces) - 1)

    def test_keys_wait_for_the_list_of_keys_alone(self):
        times = [float(row["time"]) for row in self.rows]
        self.assertEqual(self.seen["motion"]["closed"], [self.after("?")["t"], times[0]])
        self.assertGreater(self.after("?")["t"], times[0])
        self.assertLess(self.seen["motion"]["behind"], times[-1])  # nor where the mouse was used in the list

    def test_animation_goes_on_and_stops(self):
        seen = self.seen["motion"]
        self.assertTrue(seen["playing"]["playing"])
        self.assertGreater(seen["playing"]["t"], 0)
        self.assertFalse(seen["paused"]["playing"])
        self.assertEqual(seen["paused"]["t"], seen["later"]["t"])

    def test_bodies_have_the_positions_of_the_result(self):
        self.assertEqual(len(self.seen["motion"]["positions"]), len(self.positions))
        self.assertGreater(max(abs(a - b) for a, b in zip(self.positions[0], self.positions[-3])), 0.1)  # they move
        for shown, true in zip(self.seen["motion"]["positions"], self.positions):
            for a, b in zip(shown, true):
                # single precision, and the time of a row as text
                self.assertLess(abs(a - b), 4 * 2**-24 * max(1, abs(b)))

    def test_columns_come_back_bit_for_bit(self):
        seen = self.seen["motion"]["columns"]
        self.assertEqual(seen["sys.E"], [float(row["sys.E"]) for row in self.rows])
        for name in ("joint.A.q0", "body.rocker.vx"):
            single = [struct.unpack("f", struct.pack("f", float(row[name])))[0] for row in self.rows]
            self.assertEqual(seen[name], single, name)

    def test_energy_and_residuals_are_those_of_the_row(self):
        last, first = self.rows[-1], self.rows[0]
        shown = dict(self.seen["motion"]["checks"])
        self.assertEqual(list(shown), ["energy E [J]", "drift of E \u2212 Wnc [J]", "position residual", "velocity residual",
                                       "acceleration residual"])
        for label, column in (("energy E [J]", "sys.E"), ("position residual", "sys.cpos"), ("velocity residual", "sys.cvel"),
                              ("acceleration residual", "sys.cacc")):
            value = float(last[column])
            self.assertAlmostEqual(float(shown[label]), value, delta=1e-3 * abs(value))
        drift = [float(row["sys.E"]) - float(row["sys.Wnc"]) for row in (first, last)]
        self.assertAlmostEqual(float(shown["drift of E \u2212 Wnc [J]"]), drift[1] - drift[0], delta=1e-3 * abs(drift[1] - drift[0]))

    def test_axes_of_the_corner_point_as_the_scene_does(self):
        for shown, true in self.seen["motion"]["triad"]:
            across = shown[0] * true[1] - shown[1] * true[0]
            self.assertLess(abs(across), 1e-2 * math.hypot(*shown) * math.hypot(*true))
            self.assertGreater(shown[0] * true[0] + shown[1] * true[1], 0)

    def test_scales_and_names_are_shown(self):
        seen = self.seen["motion"]
        self.assertEqual(seen["hover"], "crank")
        self.assertRegex(seen["readout"], r"^grid [\d.]+ m\nlongest arrow [\d.]+ N$")
        self.assertEqual(seen["nameless"], [])

    def test_a_small_window_has_the_panel_below(self):
        small = self.seen["motion"]["small"]
        self.assertLess(abs(small["side"] - small["stage"]), 1)
        self.assertEqual(small["width"], 480)
        self.assertGreater(small["height"], 150)
        self.assertLess(small["foot"], 801)

    def test_followed_body_stays_in_the_middle(self):
        self.assertLess(self.seen["motion"]["centred"], 1e-6)

    def test_scene_and_plots_are_drawn(self):
        for name in ("motion", "still"):
            self.assertGreater(self.seen[name]["painted"]["scene"], 5000, name)
        plots = self.seen["motion"]["painted"]["plots"]
        self.assertEqual(len(plots), self.seen["motion"]["start"]["plots"])
        self.assertGreater(len(plots), 2)
        self.assertGreater(min(plots), 500)

    def test_columns_are_filtered_added_removed(self):
        seen = self.seen["motion"]
        self.assertGreater(len(seen["filtered"]), 2)
        for name in seen["filtered"]:
            self.assertIn("joint", name)
            self.assertIn("q0", name)
        self.assertEqual(seen["added"]["plots"], seen["start"]["plots"] + 1)
        self.assertEqual(len(seen["added"]["painted"]), seen["added"]["plots"])
        self.assertGreater(min(seen["added"]["painted"]), 500)
        self.assertEqual(seen["removed"]["plots"], seen["start"]["plots"])

    def test_scrubbing(self):
        self.assertAlmostEqual(self.seen["motion"]["scrubbed"], 1, 9)

    def test_springs_dampers_and_forces_go_with_their_points(self):
        seen = self.seen["loads"]

        def at(row, body):
            return [float(row["body.%s.%s" % (body, axis)]) for axis in "xyz"]

        def near(point, expected):
            for a, b in zip(point, expected):
                self.assertAlmostEqual(a, b, 5)

        self.assertGreater(abs(at(self.loads[0], "b")[2] - at(self.loads[-1], "b")[2]), 0.05)  # it moves
        for ends, row in ((seen["start"], self.loads[0]), (seen["end"], self.loads[-1])):
            (coil,), (rod, cylinder), (line,) = ends
            near(coil[0], [0, 0, 0])
            near(coil[1], at(row, "a"))
            near(rod[0], at(row, "a"))
            near(rod[1], at(row, "b"))
            near(cylinder[0], at(row, "a"))
            near(cylinder[1], [(p + q) / 2 for p, q in zip(at(row, "a"), at(row, "b"))])
            near(line[0], at(row, "b"))
            near(line[1], [2, 0, -1])
        for (start, end), axis in zip(seen["arrows"], (2, 1)):  # a force along z, a torque about y
            near(start, at(self.loads[-1], "b"))
            for k in range(3):
                self.assertAlmostEqual(end[k] - start[k] if k != axis else 0, 0, 5)
            self.assertGreater(end[axis] - start[axis], 0.01)
        self.assertEqual(len(seen["arrows"]), 2)
        self.assertEqual(seen["shown"], [True, False])
        self.assertLess(seen["without"], seen["painted"])

    def test_every_shape_has_its_place_colour_and_name(self):
        seen = self.seen["shapes"]
        for bodies, row in ((seen["start"], self.shapes[0]), (seen["end"], self.shapes[-1])):
            self.assertEqual([body["name"] for body in bodies], ["box", "ball", "drum", "pill", "egg", "crate"])
            for i, body in enumerate(bodies):
                for axis, sent in zip("xyz", body["sent"]):  # what the graphics card gets
                    self.assertAlmostEqual(sent, float(row["body.%s.%s" % (body["name"], axis)]), 6)
                self.assertEqual(body["middle"], i + 1, body["name"])
                # next to the middle, the same way up and to the right: there are corners, or nothing
                self.assertEqual(body["corner"], i + 1 if body["name"] in ("box", "drum", "crate") else -1, body["name"])
            (box, ball, drum, pill, egg, crate) = (body["color"] for body in bodies)
            for color, channel in ((box, 0), (ball, 1), (drum, 2), (crate, 2)):
                self.assertGreater(color[channel], 2 * max(color[k] for k in range(3) if k != channel))
            self.assertGreater(min(pill[:2]) - pill[2], 40)  # yellow; half of it is the page behind, where it is blue enough
            self.assertGreater(pill[2], 80)
            self.assertGreater(max(egg[:3]) - min(egg[:3]), 40)  # a colour of the palette, neither page nor grey
        self.assertGreater(abs(float(self.shapes[-1]["body.egg.z"])), 1)  # they moved
        self.assertEqual([float(self.shapes[0]["body.crate.%s" % axis]) for axis in "xyz"], [6, 0, 2])
        self.assertAlmostEqual(float(self.shapes[-1]["body.crate.z"]), 2.5, 6)
        self.assertLess(seen["calls"], 6)  # two of shapes, opaque or not, and of marks

    def test_a_dense_screen_is_coarser_where_pictures_take_long(self):
        self.assertEqual(self.seen["dense"]["ratios"], [2, 1, 2])  # the page came to each, or the browser gave up

    def test_a_model_alone_does_not_play(self):
        self.assertFalse(self.seen["still"]["play"])
        self.assertFalse(self.seen["still"]["after"]["playing"])

    def test_a_lost_picture_comes_back(self):
        self.assertTrue(self.seen["still"]["restored"])

    def test_a_body_without_a_shape_is_as_large_as_marks_of_its_way(self):
        self.assertEqual(self.seen["thrown"]["readout"], "grid 0.5 m")  # of 2.5 m
        self.assertEqual(self.seen["rests"]["readout"], "grid 0.1 m")  # of one metre, for want of anything
        for name in ("thrown", "rests"):
            seen = self.seen[name]
            self.assertEqual(seen["met"], [1, 1], name)  # drawn where it is, at the start and the end
            for point in seen["ends"]:
                self.assertLess(max(abs(point[0]), abs(point[1])), 1, name)  # all its way in one picture
            # as of any other body a ball of 3/220 of the scene, seen from no nearer than a quarter of it: some pixels
            self.assertGreater(seen["radius"], 2, name)
            self.assertLess(seen["radius"], 100, name)

    def test_forces_that_are_round_off_are_not_drawn(self):
        seen = self.seen["fall"]
        self.assertLess(seen["largest"], 1e-9 * 3 * 9.81)
        self.assertLess(seen["arrows"], 1e-6)  # of the scene: nothing has a length of nothing
        self.assertTrue(seen["readout"].endswith("\nno forces in joints"), seen["readout"])
        # those of the four-bar are its largest, over the whole motion, which is more than a body's weight
        self.assertGreater(self.seen["motion"]["longest"], 0.1)

    def test_small_scales_are_shown(self):
        self.assertRegex(self.seen["small"]["readout"], r"^grid [125]e-\d m$")

    def test_very_many_rows_are_short_lines_that_reach_as_far(self):
        seen = self.seen["long"]
        self.assertEqual(seen["rows"], 50001)
        self.assertGreater(len(seen["plots"]), 1)
        for plot in seen["plots"]:
            # for each pixel: to it, to its minimum, its maximum, its last value
            self.assertLess(plot["count"], 5 * seen["width"])
            # the range of the values and 6 % of it above and below (plots.js)
            self.assertAlmostEqual(plot["low"], plot["top"] + plot["height"] * 0.06 / 1.12, 3)
            self.assertAlmostEqual(plot["high"], plot["top"] + plot["height"] * 1.06 / 1.12, 3)
        self.assertEqual(seen["traced"], [{"start": 30001, "count": 20000}])

    def test_a_thousand_bodies_and_rows(self):
        seen = self.seen["large"]
        self.assertLess(seen["ready"], 60e3)  # seconds are typical; this is a bound, not a promise
        self.assertGreater(seen["frames"], 1)
        self.assertGreater(seen["after"]["t"], 0)
        self.assertEqual(seen["after"]["clock"].split()[0], "%.3f" % seen["after"]["t"])  # shown at the latest as it stops
        self.assertLess(seen["calls"], 10)  # of drawing, not one for each body

    def test_a_thousand_bodies_are_lines_from_far_and_have_shapes_from_near(self):
        shots = self.seen["large"]["shots"]  # from the usual distance to 0.003 of it
        self.assertEqual([shot["far"] for shot in shots], [True, True, True, False])
        self.assertEqual([shot["near"] for shot in shots], [False, False, False, True])
        for shot in shots[1:]:  # from farther several share a pixel
            self.assertEqual(shot["met"], [498, 499, 500, 501, 502])


if __name__ == "__main__":
    for tool in ("node", "npm"):
        if not shutil.which(tool):
            missing("no %s" % tool)
    install()
    if not chromium() and os.environ.get("CI"):
        missing("no chromium")
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
