#!/usr/bin/env python3
"""Times calls from Python beside Pinocchio and MuJoCo, in turns: one state, arrays that exist already.

usage: python_calls.py MODEL.urdf [--rounds N] [--calls N] [--json FILE]
       python_calls.py --table FILE

MODEL is a robot without loops (examples/models/ur5.urdf); needs the packages linkwork, pin and mujoco. The minimum over
--rounds (300) of --calls (50) counts: that of a moment in which nothing else ran. What is equal is checked first.
Exit status: 1 if a call takes more than 1.5 times the faster of the others.
"""
import argparse
import json
import os
import re
import sys
import tempfile
import timeit

ALLOWED = 1.5


def mujoco_model(mujoco, path):
    """Without shapes, of which MuJoCo wants the files."""
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"<(visual|collision)>.*?</\1>", "", file.read(), flags=re.S)
    with tempfile.TemporaryDirectory() as folder:
        bare = os.path.join(folder, "robot.urdf")
        with open(bare, "w", encoding="utf-8") as file:
            file.write(text)
        model = mujoco.MjModel.from_xml_path(bare)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    model.opt.timestep = 1e-3
    return model


def cases(path):
    """(name, ours, {peer: its call})"""
    import mujoco
    import numpy as np
    import pinocchio

    import linkwork
    model = linkwork.load(path)
    data, n = linkwork.Data(model), model.tree_nv
    pin = pinocchio.buildModelFromUrdf(path)
    pd = pin.createData()
    mj = mujoco_model(mujoco, path)
    md = mujoco.MjData(mj)
    random = np.random.default_rng(1)
    q, v, tau, a = (random.uniform(-1, 1, n) for _ in range(4))
    assert np.allclose(data.forward_dynamics(q, v, tau), pinocchio.aba(pin, pd, q, v, tau), rtol=1e-9, atol=1e-9)
    assert np.allclose(data.inverse_dynamics(q, v, a), pinocchio.rnea(pin, pd, q, v, a), rtol=1e-9, atol=1e-9)
    md.qpos[:], md.qvel[:], md.qacc[:] = q, v, a
    sim = linkwork.Simulation(model, integrator="rk4", step=1e-3)
    frame, body, hand = pin.getFrameId("wrist_3_link"), mj.body("wrist_3_link").id, "wrist_3_link"
    place, motion, J, jacp, jacr = linkwork.Kinematics(model), linkwork.PointMotion(), *(np.zeros((k, n)) for k in (6, 3, 3))
    aligned = pinocchio.LOCAL_WORLD_ALIGNED
    place.set(q)
    assert np.allclose(place.jacobian(hand), pinocchio.computeFrameJacobian(pin, pd, q, frame, aligned), rtol=1e-9, atol=1e-9)
    return [
        ("forward_dynamics", lambda: data.forward_dynamics(q, v, tau),
         {"aba": lambda: pinocchio.aba(pin, pd, q, v, tau), "mj_forward": lambda: mujoco.mj_forward(mj, md)}),
        ("inverse_dynamics", lambda: data.inverse_dynamics(q, v, a),
         {"rnea": lambda: pinocchio.rnea(pin, pd, q, v, a), "mj_inverse": lambda: mujoco.mj_inverse(mj, md)}),
        ("mass_matrix", lambda: data.mass_matrix(q), {"crba": lambda: pinocchio.crba(pin, pd, q)}),
        ("bias", lambda: data.bias(q, v), {"nle": lambda: pinocchio.nonLinearEffects(pin, pd, q, v)}),
        ("inverse_derivatives", lambda: data.inverse_derivatives(q, v, a),
         {"computeRNEADerivatives": lambda: pinocchio.computeRNEADerivatives(pin, pd, q, v, a)}),
        ("forward_derivatives", lambda: data.forward_derivatives(q, v, tau),
         {"computeABADerivatives": lambda: pinocchio.computeABADerivatives(pin, pd, q, v, tau)}),
        ("Simulation.step, rk4 of 1 ms", lambda: sim.step(1e-3), {"mj_step": lambda: mujoco.mj_step(mj, md)}),
        ("Simulation.observe, twist", lambda: sim.observe("twist").velocity,
         {"forwardKinematics": lambda: (pinocchio.forwardKinematics(pin, pd, q, v), [x.linear for x in pd.v]),
          "mj_fwdVelocity": lambda: (mujoco.mj_fwdPosition(mj, md), mujoco.mj_fwdVelocity(mj, md), md.cvel)}),
        ("Kinematics.set, jacobian", lambda: (place.set(q), place.jacobian(hand, out=J)),
         {"computeFrameJacobian": lambda: pinocchio.computeFrameJacobian(pin, pd, q, frame, aligned),
          "mj_kinematics, mj_comPos, mj_jac": lambda: (mujoco.mj_kinematics(mj, md), mujoco.mj_comPos(mj, md),
                                                       mujoco.mj_jac(mj, md, jacp, jacr, md.xpos[body], body))}),
        ("Kinematics.set, point", lambda: (place.set(q, v), place.point(hand, out=motion)),
         {"forwardKinematics, updateFramePlacement, getFrameVelocity": lambda: (
             pinocchio.forwardKinematics(pin, pd, q, v), pinocchio.updateFramePlacement(pin, pd, frame),
             pinocchio.getFrameVelocity(pin, pd, frame, aligned)),
          "mj_fwdVelocity": lambda: (mujoco.mj_fwdPosition(mj, md), mujoco.mj_fwdVelocity(mj, md), md.xpos[body])}),
        # of all bodies
        ("Simulation.observe, acceleration", lambda: sim.observe("acceleration").acceleration,
         {"mj_forward, mj_rnePostConstraint": lambda: (mujoco.mj_forward(mj, md),
                                                       mujoco.mj_rnePostConstraint(mj, md), md.cacc)}),
    ]


def measure(arguments):
    found = []
    for name, ours, peers in cases(arguments.model):
        timers = {"": ours, **peers}
        fastest = {what: float("inf") for what in timers}
        for _ in range(arguments.rounds):
            for what, call in timers.items():
                fastest[what] = min(fastest[what], timeit.timeit(call, number=arguments.calls) / arguments.calls * 1e6)
        found.append({"call": name, "us": fastest.pop(""), "others": fastest})
    return found


def ratio(row):
    return row["us"] / min(row["others"].values())


def print_table(rows):
    print("| call | here, µs | others, µs | ratio to the fastest |\n|---|---|---|---|")
    for row in rows:
        others = ", ".join(f"`{name}` {t:.2f}" for name, t in row["others"].items())
        print(f"| {row['call']} | {row['us']:.2f} | {others} | {ratio(row):.2f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("model", nargs="?")
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--calls", type=int, default=50)
    parser.add_argument("--json")
    parser.add_argument("--table")
    arguments = parser.parse_args()
    if arguments.table:
        with open(arguments.table, encoding="utf-8") as file:
            print_table(json.load(file))
        return 0
    if not arguments.model:
        parser.error("MODEL or --table is needed")
    rows = measure(arguments)
    print_table(rows)
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
            file.write("\n")
    return int(any(ratio(row) > ALLOWED for row in rows))


if __name__ == "__main__":
    sys.exit(main())
