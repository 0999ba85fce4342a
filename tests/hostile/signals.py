#!/usr/bin/env python3
"""SIGINT, SIGTERM and SIGHUP at random times of every verb, one or two of them.

The program ends within a second of processor time (on a loaded machine: of LIMIT seconds), a second signal ends it at once.  What
it leaves can be read, or is refused with a reason; temporary files are removed.
"""
import os
import signal
import subprocess
import sys
import time

import hostile

LIMIT = 6 # s; the program waits 4 s for a disk
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

suite = hostile.Suite(29, 2000, __doc__)


def generated(name, text):
    hostile.write(suite.path(name), ("linkwork: 1\ngenerate: {%s}\n" % text).encode())
    return suite.path(name)


BIG = 4 if suite.nightly else 1
CHAIN = generated("chain.yaml", "chain: {n: %d}" % (20000 * BIG))
SHORT = generated("short.yaml", "chain: {n: 100}")
NET = generated("net.yaml", "net: {n: %d}" % (16 * BIG))
BARS = generated("bars.yaml", "n_four_bar: {n: %d}" % (1000 * BIG))
LONG = generated("long.yaml", "chain: {n: %d}" % (300 * BIG))
ENGINE = os.path.join(suite.models, "..", "engine", "engine.yaml")
AXLE = os.path.join(suite.models, "wishbone_axle.yaml")
suite.need("run", SHORT, "--duration", "1", "--sample", "0.001", "-q", "-o", suite.path("in.h5"), "-o", suite.path("in.csv"))

# verb: arguments, file, seconds within which the signals come
CASES = {
    "run": (("run", SHORT, "--duration", "1e6", "--sample", "0.01", "-q"), "out.csv", 2),
    "run .h5": (("run", SHORT, "--duration", "1e6", "--sample", "0.01", "-q"), "out.h5", 2),
    "run, large": (("run", CHAIN, "--duration", "1", "-q"), "out.h5", 6),
    "run, first row": (("run", CHAIN, "--duration", "0", "-q"), "out.h5", 3),
    "sweep, first row": (("sweep", CHAIN, "--vary", "gravity.z=-9:-10:2", "--duration", "0", "-q"), "out.h5", 4),
    "run, net": (("run", NET, "--duration", "1", "-q", "--formulation", "hdca"), "out.csv", 6),
    "run, index3": (("run", BARS, "--duration", "1", "-q", "--formulation", "index3"), "out.csv", 6),
    "sweep": (("sweep", SHORT, "--vary", "gravity.z=-9:-10:2000", "--duration", "1", "-q"), "out.h5", 3),
    "check": (("check", NET), None, 6),
    "check, plan": (("check", BARS, "--plan"), None, 4),
    "assemble": (("assemble", BARS, "-q"), "out.yaml", 3),
    "compare": (("compare", NET, "--duration", "1", "--formulations", "hdca,rcr"), None, 6),
    "kinematics": (("kinematics", ENGINE, "--duration", "1000", "-q"), "out.csv", 2),
    "inverse": (("inverse", SHORT, "--motion", "in.csv", "--actuators", "joint1", "-q"), "out.csv", 2),
    "equilibrium": (("equilibrium", LONG), None, 6),
    "linearize": (("linearize", LONG, "-q"), "out.json", 4),
    "modes": (("modes", LONG), None, 6),
    "sensitivity": (("sensitivity", AXLE, "--by", "sprung_mass,rate", "--watch", "joint.heave.q0", "--duration", "30"), None, 6),
    "optimize": (("optimize", AXLE, "--vary", "sprung_mass=600:900", "--minimize", "joint.heave.q0.rms", "--duration", "3"),
                 "out.yaml", 6),
    "convert": (("convert", CHAIN), "out.yaml", 3),
    "convert .h5": (("convert", "in.csv"), "out.h5", 0.5),
    "convert .csv": (("convert", "in.h5"), "out.csv", 0.5),
    "plot": (("plot", "in.h5"), "out.svg", 0.5),
    "view": (("view", "in.h5", "-q"), "out.html", 1),
    "codegen": (("codegen", generated("few.yaml", "chain: {n: 30}"), "-q"), "generated", 0.5),
    "info": (("info",), None, 0.05),
    "schema": (("schema",), "out.json", 0.05),
    "bench": (("bench", SHORT, "--seconds", "5"), None, 3),
    "bench, cases": (("bench",), None, 3),
}
slowest = {}


def left(name):
    """What is wrong with the files; None: nothing."""
    if [other for other in os.listdir(suite.folder) if ".part" in other]:
        return "a temporary file remains"
    if not name or not os.path.exists(suite.path(name)) or not name.endswith((".h5", ".csv")):
        return None
    done = suite.run("convert", name, "-o", suite.path("read.csv"), limit=600) # at low priority on a busy machine
    return done.fault()


def remove(name):
    for other in os.listdir(suite.folder):
        if other == name or ".part" in other:
            subprocess.run(["rm", "-rf", suite.path(other)], check=True)


def one(case):
    arguments, name, seconds = CASES[case]
    remove(name)
    first, second = suite.random.choice(SIGNALS), suite.random.choice((None,) + SIGNALS)
    delay, between = suite.random.uniform(0, seconds if suite.nightly else seconds / 3), suite.random.uniform(0, 0.3)
    with subprocess.Popen([suite.program, *arguments, *(("-o", name) if name else ())], cwd=suite.folder, text=True,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True) as run:
        time.sleep(delay)
        began = time.monotonic()
        run.send_signal(first)
        if second:
            time.sleep(between)
            run.send_signal(second)
        try:
            errors = run.communicate(timeout=60)[1]
        except subprocess.TimeoutExpired:
            run.kill()
            run.communicate()
            errors = None
    took = time.monotonic() - began - (between if second else 0)
    slowest[case] = max(slowest.get(case, 0), took)
    problem = left(name)
    if errors is None or took > (1 if second else LIMIT) + 1:
        problem = "ended after %.1f s" % took
    elif run.returncode not in (0, 1) and -run.returncode not in SIGNALS:
        problem = "exit status %d: %s" % (run.returncode, errors.strip()[-200:])
    suite.count(case, problem, "linkwork %s, %s after %.3f s%s" % (
        " ".join(arguments), first.name, delay, ", %s after %.3f s" % (second.name, between) if second else ""))


for i in range(suite.tries):
    one(list(CASES)[i % len(CASES)])
for case, took in slowest.items():
    print("%-44s ended after at most %.2f s" % (case, took))
sys.exit(suite.end())
