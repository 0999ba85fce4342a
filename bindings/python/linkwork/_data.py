"""Dynamics, and equations of loops, at given states."""
from __future__ import annotations

import math
import warnings
from typing import Any, Dict, List, Optional, Tuple

import numpy as np
from numpy.typing import ArrayLike

from ._errors import ArgumentError, Error, check
from ._memory import FLOAT, Array, doubles, numbers, out_array, real
from ._model import Model, made_model
from ._native import ffi, lib
from ._workspace import alone, workspace

#: Allowed violation of the loop constraints by q [m, rad]: ten times that of a model's start, so that the drift of
#: a motion integrated outside is reported.
_OFF = 1e-5


class OffLoopsWarning(UserWarning):
    """The coordinates violate the joint constraints of a mechanism with loops."""


class Data:
    """Workspace for evaluations of one model; one per thread: a second thread gets an ArgumentError.

    Coordinates ``q`` [model.tree_nq] and speeds ``v`` [model.tree_nv] are those of the spanning tree that
    are not driven: ``Joint.tree_q`` and ``Joint.tree_v`` are the slices of a joint, floating bodies have
    seven and six numbers. With loops ``q`` must satisfy their constraints (``Model.assemble``), or there is an
    :class:`OffLoopsWarning`; ``v`` is projected onto them. Methods take one state or many, [rows, n], and return as
    many; ``out`` is an array for the result. The interpreter's lock is released during the evaluation.

    =====================  =============================  ====================
    here                   computes                       Pinocchio, RBDL
    =====================  =============================  ====================
    forward_dynamics       accelerations from efforts     aba, with loops
                                                          constraintDynamics
    inverse_dynamics       efforts from accelerations     rnea
    mass_matrix            M(q)                           crba
    inverse_derivatives    derivatives of efforts         computeRNEADerivatives
    forward_derivatives    derivatives of accelerations   computeABADerivatives
    constraints            phi, J, gamma of the loops     constraint Jacobian
    =====================  =============================  ====================
    """

    def __init__(self, model: Model) -> None:
        self.model = made_model(model)
        self._nq, self._nv = self.model.tree_nq, self.model.tree_nv
        self._dynamics: Any = None
        self._constraints: Any = None
        self._watched: Any = None  # rows that show whether q satisfies the loop constraints
        self._off = ffi.new("int *")  # a state that may violate them
        self._calls = workspace()
        self._has_loops = bool(self.model.loops)
        self._rest = np.zeros(self._nv)

    def __reduce__(self) -> Any:
        return Data, (self.model,)  # a workspace keeps no state: a copy is a new one

    def _tree(self) -> Any:
        if self._dynamics is None:
            made, error = ffi.new("lw_dynamics **"), ffi.new("lw_error *")
            check(lib.lw_dynamics_create(self.model._handle, ffi.NULL, made, error), error)
            self._dynamics = ffi.gc(made[0], lambda d, m=self.model: lib.lw_dynamics_destroy(d))
            self._calls.bind(int(ffi.cast("uintptr_t", made[0])), self._nq, self._nv, _OFF)
        return self._dynamics

    def _check(self, status: int) -> None:
        if status < 0:
            check(status, lib.lw_dynamics_error(self._tree()))

    def _closed(self) -> Any:
        if self._constraints is None:
            made, error = ffi.new("lw_constraints **"), ffi.new("lw_error *")
            check(lib.lw_constraints_create(self.model._handle, ffi.NULL, made, error), error)
            self._constraints = ffi.gc(made[0], lambda c, m=self.model: lib.lw_constraints_destroy(c))
        return self._constraints

    def _rows(self, n: int, values: ArrayLike, what: str, count: Optional[int]) -> Array:
        """[count, n] from one or many; count None: as many as there are, -1 for one."""
        if type(values) is np.ndarray and values.shape == (n,) and values.dtype is FLOAT \
                and (count is None or count < 0) and values.flags.c_contiguous:
            return values
        array = real(values, what)
        if count is None:
            return numbers(array, (n,) if array.ndim == 1 else (-1, n), what)
        return numbers(array, (n,) if count < 0 else (count, n), what)

    def _inputs(self, inputs: Optional[ArrayLike]) -> Tuple[Any, Any]:
        if inputs is None:
            return ffi.NULL, None
        array = numbers(inputs, (len(self.model.inputs),), "inputs")
        return doubles(array), array

    def _state(self, q: ArrayLike, *others: Tuple[ArrayLike, str]) -> Tuple[int, Array, Tuple[Array, ...]]:
        first = self._rows(self._nq, q, "q", None)
        count = -1 if first.ndim == 1 else len(first)
        return count, first, tuple([self._rows(self._nv, x, what, count) for x, what in others])

    def _shape(self, count: int, *size: int) -> Tuple[int, ...]:
        return size if count < 0 else (count, *size)

    # ----------------------------------------------------------------------------------------- tree

    def forward_dynamics(self, q: ArrayLike, v: ArrayLike, tau: Optional[ArrayLike] = None, *,
                         time: float = 0.0, inputs: Optional[ArrayLike] = None,
                         out: Optional[Array] = None) -> Array:
        """Accelerations from efforts `tau`, which are added to those of the model's forces; also for
        mechanisms with loops: an :class:`OffLoopsWarning` reports a `q` that violates their constraints."""
        if inputs is None:
            vdot = np.empty(self._nv) if out is None else out
            if self._calls.forward_dynamics(q, v, tau, time, vdot):
                return vdot
        return self._forward_dynamics(q, v, tau, time, inputs, out)

    @alone
    def _forward_dynamics(self, q: ArrayLike, v: ArrayLike, tau: Optional[ArrayLike], time: float,
                          inputs: Optional[ArrayLike], out: Optional[Array]) -> Array:
        handle, n = self._tree(), self._nv
        count, a, (b,) = self._state(q, (v, "v"))
        c = None if tau is None else self._rows(n, tau, "tau", count)
        given, keep = self._inputs(inputs)
        vdot = out_array(out, self._shape(count, n))
        self._check(lib.lwpy_forward_dynamics(handle, abs(count), time, doubles(a), doubles(b),
                                              ffi.NULL if c is None else doubles(c), given, doubles(vdot),
                                              _OFF, self._off))
        del keep
        if self._off[0] >= 0:
            self._warn_off_loops(abs(count), time, a)
        return vdot

    def _rows_to_watch(self) -> Any:
        """Geometric rows: without those that contain an angle of a cut joint (its drive, a coupling), because q does
        not determine its full turns."""
        try:
            handle = self._closed()
        except Error:
            return ffi.new("int[]", 0)
        rows: List[int] = []
        first: Dict[int, int] = {}
        looped = bool(self.model.loops)
        for row in range(lib.lw_constraints_count(handle)):
            joint = self.model.joints[lib.lw_constraints_joint(handle, row).index]
            since = row - first.setdefault(joint.index, row)
            if not looped or (joint.closes_loop and since < 6 - joint.nv):
                rows.append(row)
        return ffi.new("int[]", rows)

    def _warn_off_loops(self, count: int, time: float, q: Array) -> None:
        if self._watched is None:
            self._watched = self._rows_to_watch()
        if not len(self._watched):
            return
        handle, rows = self._closed(), self._watched
        still, phi = np.zeros(self._nv), np.empty(lib.lw_constraints_count(handle))
        most, which = ffi.new("double *"), ffi.new("int *")
        check(lib.lwpy_off_loops(handle, count, self._nq, time, doubles(q), doubles(still), len(rows),
                                 rows, doubles(phi), most, which))
        if most[0] > _OFF:
            joint = self.model.joints[lib.lw_constraints_joint(handle, which[0]).index].name
            # to the power of ten: the same message, so one warning, for states with similar violations
            off = 10.0 ** math.floor(math.log10(most[0]))
            warnings.warn(f"forward_dynamics: q is off the loops: joint '{joint}' misses by {off:.0e} m or rad or "
                          "more, so that accelerations are not those of the mechanism; expected coordinates at "
                          "which all joints hold (Model.assemble, Simulation)", OffLoopsWarning, stacklevel=5)

    def inverse_dynamics(self, q: ArrayLike, v: ArrayLike, vdot: ArrayLike, *, time: float = 0.0,
                         inputs: Optional[ArrayLike] = None, out: Optional[Array] = None) -> Array:
        """Efforts that the joints must supply in addition to the model's forces; for trees: in loops they are
        not unique."""
        if inputs is None:
            tau = np.empty(self._nv) if out is None else out
            if self._calls.inverse_dynamics(q, v, vdot, time, tau):
                return tau
        return self._inverse_dynamics(q, v, vdot, time, inputs, out)

    @alone
    def _inverse_dynamics(self, q: ArrayLike, v: ArrayLike, vdot: ArrayLike, time: float,
                          inputs: Optional[ArrayLike], out: Optional[Array]) -> Array:
        handle = self._tree()
        count, a, (b, c) = self._state(q, (v, "v"), (vdot, "vdot"))
        given, keep = self._inputs(inputs)
        tau = out_array(out, self._shape(count, self._nv))
        self._check(lib.lwpy_inverse_dynamics(handle, abs(count), time, doubles(a), doubles(b), doubles(c),
                                              given, doubles(tau)))
        del keep
        return tau

    def mass_matrix(self, q: ArrayLike, *, time: float = 0.0, out: Optional[Array] = None) -> Array:
        """Mass matrix of the tree [tree_nv, tree_nv], symmetric; for a model with loops that of the spanning tree
        when they are cut."""
        M = np.empty((self._nv, self._nv)) if out is None else out
        if self._calls.mass_matrix(q, time, M):
            return M
        return self._mass_matrix(q, time, out)

    @alone
    def _mass_matrix(self, q: ArrayLike, time: float, out: Optional[Array]) -> Array:
        n = self._nv
        count, a, _ = self._state(q)
        M = out_array(out, self._shape(count, n, n))
        self._check(lib.lwpy_mass_matrix(self._tree(), abs(count), time, doubles(a), doubles(M)))
        return M

    def inverse_derivatives(self, q: ArrayLike, v: ArrayLike, vdot: ArrayLike, *, time: float = 0.0,
                            inputs: Optional[ArrayLike] = None) -> Tuple[Array, Array, Array]:
        """Derivatives of the efforts of :meth:`inverse_dynamics` by q, v and vdot (the mass matrix), each
        [tree_nv, tree_nv]: rows are efforts, columns displacements along the speeds (of ball joints and floating
        bases along their own axes, as those of Pinocchio). With loops efforts are those of the spanning tree,
        M vdot + h = tau + J' lambda. Forces of the model by differences."""
        if inputs is None:
            size = self._nv, self._nv
            by_q, by_v, M = np.empty(size), np.empty(size), np.empty(size)
            if self._calls.inverse_derivatives(q, v, vdot, time, by_q, by_v, M):
                return by_q, by_v, M
        return self._inverse_derivatives(q, v, vdot, time, inputs)

    @alone
    def _inverse_derivatives(self, q: ArrayLike, v: ArrayLike, vdot: ArrayLike, time: float,
                             inputs: Optional[ArrayLike]) -> Tuple[Array, Array, Array]:
        n = self._nv
        count, a, (b, c) = self._state(q, (v, "v"), (vdot, "vdot"))
        given, keep = self._inputs(inputs)
        by_q, by_v, M = (np.empty(self._shape(count, n, n)) for _ in range(3))
        self._check(lib.lwpy_inverse_derivatives(self._tree(), abs(count), time, doubles(a), doubles(b), doubles(c),
                                                 given, doubles(by_q), doubles(by_v), doubles(M)))
        del keep
        return by_q, by_v, M

    def forward_derivatives(self, q: ArrayLike, v: ArrayLike, tau: Optional[ArrayLike] = None, *,
                            time: float = 0.0, inputs: Optional[ArrayLike] = None
                            ) -> Tuple[Array, Array, Array, Array]:
        """Accelerations [tree_nv] and their derivatives by q, v and tau (of trees the inverse of the mass matrix), each
        [tree_nv, tree_nv]; rows are accelerations, columns as in :meth:`inverse_derivatives`. With loops
        ``by_q @ dq + by_v @ dv`` holds for all changes dq, dv of the state that the constraints admit;
        ``linkwork.linearize`` gives the same in independent coordinates."""
        if inputs is None:
            size = self._nv, self._nv
            vdot, by_q, by_v, by_tau = np.empty(self._nv), np.empty(size), np.empty(size), np.empty(size)
            if self._calls.forward_derivatives(q, v, tau, time, vdot, by_q, by_v, by_tau):
                return vdot, by_q, by_v, by_tau
        return self._forward_derivatives(q, v, tau, time, inputs)

    @alone
    def _forward_derivatives(self, q: ArrayLike, v: ArrayLike, tau: Optional[ArrayLike], time: float,
                             inputs: Optional[ArrayLike]) -> Tuple[Array, Array, Array, Array]:
        n = self._nv
        count, a, (b,) = self._state(q, (v, "v"))
        c = None if tau is None else self._rows(n, tau, "tau", count)
        given, keep = self._inputs(inputs)
        vdot = np.empty(self._shape(count, n))
        by_q, by_v, by_tau = (np.empty(self._shape(count, n, n)) for _ in range(3))
        self._check(lib.lwpy_forward_derivatives(self._tree(), abs(count), time, doubles(a), doubles(b),
                                                 ffi.NULL if c is None else doubles(c), given, doubles(vdot),
                                                 doubles(by_q), doubles(by_v), doubles(by_tau)))
        del keep
        return vdot, by_q, by_v, by_tau

    def momenta(self, q: ArrayLike, v: ArrayLike, *, time: float = 0.0,
                out: Optional[Array] = None) -> Array:
        """Joint momenta p = dT/dv of the spanning tree, with rotors of cut joints."""
        p = np.empty(self._nv) if out is None else out
        if self._calls.momenta(q, v, time, p):
            return p
        return self._momenta(q, v, time, out)

    @alone
    def _momenta(self, q: ArrayLike, v: ArrayLike, time: float, out: Optional[Array]) -> Array:
        handle = self._tree()
        count, a, (b,) = self._state(q, (v, "v"))
        p = out_array(out, self._shape(count, self._nv))
        self._check(lib.lwpy_momenta(handle, abs(count), time, doubles(a), doubles(b), doubles(p)))
        return p

    @alone
    def momenta_rates(self, q: ArrayLike, p: ArrayLike, tau: Optional[ArrayLike] = None, *,
                      time: float = 0.0,
                      inputs: Optional[ArrayLike] = None) -> Tuple[Array, Array, Array]:
        """(v, qdot, pdot) of canonical momenta p; one state.  With loops any p is admissible: v satisfies them, and p
        may contain impulses of cut joints, which grow by their reactions (`kappa: none`)."""
        handle, nq, n = self._tree(), self._nq, self._nv
        a, b = numbers(q, (nq,), "q"), numbers(p, (n,), "p")
        c = None if tau is None else numbers(tau, (n,), "tau")
        given, keep = self._inputs(inputs)
        v, qdot, pdot = np.empty(n), np.empty(nq), np.empty(n)
        self._check(lib.lw_momenta_rates(handle, time, doubles(a), doubles(b),
                                         ffi.NULL if c is None else doubles(c), given, doubles(v),
                                         doubles(qdot), doubles(pdot)))
        del keep
        return v, qdot, pdot

    # ---------------------------------------------------------------------------------------- loops

    @alone
    def constraints(self, q: ArrayLike, v: Optional[ArrayLike] = None, *,
                    time: float = 0.0) -> "Constraints":
        """The equations of the joints that close loops, and of couplings, in the speeds of the tree."""
        handle, n = self._closed(), self._nv
        a = numbers(q, (self._nq,), "q")
        b = np.zeros(n) if v is None else numbers(v, (n,), "v")
        m = int(lib.lw_constraints_count(handle))
        phi, rate, J, gamma = np.empty(m), np.empty(m), np.empty((m, n)), np.empty(m)
        check(lib.lw_constraints_evaluate(handle, time, doubles(a), doubles(b), doubles(phi),
                                          doubles(rate), doubles(J), doubles(gamma)))
        joints = tuple(self.model.joints[lib.lw_constraints_joint(handle, i).index].name
                       for i in range(m))
        return Constraints(phi, rate, J, gamma, joints)

    def constraint_jacobian(self, q: ArrayLike, *, time: float = 0.0) -> Array:
        """J [rows, tree_nv] alone: J v + b = 0 if the loop constraints hold."""
        return self.constraints(q, time=time).J

    def bias(self, q: ArrayLike, v: ArrayLike, *, time: float = 0.0,
             inputs: Optional[ArrayLike] = None) -> Array:
        """h of M vdot + h = tau + J' lambda: velocity terms, weight, the model's forces; for the spanning tree
        when loops are cut."""
        if inputs is None and not self._has_loops:
            if self._dynamics is None:
                self._tree()
            h = np.empty(self._nv)
            if self._calls.inverse_dynamics(q, v, self._rest, time, h):
                return h
        return self._bias(q, v, time, inputs)

    @alone
    def _bias(self, q: ArrayLike, v: ArrayLike, time: float, inputs: Optional[ArrayLike]) -> Array:
        handle, n = self._closed(), self._nv
        a, b = numbers(q, (self._nq,), "q"), numbers(v, (n,), "v")
        given, keep = self._inputs(inputs)
        h = np.empty(n)
        check(lib.lw_constraints_tree(handle, time, doubles(a), doubles(b), given, ffi.NULL, doubles(h)))
        del keep
        return h

    def __repr__(self) -> str:
        return f"<linkwork.Data: {self._nq} coordinates, {self._nv} speeds>"


class Constraints:
    """phi = 0, rate = J v + b = 0, J vdot + gamma = 0; a row per equation."""

    def __init__(self, phi: Array, rate: Array, J: Array, gamma: Array, joints: Tuple[str, ...]) -> None:
        self.phi, self.rate, self.J, self.gamma = phi, rate, J, gamma
        self.joints = joints  #: the joint of each row

    def __repr__(self) -> str:
        return f"<linkwork.Constraints: {len(self.phi)} rows of {', '.join(dict.fromkeys(self.joints))}>"


__all__ = ["ArgumentError", "Constraints", "Data", "OffLoopsWarning"]
