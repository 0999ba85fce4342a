"""Where the sources are; what more than one test uses."""
import os
import pathlib
import sys

import pytest

import linkwork as lw

SOURCES = pathlib.Path(__file__).resolve().parents[3]
MODELS = SOURCES / "examples" / "models"
GOLDEN = SOURCES / "tests" / "golden"
sys.path.insert(0, str(SOURCES / "tests" / "reference"))  # trajectory.py, run_cases.py
os.environ.setdefault("MPLBACKEND", "Agg")
STUDY = """
linkwork: 1
parameters: {l: {value: 500, unit: mm}, c: 2}
bodies:
  arm: {mass: 2, inertia: [0.1, 0.2, 0.2, 0, 0, 0], position: [l, 0, 0]}
joints:
  A: {type: revolute, between: [ground, arm], at: [0, 0, 0], axis: [0, 1, 0],
      spring: {q0: {stiffness: 40, damping: c}}}
measures:
  load: hypot(joint.A.fx, joint.A.fz)
"""


@pytest.fixture
def crane():
    return lw.load(MODELS / "crane.yaml")


@pytest.fixture
def four_bar():
    return lw.load(MODELS / "four_bar.yaml")


@pytest.fixture
def ur5():
    return lw.load(MODELS / "ur5.urdf")


@pytest.fixture
def path(tmp_path):
    """A file of a model with two parameters and a measure, for studies."""
    (tmp_path / "study.yaml").write_text(STUDY)
    return tmp_path / "study.yaml"


@pytest.fixture
def program():
    """The program of the same sources, where the caller has one."""
    path = os.environ.get("LINKWORK_PROGRAM")
    if not path:
        pytest.skip("LINKWORK_PROGRAM does not name the program")
    return path


def pendulum(**simulation):
    """A rod on a hinge with a motor."""
    b = lw.Builder(gravity=[0, 0, -9.81], **simulation)
    b.input("motor")
    rod = b.body("rod", mass=2, inertia=[0.01, 0.2, 0.2, 0, 0, 0], position=[0.5, 0, 0])
    b.joint("hinge", "revolute", ["ground", rod], at=[0, 0, 0], axis=[0, 1, 0],
            effort={"q0": "motor"})
    return b.build()
