#!/usr/bin/env python3
"""Forward dynamics of parallel robots, compiled and by the library, beside Pinocchio: a table.

usage: parallel_robots.py --program LINKWORK [--rounds N] [--json FILE]
       parallel_robots.py --table FILE

The robots of tests/models/parallel, URDF files whose loops are closed by welds, six equations each: `linkwork assemble` closes
them, Pinocchio reads the same file and has a RigidConstraintModel of six equations for each weld. One state, on the loops, with
random speeds that they admit. All are called from Python: `Data.forward_dynamics` and `Compiled.forward_dynamics` of one state,
the latter of rows of 1024 in lanes, `constraintDynamics` and `lcaba` with the settings of pinocchio.cpp. Microseconds, the
minimum of the rounds, in turns; the compiler's processor time. The error is the largest difference of an acceleration from that of `Data`, relative to the
largest one. Needs linkwork, pin, numpy. Exit status: 0, or 1 if compiled accelerations are off by more than 1e-6.
"""
import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import timeit

import run

ROBOTS = (("five-bar", "5bar_linkage"), ("planar Delta", "robot_delta"), ("Cassie-like", "cassie_like"))
ROWS, LIMIT = 1024, 1e-6
KINDS = ("library", "compiled", "lanes", "constraintDynamics", "lcaba")


def welds(folder):
    """Pairs of frames, from the file beside the robot: [['A', 'B'], ...]."""
    with open(os.path.join(folder, "robot.yaml"), encoding="utf-8") as file:
        line = next(text for text in file if text.startswith("closed_loop:"))
    return json.loads(line.split(":", 1)[1].replace("'", '"'))


class Pinocchio:
    def __init__(self, folder, model, q, v):
        import numpy as np
        import pinocchio as pin
        self.pin, self.model = pin, pin.buildModelFromUrdf(os.path.join(folder, "robot.urdf"))
        self.q, self.v, self.tau = pin.neutral(self.model), np.zeros(self.model.nv), np.zeros(self.model.nv)
        self.order = np.zeros(self.model.nv, dtype=int)
        for name in self.model.names[1:]:
            own, other = model.joint(name), self.model.joints[self.model.getJointId(name)]
            angle = q[own.tree_q][0]
            self.q[other.idx_q:other.idx_q + other.nq] = [angle] if other.nq == 1 else [np.cos(angle), np.sin(angle)]
            self.v[other.idx_v] = v[own.tree_v][0]
            self.order[other.idx_v] = own.tree_v.start
        self.rows = pin.StdVec_RigidConstraintModel()
        for pair in welds(folder):
            frames = [self.model.frames[self.model.getFrameId(name)] for name in pair]
            self.rows.append(pin.RigidConstraintModel(pin.ContactType.CONTACT_6D, self.model, frames[0].parentJoint, frames[0].placement,
                                                      frames[1].parentJoint, frames[1].placement, pin.ReferenceFrame.LOCAL))
        self.settings = pin.ProximalSettings(1e-8, 1e-6, 20)

    def calls(self):
        pin, found = self.pin, {}
        for name in "constraintDynamics", "lcaba":
            data = self.model.createData()
            rows = pin.StdVec_RigidConstraintData()
            for row in self.rows:
                rows.append(row.createData())
            if name == "lcaba":
                pin.computeJointMinimalOrdering(self.model, data, self.rows)
            else:
                pin.initConstraintDynamics(self.model, data, self.rows, rows)
            found[name] = lambda f=getattr(pin, name), d=data, r=rows: f(self.model, d, self.q, self.v, self.tau, self.rows, r, self.settings)
        return found


def least(calls, rounds):
    best = {}
    for _ in range(rounds):
        for name, call in calls.items():
            count = 20 if name != "lanes" else 1
            best[name] = min(best.get(name, 1e9), timeit.timeit(call, number=count) / count * 1e6)
    best["lanes"] /= ROWS
    return best


def measure(options, name, file, cache):
    import linkwork as lw
    import numpy as np
    folder = os.path.join(run.ROOT, "tests/models/parallel", file)
    closed = os.path.join(cache, name.replace(" ", "_") + ".yaml")
    subprocess.run([options.program, "assemble", os.path.join(folder, "robot.urdf"), "-o", closed, "-q"], check=True)
    model = lw.load(closed)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    data, compiled = lw.Data(model), model.compile(cache=cache)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    compiling = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    q, v = compiled.project(model.start()[0], np.random.default_rng(1).uniform(-1, 1, model.tree_nv))
    many = np.tile(q, (ROWS, 1)), np.tile(v, (ROWS, 1))
    out = np.empty_like(many[1])
    peer = Pinocchio(folder, model, q, v)
    calls = {"library": lambda: data.forward_dynamics(q, v), "compiled": lambda: compiled.forward_dynamics(q, v),
             "lanes": lambda: compiled.forward_dynamics(*many, out=out), **peer.calls()}
    right = np.array(calls["library"]())
    errors = {"compiled": np.array(calls["compiled"]()) - right}
    calls["lanes"]()
    assert np.array_equal(out, np.tile(calls["compiled"](), (ROWS, 1)))  # to the last bit
    for kind in "constraintDynamics", "lcaba":
        errors[kind] = np.array(calls[kind]()) - right[peer.order]
    return {"robot": name, "speeds": model.tree_nv, "loops": len(peer.rows), "compiling": compiling, "us": least(calls, options.rounds),
            "error": {kind: float(np.abs(e).max() / np.abs(right).max()) for kind, e in errors.items()}}


def print_table(found):
    print(f"Measured {found['date']} on {found['cpu']}, {found['rounds']} rounds, load {found['load']}; microseconds of a call from Python.\n")
    print("| robot | speeds | loops | library | compiled | in lanes | its error | Pinocchio `constraintDynamics` | its error | Pinocchio `lcaba` | its error | compiling, s |")
    print("|---" * 12 + "|")
    for r in found["robots"]:
        us, error = r["us"], r["error"]
        print(f"| {r['robot']} | {r['speeds']} | {r['loops']} | {us['library']:.3g} | {us['compiled']:.3g} | {us['lanes']:.3g} | "
              f"{error['compiled']:.0e} | {us['constraintDynamics']:.3g} | {error['constraintDynamics']:.0e} | {us['lcaba']:.3g} | "
              f"{error['lcaba']:.0e} | {r['compiling']:.2g} |")


def measure_all(options):
    with tempfile.TemporaryDirectory() as cache:
        return {"robots": [measure(options, *robot, cache) for robot in ROBOTS]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--program")
    parser.add_argument("--rounds", type=int, default=300)
    found = run.measured_table(parser, "program", measure_all, print_table)
    return int(any(r["error"]["compiled"] > LIMIT for r in found["robots"]))


if __name__ == "__main__":
    sys.exit(main())
