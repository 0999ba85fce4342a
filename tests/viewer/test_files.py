#!/usr/bin/env python3
"""Files of `linkwork view`: the page's data and glTF 2.0 hold together and say what the result says.

usage: test_files.py LINKWORK MODELS [unittest arguments]
"""
import base64
import csv
import json
import math
import os
import re
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

PROGRAM, MODELS = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
FLOAT, SHORT, LONG = 5126, 5123, 5125
LETTER = {FLOAT: "f", SHORT: "H", LONG: "I"}
WIDTH = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}
SINGLE = 2**-22  # single precision, a few roundings


def unpack(text, rows, series, letter):
    """Numbers of src/view/pack.h, row by row."""
    width, n = struct.calcsize(letter), rows * series
    planes = zlib.decompress(base64.b64decode(text, validate=True), -15)
    assert len(planes) == n * width
    codes = [sum(planes[k * n + i] << (8 * k) for k in range(width)) for i in range(n)]
    for s in range(series if width < 8 else 0):
        before = x = 0
        for i in range(s * rows, (s + 1) * rows):
            before, x = x, ((codes[i] >> 1 ^ -(codes[i] & 1)) + 2 * x - before) % (1 << 8 * width)
            codes[i] = x
    raw = b"".join(codes[s * rows + r].to_bytes(width, "little") for r in range(rows) for s in range(series))
    return struct.unpack("<%d%s" % (n, letter), raw)


def linkwork(*arguments):
    return subprocess.run((PROGRAM, *arguments), capture_output=True, text=True, timeout=300, check=False)


class Gltf:
    """A file taken apart; what does not hold together is an AssertionError."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.root = json.load(file)
        uri = self.root["buffers"][0]["uri"]
        self.bytes = base64.b64decode(uri[uri.index(",") + 1:], validate=True)
        assert len(self.bytes) == self.root["buffers"][0]["byteLength"]

    def numbers(self, index):
        accessor = self.root["accessors"][index]
        view = self.root["bufferViews"][accessor["bufferView"]]
        width, letter = WIDTH[accessor["type"]], LETTER[accessor["componentType"]]
        size = accessor["count"] * width * struct.calcsize(letter)
        assert size == view["byteLength"] and view["byteOffset"] + size <= len(self.bytes)
        assert view["byteOffset"] % struct.calcsize(letter) == 0
        flat = struct.unpack_from("<%d%s" % (accessor["count"] * width, letter), self.bytes, view["byteOffset"])
        rows = [flat[i:i + width] for i in range(0, len(flat), width)]
        for k, bound in ((min, "min"), (max, "max")):
            if bound in accessor:
                true = [k(row[c] for row in rows) for c in range(width)]
                assert all(abs(a - b) <= SINGLE * abs(b) for a, b in zip(accessor[bound], true)), (bound, true)
        return rows


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def view(self, source, name, *more):
        done = linkwork("view", source, "-o", self.path(name), "-q", *more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.path(name)

    def simulate(self, model):
        done = linkwork("run", os.path.join(MODELS, model), "--duration", "1", "-o", self.path("run.h5"),
                        "-o", self.path("run.csv"), "-q")
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("run.csv"), encoding="utf-8") as file:
            rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
        return [{k: float(v) for k, v in row.items()} for row in rows]

    def meshes(self, gltf):
        used = 0
        for mesh in gltf.root.get("meshes", []):
            for piece in mesh["primitives"]:
                points = gltf.numbers(piece["attributes"]["POSITION"])
                normals = gltf.numbers(piece["attributes"]["NORMAL"])
                index = [i for i, in gltf.numbers(piece["indices"])]
                self.assertEqual(len(points), len(normals))
                self.assertEqual(len(index) % 3, 0)
                self.assertLess(max(index), len(points))
                self.assertLess(max(abs(math.hypot(*n) - 1) for n in normals), 1e-6)
                for a, b, c in zip(index[::3], index[1::3], index[2::3]):  # seen from outside: corners go left
                    p, q, r = points[a], points[b], points[c]
                    u, v = [y - x for x, y in zip(p, q)], [y - x for x, y in zip(p, r)]
                    area = (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])
                    n = [sum(normals[i][k] for i in (a, b, c)) for k in range(3)]
                    self.assertGreaterEqual(sum(x * y for x, y in zip(area, n)), -1e-9)
                used += 1
        return used

    def test_gltf_says_what_the_result_says(self):
        for model, shapes in (("crane.yaml", True), ("four_bar.yaml", False)):
            with self.subTest(model):
                rows = self.simulate(model)
                gltf = Gltf(self.view(self.path("run.h5"), "run.gltf"))
                self.assertEqual(gltf.root["asset"]["version"], "2.0")
                self.assertGreater(self.meshes(gltf), 0)
                nodes, animation = gltf.root["nodes"], gltf.root["animations"][0]
                bodies = 0
                for channel in animation["channels"]:
                    node = nodes[channel["target"]["node"]]
                    sampler = animation["samplers"][channel["sampler"]]
                    times = [t for t, in gltf.numbers(sampler["input"])]
                    self.assertEqual(len(times), len(rows))
                    self.assertTrue(all(a < b for a, b in zip(times, times[1:])))
                    values = gltf.numbers(sampler["output"])
                    what = channel["target"]["path"]
                    names = ["x", "y", "z"] if what == "translation" else ["qx", "qy", "qz", "qw"]
                    for value, row in zip(values, rows):
                        true = [row["body.%s.%s" % (node["name"], name)] for name in names]
                        if what == "rotation" and sum(a * b for a, b in zip(value, true)) < 0:
                            true = [-x for x in true]
                        for a, b in zip(value, true):
                            self.assertLess(abs(a - b), SINGLE * max(1, abs(b)))
                    for a, b in zip(node[what], values[0]):
                        self.assertLess(abs(a - b), SINGLE * max(1, abs(b)))
                    bodies += what == "translation"
                self.assertEqual(bodies, sum(name.startswith("body.") and name.endswith(".qw") for name in rows[0]))
                # every node is attached to exactly one other, from the scene's on
                hung = [child for node in nodes for child in node.get("children", [])]
                self.assertEqual(sorted(hung + gltf.root["scenes"][0]["nodes"]), list(range(len(nodes))))

    def test_gltf_of_a_model_alone_has_no_animation(self):
        gltf = Gltf(self.view(os.path.join(MODELS, "ur5.urdf"), "ur5.gltf"))
        self.assertNotIn("animations", gltf.root)
        self.assertGreater(self.meshes(gltf), 0)

    def test_a_mesh_is_stored_once(self):
        with open(self.path("wedge.obj"), "w", encoding="utf-8") as file:
            file.write("v 1 1 1\nv 3 1 1\nv 1 2 1\nv 1 1 5\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
        with open(self.path("wedges.yaml"), "w", encoding="utf-8") as file:
            file.write("""linkwork: 1
bodies:
  a: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], shape: [{mesh: wedge.obj, position: [0, 0, 0]}, {mesh: wedge.obj, color: [1, 0, 0]}]}
  b: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], shape: {mesh: wedge.obj, scale: [-2, 1, 1], color: [1, 0, 0]}}
joints:
  j: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 0, 1]}
  k: {type: revolute, between: [a, b], at: [0, 0, 0], axis: [0, 0, 1]}
""")
        gltf = Gltf(self.view(self.path("wedges.yaml"), "wedges.gltf"))
        self.assertEqual(self.meshes(gltf), 2)  # two colours of one surface
        used = {tuple(sorted(m["primitives"][0]["attributes"].items())) for m in gltf.root["meshes"]}
        self.assertEqual(len(used), 1)
        self.assertEqual(len(gltf.root["accessors"]), 3)
        self.assertEqual(gltf.root["accessors"][2]["componentType"], 5125)
        parts = [n for n in gltf.root["nodes"] if "mesh" in n]
        self.assertEqual(len(parts), 3)
        self.assertEqual([n.get("scale") for n in parts], [None, None, [-2, 1, 1]])
        # vertices are about the middle of their box, (2, 1.5, 3), mirrored (-4, 1.5, 3)
        self.assertEqual([n["translation"] for n in parts], [[2, 1.5, 3], [2, 1.5, 3], [-4, 1.5, 3]])
        points = gltf.numbers(gltf.root["meshes"][0]["primitives"][0]["attributes"]["POSITION"])
        self.assertEqual({tuple(p) for p in points}, {(-1, -0.5, -2), (1, -0.5, -2), (-1, 0.5, -2), (-1, -0.5, 2)})
        with open(self.view(self.path("wedges.yaml"), "wedges.html"), encoding="utf-8") as file:
            found = re.findall(r'<script type="application/json" id="data">(.*?)</script>', file.read(), re.S)
        data = json.loads(found[0])
        self.assertIsNone(data["meshes"][0])
        self.assertEqual(len(data["meshes"]), 2)
        mesh = data["meshes"][1]
        self.assertEqual((mesh["vertices"], mesh["triangles"], mesh["half"]), (12, 4, [1, 0.5, 2]))
        self.assertEqual(unpack(mesh["position"], 12, 3, "f"), tuple(x for p in points for x in p))
        self.assertEqual(max(unpack(mesh["index"], 4, 3, "i")), 11)
        self.assertEqual([s["mesh"] for b in data["bodies"] for s in b["shapes"]], [1, 1, 1])

    def test_data_of_the_page(self):
        rows = self.simulate("four_bar.yaml")
        with open(self.view(self.path("run.h5"), "run.html"), encoding="utf-8") as file:
            text = file.read()
        found = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
        self.assertEqual(len(found), 1)
        self.assertNotRegex(text, r'(src|href)="(?!data:)')  # nothing to fetch
        data = json.loads(found[0])
        n = len(rows)
        self.assertEqual(data["rows"], n)
        self.assertEqual(unpack(data["time"], n, 1, "d"), tuple(row["time"] for row in rows))
        nbody = len(data["bodies"])
        place = unpack(data["position"], n, 3 * nbody, "f")
        turn = unpack(data["rotation"], n, 4 * nbody, "h")
        for i, row in enumerate(rows):
            for b, body in enumerate(data["bodies"]):
                if b == 0:
                    continue
                at = i * nbody + b
                for k, axis in enumerate("xyz"):
                    true = row["body.%s.%s" % (body["name"], axis)]
                    self.assertLess(abs(place[3 * at + k] - true), SINGLE * max(1, abs(true)))
                q = [x / 32767 for x in turn[4 * at:4 * at + 4]]
                true = [row["body.%s.%s" % (body["name"], part)] for part in ("qw", "qx", "qy", "qz")]
                self.assertGreater(abs(sum(a * b for a, b in zip(q, true))), 1 - 1e-4)
        energy = next(c for c in data["columns"] if c["name"] == "sys.E")
        self.assertTrue(energy["double"])
        self.assertEqual(unpack(energy["values"], n, 1, "d"), tuple(row["sys.E"] for row in rows))
        self.assertEqual({j["name"] for j in data["joints"] if j["closes_loop"]} | set("ABCD"), set("ABCD"))
        self.assertEqual(sum(j["closes_loop"] for j in data["joints"]), 1)

    def test_csv_needs_its_model(self):
        self.simulate("four_bar.yaml")
        done = linkwork("view", self.path("run.csv"), "-o", self.path("run.html"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("--model", done.stderr)
        self.assertFalse(os.path.exists(self.path("run.html")))
        self.view(self.path("run.csv"), "run.html", "--model", os.path.join(MODELS, "four_bar.yaml"))
        done = linkwork("view", self.path("run.csv"), "--model", os.path.join(MODELS, "crane.yaml"), "-o",
                        self.path("other.html"))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("body.", done.stderr)
        self.assertFalse(os.path.exists(self.path("other.html")))

    def test_two_files_in_one_page(self):
        with tempfile.TemporaryDirectory() as folder:
            model, result, page = (os.path.join(MODELS, "crane.yaml"), os.path.join(folder, "run.h5"),
                                   os.path.join(folder, "two.html"))
            self.assertEqual(linkwork("run", model, "--duration", "0.5", "-o", result, "-q").returncode, 0)
            for second, rows in ((result, 11), (model, 1)):
                done = linkwork("view", result, second, "-o", page)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                with open(page, encoding="utf-8") as file:
                    text = file.read()
                data = [json.loads(re.search(r'<script type="application/json" id="%s">(.*?)</script>' % name, text,
                                             re.S)[1]) for name in ("data", "second")]
                self.assertEqual([d["rows"] for d in data], [11, rows])
                self.assertEqual([d["title"] for d in data], ["run.h5", os.path.basename(second)])
                self.assertEqual(*[[b["name"] for b in d["bodies"]] for d in data])
            for arguments, message in (((result, model, model, "-o", page), "compares two; "),
                                       ((result, result, "-o", os.path.join(folder, "two.gltf")), "-o FILE.html")):
                done = linkwork("view", *arguments)
                self.assertEqual(done.returncode, 2)
                self.assertIn(message, done.stderr)

    def test_wrong_use_is_named(self):
        model = os.path.join(MODELS, "four_bar.yaml")
        for arguments, text in (((), "-o FILE.html"), (("-o", self.path("a.txt")), "-o FILE.html"),
                                (("-o", self.path("a.html"), "--model", model), "--model goes with a result")):
            done = linkwork("view", model, *arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(text, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
