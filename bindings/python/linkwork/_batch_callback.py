"""User forces and signals of many instances, computed by one call of a function."""
from __future__ import annotations

from typing import Any, Callable, Mapping, Optional, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike

from ._callback import CallbackBase, take_slopes
from ._errors import ArgumentError, check, keep_exception, unknown
from ._memory import Array, numbers, real
from ._model import Model
from ._native import ffi, lib


class BatchStates:
    """Motion of several instances, each at its own time: row k of every array is that of instance ``instance[k]``.

    Arrays are copies, made when they are first read; they can be kept, but are read during the call only.
    """

    instance: Any  #: [n] numbers of the instances, in a sweep those of its rows
    time: Array  #: [n] s
    q: Array  #: [n, nq] joint coordinates, ``Joint.q``, m and rad
    qd: Array  #: [n, nv] joint speeds, ``Joint.v``
    states: Array  #: [n, signal states], in the order of ``model.signal_states``
    position: Array  #: [n, bodies, 3] of mass centres, world axes, m
    quaternion: Array  #: [n, bodies, 4] body to world, scalar first
    velocity: Array  #: [n, bodies, 3] of mass centres, world axes
    angular_velocity: Array  #: [n, bodies, 3] body axes

    def __init__(self, model: Model, states: Any) -> None:
        self.model = model
        self._states = states
        n = int(states.count)
        self._shapes = {"instance": (n,), "time": (n,), "q": (n, states.nq), "qd": (n, states.nv),
                        "states": (n, states.nstate), "position": (n, states.nbody, 3),
                        "quaternion": (n, states.nbody, 4), "velocity": (n, states.nbody, 3),
                        "angular_velocity": (n, states.nbody, 3)}

    def __len__(self) -> int:
        return int(self._shapes["time"][0])

    def __getattr__(self, name: str) -> Any:
        """What was not read before."""
        if name.startswith("_") or name not in self._shapes:
            raise AttributeError(f"'BatchStates' object has no attribute '{name}'")
        if self._states is None:
            raise ArgumentError(f"{name}: states are read during the call of the callback only")
        shape: Tuple[int, ...] = self._shapes[name]
        kind = np.intc if name == "instance" else np.float64
        array = np.empty(shape, kind)
        if array.size:
            ffi.memmove(ffi.from_buffer(array), getattr(self._states, name), array.nbytes)
        self.__dict__[name] = array
        return array

    def end(self) -> None:
        """The call has ended: the memory of the states is used for others."""
        self._states = None


#: gets the states of many instances, gives all inputs [n, inputs], or those that it sets by name: [n] or a number
BatchFunction = Callable[[BatchStates], Union[ArrayLike, Mapping[str, ArrayLike]]]


#: gets the states of instances, gives derivatives as of ``Simulation.set_callback``, with a row for each instance
BatchJacobian = Callable[[BatchStates], Mapping[str, ArrayLike]]


class BatchCallback(CallbackBase):
    """The function of a batch; the first exception ends the run."""

    def describe(self, desc: Any) -> None:
        """Sets it in a lw_batch_desc, which must not outlive it."""
        lib.lwpy_batch_set_callback(desc, self.handle, self.jacobian is not None)

    def __call__(self, pointer: Any, inputs: Any) -> int:
        if self.exception is not None:  # in another thread, or before
            return int(lib.LW_ERR_INTERRUPTED)
        states = BatchStates(self.model, pointer)
        n = len(states)
        table = np.frombuffer(ffi.buffer(inputs, n * len(self.names) * 8), dtype=np.float64).reshape(n, len(self.names))
        try:
            self._take(self.function(states), table)
        finally:
            states.end()
        return 0

    def differentiate(self, pointer: Any, slopes: Any) -> int:
        """Fills an ``lw_input_slopes`` with a row for each instance."""
        if self.exception is not None:
            return int(lib.LW_ERR_INTERRUPTED)
        states = BatchStates(self.model, pointer)
        try:
            take_slopes(self.jacobian(states), slopes, (len(states),))
        finally:
            states.end()
        return 0

    def _take(self, values: Any, table: Any) -> None:
        if not isinstance(values, Mapping):
            table[:] = numbers(values, table.shape, "values of the callback")
            return
        for name, value in values.items():
            if name not in self.names:
                unknown("input", name, self.names)
            column = real(value, f"callback: {name}")
            if column.shape not in ((1,), (len(table),)):
                raise ArgumentError(f"callback: {name}: expected {len(table)} numbers or one, got "
                                    + " x ".join(map(str, column.shape)))
            table[:, self.names.index(name)] = column


@ffi.def_extern(  # type: ignore[untyped-decorator,misc,unused-ignore]
    error=lib.LW_ERR_INTERRUPTED, onerror=keep_exception)
def lwpy_on_batch_inputs(handle: Any, states: Any, inputs: Any) -> int:
    callback = ffi.from_handle(handle)
    return int(callback(states, inputs))


@ffi.def_extern(  # type: ignore[untyped-decorator,misc,unused-ignore]
    error=lib.LW_ERR_INTERRUPTED, onerror=keep_exception)
def lwpy_on_batch_slopes(handle: Any, states: Any, slopes: Any) -> int:
    callback = ffi.from_handle(handle)
    return int(callback.differentiate(states, slopes))


def batch_callback(model: Model, function: Optional[BatchFunction], jacobian: Optional[BatchJacobian],
                   threads: int) -> Tuple[Optional[BatchCallback], int]:
    """The callback and the number of threads: one, if it is not chosen, so that a call gets all instances."""
    if function is None:
        if jacobian is not None:
            raise ArgumentError("jacobian: expected a callback that it is the derivative of")
        return None, threads
    return BatchCallback(model, function, jacobian), threads or 1


def check_called(called: Optional[BatchCallback], status: int, error: Any) -> None:
    """Raises the exception of the callback, if it is the reason of a failure, or that of the status."""
    if status < 0 and called is not None:
        called.finish()
    check(status, error)


__all__ = ["BatchFunction", "BatchJacobian", "BatchStates"]
