#!/usr/bin/env python3
"""Damaged files of each format, read by every verb that reads them; default for each format, not for all.

Reading ends with one of the documented exit statuses.  A damaged HDF5 result is refused, or gives the numbers that it had:
rows may be missing at its end, which is reported.  A damaged JSON model is the same model by both of its readers, or is
refused: a comment behind it leaves it to libyaml.
"""
import json
import os
import sys

import hostile

suite = hostile.Suite(40, 10000, __doc__)
FOUR_BAR = suite.model("four_bar.yaml")
READERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fuzz", "corpus")

REFUSED = ("alias_bomb.yaml", "deep.yaml", "empty_list.yaml", "empty_map.yaml", "sum_bomb.yaml")  # as they are: nothing to damage

# rows of several blocks, long strings
CHAIN = suite.path("chain.yaml")
hostile.write(CHAIN, b"linkwork: 1\ngenerate: {chain: {n: 40}}\n")
suite.need("convert", CHAIN, "-o", suite.path("chain_all.yaml"))
suite.need("run", FOUR_BAR, "--duration", "6", "--sample", "0.01", "-q", "-o", suite.path("long.h5"), "-o",
           suite.path("table.csv"))
suite.need("run", suite.path("chain_all.yaml"), "--duration", "0.1", "--sample", "0.01", "-q", "-o", suite.path("wide.h5"))


JSON = (b"\\", b"\\u0041", b"\\ud800", b'"', b'""', b",", b":", b"[", b"]", b"{", b"}", b"[]", b"{}", b"0", b"-", b"+", b".", b"e", b"e400",
        b" ", b"\n", b"\t", b"\r", b"\0", b"#", b" #", b"- ", b"'", b"\xef\xbb\xbf", b"null", b"nan", b"&a ", b"<<")


def slip(chance, data):
    """A piece of JSON in a wrong place, as hostile.damage."""
    at, piece = chance.randrange(len(data) + 1), chance.choice(JSON)
    return "%s at %d" % (piece, at), data[:at] + piece + data[at:]


def arm(n):
    """A model as programs write it: bodies on hinges, with springs, a servo and a tendon."""
    frames = [{"name": "link %d" % i, "at": [0.25 * i, 0, 1e-3 * i]} for i in range(n)]
    return {"linkwork": 1, "gravity": [0, 0, -9.81], "functions": {"turn": {"type": "sine", "amplitude": 0.5, "omega": 2.0}},
            "bodies": {f["name"]: {"mass": 1.5, "inertia": [0.01, 0.02, 0.02, 0, 0, -1e-4], "position": f["at"]} for f in frames},
            "joints": {"hinge %d" % i: {"type": "revolute", "between": [frames[i - 1]["name"] if i else "ground", f["name"]],
                                        "at": f["at"], "axis": [0, 1, 0], "spring": {"q0": {"stiffness": 250, "damping": 2.5}}}
                       for i, f in enumerate(frames)},
            "forces": {"drive": {"type": "servo", "joint": "hinge 0", "target": "turn", "kp": 30, "kd": 1},
                       "rope": {"type": "tendon", "stiffness": 40, "length": 0.5,
                                "path": [{"point": [0, 0, 0.5]}, {"body": frames[-1]["name"], "point": [0, 0, 0.1]}]}},
            "simulation": {"duration": 0.01}}


for file, indent in (("compact.json", None), ("indented.json", 2)):
    hostile.write(suite.path(file), json.dumps(arm(12), indent=indent).encode())
    suite.need("convert", suite.path(file), "-o", suite.path("whole.yaml"))


def numbers(path):
    """Model and rows of a result; None: it is refused."""
    done = suite.run("convert", path, "-o", suite.path("numbers.csv"))
    if done.code:
        return None
    model = suite.run("convert", path, "-o", suite.path("numbers.yaml"))
    return (hostile.read(suite.path("numbers.csv")),
            hostile.read(suite.path("numbers.yaml")) if model.code == 0 else None)


def verbs_of(name, model):
    """Calls that read the file `name`."""
    if name.endswith(".h5") or name.endswith(".csv"):
        return (("convert", name, "-o", "out.h5"), ("convert", name, "-o", "out.csv"),
                ("convert", name, "-o", "out.yaml"), ("plot", name, "-o", "out.svg"),
                ("view", name, "--model", model, "-o", "out.html", "-q"),
                ("run", model, "--initial", name, "--duration", "0.01", "-q"),
                ("sweep", model, "--batch", name, "--duration", "0.01", "-q"))
    if name.endswith(".json"):  # the rest is that of .yaml
        return (("convert", name, "-o", "out.yaml"),)
    return (("check", name), ("convert", name, "-o", "out.yaml"), ("run", name, "--duration", "0.01", "-q"))


def blind(data, bad):
    """Fletcher-32 adds words of 16 bits modulo 65535: 0x0000 and 0xffff are the same to it."""
    if len(data) != len(bad):
        return False
    pairs = {(data[i:i + 2], bad[i:i + 2]) for i in range(0, len(data), 2) if data[i:i + 2] != bad[i:i + 2]}
    return all(set(pair) == {b"\0\0", b"\xff\xff"} for pair in pairs)


def one(kind, ending, data, model, expected):
    damage = slip if kind == ".json" and suite.random.random() < 0.5 else hostile.damage
    what, bad = damage(suite.random, data)
    hostile.write(suite.path("bad" + ending), bad)
    arguments = suite.random.choice(verbs_of("bad" + ending, model))
    for name in ("out.h5", "out.csv", "out.yaml", "out.svg", "out.html"):
        if os.path.exists(suite.path(name)):
            os.remove(suite.path(name))
    done = suite.run(*arguments, limit=120)
    problem = done.fault()
    if not problem and expected and not blind(data, bad) and arguments[0] == "convert" and done.code == 0:
        problem = changed(arguments[-1], done, expected)
    if not problem and kind == ".json" and bad.rstrip(b" \n").endswith((b"}", b"]")):
        problem = read_otherwise(bad, done)
    if not suite.count(kind, problem, "%s, linkwork %s" % (what, " ".join(arguments)), done) and suite.nightly:
        hostile.write("hostile-%s-%d%s" % (kind.strip("."), suite.counts[kind][0], ending), bad)


def read_otherwise(bad, done):
    """libyaml alone makes another model of it; None: it does not."""
    here = hostile.read(suite.path("out.yaml")) if done.code == 0 else None
    hostile.write(suite.path("left.json"), bad + b"\n#\n")
    left = suite.run("convert", "left.json", "-o", "left.yaml", limit=120)
    errors = done.err, left.err.replace("left.json", "bad.json")
    if " while " in left.err:  # places at the end of the text
        errors = [error.split(": ")[1:] for error in errors]
    if done.code != left.code or errors[0] != errors[1]:
        return "exit status %d, by libyaml %d: %s" % (done.code, left.code, left.err.strip())
    return None if done.code or here == hostile.read(suite.path("left.yaml")) else "another model than by libyaml"


def changed(name, done, expected):
    """A file written from a damaged one has other numbers; None: it has not."""
    table, model = expected
    if name.endswith(".yaml"):
        return None if hostile.read(suite.path(name)) == model else "another model, exit status 0"
    if name.endswith(".h5"):
        again = numbers(suite.path(name))
        if again is None:
            return "what was written cannot be read"
        rows = again[0]
        if again[1] != model:
            return "another model, exit status 0"
    else:
        rows = hostile.read(suite.path(name))
    if rows == table or (table.startswith(rows) and "was not closed" in done.err):
        return None
    return "other numbers, exit status 0"


def samples():
    """kind, ending, data, model that belongs to it, what it must give"""
    for name, model in (("long.h5", FOUR_BAR), ("wide.h5", suite.path("chain_all.yaml"))):
        yield ".h5", ".h5", hostile.read(suite.path(name)), model, numbers(suite.path(name))
    yield ".csv", ".csv", hostile.read(suite.path("table.csv")), FOUR_BAR, None
    for name in sorted(os.listdir(suite.models)):
        if name.endswith((".yaml", ".urdf")):
            ending = os.path.splitext(name)[1]
            yield ending, ending, hostile.read(suite.model(name)), None, None
    for name in sorted(os.listdir(READERS)):
        ending = os.path.splitext(name)[1]
        if ending in (".xml", ".sdf", ".urdf"):
            yield "MJCF" if ending == ".xml" else ending, ending, hostile.read(os.path.join(READERS, name)), None, None
        elif ending == ".yaml" and name not in REFUSED:  # parameters, expressions, units, signals, events, measures, includes
            data = hostile.read(os.path.join(READERS, name))
            hostile.write(suite.path(name), data)  # a file may include another
            yield "keys", ending, data, None, None
        elif ending == ".json":
            yield ending, ending, hostile.read(os.path.join(READERS, name)), None, None
    for name in ("compact.json", "indented.json"):
        yield ".json", ".json", hostile.read(suite.path(name)), None, None


files = {}
for sample in samples():
    files.setdefault(sample[0], []).append(sample)
for kind in sorted(files):
    for _ in range(suite.tries):
        one(*suite.random.choice(files[kind]))
sys.exit(suite.end())
