"""Studies: runs of many variants that end in a table."""
from __future__ import annotations

import contextlib
import importlib
import os
from typing import Any, Dict, Iterable, Iterator, Mapping, Optional, Union

import numpy as np
from numpy.typing import ArrayLike

from ._batch_callback import BatchCallback, BatchFunction, BatchJacobian, batch_callback, check_called
from ._errors import ArgumentError, check, make_error, path_bytes, text_of, unknown
from ._memory import Array, real, view
from ._model import Model, Path, load
from ._native import ffi, lib
from ._options import make_options
from ._simulation import Progress, Watch, hdf5_lock, level_of


class Study(Mapping[str, Array]):
    """The table of a study: ``study["l"]`` and ``study["measure.load.max"]`` are arrays [variants].

    A mapping of columns in their order: ``instance``, what varies, of every measure ``.min``, ``.max``, ``.range``,
    ``.mean``, ``.rms``, ``.last``, ``.time_of_min``, ``.time_of_max``, ``.integral``, then ``end``, ``steps``, ``evaluations``,
    ``energy_error``. A number that is not known is NaN. ``pandas.DataFrame(study)`` works, too.
    """

    def __init__(self, handle: Any, notice: str = "") -> None:
        self._handle = ffi.gc(handle, lib.lw_table_free)
        rows, n = lib.lw_table_rows(handle), lib.lw_table_columns(handle)
        values = np.array(view(lib.lw_table_values(handle), (rows, n), self._handle)) if rows * n else np.empty((rows, n))
        names = [text_of(lib.lw_table_names(handle)[k]) for k in range(n)]
        self._columns: Dict[str, Array] = {name: values[:, k].copy() for k, name in enumerate(names)}
        self.units = {name: text_of(lib.lw_table_unit(handle, k)) for k, name in enumerate(names)}  #: of the columns
        self.failures = tuple(text_of(lib.lw_table_string(handle, i)) for i in range(rows))  #: "": completed
        self.notice = notice

    def __getitem__(self, name: str) -> Array:
        if name not in self._columns:
            unknown("column", name, self._columns)
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    @property
    def variants(self) -> int:
        """Number of variants."""
        return len(self.failures)

    def to_pandas(self) -> Any:
        """A ``pandas.DataFrame`` with all columns and ``failure``; needs pandas."""
        pandas: Any = importlib.import_module("pandas")
        return pandas.DataFrame({**self._columns, "failure": list(self.failures)})

    def save(self, path: Path) -> None:
        """Writes .csv or .h5 as the program does, .parquet by pandas, which needs pyarrow or fastparquet."""
        if os.fspath(path).endswith(".parquet"):
            part = f"{os.fspath(path)}.{os.getpid()}.tmp"  # a whole file, or none
            try:
                self.to_pandas().to_parquet(part)
                os.replace(part, path)
            finally:
                with contextlib.suppress(FileNotFoundError):
                    os.remove(part)
            return
        error = ffi.new("lw_error *")
        with hdf5_lock:
            check(lib.lw_table_write(self._handle, path_bytes(path), error), error)

    @classmethod
    def read(cls, path: Path) -> "Study":
        """Reads the table of a study, .csv or .h5."""
        table, error = ffi.new("lw_table **"), ffi.new("lw_error *")
        with hdf5_lock:
            check(lib.lw_table_read_study(path_bytes(path), table, error), error)
        return cls(table[0])

    def __repr__(self) -> str:
        failed = sum(1 for f in self.failures if f)
        return f"<linkwork.Study: {self.variants} variants ({failed} failed), {len(self)} columns>"


def _factor(name: str, values: Union[str, ArrayLike]) -> Any:
    """What varies, as the program takes it; numbers keep their bits."""
    if not isinstance(values, str):
        numbers = np.atleast_1d(real(values, f"space: {name}"))
        if numbers.ndim != 1 or not len(numbers):
            raise ArgumentError(f"space: {name}: expected a list of numbers, or a string as of --vary")
        values = ",".join(repr(float(x)) for x in numbers)
    return ffi.new("char[]", f"{name}={values}".encode())


def _design(model: Model, space: Mapping[str, Union[str, ArrayLike]], design: str, seed: int,
            rows: Optional[Path]) -> Any:
    """A table with the variants."""
    table, error = ffi.new("lw_table **"), ffi.new("lw_error *")
    given: Any = ffi.NULL
    if rows is not None:
        with hdf5_lock:
            check(lib.lw_table_read(path_bytes(rows), table, error), error)
        given = ffi.gc(table[0], lib.lw_table_free)
    factors = [_factor(name, values) for name, values in space.items()]
    kind = ffi.new("char[]", design.encode())
    vary = ffi.new("const char *[]", factors + [ffi.NULL])
    desc = ffi.new("lw_design_desc *", {"design": kind, "seed": seed, "nvary": len(factors), "vary": vary,
                                        "rows": given})
    check(lib.lw_design_create(model._handle, desc, table, error), error)
    return ffi.gc(table[0], lib.lw_table_free)


def sweep(model: Union[Model, Path], space: Mapping[str, Union[str, ArrayLike]],
          measures: Union[None, str, Iterable[str]] = None, *, design: str = "grid", seed: int = 1,
          rows: Optional[Path] = None, duration: Optional[float] = None, output: Optional[Path] = None,
          level: str = "reaction", threads: int = 0, lanes: int = 0, memory: int = 0,
          progress: Optional[Progress] = None, store: Optional[Path] = None, executor: Any = None, part_rows: int = 0,
          callback: Optional[BatchFunction] = None, jacobian: Optional[BatchJacobian] = None,
          **options: Any) -> Study:
    """Runs the variants of a model; returns the table of their measures, with the bits of ``linkwork sweep --table``.

    :param space: what varies: name: a list of values, or a string as of ``--vary``: ``"400 mm:600 mm"``,
        ``"0.1:0.5:5"``, ``"log:1:100"``, ``"normal:5:0.2 kg"`` (docs/batch.md)
    :param measures: columns of which the table has statistics, by name or pattern; None: the measures of the model
    :param design: "grid", "lhs:N", "sobol:N", "random:N"
    :param seed: of these, an integer from 0 on
    :param rows: a table (.csv, .h5); each of its rows is combined with every variant
    :param output: a result (.h5, .csv) with the rows of all runs, of `level` or of the option `columns`
    :param threads, lanes, memory, options: as of :func:`simulate_batch`
    :param store: a folder that keeps the study, part by part; the same call continues it (docs/cluster.md)
    :param executor: makes the parts of a `store`: a ``concurrent.futures.Executor`` of threads, processes or
        ``mpi4py.futures``, a ``distributed.Client`` of Dask, or the module ``ray``; each part with `threads`, default 1
    :param part_rows: variants of a part; 0: found by running a few
    :param callback, jacobian: inputs as functions of the states, as of :func:`simulate_batch`; not with a `store`

    A variant that fails is a row with its reason in :attr:`Study.failures`. A study that is stopped raises an
    :class:`Error` with the table so far as ``result``.
    """
    if not isinstance(model, Model):
        model = load(model)
    if duration is not None:
        options["duration"] = duration
    table = _design(model, space, design, seed, rows)
    settings = make_options(model._options, options)
    called, threads = batch_callback(model, callback, jacobian, threads)
    if store is not None or executor is not None:
        if called is not None:
            raise ArgumentError("callback: a study in a folder has none: its parts may run elsewhere")
        if store is None or output is not None:
            raise ArgumentError("store: expected a folder, with `executor` and without `output`")
        about = f"{design}, seed {seed}: {', '.join(space)}"
        opened = _store(model, table, settings, measures, store, part_rows, threads, about)
        module = importlib.import_module("._store", __package__)
        module.complete(opened, executor, threads, lanes, progress)
        found: Study = opened.table()
        return found
    desc = ffi.new("lw_batch_desc *", {"options": settings, "instances": lib.lw_table_rows(table),
                                       "nvary": lib.lw_table_columns(table), "vary": lib.lw_table_names(table),
                                       "values": lib.lw_table_values(table), "threads": threads, "lanes": lanes,
                                       "memory": memory, "unordered": output is None})
    handle, error = ffi.new("lw_sweep **"), ffi.new("lw_error *")
    if called is not None:
        called.describe(desc)
    check_called(called, lib.lw_sweep_create(model._handle, desc, handle, error), error)
    kept = (model, table, settings, desc, called)
    sweeping = ffi.gc(handle[0], lambda s, kept=kept: lib.lw_sweep_destroy(s))
    wanted: Any = ffi.NULL
    if measures is not None:
        wanted = ffi.new("char[]", (measures if isinstance(measures, str) else ",".join(measures)).encode())
    study = ffi.new("lw_study **")
    check(lib.lw_study_create(sweeping, wanted, study, error), error)
    studying = ffi.gc(study[0], lambda s, kept=sweeping: lib.lw_study_destroy(s))
    with (hdf5_lock if output is not None else contextlib.nullcontext()):
        return _run(sweeping, studying, output, level, progress, called)


def _store(model: Model, table: Any, settings: Any, measures: Union[None, str, Iterable[str]], folder: Path, part_rows: int,
           threads: int, about: str) -> Any:
    """The study in its folder, begun or found there."""
    columns: Any = ffi.NULL
    if measures is not None:
        columns = ffi.new("char[]", (measures if isinstance(measures, str) else ",".join(measures)).encode())
    note = ffi.new("char[]", about.encode())
    desc = ffi.new("lw_store_desc *", {"options": settings, "variants": table, "columns": columns, "part_rows": part_rows,
                                       "about": note, "threads": threads})
    made, error = ffi.new("lw_store **"), ffi.new("lw_error *")
    check(lib.lw_store_create(path_bytes(folder), model._handle, desc, made, error), error)
    lib.lw_store_close(made[0])
    return importlib.import_module("._store", __package__).Store(folder)


def _run(sweeping: Any, studying: Any, output: Optional[Path], level: str, progress: Optional[Progress],
         called: Optional[BatchCallback]) -> Study:
    watch, error = Watch(progress), ffi.new("lw_error *")
    run = ffi.new("lwpy_sweep *", {"handle": watch.handle, "study": studying})
    if output is not None:
        writer = ffi.new("lw_batch_writer **")
        name = ffi.new("char[]", path_bytes(output))
        check(lib.lw_sweep_writer_create(name, sweeping, level_of(level), writer, error), error)
        run.writer[0], run.nwriter = writer[0], 1
    failure = None
    with watch:
        try:
            status = lib.lwpy_sweep_run(sweeping, run)
        finally:
            for i in range(run.nwriter):
                closed = lib.lw_batch_writer_close(run.writer[i], error)
                if closed < 0:
                    failure = make_error(closed, error)
    table = ffi.new("lw_table **")
    check(lib.lw_study_table(studying, table, error), error)
    result = Study(table[0], text_of(lib.lw_sweep_notice(sweeping)))
    watch.finish(result=result)
    if called is not None:
        called.finish(result=result)
    if failure is None and status < 0:
        of_study = lib.lw_study_error(studying)
        failure = make_error(status, of_study if of_study.status == status else lib.lw_sweep_error(sweeping))
    if failure is not None:
        failure.result = result
        raise failure
    return result


__all__ = ["Study", "sweep"]
