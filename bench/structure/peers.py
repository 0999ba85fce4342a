#!/usr/bin/env python3
"""A long run of a tree by another library: the error of its energy in tenths of the run, and the CPU time.

usage: peers.py MODEL.xml implicitfast|RK4|pinocchio STEP DURATION

MODEL is MJCF as `linkwork convert` writes it.  implicitfast and RK4 are MuJoCo's integrators; pinocchio: accelerations by
its articulated-body algorithm in semi-implicit Euler steps, each a call from Python.  MuJoCo takes the steps between two
rows in one call, and computes the energy in each.  The energy is read about every 0.3 s.  One object of JSON, as
bench_structure prints it.
"""
import json
import sys
import time
import xml.etree.ElementTree

TENTHS = 10


def mujoco_steps(path, integrator, step):
    import mujoco
    model = mujoco.MjModel.from_xml_path(path)
    model.opt.timestep = step
    model.opt.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{integrator.upper()}")
    model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    data = mujoco.MjData(model)
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)

    def energy():
        mujoco.mj_forward(model, data)
        return data.energy[0] + data.energy[1]
    return lambda n: mujoco.mj_step(model, data, nstep=n), energy


def pinocchio_steps(path, step):
    import numpy
    import pinocchio
    model = pinocchio.buildModelFromMJCF(path)
    gravity = xml.etree.ElementTree.parse(path).find("option").get("gravity")  # which Pinocchio does not read
    model.gravity.linear = numpy.array([float(number) for number in gravity.split()])
    data = model.createData()
    state = [pinocchio.neutral(model), numpy.zeros(model.nv)]
    effort = numpy.zeros(model.nv)

    def advance(n):
        for _ in range(n):
            state[1] = state[1] + step * pinocchio.aba(model, data, state[0], state[1], effort)
            state[0] = pinocchio.integrate(model, state[0], step * state[1])

    def energy():
        return pinocchio.computeMechanicalEnergy(model, data, state[0], state[1])
    return advance, energy


def main():
    path, integrator, step, duration = sys.argv[1], sys.argv[2], float(sys.argv[3]), float(sys.argv[4])
    advance, energy = pinocchio_steps(path, step) if integrator == "pinocchio" else mujoco_steps(path, integrator, step)
    every = max(1, round(0.3 / step))
    rows = round(duration / (every * step))
    first, errors, cpu = energy(), [], 0.0
    for _ in range(rows):
        began = time.process_time()
        advance(every)
        cpu += time.process_time() - began
        errors.append(energy() - first)
    tenth = [errors[k * rows // TENTHS:(k + 1) * rows // TENTHS] for k in range(TENTHS)]
    print(json.dumps({"mean": [sum(part) / len(part) for part in tenth], "least": [min(part) for part in tenth],
                      "largest": [max(part) for part in tenth], "cpu": cpu, "duration": rows * every * step}))


if __name__ == "__main__":
    main()
