"""Configurations of the tree: neutral, random, integrate, difference.

Coordinates are additive except for attitudes, which are a quaternion with its angular velocity in the moved frame,
for free joints and floating bodies with the position and its velocity in that frame (SE(3)).
"""
from __future__ import annotations

from typing import TYPE_CHECKING, List, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from . import quaternion
from ._errors import UnsupportedError
from ._memory import Array, finite, numbers

if TYPE_CHECKING:
    from ._model import Model


class Block(NamedTuple):
    """Consecutive coordinates of one kind: "scalar", "angle", "ball" or "free"."""

    kind: str
    q: int
    v: int


def blocks_of(model: "Model") -> List[Block]:
    """All coordinates of the tree; those of no joint are a floating body's."""
    blocks: List[Block] = []
    used = np.zeros(model.tree_nq, dtype=bool)
    used_v = np.zeros(model.tree_nv, dtype=bool)
    for joint in model.joints:
        q, v = joint.tree_q, joint.tree_v
        used[q] = used_v[v] = True
        n = q.stop - q.start
        if joint.quaternion >= 0 and n:
            blocks.append(Block("ball" if n == 4 else "free", q.start, v.start))
        elif joint.type == "custom":
            raise UnsupportedError(f"joint '{joint.name}': coordinates of custom joints are not known")
        else:
            free = n == joint.nq  # some are driven; which ones remain is unknown, full turns do no harm
            blocks += [Block("angle" if not free or k in joint.angles else "scalar",
                             q.start + k, v.start + k) for k in range(n)]
    bases, bases_v = np.flatnonzero(~used), np.flatnonzero(~used_v)
    blocks += [Block("free", int(bases[7 * i]), int(bases_v[6 * i])) for i in range(len(bases) // 7)]
    return blocks


def neutral(blocks: List[Block], nq: int) -> Array:
    q = np.zeros(nq)
    for b in blocks:
        if b.kind in ("ball", "free"):
            q[b.q + (3 if b.kind == "free" else 0)] = 1
    return q


def random(blocks: List[Block], nq: int, rng: np.random.Generator) -> Array:
    q = np.zeros(nq)
    for b in blocks:
        if b.kind == "scalar":
            q[b.q] = rng.uniform(-1, 1)
        elif b.kind == "angle":
            q[b.q] = rng.uniform(-np.pi, np.pi)
        else:
            at = b.q
            if b.kind == "free":
                q[at:at + 3] = rng.uniform(-1, 1, 3)
                at += 3
            attitude = rng.normal(size=4)
            q[at:at + 4] = attitude / np.linalg.norm(attitude)
    return q


def _skew(w: Array) -> Array:
    return np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])


def _left_jacobian(w: Array) -> Array:
    """Integral of exp(s [w]) over s in (0, 1): 1 + (1 - cos a)/a^2 [w] + (a - sin a)/a^3 [w]^2."""
    a = float(np.linalg.norm(w))
    W = _skew(w)
    if a < 1e-4:  # the series: its next term is a^4/120, below round-off
        return np.asarray(np.eye(3) + (0.5 - a * a / 24) * W + (1 / 6 - a * a / 120) * (W @ W))
    return np.asarray(np.eye(3) + (1 - np.cos(a)) / a**2 * W + (a - np.sin(a)) / a**3 * (W @ W))


def integrate(blocks: List[Block], model: "Model", q: ArrayLike, v: ArrayLike) -> Array:
    q0, v0 = finite(numbers(q, (model.tree_nq,), "q"), "q"), finite(numbers(v, (model.tree_nv,), "v"), "v")
    q1 = q0.copy()
    for b in blocks:
        if b.kind in ("scalar", "angle"):
            q1[b.q] += v0[b.v]
            continue
        iq, iv = b.q, b.v
        if b.kind == "free":
            w = v0[iv + 3:iv + 6]
            R = quaternion.to_matrix(q0[iq + 3:iq + 7])
            q1[iq:iq + 3] += R @ (_left_jacobian(w) @ v0[iv:iv + 3])
            iq, iv = iq + 3, iv + 3
        q1[iq:iq + 4] = quaternion.multiply(q0[iq:iq + 4], quaternion.from_rotation_vector(v0[iv:iv + 3]))
    return q1


def difference(blocks: List[Block], model: "Model", q0: ArrayLike, q1: ArrayLike) -> Array:
    a = finite(numbers(q0, (model.tree_nq,), "q0"), "q0")
    c = finite(numbers(q1, (model.tree_nq,), "q1"), "q1")
    v = np.zeros(model.tree_nv)
    for b in blocks:
        if b.kind in ("scalar", "angle"):
            v[b.v] = c[b.q] - a[b.q]
            continue
        iq, iv = (b.q + 3, b.v + 3) if b.kind == "free" else (b.q, b.v)
        turn = quaternion.multiply(quaternion.conjugate(a[iq:iq + 4]), c[iq:iq + 4])
        w = v[iv:iv + 3] = quaternion.to_rotation_vector(turn)
        if b.kind == "free":
            R = quaternion.to_matrix(a[iq:iq + 4])
            v[b.v:b.v + 3] = np.linalg.solve(_left_jacobian(w), R.T @ (c[b.q:b.q + 3] - a[b.q:b.q + 3]))
    return v
