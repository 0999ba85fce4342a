"""Models: made, read, looked at; errors that name the item and the line."""
import pickle
import threading

import numpy as np
import pytest
from conftest import MODELS, pendulum

import linkwork as lw


def test_files_and_texts_are_the_same_model(crane):
    again = lw.Model.from_string(crane.to_yaml())
    assert again.to_yaml() == crane.to_yaml()
    assert pickle.loads(pickle.dumps(crane)).to_yaml() == crane.to_yaml()
    assert crane.options["formulation"] == "auto"


def test_what_a_model_tells(crane, four_bar, ur5):
    assert crane.bodies[0].name == "ground" and crane.body("load").mass > 0
    sway = crane.joint("sway")
    assert sway.type == "universal" and sway.nq == 2 and not sway.closes_loop
    assert len(four_bar.loops) == 1 and set(four_bar.loops[0]) <= {j.name for j in four_bar.joints}
    assert sum(j.closes_loop for j in four_bar.joints) == 1
    assert any("limits" in w for w in ur5.warnings)
    assert "elbow_joint" in repr(ur5) and "ur5.urdf" in repr(ur5)
    floating = lw.load(MODELS / "anymal_c.urdf", base="floating")
    assert floating.tree_nq == floating.tree_nv + 1
    with pytest.raises(KeyError, match="did you mean 'load'"):
        crane.body("loud")


def test_builder_says_what_the_file_says():
    b = lw.Builder(gravity=np.array([0, 0, -9.81]), duration=3)
    b.function("push", "sine", amplitude=np.float64(2), omega=3)
    arm = b.body("arm", 2, [0.01, 0.2, 0.2, 0, 0, 0], com=(0.5, 0, 0))
    hand = b.body("hand", 1, np.full(6, 0.01) * [1, 1, 1, 0, 0, 0], in_=arm, position=[1, 0, 0])
    b.joint("shoulder", "revolute", ["ground", arm], at=[0, 0, 0], axis=[0, 1, 0], q=[0.3],
            effort={"q0": "push"})
    b.joint("wrist", "revolute", [arm, hand], at=[1, 0, 0], axis=[0, 1, 0])
    b.coupling("wrist", "q0", "shoulder", "q0", [-0.6, 2])
    b.force("string", "spring", between=["ground", hand], from_=[0, 0, 3], point2=[0, 0, 0],
            stiffness=5, length=2)
    b.marker("tip", hand, position=[0.1, 0, 0])
    model = b.build(open=True)
    assert model.options["duration"] == 3 and model.markers == ("tip",)
    text = """
linkwork: 1
gravity: [0, 0, -9.81]
simulation: {duration: 3}
functions: {push: {type: sine, amplitude: 2, omega: 3}}
bodies:
  arm: {mass: 2, inertia: [0.01, 0.2, 0.2, 0, 0, 0], com: [0.5, 0, 0]}
  hand: {mass: 1, inertia: [0.01, 0.01, 0.01, 0, 0, 0], in: arm, position: [1, 0, 0]}
joints:
  shoulder: {type: revolute, between: [ground, arm], at: [0, 0, 0], axis: [0, 1, 0], q: [0.3],
             effort: {q0: push}}
  wrist: {type: revolute, between: [arm, hand], at: [1, 0, 0], axis: [0, 1, 0]}
couplings: [{joint: wrist, coordinate: q0, of: shoulder, with: q0, polynomial: [-0.6, 2]}]
forces: {string: {type: spring, between: [ground, hand], from: [0, 0, 3], point2: [0, 0, 0],
                  stiffness: 5, length: 2}}
markers: {tip: {body: hand, position: [0.1, 0, 0]}}
"""
    assert lw.Model.from_string(text, open=True).to_yaml() == model.to_yaml()
    assert lw.Model.from_dict(b.to_dict(), open=True).to_yaml() == model.to_yaml()


def test_mistakes_of_a_builder_name_the_item():
    b = lw.Builder()
    b.body("rod", 1, [1, 1, 1, 0, 0, 0])
    with pytest.raises(lw.ArgumentError, match="rod"):
        b.body("rod", 1, [1, 1, 1, 0, 0, 0])
    b.joint("hinge", "revolute", ["ground", "rod"], at=[0, 0, 0], axis=[0, 0, 0], stifness=3)
    with pytest.raises(lw.ParseError, match="joint 'hinge'.*stifness") as caught:
        b.build()
    assert caught.value.line is None  # of a text that nobody has seen
    with pytest.raises(lw.ArgumentError, match="mass: nan is not a finite number"):
        lw.Model.from_dict({"bodies": {"rod": {"mass": np.nan}}})


def test_errors_tell_file_line_and_joint(tmp_path):
    path = tmp_path / "bad.yaml"
    path.write_text("linkwork: 1\nbodies: {a: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}}\njoints:\n"
                    "  elbow:\n    type: revolute\n    between: [ground, b]\n    at: [0, 0, 0]\n")
    with pytest.raises(lw.Error) as caught:
        lw.load(path)
    error = caught.value
    assert error.file == str(path) and error.line == 6 and error.column > 0
    assert "elbow" in error.text and str(error).startswith(f"{path}:6:")
    assert isinstance(error, (lw.ModelError, lw.ParseError)) and isinstance(error, ValueError)
    assert error.status in ("MODEL", "PARSE")
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) and type(again) is type(error)
    with pytest.raises(OSError, match="No such file"):
        lw.load(tmp_path / "none.yaml")
    with pytest.raises(ValueError, match="embedded null byte"):
        lw.load(f"{path}\0.yaml")
    with pytest.raises(lw.ArgumentError, match="did you mean 'rtol'"):
        lw.load(MODELS / "crane.yaml", rtoll=1e-3)
    assert lw.SingularError.status == "SINGULAR"


@pytest.mark.parametrize("take", [lw.Data, lw.Simulation])
def test_what_is_no_model_is_named(take):
    with pytest.raises(lw.ArgumentError, match="expected a linkwork.Model.*got 'crane.yaml'"):
        take("crane.yaml")


def test_a_model_that_does_not_close_is_assembled():
    b = lw.Builder()
    b.body("a", 1, [1, 1, 1, 0, 0, 0], position=[0.5, 0, 0])
    b.body("b", 1, [1, 1, 1, 0, 0, 0], position=[1.1, 0.5, 0])
    b.joint("one", "revolute", ["ground", "a"], frame1={}, frame2={"position": [-0.5, 0, 0]})
    b.joint("two", "revolute", ["a", "b"], frame1={"position": [0.5, 0, 0]},
            frame2={"position": [0, -0.5, 0]})
    with pytest.raises(lw.ModelError, match="two"):
        b.build()
    done = b.build(open=True).assemble(hold=["a"])
    assert done.before[0] > 0.05 and done.after[0] < 1e-12 and done.moved_body == "b"
    assert lw.simulate(done.model, 0.1).residual()[-1] < 1e-12
    with pytest.raises(lw.ModelError):
        lw.Simulation(b.build(open=True))


def test_check_names_redundant_joints():
    b = lw.Builder()
    b.body("door", 10, [1, 1, 1, 0, 0, 0], position=[0.5, 0, 0])
    for name, z in (("upper", 1), ("lower", -1)):
        b.joint(name, "revolute", ["ground", "door"], at=[0, 0, z], axis=[0, 0, 1])
    report = b.build().check()
    assert (report.rows, report.rank, report.redundant, report.dof) == (10, 5, 5, 1)
    assert sum(j.dependent for j in report.joints) == 5
    assert "reaction not unique" in str(report) and len(report.loops) == 1


def test_components_that_constraints_do_not_determine(tmp_path):
    b = lw.Builder()
    b.body("door", 10, [1, 1, 1, 0, 0, 0], position=[0.5, 0, 0])
    for name, z in (("upper", 1), ("lower", -1)):
        b.joint(name, "revolute", ["ground", "door"], at=[0, 0, z], axis=[0, 0, 1])
    sim = lw.Simulation(b.build(), duration=0)
    all_but_tz = ("fx", "fy", "fz", "tx", "ty")
    joint = sim.observe("reaction").joint("upper")
    assert joint.undetermined == all_but_tz and not joint.unique
    path = tmp_path / "door.h5"
    lw.simulate(b.build(), 0).save(path)
    for run in (lw.simulate(b.build(), 0), lw.read_result(path)):
        assert run.undetermined("joint.upper.fx") == all_but_tz
        assert not run.unique("joint.lower.tz") and run.unique("joint.upper.q0")


def test_a_model_is_shared_by_threads():
    model = pendulum()
    found = []
    threads = [threading.Thread(target=lambda: found.append(lw.simulate(model, 1).table))
               for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4 and all(np.array_equal(found[0], f) for f in found)


def test_schema_and_lists():
    assert '"$schema"' in lw.schema()
    assert {"aba", "momenta", "dense"} <= set(lw.formulations())
    assert {"dopri5", "rk4"} <= set(lw.integrators())
    assert lw.__version__.count(".") == 2


def test_a_keyframe_is_the_start_when_it_is_named():
    text = """<mujoco><worldbody><body name='rod'><joint name='hinge' axis='0 1 0'/>
        <inertial pos='0 0 -1' mass='1' diaginertia='1 1 1'/></body></worldbody>
        <keyframe><key name='home' qpos='0.4' qvel='2'/></keyframe></mujoco>"""
    assert lw.Model.from_string(text, "mjcf").start()[0] == [0]
    q, v = lw.Model.from_string(text, "mjcf", keyframe="home").start()
    assert q == [0.4] and v == [2]
    with pytest.raises(lw.Error, match="did you mean 'home'"):
        lw.Model.from_string(text, "mjcf", keyframe="hom")


def test_a_model_does_not_change(crane):
    for name, value in (("bodies", ()), ("nq", 0), ("colour", "red")):
        with pytest.raises(AttributeError, match=name):
            setattr(crane, name, value)
    with pytest.raises(AttributeError, match="nv"):
        del crane.nv
    with pytest.raises(AttributeError):
        crane.joints[0].name = "other"


def test_assembly_near_coordinates_and_from_other_starts():
    leg = lw.load(MODELS.parent.parent / "tests" / "models" / "jansen_leg.urdf", open=True)
    with pytest.raises(lw.ModelError, match="1 start was tried; open are: joint 'B' by 0.0"):
        leg.assemble(starts=1)
    made = leg.assemble()
    assert made.starts == 2 and made.after[0] < 1e-12
    crank = made.model.start()[0][made.model.joint("M").tree_q][0]
    near = leg.assemble(near={"M": crank + 0.05})
    assert near.changed < 1e-9
    assert abs(near.model.start()[0][near.model.joint("M").tree_q][0] - crank - 0.05) < 1e-9
    with pytest.raises(lw.ArgumentError, match="joint 'M' has 1 coordinate.s., 2 are given"):
        leg.assemble(near={"M": [1, 2]})
    with pytest.raises(lw.UnknownNameError, match="Z"):
        leg.assemble(near={"Z": 1.0})
