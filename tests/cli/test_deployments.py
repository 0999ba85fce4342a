#!/usr/bin/env python3
"""The files of examples/cluster make a study with the bytes of one sweep.

usage: test_deployments.py LINKWORK MODELS
The array of Slurm is run task by task with its variables; Snakemake's file only where Snakemake is installed.
"""
import os
import shutil
import subprocess
import sys
import unittest

from in_folder import LINKWORK, MODELS, InFolder

EXAMPLES = os.path.join(os.path.dirname(MODELS), "cluster")
MODEL = os.path.join(MODELS, "four_bar.yaml")
ENVIRONMENT = {**os.environ, "PATH": os.path.dirname(LINKWORK) + os.pathsep + os.environ["PATH"], "MODEL": MODEL}


class Deployments(InFolder):
    def call(self, *words, **variables):
        done = subprocess.run(words, cwd=self.path, env={**ENVIRONMENT, **variables}, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def whole(self):
        self.run_ok("sweep", MODEL, "--vary", "gravity.y=-9.81:-1:200", "--duration", "0.5", "--watch", "sys.T", "--threads", "1",
                    "--table", "whole.csv", "-q")
        return self.bytes_of("whole.csv")

    def test_array_of_slurm(self):
        for task in "1", "3", "4":
            self.call("sh", os.path.join(EXAMPLES, "slurm.sh"), SLURM_ARRAY_TASK_ID=task, SLURM_CPUS_PER_TASK="1")
        self.assertEqual(len(os.listdir(os.path.join(self.path, "study", "parts"))), 15)
        self.call("sh", os.path.join(EXAMPLES, "slurm.sh"), SLURM_ARRAY_TASK_ID="2", SLURM_CPUS_PER_TASK="1")
        self.run_ok("sweep", "--merge", "study", "-o", "study.csv")
        self.assertEqual(self.bytes_of("study.csv"), self.whole())

    @unittest.skipUnless(shutil.which("snakemake"), "Snakemake is not installed")
    def test_snakemake(self):
        self.call("snakemake", "--cores", "2", "--snakefile", os.path.join(EXAMPLES, "Snakefile"), "--config", "model=" + MODEL)
        self.assertEqual(self.bytes_of("study.csv"), self.whole())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
