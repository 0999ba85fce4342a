"""Compiled models: the numbers of Data, rows in lanes, arrays of the caller, simulations and batches."""
import os
import pickle
import shutil
import threading

import linkwork as lw
import numpy as np
import pytest

COMPILER = os.environ.get("CC", "cc").split()[0]
pytestmark = pytest.mark.skipif(shutil.which(COMPILER) is None, reason=f"no C compiler '{COMPILER}' here")

FOUR_BAR = """linkwork: 1
gravity: [0, 0, -9.81]
bodies:
  crank: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [0, 0, 0.5]}
  coupler: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [1, 0, 1]}
  rocker: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [2, 0, 0.5]}
joints:
  A: {type: revolute, between: [ground, crank], at: [0, 0, 0], axis: [0, 1, 0], qd: [2]}
  B: {type: revolute, between: [crank, coupler], at: [0, 0, 1], axis: [0, 1, 0], qd: [-2]}
  C: {type: revolute, between: [coupler, rocker], at: [2, 0, 1], axis: [0, 1, 0]}
  D: {type: revolute, between: [ground, rocker], at: [2, 0, 0], axis: [0, 1, 0], qd: [2]}
"""
CHAIN = "linkwork: 1\ngenerate: {chain: {n: 4}}\n"


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return str(tmp_path_factory.mktemp("cache"))


def states(model, compiled, count):
    rng = np.random.default_rng(3)
    q, v = (np.tile(x, (count, 1)) for x in model.start())
    q += rng.uniform(-0.1, 0.1, q.shape)
    v += rng.uniform(-1, 1, v.shape)
    return compiled.project(q, v)


@pytest.mark.parametrize("text", [FOUR_BAR, CHAIN])
@pytest.mark.parametrize("lanes", [1, 4])
def test_rows_and_single_states(text, lanes, cache):
    model = lw.Model.from_string(text)
    compiled = model.compile(cache=cache, lanes=lanes)
    assert compiled.lanes == lanes
    q, v = states(model, compiled, 11)
    tau = np.random.default_rng(4).uniform(-1, 1, v.shape)
    expected = lw.Data(model).forward_dynamics(q, v, tau)
    got = compiled.forward_dynamics(q, v, tau)
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9)
    qdot, vdot, xdot = compiled.rates(q, v)
    np.testing.assert_allclose(vdot, lw.Data(model).forward_dynamics(q, v), rtol=1e-9, atol=1e-9)
    assert xdot.shape == (11, 0)
    for k in range(11):
        assert (compiled.forward_dynamics(q[k], v[k], tau[k]) == got[k]).all()
        one = compiled.rates(q[k], v[k])
        assert (one[0] == qdot[k]).all() and (one[1] == vdot[k]).all()


@pytest.mark.parametrize("text", [FOUR_BAR, CHAIN])
def test_derivatives(text, cache):
    model = lw.Model.from_string(text)
    compiled = model.compile(cache=cache, lanes=4, derivatives=True)
    q, v = states(model, compiled, 6)
    tau = np.random.default_rng(4).uniform(-1, 1, v.shape)
    got = compiled.forward_derivatives(q, v, tau)
    data = lw.Data(model)
    for k in range(6):
        one = compiled.forward_derivatives(q[k], v[k], tau[k])
        assert all((a == b[k]).all() for a, b in zip(one, got))
        vdot, by_q, by_v, by_tau = data.forward_derivatives(q[k], v[k], tau[k])
        np.testing.assert_allclose(one[0], vdot, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(one[3], by_tau, rtol=1e-9, atol=1e-9)
        moved = by_q @ v[k] + by_v @ vdot  # along the motion, which keeps loops closed
        np.testing.assert_allclose(one[1] @ v[k] + one[2] @ vdot, moved, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(one[2] @ by_tau, by_v @ by_tau, rtol=1e-8, atol=1e-8)
    out = [np.empty_like(array) for array in got]
    for array, same in zip(compiled.forward_derivatives(q, v, tau, out=out), out):
        assert array is same
    assert all((a == b).all() for a, b in zip(out, got))
    if text is CHAIN:
        for a, b in zip(compiled.inverse_derivatives(q, v, tau), zip(*map(data.inverse_derivatives, q, v, tau))):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)
    else:
        with pytest.raises(lw.UnsupportedError, match="closed loops"):
            compiled.inverse_derivatives(q, v, tau)
    with pytest.raises(lw.UnsupportedError, match="derivatives=True"):
        model.compile(cache=cache, lanes=4).forward_derivatives(q, v)
    again = pickle.loads(pickle.dumps(compiled))
    assert again.found and again.derivatives


def test_arrays_of_the_caller(cache):
    model = lw.Model.from_string(CHAIN)
    compiled = model.compile(cache=cache)
    q, v = states(model, compiled, 3)
    out = np.empty_like(v)
    assert compiled.forward_dynamics(q, v, out=out) is out
    rates = (np.empty_like(q), np.empty_like(v), np.empty((3, 0)))
    for got, given in zip(compiled.rates(q, v, time=np.zeros(3), out=rates), rates):
        assert got is given
    with pytest.raises(lw.ArgumentError, match="out"):
        compiled.forward_dynamics(q, v, out=np.empty(4))
    with pytest.raises(lw.ArgumentError, match="v: expected 3 x 4"):
        compiled.forward_dynamics(q, v[:2])


def slider_crank(crank):
    """At an angle of a crank of 10 m with a rod of 20 m."""
    c, s = np.cos(crank), np.sin(crank)
    x = 10 * c + np.sqrt(400 - 100 * s * s)
    return f"""linkwork: 1
bodies:
  crank: {{mass: 3, inertia: [30, 30, 30, 0, 0, 0], position: [{5 * c}, 0, {5 * s}]}}
  rod: {{mass: 2, inertia: [60, 60, 60, 0, 0, 0], position: [{(10 * c + x) / 2}, 0, {5 * s}]}}
  piston: {{mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [{x}, 0, 0]}}
joints:
  A: {{type: revolute, between: [ground, crank], at: [0, 0, 0], axis: [0, 1, 0]}}
  B: {{type: revolute, between: [crank, rod], at: [{10 * c}, 0, {10 * s}], axis: [0, 1, 0]}}
  C: {{type: revolute, between: [rod, piston], at: [{x}, 0, 0], axis: [0, 1, 0], cut: prefer}}
  D: {{type: prismatic, between: [ground, piston], at: [0, 0, 0], axis: [1, 0, 0]}}
"""


def test_another_partition_at_a_dead_point(cache):
    """The slider's position is independent in what is compiled first, and determines nothing where the crank is level."""
    angle = np.pi / 3
    model = lw.Model.from_string(slider_crank(angle))
    compiled = model.compile(cache=cache, lanes=4)
    assert compiled.partitions == 1
    q, v = (np.tile(x, (6, 1)) for x in model.start())
    at = [joint.tree_q.start for joint in model.joints if joint.name != "C"]
    q[3, at] = angle, -angle - np.arcsin(np.sin(angle) / 2), 30 - 10 * np.cos(angle) - np.sqrt(400 - 100 * np.sin(angle) ** 2)
    v[3, at] = 2, -3, 0
    got = compiled.forward_dynamics(q, v)
    assert compiled.partitions == 2
    np.testing.assert_allclose(got, lw.Data(model).forward_dynamics(q, v), rtol=1e-9, atol=1e-9)
    assert (compiled.forward_dynamics(q[3], v[3]) == got[3]).all()


def test_states_that_fail_have_rows_of_nan(cache):
    model = lw.Model.from_string(FOUR_BAR)
    compiled = model.compile(cache=cache)
    q, v = states(model, compiled, 5)
    q[2] = np.nan
    got = compiled.forward_dynamics(q, v)
    assert np.isnan(got).any(axis=1).tolist() == [False, False, True, False, False]
    with pytest.raises(lw.SingularError, match="dependent speed"):
        compiled.forward_dynamics(q[2], v[2])


def test_simulations_and_batches(cache):
    model = lw.Model.from_string(CHAIN)
    compiled = model.compile(cache=cache)
    options = {"formulation": "aba", "integrator": "dopri54", "rtol": 1e-9, "atol": 1e-9}
    by_library = lw.Simulation(model, **options)
    simulation = lw.Simulation(model, **options)
    simulation.use_compiled(compiled)
    batch = lw.Batch(model, instances=3, threads=1, **options)
    batch.use_compiled(compiled)
    by_library.step(until=1.0)
    simulation.step(until=1.0)
    batch.step(1.0)
    state = simulation.state
    np.testing.assert_allclose(state, by_library.state, rtol=1e-6, atol=1e-6)
    assert (state != by_library.state).any()
    for k in range(3):
        assert (batch.state(k) == state).all()
    with pytest.raises(lw.UnsupportedError, match="hdca cannot use compiled rates: .* expected one of aba, rcr"):
        lw.Simulation(model, formulation="hdca").use_compiled(compiled)


def test_found_again_copied_and_shared(cache):
    model = lw.Model.from_string(CHAIN)
    first, second = model.compile(cache=cache, lanes=8), model.compile(cache=cache, lanes=8)
    assert second.found and "found" in repr(second) and second.seconds == 0
    q, v = states(model, first, 64)
    expected = first.forward_dynamics(q, v)
    results = [None] * 4

    def work(k):
        for _ in range(50):
            results[k] = first.forward_dynamics(q, v)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all((result == expected).all() for result in results)


def test_copies(cache, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", cache)
    compiled = pickle.loads(pickle.dumps(lw.Model.from_string(CHAIN).compile()))
    q, v = compiled.model.start()
    assert compiled.forward_dynamics(q, v).shape == (4,)
    monkeypatch.setenv("XDG_CACHE_HOME", "/nonexistent")
    first = lw.Model.from_string(CHAIN).compile(cache=cache, lanes=4)
    again = pickle.loads(pickle.dumps(first))
    assert again.found and again.lanes == 4  # in the same folder, with the same lanes


def test_no_compiler(cache):
    with pytest.raises(lw.UnsupportedError, match="/nonexistent"):
        lw.Model.from_string(CHAIN).compile(compiler="/nonexistent", cache=cache)
