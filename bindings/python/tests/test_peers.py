"""The same files read by MuJoCo and Pinocchio give the same accelerations (skipped where they are not installed)."""
from pathlib import Path

import numpy as np
import pytest
from conftest import MODELS

import linkwork as lw

STATES = 100
TEST_MODELS = Path(__file__).parents[3] / "tests" / "models"

# A free base, several joints in a body, balls, slides, classes, rotors, geoms of every kind with inertia.
MJCF = """<mujoco>
  <compiler angle="degree"/>
  <option gravity="1 2 -9"/>
  <default><joint damping=".2" stiffness="1" armature=".05"/><default class="leg"><joint armature=".02"/><geom type="capsule" size=".05"/></default></default>
  <worldbody>
    <body name="torso" pos="0 0 1.3"><freejoint name="root"/>
      <geom type="box" size=".1 .2 .3" euler="10 20 30"/><geom type="sphere" size=".1" pos="0 0 .4"/>
      <body name="thigh" pos="0 .1 -.3" euler="0 10 0" childclass="leg">
        <joint name="hip_x" axis="1 0 0" ref="20"/><joint name="hip_z" axis="0 0 1"/><joint name="hip_y" axis="0 1 .3" pos="0 .01 0"/>
        <geom fromto="0 0 0 0 .01 -.34"/>
        <body name="shin" pos="0 .01 -.4"><joint name="knee" axis="0 -1 0" springref="30"/>
          <geom type="cylinder" size=".04 .2" pos="0 0 -.2"/>
          <body name="foot" pos="0 0 -.4"><joint name="ankle" type="ball" stiffness="0" armature="0"/><geom type="ellipsoid" size=".1 .05 .03"/></body></body>
      </body>
      <body name="arm" pos="0 -.3 .2" quat=".6 .8 0 0"><joint name="lift" type="slide" axis="0 1 1" ref=".1"/>
        <inertial pos=".1 0 0" mass="2" fullinertia=".02 .03 .04 .001 .002 .003"/></body>
    </body>
  </worldbody>
</mujoco>
"""


def relative(found, wanted):
    return np.max(np.abs(found - wanted)) / np.max(np.abs(wanted))


def accelerations_as_mujoco(path):
    mujoco = pytest.importorskip("mujoco")
    m = mujoco.MjModel.from_xml_path(str(path))
    m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    d, model = mujoco.MjData(m), lw.load(path)
    data, rng, worst = lw.Data(model), np.random.default_rng(1), 0
    assert (model.tree_nq, model.tree_nv) == (m.nq, m.nv)
    for _ in range(STATES):
        q, v, wanted, moved = np.zeros(m.nq), np.zeros(m.nv), np.zeros(m.nv), []
        qpos, qvel = m.qpos0.copy(), rng.normal(size=m.nv)
        for joint in model.joints:
            n = joint.tree_v.stop - joint.tree_v.start
            if n == 0:
                continue
            j = mujoco.mj_name2id(m, mujoco.mjtObj.mjOBJ_JOINT, joint.name)
            a, b = m.jnt_qposadr[j], m.jnt_dofadr[j]
            if n == 1:
                qpos[a] += rng.normal()
            else:
                turn = rng.normal(size=4)
                qpos[a + n - 3:a + n + 1] = turn / np.linalg.norm(turn)
            q[joint.tree_q] = qpos[a:a + joint.tree_q.stop - joint.tree_q.start]
            v[joint.tree_v] = qvel[b:b + n]
            moved.append((joint.tree_v, b, n))
            if n == 6:  # MuJoCo's free joint has its linear velocity in the world
                R = np.zeros(9)
                mujoco.mju_quat2Mat(R, qpos[a + 3:a + 7])
                base = (R.reshape(3, 3), joint.tree_v)
                v[joint.tree_v][:3] = base[0].T @ qvel[b:b + 3]
        d.qpos[:], d.qvel[:] = qpos, qvel
        mujoco.mj_forward(m, d)
        for at, b, n in moved:
            wanted[at] = d.qacc[b:b + n]
            if n == 6:
                R, u = base[0], v[at]
                wanted[at][:3] = R.T @ d.qacc[b:b + 3] - np.cross(u[3:], u[:3])
        worst = max(worst, relative(data.forward_dynamics(q, v), wanted))
    print(f"{path.name}: largest relative difference to MuJoCo {worst:.1e} in {STATES} states")
    return worst


# Both sum forces of thousands of newtons into accelerations; conditioned by light feet on heavy bodies.
BOUND = 1e-10


def test_accelerations_are_those_of_mujoco(tmp_path):
    path = tmp_path / "figure.xml"
    path.write_text(MJCF)
    assert accelerations_as_mujoco(path) < BOUND


def test_the_humanoid_moves_as_in_mujoco(tmp_path):
    path = TEST_MODELS / "humanoid.xml"
    assert 'armature="' in path.read_text()  # rotors of its joints, by defaults and classes
    assert accelerations_as_mujoco(path) < BOUND


def robots():
    return [MODELS / "ur5.urdf", MODELS / "anymal_c.urdf", TEST_MODELS / "double_pendulum.urdf"]


@pytest.mark.parametrize("path", robots(), ids=lambda p: p.stem)
def test_accelerations_are_those_of_pinocchio(path):
    pin = pytest.importorskip("pinocchio")
    model = lw.load(path)
    other = pin.buildModelFromUrdf(str(path))
    data, workspace, rng, worst = lw.Data(model), other.createData(), np.random.default_rng(2), 0
    joints = [j for j in model.joints if j.tree_v.stop > j.tree_v.start]
    if len(data.constraint_jacobian(model.neutral())):
        pytest.skip("mimic joints: Pinocchio moves them on their own, here they are coupled")
    if {j.name for j in joints} != set(other.names[1:]) or other.nv != model.tree_nv:
        pytest.skip("the two read other joints of this file")
    for _ in range(STATES):
        q, v, wanted = np.zeros(model.tree_nq), rng.normal(size=model.tree_nv), np.zeros(model.tree_nv)
        angles, theirs, speeds = rng.normal(size=model.tree_nv), pin.neutral(other), np.zeros(other.nv)
        for j in joints:
            k = other.getJointId(j.name)
            at, to = other.joints[k].idx_v, j.tree_v.start
            speeds[at] = v[to]
            q[j.tree_q] = angles[to]
        step = np.zeros(other.nv)
        for j in joints:
            step[other.joints[other.getJointId(j.name)].idx_v] = angles[j.tree_v.start]
        theirs = pin.integrate(other, theirs, step)
        damping = np.array([other.damping[i] if hasattr(other, "damping") else 0.0 for i in range(other.nv)])
        found = pin.aba(other, workspace, theirs, speeds, -damping * speeds)
        for j in joints:
            wanted[j.tree_v] = found[other.joints[other.getJointId(j.name)].idx_v]
        worst = max(worst, relative(data.forward_dynamics(q, v), wanted))
    print(f"{path.name}: largest relative difference to Pinocchio {worst:.1e} in {STATES} states")
    assert worst < BOUND
