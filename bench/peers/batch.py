#!/usr/bin/env python3
"""Batches of mechanisms with loops beside MuJoCo's `rollout`, at equal error: a table.

usage: batch.py --scenes FILE [--case A,B] [--instances 4096] [--threads 2] [--rounds N] [--json FILE]
       batch.py --table FILE

FILE is libscenes.so (bench/peers). All instances start from different states near that of the case, on the loops, and run for
its duration without efforts. Linkwork: `Batch` by dopri54, with compiled rates and by the library, at several tolerances.
MuJoCo: `mujoco.rollout` by RK4 and by Euler with equal steps; loops are `connect`, which is soft: with the time constant of two
steps, the shortest that it takes, and impedance 0.9999, so that they give way the less the shorter the step, and by RK4
with the constants by default, whose loops give way alike for all steps. The error is the root mean square of the angles of all
hinges and universal joints of all instances at the end from those of `Batch` at 1e-12; `single` is how far 8 instances of that
are from single runs by verner87 at 1e-12 without compiled rates. Seconds are processor time of all threads together, the
least of the rounds, in turns, without the creation of models, batches and states; those to an error follow from straight
lines between the logarithms of neighbouring settings. Needs linkwork, mujoco, numpy.
"""
import argparse
import math
import resource
import sys
import tempfile
import time

import run
import scenes

CASES = ("run-four-bars-1", "run-delta")
ERRORS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8)
TOLERANCES = {"compiled": (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10), "library": (1e-2, 1e-4, 1e-6)}
STEPS = {"RK4": (0.1, 0.05, 0.02, 0.01, 5e-3, 2e-3, 1e-3), "Euler": (0.01, 5e-3, 2e-3, 1e-3),
         "RK4, constants by default": (0.05, 0.02, 0.01, 5e-3)}
PART = 100     # steps of a call of rollout, which keeps the states after each
LIMIT = 30.0   # s of processor time of one batch: settings that follow are left out


def product(a, b):
    return [a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3], a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
            a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1], a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]]


def quaternion(turn):
    (c, s), (d, t) = ((math.cos(x / 2), math.sin(x / 2)) for x in turn)
    return product([c, 0, 0, s], [d, 0, t, 0])


def text(x):
    return ", ".join(repr(float(v)) for v in x)


def world(scene):
    """Place and rotation of the frame of each body at q = 0."""
    import numpy as np
    places = []
    for b in scene.body:
        at, turn = places[b.parent] if b.parent >= 0 else (np.zeros(3), np.eye(3))
        places.append((at + turn @ np.array(b.at), turn @ np.array(scenes.rotation(b.turn))))
    return places


def linkwork_text(scene):
    """A model file; frames of bodies are at their mass centres, along the scene's."""
    import numpy as np
    import linkwork as lw
    places = world(scene)
    lines = ["linkwork: 1", f"gravity: [{text(scene.gravity)}]", "bodies:"]
    for i, (b, (at, turn)) in enumerate(zip(scene.body, places)):
        lines.append(f"  b{i}: {{mass: {b.mass!r}, inertia: [{text(b.inertia)}, 0, 0, 0], position: [{text(at + turn @ np.array(b.com))}], "
                     f"orientation: [{text(lw.quaternion.from_matrix(turn))}]}}")
    lines.append("joints:")
    for i, (b, (at, turn)) in enumerate(zip(scene.body, places)):
        kind = {scenes.REVOLUTE: "revolute", scenes.UNIVERSAL: "universal", scenes.BALL: "spherical"}[b.joint]
        axes = "" if b.joint == scenes.BALL else f", axis: [{text(turn[:, b.axis if b.joint == scenes.REVOLUTE else 0])}]"
        axes += f", axis2: [{text(turn[:, 1])}]" if b.joint == scenes.UNIVERSAL else ""
        lines.append(f"  j{i}: {{type: {kind}, between: [{f'b{b.parent}' if b.parent >= 0 else 'ground'}, b{i}], at: [{text(at)}]{axes}}}")
    for i, x in enumerate(scene.loop):
        at, turn = places[x.body[0]]
        kind = "spherical" if x.joint == scenes.BALL else f"revolute, axis: [{text(turn[:, x.axis])}]"
        lines.append(f"  l{i}: {{type: {kind}, between: [b{x.body[0]}, b{x.body[1]}], at: [{text(at + turn @ np.array(x.at[0]))}], cut: always}}")
    return "\n".join(lines) + "\n"


def mujoco_text(scene):
    inside = ["" for _ in scene.body]
    roots = ""

    def plain(x):
        return " ".join(repr(float(v)) for v in x)

    for i in reversed(range(len(scene.body))):
        b = scene.body[i]
        unit = [[float(r == k) for r in range(3)] for k in range(3)]
        axes = {scenes.REVOLUTE: [unit[b.axis]], scenes.UNIVERSAL: unit[:2], scenes.BALL: []}[b.joint]
        joints = "".join(f'<joint type="hinge" axis="{plain(a)}"/>' for a in axes) or '<joint type="ball"/>'
        element = (f'<body name="b{i}" pos="{plain(b.at)}" quat="{plain(quaternion(b.turn))}">{joints}'
                   f'<inertial pos="{plain(b.com)}" mass="{b.mass!r}" diaginertia="{plain(b.inertia)}"/>{inside[i]}</body>')
        if b.parent < 0:
            roots = element + roots
        else:
            inside[b.parent] = element + inside[b.parent]
    closed = "".join(f'<connect body1="b{x.body[0]}" body2="b{x.body[1]}" anchor="{plain(x.at[0])}"/>' for x in scene.loop)
    return (f'<mujoco><option gravity="{plain(scene.gravity)}" tolerance="1e-12"><flag contact="disable"/></option>'
            f"<worldbody>{roots}</worldbody><equality>{closed}</equality></mujoco>")


class Ours:
    def __init__(self, scene, instances, threads, cache):
        import linkwork as lw
        import numpy as np
        self.np, self.lw, self.scene, self.threads = np, lw, scene, threads
        self.model = lw.Model.from_string(linkwork_text(scene))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.compiled = self.model.compile(cache=cache)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.compiling = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        # in the scene's order
        self.joints = joints = [self.model.joint(f"j{i}") for i in range(len(scene.body))]
        self.v_of = np.concatenate([np.arange(self.model.tree_nv)[j.tree_v] for j in joints])
        self.angle = np.concatenate([np.arange(self.model.tree_nq)[j.tree_q] for j, b in zip(joints, scene.body)
                                     if b.joint <= scenes.UNIVERSAL])
        rng = np.random.default_rng(1)
        q = np.tile(self.model.start()[0], (instances, 1))
        v = np.zeros((instances, self.model.tree_nv))
        at = [f + k for f, b in zip(scene.first(), scene.body) if b.joint <= scenes.UNIVERSAL for k in range(b.joint)]
        q[:, self.angle] = np.array(scene.q)[at]
        v[:, self.v_of] = scene.v
        q[:, self.angle] += rng.uniform(-0.05, 0.05, (instances, len(self.angle)))
        v += rng.uniform(-0.3, 0.3, v.shape)
        self.q, self.v = self.compiled.project(q, v)
        assert np.isfinite(self.q).all() and np.isfinite(self.v).all()
        self.of_joints = np.zeros((instances, self.model.nq)), np.zeros((instances, self.model.nv))
        for j in joints:
            self.of_joints[0][:, j.q], self.of_joints[1][:, j.v] = self.q[:, j.tree_q], self.v[:, j.tree_v]
        self.joint_angle = np.concatenate([np.arange(self.model.nq)[j.q] for j, b in zip(joints, scene.body) if b.joint <= scenes.UNIVERSAL])

    def run(self, kind, tolerance):
        """Processor seconds and the angles at the end [instances, n]."""
        batch = self.lw.Batch(self.model, instances=len(self.q), threads=self.threads, formulation="rcr", integrator="dopri54",
                              rtol=tolerance, atol=tolerance)
        if kind == "compiled":
            batch.use_compiled(self.compiled)
        for i, (q, v) in enumerate(zip(*self.of_joints)):
            batch.set_joints(i, q, v, 0.0)
        began = time.process_time()
        batch.step(self.scene.duration)
        taken = time.process_time() - began
        return taken, batch.joints()[0][:, self.joint_angle]

    def single(self, i):
        sim = self.lw.Simulation(self.model, formulation="rcr", integrator="verner87", rtol=1e-12, atol=1e-12)
        sim.set_tree(self.q[i], self.v[i], 0.0)
        sim.step(self.scene.duration)
        return sim.tree()[0][self.angle]


class Mujoco:
    def __init__(self, scene, ours):
        import mujoco
        import mujoco.rollout
        self.mujoco, self.np, self.scene, self.threads = mujoco, ours.np, scene, ours.threads
        np, n = self.np, len(ours.q)
        self.model = mujoco.MjModel.from_xml_string(mujoco_text(scene))
        self.constants = self.model.eq_solref.copy(), self.model.eq_solimp.copy()
        self.start = np.zeros((n, 1 + self.model.nq + self.model.nv))
        angles = []
        for i, b in enumerate(scene.body):  # MuJoCo's order is depth first
            joint = self.model.body(f"b{i}").jntadr[0]
            own, q, v = ours.joints[i], 1 + self.model.jnt_qposadr[joint], 1 + self.model.nq + self.model.jnt_dofadr[joint]
            self.start[:, q:q + own.tree_q.stop - own.tree_q.start] = ours.q[:, own.tree_q]
            self.start[:, v:v + b.joint] = ours.v[:, own.tree_v]
            angles += range(q, q + b.joint) if b.joint <= scenes.UNIVERSAL else ()
        self.angle = np.array(angles)

    def run(self, kind, h):
        m, np = self.model, self.np
        steps = max(1, round(self.scene.duration / h))
        m.opt.timestep = self.scene.duration / steps
        m.opt.integrator = self.mujoco.mjtIntegrator.mjINT_EULER if kind == "Euler" else self.mujoco.mjtIntegrator.mjINT_RK4
        m.eq_solref[:], m.eq_solimp[:] = self.constants
        if "default" not in kind:
            m.eq_solref[:] = 2 * m.opt.timestep, 1
            m.eq_solimp[:, :2] = 0.9999
        data = [self.mujoco.MjData(m) for _ in range(self.threads)]
        part = min(steps, PART)
        room = np.empty((len(self.start), part, self.start.shape[1]))
        state = self.start
        with self.mujoco.rollout.Rollout(nthread=self.threads) as pool:
            began = time.process_time()
            for done in range(0, steps, part):
                now = min(part, steps - done)
                state = pool.rollout(m, data, np.ascontiguousarray(state), nstep=now, state=room if now == part else None)[0][:, -1]
            taken = time.process_time() - began
        return taken, state[:, self.angle]


def measure_case(name, options, cache):
    scene = scenes.Scene(options.scenes, name)
    ours = Ours(scene, options.instances, options.threads, cache)
    np = ours.np
    peers = {"linkwork": (ours, TOLERANCES), "mujoco": (Mujoco(scene, ours), STEPS)}
    _, right = ours.run("compiled", 1e-12)
    single = max(float(np.abs(ours.single(i) - right[i]).max()) for i in range(8))
    found, over = {}, set()
    for _ in range(options.rounds):
        for program, (peer, kinds) in peers.items():
            for kind, settings in kinds.items():
                for setting in settings:
                    if any(key[:2] == (program, kind) and setting < key[2] for key in over):
                        continue
                    seconds, angles = peer.run(kind, setting)
                    error = float(np.sqrt(np.mean((angles - right) ** 2)))
                    if not math.isfinite(error):
                        continue
                    entry = found.setdefault((program, kind, setting), {"seconds": seconds, "error": max(error, 1e-16)})
                    entry["seconds"] = min(entry["seconds"], seconds)
                    if seconds > LIMIT:
                        over.add((program, kind, setting))
    return {"case": name, "instances": options.instances, "duration": scene.duration, "compiling": ours.compiling,
            "lanes": ours.compiled.lanes, "single": single,
            "results": [{"program": p, "kind": k, "setting": s, **e} for (p, k, s), e in found.items()]}


def rows_of(case):
    curves = {}
    for e in case["results"]:
        curves.setdefault((e["program"], e["kind"]), []).append((e["error"], e["seconds"]))
    for error in ERRORS:
        times = {key: run.time_to(sorted(points, reverse=True), error) for key, points in curves.items()}
        if not any(times.values()):
            continue
        best = min((t for (p, _), t in times.items() if p == "mujoco" and t), default=None)
        own = [times.get(("linkwork", kind)) for kind in ("compiled", "library")]
        yield [case["case"][4:], f"{error:.0e}", *(f"{t:.3g}" if t else "–" for t in [*own, *(times.get(("mujoco", k)) for k in STEPS)]),
               *(f"{best / t:.3g}" if best and t else "–" for t in own)]


def print_table(found):
    print(f"Measured {found['date']} on {found['cpu']}, {found['rounds']} rounds, {found['threads']} threads, load {found['load']}. "
          "Processor seconds of a batch to an error of the angles at the end; – where no setting reaches it.\n")
    head = ["batch of " + str(found["cases"][0]["instances"]), "error, rad", "linkwork, compiled", "linkwork", *(f"mujoco, {k}" for k in STEPS),
            "fastest of mujoco over compiled", "over library"]
    print("| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|")
    for case in found["cases"]:
        for row in rows_of(case):
            print("| " + " | ".join(row) + " |")
    least = "; ".join(f"{c['case'][4:]} {min(e['error'] for e in c['results'] if e['program'] == 'mujoco'):.0e}" for c in found["cases"])
    print(f"\nSmallest error of MuJoCo: {least}. Compiled before: "
          + "; ".join(f"{c['case'][4:]} in {c['compiling']:.2g} s, {c['lanes']} lanes, {c['single']:.0e} rad from single runs"
                      for c in found["cases"]) + ".")


def measure(options):
    with tempfile.TemporaryDirectory() as cache:
        return {"threads": options.threads, "cases": [measure_case(name, options, cache) for name in options.case.split(",")]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--scenes")
    parser.add_argument("--case", default=",".join(CASES))
    parser.add_argument("--instances", type=int, default=4096)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    run.measured_table(parser, "scenes", measure, print_table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
