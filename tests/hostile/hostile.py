"""What the hostile tests share: the program under test, tries that are counted, damage to files.

A test is a script `NAME.py PROGRAM MODELS [--tries N] [--seed S] [--nightly]`.  It makes a Suite, runs tries, and ends
with `sys.exit(suite.end())`: a line for each kind of try with counts of tries and failures, and exit status 1 if one
failed.  Each failure prints what repeats it.  tests/CMakeLists.txt runs each with some tries, `run.py --nightly` all.
"""
import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

SANITIZERS = ("AddressSanitizer", "runtime error:", "LeakSanitizer", "ThreadSanitizer", "assertion failed")


# The HDF5 library leaks on damaged files; leaks of ours are found by the tests with failing allocators.
os.environ.setdefault("ASAN_OPTIONS", "detect_leaks=0")


class Done:
    """What a call of the program left."""

    def __init__(self, code, out, err, seconds):
        self.code, self.out, self.err, self.seconds = code, out, err, seconds

    def fault(self):
        """Why it is a failure of any call; None: it is none."""
        if self.code is None:
            return "no end after %.0f s" % self.seconds
        if self.code not in (0, 1, 2, 3):
            return "exit status %d" % self.code
        if any(word in self.err for word in SANITIZERS):
            return "report of a sanitizer"
        if self.code and not self.err.strip() and "method       none: " not in self.out:  # of `check`: its reason is its result
            return "exit status %d without a message" % self.code
        return None


class Suite:
    def __init__(self, short, long, about):
        parser = argparse.ArgumentParser(description=about)
        parser.add_argument("program")
        parser.add_argument("models", help="folder of examples/models")
        parser.add_argument("--tries", type=int, help="default %d, nightly %d" % (short, long))
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--nightly", action="store_true")
        arguments = parser.parse_args()
        self.program, self.models = os.path.abspath(arguments.program), os.path.abspath(arguments.models)
        self.nightly = arguments.nightly
        self.tries = arguments.tries or (long if arguments.nightly else short)
        self.random = random.Random(arguments.seed)
        self.folder = tempfile.mkdtemp(prefix="hostile-")
        self.counts, self.began = {}, time.monotonic()

    def path(self, name):
        return os.path.join(self.folder, name)

    def model(self, name):
        return os.path.join(self.models, name)

    def run(self, *arguments, limit=60, command=(), **more):
        """Runs the program; `command`: words before it."""
        began = time.monotonic()
        try:
            done = subprocess.run([*command, self.program, *arguments], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=limit, check=False,
                                  errors="replace", cwd=self.folder, **more)
            return Done(done.returncode, done.stdout, done.stderr, time.monotonic() - began)
        except subprocess.TimeoutExpired:
            return Done(None, "", "", time.monotonic() - began)

    def need(self, *arguments):
        """A call that makes what the tries start from."""
        done = self.run(*arguments)
        if done.code != 0:
            sys.exit("%s: %s\n%s" % (" ".join(arguments), done.code, done.err))
        return done

    def count(self, kind, problem, repeat, done=None):
        """One try of that kind; `problem`: what was wrong, None: nothing."""
        tries, failures = self.counts.get(kind, (0, 0))
        self.counts[kind] = (tries + 1, failures + bool(problem))
        if problem and failures < 5:
            print("%s: %s\n    %s" % (kind, problem, repeat))
            if done is not None:
                print("    " + (done.err.strip().splitlines() or [""])[-1][:300])
        return not problem

    def end(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        print("%-44s %7s %9s" % ("kind", "tries", "failures"))
        for kind, (tries, failures) in sorted(self.counts.items()):
            print("%-44s %7d %9d" % (kind, tries, failures))
        tries, failures = (sum(c[i] for c in self.counts.values()) for i in (0, 1))
        print("%-44s %7d %9d, %.1f s" % ("all", tries, failures, time.monotonic() - self.began))
        return 1 if failures or not tries else 0


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


def damage(chance, data):
    """(what was done, damaged bytes)"""
    data = bytearray(data)
    at = chance.randrange(len(data))
    length = min(chance.choice((1, 4, 64, 512, 4096)), len(data) - at)
    kind = chance.choice(("bit", "bit", "bytes", "zeros", "ones", "end", "copy", "insert", "remove"))
    if kind == "bit":
        data[at] ^= 1 << chance.randrange(8)
    elif kind == "bytes":
        data[at:at + length] = chance.randbytes(length)
    elif kind in ("zeros", "ones"):
        data[at:at + length] = (b"\0" if kind == "zeros" else b"\xff") * length
    elif kind == "end":
        del data[at:]
    elif kind == "copy":
        other = chance.randrange(len(data))
        piece = data[other:other + length]
        data[at:at + len(piece)] = piece
    elif kind == "insert":
        data[at:at] = chance.randbytes(length)
    else:
        del data[at:at + length]
    return "%s at %d, %d" % (kind, at, length), bytes(data)
