"""MuJoCo's models, from files and from memory, against MuJoCo's own matrices (skipped where it is not installed)."""
import sys
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw

sys.path.insert(0, str(Path(__file__).parents[3] / "bench" / "peers"))
mujoco = pytest.importorskip("mujoco", reason="the package mujoco is not installed: lw.from_mujoco is not tested")
import mujoco_models  # noqa: E402  needs mujoco

# Every kind of joint with what acts on it; the cubic laws need MuJoCo 3.7.
TREE = """<mujoco>
  <compiler angle="radian"/>
  <option gravity="1 -2 -9"/>
  <default>
    <position kp="20" kv="1"/>
    <default class="strong"><motor gear="3"/><joint armature=".2" damping=".4" frictionloss=".1"/></default>
  </default>
  <worldbody>
    <body name="base" pos=".1 .2 1" quat=".8 .6 0 0" gravcomp=".3">
      <joint name="float" type="free" damping=".7" armature=".3" stiffness="5" frictionloss=".2"/>
      <inertial pos=".1 .05 0" mass="3" fullinertia=".1 .2 .15 .01 .02 .03"/>
      <site name="jet" pos=".2 0 .1" euler="1 .5 .2"/>
      <body name="upper" pos=".3 0 0" euler=".2 .3 .4">
        <joint name="turn" axis="1 2 3" pos="0 .1 0" ref=".4" springref=".2" stiffness="3" damping=".2" class="strong"
          actuatorfrcrange="-9 6"/>
        <joint name="push" type="slide" axis="0 1 1" ref="-.1" stiffness="9" actuatorfrcrange="-4 7"/>
        <inertial pos="0 .1 .2" mass="1" diaginertia=".02 .03 .01" euler=".1 .2 .3"/>
        <body name="lower" pos="0 0 .4" gravcomp="1.2">
          <joint name="ball" type="ball" stiffness="2" damping=".1" frictionloss=".05"/>
          <inertial pos=".05 0 .1" mass=".5" diaginertia=".01 .01 .005"/>
          <body name="tip" pos="0 0 .2"><joint name="bend" axis="0 -1 0" range="-2 2" damping=".2"/>
            <geom type="capsule" size=".02" fromto="0 0 0 .1 0 .2"/><site name="end" pos="0 0 .2"/></body>
        </body>
      </body>
    </body>
    <body name="door" pos="2 0 0"><joint name="hinge" axis="0 .2 -1" class="strong"/><geom type="box" size=".3 .02 .5"/>
      <body pos=".6 0 0"><joint axis="0 0 1"/><geom type="box" size=".3 .02 .5"/></body></body>
  </worldbody>
  <tendon><fixed name="cord" stiffness="4" damping=".3"><joint joint="bend" coef=".7"/><joint joint="turn" coef="-2"/></fixed></tendon>
  <actuator>
    <motor name="m" joint="hinge" class="strong" ctrlrange="-2 1"/>
    <motor name="plain" joint="bend"/>
    <position name="p" joint="turn" gear="2" ctrlrange="-1 1" forcerange="-15 20"/>
    <position name="ratio" joint="hinge" kp="30" dampratio=".6"/>
    <position name="limited" joint="push" kp="50" gear="-1.5"/>
    <velocity name="v" joint="bend" kv=".5"/>
    <damper name="d" joint="bend" kv=".3" ctrlrange="0 2"/>
    <general name="affine" joint="turn" gaintype="affine" gainprm="1 .5 .2" biastype="affine" biasprm=".3 -.7 -.1"/>
    <general name="pull" tendon="cord" gainprm="8" biastype="affine" biasprm="0 -8 -.5" forcerange="-6 6"/>
    <motor name="thrust" site="jet" gear="1 2 3 .1 .2 .3"/>
  </actuator>
</mujoco>"""
LAWS = """<mujoco><worldbody><body><joint name="it's" type="slide" axis="1 0 0" stiffness="3 2 1" damping=".1 .2 .3"
    springref=".5"/><geom size=".1"/></body></worldbody></mujoco>"""
# Loops by connects, a weld with relpose and anchor, sites, a polynomial, a held joint.
LOOPS = """<mujoco>
  <compiler angle="radian"/>
  <default><geom type="capsule" size=".03" mass="1"/></default>
  <worldbody>
    <body name="a"><joint name="a" axis="0 1 0" pos="0 0 0"/><geom fromto="0 0 0 0 0 1"/>
      <body name="b" pos="0 0 1"><joint name="b" axis="0 1 0"/><geom fromto="0 0 0 1 0 0"/></body></body>
    <body name="c" pos="1 0 0"><joint name="c" axis="0 1 0"/><geom fromto="0 0 0 0 0 1"/></body>
    <body name="d" pos="3 0 0"><joint name="d" axis="1 0 0" ref=".3"/><geom fromto="0 0 0 0 1 0"/></body>
    <body name="e" pos="4 0 0"><joint name="e" type="slide" axis="1 0 0"/><geom fromto="0 0 0 0 1 0"/></body>
    <body name="f" pos="5 0 0"><joint name="f" axis="1 1 0"/><geom fromto="0 0 0 0 1 0"/></body>
    <body name="g" pos="5 0 2" quat=".8 0 .6 0"><freejoint/><geom fromto="0 0 0 .2 1 0"/>
      <site name="g" pos=".1 .2 .3" euler=".1 .2 .3"/></body>
    <body name="h" pos="5 1 2" euler=".3 .2 .1"><joint name="h" axis="1 0 1"/><geom fromto="0 0 0 0 1 .3"/></body>
  </worldbody>
  <equality>
    <connect body1="b" body2="c" anchor="1 0 0"/>
    <joint joint1="e" joint2="d" polycoef="0 .4 .3 -.2 .1"/>
    <joint joint1="f" polycoef="0 0 0 0 0"/>
    <weld body1="h" body2="g" anchor=".1 .2 .3"/>
  </equality>
</mujoco>"""
BOUND = 1e-12


def by_both(text, tmp_path):
    path = tmp_path / "model.xml"
    path.write_text(text)
    for by, model in (("file", lw.load(path)), ("live", lw.from_mujoco(mujoco.MjModel.from_xml_string(text)))):
        yield by, mujoco.MjModel.from_xml_string(text), model


@pytest.mark.parametrize("text", [TREE, LAWS, LOOPS], ids=["tree", "laws", "loops"])
def test_matrices_and_forces_are_those_of_mujoco(text, tmp_path):
    if text is LAWS and not hasattr(mujoco.MjModel.from_xml_string("<mujoco/>"), "jnt_stiffnesspoly"):
        pytest.skip("this MuJoCo has no polynomial laws")
    for by, m, model in by_both(text, tmp_path):
        worst = mujoco_models.compare(m, model, 30)
        print(by, {k: f"{x:.1e}" for k, x in worst.items()})
        assert worst.keys() >= ({"M", "h", "loop"} if text is LOOPS else {"M", "h", "vdot"})
        for what, x in worst.items():
            assert x < (1e-9 if what == "loop" else BOUND), (by, what)


# Gravity compensation by the actuators: within the range of the joint, not at all without actuators.
COMPENSATED = """<mujoco>
  <compiler angle="radian"/>
  <option gravity="1 -2 -9"/>
  <worldbody>
    <body name="a" gravcomp="1.1"><joint name="it's" axis="1 2 .5" pos=".1 0 .2" actuatorgravcomp="true" actuatorfrcrange="-6 5"/>
      <geom size=".1" pos=".2 .3 .1" mass="1"/><site name="it's_anchor"/>
      <body name="b" pos=".4 0 0" gravcomp=".5">
        <joint name="slide" type="slide" axis="0 1 3" actuatorgravcomp="true" actuatorfrcrange="-4 4"/>
        <geom size=".1" pos="0 .3 .1" mass="2"/>
        <body pos="0 .4 0" gravcomp="1"><joint name="free" axis="0 1 0" actuatorgravcomp="true" actuatorfrcrange="-3 9"/>
          <joint name="passive" axis="0 0 1" pos=".1 0 0"/><geom size=".1" pos=".3 .2 0" mass=".7"/></body></body></body>
  </worldbody>
  <actuator><position joint="it's" kp="9"/><motor joint="slide" gear="2"/><motor joint="free"/></actuator>
</mujoco>"""


@pytest.mark.parametrize("acts", [True, False])
def test_gravity_compensation_counts_as_effort(acts, tmp_path):
    text = COMPENSATED if acts else COMPENSATED[:COMPENSATED.index("<actuator>")] + "</mujoco>"
    for by, m, model in by_both(text, tmp_path):
        assert "it's_anchor" in model.markers and not any("limited effort" in w for w in model.warnings)
        worst = mujoco_models.compare(m, model, 30)
        assert max(worst.values()) < BOUND, (by, worst)


def test_gravity_compensation_of_balls_is_reported(tmp_path):
    text = COMPENSATED[:COMPENSATED.index("<actuator>")].replace('name="free" axis="0 1 0"', 'name="free" type="ball"')
    text = text.replace('<joint name="passive" axis="0 0 1" pos=".1 0 0"/>', "") + "</mujoco>"
    for _, _, model in by_both(text, tmp_path):
        (warning,) = [w for w in model.warnings if "limited effort" in w]
        assert warning.endswith("gravity compensation is not part of the limited effort, joints (1): free"
                                if "(" in warning else "joints: free")


def test_names_and_inputs_are_those_of_mujoco(tmp_path):
    for _, m, model in by_both(TREE, tmp_path):
        assert model.inputs == tuple(m.actuator(i).name for i in range(m.nu))
        assert {"base", "upper", "lower", "tip", "door"} <= {b.name for b in model.bodies}
        assert {"float", "turn", "push", "ball", "bend", "hinge"} <= {j.name for j in model.joints}
        assert model.markers == ("jet", "end")


def test_welds_place_the_anchor(tmp_path):
    """relpose: its point in body 1 is the anchor in body 2; the assembled model satisfies MuJoCo's equality."""
    text = LOOPS.replace('anchor=".1 .2 .3"/>', 'anchor=".1 .2 .3" relpose=".2 .9 .1 .9 .1 .2 .3"/>')
    path = tmp_path / "model.xml"
    path.write_text(text)
    m = mujoco.MjModel.from_xml_string(text)
    for model in (lw.load(path, open=True), lw.from_mujoco(m, open=True)):
        model = model.assemble().model
        q, _ = model.start()
        d = mujoco.MjData(m)
        joints = [j for j in model.joints if j.type in ("revolute", "prismatic", "free") and not j.closes_loop]
        for k, j in enumerate(joints[:m.njnt]):
            a, n = int(m.jnt_qposadr[k]), j.tree_q.stop - j.tree_q.start
            if n:
                d.qpos[a:a + n] = q[j.tree_q]
        mujoco.mj_forward(m, d)
        rows = d.efc_type[:d.nefc] == int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)
        assert rows.any()
        assert np.max(np.abs(d.efc_pos[:d.nefc][rows])) < 1e-9


def test_specifications_are_compiled(tmp_path):
    """<replicate>, <attach> and meshes, which files of a reader do not have, come from a specification."""
    spec = mujoco.MjSpec.from_string("""<mujoco>
      <asset><mesh name="wedge" vertex="0 0 0 .2 0 0 0 .3 0 0 0 .4"/></asset>
      <worldbody><replicate count="3" offset=".5 0 0"><body name="flap"><joint axis="0 1 0"/>
        <geom type="mesh" mesh="wedge"/></body></replicate></worldbody></mujoco>""")
    child = mujoco.MjSpec.from_string(
        '<mujoco><worldbody><body name="arm"><joint name="j"/><geom size=".1" pos="0 0 1"/></body></worldbody></mujoco>')
    spec.worldbody.add_frame(pos=[0, 2, 0]).attach_body(child.body("arm"), "left-", "")
    model = lw.from_mujoco(spec)
    assert {"left-arm"} < {b.name for b in model.bodies} and "left-j" in {j.name for j in model.joints}
    m = spec.compile()
    assert m.nv == model.tree_nv == 4
    worst = mujoco_models.compare(m, model, 20)
    assert max(worst.values()) < BOUND, worst
    masses = [model.body(m.body(i).name).mass for i in range(1, m.nbody)]
    assert np.allclose(masses, m.body_mass[1:], rtol=1e-15, atol=0)


def test_composites_are_compiled():
    text = """<mujoco><worldbody><body pos="0 0 1">
      <composite prefix="c" type="cable" curve="s" count="6 1 1" size="1" initial="none">
        <joint kind="main" damping=".01"/><geom type="capsule" size=".01" mass=".1"/></composite>
      </body></worldbody></mujoco>"""
    try:
        spec = mujoco.MjSpec.from_string(text)
    except ValueError as error:
        pytest.skip(f"MuJoCo {mujoco.__version__} has no <composite>: {error}")
    model, m = lw.from_mujoco(spec), spec.compile()
    worst = mujoco_models.compare(m, model, 10)
    assert m.nv == model.tree_nv and max(worst.values()) < BOUND, worst


def test_the_start_is_a_keyframe_or_a_state():
    text = TREE.replace("</mujoco>", "<keyframe><key name='up' qpos='1 2 3 .6 .8 0 0 .1 .2 0 1 0 0 .3 .4 .5' "
                        "qvel='1 2 3 4 5 6 7 8 9 1 2 3 4 5'/></keyframe></mujoco>")
    m = mujoco.MjModel.from_xml_string(text)
    d = mujoco.MjData(m)
    mujoco.mj_resetDataKeyframe(m, d, 0)
    mujoco.mj_forward(m, d)
    for model in (lw.from_mujoco(m, keyframe="up"), lw.from_mujoco(m, keyframe=0),
                  lw.from_mujoco(m, qpos=d.qpos, qvel=d.qvel)):
        seen = lw.simulate(model, duration=1e-9)
        for i in range(1, m.nbody):
            name = m.body(i).name
            if name:
                assert np.allclose(seen.body(name).position[0], d.xipos[i], atol=1e-12), name
        pair = mujoco_models.Pair(m, model)
        q, v, _, _ = pair.set(d.qpos, d.qvel)
        assert np.allclose(model.start()[0], q, atol=1e-15) and np.allclose(model.start()[1], v, atol=1e-14)


def test_what_is_ignored_is_listed():
    text = TREE.replace("<position name=\"p\"", "<muscle name='thigh' joint='bend'/><position name=\"p\"")
    text = text.replace("<tendon>", "<tendon><spatial name='rope' limited='true' range='0 1'><site site='jet'/><site site='end'/></spatial>")
    model = lw.from_mujoco(mujoco.MjModel.from_xml_string(text))
    listed = "\n".join(model.warnings)
    for what in ("not affine: thigh", "limits are not enforced, tendons: rope", "limits are not enforced, joints: bend", "contacts between 3 geoms"):
        assert what in listed, listed
    assert "thigh" not in model.inputs


@pytest.mark.parametrize("limits", ["auto", (300.0, 2.0)])
def test_limits_of_tendons_become_stops(limits, tmp_path):
    """Of fixed and spatial tendons, the same from file and memory: MuJoCo's inertia along them is that of the reader."""
    text = TREE.replace('name="cord"', 'name="cord" limited="true" range="-.1 .1"')
    text = text.replace("<tendon>", """<tendon><spatial name="rope" limited="true" range=".1 .2"><site site="jet"/><site site="end"/>
        </spatial>""").replace("<actuator>", "<actuator><motor name='one' joint='bend'/>")
    path = tmp_path / "model.xml"
    path.write_text(text)
    m, open_tendons = mujoco.MjModel.from_xml_string(text), text.replace('limited="true"', 'limited="false"')
    models = [lw.load(path, limits=limits), lw.from_mujoco(m, limits=limits)]
    pairs, rng = [mujoco_models.Pair(m, model) for model in models], np.random.default_rng(3)
    for _ in range(5):
        qpos, qvel = pairs[0].random(rng)
        h = []
        for pair in pairs:
            q, v, _, _ = pair.set(qpos, qvel)
            h.append(pair.data.bias(q, v))
        without = lw.Data(lw.from_mujoco(mujoco.MjModel.from_xml_string(open_tendons), limits=limits)).bias(q, v)
        assert np.max(np.abs(h[0] - h[1])) < 1e-9 * np.max(np.abs(h[1]))
        assert np.max(np.abs(h[1] - without)) > 1


def test_limits_become_stops(tmp_path):
    """By the articulated inertia: of the outer joint that of the tip about its axis."""
    text = """<mujoco><worldbody><body name="a"><joint name="a" axis="0 1 0" range="-30 40"/>
      <inertial pos="0 0 1" mass="2" diaginertia=".1 .2 .3"/>
      <body name="b" pos="0 0 1"><joint name="b" axis="0 1 0" range="-10 20" armature=".5"/>
      <inertial pos="0 0 2" mass="3" diaginertia=".1 .4 .3"/></body></body></worldbody></mujoco>"""
    path, T = tmp_path / "model.xml", 0.05
    path.write_text(text)
    outer, inner = 0.4 + 3 * 4 + 0.5, 0.2 + 2 + 0.4 + 3 * 9
    coupling = 0.4 + 3 * 2 * 3
    inner -= coupling ** 2 / outer
    for model in (lw.load(path, limits=f"auto,{T}"), lw.from_mujoco(mujoco.MjModel.from_xml_string(text), limits=f"auto,{T}")):
        text_of = model.to_yaml()
        found = {}
        for line in text_of.splitlines():
            if "stiffness:" in line:
                found[len(found)] = [float(x.split(":")[1].strip(" },")) for x in line.split("{")[-1].split(",")]
        stiffness = [found[k][2] for k in found]
        damping = [found[k][3] for k in found]
        assert np.allclose(stiffness, [inner / T ** 2, outer / T ** 2], rtol=1e-12)
        assert np.allclose(damping, [2 * inner / T, 2 * outer / T], rtol=1e-12)
        assert any("time constant of 0.05 s" in w and "a, b" in w for w in model.warnings), model.warnings


def test_mistakes_are_named():
    m = mujoco.MjModel.from_xml_string(LAWS)
    for call, words in (
            (lambda: lw.from_mujoco("robot.xml"), "expected a mujoco.MjModel or mujoco.MjSpec"),
            (lambda: lw.from_mujoco(m, keyframe="up"), "keyframe 'up'"),
            (lambda: lw.from_mujoco(m, qpos=[1, 2]), "qpos has shape"),
            (lambda: lw.from_mujoco(m, limits="soft"), "limits: 'soft'"),
            (lambda: lw.from_mujoco(mujoco.MjModel.from_xml_string("<mujoco/>")), "no bodies"),
            (lambda: lw.from_mujoco(mujoco.MjSpec.from_string(
                "<mujoco><worldbody><body><joint/></body></worldbody></mujoco>")), "does not compile")):
        with pytest.raises(lw.ArgumentError, match=words):
            call()


def test_inertias_of_meshes_are_the_integrals(tmp_path):
    """In long double, of bodies of STL meshes; MuJoCo's are rounded by its search for principal axes."""
    pytest.importorskip("yaml", reason="the package yaml is not installed: inertias of meshes are not compared")
    pytest.importorskip("scipy", reason="the package scipy is not installed: inertias of meshes are not compared")
    import mesh_inertia
    corners = np.array([[0, 0, 0], [3, .2, .1], [.3, 2, -.2], [-.2, .3, 1]], "<f4")
    faces = corners[np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])].reshape(4, 9)
    records = b"".join(bytes(12) + face.tobytes() + bytes(2) for face in faces)
    (tmp_path / "wedge.stl").write_bytes(bytes(80) + np.uint32(4).tobytes() + records)
    fills = ("legacy", "exact", "convex", "shell")
    meshes = "".join(f'<mesh name="{f}" file="wedge.stl" inertia="{f}" scale=".1 .2 {"-" * (f != "shell")}.3"/>' for f in fills)
    bodies = "".join(f'<body name="{f}"><freejoint/><geom type="mesh" mesh="{f}" pos=".1 .2 .3" euler="20 30 40"/>'
                     f'<geom type="mesh" mesh="legacy" mass=".7" euler="50 0 10"/></body>' for f in fills)
    path = tmp_path / "model.xml"
    path.write_text(f"<mujoco><asset>{meshes}</asset><worldbody>{bodies}</worldbody></mujoco>")
    bodies, computed, worst = mesh_inertia.compare(str(path))
    print(worst)
    assert bodies == computed == 4
    assert worst["ours"] < 1e-14 and worst["tensor"] < 1e-6 and worst["mass"] < 1e-14
