"""Many instances of one model at once: other starts, inputs, parameters."""
from __future__ import annotations

import contextlib
from typing import Any, Iterable, List, Mapping, Optional, Sequence, Tuple, Union, overload

import numpy as np
from numpy.typing import ArrayLike

from ._errors import ArgumentError, Error, check, make_error, path_bytes, text_of, unknown
from ._memory import Array, doubles, real, view
from ._model import Model, Path, load
from ._native import ffi, lib
from ._options import make_options
from ._simulation import Progress, Summary, Watch, hdf5_lock, level_of, summary_of


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


def simulate_batch(model: Union[Model, Path], vary: Mapping[str, ArrayLike],
                   duration: Optional[float] = None, *, instances: Optional[int] = None,
                   level: str = "reaction", columns: Optional[Iterable[str]] = None,
                   output: Optional[Path] = None, threads: int = 0, lanes: int = 0,
                   memory: int = 0, progress: Optional[Progress] = None,
                   **options: Any) -> BatchResult:
    """Simulates instances of a model that differ in what `vary` names.

    :param vary: name: values of all instances, or one for all: ``joint.NAME.q0``, ``input.NAME``,
        ``body.NAME.mass``, ... (docs/batch.md)
    :param columns: those that the result keeps; None: all of `level`
    :param threads: 0: all processors
    :param lanes: instances side by side in the processor: 1, 4, 8; 0: the best
    :param memory: bytes of the instances that exist at the same time, about; 0: 64 MiB
    :param options: of the run; integrators "dopri54" and "rk4"

    Every instance is bit for bit equal to a single run. A failed one does not affect the others. An instance
    exists only while it runs; what grows with their number is the result, 8 bytes for a number, and some 300
    bytes for each instance. A run that is stopped or cannot continue raises an :class:`Error` with the rows
    so far as ``result``.
    """
    if not isinstance(model, Model):
        model = load(model)
    count, values = _varied(vary, instances)
    if duration is not None:
        options["duration"] = duration
    made = make_options(model._options, options)
    names = [ffi.new("char[]", n.encode()) for n in vary]
    array = ffi.new("const char *[]", names + [ffi.NULL])
    desc = ffi.new("lw_batch_desc *", {"options": made, "instances": count, "threads": threads,
                                       "lanes": lanes, "nvary": len(names), "vary": array,
                                       "values": doubles(values), "memory": memory})
    sweep, error = ffi.new("lw_sweep **"), ffi.new("lw_error *")
    check(lib.lw_sweep_create(model._handle, desc, sweep, error), error)
    # the sweep reads names and values during its run
    handle = ffi.gc(sweep[0], lambda s, kept=(model, array, names, values): lib.lw_sweep_destroy(s))
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
    if isinstance(wanted, str):
        raise ArgumentError(f"columns: expected a list of names, got '{wanted}'")
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


__all__ = ["BatchResult", "Summaries", "simulate_batch"]
