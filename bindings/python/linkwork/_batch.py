"""Many instances of one model at once: other starts, inputs, parameters."""
from __future__ import annotations

import contextlib
from typing import Any, List, Mapping, Optional, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike

from ._errors import ArgumentError, Error, check, make_error, path_bytes, text_of, unknown
from ._memory import Array, doubles, view
from ._model import Model, Path, load
from ._native import ffi, lib
from ._options import make_options
from ._simulation import Progress, Summary, Watch, hdf5_lock, level_of, summary_of


class BatchResult:
    """What :func:`simulate_batch` returns: ``result["joint.sway.q0"]`` is [instances, rows].

    Rows of an instance after its failure are NaN; :attr:`failures` has the messages.
    """

    def __init__(self, time: Array, table: Array, columns: Tuple[str, ...], vary: Tuple[str, ...],
                 values: Array, failures: Tuple[str, ...], summaries: Tuple[Summary, ...],
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


class _Release:
    """Returns an array to the glue."""

    def __init__(self, block: Any) -> None:
        self.block = block

    def __del__(self) -> None:
        lib.lwpy_free(self.block)


def _varied(vary: Mapping[str, ArrayLike], instances: Optional[int]) -> Tuple[int, Array]:
    columns = [np.atleast_1d(np.asarray(v, dtype=np.float64)) for v in vary.values()]
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
                   level: str = "reaction", output: Optional[Path] = None, threads: int = 0,
                   lanes: int = 0, progress: Optional[Progress] = None,
                   **options: Any) -> BatchResult:
    """Simulates instances of a model that differ in what `vary` names.

    :param vary: name: values of all instances, or one for all: ``joint.NAME.q0``, ``input.NAME``,
        ``body.NAME.mass``, ... (docs/batch.md)
    :param threads: 0: all processors
    :param lanes: instances side by side in the processor: 1, 4, 8; 0: the best
    :param options: of the run; integrators "dopri54" and "rk4"

    Every instance is bit for bit equal to a single run. A failed one does not affect the others.
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
                                       "values": doubles(values)})
    batch, error = ffi.new("lw_batch **"), ffi.new("lw_error *")
    check(lib.lw_batch_create(model._handle, desc, batch, error), error)
    handle = ffi.gc(batch[0], lambda b, m=model: lib.lw_batch_destroy(b))
    watch = Watch(progress)
    run = ffi.new("lwpy_batch *", {"handle": watch.handle})
    files: List[Any] = [ffi.NULL]
    if output is not None:
        files.append(ffi.new("char[]", path_bytes(output)))
    with (hdf5_lock if output is not None else contextlib.nullcontext()), watch:
        status, failure, columns = _recorded(handle, run, level_of(level), files)
    release = _Release(run.values), _Release(run.time)
    watch.finish()
    if failure is not None:
        raise failure
    check(status, lib.lw_batch_error(handle))
    shape = (int(run.rows), count, int(run.columns))
    summaries = []
    for i in range(count):
        s = ffi.new("lw_summary *")
        lib.lw_batch_summary(handle, i, s)
        summaries.append(summary_of(s))
    return BatchResult(view(run.time, shape[:1], release), view(run.values, shape, release), columns,
                       tuple(vary), values,
                       tuple(text_of(lib.lw_batch_failure(handle, i)) for i in range(count)),
                       tuple(summaries), text_of(lib.lw_batch_notice(handle)))


def _recorded(handle: Any, run: Any, level: int,
              files: List[Any]) -> Tuple[int, Optional[Error], Tuple[str, ...]]:
    error = ffi.new("lw_error *")
    failure: Optional[Error] = None
    columns: Tuple[str, ...] = ()
    status = 0
    for name in files:
        writer = ffi.new("lw_batch_writer **")
        status = lib.lw_batch_writer_create(name, handle, level, writer, error)
        if status < 0:
            failure = make_error(status, error)
            break
        run.writer[run.nwriter] = writer[0]
        run.nwriter += 1
    if failure is None:
        first = run.writer[0]
        run.columns = lib.lw_batch_writer_columns(first)
        columns = tuple(text_of(lib.lw_batch_writer_column(first, i).name) for i in range(run.columns))
        status = lib.lwpy_batch_run(handle, run)
    for i in range(run.nwriter):
        closed = lib.lw_batch_writer_close(run.writer[i], error)
        if closed < 0 and failure is None:
            failure = make_error(closed, error)
    return status, failure, columns


__all__ = ["BatchResult", "simulate_batch"]
