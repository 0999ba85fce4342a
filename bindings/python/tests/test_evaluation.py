"""Values of points for optimisers: those of single runs, by any executor, in order or as they come."""
import concurrent.futures
import math

import numpy as np
import pytest

import linkwork as lw

POINTS = [[450.0, 1.0, 2.0], [550.0, 3.0, 1.0], [500.0, 2.0, -1.0]]  # the last has no model
NAMES = ["l", "c", "body.arm.mass"]


def test_values_are_those_of_single_runs(path):
    f = lw.Evaluation(path, NAMES, "measure.load.max", duration=0.2, integrator="bdf")
    values = f(POINTS)
    assert values.shape == (3,) and values[2] == math.inf
    alone = lw.sweep(path, {"l": [450], "c": [1], "body.arm.mass": [2]}, duration=0.2, integrator="bdf")
    assert values[0] == alone["measure.load.max"][0]
    both = lw.Evaluation(path, NAMES, ["measure.load.max", "sys.T.last"], failed=-1, duration=0.2, integrator="bdf")(POINTS)
    assert both.shape == (3, 2) and both[0, 0] == values[0] and list(both[2]) == [-1, -1]
    assert "measure.load.max" in repr(f)


def test_executors_give_the_same_bits(path):
    here = lw.Evaluation(path, NAMES, "measure.load.max", duration=0.2)
    expected = here(POINTS)
    for pool in (concurrent.futures.ThreadPoolExecutor(2), concurrent.futures.ProcessPoolExecutor(2)):
        with pool:
            f = lw.Evaluation(path, NAMES, "measure.load.max", duration=0.2, executor=pool)
            assert np.array_equal(f(POINTS), expected)
            assert [f.submit(p) for p in POINTS] == [3, 4, 5]
            with pytest.raises(lw.UnsupportedError, match="take the results"):
                f(POINTS)
            assert {number - 3: values[0] for number, values in f.results()} == dict(enumerate(expected))
            first = f.submit(POINTS[:2])
            assert [(n, len(v)) for n, v in f.results(ordered=True)] == [(first, 2)]


def test_a_seeded_optimiser_is_deterministic(path):
    def optimise(executor):
        f = lw.Evaluation(path, ["l", "c"], "measure.load.max", duration=0.1, executor=executor)
        random, best = np.random.default_rng(1), np.array([500.0, 2.0])
        for _ in range(4):
            points = best + [20, 0.3] * random.standard_normal((6, 2))
            best = points[np.argmin(f(points))]
        return tuple(best)

    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        assert optimise(pool) == optimise(None)


def test_wrong_use(path):
    with pytest.raises(lw.ArgumentError, match="NAME.max"):
        lw.Evaluation(path, NAMES, "load")
    f = lw.Evaluation(path, NAMES, "measure.load.max", duration=0.1)
    with pytest.raises(lw.ArgumentError, match=r"expected \[points, 3\]"):
        f([[1.0, 2.0]])
    with pytest.raises(lw.UnknownNameError, match="measure.load.max"):
        lw.Evaluation(path, NAMES, "measure.load.mux", duration=0.1)(POINTS)
    with pytest.raises(lw.ArgumentError, match="nothing"):
        lw.Evaluation(path, ["nothing"], "measure.load.max", duration=0.1)([[1.0]])


def test_a_call_that_fails_leaves_nothing(path):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        f = lw.Evaluation(path, ["l", "nothing"], "measure.load.max", duration=0.1, executor=pool)
        for _ in range(2):
            with pytest.raises(lw.ArgumentError, match="nothing"):
                f([[450.0, 1.0], [550.0, 3.0]])
