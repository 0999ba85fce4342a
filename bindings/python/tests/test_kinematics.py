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


def test_results_in_arrays_of_the_caller(ur5, four_bar):
    """With and without `out`, in one call on the arrays or by the way of what has to be converted: the same bits."""
    for model in (ur5, four_bar):
        k, n = lw.Kinematics(model), len(lw.Kinematics(model).independent)
        q, body, p = model.start()[0], model.bodies[2].name, [0.1, 0.2, -0.3]
        v = k.tangent() @ np.linspace(1, 2, n)
        k.set(q, v, time=0)
        assert np.array_equal(k.tangent(out=np.full((model.tree_nv, n), 7.0)), k.tangent())
        motion = k.point(body, p)
        kept = lw.PointMotion()
        for point in (tuple(p), np.array(p), np.array(p, dtype=np.float32).astype(object).astype(float).tolist()):
            assert k.point(body, point, out=kept) is kept
        assert kept.velocity == pytest.approx(motion.velocity, rel=1e-6)  # of the point in single precision
        assert np.array_equal(k.point(body, np.array(p)[::1], out=kept).numbers, motion.numbers)
        for tree in (False, True):
            for axes in ("world", "body"):
                J = k.jacobian(body, p, axes=axes, tree=tree)
                out = np.full(J.shape, 7.0)
                assert k.jacobian(body, tuple(p), axes=axes, tree=tree, out=out) is out and np.array_equal(out, J)
                assert np.array_equal(k.jacobian(body, np.array([0.1, 0, 0.2, 0, -0.3])[::2], axes=axes, tree=int(tree)), J)
        k.set(list(q), list(v))
        assert np.array_equal(k.point(body, p).numbers, motion.numbers)


def test_wrong_arguments_are_named(ur5):
    k = lw.Kinematics(ur5)
    with pytest.raises(lw.ArgumentError, match="body 'nobody'"):
        k.jacobian("nobody")
    for call in (k.point, k.jacobian):
        with pytest.raises(lw.ArgumentError, match="point: expected 3 numbers, got 2"):
            call("tool0", [0, 0])
        with pytest.raises(lw.NotFiniteError, match=r"point\[1\] is nan"):
            call("tool0", [0, np.nan, 0])
        with pytest.raises(lw.ArgumentError, match="point: expected real numbers"):
            call("tool0", [0, 1j, 0])
    with pytest.raises(lw.ArgumentError, match="out: expected a writeable C array of float64 of shape"):
        k.jacobian("tool0", out=np.empty((6, 5)))
    with pytest.raises(lw.ArgumentError, match="out: expected a writeable C array"):
        k.tangent(out=np.empty((6, 6), dtype=np.float32))
    with pytest.raises(lw.ArgumentError, match="out: expected a PointMotion, got ndarray"):
        k.point("tool0", out=np.empty(13))
    with pytest.raises(lw.ArgumentError, match="q: expected 6 numbers, got 5"):
        k.set(np.zeros(5))
    with pytest.raises(lw.NotFiniteError):
        k.set(np.full(6, np.nan))
    with pytest.raises(lw.NotFiniteError):
        k.set(np.zeros(6), np.full(6, np.inf))


def test_many_speeds_leave_the_interpreter(tmp_path):
    """Above the sizes that are evaluated with its lock: chains with and without a loop."""
    for n, closed in ((300, False), (40, True)):
        bodies = "".join(f"  b{i}: {{mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [{i}.5, 0, 0]}}\n" for i in range(n))
        joints = "".join(f"  j{i}: {{type: revolute, between: [{'ground' if i == 0 else f'b{i - 1}'}, b{i}], at: [{i}, {i % 2}, 0], "
                         "axis: [0, 0, 1]}\n" for i in range(n))
        if closed:
            joints += f"  end: {{type: prismatic, between: [ground, b{n - 1}], at: [{n}, 0, 0], axis: [0, 1, 0]}}\n"
        model = lw.Model.from_string(f"linkwork: 1\nbodies:\n{bodies}joints:\n{joints}")
        k = lw.Kinematics(model)
        z = np.linspace(0, 1, len(k.independent))
        k.set(model.start()[0], k.tangent() @ z)
        motion = k.point("b7", [0, 1, 0])
        J = k.jacobian("b7", [0, 1, 0], out=np.empty((6, len(z))))
        assert J[:3] @ z == pytest.approx(motion.velocity, abs=1e-12)
        assert J[3:] @ z == pytest.approx(motion.angular_velocity, abs=1e-12)


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
