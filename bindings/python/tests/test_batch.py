"""Batches: every instance is what it is alone."""
import pickle

import numpy as np
import pytest
from conftest import pendulum

import linkwork as lw


def test_instances_are_what_they_are_alone(tmp_path):
    model = pendulum()
    angles = np.linspace(0.1, 1.5, 9)
    found = lw.simulate_batch(model, {"joint.hinge.q0": angles, "input.motor": 0.5}, 0.5, sample=0.1,
                              output=tmp_path / "batch.csv")
    assert found["joint.hinge.q0"].shape == (9, 6) and found.instances == 9
    assert np.array_equal(found["joint.hinge.q0"][:, 0], angles)
    assert np.array_equal(found.values[:, 1], np.full(9, 0.5))
    for i in (0, 4, 8):
        sim = lw.Simulation(model, integrator="dopri54", sample=0.1)
        sim.set_joints([angles[i]])
        sim.inputs["motor"] = 0.5
        alone = sim.run(0.5)
        for name in ("joint.hinge.q0", "body.rod.z", "joint.hinge.fx"):
            assert np.array_equal(found[name][i], alone[name])
        assert found.summaries[i].steps == alone.summary.steps
    assert np.shares_memory(found["body.rod.x"], found.table)
    assert len((tmp_path / "batch.csv").read_text().splitlines()) == 1 + 9 * 6


def test_parameters_and_mistakes():
    model = pendulum()
    found = lw.simulate_batch(model, {"body.rod.mass": [1, 2, 4]}, 0.2, threads=2, lanes=1)
    assert len(set(found["joint.hinge.q0"][:, -1])) == 3
    with pytest.raises(lw.ArgumentError, match="mass"):
        lw.simulate_batch(model, {"body.rod.mas": [1, 2]}, 0.1)
    with pytest.raises(lw.ArgumentError, match="body.rod.mass: 2 dimensions"):
        lw.simulate_batch(model, {"body.rod.mass": [[1, 2], [3, 4]]}, 0.1)
    with pytest.raises(lw.ArgumentError, match="different lengths"):
        lw.simulate_batch(model, {"body.rod.mass": [1, 2], "input.motor": [1, 2, 3]}, 0.1)


def test_a_batch_is_stopped():
    with pytest.raises(lw.StoppedError):
        lw.simulate_batch(pendulum(), {"joint.hinge.q0": np.linspace(0, 1, 64)}, 1e5,
                          progress=lambda time, end: time > 0)


def many(**kw):
    """A sweep over masses; with `memory` small it runs in groups of a few instances."""
    return lw.simulate_batch(pendulum(), {"body.rod.mass": np.linspace(1, 3, 23), "joint.hinge.q0": 0.3}, 0.2,
                             sample=0.05, threads=1, **kw)


def test_groups_change_nothing():
    whole, groups = many(memory=1 << 40), many(memory=1)
    assert whole.table.shape == (5, 23, len(whole.columns)) and whole.columns == groups.columns
    assert np.array_equal(whole.table, groups.table) and np.array_equal(whole.time, groups.time)
    assert not np.isnan(groups.table).any()
    assert [s.steps for s in whole.summaries] == [s.steps for s in groups.summaries]
    assert list(groups["instance"][:, 0]) == list(range(23))


def test_columns_that_are_kept(tmp_path):
    whole, few = many(), many(columns=["sys.T", "joint.hinge.q0"], output=tmp_path / "batch.csv", memory=1)
    assert few.columns == ("sys.T", "joint.hinge.q0") and few.table.shape == (5, 23, 2)
    assert np.array_equal(few["sys.T"], whole["sys.T"])
    header = (tmp_path / "batch.csv").read_text().splitlines()[0]
    assert len(header.split(",")) == len(whole.columns)  # files have all
    with pytest.raises(lw.UnknownNameError, match="did you mean 'sys.T'"):
        many(columns=["sys.t"])
    chosen = many(columns="sys.T,joint.*.q0")  # patterns
    assert {"joint.hinge.q0", "sys.T"} <= set(chosen.columns) and "sys.V" not in chosen.columns
    assert np.array_equal(chosen["sys.T"], whole["sys.T"])


def test_summaries_are_a_sequence():
    found = many()
    first, last = found.summaries[0], found.summaries[-1]
    assert isinstance(first, lw.Summary) and first.end == last.end == 0.2
    assert found.summaries[:2] == (first, found.summaries[1]) and len(found.summaries) == 23
    assert pickle.loads(pickle.dumps(found)).summaries == found.summaries
    with pytest.raises(IndexError):
        found.summaries[23]


def test_a_stopped_batch_has_its_rows():
    calls = []

    def stop(time, end):
        calls.append(time)
        return time > end / 2

    masses = np.linspace(1, 3, 40)
    with pytest.raises(lw.StoppedError) as caught:
        lw.simulate_batch(pendulum(), {"body.rod.mass": masses}, 400.0, sample=100, threads=1, memory=1,
                          progress=stop)
    rows = caught.value.result["joint.hinge.q0"]
    ended = [i for i in range(40) if caught.value.result.summaries[i].end == 400.0]
    assert 1 <= len(ended) < 40 and not np.isnan(rows[ended]).any()
    assert np.isnan(rows[39]).all()


def test_a_batch_is_stepped_like_simulations():
    model = pendulum()
    angles = [0.2, 0.9, 1.4]
    batch = lw.Batch(model, {"joint.hinge.q0": angles}, threads=2)
    sims = []
    for angle in angles:
        sims.append(lw.Simulation(model, integrator="dopri54"))
        sims[-1].set_joints([angle])
    assert len(batch) == 3 and batch.options["integrator"] == "dopri54" and "3 instances" in repr(batch)
    for k in range(1, 6):
        batch.step(0.1 * k)
        for i, sim in enumerate(sims):
            sim.step(until=0.1 * k)
            if k == 3 and i > 0:
                ours = batch.apply_impulse(i, "rod", impulse=[0, 0, 1.5 * i], point=[0.5, 0, 0])
                theirs = sim.apply_impulse("rod", impulse=[0, 0, 1.5 * i], point=[0.5, 0, 0])
                assert ours.work == theirs.work and np.array_equal(ours.reaction, theirs.reaction)
            struck = k == 3 and i > 0
            assert batch.observe(i).impact == ("after" if struck else "")
            assert not struck or np.array_equal(batch.observe(i).impulse, sim.observe().impulse)
            batch.set_input(i, "motor", 0.1 * i)
            sim.inputs["motor"] = 0.1 * i
            assert np.array_equal(batch.state(i), sim.state)
    assert np.array_equal(batch.time, [0.5] * 3) and batch.failures == ("",) * 3
    assert [batch.summary(i).impulses for i in range(3)] == [0, 1, 1]
    assert batch.summary(2).steps == sims[2].summary.steps


def test_an_instance_that_fails_is_struck_after_it_has_a_state():
    batch = lw.Batch(pendulum(), instances=2, max_steps=3)
    start = batch.state(1)
    with pytest.raises(lw.IntegratorError, match="instance 0"):
        batch.step(5)
    assert all(batch.failures)
    with pytest.raises(lw.ArgumentError, match="instance 1: it has failed: set its state"):
        batch.apply_impulse(1, joint="hinge", effort=1)
    batch.set_state(1, start, 0)
    batch.set_joints(0, [0.3], time=1)
    batch.apply_impulse(1, joint="hinge", effort=1)
    assert batch.failures == ("", "") and np.array_equal(batch.time, [1, 0])
    for wrong in (dict(body="rod", joint="hinge"), dict(), dict(body="rod", axes="rod")):
        with pytest.raises(lw.ArgumentError):
            batch.apply_impulse(1, **wrong)
    with pytest.raises(lw.UnknownNameError, match="did you mean 'motor'"):
        batch.set_input(0, "moter", 1)
    for i in (-1, 2):
        for call in (batch.state, batch.summary, batch.observe):
            with pytest.raises(lw.ArgumentError, match=f"instance {i}: the batch has 2"):
                call(i)


FED = """
linkwork: 1
gravity: [0, 0, -9.81]
inputs: [torque, other]
parameters: {m: 1.5}
signals: {lag: {type: lag, of: 2*A.q0, time: 0.1}}
bodies:
  arm: {mass: m, inertia: [0.02, 0.03, 0.03, 0, 0, 0], position: [0.4, 0, 0]}
joints:
  A: {type: revolute, between: [ground, arm], at: [0, 0, 0], axis: [0, 1, 0], effort: {q0: "%s"}}
"""


def fed(torque, **more):
    return lw.Model.from_string(FED % torque, **more)


def law(s):
    k = 40 + s.instance
    return {"torque": k * (0.3 - s.q[:, 0]) - 5 * s.qd[:, 0] + s.states[:, 0]}


@pytest.mark.parametrize("options", [{}, {"integrator": "rk4", "step": 1e-3}, {"integrator": "bdf"},
                                     {"threads": 2}, {"lanes": 1}])
def test_a_callback_gets_all_instances_at_once(options):
    sizes = []

    def called(s):
        sizes.append(len(s))
        assert s.position.shape == (len(s), 2, 3) and s.quaternion.shape == (len(s), 2, 4)
        assert np.allclose(np.hypot(s.position[:, 1, 0], s.position[:, 1, 2]), 0.4)
        return law(s)

    starts = np.linspace(-1, 1, 21)
    accurate = {"rtol": 1e-10, "atol": 1e-10}
    found = lw.simulate_batch(fed("torque"), {"joint.A.q0": starts}, 1, sample=0.5, callback=called,
                              **accurate, **options)
    assert max(sizes) == (1 if options.get("integrator") == "bdf" else 11 if "threads" in options else 21) \
        or "threads" in options and 8 <= max(sizes) < 21
    for i in (0, 13, 20):
        sim = lw.Simulation(fed(f"{40 + i}*(0.3 - A.q0) - 5*A.qd0 + lag"), sample=0.5, **accurate,
                            **{k: v for k, v in options.items() if k not in ("threads", "lanes")})
        sim.set_joints([starts[i]])
        alone = sim.run(1)
        for name in ("joint.A.q0", "joint.A.qd0", "joint.A.fx"):
            assert np.abs(found[name][i] - alone[name]).max() < 1e-7 * max(1, np.abs(alone[name]).max())


def test_a_callback_is_that_of_a_simulation_bit_for_bit():
    starts = np.linspace(-1, 1, 5)
    batch = lw.Batch(fed("torque"), {"joint.A.q0": starts, "m": [1, 1, 2, 2, 1]}, callback=law, sample=0.1)
    batch.step(0.3)
    batch.step(0.7)
    for i in range(5):
        sim = lw.Simulation(lw.Model.from_string(FED % "torque", parameters={"m": [1, 1, 2, 2, 1][i]}), integrator="dopri54")
        sim.set_callback(lambda o: [(40 + i) * (0.3 - o.q[0]) - 5 * o.qd[0] + o.states[0], 0])
        sim.set_joints([starts[i]])
        sim.step(until=0.3), sim.step(until=0.7)
        assert np.array_equal(sim.observe().q, batch.observe(i).q)
        assert np.array_equal(sim.observe().qdd, batch.observe(i).qdd)


def law_slopes(s):
    k = 40 + s.instance
    by_q, rest = np.zeros((len(s), 2, 1)), np.zeros((len(s), 2, 1))
    by_q[:, 0, 0], rest[:, 0, 0] = -k, 1
    return {"q": by_q, "qd": -5 * rest, "states": rest}


@pytest.mark.parametrize("options", [{"integrator": "bdf"}, {"formulation": "index3", "step": 0.01}, {"integrator": "dopri54"}])
def test_a_jacobian_is_that_of_a_simulation_bit_for_bit(options):
    batch = lw.Batch(fed("torque"), {"joint.A.q0": [0.1, 0.2]}, callback=law, jacobian=law_slopes, **options)
    batch.step(0.5)
    for i in range(2):
        sim = lw.Simulation(fed("torque"), **options)
        sim.set_joints([0.1 * (i + 1)])
        sim.set_callback(lambda o, i=i: [(40 + i) * (0.3 - o.q[0]) - 5 * o.qd[0] + o.states[0], 0],
                         lambda o, i=i: {"q": [[-40 - i], [0]], "qd": [[-5], [0]], "states": [[1], [0]]})
        sim.step(0.5)
        assert batch.observe(i).q[0] == sim.observe().q[0]
    with pytest.raises(lw.ArgumentError, match="jacobian: expected a callback"):
        lw.Batch(fed("torque"), instances=2, jacobian=law_slopes)
    if "integrator" not in options or options["integrator"] == "bdf":
        wrong = lw.Batch(fed("torque"), instances=2, callback=law, jacobian=lambda s: {"q": [1, 2]}, **options)
        with pytest.raises(lw.ArgumentError, match="the Jacobian by q: expected 1 x 2 x 1 numbers, got 2"):
            wrong.step(1)


def test_a_sweep_has_the_callback_of_its_variants():
    study = lw.sweep(fed("torque"), {"m": [1.0, 2.0, 3.0]}, "joint.A.q0", duration=0.5, callback=law,
                     rtol=1e-10, atol=1e-10)
    for i, m in enumerate((1, 2, 3)):
        alone = lw.simulate(lw.Model.from_string(FED % f"{40 + i}*(0.3 - A.q0) - 5*A.qd0 + lag", parameters={"m": m}), 0.5,
                            rtol=1e-10, atol=1e-10)
        assert abs(study["joint.A.q0.last"][i] - alone["joint.A.q0"][-1]) < 1e-8


def test_exceptions_of_a_batch_callback_come_out(tmp_path):
    kept = []

    def fails(s):
        kept.append(s)
        if s.time.max() > 0.3:
            raise RuntimeError("no torque")
        return np.zeros((len(s), 2))

    model = fed("torque")
    for more in ({}, {"integrator": "bdf"}, {"threads": 2}):
        with pytest.raises(RuntimeError, match="no torque") as caught:
            lw.simulate_batch(model, {"joint.A.q0": [0, 1, 2, 3]}, 1, sample=0.1, callback=fails, **more)
        result = caught.value.result
        assert result.instances == 4 and len(result.time) >= 3 and "callback" in result.failures[0]
        assert np.isfinite(result["joint.A.q0"][0, :3]).all()
    with pytest.raises(RuntimeError, match="no torque") as caught:
        lw.sweep(model, {"m": [1.0, 2.0]}, "joint.A.q0", duration=1, callback=fails)
    assert isinstance(caught.value.result, lw.Study)
    batch = lw.Batch(model, instances=3, callback=fails)
    with pytest.raises(RuntimeError, match="no torque"):
        batch.step(1)
    with pytest.raises(lw.Error, match="read during the call"):
        kept[0].qd
    assert len(kept[0].time) == len(kept[0])  # what was read is kept


@pytest.mark.parametrize("values, message", [
    (lambda s: {"tork": 1}, "no input 'tork'"), (lambda s: {"torque": [1, 2]}, "torque: expected 3 numbers or one, got 2"),
    (lambda s: np.zeros(3), "values of the callback: expected 3 x 2 numbers"), (lambda s: None, "values of the callback"),
    (lambda s: {"torque": float("nan")}, "input 'torque': the callback gives nan"), (lambda s: s.speed, "speed")])
def test_values_of_a_batch_callback_are_checked(values, message):
    with pytest.raises((lw.Error, AttributeError), match=message):
        lw.Batch(fed("torque"), instances=3, callback=values).step(1)


def test_mistakes_with_batch_callbacks(tmp_path):
    with pytest.raises(lw.Error, match="no inputs"):
        lw.Batch(lw.Model.from_string((FED % "0*t").replace("inputs: [torque, other]\n", "")), instances=2, callback=law)
    with pytest.raises(lw.ArgumentError, match="expected a function, got int"):
        lw.Batch(fed("torque"), instances=2, callback=3)
    with pytest.raises(lw.ArgumentError, match="a study in a folder has none"):
        lw.sweep(fed("torque"), {"m": [1.0, 2.0]}, "joint.A.q0", duration=1, callback=law, store=tmp_path / "study")
