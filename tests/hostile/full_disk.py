#!/usr/bin/env python3
"""Files that cannot be written, by every verb that writes: 4 to 400 kB of room.

The room is the largest size of a file (RLIMIT_FSIZE), and where `unshare` may mount one, the size of a file system in
memory.  A call has to end with status 0 and a complete file, or with status 1 and the reason of the system.
"""
import os
import resource
import subprocess
import sys

import hostile

ROOM = [4096 * k for k in (1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 18, 20, 24, 28, 32, 40, 48, 56, 64, 72, 80, 88, 96, 100)]
REASONS = ("No space left on device", "File too large")

suite = hostile.Suite(120, 4000, __doc__)
FOUR_BAR, CHAIN = suite.model("four_bar.yaml"), suite.path("chain.yaml")
hostile.write(CHAIN, b"linkwork: 1\ngenerate: {chain: {n: 400}}\n")
suite.need("run", FOUR_BAR, "--duration", "4", "-q", "-o", suite.path("in.h5"), "-o", suite.path("in.csv"))
hostile.write(suite.path("short.yaml"), b"linkwork: 1\ngenerate: {chain: {n: 12}}\n")
suite.need("convert", CHAIN, "-o", suite.path("long.yaml"))

# name: arguments, file that is written
CASES = {
    "run .h5": (("run", FOUR_BAR, "--duration", "6", "--sample", "0.01", "-q"), "out.h5"),
    "run .csv": (("run", FOUR_BAR, "--duration", "6", "--sample", "0.01", "-q"), "out.csv"),
    "run .h5, wide": (("run", CHAIN, "--duration", "0.02", "--sample", "0.01", "-q"), "out.h5"),
    "sweep .h5": (("sweep", FOUR_BAR, "--vary", "gravity.z=-9:-10:20", "--duration", "0.5", "-q"), "out.h5"),
    "sweep .csv": (("sweep", FOUR_BAR, "--vary", "gravity.z=-9:-10:20", "--duration", "0.5", "-q"), "out.csv"),
    "convert .h5 .h5": (("convert", "in.h5"), "out.h5"),
    "convert .h5 .csv": (("convert", "in.h5"), "out.csv"),
    "convert .csv .h5": (("convert", "in.csv"), "out.h5"),
    "convert .yaml": (("convert", "long.yaml"), "out.yaml"),
    "convert .urdf": (("convert", "long.yaml"), "out.urdf"),
    "assemble": (("assemble", "long.yaml", "-q"), "out.yaml"),
    "plot .svg": (("plot", "in.h5"), "out.svg"),
    "view .html": (("view", "in.h5", "-q"), "out.html"),
    "view .gltf": (("view", "in.h5", "-q"), "out.gltf"),
    "linearize .h5": (("linearize", suite.path("short.yaml"), "-q"), "linear.h5"),
    "codegen": (("codegen", suite.path("short.yaml"), "-q"), "generated"),
    "schema": (("schema",), "out.json"),
}
MOUNT = 'mount -t tmpfs -o size=$1 none "$2" && cd "$3" && shift 3 && "$@"; code=$?; [ -d "$KEEP" ] && cp -R "$DISK/." "$KEEP"; exit $code'


def content(path):
    """What must be the same in a complete file."""
    if path.endswith(".h5"): # the summary has the wall time
        done = suite.run("convert", path, "-o", suite.path("content.csv"))
        return hostile.read(suite.path("content.csv") if done.code == 0 else path)
    if os.path.isdir(path):
        return {name: hostile.read(os.path.join(path, name)) for name in sorted(os.listdir(path))}
    return hostile.read(path)


def problem(case, done, path):
    """What is wrong with a call that had too little room, or enough."""
    if done.fault():
        return done.fault()
    if done.code == 0:
        return None if content(path) == whole[case] else "exit status 0, and the file is not complete"
    if done.code != 1:
        return "exit status %d" % done.code
    if not any(reason in done.err for reason in REASONS):
        return "the reason is not named"
    if ".part-" in done.err:
        return "the message has a temporary name"
    return None


def limited(room):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
    return limit


def remove(name):
    subprocess.run(["rm", "-rf", suite.path(name)], check=True)


def by_limit(case, room):
    arguments, name = CASES[case]
    remove(name)
    done = suite.run(*arguments, "-o", name, preexec_fn=limited(room))
    suite.count("file of at most so many bytes, " + case, problem(case, done, suite.path(name)),
                "ulimit -f %d; linkwork %s -o %s" % (room // 1024, " ".join(arguments), name), done)


def by_disk(case, room):
    arguments, name = CASES[case]
    remove("kept")
    os.makedirs(suite.path("kept"))
    os.makedirs(suite.path("disk"), exist_ok=True)
    environment = dict(os.environ, KEEP=suite.path("kept"), DISK=suite.path("disk"))
    done = suite.run(*arguments, "-o", os.path.join("disk", name), env=environment,
                     command=("unshare", "-r", "-m", "sh", "-c", MOUNT, "sh", str(room), suite.path("disk"), suite.folder))
    suite.count("disk of so many bytes, " + case, problem(case, done, os.path.join(suite.path("kept"), name)),
                "on a tmpfs of %d bytes: linkwork %s -o %s" % (room, " ".join(arguments), name), done)


def can_mount():
    os.makedirs(suite.path("disk"), exist_ok=True)
    return subprocess.run(["unshare", "-r", "-m", "mount", "-t", "tmpfs", "none", suite.path("disk")],
                          stderr=subprocess.DEVNULL, check=False).returncode == 0


whole = {}
for key, (call, file) in CASES.items():
    suite.need(*call, "-o", file)
    whole[key] = content(suite.path(file))

kinds = [by_limit]
try:
    if can_mount():
        kinds.append(by_disk)
except OSError:
    pass
print("room by: %s" % ", ".join(kind.__name__ for kind in kinds))
plan = [(kind, case, room) for room in ROOM for case in CASES for kind in kinds]
suite.random.shuffle(plan)
while len(plan) < suite.tries:
    plan.append((suite.random.choice(kinds), suite.random.choice(list(CASES)), suite.random.randrange(1024, 400 << 10)))
for kind, case, room in plan[:suite.tries]:
    kind(case, room)
sys.exit(suite.end())
