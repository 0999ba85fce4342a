"""Simulations: runs, steps, observations."""
from __future__ import annotations

import contextlib
import dataclasses
import operator
import os
import threading
import warnings
from typing import (TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple,
                    Union)

import numpy as np
from numpy.typing import ArrayLike

from ._callback import Callback, InputFunction, InputJacobian
from ._compiled import Compiled
from ._errors import (ArgumentError, Error, FileError, KeptException, StoppedError, check, make_error, path_bytes, text_of,
                      unknown)
from ._memory import Array, doubles, numbers, view
from ._model import Joint, Model, Path, components, load, made_model
from ._native import ffi, lib
from ._options import Options, make_options, read_options

if TYPE_CHECKING:
    from ._trajectory import Trajectory

LEVELS: Dict[str, int] = {"pose": lib.LW_OBSERVE_POSE, "twist": lib.LW_OBSERVE_TWIST,
                          "energy": lib.LW_OBSERVE_ENERGY,
                          "acceleration": lib.LW_OBSERVE_ACCELERATION,
                          "reaction": lib.LW_OBSERVE_REACTION,
                          "force": lib.LW_OBSERVE_FORCE,
                          "momentum": lib.LW_OBSERVE_MOMENTUM}

class _Hdf5Lock:
    """The HDF5 library has global state: one thread at a time.  A process that was forked while another thread used it
    has a library in the middle of something, and no thread that would finish it."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._lost = False
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forked)

    def _forked(self) -> None:
        self._lost = self._lost or not self._lock.acquire(blocking=False)
        if not self._lost:
            self._lock.release()

    def __enter__(self) -> None:
        if self._lost:
            raise FileError("this process was forked while another thread read or wrote an HDF5 file: expected a fork "
                            "between such calls, or processes by `spawn`")
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


hdf5_lock = _Hdf5Lock()

Controller = Callable[["Simulation", "Observation"], Optional[Mapping[str, float]]]
Progress = Callable[[float, float], object]


def level_of(level: str) -> int:
    """The number of a level."""
    if level not in LEVELS:
        unknown("level", level, LEVELS)
    return LEVELS[level]


# ------------------------------------------------------------------------------ calls from the glue


class Watch(KeptException):
    """The Python functions that a call in progress uses; their exceptions are kept."""

    active = threading.local()  #: calls in progress of a thread

    def __init__(self, progress: Optional[Progress] = None,
                 row: Optional[Callable[[Any], None]] = None) -> None:
        self.progress, self.row = progress, row
        self.handle = ffi.new_handle(self)

    def __enter__(self) -> "Watch":
        self.active.__dict__.setdefault("stack", []).append(self)
        return self

    def __exit__(self, *_: object) -> None:
        self.active.stack.pop()


def _keep(kind: Any, exception: BaseException, trace: Any) -> None:
    Watch.active.stack[-1].exception = exception


# Signal handlers of Python run at the start of these functions: Ctrl-C raises here, and ends the run.


@ffi.def_extern(error=1, onerror=_keep)  # type: ignore[untyped-decorator,misc,unused-ignore]
def lwpy_on_progress(handle: Any, time: float, end: float) -> int:
    watch = ffi.from_handle(handle)
    return int(watch.progress is not None and bool(watch.progress(time, end)))


@ffi.def_extern(  # type: ignore[untyped-decorator,misc,unused-ignore]
    error=lib.LW_ERR_INTERRUPTED, onerror=_keep)
def lwpy_on_row(handle: Any, observation: Any) -> int:
    ffi.from_handle(handle).row(observation)
    return 0


# -------------------------------------------------------------------------------------- observation


_NUMBERS = ffi.typeof("lw_observation *")
_new_numbers = ffi.new_allocator(should_clear_after_alloc=False)  # the library writes all of them
_UNKNOWN: Tuple[Any, Dict[str, Any]] = ffi.NULL, {}


class Observation:
    """The motion of a mechanism at one time.

    Arrays are views on memory of the simulation, without copies and read-only: the next
    :meth:`Simulation.observe`, run or step of it overwrites them; use :meth:`copy` to keep them. They keep
    the simulation alive. Rows are bodies in the order of ``model.bodies``, the ground first; quantities that the
    level does not contain are empty.
    """

    __slots__ = ("__dict__", "__weakref__", "_known", "_numbers")
    _SHAPES = {"position": 3, "quaternion": 4, "velocity": 3, "angular_velocity": 3,
               "acceleration": 3, "angular_acceleration": 3}

    model: Model
    _owner: object  # of the memory of the views
    _numbers: Any  # lw_observation
    _known: Dict[str, Any]  # the attributes of all observations with the same arrays
    time: float
    level: str
    position: Array  #: mass centres, world [m]
    quaternion: Array  #: body to world, scalar first
    velocity: Array  #: of the mass centres, world
    angular_velocity: Array  #: body axes
    acceleration: Array
    angular_acceleration: Array
    q: Array  #: joint coordinates, ``Joint.q``
    qd: Array  #: joint speeds, ``Joint.v``
    qdd: Array
    #: of signals: integrals, lags, controllers, in the order of ``model.signal_states``
    states: Array
    reaction: Array  #: force, torque on body2 at its joint point
    reaction_unique: Any
    #: of each joint: components along axes of its first frame that the constraints do not determine, as bits
    reaction_undetermined: Array
    #: close to a singular position: reactions are those that states outside lead to
    reactions_continued: bool
    #: "before" or "after": the state just before or after impulses at this time; else ""
    impact: str
    #: impulses of the reactions in this impact: [joint][6] as ``reaction``; empty in other states than "after"
    impulse: Array
    #: name of the event that this row of a run records; else ""
    event: str
    kinetic: float
    potential: float
    work: float  #: of all forces without potential, since the start
    momentum: Array
    angular_momentum: Array  #: about the origin
    residual: Array  #: position, velocity, acceleration
    #: level "momentum": of each body, linear and angular about its mass centre, world axes
    body_momentum: Array
    #: joint momenta, conjugate to ``qd``; zero of joints that close loops
    p: Array
    #: momentum that the joint transmits to body2, about its joint point, world axes; of joints that close loops the
    #: impulse of their constraints in the state
    transmitted: Array

    @property
    def energy(self) -> float:
        """Kinetic and potential."""
        return self.kinetic + self.potential

    def body(self, name: str) -> "BodyMoment":
        """The rows of one body."""
        return BodyMoment(self, self.model.body(name).index)

    def joint(self, name: str) -> "JointMoment":
        """The numbers of one joint."""
        return JointMoment(self, self.model.joint(name))

    def copy(self) -> "Observation":
        """The same observation with separate arrays."""
        other = object.__new__(Observation)
        other.model = self.model
        for name in _QUANTITIES:
            value = getattr(self, name)
            setattr(other, name, value.copy() if isinstance(value, np.ndarray) else value)
        return other

    def __copy__(self) -> "Observation":
        return self.copy()

    def __getstate__(self) -> Dict[str, Any]:
        return self.copy().__dict__

    def __repr__(self) -> str:
        return f"<linkwork.Observation: t = {self.time:g} s, level {self.level}>"


#: By level: numbers of an observation, and the attributes that all have whose arrays are at the same addresses.
Known = Dict[int, Tuple[Any, Dict[str, Any]]]


_new_observation = object.__new__


def _make_observation(numbers: Any, attributes: Dict[str, Any]) -> Observation:
    o = _new_observation(Observation)
    o._numbers, o._known, o.__dict__ = numbers, attributes, attributes.copy()
    return o


def _learn(model: Model, owner: object, level: int, numbers: Any, known: Known) -> Dict[str, Any]:
    attributes = {"model": model, "_owner": owner}
    known[level] = numbers, attributes
    return attributes


def observation_of(model: Model, pointer: Any, owner: object, known: Known) -> Observation:
    """Of numbers of the library, which the next observation overwrites."""
    numbers = ffi.new(_NUMBERS, pointer[0])
    before = known.get(numbers.level)
    if before and lib.lwpy_same_arrays(before[0], numbers):
        return _make_observation(numbers, before[1])
    return _make_observation(numbers, _learn(model, owner, numbers.level, numbers, known))


class _Number:
    """An attribute that is read where it is asked for first; then the instance has it."""

    __slots__ = ("name", "read")

    def __init__(self, read: "Callable[[Observation, Any], Any]") -> None:
        self.read = read

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, o: Optional[Observation], owner: Optional[type] = None) -> Any:
        if o is None:
            return self
        value = o.__dict__[self.name] = self.read(o, o._numbers)
        return value


class _View(_Number):
    """A view of memory of the library, the same one as long as that is at the same address."""

    __slots__ = ("shape", "kind")

    def __init__(self, shape: "Callable[[Model], Tuple[int, ...]]", kind: str = "<f8") -> None:
        super().__init__(self._find)
        self.shape, self.kind = shape, kind

    def _find(self, o: Observation, numbers: Any) -> Any:
        address, shape = getattr(numbers, self.name), self.shape(o.model)
        found = view(address, shape, o._owner, self.kind) if address else np.empty((0, *shape[1:]), self.kind)
        o._known[self.name] = found
        return found


def _of_bodies(width: int) -> _View:
    return _View(lambda model: (len(model.bodies), width))


def _of_joints(*width: int, kind: str = "<f8") -> _View:
    return _View(lambda model: (len(model.joints), *width), kind)


def _of_speeds() -> _View:
    return _View(lambda model: (model.nv,))


def _number(name: str) -> _Number:
    return _Number(lambda o, n: getattr(n, name))


def _vector(name: str) -> _Number:
    return _Number(lambda o, n: np.array(list(getattr(n, name))))


_LEVEL_NAMES = list(LEVELS)
#: What an observation has, and how it is read.
_QUANTITIES: Dict[str, _Number] = {
    "time": _number("time"),
    "level": _Number(lambda o, n: _LEVEL_NAMES[int(ffi.cast("int", n.level))]),
    **{name: _of_bodies(width) for name, width in Observation._SHAPES.items()},
    "q": _View(lambda model: (model.nq,)),
    "states": _View(lambda model: (len(model.signal_states),)),
    **{name: _of_speeds() for name in ("qd", "qdd", "p")},
    **{name: _of_joints(6) for name in ("reaction", "impulse", "transmitted")},
    "reaction_unique": _of_joints(kind="|b1"),
    "reaction_undetermined": _of_joints(kind="|u1"),
    "reactions_continued": _Number(lambda o, n: bool(n.reactions_continued)),
    "impact": _Number(lambda o, n: ("", "before", "after")[n.impact]),
    "event": _Number(lambda o, n: ("", *o.model.events)[n.event]),
    **{name: _number(name) for name in ("kinetic", "potential", "work")},
    **{name: _vector(name) for name in ("momentum", "angular_momentum", "residual")},
    "body_momentum": _of_bodies(6),
}
for _name, _quantity in _QUANTITIES.items():
    setattr(Observation, _name, _quantity)
    _quantity.__set_name__(Observation, _name)


class BodyMoment:
    """One body of an observation; arrays are views of the observation's."""

    def __init__(self, o: Observation, i: int) -> None:
        for name in Observation._SHAPES:
            rows = getattr(o, name)
            setattr(self, name, rows[i] if len(rows) else rows.reshape(-1))
        momentum = o.body_momentum[i] if len(o.body_momentum) else np.empty(0)
        self.momentum: Array = momentum[:3]  #: level "momentum", as the next
        self.angular_momentum: Array = momentum[3:]  #: about the mass centre, world axes

    position: Array
    quaternion: Array
    velocity: Array
    angular_velocity: Array
    acceleration: Array
    angular_acceleration: Array


class JointMoment:
    """One joint of an observation; arrays are views of the observation's."""

    def __init__(self, o: Observation, joint: Joint) -> None:
        self.q: Array = o.q[joint.q]
        self.qd: Array = o.qd[joint.v]
        self.qdd: Array = o.qdd[joint.v]
        reaction = o.reaction[joint.index] if len(o.reaction) else np.empty(0)
        self.force: Array = reaction[:3]
        self.torque: Array = reaction[3:]
        self.unique = bool(o.reaction_unique[joint.index]) if len(o.reaction_unique) else True
        self.p: Array = o.p[joint.v]  #: level "momentum", as the next
        self.transmitted: Array = o.transmitted[joint.index] if len(o.transmitted) else np.empty(0)
        #: components of the reaction, "fx" ... "tz" along axes of the joint's first frame, that are not unique
        self.undetermined: Tuple[str, ...] = (
            components(int(o.reaction_undetermined[joint.index])) if len(o.reaction_undetermined) else ())


# --------------------------------------------------------------------------------------- simulation


@dataclasses.dataclass(frozen=True)
class Summary:
    """Cost of a simulation so far and its errors."""

    steps: int
    evaluations: int
    rejected: int
    restarts: int
    projections: int  #: number of projections onto the constraints
    events: int  #: stops touched, left
    start: float
    end: float
    wall: float  #: [s] spent in steps
    energy_error: float  #: largest drift of E - Wnc over the rows [J]
    energy_scale: float  #: largest kinetic energy of the rows [J]
    residual: Tuple[float, float, float]  #: largest over the rows: position, velocity, acceleration
    impulses: int = 0  #: impacts: of impulses and of drives with rates that jump
    impulse_work: float = 0.0  #: of these [J]
    #: ``end``, or the time after which states are unreliable, of runs without error control [s]
    valid_until: float = float("inf")
    occurrences: int = 0  #: of events of the model, of all together


@dataclasses.dataclass(frozen=True)
class Impact:
    """What impulses did, see :meth:`Simulation.apply_impulse`."""

    time: float
    kinetic_before: float  #: [J]
    kinetic_after: float  #: [J]
    work: float  #: of the impulses and of drives [J]
    reaction: Array  #: [joint][6] impulse on body2 at its joint point, world axes [N s, N m s]


class Inputs:
    """Inputs of a simulation by name: ``sim.inputs["motor"] = 2.0``."""

    def __init__(self, simulation: "Simulation") -> None:
        self._simulation = simulation
        self._values = dict.fromkeys(simulation.model.inputs, 0.0)

    def __getitem__(self, name: str) -> float:
        if name not in self._values:
            unknown("input", name, self._values)
        return self._values[name]

    def __setitem__(self, name: str, value: float) -> None:
        self[name]
        sim = self._simulation
        index = sim.model.inputs.index(name)
        sim._check(lib.lw_sim_set_input(sim._handle, index, value))
        self._values[name] = float(value)

    def update(self, values: Mapping[str, float]) -> None:
        """Several at once."""
        for name, value in values.items():
            self[name] = value

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Inputs({self._values})"


class Simulation:
    """A model in motion; used by one thread at a time.

    Options are those of ``linkwork run`` (``formulation``, ``integrator``, ``rtol``, ``step``, ...);
    others are those of the model's file, or defaults.
    """

    def __init__(self, model: Model, **options: Any) -> None:
        self.model = made_model(model)
        made = make_options(model._options, options)
        desc = ffi.new("lw_sim_desc *", {"options": made})
        sim, error = ffi.new("lw_sim **"), ffi.new("lw_error *")
        check(lib.lw_sim_create(model._handle, desc, sim, error), error)
        # the model is released after the simulation
        self._handle = ffi.gc(sim[0], lambda s, m=model: lib.lw_sim_destroy(s))
        self._known: Known = {}  # of observations
        self._busy = threading.Lock()
        self.inputs = Inputs(self)
        self._callback: Optional[Callback] = None

    def _check(self, status: int) -> None:
        if status < 0 and self._callback is not None:
            self._callback.finish()
        check(status, lib.lw_sim_error(self._handle))

    def __reduce__(self) -> Any:
        if not self._busy.acquire(blocking=False):
            raise TypeError("a simulation at work cannot be copied or pickled: do it between two steps, or take "
                            "its model, state and time along (Simulation.set_state)")
        try:
            if self._callback is not None:
                raise TypeError("a simulation with a callback cannot be copied or pickled: take its model, state and "
                                "time along (Simulation.set_state)")
            return _unpickle, (self.model, self.options, self.time, self.state, dict(self.inputs._values))
        finally:
            self._busy.release()

    def _refuse(self) -> None:
        raise ArgumentError("the simulation is at work: in another thread, or in the run that called this function")

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        if not self._busy.acquire(blocking=False):
            self._refuse()
        try:
            yield
        finally:
            self._busy.release()

    # ---------------------------------------------------------------------------------- properties

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return float(lib.lw_sim_time(self._handle))

    @property
    def options(self) -> Options:
        """Resolved: without "auto"."""
        return read_options(lib.lw_sim_options(self._handle))

    @property
    def notice(self) -> str:
        """The choices made and the reasons; warnings about the last run."""
        return text_of(lib.lw_sim_notice(self._handle))

    @property
    def report(self) -> str:
        """Lines about the formulation's work so far."""
        text = ffi.new("char[]", 4096)
        lib.lw_sim_report(self._handle, text, 4096)
        return text_of(text)

    @property
    def stopped(self) -> Optional[str]:
        """The event that ended the last run or step before its time, by name; None: none did."""
        event = lib.lw_sim_stopped(self._handle)
        return None if event < 0 else self.model.events[event]

    @property
    def events(self) -> Dict[str, int]:
        """How often each event of the model has happened."""
        return {name: lib.lw_sim_event_count(self._handle, i) for i, name in enumerate(self.model.events)}

    @property
    def summary(self) -> Summary:
        """Statistics so far."""
        s = ffi.new("lw_summary *")
        lib.lw_sim_summary(self._handle, s)
        return summary_of(s)

    # ----------------------------------------------------------------------------------- the state

    @property
    def state(self) -> Array:
        """A copy of the state; with the time, it is all that a restart needs."""
        x = np.empty(lib.lw_sim_state_size(self._handle))
        lib.lw_sim_get_state(self._handle, ffi.NULL, doubles(x))
        return x

    def set_state(self, x: ArrayLike, time: Optional[float] = None) -> None:
        """Sets the state, at a time (default: the present one)."""
        array = numbers(x, (lib.lw_sim_state_size(self._handle),), "state")
        with self._alone():
            self._check(lib.lw_sim_set_state(self._handle, self.time if time is None else time,
                                             doubles(array)))

    def rates(self) -> Array:
        """Rates of the present state, for other integrators; zeros for numbers of it that are not integrated.
        ``index3``, which has own steps, has none."""
        rates = np.empty(lib.lw_sim_state_size(self._handle))
        with self._alone():
            self._check(lib.lw_sim_rates(self._handle, doubles(rates)))
        return rates

    def set_joints(self, q: ArrayLike, qd: Optional[ArrayLike] = None,
                   time: Optional[float] = None) -> None:
        """Sets coordinates q [model.nq] and speeds qd [model.nv] (default: zero) of the tree's joints;
        the other joints are computed, floating bodies are unchanged.  Vectors of :class:`Data`, with floating bases, are
        taken too where their number is another one: as by :meth:`set_tree`."""
        if self.model.bases and np.shape(q) == (self.model.tree_nq,) and self.model.tree_nq != self.model.nq:
            self.set_tree(q, qd, time)
            return
        array = numbers(q, (self.model.nq,), "q")
        speeds = np.zeros(self.model.nv) if qd is None else numbers(qd, (self.model.nv,), "qd")
        with self._alone():
            self._check(lib.lw_sim_set_joints(self._handle, self.time if time is None else time,
                                              doubles(array), doubles(speeds)))

    def set_tree(self, q: ArrayLike, v: Optional[ArrayLike] = None,
                 time: Optional[float] = None) -> None:
        """Sets the state by the vectors of :class:`Data`: coordinates q [model.tree_nq] and speeds v [model.tree_nv]
        (default: zero) of the spanning tree, floating bases (``model.bases``) included."""
        array = numbers(q, (self.model.tree_nq,), "q")
        speeds = np.zeros(self.model.tree_nv) if v is None else numbers(v, (self.model.tree_nv,), "v")
        with self._alone():
            self._check(lib.lw_sim_set_tree(self._handle, self.time if time is None else time,
                                            doubles(array), doubles(speeds)))

    def tree(self) -> Tuple[Array, Array]:
        """The present coordinates q [model.tree_nq] and speeds v [model.tree_nv] of the spanning tree, as
        :class:`Data` takes them."""
        q, v = np.empty(self.model.tree_nq), np.empty(self.model.tree_nv)
        with self._alone():
            self._check(lib.lw_sim_get_tree(self._handle, doubles(q), doubles(v)))
        return q, v

    def set_motion(self, observation: Observation) -> None:
        """Sets the motion of bodies and joints to an observation of the same model (level twist or more; not a
        copy), computed by any formulation; time and work continue from it."""
        if not hasattr(observation, "_numbers"):
            raise ArgumentError("observation: a copy; expected one of a living simulation")
        with self._alone():
            self._check(lib.lw_sim_set_motion(self._handle, observation._numbers))

    def apply_impulse(self, body: Optional[str] = None, *, impulse: ArrayLike = (0, 0, 0),
                      point: ArrayLike = (0, 0, 0), angular_impulse: ArrayLike = (0, 0, 0),
                      axes: str = "world", joint: Optional[str] = None, coordinate: int = 0,
                      effort: float = 0.0) -> Impact:
        """Lets an impulse act now: velocities jump, through all joints and loops; positions stay.

        On a body: ``impulse`` [N s] at ``point`` (body frame) and ``angular_impulse`` [N m s], in ``axes`` "world" or
        "body".  Or on a joint: ``effort`` [N s, N m s] on its speed number ``coordinate``.
        """
        desc = impulse_desc(self.model, body, joint, axes, coordinate, effort,
                            {"impulse": impulse, "point": point, "angular_impulse": angular_impulse})
        found = ffi.new("const lw_impact **")
        with self._alone():
            self._check(lib.lw_sim_apply_impulse(self._handle, 1, desc, found))
            return impact_of(found[0], self.model)

    def restore(self, result: "Union[Trajectory, Path]", row: int = -1) -> str:
        """Resumes from a row of a result of the same model: a :class:`Trajectory` or a file.

        :returns: a description: by the state bit for bit, or by the motion
        """
        from ._trajectory import Trajectory, read_result
        found = result if isinstance(result, Trajectory) else read_result(result)
        how, error = ffi.new("char[]", 1024), ffi.new("lw_error *")
        with self._alone(), hdf5_lock:
            check(lib.lw_result_restore(found._handle, row, self._handle, how, 1024, error), error)
        return text_of(how)

    def set_callback(self, function: Optional[InputFunction], jacobian: Optional[InputJacobian] = None) -> None:
        """Inputs as functions of the state: forces and controllers of users.

        :param function: called in every evaluation of the rates with an :class:`Observation` of level "twist", valid
            during the call; returns all inputs in the order of ``model.inputs``, or those that it sets, by name.
            It must give the same values for the same state. An exception ends the run and is raised. ``None``: inputs
            keep their values again
        :param jacobian: called with the same; returns the derivatives of all inputs by what the function reads, a
            dictionary of some of "q", "qd": [inputs, nv], joint coordinates along the joint speeds, and speeds;
            "states": [inputs, states] of signals; "pose", "twist": [inputs, bodies, 6], by position (world axes) and
            rotation (body axes), velocity (world axes) and angular velocity (body axes). Without the inputs' dimension
            where there is one input. Of what is missing they are zero. Integrators that need derivatives take it:
            index3 and bdf
        """
        callback = None if function is None else Callback(self.model, function, jacobian, self._handle)
        if function is None and jacobian is not None:
            raise ArgumentError("jacobian: expected a function that it is the derivative of")
        handle = ffi.NULL if callback is None else callback.handle
        with self._alone():
            self._callback = callback
            self._check(lib.lwpy_sim_set_callback(self._handle, handle, jacobian is not None))

    def check_jacobian(self, tolerance: float = 0.0) -> float:
        """Compares the Jacobian of the callback with central differences at the present state.

        :param tolerance: of an entry relative to the largest of its input and kind; 0: 1e-5
        :returns: the largest such deviation; one above the tolerance is an :class:`ArgumentError` that names input,
            coordinate and both values
        """
        largest = ffi.new("double *")
        with self._alone():
            self._check(lib.lw_sim_check_jacobian(self._handle, tolerance, largest))
        return float(largest[0])

    # -------------------------------------------------------------------------------------- motion

    def observe(self, level: str = "reaction") -> Observation:
        """The present motion: "pose", "twist", "energy", "acceleration", "reaction" or "momentum", each with
        those before it.  See :class:`Observation` about the validity of its arrays."""
        number = LEVELS.get(level)
        if number is None:
            number = level_of(level)
        if not self._busy.acquire(False):
            self._refuse()
        try:
            numbers = _new_numbers(_NUMBERS)
            before = self._known.get(number, _UNKNOWN)
            same = lib.lwpy_sim_observe(self._handle, number, before[0], numbers)
            if same > 0:
                return _make_observation(numbers, before[1])
            if same < 0:
                self._check(same)
            return _make_observation(numbers, _learn(self.model, self._handle, number, numbers, self._known))
        finally:
            self._busy.release()

    def use_compiled(self, compiled: Compiled) -> None:
        """The rates of steps by compiled code (:meth:`Model.compile`); an UnsupportedError where that is not possible. The
        results agree within the tolerances, not in each bit."""
        with self._alone():
            self._check(lib.lw_sim_use_compiled(self._handle, compiled._handle))
            self._compiled = compiled  # kept

    def step(self, h: Optional[float] = None, *, until: Optional[float] = None,
             progress: Optional[Progress] = None) -> float:
        """Integrates over h, or to a time, exactly.  Ctrl-C stops between two steps of the integrator,
        with the state of that time.

        :param progress: called from time to time with (time, end); a true result stops
        :returns: the time
        """
        if (h is None) == (until is None):
            raise ArgumentError("step: expected either h or until")
        end = self.time + h if h is not None else until
        watch = Watch(progress)
        run = ffi.new("lwpy_run *", {"handle": watch.handle})
        with self._alone():
            with watch:
                status = lib.lwpy_sim_step(self._handle, end, run)
            watch.finish()
            self._check(status)
        self._warn_unreliable(self.summary)
        return self.time

    def _warn_unreliable(self, summary: Summary) -> None:
        if summary.valid_until < summary.end:
            warnings.warn(f"results after t = {summary.valid_until:g} s are unreliable: Newton's iterations did not "
                          "converge, or energy is not conserved; a smaller step may help (Simulation.notice, after a "
                          "run, has the reason)", RuntimeWarning, stacklevel=3)

    def run(self, duration: Optional[float] = None, *, level: str = "reaction",
            output: Union[None, Path, Sequence[Path]] = None,
            controller: Optional[Controller] = None, progress: Optional[Progress] = None,
            after: "Optional[Trajectory]" = None, kinematics: bool = False) -> "Trajectory":
        """Continues from the present time; see :func:`simulate` for the parameters.

        :param kinematics: see :func:`kinematics`

        :param after: the trajectory that this one continues: attitudes keep their quaternion's sign
        """
        from ._trajectory import Trajectory
        number = level_of(level)
        paths: List[Path] = ([] if output is None else [output] if isinstance(output, (str, os.PathLike))
                             else list(output))
        row = self._controlled(controller) if controller else None
        watch = Watch(progress, row)
        run = ffi.new("lwpy_run *", {"handle": watch.handle, "controlled": row is not None,
                                     "kinematics": kinematics})
        if len(paths) >= len(run.writer):
            raise ArgumentError(f"output: at most {len(run.writer) - 1} files")
        with self._alone(), (hdf5_lock if paths else contextlib.nullcontext()):
            if duration is not None:
                self._check(lib.lw_sim_set_duration(self._handle, duration))
            with watch:
                status, files, result = self._recorded(run, number, paths, after)
        summary = self.summary
        trajectory = Trajectory(result, self.model, summary, stopped=self.stopped)
        watch.finish(trajectory=trajectory)
        if self._callback is not None and self._callback.exception is not None:
            self._callback.exception.__dict__.setdefault("trajectory", trajectory)
            self._callback.finish()
        if files is not None:
            raise files
        if status < 0:
            error = make_error(status, lib.lw_sim_error(self._handle))
            error.trajectory = trajectory
            raise error
        self._warn_unreliable(summary)
        return trajectory

    def _recorded(self, run: Any, level: int, paths: Sequence[Path],
                  after: Any) -> Tuple[int, Optional[Error], Any]:
        """Status of the run, failure of a file, the rows in memory."""
        error = ffi.new("lw_error *")
        desc = ffi.new("lw_writer_desc *", {"sim": self._handle, "level": level})
        if after is not None:
            desc.after = after._handle
        failure: Optional[Error] = None
        names = [ffi.NULL] + [ffi.new("char[]", path_bytes(p)) for p in paths]
        status = 0
        for name in names:
            made = ffi.new("lw_writer **")
            status = lib.lw_writer_create(name, desc, made, error)
            if status < 0:
                break
            run.writer[run.nwriter] = made[0]
            run.nwriter += 1
            level = max(level, int(lib.lw_writer_level(made[0])))
        if status < 0:
            failure = make_error(status, error)
        else:
            status = lib.lwpy_sim_run(self._handle, level, run)
        result = ffi.new("lw_result **")
        for i in range(1, run.nwriter):
            closed = lib.lw_writer_close(run.writer[i], error)
            if closed < 0 and failure is None:
                failure = make_error(closed, error)
        if run.nwriter:
            check(lib.lw_writer_finish(run.writer[0], result, error), error)
        elif failure is not None:
            raise failure
        return status, failure, result[0]

    def _controlled(self, controller: Controller) -> Callable[[Any], None]:
        if self.options["sample"] == "steps" or self.options["sample_mode"] != "stop":
            raise ArgumentError("controller: rows must stand at `sample` with sample_mode 'stop'")

        def row(pointer: Any) -> None:
            values = controller(self, observation_of(self.model, pointer, self._handle, self._known))
            if values is not None:
                self.inputs.update(values)
        return row

    def __repr__(self) -> str:
        options = self.options
        return (f"<linkwork.Simulation: {options['formulation']}, {options['integrator']}, "
                f"t = {self.time:g} s>")


def _unpickle(model: Model, options: Options, time: float, state: Array,
              inputs: Mapping[str, float]) -> Simulation:
    simulation = Simulation(model, **options)
    simulation.set_state(state, time)
    simulation.inputs.update(inputs)
    return simulation


def impulse_desc(model: Model, body: Optional[str], joint: Optional[str], axes: str, coordinate: int,
                 effort: float, vectors: Mapping[str, ArrayLike]) -> Any:
    """An ``lw_impulse_desc *`` of the parameters of :meth:`Simulation.apply_impulse`."""
    if (body is None) == (joint is None):
        raise ArgumentError("apply_impulse: expected either a body or a joint")
    if axes not in ("world", "body"):
        raise ArgumentError(f"axes: {axes!r}, expected 'world' or 'body'")
    desc = ffi.new("lw_impulse_desc *", {"body_axes": axes == "body", "effort": effort,
                                         "coordinate": coordinate, "on_joint": joint is not None})
    for name, values in vectors.items():
        x, y, z = numbers(values, (3,), name)
        setattr(desc, name, {"x": x, "y": y, "z": z})
    if body is not None:
        desc.body.index = model.body(body).index
    else:
        desc.joint.index = model.joint(str(joint)).index
    return desc


def impact_of(i: Any, model: Model) -> Impact:
    """From an ``lw_impact *``."""
    m = len(model.joints)
    reaction = view(i.reaction, (m, 6), i).copy() if m else np.empty((0, 6))
    return Impact(i.time, i.kinetic_before, i.kinetic_after, i.work, reaction)


def summary_of(s: Any) -> Summary:
    """From an ``lw_summary *``."""
    return Summary(s.steps, s.evaluations, s.rejected, s.restarts, s.projections, s.events, s.start,
                   s.end, s.wall, s.energy_error, s.energy_scale, tuple(s.residual), s.impulses,
                   s.impulse_work, s.valid_until, s.occurrences)


def simulate(model: Union[Model, Path], duration: Optional[float] = None, *,
             level: str = "reaction", columns: Union[None, str, Sequence[str]] = None,
             output: Union[None, Path, Sequence[Path]] = None,
             inputs: Optional[Mapping[str, float]] = None, controller: Optional[Controller] = None,
             initial: "Union[None, Trajectory, Path]" = None, progress: Optional[Progress] = None,
             **options: Any) -> "Trajectory":
    """Simulates a model and returns a :class:`Trajectory`.

    :param model: a model or a file
    :param duration: simulated time [s]; default: that of the model's file, or 10 s
    :param level: contents of rows: "pose", "twist", "energy", "acceleration", "reaction", "force",
        "momentum"
    :param output: files (.h5, .csv) that are written during the run
    :param columns: of the rows and files: a pattern or several, "joint.*.f*", "spring.strut.force", also of
        reactions elsewhere, "joint.A.fx@F1" (docs/results.md); None: all of `level`
    :param inputs: values of the model's inputs
    :param controller: called at every row with (simulation, observation); sets inputs, or returns them
        as a dictionary; they hold until the next row
    :param initial: a trajectory or result file; the run resumes from its last row
    :param progress: called from time to time with (time, end); a true result stops the run
    :param options: of the run: ``formulation``, ``integrator``, ``sample``, ``rtol``, ``step``, ...

    Other threads of Python can run meanwhile. Ctrl-C raises KeyboardInterrupt soon. A run that fails raises
    an :class:`Error` with the rows so far as ``trajectory``.
    """
    if not isinstance(model, Model):
        model = load(model)
    if columns is not None:
        options["columns"] = columns if isinstance(columns, str) else ",".join(columns)
    simulation = Simulation(model, **options)
    if initial is not None:
        simulation.restore(initial)
    if inputs:
        simulation.inputs.update(inputs)
    return simulation.run(duration, level=level, output=output, controller=controller,
                          progress=progress)


def kinematics(model: Union[Model, Path], duration: Optional[float] = None, *, level: str = "reaction",
               columns: Union[None, str, Sequence[str]] = None,
               output: Union[None, Path, Sequence[Path]] = None, progress: Optional[Progress] = None,
               **options: Any) -> "Trajectory":
    """The motion of a mechanism with a drive for each degree of freedom, without integration: positions are solved for
    at each row, velocities, accelerations and reactions follow.  Parameters as of :func:`simulate`.

    :raises ModelError: degrees of freedom without drives
    :raises SingularError: a dead point, or a time after which the loops do not close
    """
    if not isinstance(model, Model):
        model = load(model)
    if columns is not None:
        options["columns"] = columns if isinstance(columns, str) else ",".join(columns)
    return Simulation(model, **options).run(duration, level=level, output=output, progress=progress, kinematics=True)


__all__ = ["Inputs", "Observation", "Simulation", "StoppedError", "Summary", "kinematics", "simulate"]
