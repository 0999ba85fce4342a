"""What the bridges to JAX and PyTorch share: accelerations with their Jacobians by coordinates, and a step on arrays of any kind.

Coordinates q of attitudes are unit quaternions, whose changes have no meaning but along the unit sphere: with the
displacement dx = D(q) dq along the speeds (of ball joints and floating bases in their own axes)

    dvdot = by_q D dq + by_v dv + by_tau dtau,      dq/dt = Q(q) v,      D Q = 1
"""
from __future__ import annotations

import threading
from typing import Any, Callable, List, Tuple

import numpy as np

from . import quaternion
from ._configuration import Block
from ._data import Data
from ._errors import UnsupportedError
from ._memory import Array
from ._model import Model, made_model


class Dynamics:
    """Forward dynamics of a model for any thread, of one state or many [..., n]."""

    def __init__(self, model: Model) -> None:
        self.model = made_model(model)
        if self.model.inputs:
            raise UnsupportedError(f"inputs of the model ({', '.join(self.model.inputs)}) are no arguments of the bridge: "
                                   "expected a model without, efforts as tau")
        self.blocks: List[Block] = self.model._configuration()
        self.nq, self.nv = self.model.tree_nq, self.model.tree_nv
        self._local = threading.local()

    def _data(self) -> Data:
        if not hasattr(self._local, "data"):
            self._local.data = Data(self.model)
        data: Data = self._local.data
        return data

    def _rows(self, *arrays: Any) -> Tuple[Tuple[int, ...], List[Array]]:
        """The shape of the batch, and the arrays as rows."""
        real = [np.asarray(a, dtype=float) for a in arrays]
        shape: Tuple[int, ...] = np.broadcast_shapes(*(a.shape[:-1] for a in real))
        rows = [np.ascontiguousarray(np.broadcast_to(a, (*shape, a.shape[-1])).reshape(-1, a.shape[-1])) for a in real]
        return shape, rows

    def value(self, q: Any, v: Any, tau: Any) -> Array:
        """Accelerations [..., nv]."""
        shape, rows = self._rows(q, v, tau)
        return self._data().forward_dynamics(*rows).reshape(*shape, self.nv)

    def linearized(self, q: Any, v: Any, tau: Any) -> Tuple[Array, Array, Array, Array]:
        """Accelerations, and their Jacobians by the coordinates [..., nv, nq], by v and by tau [..., nv, nv]."""
        shape, rows = self._rows(q, v, tau)
        vdot, by_q, by_v, by_tau = self._data().forward_derivatives(*rows)
        by_q = by_q @ self.displacements(rows[0])
        return (vdot.reshape(*shape, self.nv), by_q.reshape(*shape, self.nv, self.nq),
                by_v.reshape(*shape, self.nv, self.nv), by_tau.reshape(*shape, self.nv, self.nv))

    def displacements(self, q: Array) -> Array:
        """D(q) [rows, nv, nq]."""
        D = np.zeros((len(q), self.nv, self.nq))
        for b in self.blocks:
            iq, iv = b.q, b.v
            if b.kind in ("scalar", "angle"):
                D[:, iv, iq] = 1
                continue
            if b.kind == "free":
                for row in range(len(q)):
                    D[row, iv:iv + 3, iq:iq + 3] = quaternion.to_matrix(q[row, iq + 3:iq + 7]).T
                iq, iv = iq + 3, iv + 3
            w, x, y, z = (q[:, iq + k] for k in range(4))
            for i, line in enumerate(((-x, w, z, -y), (-y, -z, w, x), (-z, y, -x, w))):
                for k, number in enumerate(line):
                    D[:, iv + i, iq + k] = 2 * number
        return D

    # -------------------------------------------------------------- on arrays of any library, by components

    def rates(self, q: Any, v: Any, stack: Callable[[List[Any]], Any]) -> Any:
        """dq/dt [..., nq]; `stack` joins components along a last axis."""
        if self.nq == self.nv:
            return v
        rate: List[Any] = [None] * self.nq
        for b in self.blocks:
            iq, iv = b.q, b.v
            if b.kind in ("scalar", "angle"):
                rate[iq] = v[..., iv]
                continue
            at = iq + 3 if b.kind == "free" else iq
            w, x, y, z = (q[..., at + k] for k in range(4))
            if b.kind == "free":
                a, c, d = (v[..., iv + k] for k in range(3))
                rate[iq] = (1 - 2 * (y * y + z * z)) * a + 2 * (x * y - w * z) * c + 2 * (x * z + w * y) * d
                rate[iq + 1] = 2 * (x * y + w * z) * a + (1 - 2 * (x * x + z * z)) * c + 2 * (y * z - w * x) * d
                rate[iq + 2] = 2 * (x * z - w * y) * a + 2 * (y * z + w * x) * c + (1 - 2 * (x * x + y * y)) * d
                iv += 3
            a, c, d = (v[..., iv + k] / 2 for k in range(3))
            rate[at:at + 4] = [-x * a - y * c - z * d, w * a - z * c + y * d, z * a + w * c - x * d, -y * a + x * c + w * d]
        return stack(rate)

    def normalised(self, q: Any, stack: Callable[[List[Any]], Any]) -> Any:
        """Quaternions of length one."""
        if self.nq == self.nv:
            return q
        parts: List[Any] = [q[..., k] for k in range(self.nq)]
        for b in self.blocks:
            if b.kind in ("ball", "free"):
                at = b.q + 3 if b.kind == "free" else b.q
                length = sum(parts[at + k] ** 2 for k in range(4)) ** 0.5
                parts[at:at + 4] = [parts[at + k] / length for k in range(4)]
        return stack(parts)

    def step(self, f: Callable[[Any, Any, Any], Any], q: Any, v: Any, tau: Any, h: float,
             stack: Callable[[List[Any]], Any]) -> Tuple[Any, Any]:
        """A step of the classical Runge-Kutta method with constant efforts."""
        total_q: Any = 0
        total_v: Any = 0
        a, b = q, v
        for weight, ahead in ((1, 0.5), (2, 0.5), (2, 1.0), (1, 0.0)):
            rate_q, rate_v = self.rates(a, b, stack), f(a, b, tau)
            total_q, total_v = total_q + weight * rate_q, total_v + weight * rate_v
            a, b = self.normalised(q + ahead * h * rate_q, stack), v + ahead * h * rate_v
        return self.normalised(q + h / 6 * total_q, stack), v + h / 6 * total_v


__all__ = ["Dynamics"]
