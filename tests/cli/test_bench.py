#!/usr/bin/env python3
"""What `linkwork bench` promises, and tools/bench_compare.py on its output.  Nothing is timed here.

usage: test_bench.py LINKWORK SOURCES [unittest arguments]
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM, SOURCES = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
MODELS = os.path.join(SOURCES, "examples", "models")


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def bench(*options):
    return run(PROGRAM, "bench", *options)


class Bench(unittest.TestCase):
    def test_evaluations_are_the_published_ones(self):
        done = bench("--case", "chain-7,chain-128,humanoid", "--samples", "1", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        for key in ("version", "commit", "cpu", "compiler", "flags"):
            self.assertTrue(report[key], key)
        self.assertEqual([(c["case"], c["method"]) for c in report["cases"]],
                         [(case, method) for case in ("chain-7", "chain-128", "humanoid")
                          for method in ("aba", "momenta", "rnea")])
        for case in report["cases"]:
            self.assertLessEqual(0, case["minimum"])
            self.assertLessEqual(case["minimum"], case["median"])
            self.assertEqual(case["samples"], 1)
            if case["method"] == "aba":
                self.assertLessEqual(case["accelerations"]["ninth_digit"], 1)

    def test_a_name_means_its_family(self):
        done = bench("--case", "chain", "--samples", "1", "--json")
        names = {c["case"] for c in json.loads(done.stdout)["cases"]}
        self.assertEqual(names, {"chain-%d" % n for n in (7, 16, 32, 64, 128, 256, 1024)})

    def test_long_paths_are_timed_by_divide_and_conquer_too(self):
        # accelerations of all formulations are the same, and those of a rope of balls and a tree of branches
        for threads in (), ("--threads", "2"):
            done = bench("--case", "path-1024,rope-1024,branches,ring-320", "--samples", "1", "--json", *threads)
            self.assertEqual(done.returncode, 0, done.stderr)
            report = json.loads(done.stdout)
            self.assertEqual(report["threads"], 2 if threads else 1)
            for name, bodies in (("path-1024", 1024), ("rope-1024", 1024), ("branches-63", 4032), ("ring-320", 320)):
                here = [c for c in report["cases"] if c["case"] == name]
                self.assertEqual([c["method"] for c in here],
                                 ["hdca", "dca"] if name == "ring-320" else ["aba", "momenta", "hdca", "dca"])
                for case in here:
                    self.assertEqual(case["bodies"], bodies)
                    for key in ("sum", "max", "first", "last"):
                        self.assertAlmostEqual(case["accelerations"][key], here[-1]["accelerations"][key],
                                               delta=1e-7 * here[-1]["accelerations"]["max"], msg=(name, key))

    def test_runs_end_closer_with_smaller_settings(self):
        done = bench("--case", "run-chain-7,run-ladder-1", "--samples", "1", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in "run-chain-7", "run-ladder-1":
            here = [c for c in json.loads(done.stdout)["cases"] if c["case"] == name]
            right = next(c for c in here if (c["method"], c["setting"]) == ("verner87", 1e-12))["angles"]
            methods = {"dopri5": 1e-9, "dopri54": 1e-8, "verner87": 1e-8, "rk4": 1e-8}
            if name == "run-chain-7":  # a tree
                methods["rk4:momenta"] = 1e-6
            self.assertEqual({c["method"] for c in here}, set(methods))
            for method, bound in methods.items():
                errors = [abs(c["angles"]["sum"] - right["sum"]) for c in here if c["method"] == method and
                          c["angles"] != right]
                self.assertGreater(errors[0], 100 * errors[-1], (name, method))
                self.assertLess(errors[-1], bound, (name, method))

    def test_compiled_code_is_timed_beside_the_library(self):
        with tempfile.TemporaryDirectory() as folder:
            environment = dict(os.environ, XDG_CACHE_HOME=folder)
            done = subprocess.run([PROGRAM, "bench", "--case", "four-bars-1,run-four-bars-1", "--compiled", "on", "--samples", "1",
                                   "--json"], capture_output=True, text=True, timeout=300, check=False, env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        cases = json.loads(done.stdout)["cases"]
        here = {c["method"]: c for c in cases if c["case"] == "four-bars-1"}
        self.assertEqual(here["compiled"]["accelerations"], here["compiled:many"]["accelerations"])  # to the last bit
        self.assertGreater(here["compiled"]["compiling"], 0)
        for key in ("sum", "max", "first", "last"):
            self.assertAlmostEqual(here["compiled"]["accelerations"][key], here["rcr"]["accelerations"][key], delta=1e-10)
        runs = {(c["method"], c["setting"]): c["angles"]["last"] for c in cases if c["case"].startswith("run-")}
        for method in "dopri5", "dopri54", "verner87":
            self.assertAlmostEqual(runs[method + ":compiled", 1e-9], runs[method, 1e-9], delta=1e-8)
            self.assertNotEqual(runs[method + ":compiled", 1e-9], runs[method, 1e-6])

    def test_wrong_use_is_named(self):
        for options, text in ((("--compiled", "auto"), "expected off or"),
                              ((os.path.join(MODELS, "four_bar.yaml"), "--compiled", "on"), "expected off or"),
                              (("--case", "humanoit"), "did you mean humanoid"),
                              (("--samples", "0"), "from 1 to 200"),
                              (("--seconds", "-1"), "positive number")):
            done = bench(*options)
            self.assertEqual(done.returncode, 2)
            self.assertIn(text, done.stderr)

    def test_a_model_is_timed_by_every_formulation(self):
        model = os.path.join(MODELS, "four_bar.yaml")
        done = bench(model, "--seconds", "0.001", "--json", "--threads", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual((report["bodies"], report["joints"], report["loops"], report["threads"]), (3, 4, 1, 1))
        known = json.loads(run(PROGRAM, "info", "--json").stdout)["formulations"]
        self.assertEqual([f["name"] for f in report["formulations"]], [f["name"] for f in known])
        outcome = {f["name"]: f["outcome"] for f in report["formulations"]}
        self.assertEqual({name for name in outcome if outcome[name] == "refused"}, {"aba", "momenta"})
        self.assertEqual(outcome[report["run"]["formulation"]], "timed")
        for figures in report["formulations"]:
            if figures["outcome"] != "timed":
                self.assertIn("closes a loop", figures["reason"])
                continue
            for key in ("setup", "rows_per_second", "steps_per_second", "real_time", "memory", "steps", "simulated"):
                self.assertGreater(figures[key], 0, (figures["name"], key))
            if figures["integrator"] in ("index3", "rattle"):  # they have no rates
                self.assertIsNone(figures["evaluations_per_second"])
            else:
                self.assertGreater(figures["evaluations_per_second"], figures["steps_per_second"])

    def test_the_table_of_a_model_marks_what_a_run_takes(self):
        lines = bench(os.path.join(MODELS, "cart_arm.yaml"), "--seconds", "0.001").stdout.splitlines()
        self.assertEqual([line.split()[1] for line in lines if line.startswith("* ") and "dopri5" in line], ["aba"])
        head = next(line for line in lines if "setup ms" in line)
        for column in ("formulation", "evaluations/s", "rows/s", "steps/s", "memory MB"):
            self.assertIn(column, head)

    def test_what_is_predicted_to_be_too_dear_is_left_out(self):
        model = os.path.join(MODELS, "anymal_c.urdf")
        figures = {f["name"]: f for f in json.loads(
            bench(model, "--seconds", "0.001", "--json").stdout)["formulations"]}
        self.assertEqual(figures["dense"]["outcome"], "left out")
        self.assertGreater(figures["dense"]["predicted"], 10)
        self.assertEqual(figures["aba"]["outcome"], "timed")
        self.assertIn("left out     dense: predicted", bench(model, "--seconds", "0.001").stdout)

    def test_named_formulations_are_timed_with_their_integrator(self):
        model = os.path.join(MODELS, "four_bar.yaml")
        for key in ("--formulations", "--formulation"):
            done = bench(model, key, "dense,rcr:rk4", "--seconds", "0.001", "--step", "0.001", "--json")
            figures = json.loads(done.stdout)["formulations"]
            self.assertEqual([(f["name"], f["integrator"]) for f in figures],
                             [("dense", "dopri5"), ("rcr:rk4", "rk4")])
            self.assertAlmostEqual(figures[1]["simulated"], 0.001 * figures[1]["steps"])
            self.assertEqual(figures[1]["evaluations"], 4 * figures[1]["steps"])

    def test_wrong_use_with_a_model_is_named(self):
        model = os.path.join(MODELS, "four_bar.yaml")
        for code, text, *options in (
                (2, "closes a loop", model, "--formulation", "aba"),
                (2, "closes a loop", model, "--formulations", "rcr,aba", "--seconds", "0.001"),
                (2, "did you mean 'rcr'", model, "--formulations", "dense,rcrr"),
                (2, "goes with", model, "--formulations", "rcr:index3"),
                (2, "--case is for the built-in cases", model, "--case", "chain"),
                (2, "--samples is for the built-in cases", model, "--samples", "3"),
                (2, "--threads needs a MODEL", "--threads", "2"),
                (2, "case 'chain-7' has one thread", "--threads", "2", "--case", "path-256,chain-7"),
                (2, "--step needs a MODEL", "--threads", "2", "--step", "0.1", "--case", "path-256"),
                (2, "--formulations needs a MODEL", "--formulations", "rcr"),
                (3, "nowhere.yaml", "nowhere.yaml")):
            done = bench(*options)
            self.assertEqual(done.returncode, code, (options, done.stderr))
            self.assertIn(text, done.stderr)

    def test_two_runs_are_laid_side_by_side(self):
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, name) for name in ("a.json", "b.json")]
            for path in paths:
                with open(path, "w", encoding="utf-8") as file:
                    file.write(bench("--case", "chain-7", "--samples", "1", "--json").stdout)
            tool = os.path.join(SOURCES, "tools", "bench_compare.py")
            done = run(sys.executable, tool, *paths)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(sum("chain-7" in line for line in done.stdout.splitlines()), 3)
            self.assertEqual(run(sys.executable, tool, paths[0]).returncode, 2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
