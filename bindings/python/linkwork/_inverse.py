"""Inverse dynamics of any mechanism: efforts of chosen actuators for a motion."""
from __future__ import annotations

import dataclasses
import os
from typing import Any, Dict, List, Mapping, Optional, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike

from ._analysis import Names, _inputs, _list
from ._errors import ArgumentError, check, text_of
from ._memory import Array, doubles, numbers
from ._model import Model, Path, components, load
from ._native import ffi, lib
from ._simulation import kinematics
from ._trajectory import Trajectory, read_result

_KIND = {lib.LW_INVERSE_UNIQUE: "unique", lib.LW_INVERSE_MINIMUM_NORM: "minimum norm",
         lib.LW_INVERSE_INFEASIBLE: "infeasible"}


def actuate(model: Model, actuators: Names = None, *, release: bool = False) -> Model:
    """The same mechanism with an input ``joint.JOINT.actuatorK`` for the effort of each named coordinate.

    :param actuators: coordinates, "JOINT" or "JOINT.q1", also of joints that close loops; drives of these are removed.
                      Names of inputs change nothing.
    :param release: no coordinate is driven any more; without ``actuators`` the driven ones get inputs
    """
    made, error, keep = ffi.new("lw_model **"), ffi.new("lw_error *"), _list(actuators)
    check(lib.lw_model_actuate(model._handle, keep, release, made, error), error)
    return Model(made[0], model._options, model.source)


@dataclasses.dataclass(frozen=True)
class InverseSolution:
    """Efforts for one state of motion.  If they are infeasible, they leave the least residual."""

    kind: str  #: "unique", "minimum norm" or "infeasible"
    efforts: Dict[str, float]  #: of the actuators [N, N m]
    rank: int  #: independent generalised forces that the actuators can give
    condition: float  #: last pivot of the actuators kept, at most about 1: small near dead points
    redundant: Tuple[str, ...]  #: actuators that the motion does not determine alone
    required: Dict[str, float]  #: along the independent coordinates [N, N m]
    missing: Dict[str, float]  #: the part of it that the actuators cannot give
    residual: float  #: of it in the metric of the masses, relative to inertia and loads
    tau: Array  #: M a + h [tree_nv]: without loops what ``Data.inverse_dynamics`` gives
    reactions: Dict[str, Array]  #: of each joint: force, torque on body2 about its point, world axes [6]
    undetermined: Dict[str, Tuple[str, ...]]  #: components of reactions that are not unique, in axes of F1

    @property
    def feasible(self) -> bool:
        return self.kind != "infeasible"


class Inverse:
    """Efforts of chosen actuators for states of motion::

        inverse = lw.Inverse(model, ["A", "E"])
        solution = inverse.solve(q, v, vdot)
        solution.efforts, solution.kind

    One thread at a time.

    :param actuators: coordinates ("JOINT", "JOINT.q1"), also of joints that close loops, and inputs; default: the driven
                      coordinates, where none is driven all inputs
    :param weights: by actuator; the sum of (weight * effort)**2 is minimum where efforts are not unique.  Default: 1 over
                    the ``effort_range`` of a servo, else 1
    :param keep_drives: drives of coordinates that are not named remain, and their efforts are reactions
    :param inputs: values of inputs that are no actuators
    :param independent: joints, or "JOINT.q1", that must be independent coordinates
    :param motion: a result or a table with columns "time", "joint.NAME.q0", ... for :meth:`row`
    """

    def __init__(self, model: Model, actuators: Names = None, *, weights: Optional[Mapping[str, float]] = None,
                 keep_drives: bool = False, inputs: Optional[Mapping[str, float]] = None,
                 independent: Names = None, motion: Union[None, Trajectory, Path] = None) -> None:
        #: with inputs for the actuators; q, v and vdot are coordinates of its tree
        self.model: Model = actuate(model, actuators, release=not keep_drives)
        if motion is not None and not isinstance(motion, Trajectory):
            motion = read_result(motion)
        keep = [_list(actuators), _list(independent), _inputs(model, inputs)]
        desc = ffi.new("lw_inverse_desc *", {
            "actuators": keep[0], "independent": keep[1], "inputs": keep[2], "keep_drives": keep_drives,
            "motion": ffi.NULL if motion is None else motion._handle})
        made, error = ffi.new("lw_inverse **"), ffi.new("lw_error *")
        check(lib.lw_inverse_create(model._handle, desc, made, error), error)
        self._handle = ffi.gc(made[0], lib.lw_inverse_destroy)
        self.actuators: Tuple[str, ...] = tuple(
            text_of(lib.lw_inverse_actuator_name(self._handle, k))
            for k in range(lib.lw_inverse_actuators(self._handle)))
        self.rows: int = lib.lw_inverse_rows(self._handle)  #: of the motion
        for name, weight in (weights or {}).items():
            check(lib.lw_inverse_set_weight(self._handle, name.encode(), float(weight), error), error)

    @property
    def independent(self) -> Tuple[str, ...]:
        """Names of the present independent coordinates."""
        room, names = ffi.new("char[256]"), []
        for k in range(lib.lw_inverse_dof(self._handle)):
            lib.lw_inverse_coordinate_name(self._handle, k, room, 256)
            names.append(text_of(room))
        return tuple(names)

    def _state(self, q: ArrayLike, v: ArrayLike, vdot: ArrayLike) -> List[Array]:
        n = self.model.tree_nv
        return [numbers(q, (self.model.tree_nq,), "q"), numbers(v, (n,), "v"), numbers(vdot, (n,), "vdot")]

    def complete(self, q: ArrayLike, v: ArrayLike, vdot: ArrayLike, *, time: float = 0.0) -> Tuple[Array, Array, Array]:
        """Copies that satisfy all joints: the independent entries are kept, the dependent ones follow."""
        state, error = [x.copy() for x in self._state(q, v, vdot)], ffi.new("lw_error *")
        check(lib.lw_inverse_complete(self._handle, time, *map(doubles, state), error), error)
        return state[0], state[1], state[2]

    def solve(self, q: ArrayLike, v: ArrayLike, vdot: ArrayLike, *, time: float = 0.0) -> InverseSolution:
        """Efforts for a motion that satisfies all joints (:meth:`complete`).

        :raises ArgumentError: it does not; the joint and the residual are named
        :raises SingularError: a singular position
        """
        state, error = self._state(q, v, vdot), ffi.new("lw_error *")
        found = ffi.new("const lw_inverse_solution **")
        check(lib.lw_inverse_solve(self._handle, time, *map(doubles, state), found, error), error)
        return self._solution(found[0])

    def row(self, index: int) -> InverseSolution:
        """Efforts at a row of the motion; rows in their order."""
        found, error = ffi.new("const lw_inverse_solution **"), ffi.new("lw_error *")
        check(lib.lw_inverse_row(self._handle, index, found, error), error)
        return self._solution(found[0])

    def _solution(self, s: Any) -> InverseSolution:
        names, joints = self.independent, self.model.joints
        reactions = np.frombuffer(ffi.buffer(s.reaction, 48 * len(joints)) if joints else b"").reshape(-1, 6)
        return InverseSolution(
            _KIND[s.kind], {name: s.effort[k] for k, name in enumerate(self.actuators)}, s.rank, s.condition,
            tuple(name for k, name in enumerate(self.actuators) if s.redundant[k]),
            {name: s.required[k] for k, name in enumerate(names)},
            {name: s.missing[k] for k, name in enumerate(names)}, s.residual,
            np.array([s.tau[i] for i in range(self.model.tree_nv)]),
            {joint.name: reactions[j].copy() for j, joint in enumerate(joints)},
            {joint.name: components(s.reaction_undetermined[j]) for j, joint in enumerate(joints)
             if s.reaction_undetermined[j]})


@dataclasses.dataclass(frozen=True)
class InverseMotion:
    """Efforts along a motion."""

    model: Model  #: with inputs for the actuators
    time: Array  #: [rows]
    actuators: Tuple[str, ...]
    efforts: Array  #: [rows, actuators] [N, N m]
    solutions: Tuple[InverseSolution, ...]  #: one for each row
    warning: str = ""  #: a coordinate of the motion that does not satisfy the loops, which give another value

    def __getitem__(self, actuator: str) -> Array:
        return self.efforts[:, self.actuators.index(actuator)]

    @property
    def kind(self) -> str:
        """"infeasible" if one row is, else "minimum norm" if one row has it, else "unique"."""
        kinds = {s.kind for s in self.solutions}
        return next(k for k in ("infeasible", "minimum norm", "unique") if k in kinds)

    @property
    def residual(self) -> Array:
        """Of each row: the missing part of what the motion needs."""
        return np.array([s.residual for s in self.solutions])


def inverse(model: Union[Model, Path], motion: Union[None, Trajectory, Path] = None, *, actuators: Names = None,
            weights: Optional[Mapping[str, float]] = None, inputs: Optional[Mapping[str, float]] = None,
            independent: Names = None, **options: Any) -> InverseMotion:
    """Efforts of actuators for a motion: of a result, of a table with columns "time", "joint.NAME.q0", ..., or of the
    drives of the model.

    :param motion: default: that of the drives, over ``duration`` with a row every ``sample`` (as :func:`kinematics`);
                   they are then removed.  With a motion the model's drives remain.
    :param actuators, weights, inputs, independent: as of :class:`Inverse`
    """
    if isinstance(model, (str, os.PathLike)):
        model = load(model)
    if motion is not None and options:
        raise ArgumentError(f"{next(iter(options))}: expected no options of a run beside a motion")
    if motion is None:
        table, keep = kinematics(model, level="acceleration", **options), False
    else:
        table, keep = motion if isinstance(motion, Trajectory) else read_result(motion), True
    solver = Inverse(model, actuators, weights=weights, keep_drives=keep, inputs=inputs, independent=independent,
                     motion=table)
    solutions = tuple(solver.row(i) for i in range(solver.rows))
    efforts = np.array([list(s.efforts.values()) for s in solutions]).reshape(len(solutions), len(solver.actuators))
    return InverseMotion(solver.model, np.array(table[table.columns[0]]), solver.actuators, efforts, solutions,
                         ffi.string(lib.lw_inverse_warning(solver._handle)).decode())
