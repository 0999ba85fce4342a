"""Derivatives of the dynamics at a state by physical parameters."""
from __future__ import annotations

from typing import Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike

from ._errors import check
from ._memory import Array, doubles, numbers
from ._model import Model, made_model
from ._native import ffi, lib


class Parametric:
    """Derivatives of efforts and accelerations at a state by parameters.  One thread at a time.

    :param by: parameters of the model's file, and numbers of its description: "body.arm.mass", "body.arm.com_x",
        "joint.A.stiffness0", "gravity.z", as in :func:`sweep`; they are independent of each other
    """

    def __init__(self, model: Model, by: Union[str, Sequence[str]]) -> None:
        self.parameters = (by,) if isinstance(by, str) else tuple(by)
        self.model = made_model(model)
        keep = [ffi.new("char[]", name.encode()) for name in self.parameters]
        made, error = ffi.new("lw_parametric **"), ffi.new("lw_error *")
        names = ffi.new("const char *[]", keep or [ffi.NULL])
        check(lib.lw_parametric_create(self.model._handle, names, len(keep), made, error), error)
        self._handle = ffi.gc(made[0], lambda p, m=self.model: lib.lw_parametric_destroy(p))

    @property
    def exact(self) -> Tuple[bool, ...]:
        """Of each parameter: is its derivative free of differences of the equations?"""
        return tuple(bool(lib.lw_parametric_is_exact(self._handle, k)) for k in range(len(self.parameters)))

    def _given(self, inputs: Optional[ArrayLike]) -> Optional[Array]:
        return None if inputs is None else numbers(inputs, (len(self.model.inputs),), "inputs")

    def inverse(self, q: ArrayLike, v: ArrayLike, vdot: ArrayLike, *, time: float = 0.0,
                inputs: Optional[ArrayLike] = None) -> Array:
        """Derivatives [tree_nv, parameter] of the efforts M vdot + h of the spanning tree, at fixed q, v, vdot."""
        n, given = self.model.tree_nv, self._given(inputs)
        state = (numbers(q, (self.model.tree_nq,), "q"), numbers(v, (n,), "v"), numbers(vdot, (n,), "vdot"))
        by_p = np.empty((n, len(self.parameters)))
        status = lib.lw_parametric_inverse(self._handle, time, *(doubles(x) for x in state),
                                           ffi.NULL if given is None else doubles(given), doubles(by_p))
        check(status, lib.lw_parametric_error(self._handle))
        return by_p

    def forward(self, q: ArrayLike, v: ArrayLike, tau: Optional[ArrayLike] = None, *, time: float = 0.0,
                inputs: Optional[ArrayLike] = None) -> Tuple[Array, Array]:
        """Accelerations [tree_nv] and their derivatives [tree_nv, parameter] at fixed q, v, tau; loops included.

        Where a parameter moves the joints of a loop, add ``by_q @ dq + by_v @ dv`` (:meth:`Data.forward_derivatives`)
        of the motion that keeps the loop closed.
        """
        n, given = self.model.tree_nv, self._given(inputs)
        a, b = numbers(q, (self.model.tree_nq,), "q"), numbers(v, (n,), "v")
        c = None if tau is None else numbers(tau, (n,), "tau")
        vdot, by_p = np.empty(n), np.empty((n, len(self.parameters)))
        status = lib.lw_parametric_forward(self._handle, time, doubles(a), doubles(b),
                                           ffi.NULL if c is None else doubles(c),
                                           ffi.NULL if given is None else doubles(given), doubles(vdot), doubles(by_p))
        check(status, lib.lw_parametric_error(self._handle))
        return vdot, by_p

    def __repr__(self) -> str:
        return f"<linkwork.Parametric: {len(self.parameters)} parameters>"
