"""What is installed: self-contained, typed."""
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from conftest import SOURCES

import linkwork as lw

INSTALLED = pathlib.Path(lw.__file__).parent


def test_nothing_but_the_c_library_is_needed():
    if not shutil.which("readelf"):
        pytest.skip("readelf is not here")
    told = subprocess.run(["readelf", "-d", str(INSTALLED / "_native.abi3.so")], check=True,
                          capture_output=True, text=True).stdout
    needed = set(re.findall(r"NEEDED.*\[(.*?)\]", told))
    if any(library.startswith("libhdf5") for library in needed):
        pytest.skip("built where there is no archive of HDF5")
    assert needed <= {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2",
                      "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def test_it_is_typed(tmp_path):
    assert (INSTALLED / "py.typed").exists()
    pytest.importorskip("mypy")
    sample = tmp_path / "sample.py"
    sample.write_text('''
import linkwork as lw
import numpy as np

model: lw.Model = lw.load("robot.urdf", base="floating")
run: lw.Trajectory = lw.simulate(model, 5, formulation="aba")
x: np.ndarray = run["body.hand.x"]
q, v = model.start()
M = lw.Data(model).mass_matrix(q)
steps: int = run.summary.steps if run.summary else 0
reveal_type(M)
''')
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir",
                           str(tmp_path / "cache"), "-p", "linkwork", "-m", "sample"],
                          capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0 and "float64" in done.stdout, done.stdout + done.stderr


def test_every_name_is_there_and_told():
    for name in lw.__all__:
        thing = getattr(lw, name)
        assert getattr(thing, "__doc__", None), name
    assert lw.__version__ in (SOURCES / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_document_is_typed_literally(tmp_path):
    """Every Python block of the page runs, one after the other, beside the examples."""
    pytest.importorskip("matplotlib")
    pytest.importorskip("pandas")
    (tmp_path / "examples").symlink_to(SOURCES / "examples")
    for page in ("docs/python.md", "README.md"):
        text = (SOURCES / page).read_text(encoding="utf-8")
        blocks = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
        assert blocks, page
        (tmp_path / "page.py").write_text("import matplotlib\nmatplotlib.use('Agg')\n" + "\n".join(blocks),
                                          encoding="utf-8")
        done = subprocess.run([sys.executable, "page.py"], cwd=tmp_path, capture_output=True, text=True,
                              check=False, timeout=120)
        assert done.returncode == 0, f"{page}:\n{done.stderr}"
