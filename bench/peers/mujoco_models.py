#!/usr/bin/env python3
"""Compare MJCF models with MuJoCo: Linkwork's reader, and lw.from_mujoco, against MuJoCo's own numbers.

usage: mujoco_models.py [--states 50] [--by file,live] [--names NAME,...] FILE.xml ...

Of every file, at random states (angles within a radian and slides within 0.3 m of the start, speeds normal, controls
from a tenth below to a tenth above their ranges), contacts, limits and equalities of MuJoCo off:

  M     mass matrix of the tree, relative to its largest element
  h     M vdot + h = 0: velocity terms, weight, springs, dampers, actuators; relative to the largest element
  vdot  accelerations of a tree, relative to the largest one
  act   generalized forces of the actuators alone, relative to the largest one
  loop  accelerations at rest with closed loops and couplings, against a solution of Gauss's principle with MuJoCo's
        mass matrix, forces and Jacobian of its equalities, at states of a simulation that satisfy the loops

MuJoCo's dry friction, a constraint there, is applied on both sides as the smooth law of Linkwork; its medium (density,
viscosity, wind) is off, and so are its actuators that are not read (their number is nu less inputs).
Needs the packages linkwork and mujoco; exit status 1 if an entry is above its bound.
"""
import argparse
import os
import re
import sys

import mujoco
import numpy as np

import linkwork as lw

BOUND = {"M": 1e-10, "h": 1e-10, "vdot": 1e-10, "act": 1e-11, "loop": 1e-8}
SPEED = 0.01
CLOSED = 1e-9


def rotation(q):
    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, q)
    return R.reshape(3, 3)


class Pair:
    """A model of MuJoCo and one of Linkwork, and the joints of both."""

    def __init__(self, m, model):
        self.m, self.d, self.model, self.data = m, mujoco.MjData(m), model, lw.Data(model)
        m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
        m.opt.density = m.opt.viscosity = 0
        mine = [j for j in model.joints if j.type in ("revolute", "prismatic", "spherical", "free") and not j.merged]
        named = {j.name: j for j in mine}
        theirs = [m.joint(k).name for k in range(m.njnt)]
        if all(theirs) and all(n in named for n in theirs):
            self.joints = [named[n] for n in theirs]
        else:
            self.joints = mine[:m.njnt]  # in the order of the file; joints of equalities follow
        kinds = {0: "free", 1: "spherical", 2: "prismatic", 3: "revolute"}
        for k, joint in enumerate(self.joints):
            if kinds[int(m.jnt_type[k])] != joint.type:
                raise ValueError(f"joint {k} is {joint.type} '{joint.name}', in MuJoCo {kinds[int(m.jnt_type[k])]} '{theirs[k]}'")
        if len(self.joints) != m.njnt:
            raise ValueError(f"{len(self.joints)} joints, in MuJoCo {m.njnt}")
        # dofs of the tree in the order of MuJoCo; -1: driven here
        self.dof = -np.ones(m.nv, int)
        for k, joint in enumerate(self.joints):
            a, n = int(m.jnt_dofadr[k]), joint.tree_v.stop - joint.tree_v.start
            self.dof[a:a + n] = range(joint.tree_v.start, joint.tree_v.stop)
        self.free = np.flatnonzero(self.dof >= 0)
        self.to = self.dof[self.free]
        if len(self.free) != model.tree_nv:
            raise ValueError(f"{model.tree_nv} speeds of the tree, {len(self.free)} of them MuJoCo's")

    def random(self, rng):
        m = self.m
        qpos, qvel = m.qpos0.copy(), rng.normal(size=m.nv)
        for k in range(m.njnt):
            a, kind = int(m.jnt_qposadr[k]), int(m.jnt_type[k])
            if self.dof[m.jnt_dofadr[k]] < 0:
                qpos[a] = self.held(k)
                qvel[m.jnt_dofadr[k]] = 0
            elif kind >= 2:
                qpos[a] += rng.uniform(-1, 1) * (0.3 if kind == 2 else 1)
            else:
                if kind == 0:
                    qpos[a:a + 3] += rng.normal(size=3)
                    a += 3
                turn = rng.normal(size=4)
                qpos[a:a + 4] = turn / np.linalg.norm(turn)
        return qpos, qvel

    def held(self, k):
        """The value of a coordinate that an equality holds."""
        m = self.m
        for e in range(m.neq):
            if m.eq_type[e] == 2 and m.eq_obj1id[e] == k and m.eq_obj2id[e] < 0:
                return m.qpos0[m.jnt_qposadr[k]] + m.eq_data[e, 0]
        raise ValueError(f"joint '{m.joint(k).name}' is driven here")

    def controls(self, rng):
        m, n = self.m, len(self.model.inputs)
        names = [m.actuator(i).name for i in range(m.nu)]
        u = rng.normal(size=m.nu)
        for i in range(m.nu):
            if m.actuator_ctrllimited[i]:
                low, high = m.actuator_ctrlrange[i]
                more = 0 if m.actuator_trntype[i] == 4 else 0.1 * (high - low)
                u[i] = rng.uniform(low - more, high + more)
        inputs, unused = np.zeros(n), set(range(m.nu))
        for k, name in enumerate(self.model.inputs):
            i = names.index(name) if name in names else self.unnamed(name, k)
            inputs[k] = u[i]
            unused.discard(i)
        for i in unused:  # actuators that are not read act on neither side
            m.actuator_gear[i], u[i] = 0, 0
        return u, inputs

    def unnamed(self, name, k):
        found = re.search(r"actuator(\d+)$", name)
        if len(self.model.inputs) == self.m.nu:
            return k
        if found:
            return int(found.group(1)) - 1
        return next(i for i in range(self.m.nu) if self.m.actuator_trntype[i] == 0
                    and self.m.joint(self.m.actuator_trnid[i, 0]).name == name)

    def set(self, qpos, qvel, u=None):
        """MuJoCo at a state, dry friction as the smooth law; returns q, v and the rows that take its speeds to ours."""
        m, d = self.m, self.d
        d.qpos[:], d.qvel[:], d.qacc_warmstart[:] = qpos, qvel, 0
        q, v = np.zeros(self.model.tree_nq), np.zeros(self.model.tree_nv)
        T, drift = np.eye(m.nv), np.zeros(m.nv)  # ours = T theirs, vdot ours = T vdot theirs + drift
        slip = qvel.copy()
        for k, joint in enumerate(self.joints):
            a, b = int(m.jnt_qposadr[k]), int(m.jnt_dofadr[k])
            n = joint.tree_q.stop - joint.tree_q.start
            q[joint.tree_q] = qpos[a:a + n]
            if joint.type == "free":
                R = rotation(qpos[a + 3:a + 7])
                T[b:b + 3, b:b + 3] = R.T
                slip[b:b + 3] = R.T @ qvel[b:b + 3]
                drift[b:b + 3] = -np.cross(qvel[b + 3:b + 6], slip[b:b + 3])
        v[self.to] = (T @ qvel)[self.free]
        d.qfrc_applied[:] = T.T @ (-m.dof_frictionloss * np.tanh(slip / SPEED))
        d.ctrl[:] = 0 if u is None else u
        mujoco.mj_forward(m, d)
        return q, v, T, drift

    def mass(self, T):
        M = np.zeros((self.m.nv, self.m.nv))
        mujoco.mj_fullM(self.m, self.d, M)
        return T @ M @ T.T  # T is orthogonal

    def ours(self, x):
        """A vector of MuJoCo's dofs in our order."""
        out = np.zeros(self.model.tree_nv)
        out[self.to] = x[self.free]
        return out


def relative(found, wanted):
    size = np.max(np.abs(wanted), initial=0)
    return np.max(np.abs(found - wanted), initial=0) / size if size > 0 else np.max(np.abs(found), initial=0)


def has_couplings(model):
    return len(lw.Data(model).constraint_jacobian(model.start()[0])) > 0


def compare(m, model, states):
    pair = Pair(m, model)
    rng, worst = np.random.default_rng(1), {}

    def note(what, error):
        worst[what] = max(worst.get(what, 0), error)

    closed = has_couplings(model)
    for _ in range(states):
        qpos, qvel = pair.random(rng)
        u, inputs = pair.controls(rng)
        q, v, T, drift = pair.set(qpos, qvel, u)
        d = pair.d
        M = pair.mass(T)
        force = d.qfrc_passive + d.qfrc_actuator + d.qfrc_applied - d.qfrc_bias
        mine = pair.data.mass_matrix(q)
        note("M", relative(mine[np.ix_(pair.to, pair.to)], M[np.ix_(pair.free, pair.free)]))
        wanted = -T @ force - M @ drift  # M_ours vdot + h = 0 with vdot_ours = T vdot + drift
        h = pair.data.bias(q, v, inputs=inputs)
        note("h", relative(h, pair.ours(wanted)))
        act = T @ d.qfrc_actuator  # a copy
        if not closed and len(pair.free) == m.nv:
            note("vdot", relative(pair.data.forward_dynamics(q, v, inputs=inputs), pair.ours(T @ d.qacc + drift)))
        if m.nu:
            pair.d.ctrl[:] = 0
            mujoco.mj_forward(m, pair.d)
            off = T @ pair.d.qfrc_actuator
            change = pair.data.bias(q, v) - h
            size = np.max(np.abs(act), initial=0) or 1
            note("act", np.max(np.abs(change - pair.ours(act - off)), initial=0) / max(size, np.max(np.abs(h))))
    if closed:
        note("loop", loops(pair, states))
    return worst


def loops(pair, states):
    """Accelerations at rest, at states of a simulation, by Gauss's principle with MuJoCo's matrices."""
    m, d, model, worst = pair.m, pair.d, pair.model, 0
    dof = model.check().dof
    u, inputs = pair.controls(np.random.default_rng(2))
    t = lw.simulate(model, duration=0.2, sample=0.2 / states, rtol=1e-10, atol=1e-10,
                    inputs=dict(zip(model.inputs, inputs)))
    m.opt.disableflags &= ~int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    flags = mujoco.mjtDisableBit
    m.opt.disableflags |= int(flags.mjDSBL_CONTACT | flags.mjDSBL_LIMIT | flags.mjDSBL_FRICTIONLOSS)
    for row in range(len(t.time)):
        qpos = m.qpos0.copy()
        for k, joint in enumerate(pair.joints):
            a = int(m.jnt_qposadr[k])
            q = t.joint(joint.name).q[row]
            qpos[a:a + len(np.atleast_1d(q))] = q
        q, v, T, drift = pair.set(qpos, np.zeros(m.nv), u)
        J = np.zeros((d.nefc, m.nv))
        if mujoco.mj_isSparse(m):
            mujoco.mju_sparse2dense(J, d.efc_J, d.efc_J_rownnz, d.efc_J_rowadr, d.efc_J_colind)
        else:
            J[:] = np.array(d.efc_J).reshape(-1)[:d.nefc * m.nv].reshape(d.nefc, m.nv)
        M = np.zeros((m.nv, m.nv))
        mujoco.mj_fullM(m, d, M)
        L = np.linalg.cholesky(M)
        free = np.linalg.solve(L, d.qfrc_smooth)  # L' a
        B = np.linalg.solve(L, J.T)
        U, s, _ = np.linalg.svd(B, full_matrices=False)
        rank = min(len(s), m.nv - dof)  # rows of rounded coordinates are redundant to six digits and more
        U = U[:, :rank]
        open_by = np.max(np.abs(d.efc_pos[:d.nefc]), initial=0.0) * s[0] / s[rank - 1] if rank else 0.0
        a = np.linalg.solve(L.T, free - U @ (U.T @ free))
        mine = pair.data.forward_dynamics(q, v, inputs=inputs)
        worst = max(worst, relative(mine, pair.ours(T @ a)) * min(1, CLOSED / max(open_by, CLOSED)))
    return worst


def number(x):
    return "-" if x is None else f"{x:.1e}"


def run(path, by, states):
    """A line of the table, and whether it is within the bounds."""
    m = mujoco.MjModel.from_xml_path(path)
    model = lw.load(path) if by == "file" else lw.from_mujoco(m)
    worst = compare(m, model, states)
    good = all(x <= BOUND[k] for k, x in worst.items())
    ignored = sum(1 for w in model.warnings if "note:" not in w)
    return [str(m.nv), str(m.nu), str(len(model.inputs)), str(m.neq), *(number(worst.get(k)) for k in BOUND), str(ignored),
            "" if good else "ABOVE"], good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--states", type=int, default=50)
    parser.add_argument("--by", default="file,live")
    arguments = parser.parse_args()
    common = os.path.commonpath([os.path.abspath(f) for f in arguments.files])
    head = ["model", "by", "nv", "nu", "inputs", "neq", *BOUND, "ignored", ""]
    print("{:48s} {:5s} {:>4s} {:>4s} {:>6s} {:>4s} {:>8s} {:>8s} {:>8s} {:>8s} {:>8s} {:>7s} {}".format(*head))
    bad = total = 0
    for path in arguments.files:
        for by in arguments.by.split(","):
            name = os.path.relpath(path, common) if os.path.isdir(common) else os.path.basename(path)
            total += 1
            try:
                cells, good = run(path, by, arguments.states)
                print("{:48s} {:5s} {:>4s} {:>4s} {:>6s} {:>4s} {:>8s} {:>8s} {:>8s} {:>8s} {:>8s} {:>7s} {}".format(name, by, *cells))
            except Exception as error:  # any refusal is a line of the table
                good = False
                print(f"{name:48s} {by:5s} {type(error).__name__}: {str(error)[:160]}")
            bad += not good
            sys.stdout.flush()
    print(f"{total - bad} of {total} within the bounds {BOUND}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
