"""Models as machine code: made by the system's compiler, kept in a private folder, loaded."""
from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import ArrayLike

from ._errors import ArgumentError, UnsupportedError, check, text_of
from ._memory import Array, doubles, numbers, out_array, real
from ._native import ffi, lib

_DEPENDENT = "a dependent speed of a loop does not follow from the independent ones at this state"


class Compiled:
    """The dynamics of a model as machine code: of :meth:`Model.compile`.

    Coordinates `q` [model.tree_nq] and speeds `v` [model.tree_nv] are those of :class:`Data`; methods take one state or many,
    [rows, n]. Many are evaluated in vector lanes, with the bits of single calls. The object is constant: any number of
    threads may call it at a time, and the interpreter's lock is released. With arrays of float64 and `out` a call
    allocates no arrays.

    Where a dependent speed of a closed loop does not follow from the independent ones that the generated code chose at the start,
    code with another choice is compiled and loaded (docs/compiled.md). Where it follows from no others, a single call raises
    :class:`SingularError`; of many states these have rows of NaN.
    """

    def __init__(self, model: Any, compiler: Optional[str] = None, cache: Optional[str] = None, lanes: int = 0,
                 derivatives: bool = False) -> None:
        self.model = model
        self._how = (compiler, cache, lanes, derivatives)
        words = [None if text is None else ffi.new("char[]", text.encode()) for text in (compiler, cache)]
        desc = ffi.new("lw_compiled_desc *", {"lanes": lanes, "on_demand": True, "derivatives": derivatives})
        desc.compiler, desc.cache = [ffi.NULL if word is None else word for word in words]
        made, error = ffi.new("lw_compiled **"), ffi.new("lw_error *")
        check(lib.lw_compiled_create(model._handle, desc, made, error), error)
        self._handle = ffi.gc(made[0], lib.lw_compiled_destroy)
        about = lib.lw_compiled_about(self._handle)
        #: it was compiled before
        self.found = bool(about.found)
        #: what the compiler took [s]
        self.seconds = float(about.compiling)
        #: states side by side in vector registers
        self.lanes = int(about.lanes)
        self.compiler = text_of(about.compiler)
        #: whether derivatives were compiled
        self.derivatives = bool(derivatives)
        self._nq, self._nv, self._nx, self._nu = about.nq, about.nv, about.nstate, about.ninput

    @property
    def partitions(self) -> int:
        """How many choices of independent speeds of closed loops are loaded; 0: there are no loops."""
        return int(lib.lw_compiled_about(self._handle).partitions)

    def _rows(self, values: ArrayLike, n: int, count: int, what: str) -> Array:
        return numbers(values, (n,) if count < 0 else (count, n), what)

    def _state(self, q: ArrayLike, v: ArrayLike) -> Tuple[int, Array, Array]:
        """The number of states, -1 for one that is not in rows."""
        array = real(q, "q")
        count = -1 if array.ndim == 1 else len(array)
        return count, self._rows(array, self._nq, count, "q"), self._rows(v, self._nv, count, "v")

    def _end(self, status: int, failed: Any, *results: Array, text: str = _DEPENDENT) -> None:
        """Raises, or marks the states that failed."""
        if status >= 0:
            return
        if status != lib.LW_ERR_SINGULAR or failed is None:
            check(status, text=text)
        bad = np.frombuffer(ffi.buffer(failed), dtype=np.uint8) != 0
        for result in results:
            result[bad] = np.nan

    def forward_dynamics(self, q: ArrayLike, v: ArrayLike, tau: Optional[ArrayLike] = None, *,
                         out: Optional[Array] = None) -> Array:
        """Accelerations from efforts `tau`, which are added to those of the model's forces; with loops `q` and `v` must
        satisfy them (:meth:`project`)."""
        count, a, b = self._state(q, v)
        c = None if tau is None else self._rows(tau, self._nv, count, "tau")
        vdot = out_array(out, b.shape)
        efforts = ffi.NULL if c is None else doubles(c)
        if count < 0:
            self._end(lib.lw_compiled_forward_dynamics(self._handle, doubles(a), doubles(b), efforts, doubles(vdot)), None)
            return vdot
        failed = ffi.new("unsigned char[]", count)
        self._end(lib.lw_compiled_forward_dynamics_many(self._handle, count, doubles(a), doubles(b), efforts, doubles(vdot),
                                                        failed), failed, vdot)
        return vdot

    def rates(self, q: ArrayLike, v: ArrayLike, x: Optional[ArrayLike] = None, inputs: Optional[ArrayLike] = None, *,
              time: ArrayLike = 0.0, out: Optional[Tuple[Array, Array, Array]] = None) -> Tuple[Array, Array, Array]:
        """Rates of coordinates, speeds and states of signals, as an integrator needs them: (qdot, vdot, xdot). With loops the
        dependent speeds are those that follow from the independent ones in `v`.

        :param x: states of signals, [states]; may be left out where the model has none
        :param time: [s], one or of each state
        """
        count, a, b = self._state(q, v)
        if x is None and self._nx:
            raise ArgumentError(f"x: the model has {self._nx} states of signals; expected their values")
        shape = (self._nx,) if count < 0 else (count, self._nx)
        s = np.zeros(shape) if x is None else self._rows(x, self._nx, count, "x")
        u = None if inputs is None else self._rows(inputs, self._nu, count, "inputs")
        given = ffi.NULL if u is None else doubles(u)
        qdot, vdot, xdot = [out_array(o, n, "out") for o, n in zip(out or (None,) * 3, (a.shape, b.shape, shape))]
        if count < 0:
            self._end(lib.lw_compiled_rates(self._handle, float(np.asarray(time)), doubles(a), doubles(b), doubles(s), given,
                                            doubles(qdot), doubles(vdot), doubles(xdot)), None)
            return qdot, vdot, xdot
        t = np.full(count, float(np.asarray(time))) if np.ndim(time) == 0 else numbers(time, (count,), "time")
        failed = ffi.new("unsigned char[]", count)
        self._end(lib.lw_compiled_rates_many(self._handle, count, doubles(t), doubles(a), doubles(b), doubles(s), given,
                                             doubles(qdot), doubles(vdot), doubles(xdot), failed), failed, qdot, vdot, xdot)
        return qdot, vdot, xdot

    def _call_derivatives(self, name: str, q: ArrayLike, v: ArrayLike, third: Optional[ArrayLike], what: str,
                          x: Optional[ArrayLike], inputs: Optional[ArrayLike], time: ArrayLike, results: List[Array]) -> None:
        """Calls the function `name` of one state or of many, which writes `results`; `third` is its argument `what`."""
        if not self.derivatives:
            raise UnsupportedError("derivatives were not compiled; expected Model.compile(derivatives=True)")
        count, a, b = self._state(q, v)
        if x is None and self._nx:
            raise ArgumentError(f"x: the model has {self._nx} states of signals; expected their values")
        given = []
        for values, n, word in ((x, self._nx, "x"), (third, self._nv, what), (inputs, self._nu, "inputs")):
            given.append(None if values is None else self._rows(values, n, count, word))
        pointers = [ffi.NULL if array is None else doubles(array) for array in given]
        states = [doubles(a), doubles(b), *pointers, *(doubles(result) for result in results)]
        if count < 0:
            self._end(getattr(lib, name)(self._handle, float(np.asarray(time)), *states), None,
                      text=_DEPENDENT if self.partitions else "the mass matrix is not positive definite at this state")
            return
        t = np.full(count, float(np.asarray(time))) if np.ndim(time) == 0 else numbers(time, (count,), "time")
        failed = ffi.new("unsigned char[]", count)
        self._end(getattr(lib, name + "_many")(self._handle, count, doubles(t), *states, failed), failed, *results)

    def _results(self, v: ArrayLike, out: Optional[Sequence[Array]], vectors: int) -> List[Array]:
        shape = real(v, "v").shape
        shapes = [shape] * vectors + [(*shape[:-1], self._nv, self._nv)] * 3
        arrays: Sequence[Optional[Array]] = (None,) * len(shapes) if out is None else out
        if len(arrays) != len(shapes):
            raise ArgumentError(f"out: expected {len(shapes)} arrays, got {len(arrays)}")
        return [out_array(array, size) for array, size in zip(arrays, shapes)]

    def forward_derivatives(self, q: ArrayLike, v: ArrayLike, tau: Optional[ArrayLike] = None, *,
                            x: Optional[ArrayLike] = None, inputs: Optional[ArrayLike] = None, time: ArrayLike = 0.0,
                            out: Optional[Sequence[Array]] = None) -> Tuple[Array, Array, Array, Array]:
        """Accelerations and their derivatives: (vdot, by_q, by_v, by_tau). The matrices are [tree_nv, tree_nv] for one state,
        [rows, tree_nv, tree_nv] for many, as those of :meth:`Data.forward_derivatives`: columns of by_q are displacements
        along the speeds. Needs ``Model.compile(derivatives=True)``.

        :param out: arrays for the four results
        """
        results = self._results(v, out, 1)
        self._call_derivatives("lw_compiled_forward_dynamics_derivatives", q, v, tau, "tau", x, inputs, time, results)
        vdot, by_q, by_v, by_tau = results
        return vdot, by_q, by_v, by_tau

    def inverse_derivatives(self, q: ArrayLike, v: ArrayLike, vdot: ArrayLike, *, x: Optional[ArrayLike] = None,
                            inputs: Optional[ArrayLike] = None, time: ArrayLike = 0.0,
                            out: Optional[Sequence[Array]] = None) -> Tuple[Array, Array, Array]:
        """Derivatives of the efforts that accelerations need: (by_q, by_v, mass matrix), as
        :meth:`Data.inverse_derivatives`; not with loops. Needs ``Model.compile(derivatives=True)``.

        :param out: arrays for the three results
        """
        if self.derivatives and self.partitions:
            raise UnsupportedError("inverse_derivatives: efforts are not unique with closed loops; expected a tree")
        results = self._results(v, out, 0)
        self._call_derivatives("lw_compiled_inverse_dynamics_derivatives", q, v, vdot, "vdot", x, inputs, time, results)
        by_q, by_v, mass = results
        return by_q, by_v, mass

    def project(self, q: ArrayLike, v: ArrayLike, *, time: float = 0.0) -> Tuple[Array, Array]:
        """Copies in which loops are closed: dependent coordinates by Newton's method, then dependent speeds."""
        count, a, b = self._state(q, v)
        closed, speeds = a.copy(), b.copy()
        if count < 0:
            self._end(lib.lw_compiled_project(self._handle, time, doubles(closed), doubles(speeds)), None)
            return closed, speeds
        failed, t = ffi.new("unsigned char[]", count), np.full(count, float(time))
        self._end(lib.lw_compiled_project_many(self._handle, count, doubles(t), doubles(closed), doubles(speeds), failed),
                  failed, closed, speeds)
        return closed, speeds

    def __reduce__(self) -> Any:
        return Compiled, (self.model, *self._how)  # compiled again, or found

    def __repr__(self) -> str:
        how = "found" if self.found else f"compiled in {self.seconds:.2g} s"
        return f"<linkwork.Compiled: {self._nv} speeds, {self.lanes} lanes, {how}, {self.compiler}>"


__all__ = ["Compiled"]
