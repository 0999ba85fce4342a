"""Pictures: what is drawn where."""
import numpy as np
import pytest

import linkwork as lw

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


@pytest.fixture
def run(crane):
    yield lw.simulate(crane, 0.5)
    plt.close("all")


def test_columns(run):
    axis = run.plot("joint.sway.q0,joint.sway.q1")
    assert [line.get_label() for line in axis.get_lines()] == ["joint.sway.q0", "joint.sway.q1"]
    assert np.array_equal(axis.get_lines()[0].get_ydata(), run["joint.sway.q0"])
    assert "rad" in axis.get_ylabel() and "time" in axis.get_xlabel()
    axis = lw.plot(run, "body.load.y", x="body.load.x", title="path", color="red")
    assert np.array_equal(axis.get_lines()[0].get_xdata(), run["body.load.x"])
    assert axis.get_title() == "path" and axis.get_lines()[0].get_color() == "red"
    with pytest.raises(KeyError, match="energy"):
        run.plot("enrgy")


@pytest.mark.parametrize("preset,panels", [("overview", None), ("joints", None), ("positions", 3),
                                           ("energy", 2), ("residuals", 1), ("reactions", 2),
                                           ("phase", None)])
def test_presets(run, preset, panels, tmp_path):
    axes = np.atleast_1d(run.plot(preset))
    assert panels is None or len(axes) == panels
    assert all(axis.get_lines() for axis in axes)
    axes[0].figure.savefig(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 5000


def test_given_axes_and_several_results(run, crane, tmp_path):
    _, axes = plt.subplots(2)
    found = run.plot("energy", ax=axes)
    assert found[0] is axes[0]
    with pytest.raises(lw.ArgumentError, match="expected 2 Axes"):
        run.plot("energy", ax=axes[0])
    run.save(tmp_path / "run.csv")
    axis = lw.plot([run, tmp_path / "run.csv"], "body.load.x", labels=["one", "two"])
    assert [line.get_label() for line in axis.get_lines()] == ["body.load.x one", "body.load.x two"]


def test_work_and_precision(four_bar, tmp_path):
    study = lw.work_precision(four_bar, ["hdca", "dense:adams"], [1e-5, 1e-8], 0.5)
    assert study.methods == ("hdca", "dense:adams") and study.reference == "hdca at 1e-10"
    for method in study.methods:  # less tolerance: less error, more work
        assert study.error[method][0] > 3 * study.error[method][1] > 0
        assert study.evaluations[method][0] < study.evaluations[method][1]
        assert np.all(study.wall[method] > 0)
    assert "dense:adams" in str(study) and "1.0e-08" in str(study)
    axis = lw.plot(study, "work-precision", title="four-bar")
    assert [line.get_label() for line in axis.get_lines()] == list(study.methods)
    assert axis.get_xscale() == axis.get_yscale() == "log" and axis.get_title() == "four-bar"
    assert np.array_equal(axis.get_lines()[1].get_xdata(), study.evaluations["dense:adams"])
    assert "wall" in study.plot(x="wall").get_xlabel()
    with pytest.raises(lw.ArgumentError, match="linkwork.work_precision"):
        lw.plot(lw.simulate(four_bar, 0.1), "work-precision")
    with pytest.raises(lw.ArgumentError, match="work-precision alone"):
        lw.plot(study, "energy")
    plt.close("all")
