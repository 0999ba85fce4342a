#!/usr/bin/env python3
"""A long run by another library: the error of its energy in tenths of the run, and the CPU time.

usage: peers.py MODEL.xml implicitfast|implicit|RK4|pinocchio|pinocchio-RK4 STEP DURATION

MODEL is MJCF as `linkwork convert` writes it, for MuJoCo also with equality constraints.  implicitfast, implicit and RK4 are MuJoCo's
integrators; pinocchio: accelerations by its articulated-body algorithm in semi-implicit Euler steps; pinocchio-RK4: in the
classical Runge-Kutta steps of order 4, on the rotation vectors of a step, each a call from Python.  MuJoCo takes the steps
between two rows in one call, and computes the energy in each.  The energy is read about every 0.3 s.  One object of JSON,
as bench_structure prints it.
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


def pinocchio_start(model, path):
    """Coordinates and velocities of the first keyframe; quaternions are x y z w here."""
    import numpy
    import pinocchio
    key = xml.etree.ElementTree.parse(path).find("keyframe/key")
    if key is None:
        return pinocchio.neutral(model), numpy.zeros(model.nv)
    q = numpy.array([float(number) for number in key.get("qpos").split()])
    v = numpy.array([float(number) for number in key.get("qvel", "0 " * model.nv).split()])
    for joint in model.joints:
        if joint.nq == 4:
            q[joint.idx_q:joint.idx_q + 4] = numpy.roll(q[joint.idx_q:joint.idx_q + 4], -1)
    return q, v


def pinocchio_steps(path, step, euler):
    import numpy
    import pinocchio
    model = pinocchio.buildModelFromMJCF(path)
    gravity = xml.etree.ElementTree.parse(path).find("option").get("gravity")  # which Pinocchio does not read
    model.gravity.linear = numpy.array([float(number) for number in gravity.split()])
    data = model.createData()
    state = list(pinocchio_start(model, path))
    effort = numpy.zeros(model.nv)

    def take_euler():
        state[1] = state[1] + step * pinocchio.aba(model, data, state[0], state[1], effort)
        state[0] = pinocchio.integrate(model, state[0], step * state[1])

    def rates(theta, v):
        """Of the rotation vectors theta from the beginning of the step, and of v."""
        q = pinocchio.integrate(model, state[0], theta)
        rate = numpy.linalg.solve(pinocchio.dIntegrate(model, state[0], theta, pinocchio.ARG1), v)
        return rate, pinocchio.aba(model, data, q, v, effort)

    def take_rk4():
        v, zero = state[1], numpy.zeros(model.nv)
        k1 = rates(zero, v)
        k2 = rates(step / 2 * k1[0], v + step / 2 * k1[1])
        k3 = rates(step / 2 * k2[0], v + step / 2 * k2[1])
        k4 = rates(step * k3[0], v + step * k3[1])
        theta, change = (step / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]) for i in (0, 1))
        state[0] = pinocchio.integrate(model, state[0], theta)
        state[1] = v + change

    def advance(n):
        for _ in range(n):
            (take_euler if euler else take_rk4)()

    def energy():
        return pinocchio.computeMechanicalEnergy(model, data, state[0], state[1])
    return advance, energy


def main():
    path, integrator, step, duration = sys.argv[1], sys.argv[2], float(sys.argv[3]), float(sys.argv[4])
    own = integrator.startswith("pinocchio")
    advance, energy = pinocchio_steps(path, step, integrator == "pinocchio") if own else mujoco_steps(path, integrator, step)
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
