"""Inverse dynamics through loops: closed forms, round trips, Pinocchio's rnea on trees."""
import math

import numpy as np
import pytest
from conftest import MODELS

import linkwork as lw

PRESS = """
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
"""
TORQUES = [0.7848, 49.645149287266214, -38.564276346, 49.252455024]  # at 0, 1, 2.5, 4 rad, of another program
FREE = PRESS.replace(", motion: {q0: turn}", "")


def test_drives():
    found = lw.inverse(lw.Model.from_string(PRESS), duration=0.04, sample=0.005)
    assert found.kind == "unique" and found.actuators == ("joint.A.actuator0",)
    assert found["joint.A.actuator0"][[0, 2, 5, 8]] == pytest.approx(TORQUES, rel=1e-10)
    assert found.residual.max() < 1e-12
    # the same by two motors, of which the first is expensive, and by one at its dead points
    two = lw.inverse(lw.Model.from_string(PRESS), actuators=["A", "D"], weights={"A": 100}, duration=0.04, sample=0.005)
    assert two.kind == "minimum norm" and abs(two.efforts[5, 0]) < abs(TORQUES[2]) / 10
    dead = lw.inverse(lw.Model.from_string(PRESS), actuators="D", duration=0.04, sample=0.005)
    assert [s.kind for s in dead.solutions[:2]] == ["infeasible", "unique"]
    assert dead.solutions[0].missing == pytest.approx({"joint.A.q0": 0.7848})


def test_forward_motion_and_back(tmp_path):
    """Inputs of a run are found again from its result, and from three columns of it."""
    model = lw.actuate(lw.Model.from_string(FREE), "A")
    assert model.inputs == ("joint.A.actuator0",)
    sim = lw.Simulation(model, rtol=1e-11, atol=1e-11, duration=0.1, sample=0.002)
    sim.inputs["joint.A.actuator0"] = 3.0
    run = sim.run(0.1)
    found = lw.inverse(lw.Model.from_string(FREE), run, actuators="A")
    assert found.efforts == pytest.approx(np.full((51, 1), 3.0), rel=1e-8)
    table = tmp_path / "angle.csv"
    table.write_text("time,joint.A.q0\n" + "".join(f"{t!r},{q!r}\n" for t, q in zip(run.time.tolist(),
                                                                                   run["joint.A.q0"].tolist())))
    rough = lw.inverse(lw.Model.from_string(FREE), table, actuators="A")
    assert rough.efforts == pytest.approx(np.full((51, 1), 3.0), abs=1e-4)
    with pytest.raises(lw.ArgumentError, match="no column is a coordinate"):
        (tmp_path / "none.csv").write_text("time,x\n0,1\n")
        lw.inverse(lw.Model.from_string(FREE), tmp_path / "none.csv", actuators="A")
    with pytest.raises(lw.ArgumentError, match="expected times that increase"):
        (tmp_path / "twice.csv").write_text("time,joint.A.q0\n0,1\n0,1\n")
        lw.inverse(lw.Model.from_string(FREE), tmp_path / "twice.csv", actuators="A")


def test_floating_base():
    """A robot that floats: its motors cannot move the base, which shows as what is missing."""
    model = lw.load(MODELS / "anymal_c.urdf", base="floating")
    motors = [j.name for j in model.joints if j.nv == 1]
    solver = lw.Inverse(model, motors)
    rng = np.random.default_rng(3)
    q, v = solver.model.start()
    v, a = rng.uniform(-1, 1, v.size), rng.uniform(-1, 1, v.size)
    found = solver.solve(q, v, a)
    assert found.kind == "infeasible" and found.rank == len(motors)
    exact = lw.Data(model).inverse_dynamics(q, v, a)
    assert found.tau == pytest.approx(exact, rel=1e-9, abs=1e-9)
    # falling freely needs no wrench on the base
    a = lw.Data(model).forward_dynamics(q, v, rng.uniform(-5, 5, v.size) * (np.arange(v.size) >= 6))
    found = solver.solve(q, v, a)
    assert found.kind == "unique" and found.residual < 1e-10


def test_against_pinocchio():
    pin = pytest.importorskip("pinocchio")
    path = str(MODELS / "ur5.urdf")
    model, robot = lw.load(path), pin.buildModelFromUrdf(path)
    data, solver = robot.createData(), lw.Inverse(model, [j.name for j in model.joints if j.nv == 1])
    rng = np.random.default_rng(1)
    for _ in range(20):
        q, v, a = rng.uniform(-3, 3, (3, 6))
        found = solver.solve(q, v, a)
        assert list(found.efforts.values()) == pytest.approx(pin.rnea(robot, data, q, v, a), rel=1e-10, abs=1e-10)


def test_errors():
    model = lw.Model.from_string(FREE)
    with pytest.raises(lw.ArgumentError, match="actuators: none"):
        lw.Inverse(model)
    with pytest.raises(lw.ArgumentError, match="there is no joint 'a'"):
        lw.Inverse(model, "a")
    solver = lw.Inverse(model, "A")
    q, v = solver.model.start()
    with pytest.raises(lw.ArgumentError, match="accelerations do not satisfy joint"):
        solver.solve(q, v, np.ones(v.size))
    q, v, a = solver.complete(q, v, np.ones(v.size))
    assert solver.solve(q, v, a).feasible and math.isfinite(solver.solve(q, v, a).condition)
    with pytest.raises(lw.ArgumentError, match="weights: 'B' is no actuator"):
        lw.Inverse(model, "A", weights={"B": 2})
    with pytest.raises(lw.ArgumentError, match="beside a motion"):
        lw.inverse(model, "x.csv", actuators="A", duration=1)
