"""Poses, velocities and Jacobians of points at a state, and coordinates that meet goals."""
from __future__ import annotations

import dataclasses
from typing import Any, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import ArrayLike

from ._analysis import Names, _list
from ._errors import ArgumentError, check, text_of
from ._memory import Array, doubles, finite, numbers, out_array
from ._model import Model
from ._native import ffi, lib
from ._workspace import alone, workspace

_OUTCOME = {lib.LW_REACHED: "reached", lib.LW_REACH_LIMITS: "limits", lib.LW_REACH_MINIMUM: "minimum",
            lib.LW_REACH_UNREACHABLE: "unreachable", lib.LW_REACH_ITERATIONS: "iterations"}


@dataclasses.dataclass(frozen=True)
class Goal:
    """What :meth:`Kinematics.reach` shall meet: a point of a body at ``position``, a body at ``orientation`` (unit
    quaternion, scalar first), both, or a coordinate of a joint at ``value``."""

    body: Optional[str] = None
    position: Optional[Sequence[float]] = None  #: world [m]
    orientation: Optional[Sequence[float]] = None  #: body frame to world
    point: Sequence[float] = (0.0, 0.0, 0.0)  #: of the body, body frame [m]
    joint: Optional[str] = None  #: also one that closes a loop
    value: float = 0.0  #: [m, rad]
    coordinate: int = 0  #: of the joint
    weight: float = 1.0  #: of positions and joints, > 0
    rotation_weight: float = 1.0  #: of orientations, > 0

    def _fill(self, model: Model, to: Any) -> None:
        for name in ("weight", "rotation_weight"):  # 0 stands for 1 in C
            if not getattr(self, name) > 0:
                raise ArgumentError(f"goal: {name} is {getattr(self, name)}, expected > 0")
        to.weight, to.rotation_weight = self.weight, self.rotation_weight
        if self.joint is not None:
            to.type = lib.LW_GOAL_JOINT
            to.joint.index, to.coordinate, to.value = model.joint(self.joint).index, self.coordinate, self.value
            return
        if self.body is None or (self.position is None and self.orientation is None):
            raise ArgumentError("goal: expected a body with a position or an orientation, or a joint")
        to.body.index = model.body(self.body).index
        to.point = tuple(numbers(self.point, (3,), "point"))
        if self.position is not None:
            to.position = tuple(numbers(self.position, (3,), "position"))
        if self.orientation is not None:
            orientation = numbers(self.orientation, (4,), "orientation")
            if not orientation.any():  # which stands for no rotation in C
                raise ArgumentError("goal: orientation is zero, expected a unit quaternion")
            to.orientation = tuple(orientation)
        to.type = (lib.LW_GOAL_ORIENTATION if self.position is None else
                   lib.LW_GOAL_POINT if self.orientation is None else lib.LW_GOAL_POSE)


@dataclasses.dataclass(frozen=True)
class Reach:
    """The end of a search for coordinates that meet goals."""

    outcome: str  #: "reached", "limits", "minimum", "unreachable" or "iterations"
    q: Array  #: [tree_nq] the best coordinates found
    gaps: Array  #: of each goal [m, rad]
    iterations: int
    starts: int  #: states that the search began with
    active: int  #: ranges of joints that hold it back
    limit: str  #: the coordinate of the one that matters most, or ""

    @property
    def reached(self) -> bool:
        return self.outcome == "reached"


class PointMotion:
    """A point of a body, and the attitude of the body."""

    __slots__ = ("numbers",)

    def __init__(self) -> None:
        self.numbers: Array = np.empty(13)  #: the other quantities, which are views of it

    @property
    def position(self) -> Array:
        """World [m]."""
        return self.numbers[:3]

    @property
    def quaternion(self) -> Array:
        """Body frame to world."""
        return self.numbers[3:7]

    @property
    def velocity(self) -> Array:
        """Of the point, world axes [m/s]."""
        return self.numbers[7:10]

    @property
    def angular_velocity(self) -> Array:
        """World axes [rad/s]."""
        return self.numbers[10:]

    def __repr__(self) -> str:
        return (f"<linkwork.PointMotion: position {self.position}, quaternion {self.quaternion}, velocity {self.velocity}, "
                f"angular_velocity {self.angular_velocity}>")


class Kinematics:
    """A mechanism placed at a state; at first the model's start.  One per thread: a second thread gets an ArgumentError.
    ``out`` is an array for the result, or the :class:`PointMotion` of an earlier call.

    :param independent: joints, or "JOINT.q1", that must be independent coordinates; default: chosen
    """

    def __init__(self, model: Model, independent: Names = None) -> None:
        made, error, keep = ffi.new("lw_kinematics **"), ffi.new("lw_error *"), _list(independent)
        check(lib.lw_kinematics_create(model._handle, keep, made, error), error)
        self.model = model
        self._handle = ffi.gc(made[0], lambda k, m=model: lib.lw_kinematics_destroy(k))
        self._nv, self._dof = model.tree_nv, int(lib.lw_kinematics_dof(made[0]))
        self._bodies = {body.name: body.index for body in model.bodies}
        self._calls = workspace()
        self._calls.bind_kinematics(int(ffi.cast("uintptr_t", made[0])), model.tree_nq, self._nv, self._dof)

    @property
    def independent(self) -> Tuple[str, ...]:
        """Names of the independent coordinates: columns of :meth:`jacobian`."""
        room, names = ffi.new("char[256]"), []
        for k in range(self._dof):
            lib.lw_kinematics_coordinate_name(self._handle, k, room, 256)
            names.append(text_of(room))
        return tuple(names)

    def set(self, q: ArrayLike, v: Optional[ArrayLike] = None, *, time: float = 0.0) -> None:
        """Places the mechanism.  After an error set it again before anything is read: what is placed is not defined.

        :raises ArgumentError: q does not close the loops; the joint and the residual are named
        """
        if not self._calls.place(q, v, time):
            self._set(q, v, time)

    @alone
    def _set(self, q: ArrayLike, v: Optional[ArrayLike], time: float) -> None:
        a, error = numbers(q, (self.model.tree_nq,), "q"), ffi.new("lw_error *")
        b = None if v is None else numbers(v, (self._nv,), "v")
        check(lib.lw_kinematics_set(self._handle, time, doubles(a), ffi.NULL if b is None else doubles(b), error), error)

    def tangent(self, *, out: Optional[Array] = None) -> Array:
        """B [tree_nv, dof]: speeds of the tree are B z + c, z the independent ones."""
        B = np.empty((self._nv, self._dof)) if out is None else out
        return B if self._calls.tangent(B) else self._tangent(out)

    @alone
    def _tangent(self, out: Optional[Array]) -> Array:
        B = out_array(out, (self._nv, self._dof))
        check(lib.lw_kinematics_tangent(self._handle, doubles(B)))
        return B

    def _at(self, body: str, point: ArrayLike) -> Tuple[Any, Any]:
        x = finite(numbers(point, (3,), "point"), "point")
        return (ffi.new("lw_body *", [self.model.body(body).index])[0],
                ffi.new("lw_vec3 *", {"x": x[0], "y": x[1], "z": x[2]})[0])

    def point(self, body: str, point: ArrayLike = (0.0, 0.0, 0.0), *,
              out: Optional[PointMotion] = None) -> PointMotion:
        """Place and velocity of a point in the frame of a body."""
        motion = PointMotion() if out is None else out
        if isinstance(motion, PointMotion) and self._calls.point(self._bodies.get(body), point, motion.numbers):
            return motion
        return self._point(body, point, motion)

    @alone
    def _point(self, body: str, point: ArrayLike, motion: PointMotion) -> PointMotion:
        if not isinstance(motion, PointMotion):
            raise ArgumentError(f"out: expected a PointMotion, got {type(motion).__name__}")
        to = ffi.cast("lw_point_motion *", doubles(out_array(motion.numbers, (13,))))
        check(lib.lw_kinematics_point(self._handle, *self._at(body, point), to))
        return motion

    def jacobian(self, body: str, point: ArrayLike = (0.0, 0.0, 0.0), *, axes: str = "world",
                 tree: bool = False, out: Optional[Array] = None) -> Array:
        """Velocity of a point and angular velocity of its body by the independent speeds, the loops closed [6, dof].

        :param axes: of the components: "world" or "body"
        :param tree: by the speeds of the tree [6, tree_nv]
        """
        J = np.empty((6, self._nv if tree else self._dof)) if out is None else out
        if self._calls.jacobian(self._bodies.get(body), point, axes, tree, J):
            return J
        return self._jacobian(body, point, axes, tree, out)

    @alone
    def _jacobian(self, body: str, point: ArrayLike, axes: str, tree: bool, out: Optional[Array]) -> Array:
        if axes not in ("world", "body"):
            raise ArgumentError(f"axes: expected 'world' or 'body', got {axes!r}")
        J = out_array(out, (6, self._nv if tree else self._dof))
        call = lib.lw_kinematics_tree_jacobian if tree else lib.lw_kinematics_jacobian
        check(call(self._handle, *self._at(body, point), lib.LW_AXES_WORLD if axes == "world" else lib.LW_AXES_BODY,
                   doubles(J)))
        return J

    @alone
    def reach(self, *goals: Goal, q: Optional[ArrayLike] = None, time: float = 0.0, tolerance: float = 1e-9,
              iterations: int = 0, starts: int = 1, limits: bool = True) -> Reach:
        """Coordinates that meet goals, near those to begin with; loops are closed, joints are in their ranges. The
        mechanism is then placed there.

        :param q: where to begin; default: the model's start
        :param time: of drives [s]
        :param tolerance: of gaps [m, rad]
        :param iterations: upper bound of the steps of one start; 0: 200
        :param starts: the search begins again elsewhere if it does not reach the goals
        :param limits: whether ranges of joints hold
        """
        room, error = ffi.new("lw_goal[]", len(goals) + 1), ffi.new("lw_error *")
        for i, goal in enumerate(goals):
            goal._fill(self.model, room[i])
        at = (self.model.start()[0] if q is None else numbers(q, (self.model.tree_nq,), "q")).copy()
        gaps, report = np.zeros(len(goals)), ffi.new("lw_reach_report *")
        desc = ffi.new("lw_reach_desc *", {"time": time, "tolerance": tolerance, "iterations": iterations,
                                           "starts": starts, "ignore_limits": not limits})
        check(lib.lw_kinematics_reach(self._handle, len(goals), room, desc, doubles(at), doubles(gaps), report,
                                      error), error)
        return Reach(_OUTCOME[report.outcome], at, gaps, report.iterations, report.starts, report.active,
                     text_of(report.limit))


__all__ = ["Goal", "Kinematics", "PointMotion", "Reach"]
