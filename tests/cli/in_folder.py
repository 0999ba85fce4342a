"""Tests that run the program in a temporary folder; the program and the folder of models are arguments of the test."""
import os
import subprocess
import sys
import tempfile
import unittest

LINKWORK, MODELS = (os.path.abspath(a) for a in sys.argv[1:3])


def linkwork(*words, cwd=None, **more):
    return subprocess.run([LINKWORK, *words], cwd=cwd, capture_output=True, text=True, timeout=300, check=False, **more)


class InFolder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = self.folder.name

    def tearDown(self):
        self.folder.cleanup()

    def run_ok(self, *words):
        done = linkwork(*words, cwd=self.path)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def refused(self, code, text, *words):
        done = linkwork(*words, cwd=self.path)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn(text, done.stderr)

    def bytes_of(self, name):
        with open(os.path.join(self.path, name), "rb") as file:
            return file.read()
