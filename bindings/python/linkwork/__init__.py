"""Linkwork: multibody dynamics of mechanisms with closed loops.

::

    import linkwork as lw

    model = lw.load("robot.urdf")
    t = lw.simulate(model, duration=5)
    t["body.hand.x"], t.joint("elbow").q, t.energy
    t.plot("energy")

Units are SI and radians, quaternions scalar first; docs/conventions.md has frames and signs.
"""
from __future__ import annotations

from typing import Tuple

from . import quaternion
from ._analysis import Equilibrium, LinearSystem, Mode, equilibrium, linearize, modes
from ._batch import Batch, BatchResult, Summaries, simulate_batch
from ._batch_callback import BatchStates
from ._builder import Builder
from ._compare import Comparison, WorkPrecision, compare, work_precision
from ._compiled import Compiled
from ._data import Constraints, Data, OffLoopsWarning
from ._device import DeviceArray, DeviceBatch
from ._errors import (ArgumentError, Error, FileError, IntegratorError, InternalError, ModelError,
                      NotFiniteError, OutOfMemoryError, ParseError, SingularError, StoppedError,
                      UnknownNameError, UnsupportedError)
from ._errors import check as _check
from ._errors import text_of as _text_of
from ._evaluation import Evaluation
from ._inverse import Inverse, InverseMotion, InverseSolution, actuate, inverse
from ._kinematics import Goal, Kinematics, PointMotion, Reach
from ._model import Assembly, Base, Body, Check, Joint, Model, Redundancy, load
from ._mujoco import from_mujoco
from ._native import ffi as _ffi
from ._native import lib as _lib
from ._optimize import INFEASIBLE, Design, Optimum, Response, optimize
from ._parametric import Parametric
from ._plot import plot
from ._sensitivity import Sensitivity, sensitivity
from ._simulation import Impact, Inputs, Observation, Simulation, Summary, kinematics, simulate
from ._store import Store, StoreState
from ._study import Study, sweep
from ._trajectory import BodyColumns, Event, JointColumns, Trajectory, read_result

__version__: str = _text_of(_lib.lw_version())


def check(model: Model) -> Check:
    """Degrees of freedom, loops, redundant constraints, warnings; print it."""
    return model.check()


def assemble(model: Model, hold: Tuple[str, ...] = ()) -> Assembly:
    """See :meth:`Model.assemble`."""
    return model.assemble(hold)


def schema() -> str:
    """JSON Schema of the native file."""
    text = _ffi.new("char **")
    try:
        _check(_lib.lwpy_schema_text(text))
        return _text_of(text[0])
    finally:
        _lib.lwpy_free(text[0])


def formulations() -> Tuple[str, ...]:
    """Names of the equations of motion."""
    return tuple(_text_of(_lib.lw_formulation_info(i).name)
                 for i in range(_lib.lw_formulation_count()))


def integrators() -> Tuple[str, ...]:
    """Names of the integrators."""
    return tuple(_text_of(_lib.lw_integrator_info(i).name) for i in range(_lib.lw_integrator_count()))


__all__ = [
    "ArgumentError", "Assembly", "Base", "Batch", "BatchResult", "BatchStates", "Body", "BodyColumns", "Builder", "Check",
    "Comparison", "Compiled", "Constraints", "Data", "Design", "DeviceArray", "DeviceBatch", "Equilibrium", "Error", "Evaluation", "Event", "FileError", "Goal", "INFEASIBLE", "Impact", "Inputs",
    "IntegratorError", "InternalError", "Inverse", "InverseMotion", "InverseSolution", "Joint", "JointColumns",
    "Kinematics", "LinearSystem", "Mode", "Model", "ModelError", "NotFiniteError", "Observation",
    "OffLoopsWarning", "Optimum", "OutOfMemoryError", "Parametric", "ParseError", "PointMotion", "Reach", "Redundancy", "Response", "Sensitivity",
    "Simulation", "SingularError", "StoppedError", "Store", "StoreState", "Study", "Summaries", "Summary", "Trajectory", "UnknownNameError", "UnsupportedError",
    "WorkPrecision", "actuate", "assemble", "check", "compare", "equilibrium", "formulations", "from_mujoco",
    "integrators", "inverse", "kinematics", "linearize", "load", "modes", "optimize", "plot", "quaternion", "read_result",
    "schema", "sensitivity", "simulate", "simulate_batch", "sweep", "work_precision",
]
