#!/usr/bin/env python3
"""Several programs that write one file at the same time: exit status 0 means that the file is that program's.

A result belongs to the run that opened it first, until it is closed: the others end with status 1 and leave it alone.
Other files are replaced as a whole.
"""
import os
import subprocess
import sys
import time

import hostile

suite = hostile.Suite(24, 400, __doc__)
FOUR_BAR = suite.model("four_bar.yaml")
MODELS = []
for k in range(4): # they differ in one number
    MODELS.append(suite.path("model%d.yaml" % k))
    hostile.write(MODELS[k], b"linkwork: 1\ngravity: [0, 0, %d]\ngenerate: {chain: {n: %d}}\n" % (-k - 1, 300))
    suite.need("run", MODELS[k], "--duration", "0.05", "-q", "-o", suite.path("in%d.h5" % k))

# name: arguments of program k, file, is it locked?
CASES = {
    "run .csv": (lambda k: ("run", MODELS[k], "--duration", "0.2", "--sample", "0.01", "-q"), "out.csv", True),
    "run .h5": (lambda k: ("run", MODELS[k], "--duration", "0.2", "--sample", "0.01", "-q"), "out.h5", True),
    "sweep .csv": (lambda k: ("sweep", MODELS[k], "--vary", "gravity.x=%d,9" % k, "--duration", "0.05", "-q"), "out.csv", True),
    "sweep .h5": (lambda k: ("sweep", MODELS[k], "--vary", "gravity.x=%d,9" % k, "--duration", "0.05", "-q"), "out.h5", True),
    "convert .h5": (lambda k: ("convert", "in%d.h5" % k), "out.h5", False),
    "convert .csv": (lambda k: ("convert", "in%d.h5" % k), "out.csv", False),
    "convert .yaml": (lambda k: ("convert", MODELS[k]), "out.yaml", False),
    "view .html": (lambda k: ("view", "in%d.h5" % k, "-q"), "out.html", False),
}


def content(path):
    if not path.endswith(".h5"):
        return hostile.read(path)
    suite.need("convert", path, "-o", suite.path("content.csv"))
    return hostile.read(suite.path("content.csv"))


def expected(case, k):
    arguments, name, _ = CASES[case]
    if (case, k) not in whole:
        whole[case, k] = None
        suite.need(*arguments(k), "-o", "alone-" + name)
        whole[case, k] = content(suite.path("alone-" + name))
    return whole[case, k]


def one(case, count):
    arguments, name, locked = CASES[case]
    path = suite.path(name)
    if os.path.exists(path):
        os.remove(path)
    started = []
    for k in range(count):
        started.append(subprocess.Popen([suite.program, *arguments(k), "-o", name], cwd=suite.folder, text=True,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE))
        time.sleep(suite.random.choice((0, 0.002, 0.02)))
    errors = [run.communicate(timeout=120)[1] for run in started]
    codes = [run.returncode for run in started]
    done = [k for k in range(count) if codes[k] == 0]
    problem = None
    if any(code not in (0, 1) for code in codes) or not done:
        problem = "exit statuses %s" % codes
    elif any(code == 1 and not (locked and "is being written by another run" in error)
             for code, error in zip(codes, errors)):
        problem = "a message is missing: %s" % errors
    elif not any(content(path) == expected(case, k) for k in done):
        problem = "the file is of none of those that ended with status 0: %s" % codes
    elif [other for other in os.listdir(suite.folder) if ".part" in other]:
        problem = "a temporary file remains"
    suite.count("%d programs, %s" % (count, case), problem, "linkwork %s -o %s" % (" ".join(arguments(0)), name))


whole = {}
for i in range(suite.tries):
    one(list(CASES)[i % len(CASES)], suite.random.choice((2, 2, 4)))
sys.exit(suite.end())
