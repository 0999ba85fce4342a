"""Quaternions: scalar first, ``(w, x, y, z)``, body to world: ``v_world = to_matrix(q) @ v_body``.

The last axis of arrays has the four components.  For programs with the scalar last
(Pinocchio, ROS, USD, SciPy) convert with :func:`to_xyzw` and :func:`from_xyzw`.
"""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._memory import Array, real

identity: Array = np.array([1.0, 0.0, 0.0, 0.0])
identity.flags.writeable = False


def _as(q: ArrayLike) -> Array:
    return real(q, "quaternion")


def to_xyzw(q: ArrayLike) -> Array:
    """Scalar last."""
    return np.roll(_as(q), -1, axis=-1)


def from_xyzw(q: ArrayLike) -> Array:
    """From scalar last."""
    return np.roll(_as(q), 1, axis=-1)


def normalize(q: ArrayLike) -> Array:
    """Normalised to length one."""
    q = _as(q)
    unit: Array = q / np.linalg.norm(q, axis=-1, keepdims=True)
    return unit


def conjugate(q: ArrayLike) -> Array:
    """The inverse of a unit quaternion."""
    return _as(q) * [1.0, -1.0, -1.0, -1.0]


def multiply(a: ArrayLike, b: ArrayLike) -> Array:
    """First b, then a: ``to_matrix(multiply(a, b)) == to_matrix(a) @ to_matrix(b)``."""
    a, b = np.broadcast_arrays(_as(a), _as(b))
    s = a[..., :1] * b[..., :1] - np.sum(a[..., 1:] * b[..., 1:], axis=-1, keepdims=True)
    v = a[..., :1] * b[..., 1:] + b[..., :1] * a[..., 1:] + np.cross(a[..., 1:], b[..., 1:])
    return np.concatenate([s, v], axis=-1)


def rotate(q: ArrayLike, v: ArrayLike) -> Array:
    """Body components to world components."""
    turned: Array = np.einsum("...ij,...j->...i", to_matrix(q), _as(v))
    return turned


def to_matrix(q: ArrayLike) -> Array:
    """Rotation matrix, of ``q/|q|``."""
    w, x, y, z = np.moveaxis(normalize(q), -1, 0)
    rows: Any = [[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                 [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                 [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]
    matrix: Array = np.moveaxis(np.array(rows), (0, 1), (-2, -1))
    return matrix


def from_matrix(R: ArrayLike) -> Array:
    """From a rotation matrix (one), by its largest component; scalar part >= 0."""
    R = _as(R)
    t = [R[0, 0] + R[1, 1] + R[2, 2], R[0, 0] - R[1, 1] - R[2, 2],
         R[1, 1] - R[0, 0] - R[2, 2], R[2, 2] - R[0, 0] - R[1, 1]]
    a, b, c = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    d, e, f = R[0, 1] + R[1, 0], R[0, 2] + R[2, 0], R[1, 2] + R[2, 1]
    k = int(np.argmax(t))
    s = 1 + t[k]
    q = normalize([[s, a, b, c], [a, s, d, e], [b, d, s, f], [c, e, f, s]][k])
    return -q if q[0] < 0 else q


def from_axis_angle(axis: ArrayLike, angle: float) -> Array:
    """A rotation by `angle` [rad] about `axis` (of any length)."""
    axis = _as(axis)
    return np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * axis / np.linalg.norm(axis)])


def from_rotation_vector(v: ArrayLike) -> Array:
    """A rotation by ``|v|`` about v."""
    v = _as(v)
    angle = np.linalg.norm(v, axis=-1, keepdims=True)
    return np.concatenate([np.cos(angle / 2), 0.5 * np.sinc(angle / (2 * np.pi)) * v], axis=-1)


def to_rotation_vector(q: ArrayLike) -> Array:
    """The shorter rotation, ``|v| <= pi``."""
    q = normalize(q)
    q = np.where(q[..., :1] < 0, -q, q)
    sine = np.linalg.norm(q[..., 1:], axis=-1, keepdims=True)
    angle = 2 * np.arctan2(sine, q[..., :1])
    factor = np.where(sine > 1e-8, angle / np.where(sine > 1e-8, sine, 1), 2.0)
    vector: Array = factor * q[..., 1:]
    return vector
