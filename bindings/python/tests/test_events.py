"""Events of models: which happened, where the run ended, switches of a sampled controller."""
import pickle

import numpy as np
import pytest

import linkwork as lw


def swing(**ends):
    """A pendulum, released at rest at -1 rad: it passes zero every half period."""
    b = lw.Builder(gravity=[0, -9.81, 0], duration=3, sample=0.5)
    bob = b.body("bob", mass=1, inertia=[0.01, 0.01, 0.01, 0, 0, 0], com=[0, -1, 0])
    b.joint("A", "revolute", ["ground", bob], at=[0, 0, 0], axis=[0, 0, 1], q=[-1])
    b.event("bottom", when="A.q0", record=True)
    b.event("tick", every=0.4, from_=0.4, record=True)
    b.signal("count", type="switch", value=0)
    b.event("silent", at=[0.1, 0.2], set={"count": "count + 1"})
    if ends:
        b.event("end", **ends)
    return b.build()


def test_recorded_events_have_names_times_and_rows(tmp_path):
    model = swing()
    assert model.events == ("bottom", "tick", "silent")
    run = lw.simulate(model, rtol=1e-9, atol=1e-9, output=[tmp_path / "a.h5", tmp_path / "a.csv"])
    assert [e.time for e in run.events] == sorted(e.time for e in run.events)
    assert [e.time for e in run.events if e.name == "tick"] == pytest.approx(0.4 * np.arange(1, 8))
    bottom = [e for e in run.events if e.name == "bottom"]
    assert len(bottom) == 3 and [e.action for e in bottom] == ["record"] * 3
    silent = [e for e in run.events if e.name == "silent"]
    assert [(e.time, e.action) for e in silent] == [(0.1, "set count"), (0.2, "set count")]
    assert all(run.time[e.row - 1] < e.time <= run.time[e.row] for e in silent)
    assert all(abs(run["joint.A.q0"][e.row]) < 1e-9 and run.time[e.row] == e.time for e in bottom)
    assert run.stopped is None and len(run.events) == run.summary.occurrences == 3 + 7 + 2
    assert lw.read_result(tmp_path / "a.h5").events == run.events
    numbers = {"bottom": "1", "tick": "2"}  # a CSV file has the numbers of recorded ones alone
    assert lw.read_result(tmp_path / "a.csv").events == [e._replace(name=numbers[e.name])
                                                         for e in run.events if e.name in numbers]


def test_an_event_ends_a_run():
    run = lw.simulate(swing(when="A.qd0 < 0", stop=True))
    assert run.stopped == "end" and run.time[-1] < 3 and abs(run["joint.A.qd0"][-1]) < 1e-6
    assert pickle.loads(pickle.dumps(run)).stopped == "end"


def test_steps_return_at_an_event_that_ends():
    sim = lw.Simulation(swing(when="A.q0 > 0.5", stop=True), rtol=1e-9, atol=1e-9)
    time = sim.step(until=3)
    assert sim.stopped == "end" and time == sim.time < 3
    assert sim.observe("pose").q[0] == pytest.approx(0.5, abs=1e-8)
    assert sim.events == {"bottom": 1, "tick": int(time / 0.4), "silent": 2, "end": 1}
    assert sim.step(until=time + 0.01) == time + 0.01 and sim.stopped is None  # the next step continues


def test_controllers_get_the_names_of_events():
    seen = []
    run = lw.simulate(swing(), controller=lambda sim, o: seen.append((o.time, o.event)))
    assert [t for t, _ in seen] == list(run.time)
    assert [(t, name) for t, name in seen if name] == [(e.time, e.name) for e in run.events if "record" in e.action]
    assert lw.Simulation(swing()).observe().copy().event == ""


def test_a_switch_holds_between_samples():
    b = lw.Builder(gravity=[0, 0, 0])
    b.signal("u", type="switch", value=0)
    b.signal("speed", "rail.qd0")
    b.body("cart", mass=1, inertia=[1, 1, 1, 0, 0, 0])
    b.joint("rail", "prismatic", ["ground", "cart"], at=[0, 0, 0], axis=[1, 0, 0], q=[1], effort={"q0": "u"})
    b.event("sample", every=0.1, set={"u": "-4*rail.q0 - 3*speed"})
    model = b.build()
    assert model.signals == {"u": "switch", "speed": "formula"}
    run = lw.simulate(model, 2, level="force", sample=0.05, rtol=1e-11, atol=1e-11)
    u, q, v = run["signal.u.value"], run["joint.rail.q0"], run["joint.rail.qd0"]
    assert np.array_equal(u[0:-1:2], u[1::2]) and np.allclose(u[::2], -4*q[::2] - 3*v[::2], atol=1e-9)
    exact = [(1.0, 0.0)]  # x'' = u, held for 0.1 s
    for _ in range(20):
        x, w = exact[-1]
        a = -4*x - 3*w
        exact.append((x + 0.1*w + 0.005*a, w + 0.1*a))
    assert np.allclose(np.array(exact)[:, 0], q[::2], atol=1e-9)


def test_wrong_events_and_signals():
    b = lw.Builder()
    with pytest.raises(lw.ArgumentError, match="signal 'u': expected either a formula or type"):
        b.signal("u")
    b.body("rod", mass=1, inertia=[1, 1, 1, 0, 0, 0])
    b.event("end", when="t > ", stop=True)
    with pytest.raises(lw.ArgumentError, match="there is a 'end' already"):
        b.event("end", at=[1])
    with pytest.raises(lw.ModelError, match="end"):
        b.build()
