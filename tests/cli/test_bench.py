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

    def test_wrong_use_is_named(self):
        for options, text in ((("--case", "humanoit"), "did you mean humanoid"),
                              (("--samples", "0"), "from 1 to 200"),
                              (("--seconds", "-1"), "positive number")):
            done = bench(*options)
            self.assertEqual(done.returncode, 2)
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
