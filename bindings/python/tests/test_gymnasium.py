"""Environments of Gymnasium: a vectorised environment over a batch, with loops."""
import importlib

import numpy as np
import pytest
from conftest import MODELS

import linkwork as lw

gymnasium = pytest.importorskip("gymnasium", reason="SKIPPED: environments of Gymnasium are NOT tested: gymnasium is missing")
env = importlib.import_module("linkwork.gymnasium")


@pytest.fixture
def four_bar():
    """With a motor at the crank."""
    text = (MODELS / "four_bar.yaml").read_text()
    hinge = "A: {type: revolute, between: [ground, crank], at: [0, 0, 0], axis: [0, 0, 1]"
    assert hinge in text
    return lw.Model.from_string(text.replace(hinge, hinge + ", effort: {q0: motor}") + "inputs: [motor]\n")


def test_environments_are_simulations(four_bar):
    envs = env.VectorEnv(four_bar, 5, step=0.02, low=-3, high=3, integrator="dopri54")
    seen, infos = envs.reset(seed=3)
    assert seen.shape == (5, four_bar.nq + four_bar.nv) and infos == {}
    actions = np.linspace(-4, 2, 5)[:, None]  # the first is clipped
    for _ in range(10):
        seen, rewards, ended, cut, infos = envs.step(actions)
    assert envs.observation_space.contains(seen) and envs.action_space.contains(np.clip(actions, -3, 3))
    assert not rewards.any() and not ended.any() and not cut.any() and infos == {}
    for i in range(5):
        sim = lw.Simulation(four_bar, integrator="dopri54")
        sim.inputs["motor"] = max(-3.0, float(actions[i, 0]))
        for k in range(10):
            sim.step(until=(k + 1) * 0.02)
        o = sim.observe("twist")
        assert np.array_equal(seen[i], np.concatenate((o.q, o.qd)))
    assert len({row.tobytes() for row in seen}) == 5


def test_episodes_start_again(four_bar):
    hinge = four_bar.joint("A")
    path, sim = [], lw.Simulation(four_bar)
    for _ in range(40):  # coordinates that close the loop
        sim.step(0.01)
        path.append(sim.observe("twist").q.copy())

    def start(random, n):
        return np.stack([path[k] for k in random.integers(0, 40, n)]), np.zeros((n, four_bar.nv))

    def turned(states):
        return np.abs(states.joint("A")[0][:, 0]) > 0.3

    envs = env.VectorEnv(four_bar, 4, step=0.02, start=start, terminated=turned, max_episode_steps=7,
                         reward=lambda before, actions, after: after.joint("A")[0][:, 0] - before.joint(hinge)[0][:, 0])
    first, _ = envs.reset(seed=1)
    again, _ = envs.reset(seed=1)
    assert np.array_equal(first, again) and not np.array_equal(first, envs.reset(seed=2)[0])
    steps, before, done = np.zeros(4, dtype=int), envs.reset(seed=1)[0], np.zeros(4, dtype=bool)
    both = set()
    for _ in range(60):
        seen, rewards, ended, cut, _ = envs.step(envs.action_space.sample())
        angle, last = seen[:, hinge.q.start], before[:, hinge.q.start]
        assert not rewards[done].any() and not (ended | cut)[done].any()
        assert all(np.abs(path - row).max(axis=1).min() < 1e-12 for row in seen[done, :four_bar.nq])
        assert not seen[done, four_bar.nq:].any()
        assert np.array_equal(rewards[~done], (angle - last)[~done])
        steps = np.where(done, 0, steps + 1)
        assert np.array_equal(ended, (np.abs(angle) > 0.3) & ~done) and np.array_equal(cut, (steps == 7) & ~ended & ~done)
        both |= {"ended"} if ended.any() else set()
        both |= {"cut"} if cut.any() else set()
        before, done = seen, ended | cut
    assert "ended" in both
    # loops stay closed where episodes start elsewhere
    for i in range(4):
        assert max(envs.batch.observe(i).residual[:2]) < 1e-5


def test_some_episodes_start_again(four_bar):
    envs = env.VectorEnv(four_bar, 4, step=0.02, max_episode_steps=3)
    first, _ = envs.reset(seed=1)
    moved = envs.step(np.ones((4, 1)))[0]
    mask = np.array([True, False, True, False])
    seen, _ = envs.reset(options={"reset_mask": mask})
    assert np.array_equal(seen[mask], first[mask]) and np.array_equal(seen[~mask], moved[~mask])
    assert [envs.step(np.ones((4, 1)))[3].tolist() for _ in range(3)] == [[False] * 4, (~mask).tolist(), mask.tolist()]
    for wrong in (np.ones(3, dtype=bool), np.ones(4)):
        with pytest.raises(lw.ArgumentError, match="reset_mask: expected 4 of bool"):
            envs.reset(options={"reset_mask": wrong})


def random_starts(model):
    sim, path = lw.Simulation(model), []
    for _ in range(40):  # coordinates that close the loop
        sim.step(0.01)
        path.append(sim.observe("twist").q.copy())
    return lambda random, n: (np.stack([path[k] for k in random.integers(0, 40, n)]), np.zeros((n, model.nv)))


def test_seeds_of_environments(four_bar):
    start = random_starts(four_bar)
    envs = env.VectorEnv(four_bar, 4, step=0.02, start=start, max_episode_steps=2)
    first = envs.reset(seed=[5, None, np.int64(7), 5])[0]
    assert np.array_equal(first[0], first[3]) and not np.array_equal(first[0], first[2])
    alone = {}  # what each seed gives does not depend on the other environments
    for seed in (5, 7):
        single = env.VectorEnv(four_bar, 1, step=0.02, start=start, max_episode_steps=2)
        alone[seed] = [single.reset(seed=[seed])[0]] + [single.step(np.zeros((1, 1)))[0] for _ in range(3)]
    rows = [first] + [envs.step(np.zeros((4, 1)))[0] for _ in range(3)]  # the last starts again
    for row, five, seven in zip(rows, alone[5], alone[7]):
        assert np.array_equal(row[0], five[0]) and np.array_equal(row[2], seven[0]) and np.array_equal(row[3], five[0])
    assert not np.array_equal(rows[3][0], rows[0][0])
    # those that a mask leaves alone, or None, keep their generators; one number is for all again
    on = envs.reset(seed=[5, 5, 5, None], options={"reset_mask": np.array([True, False, False, True])})[0]
    assert np.array_equal(on[0], first[0]) and np.array_equal(on[1:3], rows[3][1:3])
    single = env.VectorEnv(four_bar, 1, step=0.02, start=start)
    drawn = [single.reset(seed=[5] if k == 0 else None)[0][0] for k in range(3)]
    assert np.array_equal(on[3], drawn[2])  # the third of its generator
    other = env.VectorEnv(four_bar, 4, step=0.02, start=start)
    assert np.array_equal(envs.reset(seed=3)[0], other.reset(seed=3)[0]) and envs.np_random_seed == 3


@pytest.mark.parametrize("seed, message", (([1, 2], "seed: got 2, expected one number, or 4"), ([1, 2, -3, 4], r"seed\[2\] is -3"),
                                           (-1, "seed is -1"), (1.5, "seed is 1.5"), ([1, 2, 3, "a"], r"seed\[3\] is 'a'")))
def test_wrong_seeds_are_named(four_bar, seed, message):
    envs = env.VectorEnv(four_bar, 4, step=0.02, start=random_starts(four_bar))
    first = envs.reset(seed=1)[0]
    with pytest.raises(lw.ArgumentError, match=message):
        envs.reset(seed=seed)
    assert np.array_equal(first, envs.reset(seed=1)[0])


def test_failures_end_an_episode(four_bar):
    envs = env.VectorEnv(four_bar, 3, step=0.1, low=-1e12, high=1e12, integrator="dopri54", max_steps=2000)
    envs.reset()
    seen, _, ended, _, infos = envs.step([[0.0], [1e11], [0.0]])
    assert ended.tolist() == [False, True, False] and infos["_failure"].tolist() == ended.tolist() and infos["failure"][1]
    assert np.isfinite(seen).all()
    seen, _, ended, _, infos = envs.step(np.zeros((3, 1)))
    assert not ended.any() and infos == {} and np.isfinite(seen).all()
    assert np.array_equal(seen[1], envs.reset()[0][1])


def test_wrappers_of_gymnasium_apply(four_bar):
    envs = gymnasium.wrappers.vector.RecordEpisodeStatistics(env.VectorEnv(
        four_bar, 2, step=0.02, max_episode_steps=3, reward=lambda before, actions, after: np.ones(2)))
    envs.reset(seed=0)
    for _ in range(3):
        infos = envs.step(envs.action_space.sample())[4]
    assert infos["episode"]["r"].tolist() == [3, 3] and infos["episode"]["l"].tolist() == [3, 3]


def test_wrong_use_is_named(four_bar):
    with pytest.raises(lw.ArgumentError, match="no inputs"):
        env.VectorEnv(lw.load(MODELS / "four_bar.yaml"), 2, step=0.1)
    with pytest.raises(lw.ArgumentError, match="step: 0"):
        env.VectorEnv(four_bar, 2, step=0)
    with pytest.raises(lw.ArgumentError, match="low, high"):
        env.VectorEnv(four_bar, 2, step=0.1, low=1, high=1)
    with pytest.raises(lw.ArgumentError, match="observe: shape"):
        env.VectorEnv(four_bar, 2, step=0.1, observe=lambda states: states.q[0])


def test_all_inputs_and_joints_of_a_batch(four_bar):
    batch = lw.Batch(four_bar, instances=3)
    batch.set_inputs([[0], [1], [2]])
    batch.step(0.2)
    q, qd = batch.joints()
    for i in range(3):
        o = batch.observe(i, "twist")
        assert np.array_equal(q[i], o.q) and np.array_equal(qd[i], o.qd)
    with pytest.raises(lw.ArgumentError, match="inputs: expected 3 x 1"):
        batch.set_inputs([[0], [1]])
    with pytest.raises(lw.ArgumentError, match="q: expected"):
        batch.joints(np.zeros((2, 2)))
