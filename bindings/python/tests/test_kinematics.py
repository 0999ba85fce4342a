"""Jacobians and inverse kinematics, against closed forms and Pinocchio."""
import numpy as np
import pytest
from conftest import MODELS

import linkwork as lw


def test_jacobian_of_a_closed_mechanism(four_bar):
    k = lw.Kinematics(four_bar)
    assert len(k.independent) == 1
    body = four_bar.bodies[2].name
    q, v = four_bar.start()
    v = k.tangent() @ [0.7]
    k.set(q, v)
    J = k.jacobian(body, [0.1, 0.2, 0])
    assert J.shape == (6, 1)
    motion = k.point(body, [0.1, 0.2, 0])
    assert J[:3, 0] * 0.7 == pytest.approx(motion.velocity, abs=1e-13)
    assert J[3:, 0] * 0.7 == pytest.approx(motion.angular_velocity, abs=1e-13)
    tree = k.jacobian(body, [0.1, 0.2, 0], tree=True)
    assert tree @ k.tangent() == pytest.approx(J, abs=1e-14)
    own = k.jacobian(body, [0.1, 0.2, 0], axes="body")
    assert np.linalg.norm(own[:3]) == pytest.approx(np.linalg.norm(J[:3]))
    with pytest.raises(lw.ArgumentError, match="coordinates do not satisfy joint"):
        k.set(q + 0.1)
    with pytest.raises(lw.ArgumentError, match="expected 'world' or 'body'"):
        k.jacobian(body, axes="local")


def test_reach(ur5):
    k = lw.Kinematics(ur5)
    hand = ur5.bodies[-1].name
    rng = np.random.default_rng(4)
    for _ in range(10):
        k.set(rng.uniform(-1.5, 1.5, 6))
        target = k.point(hand, [0, 0, 0.1])
        found = k.reach(lw.Goal(body=hand, point=[0, 0, 0.1], position=target.position, orientation=target.quaternion),
                        q=rng.uniform(-1, 1, 6), starts=20)
        assert found.reached and found.gaps.max() < 1e-9
        there = k.point(hand, [0, 0, 0.1])
        assert there.position == pytest.approx(target.position, abs=1e-9)
        assert abs(there.quaternion @ target.quaternion) == pytest.approx(1, abs=1e-12)
    far = k.reach(lw.Goal(body=hand, position=[5, 0, 0]), starts=3)
    assert far.outcome == "unreachable" and far.gaps[0] > 3
    alone = k.reach(lw.Goal(joint=ur5.joints[1].name, value=0.4))
    assert alone.reached
    with pytest.raises(lw.ArgumentError, match="expected a body with a position"):
        k.reach(lw.Goal(body=hand))


@pytest.mark.parametrize("wrong", ({"weight": 0}, {"rotation_weight": -1}, {"weight": float("nan")},
                                   {"orientation": [0, 0, 0, 0]}))
def test_zeros_of_goals_are_refused(ur5, wrong):
    with pytest.raises(lw.ArgumentError, match=next(iter(wrong))):
        lw.Kinematics(ur5).reach(lw.Goal(body="tool0", position=[0.3, 0.2, 0.4], **wrong))


def test_against_pinocchio():
    pin = pytest.importorskip("pinocchio")
    path = str(MODELS / "ur5.urdf")
    model, robot = lw.load(path), pin.buildModelFromUrdf(path)
    data, k, hand = robot.createData(), lw.Kinematics(model), "wrist_3_link"
    rng = np.random.default_rng(1)
    frame = robot.getFrameId(hand)
    for _ in range(20):
        q, v = rng.uniform(-3, 3, (2, 6))
        k.set(q, v)
        for axes, reference in (("world", pin.LOCAL_WORLD_ALIGNED), ("body", pin.LOCAL)):
            expected = pin.computeFrameJacobian(robot, data, q, frame, reference)
            assert k.jacobian(hand, axes=axes) == pytest.approx(expected, abs=1e-12)
        pin.framesForwardKinematics(robot, data, q)
        assert k.point(hand).position == pytest.approx(data.oMf[frame].translation, abs=1e-12)
