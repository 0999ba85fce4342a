"""User forces and signals of one simulation: a function of the state, and its Jacobian."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Tuple, Union

from numpy.typing import ArrayLike

from ._errors import ArgumentError, KeptException, keep_exception, unknown
from ._memory import numbers, real
from ._model import Model
from ._native import ffi, lib

if TYPE_CHECKING:
    from ._simulation import Observation

#: gets the motion, gives all inputs or those that it sets, by name
InputFunction = Callable[["Observation"], Union[ArrayLike, Mapping[str, float]]]
#: gets the motion, gives derivatives by what the function reads: {"q": [inputs, nv], "qd": ..., "states":
#: [inputs, states], "pose": [inputs, bodies, 6], "twist": ...}
InputJacobian = Callable[["Observation"], Mapping[str, ArrayLike]]

READ = ("q", "qd", "states", "pose", "twist")


def take_slopes(values: Any, slopes: Any, rows: Tuple[int, ...] = ()) -> None:
    """Writes what a Jacobian returns into an ``lw_input_slopes``.

    :param rows: (n,) in a batch: a row for each instance
    """
    if not isinstance(values, Mapping):
        raise ArgumentError(f"the Jacobian: expected a dictionary with {', '.join(READ)}, got {type(values).__name__}")
    inputs, nv, bodies = int(slopes.ninput), int(slopes.nv), int(slopes.nbody)
    shapes = {"q": (nv,), "qd": (nv,), "states": (int(slopes.nstate),), "pose": (bodies, 6), "twist": (bodies, 6)}
    for name, value in values.items():
        if name not in shapes:
            unknown("derivative of the Jacobian by", name, list(READ))
        array = real(value, f"the Jacobian by {name}")
        shape = (*rows, inputs, *shapes[name])
        if inputs == 1 and array.shape == shape[:len(rows)] + shape[len(rows) + 1:]:
            array = array.reshape(shape)
        array = numbers(array, shape, f"the Jacobian by {name}")
        if array.size:
            ffi.memmove(getattr(slopes, "by_" + name), ffi.from_buffer(array), array.nbytes)


class CallbackBase(KeptException):
    """A function that computes the inputs of a model, and its Jacobian or None."""

    def __init__(self, model: Model, function: Any, jacobian: Any = None) -> None:
        for what, given in (("callback", function), ("jacobian", jacobian)):
            if not callable(given) and not (what == "jacobian" and given is None):
                raise ArgumentError(f"{what}: expected a function, got {type(given).__name__}")
        self.function, self.jacobian = function, jacobian
        self.model, self.names = model, list(model.inputs)
        self.handle = ffi.new_handle(self)


class Callback(CallbackBase):
    """The function of one simulation."""

    def __init__(self, model: Model, function: InputFunction, jacobian: Optional[InputJacobian] = None,
                 owner: object = None) -> None:
        super().__init__(model, function, jacobian)
        self._owner, self._known = owner, {}  # type: Any, Dict[int, Any]

    def _observation(self, pointer: Any) -> "Observation":
        from ._simulation import observation_of
        return observation_of(self.model, pointer, self._owner, self._known)

    def __call__(self, pointer: Any, inputs: Any) -> int:
        values = self.function(self._observation(pointer))
        if isinstance(values, Mapping):
            for name, value in values.items():
                if name not in self.names:
                    unknown("input", name, self.names)
                inputs[self.names.index(name)] = float(value)
            return 0
        array = numbers(values, (len(self.names),), "values of the callback")
        for i, value in enumerate(array):
            inputs[i] = value
        return 0

    def differentiate(self, pointer: Any, slopes: Any) -> int:
        """Fills an ``lw_input_slopes``."""
        take_slopes(self.jacobian(self._observation(pointer)), slopes)
        return 0


@ffi.def_extern(  # type: ignore[untyped-decorator,misc,unused-ignore]
    error=lib.LW_ERR_INTERRUPTED, onerror=keep_exception)
def lwpy_on_inputs(handle: Any, observation: Any, inputs: Any) -> int:
    callback = ffi.from_handle(handle)
    return int(callback(observation, inputs))


@ffi.def_extern(  # type: ignore[untyped-decorator,misc,unused-ignore]
    error=lib.LW_ERR_INTERRUPTED, onerror=keep_exception)
def lwpy_on_slopes(handle: Any, observation: Any, slopes: Any) -> int:
    callback = ffi.from_handle(handle)
    return int(callback.differentiate(observation, slopes))


__all__: List[str] = ["InputFunction", "InputJacobian"]
