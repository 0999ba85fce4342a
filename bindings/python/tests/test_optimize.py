"""Parameters that minimise a measure or fit rows: closed forms, constraints, designs without a run, refused input."""
import numpy as np
import pytest

import linkwork as lw

# From rest: x = F t^2 / 2 m; a rod below 0.5 m has no mass.
PUSH = """
linkwork: 1
gravity: [0, 0, 0]
parameters:
  m: {value: 500, unit: g, min: 100}
  F: 3
  rod: {value: 1, unit: m}
functions: {push: {type: constant, value: F}}
bodies:
  box: {mass: m, inertia: [1, 1, 1, 0, 0, 0]}
  bar: {mass: (1 + 0*sqrt(rod/(1 m) - 0.5))*1 kg, inertia: [1, 1, 1, 0, 0, 0], position: [0, rod, 0]}
joints:
  rail: {type: prismatic, between: [ground, box], at: [0, 0, 0], axis: [1, 0, 0], effort: {q0: push}}
  other: {type: fixed, between: [ground, bar], at: [0, 0, 0]}
measures:
  way: joint.rail.q0
  miss: (joint.rail.q0 - 8)^2
  both: (body.bar.y - 0.2)^2 + (joint.rail.q0/12 - 1)^2
simulation: {duration: 2, sample: 1}
"""


@pytest.fixture
def push():
    return lw.Model.from_string(PUSH, format="yaml")


def test_response(push):
    r = lw.Response(push, {"m": "0.4:0.9 kg", "F": (1, 5)}, ["way", "way.mean"])
    assert r.names == ("m", "F") and r.columns == ("measure.way.last", "measure.way.mean") and r.units == ("m", "m")
    assert list(r.start) == [500, 3] and list(r.lower) == [400, 1] and r.gradient == "auto"
    values, jacobian = r.derivatives([600, 2.4])
    assert np.allclose(values, [8, 3], rtol=1e-9)
    assert np.allclose(jacobian, [[-8 / 600, 8 / 2.4], [-3 / 600, 3 / 2.4]], rtol=1e-7)
    assert np.array_equal(r([600, 2.4]), values) and r.gradient == "differences" and r.runs == 6
    fit = lw.Response(push, {"F": (1, 5)}, fit={"joint.rail.q0": [1, 2], "time": [0.5, 2]}, weights={"joint.rail.q0": 2})
    assert np.allclose(fit([3]), [2 * (0.75 - 1), 2 * (12 - 2)], rtol=1e-9)
    with pytest.raises(lw.INFEASIBLE, match="body 'bar': mass"):
        lw.Response(push, {"rod": (0.1, 2)}, "way")([0.3])


@pytest.mark.parametrize("arguments, match", [
    ({"vary": {"mm": (1, 2)}}, "mm"),
    ({"vary": {"F": (5, 1)}}, "first below"),
    ({"vary": {"F": 3}}, "vary: F"),
    ({"vary": {"F": "1,2"}}, "vary: F"),
    ({"values": "wy"}, "wy"),
    ({"gradient": "exact"}, "gradient"),
    ({"weights": {"a": 1}}, "weights"),
    ({"values": (), "fit": {"joint.rail.q0": [1]}}, "'time'"),
    ({"values": (), "fit": {"time": [1], "joint.rai.q0": [1]}}, "joint.rai.q0"),
    ({"values": (), "fit": {"time": [1], "joint.rail.q0": [1]}, "weights": {"joint.rail.q1": 1}}, "joint.rail.q1"),
])
def test_response_refuses(push, arguments, match):
    with pytest.raises(lw.ArgumentError, match=match):
        lw.Response(push, **{"vary": {"F": (1, 5)}, "values": "way", **arguments})
    with pytest.raises(lw.ArgumentError, match="shape"):
        lw.Response(push, {"F": (1, 5)}, "way")([1, 2])


@pytest.mark.parametrize("method", ["SLSQP", "trust-constr", "l-bfgs-b"])
def test_minimum(push, method):
    pytest.importorskip("scipy")
    best = lw.optimize(push, {"F": (1, 5)}, minimize="miss", method=method)
    assert best.converged and np.isclose(best.parameters["F"], 2, atol=1e-4)
    assert best.start.objective == pytest.approx(16) and best.values["measure.miss.last"] == best.objective
    assert np.isclose(lw.simulate(best.model)["measure.way"][-1], 8, atol=1e-3)
    assert "objective" in str(best) and len(best.designs) <= best.runs


def test_constraints(push):
    pytest.importorskip("scipy")
    for text in ("way <= 9", "way.max <= 9", "way = 9"):
        best = lw.optimize(push, {"F": (1, 5)}, maximize="way", subject_to=text)
        assert np.isclose(best.parameters["F"], 9 / 4, rtol=1e-6) and best.violation < 1e-6
    best = lw.optimize(push, {"F": (1, 5)}, minimize="way", subject_to=["way >= 9", "way.mean >= 4"])
    assert np.isclose(best.parameters["F"], 8 / 3, rtol=1e-6)


def test_infeasible_designs(push):
    pytest.importorskip("scipy")
    seen = []
    best = lw.optimize(push, {"rod": (0.1, 2), "F": (1, 5)}, minimize="both", progress=seen.append)
    assert any("bar" in d.failure for d in best.designs) and len(seen) == len(best.designs)
    assert best.parameters["rod"] >= 0.5 and best.objective < 0.25
    with pytest.raises(lw.INFEASIBLE):
        lw.optimize(push, {"rod": (0.1, 2)}, minimize="both", start={"rod": 0.3})


def test_fit(push):
    pytest.importorskip("scipy")
    times, errors = np.array([0.5, 1, 1.5, 2]), np.array([0.1, -0.2, 0.1, 0.05])
    measured, basis = 3 * times**2 + errors, times**2
    best = lw.optimize(push, {"F": (1, 5)}, fit={"time": times, "joint.rail.q0": measured})
    expected = basis @ measured / (basis @ basis)
    left = measured - expected * basis
    assert best.converged and np.isclose(best.parameters["F"], expected, rtol=1e-7)
    assert np.isclose(best.deviations["F"], np.sqrt(left @ left / 3 / (basis @ basis)), rtol=1e-5)
    assert np.isclose(best.objective, np.sqrt(left @ left / 4), rtol=1e-7)
    both = lw.optimize(push, {"F": (1, 5), "m": (400, 900)}, fit={"time": times, "joint.rail.q0": 3 * times**2})
    assert np.isclose(both.parameters["F"] / both.parameters["m"], 6e-3, rtol=1e-6)
    one = lw.optimize(push, {"F": (1, 5)}, fit={"time": times, "joint.rail.q0": measured}, evaluations=1)
    assert not one.converged and "number of evaluations" in one.message and len(one.designs) == 1


@pytest.mark.parametrize("gradient", ["differences", "forward"])
def test_fit_by_gradient(push, gradient):
    times = np.array([0.5, 1, 1.5, 2])
    rows = {"time": times, "joint.rail.q0": 3 * times**2}
    response = lw.Response(push, {"F": (1, 5), "m": (400, 900)}, fit=rows, weights={"joint.rail.q0": 2}, gradient=gradient)
    values, jacobian = response.derivatives([2, 500])  # x = F t^2 / 2 m
    assert response.gradient == gradient and np.allclose(values, 2 * (2 - 3) * times**2, rtol=1e-8)
    assert np.allclose(jacobian, 2 * np.outer(2 * times**2, [1 / 2, -1 / 500]), rtol=1e-7)
    pytest.importorskip("scipy")
    best = lw.optimize(push, {"F": (1, 5)}, fit=rows, gradient=gradient)
    assert best.converged and best.gradient == gradient and np.isclose(best.parameters["F"], 3, rtol=1e-7)


def test_forward_is_of_data(push):
    with pytest.raises(lw.UnsupportedError, match="expected data, and no measures"):
        lw.Response(push, {"F": (1, 5)}, "way", gradient="forward")


@pytest.mark.parametrize("arguments, match", [
    ({}, "one of minimize"),
    ({"minimize": "way", "maximize": "way"}, "one of minimize"),
    ({"minimize": "way", "subject_to": "way"}, "MEASURE <= NUMBER"),
    ({"minimize": "way", "subject_to": "way <= x"}, "MEASURE <= NUMBER"),
    ({"minimize": "way", "subject_to": "way < 1"}, "expected <= in place of <"),
    ({"minimize": "way", "method": "newton"}, "SLSQP"),
    ({"minimize": "way", "method": "L-BFGS-B", "subject_to": "way <= 1"}, "no constraints"),
    ({"minimize": "way", "start": {"F": 9}}, "begins at 9"),
    ({"minimize": "way", "start": {"G": 9}}, "'G'"),
    ({"fit": {"time": [1], "joint.rail.q0": [1]}, "method": "SLSQP"}, "trf"),
    ({"fit": {"time": [1], "joint.rail.q0": [1]}, "subject_to": "way <= 1"}, "no constraints"),
])
def test_optimize_refuses(push, arguments, match):
    pytest.importorskip("scipy")
    with pytest.raises(lw.ArgumentError, match=match):
        lw.optimize(push, {"F": (1, 5)}, **arguments)


def test_without_scipy(push, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "scipy.optimize", None)
    with pytest.raises(lw.UnsupportedError, match="SciPy"):
        lw.optimize(push, {"F": (1, 5)}, minimize="way")


# Mass, stiffness and damping together have the same motion as twice of each.
GATE = """
linkwork: 1
parameters: {k: 20, c: 0.3, m: 1 kg}
bodies:
  gate: {mass: m, inertia: [m*1e-3 m^2, m*0.08 m^2, m*0.08 m^2, 0, 0, 0], position: [0.5, 0, 0]}
joints:
  A: {type: revolute, between: [ground, gate], at: [0, 0, 0], axis: [0, 1, 0], q: [0.4], spring: {q0: {stiffness: k, damping: c}}}
simulation: {duration: 1, sample: 0.04}
"""


def test_fit_that_is_not_determined():
    """The Jacobian has full rank by its errors alone: deviations are unknown."""
    pytest.importorskip("scipy")
    gate = lw.Model.from_string(GATE, format="yaml")
    rows = lw.simulate(lw.Model.from_string(GATE.replace("k: 20, c: 0.3", "k: 33, c: 0.7"), format="yaml"))
    fit = {"time": rows.time, "joint.A.q0": rows["joint.A.q0"]}
    of = lw.optimize(gate, {"k": (1, 90), "c": (0, 3)}, fit=fit)
    assert of.deviations["k"] < 1e-5
    of = lw.optimize(gate, {"k": (1, 90), "c": (0, 3), "m": (0.3, 3)}, fit=fit)
    assert np.isclose(of.parameters["k"] / of.parameters["m"], 33) and np.isnan(list(of.deviations.values())).all()
