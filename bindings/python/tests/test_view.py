"""Pages and glTF files are those of the program."""
import json
import os
import subprocess

import pytest
from conftest import MODELS, pendulum

import linkwork as lw


def test_pages_are_the_programs(program, tmp_path, four_bar):
    run = lw.simulate(four_bar, 0.2, output=tmp_path / "run.h5")
    result = lw.read_result(tmp_path / "run.h5")
    for ending in ("html", "gltf"):
        mine, its = tmp_path / f"mine.{ending}", tmp_path / f"its.{ending}"
        result.view(mine, title="run.h5")
        subprocess.run([program, "view", tmp_path / "run.h5", "-o", its, "-q"], check=True)
        assert mine.read_bytes() == its.read_bytes()
    run.view(tmp_path / "run.html")
    assert '"title":"run.html"' in (tmp_path / "run.html").read_text(encoding="utf-8")
    four_bar.view(tmp_path / "mine.html", title="four_bar.yaml")
    subprocess.run([program, "view", MODELS / "four_bar.yaml", "-o", tmp_path / "its.html", "-q"], check=True)
    assert (tmp_path / "mine.html").read_bytes() == (tmp_path / "its.html").read_bytes()


def test_a_trajectory_is_an_animation(tmp_path, four_bar):
    lw.simulate(four_bar, 0.1).view(tmp_path / "run.gltf")
    found = json.loads((tmp_path / "run.gltf").read_text(encoding="utf-8"))
    assert found["animations"]


def test_what_cannot_be_viewed_is_named(tmp_path):
    rod = pendulum()
    run = lw.simulate(rod, 0.1)
    with pytest.raises(lw.ArgumentError, match="html or .gltf"):
        run.view(tmp_path / "run.png")
    run.save(tmp_path / "run.csv")
    alone = lw.read_result(tmp_path / "run.csv")
    with pytest.raises(lw.ArgumentError, match="model="):
        alone.view(tmp_path / "run.html")
    alone.view(tmp_path / "run.html", model=rod)
    with pytest.raises(lw.Error, match="'body.crane.x'|has no column"):
        alone.view(tmp_path / "other.html", model=lw.load(MODELS / "crane.yaml"))
    assert not os.path.exists(tmp_path / "other.html")
    with pytest.raises(OSError):
        run.view(tmp_path / "nowhere" / "run.html")
