"""Analyses beside simulation: static equilibria, linearisation, modes."""
from __future__ import annotations

import dataclasses
import importlib
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from ._callback import Callback, InputFunction, InputJacobian
from ._errors import ArgumentError, check, text_of, unknown
from ._memory import Array
from ._model import Model
from ._native import ffi, lib

_STABILITY = {lib.LW_STABLE: "stable", lib.LW_INDIFFERENT: "indifferent", lib.LW_UNSTABLE: "unstable"}

Names = Union[None, str, Sequence[str]]


def _list(names: Names) -> Any:
    if names is None:
        return ffi.NULL
    text = names if isinstance(names, str) else ",".join(names)
    return ffi.new("char[]", text.encode())


def _inputs(model: Model, inputs: Optional[Mapping[str, float]]) -> Any:
    values = ffi.new("double[]", len(model.inputs) + 1)
    for name, value in (inputs or {}).items():
        if name not in model.inputs:
            unknown("input", name, model.inputs)
        values[model.inputs.index(name)] = float(value)
    return values


@dataclasses.dataclass(frozen=True)
class Equilibrium:
    """A static equilibrium: a model that starts there, at rest, and what is known of it."""

    model: Model
    stability: str  #: "stable", "indifferent" or "unstable"
    dof: int  #: independent coordinates
    unstable: int  #: independent displacements that lower the potential
    indifferent: int  #: independent displacements that meet no force
    iterations: int
    last_step: float  #: [rad, lengths of the mechanism]
    softest: float  #: minimum eigenvalue of the stiffness in the metric of the masses [1/s^2]
    coordinate: str  #: the independent coordinate with the largest share in the softest displacement
    friction: int  #: joints with dry friction, which is zero at rest
    relative: bool  #: drives move at t = 0: the equilibrium is relative to them
    #: states of signals that are in equilibrium too; where there are any, ``unstable`` counts modes of the
    #: linearised equations that grow, and ``softest`` is NaN
    states: int
    held: int  #: states of signals that keep their values: those of switches and relays, and constant ones

    @property
    def stable(self) -> bool:
        return self.stability == "stable"


def equilibrium(model: Model, *, inputs: Optional[Mapping[str, float]] = None, any: bool = False,
                iterations: int = 0) -> Equilibrium:
    """The static equilibrium that is reached downhill from the model's start.

    :param inputs: values of inputs by name; default: zeros
    :param any: the equilibrium that Newton's method finds, stable or not
    :param iterations: upper bound of the steps; 0: 200
    :raises SingularError: there is none, or a singular position is on the way
    """
    values = _inputs(model, inputs)
    desc = ffi.new("lw_equilibrium_desc *", {"inputs": values, "any": any, "iterations": iterations})
    balanced, report, error = ffi.new("lw_model **"), ffi.new("lw_equilibrium *"), ffi.new("lw_error *")
    check(lib.lw_model_equilibrium(model._handle, desc, balanced, report, error), error)
    return Equilibrium(Model(balanced[0], model._options, model.source), _STABILITY[report.stability],
                       report.dof, report.unstable, report.indifferent, report.iterations, report.last,
                       report.softest, text_of(report.coordinate), report.friction, bool(report.relative),
                       report.states, report.held)


@dataclasses.dataclass(frozen=True)
class Mode:
    """A natural motion exp(s t)."""

    frequency: float  #: [Hz]; 0: no oscillation
    damping_ratio: float  #: 0 undamped, 1 decays without oscillation, below 0 grows
    eigenvalue: complex  #: s [1/s]
    rigid: bool  #: bodies move without resistance
    coordinates: Dict[str, complex]  #: amplitudes of the independent coordinates
    signals: Dict[str, complex]  #: amplitudes of the states of signals
    shape: Dict[str, Array]  #: of each body displacement and rotation, world axes, complex [6]
    energy: Dict[str, float]  #: share of each body in the kinetic energy


class LinearSystem:
    """``xdot = A x + B u, y = C x + D u`` for small deviations from a state.

    ``states``, ``inputs`` and ``outputs`` are names; ``mass_matrix`` is that of the independent coordinates, and
    ``accelerations`` their accelerations at the state, zero in equilibrium.
    """

    def __init__(self, handle: Any, model: Model) -> None:
        self._handle = ffi.gc(handle, lib.lw_linear_destroy)
        self._bodies = [body.name for body in model.bodies]
        n, p = lib.lw_linear_states(handle), lib.lw_linear_inputs(handle)
        r = lib.lw_linear_outputs(handle)
        self.states: Tuple[str, ...] = tuple(text_of(lib.lw_linear_state_name(handle, i)) for i in range(n))
        self.inputs: Tuple[str, ...] = tuple(text_of(lib.lw_linear_input_name(handle, i)) for i in range(p))
        self.outputs: Tuple[str, ...] = tuple(text_of(lib.lw_linear_output_name(handle, i)) for i in range(r))
        self.A: Array = self._matrix(lib.lw_linear_A(handle), n, n)
        self.B: Array = self._matrix(lib.lw_linear_B(handle), n, p)
        self.C: Array = self._matrix(lib.lw_linear_C(handle), r, n)
        self.D: Array = self._matrix(lib.lw_linear_D(handle), r, p)
        dof = lib.lw_linear_dof(handle)
        self.mass_matrix: Array = self._matrix(lib.lw_linear_mass(handle), dof, dof)
        self.accelerations: Array = self._matrix(lib.lw_linear_accelerations(handle), 1, dof)[0]

    @staticmethod
    def _matrix(data: Any, rows: int, columns: int) -> Array:
        if rows * columns == 0:
            return np.zeros((rows, columns))
        flat = np.frombuffer(ffi.buffer(data, 8 * rows * columns), dtype=float)
        return flat.reshape(rows, columns).copy()

    def __repr__(self) -> str:
        return (f"LinearSystem(states={len(self.states)}, inputs={len(self.inputs)}, "
                f"outputs={len(self.outputs)})")

    def modes(self) -> List[Mode]:
        """Natural motions, by rising frequency."""
        modes, error = ffi.new("lw_modes **"), ffi.new("lw_error *")
        check(lib.lw_modes_create(self._handle, modes, error), error)
        owned = ffi.gc(modes[0], lib.lw_modes_destroy)
        return [self._mode(owned, i) for i in range(lib.lw_modes_count(owned))]

    def _mode(self, modes: Any, index: int) -> Mode:
        mode, f, n = lib.lw_modes_at(modes, index), lib.lw_linear_dof(self._handle), len(self._bodies)
        q, c = np.zeros((2, f)), np.zeros((2, len(self.states) - 2 * f))
        shape, energy = np.zeros((2, n, 6)), np.zeros(n)
        lib.lw_modes_coordinates(modes, index, ffi.cast("double *", q[0].ctypes.data),
                                 ffi.cast("double *", q[1].ctypes.data))
        lib.lw_modes_states(modes, index, ffi.cast("double *", c[0].ctypes.data),
                            ffi.cast("double *", c[1].ctypes.data))
        lib.lw_modes_shape(modes, index, ffi.cast("double (*)[6]", shape[0].ctypes.data),
                           ffi.cast("double (*)[6]", shape[1].ctypes.data))
        lib.lw_modes_energy(modes, index, ffi.cast("double *", energy.ctypes.data))
        amplitudes, motion = q[0] + 1j * q[1], shape[0] + 1j * shape[1]
        return Mode(mode.frequency, mode.damping_ratio, complex(mode.re, mode.im), bool(mode.rigid),
                    {name: complex(a) for name, a in zip(self.states, amplitudes)},
                    {name: complex(a) for name, a in zip(self.states[2 * f:], c[0] + 1j * c[1])},
                    {name: motion[b] for b, name in enumerate(self._bodies) if b > 0},
                    {name: float(energy[b]) for b, name in enumerate(self._bodies) if b > 0})

    def to_scipy(self) -> Any:
        """The system as :class:`scipy.signal.StateSpace`."""
        return importlib.import_module("scipy.signal").StateSpace(self.A, self.B, self.C, self.D)

    def to_control(self) -> Any:
        """The system as ``control.StateSpace`` of the package python-control, with the names."""
        return importlib.import_module("control").ss(self.A, self.B, self.C, self.D, states=list(self.states),
                                                     inputs=list(self.inputs), outputs=list(self.outputs))


def linearize(model: Model, *, q: Optional[Array] = None, v: Optional[Array] = None, time: float = 0.0,
              inputs: Optional[Mapping[str, float]] = None, independent: Names = None,
              outputs: Names = None, states: Optional[Array] = None, callback: Optional[InputFunction] = None,
              jacobian: Optional[InputJacobian] = None) -> LinearSystem:
    """Matrices A, B, C, D about a state.

    :param q, v: coordinates and speeds of the tree (:class:`Data`); default: the model's start
    :param time: of functions of time [s]
    :param inputs: values of inputs by name; default: zeros
    :param independent: joints, or "JOINT.q1", that must be independent coordinates
    :param outputs: result columns, "joint.A.q0"; default: the states
    :param states: of signals, as in ``Model.signal_states``; default: those of the start
    :param callback, jacobian: inputs as functions of the motion, as of :meth:`Simulation.set_callback`: A and C are then
        those of the closed loop, A + B K and C + D K, K by the Jacobian, or by differences where there is none
    """
    values, keep = _inputs(model, inputs), [_list(independent), _list(outputs)]
    desc = ffi.new("lw_linear_desc *", {"inputs": values, "time": time, "independent": keep[0],
                                        "outputs": keep[1]})
    arrays = []
    for name, array, size in (("q", q, model.tree_nq), ("v", v, model.tree_nv),
                              ("states", states, len(model.signal_states))):
        if array is None:
            continue
        exact = np.ascontiguousarray(array, dtype=float)
        if exact.shape != (size,):
            raise ValueError(f"{name} has shape {exact.shape}, expected ({size},)")
        arrays.append(exact)
        setattr(desc, name, ffi.cast("double *", exact.ctypes.data))
    called = _called(model, callback, jacobian)
    if called is not None:
        lib.lwpy_linear_set_callback(desc, called.handle, jacobian is not None)
    linear, error = ffi.new("lw_linear **"), ffi.new("lw_error *")
    status = lib.lw_linearize(model._handle, desc, linear, error)
    if status < 0 and called is not None:
        called.finish()
    check(status, error)
    del arrays
    return LinearSystem(linear[0], model)


def _called(model: Model, callback: Optional[InputFunction], jacobian: Optional[InputJacobian]) -> Optional[Callback]:
    if callback is not None:
        return Callback(model, callback, jacobian)
    if jacobian is not None:
        raise ArgumentError("jacobian: expected a callback that it is the derivative of")
    return None


def modes(model: Model, *, at: str = "equilibrium", inputs: Optional[Mapping[str, float]] = None,
          independent: Names = None, callback: Optional[InputFunction] = None,
          jacobian: Optional[InputJacobian] = None) -> List[Mode]:
    """Natural frequencies, damping ratios and shapes.

    :param at: "equilibrium", the one reached from the start, or "start"
    :param callback, jacobian: as of :func:`linearize`, of the loop closed about the start
    """
    if callback is not None and at == "equilibrium":
        raise ArgumentError("callback: an equilibrium is found with constant inputs; expected at='start', of a model that "
                            "starts where the loop rests")
    if at not in ("equilibrium", "start"):
        raise ValueError(f"at: expected 'equilibrium' or 'start', got {at!r}")
    if at == "equilibrium":
        model = equilibrium(model, inputs=inputs).model
    return linearize(model, inputs=inputs, independent=independent, callback=callback, jacobian=jacobian).modes()
