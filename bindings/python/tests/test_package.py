"""What is installed: self-contained, typed."""
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig

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


def run(*command):
    return subprocess.run(command, check=False, capture_output=True, text=True)


def test_the_program_comes_along(tmp_path):
    installed = pathlib.Path(sysconfig.get_path("scripts")) / "linkwork"
    expected = f"linkwork {lw.__version__}"
    for command in ([str(installed)], [sys.executable, "-m", "linkwork"]):
        shown = run(*command, "--version")
        assert shown.returncode == 0 and shown.stdout.startswith(expected), (command, shown)
        output = tmp_path / "out.csv"
        done = run(*command, "run", str(SOURCES / "examples/models/four_bar.yaml"), "--duration", "0.1",
                   "-o", str(output))
        assert done.returncode == 0, done.stderr
        assert output.read_text(encoding="utf-8").count("\n") > 2
        output.unlink()
        wrong = run(*command, "run", str(tmp_path / "missing.yaml"))
        assert wrong.returncode not in (0, 1) and "missing.yaml" in wrong.stderr, (command, wrong)


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


def test_the_documents_are_typed_literally(program):
    """Every block of every page that has Python runs, as docs/documentation.md says."""
    pytest.importorskip("matplotlib")
    pytest.importorskip("pandas")
    pages = [str(page.relative_to(SOURCES)) for page in [SOURCES / "README.md", *SOURCES.glob("docs/**/*.md")]
             if "```python" in page.read_text(encoding="utf-8")]
    assert len(pages) >= 4, pages
    library = pathlib.Path(program).parents[1] / "lib"
    options = ["--library", library] if (library / "liblinkwork.so").exists() else []
    done = subprocess.run([sys.executable, SOURCES / "tests/docs/run_blocks.py", "--program", program,
                           "--sources", SOURCES, "--python", sys.executable, *options, *pages],
                          capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "compiled only" not in done.stdout
