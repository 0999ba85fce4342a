"""What callers may pass, from where: kinds of numbers, threads, forked processes."""
import os
import signal
import threading

import numpy as np
import pytest
from conftest import MODELS, pendulum

import linkwork as lw


def calls():
    """Calls that take coordinates, and the name of the argument in messages."""
    model = pendulum()
    data, sim, one = lw.Data(model), lw.Simulation(model), np.zeros(1)
    return {
        "forward_dynamics": lambda x: data.forward_dynamics(x, one),
        "forward_dynamics tau": lambda x: data.forward_dynamics(one, one, x),
        "inverse_dynamics": lambda x: data.inverse_dynamics(one, one, x),
        "mass_matrix": data.mass_matrix,
        "momenta": lambda x: data.momenta(x, one),
        "momenta speeds": lambda x: data.momenta(one, x),
        "momenta_rates": lambda x: data.momenta_rates(one, x),
        "constraints": data.constraints,
        "bias": lambda x: data.bias(one, x),
        "integrate": lambda x: model.integrate(x, one),
        "difference": lambda x: model.difference(one, x),
        "set_joints": sim.set_joints,
        "set_state": lambda x: sim.set_state(np.concatenate([x, x, x])),
        "vary": lambda x: lw.simulate_batch(model, {"gravity.x": x}, 0.01),
    }


@pytest.mark.parametrize("name", calls())
@pytest.mark.parametrize("wrong", [[np.nan], [np.inf], [1j], np.array([1 + 0j]), ["a"], [None],
                                   np.array(["2020"], dtype="datetime64[D]"), np.array([1], dtype="timedelta64[s]"),
                                   [True], np.ma.array([1.0], mask=[False])], ids=repr)
def test_only_finite_real_numbers_are_taken(name, wrong):
    if name == "set_state" and isinstance(wrong, np.ma.MaskedArray):
        pytest.skip("the test itself loses the mask")
    with pytest.raises((lw.ArgumentError, lw.NotFiniteError)):
        calls()[name](wrong)


@pytest.mark.parametrize("name", calls())
@pytest.mark.parametrize("right", [[0], (0.5,), np.array([1], dtype=np.float32), np.array([1], dtype=np.uint8)], ids=repr)
def test_real_numbers_of_any_kind_are_taken(name, right):
    calls()[name](right)


def test_data_refuses_a_second_thread():
    model = lw.load(MODELS / "ur5.urdf")
    data, rng = lw.Data(model), np.random.default_rng(1)
    q, v = rng.normal(size=(4000, 6)), rng.normal(size=(4000, 6))
    right, found, refused = data.forward_dynamics(q, v), [], []

    def work():
        for _ in range(30):
            try:
                found.append(data.forward_dynamics(q, v))
            except lw.ArgumentError as error:
                refused.append(str(error))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(a, right) for a in found)
    assert refused and "at work in another thread" in refused[0]


def in_a_fork(work):
    """Exit status of a forked process that does the work within 20 s."""
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        try:
            os._exit(0 if work() else 1)
        finally:
            os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.skipif(not hasattr(os, "fork") or not hasattr(os, "waitstatus_to_exitcode"), reason="no fork")
def test_a_forked_process_goes_on_with_threads():
    text = "linkwork: 1\ngravity: [0, -9.81, 0]\ngenerate: {%s: {n: 3000}}\n"  # large enough for two threads
    for kind, formulation in (("chain", "dca"), ("chain", "hdca")):
        sim = lw.Simulation(lw.Model.from_string(text % kind, "yaml"), formulation=formulation, threads=2,
                            integrator="rk4", step=1e-3)
        sim.step(until=0.002)
        before = sim.state

        def work(sim=sim):
            return sim.step(until=0.004) == 0.004

        assert in_a_fork(work) == 0
        assert np.array_equal(sim.state, before)
        sim.step(until=0.004)


@pytest.mark.skipif(not hasattr(os, "fork") or not hasattr(os, "waitstatus_to_exitcode"), reason="no fork")
def test_a_fork_while_a_file_is_written_is_refused_in_the_child(tmp_path):
    model, running, end = pendulum(), threading.Event(), threading.Event()

    def progress(_time, _end):
        running.set()
        return end.is_set()

    def run():
        with pytest.raises(lw.StoppedError):
            lw.simulate(model, 1e6, sample=0.1, output=tmp_path / "x.h5", progress=progress)

    thread = threading.Thread(target=run)
    thread.start()
    assert running.wait(60)

    def work():
        try:
            lw.read_result(tmp_path / "x.h5")
        except lw.FileError as error:
            return "forked" in str(error)
        return False

    try:
        assert in_a_fork(work) == 0
    finally:
        end.set()
        thread.join()
