#!/usr/bin/env python3
"""What the program `linkwork` promises: exit codes, messages, results.

usage: test_program.py LINKWORK MODELS [unittest arguments]
"""
import csv
import json
import math
import os
import re
import resource
import signal
import subprocess
import sys
import time
import unittest

from in_folder import LINKWORK, MODELS, linkwork
from program import PARALLELOGRAM, PENDULUM, Program


class Use(Program):
    def test_help_lists_every_verb_and_every_verb_has_help(self):
        text = self.call("--help").stdout
        verbs = re.findall(r"^  (\w+) ", text, re.M)
        self.assertIn("run", verbs)
        self.assertGreaterEqual(len(verbs), 7)
        for verb in verbs:
            self.assertIn("usage: linkwork " + verb, self.call(verb, "--help").stdout)
        self.assertIn("0 done", text)

    def test_page_of_the_program_has_the_options_of_all_verbs(self):
        page = self.call("help", "--man").stdout.replace("\\-", "-")
        for verb in re.findall(r"^  (\w+) ", self.call("--help").stdout, re.M):
            for option in re.findall(r"^ .*?(--[\w-]+)", self.call(verb, "--help", "--all").stdout, re.M):
                self.assertIn(option, page)

    def test_help_of_verbs_for_many_runs_has_their_options(self):
        for verb, keys in (("sweep", ("--vary ", "--design ", "--batch ", "--watch ", "--table ")),
                           ("sensitivity", ("--by ", "--watch ", "--statistic "))):
            text = self.call(verb, "--help").stdout
            for key in keys:
                self.assertIn("  " + key, text)

    def test_help_of_run_has_two_tiers(self):
        basic = ("formulation", "integrator", "duration", "step", "rtol", "atol", "sample", "columns", "threads", "output",
                 "initial", "quiet", "json", "base")
        expert = ("atol-p", "sample-mode", "max-steps", "kappa", "independent", "baumgarte", "project", "plan", "index3", "state",
                  "pace", "real-time", "limits", "lanes", "cut")
        text = self.call("run", "--help").stdout
        everything = self.call("run", "--help", "--all").stdout
        for key in basic:
            self.assertIn("  --%s " % key if key not in ("output", "quiet") else "--" + key, text)
        for key in expert:
            self.assertNotIn("--%s " % key, text)
        for key in basic + expert:
            self.assertIn("--" + key, everything)
        hidden = int(re.search(r"`linkwork run --help --all` lists (\d+) more", text).group(1))
        options = re.compile(r"^  (?:-\w, |    )--", re.M)
        self.assertEqual(len(options.findall(everything)) - len(options.findall(text)), hidden)
        self.assertNotIn("more.", everything)
        self.assertNotIn("--all", self.call("info", "--help").stdout)

    def test_wrong_use_exits_2_and_names_the_nearest(self):
        for arguments, expected in (
                ((), "usage"),
                (("rum", self.model), "did you mean run"),
                (("run", self.model, "--duratoin", "1"), "did you mean --duration"),
                (("check", self.model, "--jsn"), "did you mean --json"),
                (("run",), "MODEL is missing"),
                (("run", self.model, self.model), "one argument too many"),
                (("run", self.model, "--duration"), "--duration S: the value is missing"),
                (("run", self.model, "--duration", "long"), "long"),
                (("run", self.model, "--formulation", "momentum"), "momenta"),
                (("run", self.model, "--integrator", "dopri"), "dopri5"),
                (("run", self.model, "-o", "x.txt"), ".csv"),
                (("run", self.model, "--json=1"), "takes no value"),
                (("compare", self.model), "--formulations"),
                (("compare", self.model, "--formulations", "aba"), "at least two"),
                (("bench", "--seconds", "-1"), "positive"),
                (("bench", "--seconds", "inf"), "positive"),
                (("bench", "--seconds", " 1"), "positive"),
                (("check", self.model, "--limits", "0x10"), "expected a stiffness > 0"),
                (("check", self.model, "--limits", "\t1"), "expected a stiffness > 0"),
                (("check", self.model, "--limits", "inf"), "expected a stiffness > 0"),
                (("check", self.model, "--limits", "1e309"), "expected a stiffness > 0"),
                (("check", self.model, "--limits", "10,"), "expected a stiffness > 0"),
                (("check", self.model, "--limits", "10,0x1"), "expected a stiffness > 0"),
                (("sweep", self.model, "--lanes", "0x4", "--vary", "gravity.z=0,1"), "whole number"),
                (("sweep", self.model, "--vary", "gravity.z=0x1,1"), "expected NAME="),
                (("sweep", self.model, "--vary", "gravity.z=0:1:0x2"), "expected NAME="),
                (("run", self.model, "--rtol", "1e-15"), "round-off"),
                (("run", self.model, "--atol", "1e-320"), "at least 1e-100"),
                (("run", self.model, "--atol-p", "1e-320"), "zero or at least 1e-100"),
                (("plot", "x.csv", "--size", "0x200x300", "-o", "x.svg"), "not a size"),
                (("plot", "x.csv", "--from", "inf", "-o", "x.svg"), "not a time")):
            done = self.call(*arguments, code=2)
            self.assertIn(expected, done.stderr)
            self.assertEqual(done.stdout, "")

    def test_a_bad_input_file_exits_3_with_its_place(self):
        self.assertIn("nowhere.yaml", self.call("run", "nowhere.yaml", code=3).stderr)
        bad = self.write("bad.yaml", PENDULUM.replace("mass: 1,", "mas: 1,"))
        for verb in ("run", "check", "convert"):
            done = self.call(verb, bad, code=3)
            self.assertRegex(done.stderr, r"^\S*bad\.yaml:3:\d+: .*mass")
            self.assertEqual(done.stdout, "")
        zero = self.write("zero.yaml", PENDULUM.replace("axis: [0, 1, 0]", "axis: [0, 0, 0]"))
        self.assertRegex(self.call("check", zero, code=3).stderr, r"zero\.yaml:5:\d+: .*hinge")

    def test_an_output_that_cannot_be_written_exits_1(self):
        nowhere = self.path("none/x.csv")
        self.assertIn("none/x.csv", self.call("run", self.model, "-o", nowhere, code=1).stderr)


class Run(Program):
    def test_columns_that_do_not_exist_exit_2(self):
        done = self.call("run", self.model, "--columns", "nope*", "-o",
                         self.path("a.csv"), code=2)
        self.assertIn("no column matches 'nope*'", done.stderr)

    def test_rows_are_at_multiples_of_the_sample(self):
        self.call("run", self.model, "-o", self.path("a.csv"))
        head, rows = self.rows("a.csv")
        self.assertEqual(head[0], "time")
        self.assertIn("joint.hinge.q0", head)
        self.assertEqual(len(rows), 11)
        for k, row in enumerate(rows):
            self.assertAlmostEqual(row[0], 0.1 * k, delta=1e-12)

    def test_both_spellings_of_an_option_and_several_files(self):
        self.call("run", self.model, "--duration=0.5", "--sample_mode", "stop", "-o",
                  self.path("a.csv"), "--output=" + self.path("b.csv"), "--sample", "0.25")
        self.assertEqual(self.rows("a.csv"), self.rows("b.csv"))
        self.assertEqual(len(self.rows("a.csv")[1]), 3)

    def test_a_run_says_what_is_ignored_and_which_inputs_nothing_sets(self):
        dog = os.path.join(MODELS, "anymal_c.urdf")
        options = ("--base", "floating", "--duration", "0.01")
        ignored = json.loads(self.call("run", dog, *options, "--json").stdout)["ignored"]
        self.assertEqual(ignored, json.loads(self.call("check", dog, *options[:2], "--json").stdout)["warnings"])
        self.assertTrue(ignored)
        self.assertRegex(self.call("run", dog, *options).stdout,
                         r"file         %d kinds? of contents ignored or changed; `linkwork check` lists" % len(ignored))
        model = self.write("input.yaml", PENDULUM + "inputs: [push, pull]\n")
        report = json.loads(self.call("run", model, "--json").stdout)
        self.assertEqual((report["inputs_unset"], report["ignored"]), (["push", "pull"], []))
        self.assertIn("inputs       2 never set, zero: push, pull\n", self.call("run", model).stdout)
        text = self.call("run", self.model).stdout
        self.assertNotIn("never set", text)
        self.assertNotIn("ignored", text)

    def test_check_lists_signals_and_events(self):
        model = self.write("signals.yaml", PENDULUM + """signals:
  u: {type: switch, value: 0}
  heater: {type: relay, of: hinge.q0, low: -0.1, high: 0.1, below: 1, above: 0}
  twice: 2*u
  thrice: 3*u
functions: {breeze: {type: sine, amplitude: 1, omega: 1}}
events: {tick: {every: 0.1, set: {u: -hinge.q0}}, end: {when: t > 2, stop: true}}
""")
        text = self.call("check", model).stdout
        self.assertIn("\nsignals      4: 2 formula, 1 switch, 1 relay\nevents       2: tick, end\n", text)
        found = json.loads(self.call("check", model, "--json").stdout)
        self.assertEqual(found["events"], ["tick", "end"])
        self.assertEqual({s["name"]: s["type"] for s in found["signals"]},
                         {"u": "switch", "heater": "relay", "twice": "formula", "thrice": "formula"})
        self.assertNotIn("signals", self.call("check", self.model).stdout)

    def test_recorded_events_are_listed(self):
        model = self.write("events.yaml", PENDULUM + """events:
  bottom: {when: hinge.q0, record: true}
  tick: {every: 0.3, from: 0.3, record: true}
  end: {when: t > 0.8 and hinge.qd0 > 0, crossing: both, stop: true}
""")
        plain = json.loads(self.call("run", model, "--json", "--columns", "sys.*", "-o", self.path("e.csv")).stdout)
        names = list(plain["model_events"])
        with open(self.path("e.csv"), encoding="utf-8") as file:
            rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
        recorded = [{"event": names[int(float(row["sys.event"])) - 1], "time": float(row["time"])}
                    for row in rows if float(row["sys.event"])]
        self.assertEqual(plain["occurrences"], recorded)
        self.assertEqual([e["event"] for e in recorded].count("bottom"), plain["model_events"]["bottom"])
        self.assertIn("tick", [e["event"] for e in recorded])
        saved = json.loads(self.call("run", model, "--json", "--checkpoint", self.path("e.ck"), "--every", "0.1").stdout)
        self.assertEqual([e["event"] for e in saved["occurrences"]], [e["event"] for e in recorded])
        self.assertEqual(json.loads(self.call("run", self.write("none.yaml", PENDULUM), "--json").stdout).get("occurrences"), None)

    def test_real_time_reports_how_long_steps_take_and_goes_with_the_clock(self):
        model = os.path.join(MODELS, "four_bar.yaml")
        options = ("--real-time", "--step", "0.01", "--duration", "0.2", "--json")
        summary = json.loads(self.call("run", model, *options).stdout)
        times = summary["step_times"]
        self.assertEqual((summary["options"]["formulation"], summary["steps"], summary["rejected"]),
                         ("index3", 20, 0))
        self.assertEqual((times["steps"], times["late"]), (20, 0))
        self.assertLessEqual(times["least"], times["median"])
        self.assertLessEqual(times["p999"], times["worst"])
        hurried = json.loads(self.call("run", model, *options, "--pace", "1e9").stdout)
        self.assertEqual(hurried["step_times"]["late"], 20)
        self.assertIn("3.00 iterations per step", hurried["report"])
        with self.assertRaises(subprocess.TimeoutExpired):  # the first step ends in 1e297 s
            subprocess.run([LINKWORK, "run", model, *options, "--pace", "1e-300"], capture_output=True, timeout=0.5,
                           check=False)
        text = self.call("run", model, *options[:-1]).stdout
        self.assertRegex(text, r"step times +[\d.e-]+ s \(median\), .* of 20 took longer")
        done = self.call("run", model, "--real-time", "--formulation", "aba", code=2)
        self.assertIn("mode of index3", done.stderr)

    def test_results_that_are_unreliable_are_an_error(self):
        model = os.path.join(MODELS, "four_bar.yaml")
        options = ("--real-time", "--duration", "2", "--sample", "0.1", "--json", "--step")
        summary = json.loads(self.call("run", model, *options, "0.01").stdout)
        self.assertEqual(summary["valid_until"], 2)
        done = self.call("run", model, *options, "0.1", "-o", self.path("a.h5"), code=1)
        summary = json.loads(done.stdout)
        until = summary["valid_until"]
        self.assertTrue(0 < until < 2)
        self.assertEqual((summary["end"], summary["rows"], summary["ended"]), (2, 21, "done"))
        self.assertIn(f"results after t = {until:g} s are unreliable", done.stderr)
        self.assertIn("did not converge", summary["notice"])
        self.assertIn("a smaller step", summary["notice"])
        done = self.call("compare", model, "--formulations", "index3,dense:rk4", *options[1:], "0.1", "--index3",
                         "mode=real-time", code=1)
        self.assertEqual([m["valid_until"] for m in json.loads(done.stdout)["methods"]], [until, 2])
        self.assertIn(f"index3: results after t = {until:g} s are unreliable", done.stderr)
        self.assertNotIn("dense:rk4: results", done.stderr)
        done = self.call("run", model, *options[:-2], "--step", "0.1", code=1)
        self.assertRegex(done.stdout, r"warning +\d+ of 20 steps did not converge.* are unreliable")

    def test_round_off_of_rest_is_no_error(self):
        # a parallelogram in a line, at rest in a horizontal plane: no energy at all but round-off
        model = self.path("line.yaml")
        text = "linkwork: 1\nbodies:\n"
        for name, x in zip("abc", (0.25, 1, 1.25)):
            text += f"  {name}: {{mass: 1, inertia: [0.01, 0.01, 0.01, 0, 0, 0], position: [{x}, 0, 0]}}\n"
        text += "joints:\n"
        for name, between, x in zip("ABCD", ("ground, a", "a, b", "b, c", "ground, c"), (0, 0.5, 1.5, 1)):
            text += f"  {name}: {{type: revolute, between: [{between}], at: [{x}, 0, 0], axis: [0, 0, 1]}}\n"
        with open(model, "w", encoding="utf-8") as file:
            file.write(text)
        done = self.call("run", model, "--formulation", "index3", "--step", "0.01", "--duration", "0.1")
        self.assertNotIn("unreliable", done.stdout)

    def test_no_model_of_the_repository_is_unreliable_in_real_time(self):
        folders = (MODELS, os.path.join(MODELS, "..", "..", "tests", "golden"))
        models = [os.path.join(f, n) for f in folders for n in sorted(os.listdir(f)) if n.endswith(".yaml")]
        self.assertGreater(len(models), 20)
        for model in models:
            step = "0.002" if "kapitza" in model else "0.01"  # its base vibrates faster than steps of 0.01 s
            for mode in (["--real-time"], ["--formulation", "index3"]):
                summary = json.loads(self.call("run", model, *mode, "--step", step, "--duration", "1", "--json").stdout)
                self.assertEqual(summary["valid_until"], summary["end"], model)
                self.assertNotIn("E - Wnc is off", summary["notice"], model)
                self.assertNotIn("did not converge", summary["notice"], model)

    def test_the_summary_is_on_stdout_and_quiet_is_quiet(self):
        text = self.call("run", self.model, "-o", self.path("a.csv")).stdout
        for word in ("method", "steps", "rejected", "evaluations", "real-time factor", "energy",
                     "residual", "a.csv"):
            self.assertIn(word, text)
        done = self.call("run", self.model, "--quiet")
        self.assertEqual(done.stdout + done.stderr, "")

    def test_closed_streams_are_not_the_files(self):
        file = self.path("a.csv")
        for closed, code in ((">&-", 1), ("2>&-", 0), (">&- 2>&- <&-", 1), ("--quiet >&- 2>&- <&-", 0)):
            command = '"$0" run "$1" -o "$2" ' + closed
            done = subprocess.run(["sh", "-c", command, LINKWORK, self.model, file], timeout=120,
                                  check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.assertEqual(done.returncode, code) # 1: the summary could not be printed
            self.assertEqual(len(self.rows("a.csv")[1]), 11)

    def test_a_singular_position_passed_is_reported(self):
        model = self.write("parallelogram.yaml", PARALLELOGRAM)
        expected = "passed . singular positions? straight on, first at t = "
        text = self.call("run", model).stdout
        self.assertRegex(text, r"(?m)^warning +" + expected + r".* joint '[ABCD]'")
        self.assertRegex(json.loads(self.call("run", model, "--json").stdout)["notice"], expected)
        for calm in ((model, "--duration", "0.1"), (self.model,)):
            self.assertNotIn("warning", self.call("run", *calm).stdout)

    def test_a_singular_position_that_no_step_crosses_ends_the_run(self):
        # the load changes too fast for a step across, and ordinary steps end at the position
        x, y = 0.6 * math.cos(1.2), 0.6 * math.sin(1.2)
        def rod(name, x0, y0, x1, y1):
            square, half = ((x1 - x0)**2 + (y1 - y0)**2) / 12, 0.5 * math.atan2(y1 - y0, x1 - x0)
            return (f"  {name}: {{mass: 1, inertia: [0.001, {square}, {square}, 0, 0, 0], position: [{0.5 * (x0 + x1)}, "
                    f"{0.5 * (y0 + y1)}, 0], orientation: [{math.cos(half)}, 0, 0, {math.sin(half)}]}}\n")
        def hinge(name, between, x, y, more=""):
            return f"  {name}: {{type: revolute, between: [{between}], at: [{x}, {y}, 0], axis: [0, 0, 1]{more}}}\n"
        model = self.write("hum.yaml", "linkwork: 1\ngravity: [0, 0, 0]\nbodies:\n"
            + rod("crank", 0, 0, x, y) + rod("coupler", x, y, x + 1, y) + rod("rocker", 1, 0, x + 1, y) + "joints:\n"
            + hinge("A", "ground, crank", 0, 0, ", qd: [-5], effort: {q0: 100*sin(10000*t)}")
            + hinge("B", "crank, coupler", x, y) + hinge("C", "coupler, rocker", x + 1, y)
            + hinge("D", "ground, rocker", 1, 0))
        done = self.call("run", model, "--duration", "0.3", "--formulation", "rcr", "--integrator", "verner87",
                         "--rtol", "1e-12", "--atol", "1e-12", code=1)
        self.assertRegex(done.stderr, r"singular position at t = 0\.2408\d* s: the constraints of joint '[ABCD]' and those of "
                         r".* no step leads across it, and 1000 ordinary ones have come no farther")
        steps = int(re.search(r"steps +(\d+)", done.stdout + done.stderr)[1])
        self.assertLess(steps, 6000)

    def test_json_holds_the_resolved_options(self):
        result = json.loads(self.call("run", self.model, "--json", "--rtol", "1e-10").stdout)
        self.assertEqual(result["ended"], "done")
        self.assertEqual(result["options"]["rtol"], 1e-10)
        self.assertNotEqual(result["options"]["formulation"], "auto")
        self.assertNotEqual(result["options"]["integrator"], "auto")
        self.assertEqual(result["rows"], 11)
        self.assertLess(result["energy_error"], 1e-6)

    def test_a_signal_ends_the_run_with_valid_results(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with subprocess.Popen([LINKWORK, "run", self.model, "--duration", "1e9", "--sample", "1",
                                   "-o", self.path("a.csv")],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
                while run.poll() is None and not self.has_rows("a.csv"):
                    time.sleep(0.05)
                run.send_signal(number)
                out, error = run.communicate(timeout=60)
            self.assertEqual(run.returncode, 1, error)
            self.assertIn("stopped at t =", error)
            self.assertIn("steps", out)
            head, rows = self.rows("a.csv")
            self.assertGreater(len(head), 10)
            self.assertGreater(len(rows), 1)
            os.remove(self.path("a.csv"))

    def started(self, *arguments):
        """A process of the program that handles signals itself."""
        run = subprocess.Popen([LINKWORK, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        caught = 1 << (signal.SIGTERM - 1)
        while run.poll() is None:
            with open("/proc/%d/status" % run.pid, encoding="ascii") as file:
                state = dict(line.split(":", 1) for line in file)
            if int(state["SigCgt"], 16) & caught:
                break
            time.sleep(0.01)
        return run

    @unittest.skipUnless(os.path.exists("/proc/self/status"), "no /proc here")
    def test_a_signal_ends_long_evaluations_a_second_one_at_once(self):
        # the first evaluation takes many seconds; the comparison would take hours
        model = self.write("long.yaml", "linkwork: 1\ngenerate: {chain: {n: 300}}\n")
        for signals in ((signal.SIGINT,), (signal.SIGTERM,), (signal.SIGINT, signal.SIGTERM)):
            with self.started("compare", model, "--formulations", "dense,dense:adams", "--duration", "1000") as run:
                for number in signals:
                    run.send_signal(number)
                error = run.communicate(timeout=100)[1]
            self.assertIn(-run.returncode, signals, error)
            self.assertEqual("ended within a step" in error, len(signals) == 1, error)

    @unittest.skipUnless(os.path.exists("/proc/self/status"), "no /proc here")
    def test_a_signal_leaves_no_unfinished_file(self):
        model = self.write("chain.yaml", "linkwork: 1\ngenerate: {chain: {n: 30000}}\n")
        run = self.started("convert", model, "-o", self.path("out.yaml"))
        with run:
            run.send_signal(signal.SIGTERM)
            run.communicate(timeout=100)
        self.assertIn(run.returncode, (0, -signal.SIGTERM))
        self.assertEqual([name for name in os.listdir(self.folder.name) if ".part" in name], [])

    def test_steps_below_the_resolution_of_time_are_refused(self):
        done = self.call("run", self.model, "--step", "1e-18", "--duration", "0.1", code=1)
        self.assertIn("step: 1e-18 s is below the resolution of time at t = 0.1 s", done.stderr)

    def test_what_fails_on_the_way_exits_1_and_keeps_the_rows(self):
        done = self.call("run", self.model, "--max-steps", "5", "--sample", "steps", "-o",
                         self.path("a.csv"), code=1)
        self.assertIn("the run ended at t =", done.stderr)
        self.assertGreater(len(self.rows("a.csv")[1]), 1)

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full here")
    def test_a_full_disk_is_an_error(self):
        os.symlink("/dev/full", self.path("full.csv"))
        done = self.call("run", self.model, "--duration", "100", "-o", self.path("full.csv"), code=1)
        self.assertIn("full.csv", done.stderr)

    def test_a_file_size_limit_is_named(self):
        """Most writes fail long before a file is closed."""
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))

        chain = self.write("chain.yaml", "linkwork: 1\ngenerate: {chain: {n: 400}}\n")
        self.call("convert", chain, "-o", self.path("whole.yaml"))
        self.assertGreater(os.path.getsize(self.path("whole.yaml")), 100000)
        done = linkwork("convert", chain, "-o", self.path("part.yaml"), preexec_fn=limit)
        self.assertEqual((done.returncode, done.stderr),
                         (1, "linkwork: %s: cannot be written: File too large\n" % self.path("part.yaml")))
        self.assertFalse(os.path.exists(self.path("part.yaml")))
        ticks = self.write("ticks.yaml", PENDULUM + "events: {tick: {every: 0.001, record: true}}\n")
        done = linkwork("run", ticks, "--duration", "2", "--events", self.path("ticks.csv"), preexec_fn=limit)
        self.assertEqual(done.returncode, 1)
        self.assertIn("ticks.csv: cannot be written: File too large\n", done.stderr)


class Look(Program):
    def test_check_counts_and_names_what_is_redundant(self):
        four_bar = os.path.join(MODELS, "four_bar.yaml")
        found = json.loads(self.call("check", four_bar, "--json").stdout)
        self.assertEqual(len(found["bodies"]), 3)
        self.assertEqual([j["type"] for j in found["joints"]], ["revolute"] * 4)
        self.assertEqual((found["dof"], found["dof_generic"], found["loops"]), (1, 1, 1))
        self.assertEqual((found["constraints"], found["redundant"]), (20, 3))
        self.assertEqual(sum(j["redundant"] for j in found["joints"]), 3)
        self.assertLess(max(found["residual"]), 1e-9)
        text = self.call("check", four_bar).stdout
        for word in ("bodies", "4 revolute", "1 now", "3 redundant", "warnings"):
            self.assertIn(word, text)

    def test_check_reports_what_redundancy_leaves_open(self):
        text = self.call("check", self.write("p.yaml", PARALLELOGRAM), "--plan").stdout
        self.assertRegex(text, r"(?m)^loops +1\n +\w closes one with \w, \w, \w$")
        self.assertRegex(text, r"3 of 5 depend on others at \w: z force, x and y torque")
        self.assertRegex(text, r"(?m)^reactions +not determined by the constraints at 4 joints")
        self.assertIn("A, B, C, D: z force, x and y torque", text)
        self.assertRegex(text, r"smallest kept [0-9.e-]+ at \w, largest dropped [0-9.e-]+")
        self.assertRegex(text, r"(?m)^  comb +\d+ +\d+ +\d+")
        self.assertRegex(text, r"(?m)^  balanced +\d+ +\d+ +\d+")
        self.assertRegex(text, r"with 3 of the tree's bodies one after the other in each of\n +two passes, and 0 forces")
        self.assertNotIn("conflict", text)
        found = json.loads(self.call("check", self.path("p.yaml"), "--plan", "--json").stdout)
        self.assertEqual(sorted(found["loop_joints"][0]), ["A", "B", "C", "D"])
        self.assertEqual({j["undetermined_axes"] for j in found["joints"]},
                         {"z force, x and y torque"})
        self.assertEqual([p["kind"] for p in found["plans"]], ["comb", "balanced"])
        for plan in found["plans"]:
            self.assertEqual((plan["pass"], plan["forces"]), (3, 0))
            self.assertEqual(plan["evaluation"], plan["critical"] + 3 * 60)

    def test_check_reports_the_segments_of_a_long_path(self):
        for n, segments in ((255, None), (1024, {"count": 32, "length": 32, "groups": 4, "joins": 5})):
            path = self.write("chain.yaml", "linkwork: 1\ngenerate: {chain: {n: %d}}\n" % n)
            found = json.loads(self.call("check", path, "--plan", "--json").stdout)
            self.assertEqual(found.get("segments"), segments)
        text = self.call("check", path, "--plan").stdout
        self.assertRegex(text, r"(?m)^segments +dca and hdca evaluate 32 segments of up to 32 bodies, in 4 groups of "
                               r"eight;\n +longest way: 32 bodies, then 5 joins$")

    def test_check_reports_a_singular_start_and_conflicts(self):
        flat = re.sub(r",? *(angular_)?velocity: \[[^]]*\],?", "", PARALLELOGRAM)
        at_rest = flat
        for pose, place in (("[0, 0, 0.5]", "[0.5, 0, 0]"), ("[0.5, 0, 1]", "[1.5, 0, 0]"),
                            ("[1, 0, 0.5]", "[1.5, 0, 0]"), ("at: [0, 0, 1]", "at: [1, 0, 0]"),
                            ("at: [1, 0, 1]", "at: [2, 0, 0]")):
            flat = flat.replace(pose, place)
        everyone = ["dca", "dense", "hdca", "index3", "lagrange", "rcr"]  # rattle needs regular positions
        text = self.call("check", self.write("flat.yaml", flat)).stdout # falls as a parallelogram
        self.assertIn("2 now, 1 generically", text)
        self.assertIn("equilibrium, linearize and modes refuse it: they need a regular position\n", text)
        for verb in ("equilibrium", "linearize", "modes"):
            self.assertIn("singular position: constraints of joint", self.call(verb, self.path("flat.yaml"), code=1).stderr)
        self.assertRegex(text, r"(?m)^method +rcr, ")
        found = json.loads(self.call("check", self.path("flat.yaml"), "--json").stdout)
        self.assertEqual(sorted(found["can_begin"]), everyone)
        done = self.call("run", self.path("flat.yaml"), "--duration", "0.1")
        self.assertIn("continues along the branch of the accelerations from rest", done.stdout + done.stderr)

        uneven = flat.replace("rocker: {mass: 1,", "rocker: {mass: 5,")
        text = self.call("check", self.write("uneven.yaml", uneven), code=1).stdout
        self.assertRegex(text, r"the start is a singular position: 1 more than nearby; no run can begin here,\n"
                               r" +not with dense, ")
        found = json.loads(self.call("check", self.path("uneven.yaml"), "--json", code=1).stdout)
        self.assertEqual((found["can_begin"], found["not_tried"]), ([], []))
        self.assertEqual(sorted(found["cannot_begin"]), sorted(everyone + ["rattle"]))
        for name in found["cannot_begin"]:
            done = self.call("run", self.path("uneven.yaml"), "--formulation", name, code=1)
            self.assertRegex(done.stderr, r"singular position at t = 0 s: the constraints of joint '\w'")
            self.assertIn("from rest the loads do not single out one motion", done.stderr)
            self.assertRegex(done.stderr, r"; motions lead on with qd of 'A', 'B', 'C', 'D' as 0, 1, 0, 1 or 1, -1, 1, 1\s*$")
        # choices are never cut: joints of the loop are left out for them
        named = re.sub(r"(  B: .*)\}", r"\1, qd: [1]}", flat)
        for joint, name in ("A", "lower_left_pin"), ("B", "upper_left_pin"), ("C", "upper_right_pin"), ("D", "lower_right_pin"):
            named = named.replace(f"  {joint}: {{", f"  {name}: {{")
        self.assertRegex(self.call("run", self.write("named.yaml", named), code=1).stderr,
                         r"the constraints of joint '\w+' and those of '.*; motions lead on with qd of 'lower_left_pin', "
                         r"'upper_left_pin', 'upper_right_pin', 'lower_right_pin' as 1, -1, 1, 1 or 0, 1, 0, 1\s*$")
        # what is predicted to take more than ten times as long as the fastest is not tried
        many = self.write("many.yaml", "linkwork: 1\ngenerate: {n_four_bar: {n: 20, q: [1.5707963267948966, 0, 0]}}\n")
        self.assertIn("; not tried: dense\n", self.call("check", many, code=1).stdout)
        self.assertEqual(json.loads(self.call("check", many, "--json", code=1).stdout)["not_tried"], ["dense"])

        functions = ("functions:\n  fast: {type: polynomial, coefficients: [0, 0, 1]}\n"
                     "  slow: {type: polynomial, coefficients: [0, 0, 0.5]}\nbodies:")
        fight = at_rest.replace("bodies:", functions)
        fight = re.sub(r"(  A: .*)\}", r"\1, motion: {q0: fast}}", fight)
        fight = re.sub(r"(  D: .*)\}", r"\1, motion: {q0: slow}}", fight)
        text = self.call("check", self.write("fight.yaml", fight)).stdout
        self.assertIn("nothing can move but what drives and mounts move", text)
        self.assertRegex(text, r"(?m)^conflict +no accelerations meet all constraints at the start")

    def test_independent_coordinates_are_those_of_the_file_and_the_program(self):
        loop = os.path.join(MODELS, "four_bar.yaml")
        with open(loop, encoding="utf-8") as file:
            named = self.write("named.yaml", file.read().replace("simulation: {", "simulation: {independent: B, "))
        short = ("--duration", "0.1", "--json")
        self.assertEqual(json.loads(self.call("run", named, *short).stdout)["options"]["independent"], "B")
        over = json.loads(self.call("run", named, *short, "--independent", "A.q0").stdout)["options"]
        self.assertEqual((over["independent"], over["formulation"]), ("A.q0", "rcr"))
        self.assertIn("joint 'C' closes a loop", self.call("run", loop, "--independent", "C", code=2).stderr)
        self.assertIn("independent is ignored", self.call("run", named, "--formulation", "hdca", *short[:2]).stdout)

    def test_options_of_plans_are_refused_by_those_without(self):
        loop = self.write("p.yaml", PARALLELOGRAM)
        short = ("--duration", "0.1", "--plan", "balanced", "--threads", "2")
        text = self.call("run", loop, *short, "--formulation", "dca").stdout
        self.assertNotIn("ignored", text)
        text = self.call("run", loop, *short, "--formulation", "dense").stdout
        self.assertIn("plan is ignored", text)
        self.assertIn("threads is ignored", text)
        for formulation, why in ("aba", "has no subtrees that are worth it"), ("hdca", "is too small"):
            text = self.call("run", os.path.join(MODELS, "cart_arm.yaml"), "--duration", "0.01", "--formulation",
                             formulation, "--threads", "2", "-o", self.path("t.csv")).stdout
            self.assertIn(f"threads has no effect: {formulation} shares no work of this model, which {why}", text)
        chain = self.write("c.yaml", "linkwork: 1\ngenerate: {chain: {n: 300}}\n")
        for formulation in ("dca", "hdca"):
            words = ("run", chain, "--duration", "0.01", "--formulation", formulation)
            self.assertIn("plan has no effect", self.call(*words, "--plan", "balanced").stdout)
            self.assertNotIn("plan", self.call(*words).stdout)
        self.assertIn("plan:", self.call("run", loop, "--plan", "heap", code=2).stderr)
        self.assertIn("threads", self.call("run", loop, "--threads", "1.5", code=2).stderr)

    def test_loops_open_where_they_are_cut_and_move_the_same(self):
        four_bar, last = os.path.join(MODELS, "four_bar.yaml"), []
        for joint in "ABCD":
            found = json.loads(self.call("check", four_bar, "--cut", joint, "--json").stdout)
            self.assertEqual([j["name"] for j in found["joints"] if j["closes_loop"]], [joint])
            self.call("run", four_bar, "--cut", joint, "--rtol", "1e-11", "--atol", "1e-11",
                      "--duration", "0.5", "-q", "-o", self.path("rows.csv"))
            head, rows = self.rows("rows.csv")
            last.append([x for name, x in zip(head, rows[-1]) if name.endswith(".q0")])
            self.assertEqual(len(last[-1]), 4)
            for a, b in zip(last[0], last[-1]):
                self.assertAlmostEqual(a, b, delta=1e-8)
        for joints, says in (("A,Q", "joint 'Q' to cut: there is none"),
                             ("A,B", "every joint of its loop is cut")):
            self.assertIn(says, self.call("check", four_bar, "--cut", joints, code=3).stderr)

    def test_check_shows_what_a_urdf_loses(self):
        text = self.call("check", os.path.join(MODELS, "ur5.urdf")).stdout
        self.assertIn("6 revolute", text)
        self.assertIn("ur5.urdf:", text)

    def finger(self, leader, follower):
        """A leader on the world, a link that mimics it; masses of both."""
        def link(name, mass):
            return ("<link name='%s'><inertial><origin xyz='0.1 0 0'/><mass value='%g'/><inertia ixx='%g' iyy='%g' izz='%g'"
                    " ixy='0' ixz='0' iyz='0'/></inertial></link>" % (name, mass, 1e-3 * mass, 1e-3 * mass, 1e-3 * mass))

        def joint(name, parent, child, more):
            return ("<joint name='%s' type='continuous'><parent link='%s'/><child link='%s'/><origin xyz='0.2 0 0'/>"
                    "<axis xyz='0 1 0'/>%s</joint>" % (name, parent, child, more))

        return self.write("finger.urdf", "<robot name='f'><link name='world'/>%s%s%s%s</robot>" % (
            link("one", leader), link("two", follower), joint("A", "world", "one", ""),
            joint("B", "one", "two", "<mimic joint='A' multiplier='0.7'/>")))

    def test_massless_links_that_mimic_move_with_their_leaders(self):
        alone, rows = {}, {}
        for follower in (0, 1e-12):
            model = self.finger(1, follower)
            self.call("check", model)
            self.call("run", model, "--duration", "0.5", "-o", self.path("a.csv"))
            head, values = self.rows("a.csv")
            alone[follower] = [row[head.index("joint.A.q0")] for row in values]
            rows[follower] = [row[head.index("joint.B.q0")] for row in values]
        for a, b in zip(alone[0], alone[1e-12]):  # a mass that does not matter
            self.assertAlmostEqual(a, b, delta=1e-8)
        for a, b in zip(alone[0], rows[0]):
            self.assertAlmostEqual(0.7 * a, b, delta=1e-9)
        self.assertGreater(abs(alone[0][-1]), 0.5)  # it falls

    def test_check_finds_what_a_run_refuses(self):
        model = self.finger(0, 0)
        done = self.call("check", model, code=1)
        self.assertRegex(done.stdout, r"method       none: .*'(A|B|one|two)'")
        self.assertRegex(json.loads(self.call("check", model, "--json", code=1).stdout)["refused"], r"'(A|B|one|two)'")
        self.call("run", model, "--duration", "0.1", "-o", self.path("a.csv"), code=1)
        good = json.loads(self.call("check", self.model, "--json").stdout)
        self.assertIn("dopri5", good["method"])

    def test_a_root_link_can_float(self):
        dog = os.path.join(MODELS, "anymal_c.urdf")
        fixed = json.loads(self.call("check", dog, "--json", "--base", "fixed").stdout)
        floating = json.loads(self.call("check", dog, "--json", "--base=floating").stdout)
        self.assertEqual((fixed["dof"], floating["dof"]), (12, 18))
        self.assertIn("floating", self.call("check", dog, "--base", "flying", code=2).stderr)

    def test_info_names_what_there_is(self):
        info = json.loads(self.call("info", "--json").stdout)
        names = {key: [part["name"] for part in info[key]] for key in info if key != "version"}
        self.assertLessEqual({"momenta", "aba", "dense"}, set(names["formulations"]))
        self.assertLessEqual({"dopri5", "rk4"}, set(names["integrators"]))
        self.assertLessEqual({"revolute", "free", "distance"}, set(names["joint_types"]))
        self.assertIn("SUNDIALS", names["libraries"])
        self.assertLessEqual({"time", "body.NAME.x y z", "joint.NAME.qK", "sys.E"}, set(names["columns"]))
        text = self.call("info").stdout
        for name in names["formulations"] + names["integrators"] + names["formats"] + names["columns"]:
            self.assertIn(name, text)

    def test_the_schema_is_json(self):
        self.assertIn("properties", json.loads(self.call("schema").stdout))
        self.call("schema", "-o", self.path("schema.json"))
        with open(self.path("schema.json"), encoding="utf-8") as file:
            self.assertIn("properties", json.load(file))

    def test_bench_times_the_chains(self):
        cases = json.loads(self.call("bench", "--json", "--seconds", "0.001").stdout)["cases"]
        self.assertLessEqual({(n, m) for n in (7, 128, 1024) for m in ("aba", "momenta", "rnea")},
                             {(c["bodies"], c["method"]) for c in cases})
        for case in cases:
            self.assertGreater(case["minimum"], 0)
            self.assertGreaterEqual(case["median"], case["minimum"])


class Convert(Program):
    def test_a_written_file_read_again_is_written_the_same(self):
        for name in sorted(os.listdir(MODELS)):
            if not name.endswith((".yaml", ".urdf")):
                continue
            source = os.path.join(MODELS, name)
            self.call("convert", source, "-o", self.path("a.yaml"))
            self.call("convert", self.path("a.yaml"), "-o", self.path("b.yaml"))
            with open(self.path("a.yaml"), "rb") as a, open(self.path("b.yaml"), "rb") as b:
                self.assertEqual(a.read(), b.read(), name)

    def test_the_converted_model_moves_the_same(self):
        source = os.path.join(MODELS, "cart_arm.yaml")
        self.call("convert", source, "-o", self.path("a.yaml"))
        self.call("run", source, "--duration", "1", "-o", self.path("a.csv"))
        self.call("run", self.path("a.yaml"), "--duration", "1", "-o", self.path("b.csv"))
        self.assertEqual(self.rows("a.csv"), self.rows("b.csv"))

    def test_models_are_written_in_known_formats_only(self):
        self.assertIn(".yaml", self.call("convert", self.model, "-o", "x.sdf", code=2).stderr)

    def test_trees_are_written_as_robots(self):
        source = os.path.join(MODELS, "ur5.urdf")
        for ending in ("urdf", "xml"):
            robot, again = self.path("a." + ending), self.path("b.yaml")
            self.call("convert", source, "-o", robot)
            self.call("convert", robot, "-o", again)
            for model in (source, robot, again):
                self.call("run", model, "--duration", "0.5", "--rtol", "1e-10", "--atol", "1e-10", "-o",
                          self.path(os.path.basename(model) + ".csv"))
            head, rows = self.rows("ur5.urdf.csv")
            wanted = rows[-1][head.index("joint.elbow_joint.q0")]
            for name in ("a." + ending, "b.yaml"):
                head, rows = self.rows(name + ".csv")
                found = rows[-1][head.index("joint.elbow_joint.q0")]
                self.assertAlmostEqual(found, wanted, delta=1e-7)  # errors of 1e-10 a step
        loop = os.path.join(MODELS, "four_bar.yaml")
        self.assertIn("closes a loop", self.call("convert", loop, "-o", self.path("c.urdf"), code=2).stderr)
        self.assertFalse(os.path.exists(self.path("c.urdf")))


    def test_a_robot_starts_at_the_key_that_is_named(self):
        source = self.write("lean.yaml", "linkwork: 1\nbodies: {rod: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [0, 0, -1]}}\n"
                            "joints: {hinge: {type: revolute, between: [ground, rod], at: [0, 0, 0], axis: [0, 1, 0], q: [0.4]}}\n")
        robot = self.path("lean.xml")
        self.call("convert", source, "-o", robot)
        self.assertIn("start", [line for line in self.call("check", robot).stdout.splitlines() if "requested by name" in line][0])

        def start(*arguments):
            self.call("run", robot, "--duration", "0", "-o", self.path("start.csv"), *arguments)
            head, rows = self.rows("start.csv")
            return [rows[0][head.index(c)] for c in ("joint.hinge.q0", "body.rod.x")]

        self.assertEqual(start()[0], 0)
        hinge, x = start("--keyframe", "start")
        self.assertAlmostEqual(hinge, 0.4, 14)
        self.call("run", source, "--duration", "0", "-o", self.path("start.csv"))
        head, rows = self.rows("start.csv")
        self.assertAlmostEqual(x, rows[0][head.index("body.rod.x")], 14)
        self.assertIn("did you mean 'start'", self.call("check", robot, "--keyframe", "stat", code=3).stderr)
        self.assertIn("only MJCF has keyframes", self.call("check", source, "--keyframe", "start", code=3).stderr)


class Kept(Program):
    """What exists where something is to be written stays until that is whole; what is read stays."""

    LOOP = """<robot name="r"><link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"
    ixy="0" ixz="0" iyz="0"/></inertial></link><link name="b"><inertial><mass value="1"/><inertia ixx="1"
    iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint>
    <loop_joint name="l" type="spherical"><link1 link="a" xyz="1 0 0" rpy="0 0 0"/>
    <link2 link="b" xyz="1 0 0" rpy="0 0 0"/></loop_joint></robot>
    """

    def text(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def test_a_conversion_that_fails_leaves_the_file(self):
        robot, other = self.write("robot.urdf", self.LOOP), self.write("other.urdf", "old")
        self.assertIn("'l' closes a loop", self.call("convert", robot, "-o", other, code=2).stderr)
        self.assertEqual(self.text("other.urdf"), "old")
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["other.urdf", "pendulum.yaml", "robot.urdf"])

    def test_a_file_is_replaced_with_its_mode_and_through_links(self):
        other = self.write("other.yaml", "old")
        os.chmod(other, 0o600)
        os.symlink("other.yaml", self.path("link.yaml"))
        self.call("convert", self.model, "-o", self.path("link.yaml"))
        self.assertTrue(os.path.islink(self.path("link.yaml")))
        self.assertEqual(os.stat(other).st_mode & 0o777, 0o600)
        self.assertIn("frame1", self.text("other.yaml"))
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["link.yaml", "other.yaml", "pendulum.yaml"])

    def test_a_model_is_not_written_over_itself(self):
        before = self.text("pendulum.yaml")
        os.symlink("pendulum.yaml", self.path("link.yaml"))
        for verb in ("convert", "assemble"):
            for name in ("pendulum.yaml", "link.yaml"):
                done = self.call(verb, self.model, "-o", self.path(name), code=2)
                self.assertIn(name + ": is a file that is read; expected another to write", done.stderr)
        self.assertEqual(self.text("pendulum.yaml"), before)

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full here")
    def test_what_cannot_be_printed_is_an_error(self):
        for arguments in (("--help",), ("run", "--help"), ("--version",), ("info",), ("check", self.model)):
            with open("/dev/full", "w", encoding="ascii") as full:
                done = subprocess.run([LINKWORK, *arguments], stdout=full, stderr=subprocess.PIPE, check=False)
            self.assertEqual(done.returncode, 1, arguments)
            self.assertIn(b"standard output", done.stderr)
        done = subprocess.run([LINKWORK, "check", self.model], stderr=subprocess.PIPE, check=False,
                              preexec_fn=lambda: os.close(1))
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"standard output", done.stderr)

    def test_results_are_not_written_over_what_is_read_nor_twice(self):
        first = self.path("first.csv")
        self.call("run", self.model, "-q", "-o", first)
        before = self.text("first.csv")
        other = os.path.join(self.folder.name, ".", "first.csv")
        for arguments in (["--initial", first, "-o", first], ["--initial", first, "-o", other]):
            self.assertIn("is a file that is read",
                          self.call("run", self.model, "-q", *arguments, code=2).stderr)
        table = self.write("table.csv", "body.rod.mass\n1\n2\n")
        for verb in ("run", "sweep"):
            self.call(verb, self.model, "-q", "--batch", table, "-o", table, code=2)
        for one, two in (("new.h5", "new.h5"), ("new.csv", "./new.csv")):
            self.assertIn("to be written twice",
                          self.call("run", self.model, "-q", "-o", self.path(one), "-o",
                                    os.path.join(self.folder.name, two), code=2).stderr)
        self.assertEqual(self.text("first.csv"), before)
        self.assertEqual(self.text("table.csv"), "body.rod.mass\n1\n2\n")
        self.assertFalse(os.path.exists(self.path("new.csv")))

    def test_a_result_without_rows_is_reported(self):
        empty = self.write("empty.csv", "time\n")
        self.assertIn("the result has no rows",
                      self.call("run", self.model, "-q", "--initial", empty, code=3).stderr)

    def test_an_option_is_given_once(self):
        for first, second in (("--duration=1", "--duration=0.01"), ("--max-steps=9", "--max_steps=9"), ("-q", "--quiet"),
                              ("--initial=a.h5", "--initial=b.h5")):
            done = self.call("run", self.model, first, second, code=2)
            self.assertRegex(done.stderr, r"^linkwork: --\S+ is given twice; expected once\n$")

    def test_byte_order_marks_are_accepted(self):
        for name, text in (("a.yaml", self.text("pendulum.yaml")), ("a.urdf", self.LOOP)):
            with open(self.path(name), "w", encoding="utf-8-sig") as file:
                file.write(text)
            self.call("check", self.path(name))
        with open(self.path("table.csv"), "w", encoding="utf-8-sig") as file:
            file.write("gravity.z\n-1\n-2\n")
        self.call("sweep", self.model, "--batch", self.path("table.csv"), "--duration", "0.1", "-o", self.path("a.csv"))
        self.assertEqual(self.rows("a.csv")[0][2], "vary.gravity.z")
        with open(self.path("table.csv"), "w", encoding="utf-16") as file:
            file.write("gravity.z\n-1\n-2\n")
        done = self.call("sweep", self.model, "--batch", self.path("table.csv"), code=3)
        self.assertIn("table.csv:1:1: is in UTF-16, expected UTF-8", done.stderr)

    def test_names_cannot_leave_comments_of_generated_code(self):
        name = "a*/ /* ?? \\\\"
        self.write("names.yaml", "linkwork: 1\nbodies: {b: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}}\n"
                   "joints: {\"%s\": {type: revolute, between: [ground, b], at: [0, 0, 0]}}\n" % name)
        self.call("codegen", self.path("names.yaml"), "-q", "-o", self.path("code"))
        with open(os.path.join(self.path("code"), "names.c"), encoding="utf-8") as file:
            text = file.read()
        self.assertIn("a__ __ __ _", text)
        self.assertNotIn("a*/", text)
        self.assertNotIn("?? ", text)

    def test_an_unknown_letter_is_reported_as_it_was_typed(self):
        self.assertIn("check has no option -o\n", self.call("check", self.model, "-o", "x", code=2).stderr)


class Codegen(Program):
    def test_a_model_becomes_a_folder_of_c(self):
        done = self.call("codegen", os.path.join(MODELS, "ur5.urdf"), "-o", self.path("arm"))
        self.assertIn("forward_dynamics", done.stdout)
        self.assertEqual(sorted(os.listdir(self.path("arm"))),
                         ["CMakeLists.txt", "Makefile", "example.c", "ur5.c", "ur5.h"])

    def test_what_cannot_be_generated_is_named(self):
        self.write("ball.yaml", "linkwork: 1\nbodies: {b: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}}\n"
                   "joints: {ball: {type: spherical, between: [b, ground], at: [0, 0, 0]}}\n")
        for arguments, expected in (
                ((self.path("ball.yaml"), "-o", self.path("x")),
                 "ball.yaml:3:10: no code can be generated: spherical joint 'ball' leads from body 'b'"),
                ((self.model,), "-o DIR")):
            self.assertIn(expected, self.call("codegen", *arguments, code=2).stderr)
        self.assertFalse(os.path.exists(self.path("x")))


class Compare(Program):
    def test_a_method_that_does_not_fit_is_named_with_its_error(self):
        model = self.write("parallelogram.yaml", PARALLELOGRAM)
        text = self.call("compare", model, "--formulations", "aba,dense", code=2).stderr
        self.assertRegex(text, r"\Alinkwork: aba: .*joint 'C' closes a loop.*\n\Z")

    def test_formulations_agree_and_the_table_says_so(self):
        model = os.path.join(MODELS, "cart_arm.yaml")
        arguments = ("compare", model, "--formulations", "aba,momenta,dense,aba:rk4", "--duration",
                     "1", "--rtol", "1e-10", "--atol", "1e-10", "--step", "0.001")
        methods = json.loads(self.call(*arguments, "--json").stdout)["methods"]
        self.assertEqual([m["formulation"] for m in methods], ["aba", "momenta", "dense", "aba"])
        self.assertEqual(methods[3]["integrator"], "rk4")
        for method in methods[1:]:
            for quantity, difference in method["difference"].items():
                # global error of a run over one second, some hundred times the tolerance
                self.assertLess(difference, 1e-7 * max(1, methods[0]["scale"][quantity]),
                                (method["name"], quantity))
            self.assertGreater(method["evaluations"], 0)
        text = self.call(*arguments).stdout
        for word in ("position [m]", "reaction torque [N m]", "evaluations", "aba:rk4"):
            self.assertIn(word, text)

    def test_the_others_go_on_without_a_formulation_that_cannot(self):
        arguments = ("compare", os.path.join(MODELS, "four_bar.yaml"), "--formulations", "aba,rcr,momenta,dense",
                     "--duration", "0.1")
        methods = json.loads(self.call(*arguments, "--json").stdout)["methods"]
        for i in (0, 2):
            self.assertIn("joint 'C' closes a loop", methods[i]["left_out"])
            self.assertNotIn("steps", methods[i])
        self.assertIn("scale", methods[1])  # the reference is the first that can
        self.assertLess(methods[3]["difference"]["position"], 1e-8)
        text = self.call(*arguments).stdout
        self.assertIn("largest difference from rcr (", text)
        self.assertRegex(text, r"\nmomenta is left out: .*joint 'C' closes a loop")

    def test_reactions_are_compared_where_they_are_unique(self):
        # a plane linkage: its bearing forces in the plane are unique, those across it are not
        arguments = ("compare", os.path.join(MODELS, "four_bar.yaml"), "--formulations", "rcr,dense,hdca",
                     "--duration", "0.2", "--rtol", "1e-10", "--atol", "1e-10", "--json")
        methods = json.loads(self.call(*arguments).stdout)["methods"]
        self.assertGreater(methods[0]["scale"]["reaction force"], 0.1)
        for method in methods[1:]:
            self.assertLess(method["difference"]["reaction force"], 1e-6 * methods[0]["scale"]["reaction force"])

    def test_tolerances_are_those_of_the_methods_that_have_them(self):
        done = self.call("compare", os.path.join(MODELS, "four_bar.yaml"), "--formulations", "rattle,dense", "--rtol",
                         "1e-11", "--atol", "1e-11", "--step", "1e-3", "--duration", "0.1", "--json")
        self.assertEqual([method["name"] for method in json.loads(done.stdout)["methods"]], ["rattle", "dense"])

    def test_equal_steps_of_a_default_length_are_said(self):
        # cassie held at the pelvis: rattle's distance is an error of its step, of order two
        far = []
        for step in (None, 5e-4):
            arguments = ("compare", os.path.join(MODELS, "../../tests/models/cassie_v2.sdf"), "--base", "fixed", "--formulations",
                         "rcr,rattle", "--duration", "0.01") + (("--step", str(step)) if step else ())
            method = json.loads(self.call(*arguments, "--json").stdout)["methods"][1]
            far.append(method["difference"]["angular acceleration"])
            self.assertEqual(method.get("default_step"), None if step else 1e-3)
            said = "rattle takes equal steps, of 0.001 s as none is given"
            self.assertEqual(said in self.call(*arguments).stdout, not step)
        self.assertAlmostEqual(far[0] / far[1], 4, delta=0.1)

    def test_a_model_that_does_not_close_has_its_warnings(self):
        model = self.path("open.yaml")
        text = """linkwork: 1
bodies:
  a: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [0.5, 0, 0]}
  b: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [3.5, 0, 0]}
  c: {mass: 6e5, inertia: [100, 100, 100, 0, 0, 0], position: [4, 0, 0]}
joints:
  left: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 0, 1]}
  right: {type: revolute, between: [ground, b], at: [4, 0, 0], axis: [0, 0, 1]}
  ball: {type: revolute, between: [ground, c], at: [4, 0, 0], axis: [0, 0, 1]}
  middle: {type: revolute, between: [a, b], frame1: {position: [0.5, 0, 0]}, frame2: {position: [-0.5, 0, 0]}}
"""
        with open(model, "w", encoding="utf-8") as file:
            file.write(text)
        done = self.call("check", model, code=3)
        self.assertIn("joint 'middle' (revolute, 'a' to 'b') does not close its loop", done.stderr.splitlines()[0])
        self.assertRegex(done.stderr, r"\nwarning: .*open.yaml:5:3: body 'c': 600000 kg are 6e\+05 times")

    def test_a_formulation_that_cannot_is_named(self):
        done = self.call("compare", os.path.join(MODELS, "four_bar.yaml"), "--formulations",
                         "dense,aba", "--duration", "0.1", code=2)
        self.assertIn("aba", done.stderr)
        self.assertIn("dense", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
