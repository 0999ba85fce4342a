#!/usr/bin/env python3
"""Every verb while one allocation fails, the n-th, or all from the n-th on, or all above some number of bytes.

The program ends with status 1 and says that there is no memory, or does without it: with status 0 the files and the
output are those of a run in which nothing fails.  failing_malloc.c counts the allocations of all libraries.
So too with each allocation of Linkwork itself, and of no other library, that fails: nothing is excepted there.

Some allocations within SUNDIALS and HDF5 crash when one of them fails at random, because these libraries do not check them and
nothing outside can: those of UNCHECKED, and all in HDF5.  These tries are counted as such, and a crash there is no failure of
this test.  When memory ends, as it does above a number of bytes, every crash is a failure.
"""
import os
import re
import shutil
import sys

import hostile

NO_MEMORY = re.compile("no memory|cannot allocate memory|out of memory|memory allocation|allocation failed", re.IGNORECASE)
NO_PRELOAD = "skipped: a preloaded library"

suite = hostile.Suite(42, 20000, __doc__)
LIBRARY = os.path.join(os.path.dirname(suite.program), "..", "lib", "failing_malloc.so")
HDF5 = os.path.join(os.path.dirname(suite.program), "..", "lib", "linkwork", "hdf5.so")
# from the beginning: its allocations are counted with those of Linkwork
PRELOADED = ":".join([LIBRARY] + [HDF5] * os.path.exists(HDF5))
FOUR_BAR, ARM = suite.model("four_bar.yaml"), suite.model("ur5.urdf")
RUN = ("run", FOUR_BAR, "--duration", "0.02", "-q")
hostile.write(suite.path("chain.yaml"), b"linkwork: 1\ngenerate: {chain: {n: 5}}\n")

# name: arguments, file that is written
CASES = {"run " + integrator: ((*RUN, "--integrator", integrator), "out.csv") for integrator in
         ("dopri5", "bs3", "verner87", "fehlberg8", "adams", "bdf", "dopri54")}
CASES["run rk4"] = ((*RUN, "--integrator", "rk4", "--step", "0.001"), "out.csv")
CASES.update({"run " + formulation: ((*RUN, "--formulation", formulation), "out.csv") for formulation in
              ("hdca", "dca", "dense", "lagrange", "index3", "rcr")})
CASES.update({
    "run aba": (("run", "chain.yaml", "--duration", "0.02", "-q", "--formulation", "aba"), "out.csv"),
    "run momenta": (("run", "chain.yaml", "--duration", "0.02", "-q", "--formulation", "momenta"), "out.csv"),
    "run .h5": (RUN, "out.h5"),
    "run bdf .h5": ((*RUN, "--integrator", "bdf"), "out.h5"),
    "run --initial": ((*RUN, "--initial", "in.h5"), "out.csv"),
    "run --json": ((*RUN, "--json"), "out.csv"),
    "check": (("check", ARM), None),
    "check .yaml": (("check", FOUR_BAR), None),
    "check --plan": (("check", FOUR_BAR, "--plan"), None),
    "sweep --store": (("sweep", suite.model("cart_arm.yaml"), "--vary", "body.cart.mass=-1,-2,5,6", "--duration", "0.02",
                       "--watch", "sys.T", "--part-rows", "2", "--threads", "1", "-q"), "study"),
    "sweep .csv": (("sweep", FOUR_BAR, "--vary", "gravity.y=-9:-1:3", "--duration", "0.02", "-q"), "out.csv"),
    "sweep .h5": (("sweep", FOUR_BAR, "--vary", "gravity.y=-9:-1:3", "--duration", "0.02", "-q"), "out.h5"),
    "sweep rk4": (("sweep", FOUR_BAR, "--vary", "gravity.y=-9:-1:3", "--duration", "0.02", "-q", "--integrator", "rk4",
                   "--step", "0.001"), "out.csv"),
    "compare": (("compare", FOUR_BAR, "--duration", "0.02", "--formulations", "hdca,dense"), None),
    "convert .yaml": (("convert", FOUR_BAR), "out.yaml"),
    "convert .urdf": (("convert", ARM), "out.urdf"),
    "convert .mjcf": (("convert", ARM), "out.mjcf"),
    "convert .h5 .csv": (("convert", "in.h5"), "out.csv"),
    "convert .csv .h5": (("convert", "in.csv"), "out.h5"),
    "convert .h5 .h5": (("convert", "in.h5"), "out.h5"),
    "assemble": (("assemble", FOUR_BAR, "-q"), "out.yaml"),
    "plot .svg": (("plot", "in.h5"), "out.svg"),
    "plot model": (("plot", "--initial", FOUR_BAR), "out.svg"),
    "view": (("view", "in.h5", "-q"), "out.html"),
    "view .gltf": (("view", "in.h5", "-q"), "out.gltf"),
    "codegen": (("codegen", "chain.yaml", "-q"), "generated"),
    "schema": (("schema",), "out.json"),
    "info": (("info",), None),
})
TIMES = re.compile(r"[0-9.e+-]+ (?:s|ms|us|µs|ns)\b|[0-9]+ kB|"
                   r"^wall time.*$|\"(?:wall|real_time_factor)\":[^,}\n]*|\"step_times\": *{[^}]*}|[0-9.]+ times",
                   re.IGNORECASE | re.MULTILINE)

# Each allocation of Linkwork fails once in these also in short tests: rows and columns are read and written.
ALWAYS = ("convert .h5 .csv", "convert .csv .h5")

# Functions of SUNDIALS 6 that use what they allocate without a check.
UNCHECKED = ("SUNLogger_Create", "erkStep_Init", "SUNNonlinSol_Newton")
FRAME = re.compile(r"\S*?(lib[a-z0-9_]+)[^ (]*\(([^+)]*)")


def unchecked_site(case, failing):
    """Function of another library, called by Linkwork or at exit, in which an allocation fails without a check; None: no such."""
    done = call(case, FAIL_SHOW="1", **failing)
    function = "" # of HDF5 or SUNDIALS, of the last frame; frames are from the innermost outwards
    unchecked = of_linkwork = False # frames below those of linkwork are those of its callers
    for line in done.err.splitlines():
        frame = FRAME.match(line)
        if line == "--":
            unchecked = of_linkwork = False
        elif frame and not of_linkwork:
            of_linkwork = frame.group(1) == "liblinkwork"
            inside = frame.group(1).startswith(("libhdf5", "libsundials"))
            if unchecked and not inside:
                return function
            function = frame.group(2)
            unchecked |= frame.group(1).startswith("libhdf5") or function in UNCHECKED
    return None


def remove(name):
    if not name:
        return
    path = suite.path(name)
    if os.path.isdir(path):
        shutil.rmtree(path)
    elif os.path.exists(path):
        os.unlink(path)


def content(name):
    if not name:
        return None
    path = suite.path(name)
    if os.path.isdir(path):
        return {os.path.join(folder, file): hostile.read(os.path.join(folder, file))
                for folder, _, files in os.walk(path) for file in files}
    if not os.path.exists(path):
        return "no file"
    if name.endswith(".h5"): # the summary has the wall time
        done = suite.run("convert", name, "-o", "content.csv")
        return hostile.read(suite.path("content.csv")) if done.code == 0 else done.err
    return hostile.read(path)


def written(case):
    """The option for what a case writes."""
    name = CASES[case][1]
    return ("--store" if case == "sweep --store" else "-o", name) if name else ()


def call(case, **failing):
    arguments, name = CASES[case]
    remove(name)
    # one thread: the n-th allocation is the same one each time
    return suite.run(*arguments, *written(case), limit=120,
                     env=dict(os.environ, LD_PRELOAD=PRELOADED, **failing))


def problem(case, done):
    if done.fault():
        return done.fault()
    if done.code == 0:
        if content(CASES[case][1]) != expected[case][0]:
            return "exit status 0, and the file is another one"
        if TIMES.sub("", done.out) != expected[case][1]:
            return "exit status 0, and the output is another one"
        return None
    if done.code != 1:
        return "exit status %d" % done.code
    return None if NO_MEMORY.search(done.err) else "the reason is not named"


def skip(reason):
    shutil.rmtree(suite.folder, ignore_errors=True)
    print("%s %s" % (NO_PRELOAD, reason))
    sys.exit(77)


if not os.path.exists(LIBRARY):
    skip("is not built with sanitizers: %s" % LIBRARY)
suite.need("run", FOUR_BAR, "--duration", "0.1", "-q", "-o", suite.path("in.h5"), "-o", suite.path("in.csv"))
expected, numbers, outside = {}, {}, {}


def counted(case):
    """Numbers of allocations, of all and of Linkwork, largest number of bytes held, the call."""
    done = call(case, FAIL_COUNT=suite.path("count"))
    if done.code != 0 or not os.path.exists(suite.path("count")):
        skip("does not count, or %s fails: %s" % (case, done.err.strip()[-300:]))
    count, count_own, peak = (int(number) for number in hostile.read(suite.path("count")).split())
    os.unlink(suite.path("count"))
    return count, count_own, peak, done


def one(case, failing):
    ended = call(case, **failing)
    wrong = problem(case, ended)
    is_own = "FAIL_OWN" in failing
    site = wrong and not is_own and "FAIL_AT" in failing and unchecked_site(case, failing)
    if site:
        outside[site, wrong] = outside.get((site, wrong), 0) + 1
        wrong = None
    suite.count(case + ", of Linkwork" * is_own, wrong, "%s LD_PRELOAD=failing_malloc.so linkwork %s%s" % (
        " ".join("%s=%s" % pair for pair in failing.items()), " ".join(CASES[case][0]),
        "".join(" " + word for word in written(case))), ended)


for key in CASES:
    *numbers[key], ended = counted(key)
    expected[key] = content(CASES[key][1]), TIMES.sub("", ended.out)

each = max(1, suite.tries // len(CASES))
for key, (count, count_own, peak) in numbers.items():
    tried = range(1, count + 1)
    for n in sorted(suite.random.sample(tried, min(each, len(tried)))):
        at = {"FAIL_AT": str(n)}
        kind = suite.random.random()
        if kind < 0.3:
            at["FAIL_FROM"] = "1"
        elif kind < 0.65:
            at = {"FAIL_ABOVE": str(suite.random.randrange(1, peak))}
        one(key, at)
    # those of Linkwork: each, in short tests of the cases of ALWAYS
    some = count_own if suite.nightly or key in ALWAYS else min(each, count_own)
    for n in sorted(suite.random.sample(range(1, count_own + 1), some)):
        one(key, {"FAIL_OWN": "1", "FAIL_AT": str(n)})
for (site, wrong), count in sorted(outside.items()):
    print("within SUNDIALS or HDF5, no failure of this test: %s, %s: %d" % (site, wrong, count))
print("of these %d" % sum(outside.values()))
sys.exit(suite.end())
