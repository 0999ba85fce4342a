"""Studies: the table of a sweep, the same as the program's."""
import csv
import math

import numpy as np
import pytest

import linkwork as lw


def test_a_grid_has_the_bits_of_single_runs(path):
    study = lw.sweep(path, {"l": "0.4 m:0.6 m:3", "c": [1, 4]}, duration=0.5, integrator="bdf")
    assert study.variants == 6 and study.failures == ("",) * 6
    assert study.units["l"] == "mm" and study.units["measure.load.max"] == "N"
    assert list(study)[:4] == ["instance", "l", "c", "measure.load.min"]
    assert list(study["l"]) == [400, 400, 500, 500, 600, 600] and list(study["c"]) == [1, 4] * 3
    for i in range(6):
        alone = lw.simulate(lw.load(path, parameters={"l": study["l"][i], "c": study["c"][i]}), duration=0.5,
                            integrator="bdf")
        assert study["measure.load.max"][i] == alone.measures["load"].max
        assert study["steps"][i] == alone.summary.steps
    assert "6 variants" in repr(study)


def test_files_and_data_frames(path, tmp_path):
    study = lw.sweep(path, {"l": "300:600", "option.max_steps": [0, 3]}, "joint.A.f?", design="sobol:8", seed=3,
                     duration=0.2, output=tmp_path / "rows.csv", columns="measure.*")
    failed = [bool(f) for f in study.failures]
    assert any(failed) and not all(failed)
    assert all(math.isfinite(x) for x in study["joint.A.fx.max"])
    assert (tmp_path / "rows.csv").read_text().startswith("time,instance,vary.l,vary.option.max_steps,measure.load\n")
    for name in ("study.csv", "study.h5"):
        study.save(tmp_path / name)
        read = lw.Study.read(tmp_path / name)
        assert list(read) == list(study) and read.failures == study.failures
        assert all(np.array_equal(read[k], study[k], equal_nan=True) for k in study)
    with open(tmp_path / "study.csv", newline="", encoding="utf-8") as file:
        assert [bool(row["failure"]) for row in csv.DictReader(file)] == failed
    again = lw.sweep(path, {}, "joint.A.fx", rows=_design(study, tmp_path), duration=0.2)
    assert np.array_equal(again["l"], study["l"])


def test_pandas(path):
    pandas = pytest.importorskip("pandas")
    study = lw.sweep(path, {"l": [400, 500]}, duration=0.1)
    frame = study.to_pandas()
    assert list(frame.columns) == list(study) + ["failure"] and len(frame) == 2
    assert frame["l"].tolist() == [400, 500]
    assert isinstance(pandas.DataFrame(dict(study)), pandas.DataFrame)


def _design(study, tmp_path):
    (tmp_path / "rows_of_l.csv").write_text("l\n" + "".join(f"{x!r}\n" for x in study["l"].tolist()))
    return tmp_path / "rows_of_l.csv"


def test_mistakes(path):
    with pytest.raises(lw.ArgumentError, match="design lhs: expected"):
        lw.sweep(path, {"l": "1:2"}, design="lhs")
    with pytest.raises(lw.ArgumentError, match="a value in kg, expected mm"):
        lw.sweep(path, {"l": "1,2 kg"})
    with pytest.raises(lw.ArgumentError, match="expected a list of numbers"):
        lw.sweep(path, {"l": []})
    with pytest.raises(lw.ArgumentError, match="sys.Z"):
        lw.sweep(path, {"l": [400]}, "sys.Z")
    study = lw.sweep(path, {"l": [400]}, duration=0.1)
    with pytest.raises(lw.UnknownNameError, match="measure.load.max"):
        study["measure.load.mx"]
    with pytest.raises(lw.ArgumentError, match="ending"):
        study.save("study.txt")


def test_a_study_can_be_stopped(path):
    calls = []

    def progress(time, end):
        calls.append(time)
        return len(calls) > 3

    with pytest.raises(lw.StoppedError) as stopped:
        lw.sweep(path, {"c": np.linspace(1, 2, 2000)}, duration=20, progress=progress, threads=1)
    assert stopped.value.result.variants == 2000
    assert "stopped" in stopped.value.result.failures
