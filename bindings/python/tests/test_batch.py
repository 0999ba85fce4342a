"""Batches: every instance is what it is alone."""
import numpy as np
import pytest
from conftest import pendulum

import linkwork as lw


def test_instances_are_what_they_are_alone(tmp_path):
    model = pendulum()
    angles = np.linspace(0.1, 1.5, 9)
    found = lw.simulate_batch(model, {"joint.hinge.q0": angles, "input.motor": 0.5}, 0.5, sample=0.1,
                              output=tmp_path / "batch.csv")
    assert found["joint.hinge.q0"].shape == (9, 6) and found.instances == 9
    assert np.array_equal(found["joint.hinge.q0"][:, 0], angles)
    assert np.array_equal(found.values[:, 1], np.full(9, 0.5))
    for i in (0, 4, 8):
        sim = lw.Simulation(model, integrator="dopri54", sample=0.1)
        sim.set_joints([angles[i]])
        sim.inputs["motor"] = 0.5
        alone = sim.run(0.5)
        for name in ("joint.hinge.q0", "body.rod.z", "joint.hinge.fx"):
            assert np.array_equal(found[name][i], alone[name])
        assert found.summaries[i].steps == alone.summary.steps
    assert np.shares_memory(found["body.rod.x"], found.table)
    assert len((tmp_path / "batch.csv").read_text().splitlines()) == 1 + 9 * 6


def test_parameters_and_mistakes():
    model = pendulum()
    found = lw.simulate_batch(model, {"body.rod.mass": [1, 2, 4]}, 0.2, threads=2, lanes=1)
    assert len(set(found["joint.hinge.q0"][:, -1])) == 3
    with pytest.raises(lw.ArgumentError, match="mass"):
        lw.simulate_batch(model, {"body.rod.mas": [1, 2]}, 0.1)
    with pytest.raises(lw.ArgumentError, match="body.rod.mass: 2 dimensions"):
        lw.simulate_batch(model, {"body.rod.mass": [[1, 2], [3, 4]]}, 0.1)
    with pytest.raises(lw.ArgumentError, match="different lengths"):
        lw.simulate_batch(model, {"body.rod.mass": [1, 2], "input.motor": [1, 2, 3]}, 0.1)


def test_a_batch_is_stopped():
    with pytest.raises(lw.StoppedError):
        lw.simulate_batch(pendulum(), {"joint.hinge.q0": np.linspace(0, 1, 64)}, 1e5,
                          progress=lambda time, end: time > 0)
