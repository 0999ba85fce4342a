"""Dynamics at a state: forward, inverse, mass matrix, momenta, constraints, configurations."""
import warnings

import numpy as np
import pytest
from conftest import GOLDEN, MODELS

import linkwork as lw


@pytest.fixture(params=["ur5.urdf", "anymal_c.urdf", "P8"])
def robot(request):
    if request.param == "P8":
        return lw.load(GOLDEN / "P8_mixed_joint_arm.yaml")
    return lw.load(MODELS / request.param, base="floating")


def test_forward_and_inverse_agree(robot):
    rng = np.random.default_rng(3)
    data, n = lw.Data(robot), robot.tree_nv
    q, v, a = robot.random(rng), rng.normal(size=n), rng.normal(size=n)
    tau = data.inverse_dynamics(q, v, a)
    assert np.allclose(data.forward_dynamics(q, v, tau), a, atol=1e-8)
    M = data.mass_matrix(q)
    assert np.allclose(M, M.T) and np.all(np.linalg.eigvalsh(M) > 0)
    scale = np.max(np.abs(tau))
    assert np.allclose(tau - data.inverse_dynamics(q, v, np.zeros(n)), M @ a, atol=1e-12 * scale)
    p = data.momenta(q, v)
    assert np.allclose(p, M @ v, atol=1e-12 * np.max(np.abs(p)))
    back, qdot, pdot = data.momenta_rates(q, p)
    assert np.allclose(back, v, atol=1e-9) and qdot.shape == q.shape and pdot.shape == p.shape
    h = 1e-6  # qdot is the derivative of integrate
    step = (robot.integrate(q, h * v) - robot.integrate(q, -h * v)) / (2 * h)
    assert np.allclose(qdot, step, atol=1e-7)


def test_rows_are_the_states_one_by_one(robot):
    rng = np.random.default_rng(4)
    data, n, count = lw.Data(robot), robot.tree_nv, 13
    q = np.array([robot.random(rng) for _ in range(count)])
    v, tau = rng.normal(size=(2, count, n))
    out = np.empty((count, n))
    vdot = data.forward_dynamics(q, v, tau, out=out)
    assert vdot is out
    for i in range(count):
        assert np.array_equal(vdot[i], data.forward_dynamics(q[i], v[i], tau[i]))
    assert np.allclose(data.inverse_dynamics(q, v, vdot), tau, atol=1e-8)
    assert data.mass_matrix(q).shape == (count, n, n)
    assert np.array_equal(data.mass_matrix(q)[5], data.mass_matrix(q[5]))
    assert np.array_equal(data.momenta(q, v)[5], data.momenta(q[5], v[5]))
    with pytest.raises(lw.ArgumentError, match="v: expected 13 x"):
        data.forward_dynamics(q, v[:5])
    with pytest.raises(lw.ArgumentError, match="out"):
        data.forward_dynamics(q, v, out=out[:3])
    with pytest.raises(lw.ArgumentError, match="out: expected an array, got list"):
        data.forward_dynamics(q, v, out=out.tolist())


def test_one_state_has_the_bits_of_many(robot):
    """One state of plain arrays is evaluated by workspace.c, everything else by the methods in Python."""
    rng = np.random.default_rng(5)
    data, n = lw.Data(robot), robot.tree_nv
    q, v, a, tau = robot.random(rng), rng.normal(size=n), rng.normal(size=n), rng.normal(size=n)
    calls = {"forward_dynamics": (q, v, tau), "inverse_dynamics": (q, v, a), "momenta": (q, v), "mass_matrix": (q,),
             "inverse_derivatives": (q, v, a), "forward_derivatives": (q, v, tau)}
    for _ in range(2):  # the first call makes the workspace
        for name, given in calls.items():
            one, many = getattr(data, name)(*given), getattr(data, name)(*(x[None] for x in given))
            for x, y in zip(*((r if isinstance(r, tuple) else (r,)) for r in (one, many))):
                assert x.shape == y.shape[1:] and np.array_equal(x, y[0]), name
            assert np.array_equal(np.ravel(getattr(data, name)(*(x.tolist() for x in given))[0]), np.ravel(one[0]))
    assert np.array_equal(data.forward_dynamics(q, v), data.forward_dynamics(q[None], v[None])[0])
    assert np.allclose(data.bias(q, v), data.bias(q.tolist(), v), rtol=1e-12, atol=1e-12)
    out = np.empty(n)
    assert data.inverse_dynamics(q, v, a, out=out) is out and np.array_equal(out, data.inverse_dynamics(q, v, a))
    M = np.empty((n, n))
    assert data.mass_matrix(q, out=M) is M and np.array_equal(M, data.mass_matrix(q))


def test_arrays_that_are_not_plain_are_converted_or_refused(robot):
    rng = np.random.default_rng(6)
    data, n = lw.Data(robot), robot.tree_nv
    q, v, tau = robot.random(rng), rng.normal(size=n), rng.normal(size=n)
    right = data.forward_dynamics(q, v, tau)
    wide = np.zeros((n, 2))
    wide[:, 0] = tau
    big = tau.astype(">f8")
    for same in (wide[:, 0], big, tau.astype(np.longdouble), tau[::-1][::-1]):
        assert np.array_equal(data.forward_dynamics(q, v, same), right)
    assert np.allclose(data.forward_dynamics(q, v, tau.astype(np.float32)), right, rtol=1e-3, atol=1e-2 * abs(right).max())
    locked = np.empty(n)
    locked.flags.writeable = False
    for wrong, message in ((np.ma.masked_array(tau), "mask"), (tau[:-1], f"tau: expected {n}"),
                           (tau + 1j, "complex"), (tau.view(np.int64).astype(bool), "bool")):
        with pytest.raises(lw.ArgumentError, match=message):
            data.forward_dynamics(q, v, wrong)
    for out in (locked, np.empty(n + 1), np.empty(n, np.float32), np.empty(2 * n)[::2]):
        with pytest.raises(lw.ArgumentError, match="out: expected a writeable C array"):
            data.forward_dynamics(q, v, tau, out=out)
    with pytest.raises(lw.Error, match="not a finite number|finite"):
        data.forward_dynamics(q, v * np.nan, tau)
    with pytest.raises(TypeError):
        data.forward_dynamics(q, v, tau, time="noon")


def tree_state(model, o):
    """Tree coordinates, speeds, accelerations of an observation of a model without floating bodies."""
    q, v, a = np.empty(model.tree_nq), np.empty(model.tree_nv), np.empty(model.tree_nv)
    for joint in model.joints:
        q[joint.tree_q], v[joint.tree_v], a[joint.tree_v] = (
            x[:s.stop - s.start] for x, s in ((o.q[joint.q], joint.tree_q), (o.qd[joint.v], joint.tree_v),
                                              (o.qdd[joint.v], joint.tree_v)))
    return q, v, a


@pytest.mark.parametrize("name", ["P4b_four_bar_regular", "P5_single_loop_4", "P10_spatial_slider_crank"])
def test_constraints_of_loops(name):
    """The motion of another formulation satisfies J and gamma, and only J' holds it back."""
    model = lw.load(GOLDEN / f"{name}.yaml")
    sim = lw.Simulation(model, formulation="dense", rtol=1e-11, atol=1e-11)
    sim.step(0.7)
    q, v, a = tree_state(model, sim.observe())
    data = lw.Data(model)
    c = data.constraints(q, v)
    assert c.J.shape == (len(c.phi), model.tree_nv) and set(c.joints) <= {j.name for j in model.joints}
    assert np.max(np.abs(c.phi)) < 1e-8 and np.max(np.abs(c.rate)) < 1e-8
    assert np.allclose(c.J @ v, c.rate, atol=1e-9)  # nothing is driven
    assert np.max(np.abs(c.J @ a + c.gamma)) < 1e-7
    assert np.array_equal(c.J, data.constraint_jacobian(q))
    r = data.mass_matrix(q) @ a + data.bias(q, v)
    left = r - c.J.T @ np.linalg.lstsq(c.J.T, r, rcond=1e-6)[0]
    assert np.max(np.abs(left)) < 1e-7 * np.max(np.abs(r)) and np.max(np.abs(r)) > 0.1
    assert np.linalg.matrix_rank(c.J, tol=1e-6) == model.tree_nv - model.check().dof
    assert np.allclose(data.forward_dynamics(q, v), a, atol=1e-6 * np.max(np.abs(a)))
    tau = np.arange(1.0, model.tree_nv + 1)
    r = data.mass_matrix(q) @ data.forward_dynamics(q, v, tau) + data.bias(q, v) - tau
    left = r - c.J.T @ np.linalg.lstsq(c.J.T, r, rcond=1e-6)[0]
    assert np.max(np.abs(left)) < 1e-8 * np.max(np.abs(r))
    both = np.stack([q, q])
    assert np.array_equal(data.mass_matrix(both), np.stack([data.mass_matrix(q)] * 2))
    with pytest.raises(lw.UnsupportedError, match="efforts are not unique in loops"):
        data.inverse_dynamics(q, v, a)


def test_derivatives(robot):
    """Against differences along the speeds; M and its inverse; many states; with loops along the constraints."""
    rng = np.random.default_rng(8)
    data, n = lw.Data(robot), robot.tree_nv
    q, v, tau = robot.random(rng), rng.normal(size=n), rng.normal(size=n)
    a, by_q, by_v, by_tau = data.forward_derivatives(q, v, tau)
    assert np.array_equal(a, data.forward_dynamics(q, v, tau))
    h = 1e-4
    for i, e in enumerate(np.eye(n) * h):
        numeric = (data.forward_dynamics(robot.integrate(q, e), v, tau) -
                   data.forward_dynamics(robot.integrate(q, -e), v, tau)) / (2 * h)
        assert np.allclose(by_q[:, i], numeric, rtol=1e-5, atol=1e-5 * np.max(np.abs(by_q)))
        numeric = (data.forward_dynamics(q, v + e, tau) - data.forward_dynamics(q, v - e, tau)) / (2 * h)
        assert np.allclose(by_v[:, i], numeric, rtol=1e-5, atol=1e-5 * np.max(np.abs(by_v)))
    tau_q, tau_v, M = data.inverse_derivatives(q, v, a)
    assert np.allclose(M @ by_q, -tau_q) and np.allclose(M @ by_v, -tau_v) and np.allclose(M @ by_tau, np.eye(n))
    both = data.forward_derivatives(np.stack([q, q]), np.stack([v, v]), np.stack([tau, tau]))
    assert np.array_equal(both[1][1], by_q) and both[3].shape == (2, n, n)
    loop = lw.load(GOLDEN / "P4b_four_bar_regular.yaml")
    data, (q, v) = lw.Data(loop), loop.start()
    a, by_q, by_v, by_tau = data.forward_derivatives(q, v)
    J = data.constraints(q, v).J
    assert np.allclose(J @ by_tau, 0, atol=1e-12) and np.allclose(by_tau, by_tau.T)
    assert np.linalg.matrix_rank(by_tau, tol=1e-9) == loop.check().dof
    tau = rng.normal(size=loop.tree_nv)
    assert np.allclose(data.forward_dynamics(q, v, tau), a + by_tau @ tau)


def wheel_and_pinion():
    b = lw.Builder()
    for name, x in (("wheel", 0), ("pinion", 1)):
        b.body(name, 1, [0.1, 0.1, 0.2, 0, 0, 0], position=[x, 0, 0])
        b.joint(f"{name}_axle", "revolute", ["ground", name], at=[x, 0, 0], axis=[0, 0, 1])
    b.coupling("pinion_axle", "q0", "wheel_axle", "q0", [0, -3])
    return b.build()


def test_gears_are_constraints():
    data = lw.Data(wheel_and_pinion())
    c = data.constraints([0.1, -0.3], [1, -3])
    assert c.joints == ("pinion_axle",) and np.allclose(c.phi, 0) and np.allclose(c.rate, 0)
    assert np.allclose(c.J / c.J[0, 1], [[3, 1]]) and np.allclose(data.mass_matrix([0, 0]), np.eye(2) * 0.2)
    with pytest.raises(lw.UnsupportedError):
        data.inverse_dynamics([0, 0], [0, 0], [0, 0])


def test_configurations(robot):
    rng = np.random.default_rng(5)
    q0, q1, v = robot.random(rng), robot.random(rng), rng.normal(size=robot.tree_nv)
    assert np.allclose(robot.difference(q0, robot.integrate(q0, 0.5 * v)), 0.5 * v)
    reached = robot.integrate(q0, robot.difference(q0, q1))
    assert np.allclose(robot.difference(reached, q1), 0, atol=1e-9)
    data = lw.Data(robot)
    assert np.allclose(data.mass_matrix(reached), data.mass_matrix(q1), atol=1e-9)
    neutral = robot.neutral()
    assert np.array_equal(robot.integrate(neutral, np.zeros(robot.tree_nv)), neutral)
    assert robot.random(7).tolist() == robot.random(7).tolist()
    start, speeds = robot.start()
    assert start.shape == neutral.shape and speeds.shape == v.shape


def test_quaternions():
    rng = np.random.default_rng(1)
    a, b = lw.quaternion.normalize(rng.normal(size=(2, 5, 4)))
    Q = lw.quaternion
    assert np.allclose(Q.to_matrix(Q.multiply(a, b)), Q.to_matrix(a) @ Q.to_matrix(b))
    assert np.allclose(Q.to_matrix(a)[0] @ Q.to_matrix(a)[0].T, np.eye(3))
    assert np.allclose(Q.from_xyzw(Q.to_xyzw(a)), a) and np.allclose(Q.to_xyzw(a)[:, 3], a[:, 0])
    for q in a:
        assert np.allclose(abs(Q.from_matrix(Q.to_matrix(q)) @ q), 1)
        v = Q.to_rotation_vector(q)
        assert np.allclose(Q.to_matrix(Q.from_rotation_vector(v)), Q.to_matrix(q))
        assert np.linalg.norm(v) <= np.pi + 1e-12
    assert np.allclose(Q.rotate(Q.from_axis_angle([0, 0, 2], np.pi / 2), [1, 0, 0]), [0, 1, 0])
    assert np.allclose(Q.multiply(a, Q.conjugate(a)), Q.identity)
    assert np.allclose(Q.to_rotation_vector(Q.from_rotation_vector([1e-9, 0, 0])), [1e-9, 0, 0])


def swung(model, angle):
    """The start's coordinates with the first of them turned: the loops do not hold."""
    q = model.start()[0]
    q[0] += angle
    return q


def test_coordinates_off_the_loops_are_told_of(four_bar):
    data, (q, v) = lw.Data(four_bar), four_bar.start()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data.forward_dynamics(q, v)
        data.forward_dynamics(swung(four_bar, 1e-6), v)  # a start may be off so much
        data.forward_dynamics(swung(four_bar, 2 * np.pi), v)  # a turn more is the same place
        lw.Data(lw.load(MODELS / "ur5.urdf")).forward_dynamics(np.ones(6), np.ones(6))
    with pytest.warns(lw.OffLoopsWarning, match=r"q is off the loops: joint '[ABCD]' misses by 1e-03 m or rad") as told:
        data.forward_dynamics(swung(four_bar, 3e-3), v)
    assert told[0].filename == __file__  # the caller's line
    many = np.stack([q, q, swung(four_bar, 0.2), q])
    with pytest.warns(lw.OffLoopsWarning):
        data.forward_dynamics(many, np.zeros_like(many))
    with warnings.catch_warnings(record=True) as told:
        warnings.resetwarnings()
        warnings.simplefilter("default")
        for k in range(10):
            data.forward_dynamics(swung(four_bar, 0.2 + 0.001 * k), v)
    assert len(told) == 1  # of one line


def test_turns_of_gears_and_of_cut_drives_are_no_gaps():
    gears = lw.Data(wheel_and_pinion())
    text = (MODELS / "four_bar.yaml").read_text().replace(
        "A: {type: revolute,", "A: {type: revolute, motion: {q0: {type: polynomial, coefficients: [0, 6]}},")
    model = lw.Model.from_string(text, cut="A", rtol=1e-10, atol=1e-10)
    assert model.loops[0][0] == "A"  # its angle is in no coordinate of the tree
    sim = lw.Simulation(model)
    sim.step(2)  # about two turns
    q, v, _ = tree_state(model, sim.observe())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gears.forward_dynamics([100, -300], [1, -3])
        lw.Data(model).forward_dynamics(q, v, time=2)
    with pytest.warns(lw.OffLoopsWarning, match="'pinion_axle'"):
        gears.forward_dynamics([100, -301], [1, -3])


def test_hamiltons_equations_of_loops(four_bar):
    """p = M v and any impulses J' eta in it have the same speeds, whose rates are the accelerations."""
    data, (q, v) = lw.Data(four_bar), four_bar.start()
    rng = np.random.default_rng(5)
    rows, tau = data.constraints(q, v), rng.normal(size=four_bar.tree_nv)
    p = data.mass_matrix(q) @ v + rows.J.T @ rng.normal(size=rows.J.shape[0])
    speeds, qdot, pdot = data.momenta_rates(q, p, tau)
    assert np.allclose(speeds, v, atol=1e-10 * np.max(np.abs(p)))
    h = 1e-5
    after, before = (data.momenta_rates(q + s * qdot, p + s * pdot, tau)[0] for s in (h, -h))
    vdot = data.forward_dynamics(q, v, tau)
    assert np.allclose((after - before) / (2 * h), vdot, atol=1e-6 * np.max(np.abs(vdot)))


def floating_loop():
    """A four-bar that floats: base, crank, coupler, rocker in a parallelogram."""
    rod = {"mass": 1, "inertia": [0.02, 0.1, 0.1, 0, 0, 0]}
    return lw.Model.from_dict({
        "linkwork": 1,
        "bodies": {"base": {**rod, "position": [0.5, 0, 0]}, "crank": {**rod, "position": [0, 0.5, 0]},
                   "coupler": {**rod, "position": [0.6, 1, 0]}, "rocker": {**rod, "position": [1.1, 0.5, 0]}},
        "joints": {"A": {"type": "revolute", "between": ["base", "crank"], "at": [0, 0, 0]},
                   "B": {"type": "revolute", "between": ["crank", "coupler"], "at": [0, 1, 0]},
                   "C": {"type": "revolute", "between": ["coupler", "rocker"], "at": [1.2, 1, 0]},
                   "D": {"type": "revolute", "between": ["base", "rocker"], "at": [1, 0, 0]}}})


@pytest.mark.parametrize("name,base", [("anymal", "base"), ("humanoid", "torso"), ("loop", "base")])
def test_simulations_and_data_take_the_same_vectors(name, base):
    if name == "loop":
        model = floating_loop()
    elif name == "humanoid":
        model = lw.load(MODELS.parent.parent / "tests" / "models" / "humanoid.xml")
    else:
        model = lw.load(MODELS / "anymal_c.urdf", base="floating")
    assert [b.body for b in model.bases] == [model.body(base).moves_with]
    where, speeds = model.bases[0].tree_q, model.bases[0].tree_v
    assert (where, speeds) == (slice(0, 7), slice(0, 6))
    rng = np.random.default_rng(5)
    sim = lw.Simulation(model, rtol=1e-9)
    if name == "loop":  # a state that closes: reached by a motion
        q, v = sim.tree()
        q[where], v[speeds] = model.random(1)[where], 0.3 * rng.normal(size=6)
        sim.set_tree(q, v)
        sim.step(0.3)
        q, v = sim.tree()
        sim = lw.Simulation(model, rtol=1e-9)
    else:
        q, v = model.random(rng), rng.normal(size=model.tree_nv)
    sim.set_tree(q, v, time=0.25)
    assert sim.time == 0.25
    back, rates = sim.tree()
    sign = np.sign(back[3] * q[3])  # of a quaternion
    back[3:7] *= sign
    assert np.allclose(back, q, atol=1e-12) and np.allclose(rates, v, atol=1e-9)
    # the acceleration of the base by the simulation, and from Data at the same vectors
    vdot = lw.Data(model).forward_dynamics(q, v)
    body = model.bodies[[b.name for b in model.bodies].index(model.bases[0].body)]
    moment = sim.observe("acceleration").body(body.name)
    R = lw.quaternion.to_matrix(q[3:7])
    w, u, al = v[3:6], v[:3], vdot[3:6]
    scale = 1e-9 * (1 + np.max(np.abs(vdot)))
    d = np.zeros(3) if model.bases[0].joint is None else np.array(body.com)  # from the base's point
    a = vdot[:3] + np.cross(w, u) + np.cross(al, d) + np.cross(w, np.cross(w, d))
    assert np.allclose(R @ a, moment.acceleration, atol=scale)
    assert np.allclose(al, moment.angular_acceleration, atol=scale) or np.allclose(
        R @ al, moment.angular_acceleration, atol=scale)
