"""Equilibria, linearisation and modes, against closed forms and NumPy."""
import numpy as np
import pytest

import linkwork as lw

PENDULUM = """
linkwork: 1
gravity: [0, -9.81, 0]
inputs: [torque]
bodies:
  one: {mass: 1, position: [0.6, -0.8, 0]}
  two: {mass: 1, position: [0.6, -1.8, 0]}
joints:
  a: {type: revolute, between: [ground, one], at: [0, 0, 0], axis: [0, 0, 1], effort: {q0: torque}}
  b: {type: revolute, between: [one, two], at: [0.6, -0.8, 0], axis: [0, 0, 1]}
"""


@pytest.fixture
def pendulum():
    return lw.Model.from_string(PENDULUM)


def test_equilibrium(pendulum):
    found = lw.equilibrium(pendulum)
    assert found.stable and found.dof == 2 and found.unstable == 0
    t = lw.simulate(found.model, duration=0.01, sample=0.01)
    assert t["body.two.y"][0] == pytest.approx(-2, abs=1e-12)
    assert abs(t["joint.a.qdd0"][0]) < 1e-9
    assert found.softest == pytest.approx((2 - np.sqrt(2)) * 9.81, rel=1e-9)
    held = lw.equilibrium(pendulum, inputs={"torque": 9.81})  # sin of the upper angle: 1/2
    assert np.sin(lw.simulate(held.model, duration=0)["body.one.x"][0]) > 0
    assert lw.simulate(held.model, duration=0)["body.one.x"][0] == pytest.approx(0.5, abs=1e-12)


def test_linearize_and_modes(pendulum):
    balanced = lw.equilibrium(pendulum).model
    system = lw.linearize(balanced, outputs=["body.two.x", "joint.a.q0"])
    assert system.states == ("joint.a.q0", "joint.b.q0", "joint.a.qd0", "joint.b.qd0")
    assert system.inputs == ("torque",) and system.outputs == ("body.two.x", "joint.a.q0")
    assert system.C[0] == pytest.approx([2, 1, 0, 0], abs=1e-9)
    s = np.linalg.eigvals(system.A)
    expected = np.sqrt((2 + np.array([-1, 1]) * np.sqrt(2)) * 9.81)
    assert sorted(s.imag[s.imag > 0]) == pytest.approx(expected, rel=1e-9)
    modes = system.modes()
    assert [m.frequency for m in modes] == pytest.approx(expected / (2 * np.pi), rel=1e-10)
    assert [m.frequency for m in lw.modes(pendulum)] == pytest.approx(expected / (2 * np.pi), rel=1e-10)
    assert sum(modes[0].energy.values()) == pytest.approx(1, abs=1e-14)
    assert abs(modes[0].shape["two"][0]) == pytest.approx(1, abs=1e-9)
    # u is a torque: A x + B u = 0 at the position it holds
    x = np.linalg.solve(system.A, -system.B[:, 0] * 1e-4)
    held = lw.equilibrium(pendulum, inputs={"torque": 1e-4}).model
    assert x[0] - 0 == pytest.approx(
        lw.simulate(held, duration=0)["joint.a.q0"][0] - lw.simulate(balanced, duration=0)["joint.a.q0"][0], rel=1e-6)
    assert system.to_scipy().A.shape == (4, 4) if _has("scipy") else True


def _has(name):
    try:
        __import__(name)
    except ImportError:
        return False
    return True


def test_state(pendulum):
    q, v = pendulum.start()
    at = lw.linearize(pendulum, q=q + [0.1, -0.2], v=v + [1, 2])
    data = lw.Data(pendulum)
    assert at.accelerations == pytest.approx(data.forward_dynamics(q + [0.1, -0.2], v + [1, 2], np.zeros(2)),
                                             rel=1e-10)
    with pytest.raises(ValueError, match="q has shape"):
        lw.linearize(pendulum, q=[0.0])


def test_errors(pendulum):
    with pytest.raises(lw.UnknownNameError, match="torque"):
        lw.equilibrium(pendulum, inputs={"torqe": 1})
    with pytest.raises(lw.ArgumentError, match="joint.a.q0"):
        lw.linearize(pendulum, outputs="joint.a.q1")
    with pytest.raises(ValueError, match="expected 'equilibrium' or 'start'"):
        lw.modes(pendulum, at="rest")
    falling = lw.Model.from_string("linkwork: 1\nbodies: {b: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}}\n")
    with pytest.raises(lw.SingularError, match="forces still move body.b"):
        lw.equilibrium(falling)


def test_kinematics():
    """Torque of a slider-crank at 100 rad/s, of another program."""
    crank = lw.Model.from_string("""
linkwork: 1
gravity: [0, -9.81, 0]
functions: {turn: {type: polynomial, coefficients: [0, 100]}}
bodies:
  crank:  {mass: 1, inertia: [1e-6, 8.333333333333333e-4, 8.333333333333333e-4, 0, 0, 0], position: [0.05, 0, 0]}
  rod:    {mass: 0.6, inertia: [1e-6, 0.0045, 0.0045, 0, 0, 0], position: [0.25, 0, 0]}
  piston: {mass: 0.8, position: [0.4, 0, 0]}
joints:
  A: {type: revolute, between: [ground, crank], at: [0, 0, 0], axis: [0, 0, 1], motion: {q0: turn}}
  B: {type: revolute, between: [crank, rod], at: [0.1, 0, 0], axis: [0, 0, 1]}
  C: {type: revolute, between: [rod, piston], at: [0.4, 0, 0], axis: [0, 0, 1]}
  D: {type: prismatic, between: [ground, piston], at: [0.4, 0, 0], axis: [1, 0, 0]}
""")
    t = lw.kinematics(crank, 0.04, sample=0.005)
    rows = [0, 2, 5, 8]
    assert t["joint.A.q0"][rows] == pytest.approx([0, 1, 2.5, 4], abs=1e-12)
    assert t["joint.A.tz"][rows] == pytest.approx([0.7848, 49.645149287266214, -38.564276346, 49.252455024], rel=1e-10)
    with pytest.raises(lw.ModelError, match="joint.a.q0, joint.b.q0"):
        lw.kinematics(lw.Model.from_string(PENDULUM))


def test_a_callback_closes_a_linearised_loop():
    """A + B K is the linearisation of the same law in the file."""
    text = """
linkwork: 1
gravity: [0, -9.81, 0]
inputs: [torque]
functions: {law: {type: formula, of: "20 - 60*A.q0 - 9*A.qd0"}}
bodies:
  pole: {mass: 1.5, inertia: [0.01, 0.02, 0.03, 0, 0, 0], com: [0.3, 0.2, 0]}
joints:
  A: {type: revolute, between: [ground, pole], at: [0, 0, 0], axis: [0, 0, 1], effort: {q0: %s}}
"""
    opened, closed = (lw.linearize(lw.Model.from_string(text % effort)) for effort in ("torque", "law"))
    gains = np.array([[-60.0, -9.0]])
    assert np.allclose(opened.A + opened.B @ gains, closed.A, rtol=1e-12, atol=1e-12)
    assert not np.allclose(opened.A, closed.A)
    model = lw.Model.from_string(text % "torque")
    law = {"callback": lambda o: [20 - 60 * o.q[0] - 9 * o.qd[0]]}
    slopes = {"jacobian": lambda o: {"q": [-60], "qd": [-9]}}
    for more in ({}, slopes):
        called = lw.linearize(model, **law, **more)
        assert np.allclose(called.A, closed.A, rtol=1e-10, atol=1e-10) and np.allclose(called.B, opened.B)
        assert called.accelerations == pytest.approx(closed.accelerations, rel=1e-13)
        assert lw.modes(model, at="start", **law, **more)[0].frequency == pytest.approx(closed.modes()[0].frequency)
    with pytest.raises(lw.ArgumentError, match="the Jacobian gives -9, differences of the callback -60"):
        lw.linearize(model, **law, jacobian=lambda o: {"q": [-9], "qd": [-60]})
    with pytest.raises(lw.ArgumentError, match="expected at='start'"):
        lw.modes(model, **law)
    with pytest.raises(lw.ArgumentError, match="jacobian: expected a callback"):
        lw.linearize(model, **slopes)
    with pytest.raises(ZeroDivisionError):
        lw.linearize(model, callback=lambda o: 1 / 0)
