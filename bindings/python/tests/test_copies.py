"""Pickles and copies: what goes to another process is the same there."""
import copy
import multiprocessing
import pickle

import numpy as np
import pytest
from conftest import MODELS, pendulum

import linkwork as lw


def through_pickle(thing):
    return pickle.loads(pickle.dumps(thing))


COPIES = [copy.copy, copy.deepcopy, through_pickle]


@pytest.fixture(scope="module")
def run():
    return lw.simulate(lw.load(MODELS / "four_bar.yaml"), 0.2)


def swing_to(task):
    """End of a run in another process."""
    model, angle = task
    sim = lw.Simulation(model, rtol=1e-8, atol=1e-8)
    q = np.zeros(model.nq)
    q[model.joint("hinge").q] = angle
    sim.set_joints(q)
    sim.step(0.1)
    return sim.state


def test_a_pool_takes_models():
    model = pendulum()
    tasks = [(model, angle) for angle in (0.1, 0.2, 0.3)]
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        found = pool.map(swing_to, tasks)
    for task, state in zip(tasks, found):
        assert np.array_equal(state, swing_to(task))


@pytest.mark.parametrize("how", COPIES)
def test_models(how, ur5):
    ours = lw.load(MODELS / "ur5.urdf", duration=3, rtol=1e-5)
    other = how(ours)
    assert other.to_yaml(options=True) == ours.to_yaml(options=True) and other.options == ours.options
    assert (other.source, other.warnings) == (ours.source, ours.warnings) and ours.warnings
    assert other.joints == ours.joints and other.bodies == ours.bodies
    assert isinstance(hash(other), int)
    with pytest.raises(AttributeError, match="a model does not change"):
        other.source = "elsewhere"


def test_a_model_that_cannot_change_is_its_own_copy(crane):
    assert copy.copy(crane) is crane and copy.deepcopy({"m": [crane]})["m"][0] is crane


@pytest.mark.parametrize("how", COPIES)
def test_a_model_whose_start_does_not_close(how):
    b = lw.Builder()
    for name, x in (("left", 0), ("right", 1)):
        b.body(name, 1, [0.1, 0.1, 0.1, 0, 0, 0], position=[x, 0.5, 0])
        b.joint(f"{name}_foot", "revolute", ["ground", name], at=[x, 0, 0], axis=[0, 0, 1])
    b.joint("bar", "distance", ["left", "right"], frame1={"position": [0, 0.5, 0]},
            frame2={"position": [0, 0.5, 0]}, length=1.2)
    model = b.build(open=True)
    other = how(model)
    assert other.to_yaml() == model.to_yaml()
    assert other.assemble().model.to_yaml() == model.assemble().model.to_yaml()
    assert how(model.assemble()).after == model.assemble().after


@pytest.mark.parametrize("how", COPIES)
def test_loops_are_cut_where_they_were(how):
    for cut in (None, "B", "D"):
        model = lw.load(MODELS / "four_bar.yaml", cut=cut)
        assert how(model).loops == model.loops
    assert lw.load(MODELS / "four_bar.yaml", cut="B").loops[0][0] == "B"


@pytest.mark.parametrize("how", COPIES)
def test_data(how, four_bar):
    data = lw.Data(four_bar)
    q, v = four_bar.start()
    expected = data.forward_dynamics(q, v)
    other = how(data)
    assert other is not data and np.array_equal(other.forward_dynamics(q, v), expected)


@pytest.mark.parametrize("how", COPIES)
def test_trajectories(how, run, tmp_path):
    other = how(run)
    assert other.columns == run.columns and np.array_equal(other.table, run.table)
    assert not other.table.flags.writeable
    for name in run.columns:
        assert np.array_equal(other[name], run[name])
        assert (other.unit(name), other.frame(name), other.unique(name)) == (
            run.unit(name), run.frame(name), run.unique(name))
    assert (other.summary, other.path, other.options, other.notice, other.versions, other.warnings) == (
        run.summary, run.path, run.options, run.notice, run.versions, run.warnings)
    assert other.model.to_yaml(options=True) == run.model.to_yaml(options=True)
    assert np.array_equal(other.state(3), run.state(3))
    other.save(tmp_path / "other.csv")
    run.save(tmp_path / "run.csv")
    assert (tmp_path / "other.csv").read_bytes() == (tmp_path / "run.csv").read_bytes()
    sim = lw.Simulation(run.model)
    sim.restore(other, 5)
    assert sim.time == run.time[5]
    assert np.array_equal(how(run.body("coupler")).position, run.body("coupler").position)


@pytest.mark.parametrize("ending", [".h5", ".csv"])
@pytest.mark.parametrize("how", COPIES)
def test_results_of_files(how, ending, run, tmp_path):
    path = tmp_path / f"run{ending}"
    run.save(path)
    ours = lw.read_result(path)
    other = how(ours)
    path.unlink()
    assert other.path == str(path) and (other.table is None) == (ending == ".h5")
    assert (other.model is None) == (ending == ".csv") == (other.options is None)
    for name in run.columns:
        assert np.array_equal(other[name], run[name])


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("formulation, integrator", [("hdca", "dopri5"), ("rcr", "rk4"), ("dense", "adams"),
                                                     ("lagrange", "bdf"), ("index3", None)])
def test_simulations(how, formulation, integrator, four_bar):
    sim = lw.Simulation(four_bar, formulation=formulation, integrator=integrator, step=1e-3)
    sim.step(0.05)
    other = how(sim)
    assert other is not sim and other.options == sim.options and other.time == sim.time
    assert np.array_equal(other.state, sim.state)
    a, b = sim.observe("pose").copy(), other.observe("pose").copy()
    assert np.array_equal(a.position, b.position) and np.array_equal(a.q, b.q)
    before = sim.state
    other.step(0.05)
    assert np.array_equal(sim.state, before) and not np.array_equal(other.state, before)
    sim.step(0.05)  # multistep methods begin anew in the copy: as near as the tolerances
    assert np.allclose(sim.observe("pose").position, other.observe("pose").position, atol=1e-6)


@pytest.mark.parametrize("how", COPIES)
def test_inputs_go_along(how):
    sim = lw.Simulation(pendulum())
    sim.inputs["motor"] = 3.5
    other = how(sim)
    assert other.inputs["motor"] == 3.5
    other.inputs["motor"] = 1
    sim.step(0.01)
    other.step(0.01)
    assert sim.inputs["motor"] == 3.5 and sim.time == other.time and not np.array_equal(sim.state, other.state)


@pytest.mark.parametrize("how", COPIES)
def test_a_simulation_at_work_says_what_to_do(how):
    def controller(sim, _):
        how(sim)
    with pytest.raises(TypeError, match="a simulation at work cannot be copied or pickled: do it between two steps"):
        lw.simulate(pendulum(), 0.1, controller=controller)


@pytest.mark.parametrize("how", COPIES)
def test_moments_are_kept(how, four_bar):
    sim = lw.Simulation(four_bar)
    o = sim.observe()
    other, position = how(o), o.position.copy()
    sim.step(0.1)
    sim.observe()
    assert np.array_equal(other.position, position) and not np.array_equal(o.position, position)
    assert other.body("coupler").position.tolist() == position[four_bar.body("coupler").index].tolist()
    assert other.level == "reaction" and other.energy == other.kinetic + other.potential


@pytest.mark.parametrize("how", COPIES)
def test_what_else_there_is(how, crane, four_bar):
    assert how(crane.check()) == crane.check() or str(how(crane.check())) == str(crane.check())
    b = lw.simulate_batch(crane, {"joint.sway.q0": [0.1, 0.2]}, 0.1)
    assert np.array_equal(how(b)["joint.sway.q0"], b["joint.sway.q0"])
    c = lw.compare(four_bar, ["hdca", "rcr"], duration=0.1)
    assert how(c).differences == c.differences
    assert how(lw.Data(four_bar).constraints(four_bar.start()[0])).joints
    builder = lw.Builder(gravity=[0, 0, -9.81])
    builder.body("rod", 1, [1, 1, 1, 0, 0, 0])
    other = how(builder)
    assert other.to_dict() == builder.to_dict()
