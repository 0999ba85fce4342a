"""NumPy views of the library's memory."""
from __future__ import annotations

from typing import Any, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._errors import ArgumentError, NotFiniteError
from ._native import ffi

Array = NDArray[np.float64]
FLOAT = np.dtype(np.float64)
_DOUBLES = ffi.typeof("double[]")


class _Block:
    """The base of a view in NumPy: memory and its owner."""

    __slots__ = ("__array_interface__", "owner")

    def __init__(self, address: int, shape: Tuple[int, ...], kind: str, owner: object) -> None:
        self.__array_interface__ = {"data": (address, True), "shape": shape, "typestr": kind,
                                    "version": 3}
        self.owner = owner


def view(pointer: Any, shape: Tuple[int, ...], owner: object, kind: str = "<f8") -> Any:
    """A read-only array on memory of the library, valid as long as `owner`; no copy."""
    if not pointer or 0 in shape:
        empty: Any = np.empty(shape, dtype=kind)
        empty.flags.writeable = False
        return empty
    return np.asarray(_Block(int(ffi.cast("uintptr_t", pointer)), shape, kind, owner))


def real(values: ArrayLike, what: str) -> Array:
    """Values as a C array: real numbers of any kind, no masks, nothing that only looks like a number."""
    if type(values) is np.ndarray and values.dtype == np.float64:
        return np.ascontiguousarray(values)
    if isinstance(values, np.ma.MaskedArray):
        raise ArgumentError(f"{what}: expected an array without a mask, got {type(values).__name__}")
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ArgumentError(f"{what}: expected real numbers, got {error}") from None
    if array.dtype.kind not in "iuf" and array.size:
        raise ArgumentError(f"{what}: expected real numbers, got {array.dtype}")
    return np.ascontiguousarray(array, dtype=np.float64)


def finite(array: Array, what: str) -> Array:
    """The array; an error where an entry is none or infinite, as in the library's own checks."""
    if not np.isfinite(array).all():
        at = np.argwhere(~np.isfinite(array))[0]
        place = "".join(f"[{i}]" for i in at)
        raise NotFiniteError(f"{what}{place} is {array[tuple(at)]}, expected a finite number")
    return array


def numbers(values: ArrayLike, shape: Sequence[int], what: str) -> Array:
    """Values as a C array of this shape; -1 stands for any length."""
    array = real(values, what)
    if array.shape == shape:
        return array
    if array.ndim == len(shape) and all(s in (-1, a) for s, a in zip(shape, array.shape)):
        return array
    expected = " x ".join("any" if s < 0 else str(s) for s in shape)
    found = " x ".join(str(a) for a in array.shape) or "a number"
    raise ArgumentError(f"{what}: expected {expected} numbers, got {found}")


def out_array(out: Optional[Array], shape: Tuple[int, ...], what: str = "out") -> Array:
    """A new array, or the caller's."""
    if out is None:
        return np.empty(shape)
    if not isinstance(out, np.ndarray):
        raise ArgumentError(f"{what}: expected an array, got {type(out).__name__}")
    if out.shape != shape or out.dtype != np.float64 or not out.flags.c_contiguous \
            or not out.flags.writeable:
        raise ArgumentError(f"{what}: expected a writeable C array of float64 of shape {shape}, "
                            f"got {out.dtype} {out.shape}")
    return out


def doubles(array: Array) -> Any:
    """The array's memory as ``double *``, which keeps the array."""
    return ffi.from_buffer(_DOUBLES, array)
