"""Many instances of one model at once: other starts, inputs, parameters."""
from __future__ import annotations

import contextlib
import threading
from typing import Any, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, Union, overload

import numpy as np
from numpy.typing import ArrayLike

from ._batch_callback import BatchCallback, BatchFunction, BatchJacobian, batch_callback, check_called
from ._compiled import Compiled
from ._errors import ArgumentError, Error, make_error, path_bytes, text_of, unknown
from ._memory import Array, doubles, numbers, out_array, real, view
from ._model import Model, Path, load, made_model
from ._native import ffi, lib
from ._options import Options, make_options, read_options
from ._simulation import (Impact, Observation, Progress, Summary, Watch, hdf5_lock, impact_of, impulse_desc, observation_of,
                          level_of, summary_of)


class BatchResult:
    """What :func:`simulate_batch` returns: ``result["joint.sway.q0"]`` is [instances, rows].

    Rows of an instance after its failure are NaN; :attr:`failures` has the messages. So are, where a run was
    stopped, the rows of instances that had not reached them.
    """

    def __init__(self, time: Array, table: Array, columns: Tuple[str, ...], vary: Tuple[str, ...],
                 values: Array, failures: Tuple[str, ...], summaries: Sequence[Summary],
                 notice: str) -> None:
        self.time = time  #: [rows]
        self.table = table  #: all numbers [rows, instances, columns]
        self.columns = columns
        self.vary, self.values = vary, values  #: varied quantities, [instances, vary]
        self.failures = failures  #: of each instance; "" if it has not failed
        self.summaries = summaries
        self.notice = notice
        self._index = {name: i for i, name in enumerate(columns)}

    @property
    def instances(self) -> int:
        """Number of instances."""
        return len(self.failures)

    def __getitem__(self, name: str) -> Array:
        if name not in self._index:
            unknown("column", name, self._index)
        return self.table[:, :, self._index[name]].T

    def __repr__(self) -> str:
        failed = sum(1 for f in self.failures if f)
        return (f"<linkwork.BatchResult: {self.instances} instances ({failed} failed), "
                f"{len(self.time)} rows, {len(self.columns)} columns>")


class Summaries(Sequence[Summary]):
    """The summaries of all instances."""

    def __init__(self, block: bytes) -> None:
        self._block = block  # of lw_summary, without the objects of Python that they would be

    def __len__(self) -> int:
        return len(self._block) // int(ffi.sizeof("lw_summary"))

    @overload
    def __getitem__(self, index: int) -> Summary: ...

    @overload
    def __getitem__(self, index: slice) -> Tuple[Summary, ...]: ...

    def __getitem__(self, index: Union[int, slice]) -> Union[Summary, Tuple[Summary, ...]]:
        which = range(len(self))[index]
        block = ffi.from_buffer("lw_summary[]", self._block)
        return summary_of(block[which]) if isinstance(which, int) else tuple(summary_of(block[i]) for i in which)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Summaries) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(self._block)

    def __repr__(self) -> str:
        return f"<linkwork.Summaries: {len(self)} instances>"


class _Release:
    """Returns the arrays of a run to the glue."""

    def __init__(self, run: Any) -> None:
        self.run = run

    def __del__(self) -> None:
        lib.lwpy_free(self.run.time)
        lib.lwpy_free(self.run.values)


def _varied(vary: Mapping[str, ArrayLike], instances: Optional[int]) -> Tuple[int, Array]:
    columns = [np.atleast_1d(real(v, f"vary: {name}")) for name, v in vary.items()]
    sizes = {len(c) for c in columns if len(c) != 1} | ({instances} if instances else set())
    for name, column in zip(vary, columns):
        if column.ndim != 1:
            raise ArgumentError(f"vary: {name}: {column.ndim} dimensions, expected a list of numbers")
    if len(sizes) > 1:
        raise ArgumentError(f"vary: lists of different lengths: {sorted(sizes)}")
    count = sizes.pop() if sizes else 1
    table = [np.broadcast_to(c, (count,)) for c in columns]
    return count, np.ascontiguousarray(np.stack(table, axis=1) if table else np.empty((count, 0)))


def _described(model: Model, vary: Mapping[str, ArrayLike], instances: Optional[int], options: Any,
               called: Optional[BatchCallback], **more: int) -> Tuple[Any, Array, Any]:
    """An ``lw_batch_desc *``, the values [instances, vary], and what must be kept while it is used."""
    count, values = _varied(vary, instances)
    names = [ffi.new("char[]", n.encode()) for n in vary]
    array = ffi.new("const char *[]", names + [ffi.NULL])
    desc = ffi.new("lw_batch_desc *", {"options": options, "instances": count, "nvary": len(names),
                                       "vary": array, "values": doubles(values), **more})
    if called is not None:
        called.describe(desc)
    return desc, values, (model, options, array, names, values, called)


def simulate_batch(model: Union[Model, Path], vary: Optional[Mapping[str, ArrayLike]] = None,
                   duration: Optional[float] = None, *, instances: Optional[int] = None,
                   level: str = "reaction", columns: Union[None, str, Iterable[str]] = None,
                   output: Optional[Path] = None, threads: int = 0, lanes: int = 0,
                   memory: int = 0, progress: Optional[Progress] = None,
                   callback: Optional[BatchFunction] = None, jacobian: Optional[BatchJacobian] = None,
                   **options: Any) -> BatchResult:
    """Simulates instances of a model that differ in what `vary` names.

    :param vary: name: values of all instances, or one for all: ``joint.NAME.q0``, ``input.NAME``,
        ``body.NAME.mass``, ... (docs/batch.md)
    :param columns: those that the result keeps: their names, or a string with patterns, which are also the
        columns of `output`; None: all of `level`
    :param threads: 0: all processors
    :param lanes: instances side by side in the processor: 1, 4, 8; 0: the best
    :param memory: bytes of the instances that exist at the same time, about; 0: 64 MiB
    :param callback: the inputs as functions of the states of many instances, a :class:`BatchStates`, in every
        evaluation of the rates: all inputs [instances, inputs], or some by name. The integrators that compute in lanes
        call it once for all instances of a thread (`threads`: then 1 by default), others for one. The values of an
        instance depend on its row only. An exception ends the run and is raised, with the rows so far as ``result``
    :param jacobian: of the callback, for the integrators index3 and bdf: derivatives as of
        :meth:`Simulation.set_callback`, each with one more dimension in front, the instances of the call
    :param options: of the run; the integrators "dopri54" (auto) and "rk4" compute in lanes

    Every instance is bit for bit equal to a single run. A failed one does not affect the others. An instance
    exists only while it runs; what grows with their number is the result, 8 bytes for a number, and some 300
    bytes for each instance. A run that is stopped or cannot continue raises an :class:`Error` with the rows
    so far as ``result``.
    """
    if not isinstance(model, Model):
        model = load(model)
    vary = vary or {}
    if duration is not None:
        options["duration"] = duration
    if isinstance(columns, str):
        options["columns"], columns = columns, None
    called, threads = batch_callback(model, callback, jacobian, threads)
    desc, values, used = _described(model, vary, instances, make_options(model._options, options), called,
                                    threads=threads, lanes=lanes, memory=memory)
    count = len(values)
    sweep, error = ffi.new("lw_sweep **"), ffi.new("lw_error *")
    check_called(called, lib.lw_sweep_create(model._handle, desc, sweep, error), error)
    # the sweep reads names and values during its run
    handle = ffi.gc(sweep[0], lambda s, kept=used: lib.lw_sweep_destroy(s))
    watch = Watch(progress)
    run = ffi.new("lwpy_sweep *", {"handle": watch.handle, "instances": count})
    release = _Release(run)
    files: List[Any] = [ffi.NULL]
    if output is not None:
        files.append(ffi.new("char[]", path_bytes(output)))
    with (hdf5_lock if output is not None else contextlib.nullcontext()), watch:
        status, failure, kept = _recorded(handle, run, level_of(level), columns, files)
    shape = (int(run.rows), count, len(kept))
    result = BatchResult(view(run.time, shape[:1], release), view(run.values, shape, release), kept,
                         tuple(vary), values, _failures(handle, count), _summaries(handle, count),
                         text_of(lib.lw_sweep_notice(handle)))
    watch.finish(result=result)
    if called is not None:
        called.finish(result=result)
    if failure is None and status < 0:
        failure = make_error(status, lib.lw_sweep_error(handle))
    if failure is not None:
        failure.result = result
        raise failure
    return result


def _failures(handle: Any, count: int) -> Tuple[str, ...]:
    if not lib.lw_sweep_failed(handle):
        return ("",) * count
    return tuple(text_of(lib.lw_sweep_failure(handle, i)) for i in range(count))


def _summaries(handle: Any, count: int) -> Summaries:
    block = ffi.new("lw_summary[]", count)
    lib.lwpy_sweep_summaries(handle, block)
    return Summaries(bytes(ffi.buffer(block)))


def _kept(writer: Any, wanted: Optional[Iterable[str]]) -> Tuple[List[int], Tuple[str, ...]]:
    """Numbers and names of the columns that the result has."""
    names = tuple(text_of(lib.lw_batch_writer_column(writer, i).name)
                  for i in range(lib.lw_batch_writer_columns(writer)))
    if wanted is None:
        return list(range(len(names))), names
    index = {name: i for i, name in enumerate(names)}
    chosen = tuple(wanted)
    for name in chosen:
        if name not in index:
            unknown("column", name, index)
    return [index[name] for name in chosen], chosen


def _recorded(handle: Any, run: Any, level: int, columns: Optional[Iterable[str]],
              files: List[Any]) -> Tuple[int, Optional[Error], Tuple[str, ...]]:
    error = ffi.new("lw_error *")
    failure: Optional[Error] = None
    numbers: List[int] = []
    kept: Tuple[str, ...] = ()
    status = 0
    try:
        for name in files:
            writer = ffi.new("lw_batch_writer **")
            status = lib.lw_sweep_writer_create(name, handle, level, writer, error)
            if status < 0:
                failure = make_error(status, error)
                break
            run.writer[run.nwriter] = writer[0]
            run.nwriter += 1
            if run.nwriter == 1:  # before a file is written: names may be wrong
                numbers, kept = _kept(writer[0], columns)
        if failure is None:
            column = ffi.new("int[]", numbers)
            run.columns, run.column = len(kept), column
            status = lib.lwpy_sweep_run(handle, run)
    finally:
        for i in range(run.nwriter):
            closed = lib.lw_batch_writer_close(run.writer[i], error)
            if closed < 0 and failure is None:
                failure = make_error(closed, error)
    return status, failure, kept


class Batch:
    """Instances of a model that are stepped together, numbered from 0; used by one thread at a time.

    Every instance is bit for bit equal to a :class:`Simulation` with the same integrator.
    For whole runs :func:`simulate_batch` takes less memory.

    :param vary, instances, threads, lanes, callback, jacobian, options: as of :func:`simulate_batch`
    """

    def __init__(self, model: Union[Model, Path], vary: Optional[Mapping[str, ArrayLike]] = None, *,
                 instances: Optional[int] = None, threads: int = 0, lanes: int = 0,
                 callback: Optional[BatchFunction] = None, jacobian: Optional[BatchJacobian] = None,
                 **options: Any) -> None:
        self.model = made_model(load(model) if not isinstance(model, Model) else model)
        self._called, threads = batch_callback(self.model, callback, jacobian, threads)
        desc, self.values, used = _described(self.model, vary or {}, instances,
                                             make_options(self.model._options, options), self._called,
                                             threads=threads, lanes=lanes)
        batch, error = ffi.new("lw_batch **"), ffi.new("lw_error *")
        check_called(self._called, lib.lw_batch_create(self.model._handle, desc, batch, error), error)
        self._handle = ffi.gc(batch[0], lambda b, kept=used: lib.lw_batch_destroy(b))
        self._busy = threading.Lock()

    @contextlib.contextmanager
    def _alone(self) -> Iterator[Any]:
        """The handle; no other thread has it meanwhile."""
        if not self._busy.acquire(blocking=False):
            raise ArgumentError("the batch is at work in another thread, or calls its callback")
        try:
            yield self._handle
        finally:
            self._busy.release()

    def _check(self, status: int) -> None:
        check_called(self._called, status, lib.lw_batch_error(self._handle))

    def _known(self, instance: int) -> int:
        if 0 <= instance < len(self):
            return instance
        raise ArgumentError(f"instance {instance}: the batch has {len(self)}, from 0 on")

    def __len__(self) -> int:
        return int(lib.lw_batch_instances(self._handle))

    @property
    def options(self) -> Options:
        """Resolved: without "auto"."""
        return read_options(lib.lw_batch_options(self._handle))

    @property
    def notice(self) -> str:
        """The choices made and the reasons."""
        return text_of(lib.lw_batch_notice(self._handle))

    @property
    def time(self) -> Array:
        """Simulated time of each instance [s]."""
        return np.array([lib.lw_batch_time(self._handle, i) for i in range(len(self))])

    @property
    def failures(self) -> Tuple[str, ...]:
        """Of each instance why it has failed; "" if it has not."""
        return tuple(text_of(lib.lw_batch_failure(self._handle, i)) for i in range(len(self)))

    def summary(self, instance: int) -> Summary:
        """Statistics of one instance so far."""
        s = ffi.new("lw_summary *")
        lib.lw_batch_summary(self._handle, self._known(instance), s)
        return summary_of(s)

    def state(self, instance: int) -> Array:
        """A copy of an instance's state; with the time and its inputs, all that a restart needs."""
        i = self._known(instance)
        x = np.empty(lib.lw_batch_state_size(self._handle, i))
        with self._alone() as handle:
            self._check(lib.lw_batch_get_state(handle, i, ffi.NULL, doubles(x)))
        return x

    def set_state(self, instance: int, x: ArrayLike, time: Optional[float] = None) -> None:
        """Sets a state, at a time (default: the present one); brings a failed instance back."""
        i = self._known(instance)
        array = numbers(x, (lib.lw_batch_state_size(self._handle, i),), "state")
        with self._alone() as handle:
            now = lib.lw_batch_time(handle, i) if time is None else time
            self._check(lib.lw_batch_set_state(handle, i, now, doubles(array)))

    def set_joints(self, instance: int, q: ArrayLike, qd: Optional[ArrayLike] = None,
                   time: Optional[float] = None) -> None:
        """Sets coordinates and speeds as :meth:`Simulation.set_joints`; brings a failed instance back."""
        i = self._known(instance)
        array = numbers(q, (self.model.nq,), "q")
        speeds = np.zeros(self.model.nv) if qd is None else numbers(qd, (self.model.nv,), "qd")
        with self._alone() as handle:
            now = lib.lw_batch_time(handle, i) if time is None else time
            self._check(lib.lw_batch_set_joints(handle, i, now, doubles(array), doubles(speeds)))

    def set_input(self, instance: int, name: str, value: float) -> None:
        """Sets an input of one instance, until it is set again."""
        if name not in self.model.inputs:
            unknown("input", name, self.model.inputs)
        with self._alone() as handle:
            self._check(lib.lw_batch_set_input(handle, self._known(instance),
                                               self.model.inputs.index(name), value))

    def set_inputs(self, values: ArrayLike) -> None:
        """Sets all inputs of all instances, [instances, ``len(model.inputs)``], until they are set again."""
        array = numbers(values, (len(self), len(self.model.inputs)), "inputs")
        with self._alone() as handle:
            self._check(lib.lwpy_batch_set_inputs(handle, array.shape[1], doubles(array)))

    def joints(self, q: Optional[Array] = None, qd: Optional[Array] = None) -> Tuple[Array, Array]:
        """Coordinates [instances, ``model.nq``] and speeds [instances, ``model.nv``] of all joints, ``Joint.q`` and
        ``Joint.v``; of instances that have failed the rows of `q` and `qd` stay as they are, or are NaN."""
        model = self.model
        coordinates, speeds = (np.full((len(self), n), np.nan) if given is None else out_array(given, (len(self), n), what)
                               for given, n, what in ((q, model.nq, "q"), (qd, model.nv, "qd")))
        with self._alone() as handle:
            self._check(lib.lwpy_batch_joints(handle, model.nq, model.nv, doubles(coordinates), doubles(speeds)))
        return coordinates, speeds

    def use_compiled(self, compiled: Compiled) -> None:
        """The rates of steps by compiled code (:meth:`Model.compile`), several instances in lanes; an UnsupportedError where
        that is not possible, as with different parameters."""
        with self._alone() as handle:
            self._check(lib.lw_batch_use_compiled(handle, compiled._handle))
            self._compiled = compiled  # kept

    def step(self, until: float) -> None:
        """Integrates every instance to a time exactly, except those at or beyond it and those that have failed.

        Where instances fail in this call, the first one's failure is raised after the others have reached the time.
        """
        with self._alone() as handle:
            self._check(lib.lw_batch_step(handle, until))

    def observe(self, instance: int, level: str = "reaction") -> Observation:
        """The present motion of an instance; its arrays are overwritten by the next call, use
        :meth:`Observation.copy` to keep them."""
        found = ffi.new("const lw_observation **")
        with self._alone() as handle:
            self._check(lib.lw_batch_observe(handle, self._known(instance), level_of(level), found))
            return observation_of(self.model, found[0], handle, {})

    def apply_impulse(self, instance: int, body: Optional[str] = None, *, impulse: ArrayLike = (0, 0, 0),
                      point: ArrayLike = (0, 0, 0), angular_impulse: ArrayLike = (0, 0, 0),
                      axes: str = "world", joint: Optional[str] = None, coordinate: int = 0,
                      effort: float = 0.0) -> Impact:
        """Lets an impulse act on one instance now, see :meth:`Simulation.apply_impulse`; not on one that has
        failed."""
        desc = impulse_desc(self.model, body, joint, axes, coordinate, effort,
                            {"impulse": impulse, "point": point, "angular_impulse": angular_impulse})
        found = ffi.new("const lw_impact **")
        with self._alone() as handle:
            self._check(lib.lw_batch_apply_impulse(handle, self._known(instance), 1, desc, found))
            return impact_of(found[0], self.model)

    def __repr__(self) -> str:
        options = self.options
        return (f"<linkwork.Batch: {len(self)} instances, {options['formulation']}, "
                f"{options['integrator']}>")


__all__ = ["Batch", "BatchResult", "Summaries", "simulate_batch"]
