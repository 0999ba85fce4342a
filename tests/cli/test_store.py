#!/usr/bin/env python3
"""`linkwork sweep` with a folder: the table of the parts is that of one sweep, byte for byte, for any processes and
after any kill; damaged parts, full disks, other studies.

usage: test_store.py LINKWORK MODELS
"""
import json
import os
import resource
import signal
import subprocess
import sys
import time
import unittest

from in_folder import LINKWORK, MODELS, InFolder, linkwork

MODEL = os.path.join(MODELS, "cart_arm.yaml")
STUDY = ("sweep", MODEL, "--vary", "joint.rail.q0=0:1:12", "--vary", "body.cart.mass=-1,2,5", "--duration", "0.1",
         "--watch", "body.cart.x,sys.T")  # every third variant has no model


class Store(InFolder):
    def whole(self, ending="csv", study=STUDY):
        """The table of one sweep of one thread without a folder."""
        linkwork(*study, "--threads", "1", "--table", "whole." + ending, "--quiet", cwd=self.path)
        return self.bytes_of("whole." + ending)

    def merged(self, folder, ending="csv"):
        self.run_ok("sweep", "--merge", folder, "-o", "merged." + ending, "--quiet")
        return self.bytes_of("merged." + ending)

    def parts(self, folder="s"):
        return sorted(os.listdir(os.path.join(self.path, folder, "parts")))

    def state(self, folder="s"):
        return json.loads(self.run_ok("sweep", "--status", folder, "--json"))

    def begin(self, *words, study=STUDY):
        return subprocess.Popen([LINKWORK, *study, "--store", "s", *words], cwd=self.path,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def test_the_table_of_parts_is_that_of_one_sweep(self):
        whole = self.whole()
        for k, rows in enumerate(("1", "5", "36", "1000")):
            self.run_ok(*STUDY, "--store", f"s{k}", "--part-rows", rows, "--threads", str(1 + k), "--lanes", "148"[k % 3])
            self.assertEqual(self.merged(f"s{k}"), whole, rows)
        merged = self.merged("s1", "h5")
        time.sleep(1.1)  # files have no times
        self.assertEqual(merged, self.whole("h5"))
        self.run_ok(*STUDY, "--store", "s4", "--table", "t.csv")  # parts of the default size
        self.assertEqual(self.bytes_of("t.csv"), whole)

    def test_failed_variants_are_rows_with_their_reason(self):
        self.run_ok(*STUDY, "--store", "s", "--part-rows", "1")  # parts in which nothing can run
        table = self.merged("s").decode().splitlines()
        failed = [row for row in table[1:] if "mass" in row]
        self.assertEqual(len(failed), 12)
        self.assertTrue(failed[0].startswith("0,0,-1,"), failed[0])
        state = self.state()
        self.assertEqual((state["rows"], state["failed"], state["complete"]), (36, 12, 36))

    def test_variants_that_an_event_stops_have_not_failed(self):
        with open(os.path.join(self.path, "stops.yaml"), "w", encoding="ascii") as file:
            file.write('linkwork: 1\nparameters: {limit: 0.5}\nbodies: {arm: {mass: 1}}\n'
                       'joints: {A: {type: prismatic, between: [ground, arm], axis: [0, 0, -1], at: [0, 0, 0]}}\n'
                       'events: {far: {when: A.q0 - limit, stop: true}}\nmeasures: {way: joint.A.q0}\n')
        self.run_ok("sweep", "stops.yaml", "--vary", "limit=0.1,0.2,9", "--vary", "body.arm.mass=1,-1", "--duration", "1",
                    "--store", "s", "--part-rows", "2", "-q")
        state = self.state()
        self.assertEqual((state["rows"], state["failed"]), (6, 3))
        self.assertEqual(self.merged("s").decode().count('"stopped"'), 2)

    def test_a_study_in_which_nothing_can_run_is_refused(self):
        study = ("sweep", MODEL, "--vary", "body.cart.mass=-1,-2", "--duration", "0.1", "--store", "s")
        self.refused(3, "mass", *study)
        self.assertFalse(os.path.exists(os.path.join(self.path, "s")))

    def test_killed_at_any_time_it_goes_on(self):
        whole = self.whole()
        for k in range(8):  # drivers of one folder are killed, two at a time
            drivers = [self.begin("--part-rows", "1", "--threads", "1") for _ in range(2)]
            time.sleep(0.01 + 0.012 * k)
            for driver in drivers:
                driver.kill()
                driver.communicate()
        self.run_ok(*STUDY, "--store", "s", "--part-rows", "1")
        self.assertEqual(self.merged("s"), whole)
        self.assertEqual(len([p for p in self.parts() if not p.startswith(".part-")]), 36)

    def test_several_drivers(self):
        drivers = [self.begin("--part-rows", "2") for _ in range(3)]
        for driver in drivers:
            _, errors = driver.communicate(timeout=200)
            self.assertEqual(driver.returncode, 0, errors)
        self.assertEqual(self.merged("s"), self.whole())
        self.assertEqual(len(self.parts()), 18)

    def test_shares(self):
        for k in (2, 3):
            self.run_ok(*STUDY, "--store", "s", "--part-rows", "5", "--part", f"{k}/3")
        self.assertEqual(self.state()["complete"], 5)  # of 8
        self.refused(2, "3 of 8 parts are missing", "sweep", "--merge", "s", "-o", "m.csv")
        self.assertFalse(os.path.exists(os.path.join(self.path, "m.csv")))
        self.run_ok("sweep", "--resume", "s", "--part", "1/3", "--threads", "1")
        self.assertEqual(self.merged("s"), self.whole())
        self.run_ok(*STUDY, "--store", "many", "--part", "1/9")
        self.assertGreaterEqual(self.state("many")["parts"], 9)

    def test_a_signal_ends_it_and_nothing_is_lost(self):
        long = tuple("60" if word == "0.1" else word for word in STUDY)  # its duration
        for number in (signal.SIGTERM, signal.SIGINT):
            driver = self.begin("--part-rows", "1", study=long)
            limit = time.time() + 100
            while not os.path.exists(os.path.join(self.path, "s", "manifest.json")) and time.time() < limit:
                time.sleep(0.01)
            time.sleep(0.2)
            driver.send_signal(number)
            begun = time.time()
            _, errors = driver.communicate(timeout=100)
            self.assertLess(time.time() - begun, 60 if "ASAN_OPTIONS" in os.environ else 5)
            if driver.returncode not in (-number, 0):
                self.assertIn("--resume s` continues", errors)
                self.assertEqual(driver.returncode, 1)
        self.run_ok("sweep", "--verify", "s")

    def test_damaged_parts_are_found_and_made_again(self):
        self.run_ok(*STUDY, "--store", "s", "--part-rows", "5")
        whole, names = self.merged("s"), self.parts()
        where = [os.path.join(self.path, "s", "parts", n) for n in names]
        text = [self.bytes_of(w) for w in where]
        damage = {0: text[0].replace(b"1", b"2", 1), 2: text[2][:-40], 3: b"", 4: text[5], 6: text[6] + b"x"}
        for k, wrong in damage.items():
            with open(where[k], "wb") as file:
                file.write(wrong)
        self.refused(3, names[0], "sweep", "--merge", "s", "-o", "m.csv")
        found = linkwork("sweep", "--verify", "s", cwd=self.path)
        self.assertEqual(found.returncode, 1)
        for k, name in enumerate(names):
            self.assertEqual(name in found.stderr, k in damage, (k, found.stderr))
        self.assertIn("5 parts were damaged", found.stderr)
        self.run_ok("sweep", "--resume", "s")
        self.assertEqual(self.merged("s"), whole)
        self.run_ok("sweep", "--verify", "s")

    def test_damaged_manifest_model_and_variants(self):
        self.run_ok(*STUDY, "--store", "s", "--part-rows", "5")
        whole = self.merged("s")
        for name in sorted(os.listdir(os.path.join(self.path, "s"))):
            if name == "parts":
                continue
            path = os.path.join(self.path, "s", name)
            text = self.bytes_of(path)
            with open(path, "wb") as file:
                file.write(text.replace(b"2", b"3", 1))
            self.refused(3, name, "sweep", "--status", "s")
            self.run_ok(*STUDY, "--store", "s")  # the same command writes them again
            self.assertEqual(self.bytes_of(path), text)
            self.assertEqual(self.merged("s"), whole)

    def test_a_damaged_manifest_is_written_again(self):
        self.run_ok(*STUDY, "--store", "s", "--part-rows", "5")
        path, parts = os.path.join(self.path, "s", "manifest.json"), self.parts()
        text, whole = self.bytes_of(path), self.merged("s")

        def damage(wrong=b""):
            with open(path, "wb") as file:
                file.write(wrong)

        damage(text[:100])
        self.refused(3, "given again, writes it again", "sweep", "--resume", "s")
        self.refused(2, "not those of this study", *STUDY, "--store", "s", "--rtol", "1e-5")
        self.assertEqual(self.bytes_of(path), text[:100])
        for kept in (parts, parts[:1], parts[1:2], parts[-1:]):  # what is there when it is damaged
            damage()
            for part in set(self.parts()) - set(kept):
                os.remove(os.path.join(self.path, "s", "parts", part))
            self.run_ok(*STUDY, "--store", "s", *(["--part-rows", "5"] if kept == parts[-1:] else []))
            self.assertEqual((self.bytes_of(path), self.parts()), (text, parts))
        os.remove(path)  # the same when it is lost
        self.refused(2, "not those of this study", *STUDY, "--store", "s", "--rtol", "1e-5")
        self.refused(2, "has parts of 5 variants, which cannot become 4", *STUDY, "--store", "s", "--part-rows", "4")
        self.run_ok(*STUDY, "--store", "s")
        self.assertEqual((self.bytes_of(path), self.parts()), (text, parts))
        for part in parts:
            os.remove(os.path.join(self.path, "s", "parts", part))
        damage()
        self.run_ok(*STUDY, "--store", "s")  # without parts it is chosen again
        self.assertEqual(self.merged("s"), whole)

    def test_another_study_is_refused(self):
        self.run_ok(*STUDY, "--store", "s", "--part-rows", "5")
        before = self.parts()
        self.refused(2, "its rtol differs", *STUDY, "--store", "s", "--rtol", "1e-5")
        self.refused(2, "its columns differs", *STUDY[:-1], "sys.V", "--store", "s")
        self.refused(2, "its variants differs", *STUDY, "--vary", "gravity.z=-1", "--store", "s")
        self.refused(2, "its model differs", "sweep", os.path.join(MODELS, "crane.yaml"), "--vary", "gravity.z=-1,-2",
                     "--duration", "0.1", "--store", "s")
        self.refused(2, "parts of 5 variants", *STUDY, "--store", "s", "--part-rows", "6")
        self.assertEqual(self.parts(), before)

    def test_disk_full_and_folders_that_cannot_be_written(self):
        whole = self.whole()
        for size in (100, 500, 1500, 3000, 3300):  # of any file: the manifest, a part

            def limit(size=size):
                resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

            done = linkwork(*STUDY, "--store", "s", "--part-rows", "12", cwd=self.path, preexec_fn=limit)
            self.assertEqual(done.returncode, 1, (size, done.stderr))
            self.assertIn("cannot be written", done.stderr)
        self.run_ok(*STUDY, "--store", "s")
        self.assertEqual(self.merged("s"), whole)
        self.assertEqual([n for n in self.parts() if n.startswith(".")], [])
        self.refused(1, "cannot be created", *STUDY, "--store", "no/such/folder")
        self.refused(3, "cannot be opened", "sweep", "--resume", "nothing")
        with open(os.path.join(self.path, "file"), "w", encoding="ascii"):
            pass
        self.refused(1, "cannot be created", *STUDY, "--store", "file")

    def test_folder_that_vanishes(self):
        self.run_ok(*STUDY, "--store", "s", "--part-rows", "5", "--part", "1/9")
        os.rename(os.path.join(self.path, "s", "parts"), os.path.join(self.path, "away"))
        self.refused(1, "cannot be", "sweep", "--resume", "s")

    def test_parameters_of_the_file(self):
        with open(os.path.join(self.path, "m.yaml"), "w", encoding="ascii") as file:
            file.write("linkwork: 1\nparameters: {l: 0.5, c: 2}\n"
                       "bodies:\n  arm: {mass: 2, inertia: [0.1, 0.2, 0.2, 0, 0, 0], position: [l, 0, 0]}\n"
                       "joints:\n  A: {type: revolute, between: [ground, arm], at: [0, 0, 0], axis: [0, 1, 0],"
                       " spring: {q0: {stiffness: 40, damping: c}}}\n"
                       "measures:\n  load: hypot(joint.A.fx, joint.A.fz)\n")
        study = ("sweep", "m.yaml", "--vary", "l=0.4:0.6", "--vary", "c=normal:2:0.1", "--design", "lhs:9", "--duration",
                 "0.1")
        whole = self.whole(study=study)
        self.run_ok(*study, "--store", "s", "--part-rows", "2")
        self.assertEqual(self.merged("s"), whole)
        with open(os.path.join(self.path, "outer.yaml"), "w", encoding="ascii") as file:
            file.write("linkwork: 1\nparameters: {g: 9.81}\ngravity: [0, 0, -g]\n"
                       "include:\n  one: {file: m.yaml}\n")
        study = ("sweep", "outer.yaml", "--vary", "g=1,2", "--duration", "0.1", "--set", "g=3")
        whole = self.whole(study=study)
        self.run_ok(*study, "--store", "t", "--part-rows", "1")
        self.assertEqual(self.merged("t"), whole)
        with open(os.path.join(self.path, "m.yaml"), encoding="ascii") as file:
            text = file.read()
        with open(os.path.join(self.path, "m.yaml"), "w", encoding="ascii") as file:
            file.write(text.replace("mass: 2", "mass: 3"))
        self.refused(3, "files that it includes have changed", "sweep", "--status", "t")

    def test_an_executor_without_its_package(self):
        for python in ("/bin/false", os.path.join(self.path, "nothing")):
            done = linkwork(*STUDY, "--store", "s", "--part-rows", "5", "--engine", "dask", cwd=self.path,
                            env={**os.environ, "LINKWORK_PYTHON": python})
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("pip install linkwork[dask]", done.stderr)
        self.run_ok("sweep", "--resume", "s", "--engine", "local")
        self.assertEqual(self.merged("s"), self.whole())

    def test_an_executor_of_an_environment(self):
        home = os.path.join(self.path, "v")
        version = "python%d.%d" % sys.version_info[:2]
        packages = os.path.join(home, "lib", version, "site-packages")
        module = os.path.join(packages, *"linkwork.engine".split(".")) + ".py"
        os.makedirs(os.path.dirname(module))
        os.makedirs(os.path.join(home, "bin"))
        python = os.path.join(home, "bin", "python")
        os.symlink(os.path.realpath(sys.executable), python)
        for file, text in (("v/pyvenv.cfg", "home = %s\n" % os.path.dirname(os.path.realpath(sys.executable))),
                           (module, "import sys\nprint('given', *sys.argv[1:])\n")):
            with open(os.path.join(self.path, file), "w", encoding="utf-8") as out:
                out.write(text)
        done = linkwork(*STUDY, "--store", "s", "--engine", "processes", "--quiet", cwd=self.path,
                        env={**os.environ, "LINKWORK_PYTHON": python})
        self.assertIn("given s --engine processes", done.stdout, done.stderr)

    def test_the_package_writes_parquet(self):
        python = os.path.join(self.path, "python")
        env = {**os.environ, "LINKWORK_PYTHON": python}
        self.run_ok(*STUDY, "--store", "s")
        for code, text in ((0, ""), (3, "t.parquet: the table was not written by " + python)):
            with open(python, "w", encoding="utf-8") as out:
                out.write('#!/bin/sh\n[ "$1" = -c ] && exit 0\nshift 2\necho "$*" > given\nexit %d\n' % code)
            os.chmod(python, 0o755)
            done = linkwork("sweep", "--merge", "s", "-o", "t.parquet", cwd=self.path, env=env)
            self.assertEqual(done.returncode, 1 if code else 0, done.stderr)
            self.assertIn(text, done.stderr)
            with open(os.path.join(self.path, "given"), encoding="utf-8") as given:
                self.assertEqual(given.read(), "s --merge t.parquet\n")
        done = linkwork("sweep", "--merge", "s", "-o", "t.parquet", cwd=self.path,
                        env={**os.environ, "LINKWORK_PYTHON": os.path.join(self.path, "none")})
        self.assertEqual(done.returncode, 1)
        self.assertIn("t.parquet: .parquet needs the Python package", done.stderr)

    def test_wrong_use(self):
        for text, *words in (("MODEL is missing", "--store", "s"), ("nothing differs", MODEL, "--store", "s"),
                             ("expected one of them", "--resume", "s", "--status", "s"),
                             ("expected only --resume DIR", MODEL, "--resume", "s"),
                             ("K from 1 to N", *STUDY[1:], "--store", "s", "--part", "4/3"),
                             ("K from 1 to N", *STUDY[1:], "--store", "s", "--part", "x/3"),
                             ("from 1 on", *STUDY[1:], "--store", "s", "--part-rows", "0"),
                             ("are for --store DIR", *STUDY[1:], "--part", "1/3"),
                             ("did you mean dask", *STUDY[1:], "--store", "s", "--engine", "dusk"),
                             ("--scheduler is of", *STUDY[1:], "--store", "s", "--scheduler", "x"),
                             ("an executor makes all", *STUDY[1:], "--store", "s", "--engine", "ray", "--part", "1/2"),
                             ("--part is for", "--status", "s", "--part", "1/3"),
                             ("-o is of --merge", *STUDY[1:], "--store", "s", "-o", "x.csv"),
                             ("give the table", "--merge", "s"), ("MODEL is missing",)):
            if words[:1] == ["--merge"]:
                self.run_ok(*STUDY, "--store", "s")
            self.refused(2, text, "sweep", *words)
        self.refused(2, "--rtol too", "sweep", "--resume", "s", "--rtol", "1e-3")
        for verb, option, value in (("resume", "set", "a=1"), ("resume", "base", "fixed"), ("resume", "seed", "3"),
                                    ("resume", "vary", "a=1"), ("status", "part-rows", "3"),
                                    ("status", "table", "t.csv"), ("status", "lanes", "4"), ("verify", "level", "pose"),
                                    ("merge", "table", "t.csv")):
            self.refused(2, f"--{option} is not for --{verb} DIR", "sweep", "--" + verb, "s", "--" + option, value)

    def test_tables_that_cannot_be_written_are_refused_before(self):
        begun = (*STUDY, "--store", "s", "--part-rows", "5")
        for words in (begun, ("sweep", "--resume", "s")):
            self.refused(2, "as .h5, .csv or .parquet", *words, "--table", "t.txt")
            self.refused(1, "cannot be written", *words, "--table", "no/folder/t.csv")
            none = linkwork(*words, "--table", "t.parquet", cwd=self.path,
                            env={**os.environ, "LINKWORK_PYTHON": os.path.join(self.path, "none")})
            self.assertEqual(none.returncode, 1)
            self.assertIn("t.parquet: .parquet needs the Python package with pandas and pyarrow", none.stderr)
            if words is begun:
                self.assertFalse(os.path.exists(os.path.join(self.path, "s")))
                self.run_ok(*begun, "--part", "1/2")
            self.assertLess(self.state()["complete"], self.state()["parts"])

    def test_a_table_does_not_replace_files_of_the_study(self):
        self.run_ok(*STUDY, "--store", "s", "--part-rows", "5")
        variants = next(name for name in os.listdir(os.path.join(self.path, "s")) if name.startswith("variants"))
        before = self.bytes_of(os.path.join("s", variants))
        for file in (variants, os.path.join("parts", self.parts()[0]), os.path.join("parts", "new.csv")):
            self.refused(2, "study's own files", "sweep", "--merge", "s", "-o", os.path.join("s", file))
        self.assertEqual(self.bytes_of(os.path.join("s", variants)), before)
        self.assertEqual(self.merged("s"), self.whole())

    def test_notices_are_those_of_a_sweep(self):
        text = "linkwork: 1\nparameters: {d: 0.1}\nbodies: {b: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}}\n" \
               "simulation: {duration: d, sample: 0.05}\n"
        with open(os.path.join(self.path, "d.yaml"), "w", encoding="utf-8") as file:
            file.write(text)
        out = self.run_ok("sweep", "d.yaml", "--vary", "d=0.1,0.2", "--watch", "sys.T", "--store", "s")
        self.assertIn("duration depends on what varies in the file; all runs have 0.1", out)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
