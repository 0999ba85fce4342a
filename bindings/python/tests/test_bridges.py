"""JAX and PyTorch: accelerations, steps and rollouts with their gradients, against differences; batches; closed loops."""
import importlib

import numpy as np
import pytest

import linkwork as lw

from conftest import MODELS

# A hinge, a ball joint and a body that floats.
MIXED = """
linkwork: 1
bodies:
  arm: {mass: 2, inertia: [0.1, 0.2, 0.15, 0.01, 0, 0], position: [0.4, 0, 0]}
  ball: {mass: 1, inertia: [0.05, 0.02, 0.04, 0, 0, 0.003], position: [0.9, 0.1, 0]}
  drone: {mass: 1.5, inertia: [0.03, 0.05, 0.07, 0, 0, 0], position: [0, 0, 3], com: [0.1, 0, 0]}
joints:
  A: {type: revolute, between: [ground, arm], at: [0, 0, 0], axis: [0, 1, 0], spring: {q0: {stiffness: 5, damping: 0.2}}}
  B: {type: spherical, between: [arm, ball], at: [0.8, 0, 0]}
"""


class Jax:
    def __init__(self):
        jax = pytest.importorskip("jax", reason="SKIPPED: the bridge to JAX is NOT tested: jax is missing")
        jax.config.update("jax_enable_x64", True)
        self.jax, self.bridge = jax, importlib.import_module("linkwork.jax")

    @staticmethod
    def array(x):
        return np.asarray(x)

    def compiled(self, f):
        return self.jax.jit(f)

    def gradient(self, f, *x):
        return [np.asarray(g) for g in self.jax.jit(self.jax.grad(f, argnums=tuple(range(len(x)))))(*x)]


class Torch:
    def __init__(self):
        self.torch = pytest.importorskip("torch", reason="SKIPPED: the bridge to PyTorch is NOT tested: torch is missing")
        self.bridge = importlib.import_module("linkwork.torch")

    def array(self, x):
        return self.torch.tensor(np.asarray(x))

    @staticmethod
    def compiled(f):
        return f

    def gradient(self, f, *x):
        given = [self.array(a).requires_grad_() for a in x]
        f(*given).backward()
        return [a.grad.numpy() for a in given]


@pytest.fixture(params=[Jax, Torch])
def kind(request):
    return request.param()


@pytest.fixture
def mixed():
    return lw.Model.from_string(MIXED, format="yaml")


def state(model, seed=3):
    rng = np.random.default_rng(seed)
    return model.random(rng), rng.normal(size=model.tree_nv), rng.normal(size=model.tree_nv)


def differences(f, x, directions, h=1e-5):
    """Of order four, along directions of x; `directions` have a size of 1."""
    def at(k):
        return np.array([f(x + k * h * d) for d in directions])
    return (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * h)


def test_forward_dynamics(kind, mixed):
    q, v, tau = state(mixed)
    f = kind.bridge.forward_dynamics(mixed)
    data, weights = lw.Data(mixed), np.arange(1.0, mixed.tree_nv + 1)
    assert np.array_equal(np.asarray(f(*map(kind.array, (q, v, tau)))), data.forward_dynamics(q, v, tau))
    bar = kind.gradient(lambda *x: (f(*x) * kind.array(weights)).sum(), q, v, tau)
    assert bar[0].shape == (mixed.tree_nq,)
    moved = [lambda e, k=k: data.forward_dynamics(mixed.integrate(q, e * np.eye(mixed.tree_nv)[k]), v, tau) @ weights
             for k in range(mixed.tree_nv)]
    tangent = [differences(lambda e: mixed.integrate(q, float(e[0]) * np.eye(mixed.tree_nv)[k]), np.zeros(1), np.ones((1, 1)))[0]
               for k in range(mixed.tree_nv)]
    for k in range(mixed.tree_nv):
        expected = differences(lambda e: moved[k](float(e[0])), np.zeros(1), np.ones((1, 1)))[0]
        assert np.isclose(bar[0] @ tangent[k], expected, rtol=1e-7, atol=1e-6)
    one = np.eye(mixed.tree_nv)
    assert np.allclose(bar[1], differences(lambda x: data.forward_dynamics(q, x, tau) @ weights, v, one), rtol=1e-7, atol=1e-6)
    assert np.allclose(bar[2], differences(lambda x: data.forward_dynamics(q, v, x) @ weights, tau, one), rtol=1e-7, atol=1e-6)


def test_batches(kind, mixed):
    """A batch has the numbers of its states; what is broadcast gets the sum of their gradients."""
    f = kind.bridge.forward_dynamics(mixed)
    states = [state(mixed, seed) for seed in range(3)]
    q, v, tau = (np.stack(x) for x in zip(*states))
    many = np.asarray(f(*map(kind.array, (q, v, tau))))
    assert many.shape == (3, mixed.tree_nv)
    assert all(np.array_equal(many[i], lw.Data(mixed).forward_dynamics(*s)) for i, s in enumerate(states))
    single = [kind.gradient(lambda *x: f(*x).sum(), s[0], s[1], states[0][2])[2] for s in states]
    shared = kind.gradient(lambda *x: f(*x).sum(), q, v, states[0][2])[2]
    assert np.allclose(shared, sum(single), rtol=1e-12)


def test_rollout(kind, mixed):
    """As simulated; the gradient of the end by all efforts and by the start."""
    q, v, _ = state(mixed)
    steps, h = 3, 0.01
    tau = np.random.default_rng(1).normal(size=(steps, mixed.tree_nv))
    roll = kind.bridge.rollout(mixed, h)
    ends = [np.asarray(x)[-1] for x in roll(*map(kind.array, (q, v, tau)))]
    one = kind.compiled(kind.bridge.step(mixed, h))
    x = kind.array(q), kind.array(v)
    for effort in tau:
        x = one(*x, kind.array(effort))
    assert all(np.allclose(np.asarray(a), b, rtol=1e-13, atol=1e-13) for a, b in zip(x, ends))

    def cost(q, v, tau):
        a, b = roll(q, v, tau)
        return (a[-1] ** 2).sum() + (b[-1] * a[-1][0]).sum()

    bar = kind.gradient(cost, q, v, tau)

    compiled = kind.compiled(cost)

    def value(q, v, tau):
        return float(compiled(*map(kind.array, (q, v, tau))))

    for i in (0, steps - 1):
        for k in (0, 2, mixed.tree_nv - 1):
            direction = np.zeros_like(tau)
            direction[i, k] = 1
            assert np.isclose(bar[2][i, k], differences(lambda x: value(q, v, x), tau, [direction], 1e-3)[0], rtol=1e-6, atol=1e-9)
    k = np.eye(mixed.tree_nv)[3]
    assert np.isclose(bar[1][3], differences(lambda x: value(q, x, tau), v, [k], 1e-3)[0], rtol=1e-7)
    turned = differences(lambda e: mixed.integrate(q, float(e[0]) * k), np.zeros(1), np.ones((1, 1)))[0]
    expected = differences(lambda e: value(mixed.integrate(q, float(e[0]) * k), v, tau), np.zeros(1), np.ones((1, 1)), 1e-3)[0]
    assert np.isclose(bar[0] @ turned, expected, rtol=1e-6, atol=1e-8)


def test_it_is_the_motion(kind, mixed):
    """A rollout without efforts is a run by rk4 with this step."""
    q, v = mixed.start()
    ends = [np.asarray(x)[-1] for x in kind.bridge.rollout(mixed, 0.01)(*map(kind.array, (q, v, np.zeros((10, len(v))))))]
    sim = lw.Simulation(mixed, rtol=1e-12, atol=1e-12)
    sim.step(0.1)
    assert all(np.allclose(a, b, atol=1e-7) for a, b in zip(ends, sim.tree()))


def test_closed_loop(kind):
    """Along the motions that the loop admits."""
    model = lw.load(MODELS / "four_bar.yaml")
    q, v = model.start()
    tau = np.zeros(model.tree_nv)
    f, data = kind.bridge.forward_dynamics(model), lw.Data(model)
    bar = kind.gradient(lambda *x: f(*x)[0], q, v, tau)
    J = data.constraint_jacobian(q)
    _, s, rows = np.linalg.svd(J)
    free = rows[(s > 1e-9).sum():][0]

    def along(e):
        moved = q + e * free
        for _ in range(6):
            moved = moved - np.linalg.pinv(data.constraint_jacobian(moved), rcond=1e-9) @ data.constraints(moved).phi
        return data.forward_dynamics(moved, v, tau)[0]

    expected = differences(lambda e: along(float(e[0])), np.zeros(1), np.ones((1, 1)), 1e-4)[0]
    assert np.isclose(bar[0] @ free, expected, rtol=1e-5)


def test_refusals(kind, mixed):
    q, v, tau = map(kind.array, state(mixed))
    with pytest.raises(ValueError, match="tau"):
        kind.bridge.forward_dynamics(mixed)(q, v, tau[:3])
    driven = lw.Model.from_string(MIXED.replace("linkwork: 1", "linkwork: 1\ninputs: [push]").replace(
        "axis: [0, 1, 0],", "axis: [0, 1, 0], effort: {q0: push},"), format="yaml")
    with pytest.raises(lw.UnsupportedError, match="push"):
        kind.bridge.forward_dynamics(driven)


def test_jax_with_32_bits(mixed):
    jax = pytest.importorskip("jax")
    bridge = importlib.import_module("linkwork.jax")
    jax.config.update("jax_enable_x64", False)
    try:
        with pytest.raises(lw.UnsupportedError, match="jax_enable_x64"):
            bridge.forward_dynamics(mixed)
    finally:
        jax.config.update("jax_enable_x64", True)


def test_jax_vmap(mixed):
    kind = Jax()
    f = kind.bridge.forward_dynamics(mixed)
    q, v, tau = (np.stack(x) for x in zip(*(state(mixed, seed) for seed in range(4))))
    assert np.array_equal(np.asarray(kind.jax.vmap(f)(q, v, tau)), np.asarray(f(q, v, tau)))
    gradients = kind.jax.jit(kind.jax.vmap(kind.jax.grad(lambda q, v, tau: f(q, v, tau).sum())))(q, v, tau)
    assert np.allclose(gradients[2], kind.gradient(lambda *x: f(*x).sum(), q[2], v[2], tau[2])[0], rtol=1e-12)
