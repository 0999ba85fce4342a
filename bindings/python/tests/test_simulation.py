"""Simulations: steps, inputs, controllers, observations, who owns memory."""
import gc
import os
import pathlib
import pickle
import runpy
import subprocess
import threading
import time
import weakref

import numpy as np
import pytest
from conftest import MODELS, SOURCES, pendulum

import linkwork as lw


def test_steps_are_the_runs_rows(crane):
    run = lw.simulate(crane, 0.5, sample=0.1)
    sim = lw.Simulation(crane, sample=0.1)
    for k, t in enumerate(run.time[1:], 1):
        assert sim.step(until=t) == t
        o = sim.observe()
        assert np.array_equal(o.body("load").position, run.body("load").position[k])
        assert np.array_equal(o.joint("sway").q, run.joint("sway").q[k])
        assert np.array_equal(o.joint("sway").force, run.joint("sway").force[k])
        assert o.energy == run.energy[k] and o.work == run.work[k]
        assert np.array_equal(o.residual, [run.residual(w)[k] for w in
                                           ("position", "velocity", "acceleration")])
    assert sim.summary.steps == run.summary.steps and run.summary.end == 0.5


def test_columns_have_names_units_and_items(crane):
    run = lw.simulate(crane, 0.1, sample=0.01)
    assert run["time"] is not None and run.rows == 11 and len(run) == len(run.columns)
    assert run.unit("body.load.vx") == "m/s" and run.frame("body.load.wx") == "body"
    assert run.joint("sway").q.shape == (11, 2) and run.body("load").quaternion.shape == (11, 4)
    assert np.array_equal(run.body("load").quaternion_xyzw[:, 3], run["body.load.qw"])
    assert run.match("body.load.[xyz]") == ["body.load.x", "body.load.y", "body.load.z"]
    assert run.select("joint.sway.q?").shape == (11, 2)
    assert np.allclose(run.energy, run.kinetic + run.potential)
    assert run.options["formulation"] != "auto" and "formulation" in run.notice
    for wrong in ("body.load.u", "bodyload"):
        with pytest.raises(KeyError):
            run[wrong]
    with pytest.raises(KeyError, match="did you mean 'sway'"):
        run.joint("swai")


def test_levels_contain_what_they_say():
    model = pendulum()
    sizes = [len(lw.simulate(model, 0.1, level=level)) for level in
             ("pose", "twist", "energy", "acceleration", "reaction", "force", "momentum")]
    assert sizes == sorted(sizes) and len(set(sizes)) == 7
    o = lw.Simulation(model).observe("twist")
    assert o.qd.shape == (1,) and o.qdd.size == 0 and o.reaction.size == 0
    assert o.body("rod").acceleration.size == 0
    assert o.p.size == o.transmitted.size == o.joint("hinge").p.size == o.body("rod").momentum.size == 0


def test_columns_are_chosen_by_patterns(tmp_path):
    model = pendulum()
    whole = lw.simulate(model, 0.1, level="force", inputs={"motor": 3})
    some = lw.simulate(model, 0.1, columns=["body.*.x", "joint.hinge.actuator*", "joint.hinge.f?@F1"], inputs={"motor": 3},
                       output=tmp_path / "some.h5")
    assert list(some) == ["time", "body.rod.x", "joint.hinge.actuator0", "joint.hinge.actuator_power0",
                          "joint.hinge.fx@F1", "joint.hinge.fy@F1", "joint.hinge.fz@F1"]
    for name in list(some)[:4]:
        assert (some[name] == whole[name]).all()
    assert (some["joint.hinge.actuator0"] == 3).all() and some.unit("joint.hinge.actuator0") == "N m"
    assert some.frame("joint.hinge.fx@F1") == "F1"
    again = lw.read_result(tmp_path / "some.h5")
    assert list(again) == list(some) and again.frame("joint.hinge.fx@F1") == "F1"
    with pytest.raises(lw.ArgumentError, match="did you mean 'body.rod.x'"):
        lw.simulate(model, 0.1, columns="body.rud.x")
    batch = lw.simulate_batch(model, {"joint.hinge.q0": [0.1, 0.2]}, 0.1, columns="joint.*.f?,sys.E")
    assert "joint.hinge.fx" in batch.columns and "body.rod.x" not in batch.columns


def test_measures_have_statistics(tmp_path):
    b = lw.Builder()
    rod = b.body("rod", mass=2, inertia=[0.01, 0.2, 0.2, 0, 0, 0], position=[0.5, 0, 0])
    b.joint("hinge", "revolute", ["ground", rod], at=[0, 0, 0], axis=[0, 1, 0])
    b.measure("load", "hypot(joint.hinge.fx, joint.hinge.fz)", unit="kN")
    b.measure("angle", "hinge.q0")
    run = lw.simulate(b.build(), 1, level="pose", output=tmp_path / "run.h5")
    whole = lw.simulate(b.build(), 1)
    load = np.hypot(whole["joint.hinge.fx"], whole["joint.hinge.fz"]) / 1000
    np.testing.assert_allclose(run["measure.load"], load, rtol=1e-14)
    assert run.unit("measure.load") == "kN" and "joint.hinge.fx" not in run
    s = run.measures["load"]
    assert list(run.measures) == ["load", "angle"] and s.rows == 101 and s.max == run["measure.load"].max()
    assert s.time_of_max == run.time[run["measure.load"].argmax()] and s.last == run["measure.load"][-1]
    assert abs(s.mean - np.trapezoid(load, run.time)) < 1e-12 if hasattr(np, "trapezoid") else True
    assert lw.read_result(tmp_path / "run.h5").measures == run.measures
    assert run.statistics("joint.hinge.q0") == run.measures["angle"]


def test_independent_coordinates_are_named(four_bar):
    run, other = (lw.simulate(four_bar, 0.2, formulation="rcr", independent=name) for name in ("A", "B.q0"))
    assert run.options["independent"] == "A" and abs(run["body.rocker.x"] - other["body.rocker.x"]).max() < 1e-7
    with pytest.raises(lw.ArgumentError, match="2 coordinates are named"):
        lw.simulate(four_bar, 0.2, independent="A, B")


def test_momenta_of_bodies_and_joints():
    # a cut joint has no momentum of its own: what it transmits is the impulse of its constraints
    run = lw.simulate(MODELS / "four_bar.yaml", 0.5, formulation="hdca", level="momentum", sample=0.1)
    bodies = [run.body(name) for name in ("crank", "coupler", "rocker")]
    assert np.allclose(sum(b.momentum for b in bodies), run.select("sys.p?"), atol=1e-12)
    about = sum(b.angular_momentum + np.cross(b.position, b.momentum) for b in bodies)
    assert np.allclose(about, run.select("sys.l?"), atol=1e-12)
    p = np.hstack([run.joint(name).p for name in "ABCD"])
    assert p.shape == (6, 4) and sum(not p[:, k].any() for k in range(4)) == 1
    coupler = run.joint("B").transmitted - run.joint("C").transmitted
    assert np.allclose(coupler[:, :3], run.body("coupler").momentum, atol=1e-10)
    assert abs(run.joint("C").transmitted[-1]).max() > 0.01
    # an observation has the numbers of the row
    sim = lw.Simulation(lw.load(MODELS / "four_bar.yaml"), formulation="hdca")
    sim.step(0.1)
    o = sim.observe("momentum")
    assert o.level == "momentum" and o.transmitted.shape == (4, 6) and o.body_momentum.shape == (4, 6)
    assert np.array_equal(o.joint("B").transmitted, o.transmitted[1])
    assert np.array_equal(np.hstack([o.body("rocker").momentum, o.body("rocker").angular_momentum]),
                          o.body_momentum[3])
    assert np.array_equal(o.joint("A").p, o.p[:1]) and not o.p.flags.writeable


def test_views_have_no_copies_and_keep_their_owner():
    sim = lw.Simulation(pendulum())
    before = sim.observe()
    kept, angle = before.copy(), before.q
    assert not angle.flags.owndata and not angle.flags.writeable
    sim.step(0.5)
    after = sim.observe()
    assert np.shares_memory(after.q, angle) and angle[0] == after.q[0] != kept.q[0] == 0
    value = after.position[1].copy()
    position = after.position
    gone = weakref.ref(sim)
    del sim, before, after
    gc.collect()
    assert gone() is None
    assert np.array_equal(position[1], value)  # the memory is still there
    with pytest.raises(ValueError):
        position[1] = 0


def test_observations_keep_numbers_and_share_views():
    sim = lw.Simulation(pendulum())
    first = sim.observe("acceleration")
    before, velocity = first.kinetic, first.velocity
    sim.step(0.1)
    second = sim.observe("acceleration")
    assert second.velocity is velocity and not velocity.flags.writeable
    assert first.kinetic == before != second.kinetic and first.time == 0 != second.time
    assert len(second.reaction) == 0 and len(sim.observe().reaction) == 1  # of another level
    with pytest.raises(AttributeError, match="speed"):
        second.speed
    kept = second.copy()
    sim.step(0.1)
    sim.observe()
    assert not np.array_equal(kept.velocity, velocity) and kept.kinetic == second.kinetic


def test_every_array_of_an_observation_is_compared():
    """Views are shared by observations with the same addresses: a quantity that is not compared would be another's."""
    from linkwork._native import ffi, lib
    from linkwork._simulation import _QUANTITIES, _View
    sim = lw.Simulation(pendulum())
    one = sim.observe("momentum")._numbers
    assert lib.lwpy_same_arrays(one, ffi.new("lw_observation *", one[0]))
    views = [name for name, quantity in _QUANTITIES.items() if isinstance(quantity, _View)]
    assert len(views) > 15
    for name in views:
        other = ffi.new("lw_observation *", one[0])
        setattr(other, name, ffi.cast(ffi.typeof(getattr(other, name)), 8))
        assert not lib.lwpy_same_arrays(one, other), name


def test_levels_one_after_the_other_have_their_own_arrays():
    sim = lw.Simulation(pendulum())
    first = sim.observe("acceleration")
    acceleration, position = first.acceleration, first.position
    between = sim.observe("twist")
    assert len(between.acceleration) == 0 and between.position.shape == position.shape
    before = acceleration.copy()
    sim.step(0.1)
    again = sim.observe("acceleration")
    assert again.acceleration is acceleration and not np.array_equal(acceleration, before)
    assert len(sim.observe("pose").velocity) == 0 and len(sim.observe("twist").velocity) == len(position)


def test_tables_have_no_copies_and_keep_their_owner():
    run = lw.simulate(pendulum(), 0.2)
    x = run["body.rod.x"]
    assert np.shares_memory(x, run.table) and np.shares_memory(run.body("rod").position, x)
    value = x.copy()
    del run
    gc.collect()
    assert np.array_equal(x, value)


def test_inputs_and_controllers():
    model = pendulum(sample=0.02)
    torque = lw.simulate(model, 1, inputs={"motor": 3})
    rest = lw.simulate(model, 1)
    assert torque["joint.hinge.q0"][-1] != rest["joint.hinge.q0"][-1]
    seen = []

    def hold(sim, o):
        seen.append((o.time, o.joint("hinge").q[0]))
        return {"motor": -60 * o.joint("hinge").q[0] - 8 * o.joint("hinge").qd[0] - 9.81}

    held = lw.simulate(model, 4, controller=hold)
    assert [t for t, _ in seen] == list(held.time)
    assert [q for _, q in seen] == list(held["joint.hinge.q0"])
    assert abs(held["joint.hinge.q0"][-1]) < 1e-3 and abs(rest["joint.hinge.q0"]).max() > 1
    # the same by hand, bit for bit
    sim = lw.Simulation(model)
    for t in held.time[1:]:
        sim.inputs.update(hold(sim, sim.observe()))
        sim.step(until=t)
    assert sim.observe().q[0] == held["joint.hinge.q0"][-1]
    with pytest.raises(KeyError, match="motor"):
        sim.inputs["moter"] = 1


def test_exceptions_of_a_controller_come_out():
    def bad(sim, o):
        if o.time > 0.05:
            raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine") as caught:
        lw.simulate(pendulum(), 1, controller=bad)
    assert caught.value.trajectory.time[-1] == pytest.approx(0.06)
    # nor may it use the simulation that is at work
    with pytest.raises(lw.ArgumentError, match="at work"):
        lw.simulate(pendulum(), 1, controller=lambda sim, o: sim.step(0.1))


def test_progress_stops_a_run():
    asked = []

    def enough(time, end):
        asked.append(time)
        return time > 1

    with pytest.raises(lw.StoppedError) as caught:
        lw.simulate(pendulum(), 1e6, step=1e-3, integrator="rk4", progress=enough)
    run = caught.value.trajectory
    assert asked and run.rows > 1 and 1 < run.time[-1] < 1e6


def test_state_and_restart(four_bar, tmp_path):
    whole = lw.simulate(four_bar, 1, integrator="rk4", step=1e-3, sample=0.1)
    first = lw.simulate(four_bar, 0.5, integrator="rk4", step=1e-3, sample=0.1)
    second = lw.simulate(four_bar, 0.5, integrator="rk4", step=1e-3, sample=0.1, initial=first)
    assert np.array_equal(second.time, whole.time[5:])
    assert np.array_equal(second.select("body.*.x"), whole.select("body.*.x")[5:])
    sim = lw.Simulation(four_bar, integrator="rk4", step=1e-3)
    sim.set_state(first.state(-1), 0.5)
    for t in whole.time[6:]:
        sim.step(until=t)
    assert np.array_equal(sim.state, whole.state(10))
    # by another formulation, from the motion
    other = lw.Simulation(four_bar, formulation="dense")
    assert "motion" in other.restore(first) and other.time == 0.5
    other.set_motion(sim.observe())
    assert other.time == 1
    assert np.allclose(other.observe().position, sim.observe().position, atol=1e-12)


def test_set_joints(ur5):
    sim = lw.Simulation(ur5)
    q = np.linspace(-1, 1, ur5.nq)
    sim.set_joints(q)
    assert np.allclose(sim.observe().q, q) and np.all(sim.observe().qd == 0)
    with pytest.raises(lw.ArgumentError, match="q: expected 6 numbers, got 5"):
        sim.set_joints(q[:5])
    with pytest.raises(lw.NotFiniteError):
        sim.set_joints(q * np.nan)


def test_vectors_of_data_set_a_state():
    model = lw.load(MODELS / "anymal_c.urdf", base="floating")
    sim = lw.Simulation(model)
    q, v = model.start()
    sim.set_tree(q, v + 1)
    assert np.allclose(sim.tree()[1], v + 1, rtol=0, atol=1e-15)
    sim.set_joints(q, v + 2, time=0.5)
    assert np.allclose(sim.tree()[1], v + 2, rtol=0, atol=1e-15) and sim.time == 0.5
    sim.set_joints(np.full(model.nq, 0.1))  # the base stays
    assert np.allclose(sim.tree()[0], [*q[:7], *np.full(12, 0.1)], rtol=0, atol=1e-15)
    with pytest.raises(lw.ArgumentError):
        sim.set_joints(q[1:])


def test_files_are_written_and_read(crane, tmp_path):
    paths = [tmp_path / "run.h5", tmp_path / "run.csv"]
    run = lw.simulate(crane, 0.3, sample=0.01, output=paths)
    for path in [*paths, tmp_path / "saved.h5", tmp_path / "saved.csv"]:
        if path.name.startswith("saved"):
            run.save(path)
        found = lw.read_result(path)
        assert found.columns == run.columns and found.rows == run.rows and found.closed
        for name in run.columns:
            assert np.array_equal(found[name], run[name])
        if path.suffix == ".h5":
            assert found.table is None and found.model.to_yaml() == crane.to_yaml()
            assert found.options == run.options and np.array_equal(found.state(7), run.state(7))
            assert found.unit("joint.sway.q0") == run.unit("joint.sway.q0") == "rad"
            assert found.body("load").position.shape == (31, 3)
        else:
            assert found.model is None and found.options is None
            assert np.array_equal(found.table, run.table)
    assert paths[1].read_bytes() == (tmp_path / "saved.csv").read_bytes()
    for path in (tmp_path / "few.h5", tmp_path / "few.csv"):
        run.save(path, columns="joint.*.q0,sys.E")
        few = lw.read_result(path)
        assert few.columns == tuple(name for name in run.columns if name in ("time", "sys.E") or name.endswith(".q0"))
        assert np.array_equal(few["sys.E"], run["sys.E"]) and np.array_equal(few["joint.sway.q0"], run["joint.sway.q0"])
    assert np.array_equal(lw.read_result(tmp_path / "few.h5").state(7), run.state(7))
    with pytest.raises(lw.ArgumentError, match="no column of the result matches 'sys.K'"):
        run.save(tmp_path / "few.h5", columns="sys.K")
    with pytest.raises(lw.FileError, match="nowhere"):
        lw.simulate(crane, 0.1, sample=0.01, output=tmp_path / "nowhere" / "run.h5")
    with pytest.raises(lw.ParseError, match="empty.h5"):
        (tmp_path / "empty.h5").write_bytes(b"")
        lw.read_result(tmp_path / "empty.h5")


def test_h5py_lives_beside(crane, tmp_path):
    h5py = pytest.importorskip("h5py")
    run = lw.simulate(crane, 0.1, sample=0.01, output=tmp_path / "run.h5")
    with h5py.File(tmp_path / "run.h5") as file:
        columns = file["columns"][:] # as docs/results.md says
        load = (columns["kind"] == b"body") & (columns["item"] == b"load")
        position = file["table"][:, load & (columns["quantity"] == b"position")]
        assert np.array_equal(position, run.body("load").position)
        assert [name.decode() for name in columns["name"]] == list(run.columns)[1:]
        lw.simulate(crane, 0.1, sample=0.01, output=tmp_path / "again.h5")
    assert lw.read_result(tmp_path / "again.h5").rows == 11


def test_to_pandas(crane):
    pandas = pytest.importorskip("pandas")
    run = lw.simulate(crane, 0.1)
    frame = run.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and frame.index.name == "time"
    assert np.array_equal(frame["body.load.x"].to_numpy(), run["body.load.x"])


def test_failures_have_the_rows_so_far():
    b = lw.Builder()
    b.function("trap", "formula", of="sqrt(0.3 - t)")
    b.body("a", 1, [1, 1, 1, 0, 0, 0])
    b.joint("slide", "prismatic", ["ground", "a"], at=[0, 0, 0], effort={"q0": "trap"})
    with pytest.raises(lw.Error) as caught:
        lw.simulate(b.build(), 1)
    assert "t = 0." in str(caught.value) and caught.value.trajectory.time[-1] > 0.2
    with pytest.raises(lw.ArgumentError, match="formulation"):
        lw.simulate(pendulum(), formulation="magic")


def test_other_threads_run_meanwhile():
    model = lw.Model.from_dict({"generate": {"chain": {"n": 64, "seed": 1}}})
    counted = []

    def count_during(duration):
        done = threading.Event()

        def work():
            lw.simulate(model, duration, level="pose", rtol=1e-10, atol=1e-10)
            done.set()

        counted.clear()
        thread = threading.Thread(target=work)
        thread.start()
        while not done.wait(0.001):  # were the lock held, this would come back once
            counted.append(1)
        thread.join()
        return len(counted)

    # on a loaded machine a short run may be over before this thread has its turns; a long one is not
    assert any(count_during(duration) > 10 for duration in (0.5, 2, 8))


def test_one_thread_at_a_time():
    sim = lw.Simulation(lw.Model.from_dict({"generate": {"chain": {"n": 64, "seed": 1}}}))
    refused = []
    started = threading.Event()

    def meddle():
        started.wait()
        try:
            sim.observe()
        except lw.ArgumentError as error:
            refused.append(str(error))

    thread = threading.Thread(target=meddle)
    thread.start()

    def progress(time, end):
        started.set()
        thread.join(0.01)
        return not thread.is_alive()

    with pytest.raises(lw.StoppedError):
        sim.run(1e4, level="pose", progress=progress)
    assert refused and "at work" in refused[0]


def test_compare(four_bar):
    found = lw.compare(four_bar, ["hdca", "dense", "lagrange:fehlberg8"], 0.5)
    for method in ("dense", "lagrange:fehlberg8"):
        assert found.differences[method]["position [m]"] < 1e-7
    assert found.scales["position [m]"] > 0.1
    for method in ("dense", "lagrange:fehlberg8"):  # bearing forces in the plane are unique
        assert found.differences[method]["reaction force [N]"] < 1e-6 * found.scales["reaction force [N]"]
    assert found.scales["reaction force [N]"] > 0.1
    assert "largest difference from hdca" in str(found)
    assert found.trajectories["dense"].options["formulation"] == "dense"
    found = lw.compare(four_bar, ["rattle", "dense"], 0.1, rtol=1e-11, atol=1e-11, step=1e-3)  # of dense alone
    assert found.differences["dense"]["position [m]"] < 1e-6
    for several in (lw.compare, lw.work_precision):
        with pytest.raises(lw.ArgumentError, match="expected a list of names, got the text 'hdca'"):
            several(four_bar, "hdca")


def test_results_of_the_examples_are_plain_files():
    run = lw.simulate(str(MODELS / "four_bar.yaml"), 0.05)
    assert run.model.source.endswith("four_bar.yaml") and run.to_dict()["time"][-1] == 0.05


def test_names_are_found_without_a_search():
    builder = lw.Builder(gravity=[0, -9.81, 0])
    builder.generate("chain", n=2000)
    chain = builder.build()
    t = lw.simulate(chain, 1e-9, integrator="rk4", step=1e-9, sample=1e-9)
    began = time.process_time()
    found = [t.joint(j.name).q[0, 0] for j in chain.joints]
    assert time.process_time() - began < 2  # 23 s where each looks at all columns
    assert found == [t[f"joint.{j.name}.q0"][0] for j in chain.joints]
    assert t.match("joint.*.q0,joint.joint1.*")[:2000] == [f"joint.{j.name}.q0" for j in chain.joints]
    assert len(set(t.match("*,joint.*"))) == len(t.match("*,joint.*"))
    with pytest.raises(lw.UnknownNameError, match="did you mean 'joint1'"):
        t.joint("joint1x")


def test_impulses_act_at_once_and_at_their_times():
    def build(*strikes):
        b = lw.Builder(gravity=[0, 0, 0])
        b.body("rod", mass=2, inertia=[0.2, 0.2, 0.3, 0, 0, 0], position=[0.5, 0, 0])
        b.joint("pin", "revolute", ["ground", "rod"], at=[0, 0, 0], axis=[0, 0, 1])
        for name, time, keys in strikes:
            b.impulse(name, time, **keys)
        return b.build()

    inertia = 0.3 + 2 * 0.5 ** 2
    sim = lw.Simulation(build())
    impact = sim.apply_impulse("rod", impulse=[0, 4, 0], point=[0.5, 0, 0])
    assert impact.reaction.shape == (1, 6)
    assert np.isclose(impact.reaction[0, 1], 2 * 0.5 * 4 / inertia - 4, rtol=1e-13)
    assert np.isclose(impact.work, 0.5 * 16 / inertia, rtol=1e-13)
    seen = sim.observe()
    assert seen.impact == "after" and np.isclose(seen.qd[0], 4 / inertia, rtol=1e-13)
    assert np.array_equal(seen.impulse, impact.reaction)
    sim.apply_impulse(joint="pin", effort=-4)
    assert abs(sim.observe().qd[0]) < 1e-13
    assert sim.summary.impulses == 2
    for wrong in (dict(), dict(body="rod", joint="pin"), dict(body="rod", axes="rod")):
        with pytest.raises(lw.ArgumentError):
            sim.apply_impulse(**wrong)
    with pytest.raises(lw.UnknownNameError):
        sim.apply_impulse("rid")

    t = lw.simulate(build(("blow", 0.5, {"joint": "pin", "effort": 1})), duration=1, sample=0.25)
    assert list(t.time) == [0, 0.25, 0.5, 0.5, 0.75, 1]
    assert list(t["sys.impact"]) == [0, 0, 1, 2, 0, 0]


def test_unreliable_results_are_a_warning(four_bar):
    options = {"formulation": "index3", "index3": "mode=real-time"}
    assert lw.simulate(four_bar, 1, step=0.01, **options).summary.valid_until == 1
    sim = lw.Simulation(four_bar, step=0.1, sample=0.1, **options)
    with pytest.warns(RuntimeWarning, match="results after t = .* are unreliable"):
        run = sim.run(2)
    assert 0 < run.summary.valid_until < run.summary.end == 2
    assert "did not converge" in sim.notice and run.rows == 21
    sim = lw.Simulation(four_bar, step=0.1, **options)
    start = sim.state
    with pytest.warns(RuntimeWarning, match="are unreliable"):
        for _ in range(20):
            sim.step(0.1)
    assert sim.summary.valid_until == run.summary.valid_until
    sim.set_state(start, 0)
    assert sim.summary.valid_until == 0


def test_rates_are_those_of_the_state(four_bar):
    sim = lw.Simulation(four_bar, formulation="lagrange", rtol=1e-12, atol=1e-12)
    rates, before, h = sim.rates(), sim.state, 1e-4
    sim.step(h)
    mean = (rates + sim.rates()) / 2
    assert np.allclose(sim.state - before, h * mean, atol=1e-9)
    with pytest.raises(lw.Error, match="index3 has own steps"):
        lw.Simulation(four_bar, formulation="index3").rates()


FED_PENDULUM = """
linkwork: 1
gravity: [0, -9.81, 0]
inputs: [torque]
signals:
  lag: {type: lag, of: A.q0, time: 0.1}
bodies:
  arm: {mass: 1.5, inertia: [0.01, 0.02, 0.03, 0, 0, 0], com: [0.4, 0, 0]}
joints:
  A: {type: revolute, between: [ground, arm], at: [0, 0, 0], effort: {q0: %s}}
"""


def fed_pendulum(tmp_path, torque):
    path = tmp_path / "pendulum.yaml"
    path.write_text(FED_PENDULUM % torque)
    return lw.load(path)


def test_callbacks_are_feedback(tmp_path):
    by_file = lw.Simulation(fed_pendulum(tmp_path, "40*(0.3 - A.q0) - 5*A.qd0 + lag"), rtol=1e-11, atol=1e-11)
    by_call = lw.Simulation(fed_pendulum(tmp_path, "torque"), rtol=1e-11, atol=1e-11)
    by_call.set_callback(lambda o: {"torque": 40 * (0.3 - o.q[0]) - 5 * o.qd[0] + o.states[0]})
    assert by_call.model.signal_states == ("signal.lag.state0",)
    by_file.step(1), by_call.step(1)
    a, b = by_file.observe(), by_call.observe()
    assert abs(a.q[0] - b.q[0]) < 1e-9 and abs(a.qdd[0] - b.qdd[0]) < 1e-8
    by_call.set_callback(lambda o: [1.0])
    assert abs(by_call.observe("force").qdd[0] * (0.03 + 1.5 * 0.16) - 1 + 1.5 * 9.81 * 0.4 * np.cos(b.q[0])) < 1e-9
    by_call.set_callback(None)
    with pytest.raises(TypeError, match="callback"):
        sim = lw.Simulation(fed_pendulum(tmp_path, "torque"))
        sim.set_callback(lambda o: [0])
        pickle.dumps(sim)


def stiff_law(o):
    return [4e4 * (0.3 - o.q[0]) - 5e3 * o.qd[0] + o.states[0] + 30 * o.position[1, 1]]


def stiff_slopes(o):
    pose = np.zeros((1, 2, 6))
    pose[0, 1, 1] = 30
    return {"q": [[-4e4]], "qd": [-5e3], "states": [1], "pose": pose}


@pytest.mark.parametrize("options", [{"formulation": "index3", "step": 0.01}, {"integrator": "bdf"}])
def test_a_jacobian_saves_calls_of_the_callback(tmp_path, options):
    calls, ends = [], []
    for jacobian in (None, stiff_slopes):
        count = [0]

        def law(o, count=count):
            count[0] += 1
            return stiff_law(o)

        sim = lw.Simulation(fed_pendulum(tmp_path, "torque"), **options)
        sim.set_callback(law, jacobian)
        if jacobian:
            assert sim.check_jacobian() < 1e-7
            count[0] = 0
        sim.step(0.1)
        calls.append(count[0]), ends.append(sim.observe().q[0])
    assert calls[1] < calls[0] and ends[1] == pytest.approx(ends[0], abs=1e-3)
    assert calls[1] * 10 < calls[0] or "integrator" in options


@pytest.mark.parametrize("values, message", [
    (lambda o: {"q": [4e4]}, "input 'torque' by joint.A.q0: the Jacobian gives 40000, differences of the callback -40"),
    (lambda o: {"q": [1, 2]}, "the Jacobian by q: expected 1 x 1 numbers, got 2"),
    (lambda o: {"pose": np.zeros((2, 6, 1))}, "the Jacobian by pose: expected 1 x 2 x 6 numbers, got 2 x 6 x 1"),
    (lambda o: {"q": ["a"]}, "the Jacobian by q: expected real numbers"), (lambda o: [1], "expected a dictionary with q, qd"),
    (lambda o: {"speed": [1]}, "no derivative of the Jacobian by 'speed'"),
    (lambda o: {"qd": [float("nan")]}, "input 'torque': its Jacobian gives nan by joint.A.qd0"),
    (lambda o: o.speed, "speed")])
def test_values_of_a_jacobian_are_checked(tmp_path, values, message):
    sim = lw.Simulation(fed_pendulum(tmp_path, "torque"), formulation="index3")
    sim.set_callback(stiff_law, values)
    with pytest.raises((lw.Error, AttributeError), match=message):
        sim.check_jacobian()
    if "differences" not in message:  # a wrong one costs iterations only
        with pytest.raises((lw.Error, AttributeError), match=message):
            sim.step(0.1)
    for jacobian in (stiff_slopes, 3):
        with pytest.raises(lw.ArgumentError, match="jacobian: expected a function"):
            sim.set_callback(None if jacobian is stiff_slopes else stiff_law, jacobian)
    sim.set_callback(stiff_law)
    with pytest.raises(lw.ArgumentError, match="has no Jacobian"):
        sim.check_jacobian()


def test_exceptions_of_a_callback_come_out(tmp_path):
    def fails(o):
        if o.time > 0.3:
            raise RuntimeError("no torque")
        return [0.0]

    sim = lw.Simulation(fed_pendulum(tmp_path, "torque"), sample=0.1)
    sim.set_callback(fails)
    with pytest.raises(RuntimeError, match="no torque") as caught:
        sim.run(1)
    assert 2 <= len(caught.value.trajectory.time) and caught.value.trajectory.time[-1] <= 0.3
    with pytest.raises(RuntimeError, match="no torque"):
        sim.step(1)
    sim.set_callback(lambda o: {"torque": float("nan")})
    with pytest.raises(lw.Error, match="input 'torque': the callback gives"):
        sim.step(0.1)
    sim.set_callback(lambda o: {"tork": 1})
    with pytest.raises(lw.Error, match="no input 'tork'"):
        sim.step(0.1)
    sim.set_callback(lambda o: [1, 2])
    with pytest.raises(lw.Error):
        sim.step(0.1)
    sim.set_callback(lambda o: [1])
    sim.step(0.1)
    with pytest.raises(lw.Error, match="no inputs"):
        lw.Simulation(lw.load(MODELS / "four_bar.yaml")).set_callback(fails)


def test_the_arm_of_the_examples_has_the_same_digits():
    example = runpy.run_path(str(SOURCES / "examples" / "controllers" / "arm.py"))
    assert example["main"]() == 0


def test_the_delta_robot_has_the_digits_of_the_program_in_c(monkeypatch, capsys):
    folder = SOURCES / "examples" / "delta"
    model = str(folder / "delta.yaml")
    monkeypatch.setattr("sys.argv", ["delta.py", model])
    assert runpy.run_path(str(folder / "delta.py"))["main"]() == 0
    digits = capsys.readouterr().out
    assert len(digits.splitlines()) == 11
    built = pathlib.Path(os.environ.get("LINKWORK_PROGRAM", "")).parent.parent / "example_delta"
    if not built.is_file():
        pytest.skip("the example in C is not built")
    assert subprocess.run([built, model], check=True, capture_output=True, text=True).stdout == digits
