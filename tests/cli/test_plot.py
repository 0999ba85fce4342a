#!/usr/bin/env python3
"""What `linkwork plot` promises: pictures that begin right and say what they show, messages.

usage: test_plot.py LINKWORK MODELS [unittest arguments]
"""
import csv
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as tree

PROGRAM, MODELS = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
PRESETS = ("overview", "joints", "positions", "energy", "residuals", "reactions", "phase")


class Plot(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        for name in ("crane.h5", "crane.csv", "again.csv"):
            cls.run_program("run", os.path.join(MODELS, "crane.yaml"), "--duration", "5", "-q",
                            "-o", name)
        cls.has_png = "\n  png " in cls.run_program("info").stdout

    @classmethod
    def run_program(cls, *arguments):
        return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=120,
                              check=False, cwd=cls.folder.name)

    def call(self, *arguments, code=0):
        done = self.run_program(*arguments)
        self.assertEqual(done.returncode, code, "%s\n%s" % (arguments, done.stderr))
        return done

    def labels(self, *arguments):
        """The labels of a picture; it is well-formed XML of the right kind."""
        self.call("plot", *arguments, "-o", "p.svg")
        root = tree.parse(os.path.join(self.folder.name, "p.svg")).getroot()
        self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
        return [e.text for e in root.iter("{http://www.w3.org/2000/svg}text")]

    def test_every_preset_of_both_formats(self):
        for result in ("crane.h5", "crane.csv"):
            for preset in PRESETS:
                labels = self.labels(result, "--preset", preset)
                self.assertIn("%s: %s" % (preset, result), labels)
                if preset != "phase":
                    self.assertIn("time [s]", labels)
        self.assertIn("sway.q0 [rad]", self.labels("crane.h5", "--preset", "phase"))

    def positions(self, result):
        self.call("convert", result, "-o", "positions.csv")
        with open(os.path.join(self.folder.name, "positions.csv"), encoding="utf-8") as file:
            table = list(csv.DictReader(file))
        names = [n for n in table[0] if n.startswith("body.") and n[-2:] in (".x", ".y", ".z")]
        return [[float(row[n]) for n in names] for row in table]

    def test_work_precision(self):
        """The error over what it cost, of results that have it; the same numbers in words."""
        model = os.path.join(MODELS, "cart_arm.yaml")
        names = []
        for formulation in ("hdca", "aba"):
            for tolerance in ("1e-4", "1e-7", "1e-11" if formulation == "hdca" else "1e-9"):
                names.append("%s-%s.h5" % (formulation, tolerance))
                self.call("run", model, "--duration", "2", "--sample", "0.2", "--formulation", formulation,
                          "--integrator", "dopri54", "--rtol", tolerance, "--atol", tolerance, "-q", "-o",
                          names[-1])
        preset = ("--preset", "work-precision")
        labels = self.labels(*names, *preset)
        for word in ("work-precision", "hdca, dopri54", "aba, dopri54", "evaluations", "wall time [s]"):
            self.assertIn(word, labels)
        rows = json.loads(self.call("plot", *names, *preset, "-o", "p.svg", "--json").stdout)["results"]
        self.assertEqual([r["name"] for r in rows if r["reference"]], ["hdca-1e-11.h5"])
        for a, b in ((rows[0], rows[1]), (rows[3], rows[4]), (rows[4], rows[5])):
            self.assertGreater(a["error"], 10 * b["error"])
            self.assertLess(a["evaluations"], b["evaluations"])
        self.assertGreater(rows[0]["wall"], 0)
        exact = self.positions("hdca-1e-11.h5")
        scale = max(abs(x) for row in exact for x in row)
        for row in rows: # as work_precision of the Python package defines it
            own = self.positions(row["name"])
            error = max(abs(x - y) for a, b in zip(own, exact) for x, y in zip(a, b)) / scale
            self.assertAlmostEqual(row["error"], error, delta=1e-12 * error)
        picked = json.loads(self.call("plot", *names, *preset, "--reference", names[1], "-o", "p.svg",
                                      "--json").stdout)["results"]
        self.assertEqual(picked[1]["error"], 0)
        # converted and copied results have it too, tables do not
        self.call("convert", names[0], "-o", "copy.h5")
        self.call("convert", names[0], "-o", "table.csv")
        self.call("run", model, "--duration", "1", "--sample", "0.2", "-q", "-o", "short.h5")
        self.call("plot", "copy.h5", *names[1:], *preset, "-o", "p.svg")
        for others, word in ((("table.csv",), "has no record of the cost"), (("short.h5",), "rows"),
                             ((), "at least two")):
            done = self.call("plot", names[0], *others, *preset, "-o", "p.svg", code=2)
            self.assertIn(word, done.stderr)
        self.call("run", os.path.join(MODELS, "four_bar.yaml"), "--duration", "2", "--sample", "0.2", "-q",
                  "-o", "other.h5")
        self.assertIn("another model", self.call("plot", names[0], "other.h5", *preset, "-o", "p.svg",
                                                 code=2).stderr)
        self.assertIn("not one of the results", self.call("plot", *names, *preset, "--reference", "nothing", "-o",
                                                       "p.svg", code=2).stderr)

    def test_columns_by_name_and_pattern(self):
        labels = self.labels("crane.h5", "--y", "body.load.x", "--y=body.*.z,sys.T", "--title", "A & B")
        for word in ("body.load.x", "body.jib.z", "sys.T", "A & B"):
            self.assertIn(word, labels)
        self.assertTrue(any("m, J" in t for t in labels if t))

    def test_momenta_of_joints(self):
        model = os.path.join(MODELS, "four_bar.yaml")
        self.call("run", model, "--duration", "0.5", "-q", "--formulation", "hdca", "--level", "momentum",
                  "-o", "momenta.h5")
        labels = self.labels("momenta.h5", "--y", "joint.*.p0", "--y", "joint.B.sf?", "--y", "body.crank.lz")
        for word in ("joint.*.p0", "sfx", "body.crank.lz"):
            self.assertIn(word, labels)
        self.assertTrue(any("N s" in t for t in labels if t))
        done = self.call("plot", "crane.h5", "--y", "body.load.px", "-o", "none.svg", code=2)
        self.assertIn("body.load.px", done.stderr)

    def test_results_over_each_other(self):
        labels = self.labels("crane.h5", "again.csv", "--y", "sys.T", "--theme", "dark")
        self.assertIn("crane", labels)
        self.assertIn("again", labels)
        labels = self.labels("crane.h5", "crane.csv", "--y", "sys.T")
        self.assertIn("crane.h5", labels)
        self.assertIn("crane.csv", labels)

    def test_the_mechanism_of_a_model_and_of_a_result(self):
        for operand in (os.path.join(MODELS, "crane.yaml"), "crane.h5"):
            labels = self.labels("--initial", operand)
            for word in ("jib", "slewing", "xz", "oblique"):
                self.assertIn(word, labels)
        self.assertIn("crane.h5 at t = 3 s: 4 bodies, 4 joints",
                      self.labels("--initial", "crane.h5", "--from", "3", "--view", "xy"))
        self.assertEqual(0, self.labels("--initial", os.path.join(MODELS, "four_bar.yaml"))
                         .count("oblique"))  # planar: one view
        self.labels("--initial", os.path.join(MODELS, "anymal_c.urdf"), "--base", "floating")

    def test_the_plan_of_a_model(self):
        model = os.path.join(MODELS, "four_bar.yaml")
        for kind in ("comb", "balanced", "mixed"):
            labels = self.labels("--plan", kind, model)
            self.assertIn(kind + " plan: ", labels[0])
            self.assertEqual(1, sum("the widest" in t for t in labels))
        for body in ("crank", "coupler", "rocker"):
            self.assertEqual(1, labels.count(body))
        printed = self.call("check", model, "--plan").stdout  # the same joins, levels, equations
        row = next(line.split() for line in printed.splitlines() if line.split()[:1] == ["balanced"])
        labels = self.labels("--plan", "balanced", model)
        self.assertIn("%s joins on %s levels, widest %s equations" % tuple(row[1:4]), labels[0])

    def test_a_png_has_its_size(self):
        if not self.has_png:
            done = self.call("plot", "crane.h5", "-o", "p.png", code=2)
            self.assertIn("libcairo2-dev", done.stderr)
            return
        self.call("plot", "crane.h5", "-o", "p.png", "--size", "640x480@2")
        with open(os.path.join(self.folder.name, "p.png"), "rb") as file:
            head = file.read(24)
        self.assertEqual(head[:8], b"\x89PNG\r\n\x1a\n")
        self.assertEqual(struct.unpack(">II", head[16:]), (1280, 960))

    @unittest.skipUnless(shutil.which("pdftotext"), "no pdftotext (poppler-utils)")
    def test_a_pdf_has_text(self):
        if not self.has_png:
            self.skipTest("this build has no cairo")
        for arguments, word in ((("crane.h5", "--preset", "energy"), "kinetic T"),
                                (("--initial", "crane.h5"), "trolley"),
                                (("--plan", "mixed", os.path.join(MODELS, "four_bar.yaml")), "coupler")):
            self.call("plot", *arguments, "-o", "p.pdf")
            text = subprocess.run(["pdftotext", os.path.join(self.folder.name, "p.pdf"), "-"], check=True,
                                  capture_output=True, text=True).stdout
            self.assertIn(word, text)

    def study(self):
        if os.path.exists(os.path.join(self.folder.name, "lhs.h5")):
            return
        model = os.path.join(MODELS, "cart_arm.yaml")
        words = ("sweep", model, "--duration", "0.5", "--sample", "0.05", "--watch", "joint.rail.q0,sys.T", "-q")
        self.call(*words, "--vary", "joint.rail.q0=0:500:3 mm".replace(":3 mm", " mm:3"), "--vary",
                  "body.cart.mass=2,4,6,8", "--table", "grid.csv", "--table", "grid.h5", "-o", "rows.h5", "-o", "rows.csv")
        self.call(*words, "--vary", "joint.rail.q0=0:500 mm", "--vary", "body.cart.mass=2:8", "--vary",
                  "gravity.z=-11:-8", "--design", "lhs:20", "--table", "lhs.h5")

    def rows_of(self, name):
        with open(os.path.join(self.folder.name, name), encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def marks(self, tag):
        root = tree.parse(os.path.join(self.folder.name, "p.svg")).getroot()
        return list(root.iter("{http://www.w3.org/2000/svg}" + tag))

    def test_the_table_of_a_study(self):
        self.study()
        labels = self.labels("grid.h5", "--x", "joint.rail.q0", "--by", "body.cart.mass", "--y", "sys.T.max")
        self.assertIn("joint.rail.q0 [m]", labels)
        self.assertIn("body.cart.mass = 2 kg", labels)
        self.assertIn("8 kg", labels)
        self.assertIn(" [J]", labels)
        labels = self.labels("grid.h5", "--x", "joint.rail.q0", "--by", "body.cart.mass", "--y", "joint.rail.q0.max",
                             "--units", "mm,deg")
        self.assertIn("joint.rail.q0 [mm]", labels)
        self.assertIn("200", labels)
        discs = len(self.marks("circle"))
        labels = self.labels("lhs.h5", "--x", "body.cart.mass", "--y", "sys.T.max", "--title", "scatter")
        self.assertIn("scatter", labels)
        self.assertEqual(len(self.marks("circle")), discs + 20)
        self.assertIn("joint.rail.q0.max", self.labels("lhs.h5"))  # the maxima over what varies first

    def test_a_heat_map_has_the_tiles_of_a_grid_or_points(self):
        self.study()
        labels = self.labels("grid.csv", "--x", "joint.rail.q0", "--y", "body.cart.mass", "--z", "sys.T.max")
        values = [float(r["sys.T.max"]) for r in self.rows_of("grid.csv")]
        self.assertIn("sys.T.max", labels)
        self.assertEqual(len(self.marks("circle")), 0)
        tiles, strips, value_at = self.colour_bar(len(values))
        # read as a reader does: the strip of the colour of a tile, and the number next to it
        self.assertAlmostEqual(value_at(strips[0][0]), min(values), delta=0.01 * max(values))
        self.assertAlmostEqual(value_at(strips[-1][1]), max(values), delta=0.01 * max(values))
        for tile, value in zip(tiles, values):
            bottom, top, _ = min(strips, key=lambda strip: self.apart(strip[2], tile))
            self.assertAlmostEqual(value_at((bottom + top) / 2), value, delta=0.02 * max(values))
        self.labels("lhs.h5", "--x", "joint.rail.q0", "--y", "body.cart.mass", "--z", "sys.T.max")
        self.assertEqual(len(self.marks("circle")), 20)
        labels = self.labels("grid.h5", "--x", "joint.rail.q0", "--y", "body.cart.mass", "--z", "joint.rail.q0.max",
                             "--units", "mm")
        self.assertIn("joint.rail.q0.max", labels)
        self.assertEqual(labels[labels.index("joint.rail.q0.max") + 1], " [mm]")
        # long names of the axis and of the colours have a line each
        self.table("long.csv", ["instance,a,%s,%s,end,failure" % ("b" * 60, "c" * 60 + ".min"), '0,1,1,5,1,""', '1,1,2,6,1,""',
                                '2,2,1,7,1,""', '3,2,2,8,1,""'])
        self.labels("long.csv", "--x", "a", "--y", "b" * 60, "--z", "c" * 60 + ".min")
        lines = {e.text[0]: float(e.get("y")) for e in self.marks("text") if e.text and e.text[:40] in (40 * "b", 40 * "c")}
        self.assertEqual(lines["c"] - lines["b"], 17)
        # the same number everywhere: the bar has it in its middle
        self.table("same.csv", ["instance,a,b,y.min,end,failure", '0,1,1,5,1,""', '1,1,2,5,1,""', '2,2,1,5,1,""', '3,2,2,5,1,""'])
        self.labels("same.csv", "--x", "a", "--y", "b", "--z", "y.min")
        tiles, strips, value_at = self.colour_bar(4)
        self.assertEqual(len(set(tiles)), 1)
        self.assertAlmostEqual(value_at((strips[0][0] + strips[-1][1]) / 2), 5, 2)
        self.assertLess(min(self.apart(tiles[0], s[2]) for s in strips[31:33]), 8)
        self.table("huge.csv", ["instance,a,b,y.min,end,failure", '0,1,1,1e304,1,""', '1,1,2,1e305,1,""'])
        self.assertIn("y.min has no numbers",
                      self.call("plot", "huge.csv", "--x", "a", "--y", "b", "--z", "y.min", "-o", "p.svg", code=2).stderr)

    @staticmethod
    def apart(a, b):
        """The largest difference of the parts of two colours, 0 to 255."""
        return max(abs(int(a[k:k + 2], 16) - int(b[k:k + 2], 16)) for k in (1, 3, 5))

    def colour_bar(self, ntile):
        """Colours of tiles; (bottom, top, colour) of the strips of the bar next to them; the number at a height."""
        areas = [e for e in self.marks("path") if e.get("fill") != "none"][1:]  # the first is the paper
        self.assertEqual(len(areas), ntile + 64)
        corners = [[tuple(map(float, point.split(","))) for point in e.get("d").strip("MZ").split()] for e in areas[ntile:]]
        strips = [(max(y for _, y in c), min(y for _, y in c), e.get("fill")) for c, e in zip(corners, areas[ntile:])]
        for below, above in zip(strips, strips[1:]):
            self.assertEqual(below[1], above[0])
        right = max(x for c in corners for x, _ in c)
        ticks = [(float(e.get("y")) - 4, float(e.text.replace("\u2212", "-"))) for e in self.marks("text") if float(e.get("x")) == right + 7]
        self.assertGreaterEqual(len(ticks), 2)
        (y0, z0), (y1, z1) = ticks[0], ticks[-1]
        return [e.get("fill") for e in areas[:ntile]], strips, lambda y: z0 + (z1 - z0) * (y - y0) / (y1 - y0)

    def test_a_tornado_has_the_coefficients_of_a_linear_model(self):
        # y = 3 a - 2 b + 5 exactly: a moves it by 6, b by 8, c by nothing
        lines = ["instance,a,b,c,y.min,end,failure"]
        for i in range(12):
            a, b, c = i % 3, 4 * (i * 7 % 12) / 11, (i * 5 % 12) / 11
            lines.append("%d,%r,%r,%r,%r,1,\"\"" % (i, a, b, c, 3 * a - 2 * b + 5))
        lines.append("12,1,2,0.5,,0,\"did not close\"")
        lines.append("13,1,2,0.5,99,0.3,\"stops at t = 0.3\"")  # statistics until then
        with open(os.path.join(self.folder.name, "linear.csv"), "w", encoding="ascii") as file:
            file.write("\n".join(lines) + "\n")
        labels = self.labels("linear.csv", "--preset", "tornado", "--y", "y.min")
        self.assertIn("linear model, 100 % of the variance", labels)
        bars = [t for t in labels if t and " to " in t and t[0] in "abc"]
        self.assertEqual([t.split()[0] for t in bars], ["c", "a", "b"])  # from below: the longest on top
        self.assertIn("b  0 to 4", bars)
        ticks = [(float(e.text), float(e.get("x"))) for e in self.marks("text")
                 if e.get("text-anchor") == "middle" and e.text.isdigit()]
        (low, left), (high, right) = ticks[0], ticks[-1]
        ends = []  # of the bars, from below: where each quantity is at its lowest, at its highest
        for e in self.marks("path"):
            if e.get("fill") in ("#0072b2", "#d55e00"):
                x = [float(point.split(",")[0]) for point in e.get("d").strip("MZ").split()]
                middle = left + (4 - low) * (right - left) / (high - low)
                far = max(x, key=lambda at: abs(at - middle))
                ends.append(low + (far - left) * (high - low) / (right - left))
        self.assertEqual(len(ends), 6)
        for found, expected in zip(ends, (4, 4, 1, 7, 8, 0)):
            self.assertAlmostEqual(found, expected, delta=0.01)

    def table(self, name, lines):
        with open(os.path.join(self.folder.name, name), "w", encoding="ascii") as file:
            file.write("\n".join(lines) + "\n")

    def test_variants_that_failed_are_not_drawn(self):
        self.table("failed.csv", ["instance,a,b,y.min,end,failure", '0,1,1,5,1,""', '1,1,2,6,1,""', '2,2,1,7,1,""',
                                  '3,2,2,99,0.5,"stops at t = 0.5"'])
        self.labels("failed.csv", "--x", "a", "--y", "y.min")
        self.assertEqual(len(self.marks("circle")), 3)
        self.assertEqual(self.labels("failed.csv", "--x", "a", "--y", "b", "--z", "y.min")[-2], "7.0")  # the top of the colours
        self.labels("failed.csv", "--x", "a", "--y", "end")  # where runs ended is known
        self.assertEqual(len(self.marks("circle")), 4)

    def test_a_tornado_of_what_cannot_be_separated(self):
        self.table("same.csv", ["instance,a,b,y.min,end,failure"] +
                   ['%d,%d,%g,%d,1,""' % (i, i, 0.3 * i + 7, i * i) for i in range(6)])
        done = self.run_program("plot", "same.csv", "--preset", "tornado", "--y", "y.min", "-o", "p.svg")
        self.assertEqual(done.returncode, 2)
        self.assertIn("'b' is a linear function of what varies before it", done.stderr)
        self.table("still.csv", ["instance,a,y.min,end,failure"] + ['%d,0.1,%r,1,""' % (i, 12.472075624366434) for i in range(3)])
        self.assertIn("the same in all completed variants", self.labels("still.csv", "--preset", "tornado", "--y", "y.min"))

    def test_a_table_that_cannot_be_read_has_its_own_error(self):
        self.table("empty.csv", ["instance,a,y.min,end,failure"])
        self.table("word.csv", ["instance,a,y.min,end,failure", '0,1,fast,1,""'])
        for name, text in (("empty.csv", "empty.csv: the table has 0 rows"), ("word.csv", "word.csv:2:5: 'fast'")):
            done = self.run_program("plot", name, "-o", "p.svg")
            self.assertEqual(done.returncode, 3)
            self.assertIn(text, done.stderr)
        self.table("other.csv", ["k,m", "1,2", "x,3"])
        self.table("short.csv", ["k,m", "1,2", "1"])
        self.table("bytes.h5", ["no file of HDF5"])
        for name, text in (("other.csv", "other.csv:3:1: 'x' in column 'k'"), ("short.csv", "short.csv:3:2: the row has"),
                           ("bytes.h5", "bytes.h5: is not an HDF5 file\n")):
            done = self.run_program("plot", name, "-o", "p.svg")
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(text, done.stderr)

    def test_instances_of_a_sweep_are_separate_lines(self):
        self.study()
        for result in ("rows.h5", "rows.csv"):
            labels = self.labels(result, "--y", "body.cart.x")
            self.assertIn("instance 0", labels)
            lines = sum(1 for e in self.marks("path") if "M" in e.get("d", "")) + len(self.marks("polyline"))
            self.labels(result, "--y", "body.cart.x", "--instance", "2")
            one = sum(1 for e in self.marks("path") if "M" in e.get("d", "")) + len(self.marks("polyline"))
            self.assertGreaterEqual(lines, one + 11)
        first = [r for r in self.rows_of("rows.csv") if float(r["instance"]) == 5]
        self.call("plot", "rows.h5", "--y", "body.cart.x", "--instance", "5", "-o", "q.svg")
        with open(os.path.join(self.folder.name, "five.csv"), "w", encoding="utf-8") as file:
            names = [n for n in first[0] if n != "instance" and not n.startswith("vary.")]
            file.write(",".join(names) + "\n" + "".join(",".join(r[n] for n in names) + "\n" for r in first))
        self.call("plot", "five.csv", "--y", "body.cart.x", "--title", "rows.h5", "-o", "r.svg")
        with open(os.path.join(self.folder.name, "q.svg"), encoding="utf-8") as a, \
                open(os.path.join(self.folder.name, "r.svg"), encoding="utf-8") as b:
            self.assertEqual(a.read(), b.read())

    def test_equal_axes(self):
        self.call("plot", "crane.h5", "--x", "body.load.x", "--y", "body.load.z", "--equal", "--size", "700x500", "-o", "p.svg")
        grid = [e for e in self.marks("line")] or self.marks("path")
        self.assertTrue(grid)
        self.labels("crane.h5", "--x", "body.load.x", "--y", "body.load.z", "--equal", "--units", "km,mm")

    def test_units_of_a_panel_of_several_kinds(self):
        labels = self.labels("crane.h5", "--y", "body.load.x,body.load.vx,sys.T", "--units", "mm,kJ")
        self.assertTrue(any("[mm, m/s, kJ]" in (label or "") for label in labels), labels)

    def test_wrong_use_of_tables_is_explained(self):
        self.study()
        for text, *words in (("did you mean sys.T.max", "grid.h5", "--y", "sys.T.mx"),
                             ("did you mean 'body.cart.mass'", "grid.h5", "--y", "sys.T.max", "--by", "body.cart.mas"),
                             ("expected one of them", "grid.h5", "--y", "sys.T.max", "--by", "end", "--z", "end"),
                             ("expected one y in each", "grid.h5", "--y", "sys.T.max,sys.T.min", "--by", "end"),
                             ("are of results", "grid.h5", "--y", "sys.T.max", "--from", "1"),
                             ("preset energy is of results", "grid.h5", "--preset", "energy"),
                             ("are of tables", "crane.h5", "--by", "time"),
                             ("is no unit", "crane.h5", "--units", "mm,furlong"),
                             ("has no instances", "crane.h5", "--instance", "1"),
                             ("no rows of instance 99", "rows.h5", "--instance", "99"),
                             ("count from 0", "rows.h5", "--instance", "one"),
                             ("one argument too many", "grid.h5", "crane.h5")):
            done = self.run_program("plot", *words, "-o", "w.svg")
            self.assertEqual(done.returncode, 2, (words, done.stderr))
            self.assertIn(text, done.stderr)

    def test_wrong_use_is_explained(self):
        for arguments, code, expected in (
                (("crane.h5",), 2, "-o FILE is missing"),
                (("crane.h5", "-o", "p.eps"), 2, ".svg, .png or .pdf"),
                (("-o", "p.svg"), 2, "FILE... is missing"),
                (("crane.h5", "-o", "p.svg", "--y", "body.lod.x"), 2, "did you mean body.load.x"),
                (("crane.h5", "-o", "p.svg", "--preset", "enrgy"), 2, "did you mean energy"),
                (("crane.h5", "-o", "p.svg", "--prset", "energy"), 2, "did you mean --preset"),
                (("crane.h5", "-o", "p.svg", "--duration", "1"), 2, "no option --duration"),
                (("crane.h5", "-o", "p.svg", "--from", "9"), 2, "0 to 5 s"),
                (("crane.h5", "-o", "p.svg", "--view", "xy"), 2, "initial"),
                (("--initial", "crane.csv", "-o", "p.svg"), 3, "has no model"),
                ((os.path.join(MODELS, "four_bar.yaml"), "-o", "p.svg"), 3, "a model is drawn with --initial"),
                (("--initial", "crane.h5", "x", "-o", "p.svg"), 2, "one argument too many"),
                (("--plan", "best", os.path.join(MODELS, "four_bar.yaml"), "-o", "p.svg"), 2,
                 "'best' is not known"),
                (("--plan", "comb", os.path.join(MODELS, "four_bar.yaml"), "--log", "-o", "p.svg"), 2,
                 "of other pictures"),
                (("nowhere.h5", "-o", "p.svg"), 3, "nowhere.h5"),
                (("crane.h5", "-o", "no/where/p.svg"), 1, "no/where/p.svg")):
            done = self.call("plot", *arguments, code=code)
            self.assertIn(expected, done.stderr)
            self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
