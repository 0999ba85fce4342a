"""Studies in folders: parts made by any engine, in any process; the same folders as of ``linkwork sweep --store``."""
from __future__ import annotations

import concurrent.futures
import importlib
import json
import os
import tempfile
import threading
import time
import uuid
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Optional, Tuple

from ._errors import ArgumentError, StoppedError, check, path_bytes, text_of
from ._model import Path
from ._native import ffi, lib
from ._simulation import Progress, Watch, hdf5_lock
from ._study import Study

WINDOW = 256  #: parts that an executor has at the same time, at least; twice as many as it has workers, if these are more
ASK = 10.0  #: seconds between questions for their number: clusters grow


@dataclass(frozen=True)
class StoreState:
    """What a folder has."""

    parts: int
    complete: int  #: of the parts
    variants: int
    rows: int  #: variants in complete parts
    failed: int  #: of these
    temporary: int  #: files of processes that write, or were killed while they wrote


class Store:
    """A study in a folder, begun by :func:`sweep` with ``store=`` or by ``linkwork sweep --store``.

    Used by one thread at a time; any number of processes may have the folder open (docs/cluster.md).
    """

    def __init__(self, folder: Path) -> None:
        store, error = ffi.new("lw_store **"), ffi.new("lw_error *")
        check(lib.lw_store_open(path_bytes(folder), store, error), error)
        self.folder = os.fspath(folder)
        self._handle = ffi.gc(store[0], lib.lw_store_close)

    def _check(self, status: int) -> None:
        check(status, lib.lw_store_error(self._handle))

    @property
    def hash(self) -> str:
        """SHA-256 of the manifest: of everything that determines the numbers."""
        return text_of(lib.lw_store_hash(self._handle))

    @property
    def parts(self) -> int:
        """Number of parts."""
        return int(lib.lw_store_parts(self._handle))

    @property
    def variants(self) -> int:
        """Number of variants."""
        return int(lib.lw_store_variants(self._handle))

    def state(self) -> StoreState:
        """Counts parts and variants in the folder."""
        state = ffi.new("lw_store_state *")
        self._check(lib.lw_store_count(self._handle, state))
        return StoreState(state.parts, state.done, state.variants, state.rows, state.failed, state.temporary)

    def has(self, part: int) -> bool:
        """Is this part complete?"""
        return bool(lib.lw_store_has(self._handle, part))

    def missing(self) -> List[int]:
        """Parts that are not complete."""
        return [k for k in range(self.parts) if not self.has(k)]

    def rows(self, part: int) -> int:
        """Number of variants of a part."""
        return int(lib.lw_store_part_rows(self._handle, part, ffi.NULL))

    def run(self, part: int, threads: int = 0, lanes: int = 0, progress: Optional[Progress] = None) -> None:
        """Makes a part, unless it is complete."""
        watch = Watch(progress)
        with watch:
            status = lib.lwpy_store_run(self._handle, part, threads, lanes, watch.handle)
        watch.finish()
        self._check(status)

    def verify(self) -> int:
        """Reads all parts and removes damaged ones, so that :meth:`run` makes them; how many."""
        damaged = ffi.new("int *")
        self._check(lib.lw_store_verify(self._handle, ffi.NULL, ffi.NULL, damaged))
        return int(damaged[0])

    def merge(self, path: Path) -> None:
        """Writes the table of the study, .csv or .h5, with the bytes of ``linkwork sweep --table``, or .parquet."""
        if os.fspath(path).endswith(".parquet"):
            self.table().save(path)
            return
        with hdf5_lock:
            self._check(lib.lw_store_merge(self._handle, path_bytes(path)))

    def table(self) -> Study:
        """The table of the study; all parts must be complete."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "table.csv")
            self.merge(path)
            study = Study.read(path)
        with open(os.path.join(self.folder, "manifest.json"), encoding="utf-8") as file:
            manifest: Dict[str, Any] = json.load(file)
        study.units = dict(zip(manifest["columns"], manifest["units"]))
        return study

    def __repr__(self) -> str:
        return f"<linkwork.Store: {self.folder}, {self.variants} variants in {self.parts} parts>"


# ------------------------------------------------------------------------------------------ engines

_opened = threading.local()  # the stores of a thread, by folder and manifest


def make_part(folder: str, part: int, threads: int, lanes: int) -> int:
    """Makes one part in the process that calls it; its number. This is what executors run."""
    stores: Dict[Tuple[str, float], Store] = _opened.__dict__.setdefault("stores", {})
    key = folder, os.stat(os.path.join(folder, "manifest.json")).st_mtime
    if key not in stores:
        stores.clear()
        stores[key] = Store(folder)
    stores[key].run(part, threads, lanes)
    return part


class _Futures:
    """Any concurrent.futures.Executor: threads, processes, mpi4py.futures.MPIPoolExecutor."""

    def __init__(self, executor: Any) -> None:
        self.executor = executor

    def submit(self, *words: Any) -> Any:
        """A part as a future."""
        return self.executor.submit(make_part, *words)

    def workers(self) -> int:
        """How many parts it makes at once, 0: not known."""
        return int(getattr(self.executor, "_max_workers", 0) or 0)

    def wait(self, futures: List[Any]) -> List[Any]:
        """Those that have ended, at least one, or after a while none."""
        done, _ = concurrent.futures.wait(futures, 0.5, concurrent.futures.FIRST_COMPLETED)
        return list(done)

    def result(self, future: Any) -> int:
        """Number of the part, or the exception of its process."""
        return int(future.result())

    def cancel(self, futures: List[Any]) -> None:
        """Those that have not begun do not begin."""
        for future in futures:
            future.cancel()


class _Dask(_Futures):
    """A distributed.Client: a part that ends with its worker is made by another one."""

    def __init__(self, client: Any) -> None:
        super().__init__(client)
        self.distributed = importlib.import_module("distributed")
        self.name = uuid.uuid4().hex  # a scheduler does not run a key again that it remembers

    def submit(self, *words: Any) -> Any:
        return self.executor.submit(make_part, *words, pure=False, retries=100, key=f"linkwork part {words[1]} {self.name}")

    def workers(self) -> int:
        return sum(self.executor.nthreads().values())

    def wait(self, futures: List[Any]) -> List[Any]:
        try:
            return list(self.distributed.wait(futures, timeout=0.5, return_when="FIRST_COMPLETED").done)
        except (self.distributed.TimeoutError, TimeoutError):
            return []

    def cancel(self, futures: List[Any]) -> None:
        self.executor.cancel(futures)


class _Ray(_Futures):
    """The module ray, after ``ray.init()``."""

    def __init__(self, ray: Any) -> None:
        super().__init__(ray)
        self.remote = ray.remote(max_retries=100)(make_part)

    def submit(self, *words: Any) -> Any:
        return self.remote.remote(*words)

    def workers(self) -> int:
        return int(self.executor.cluster_resources().get("CPU", 0))

    def wait(self, futures: List[Any]) -> List[Any]:
        return list(self.executor.wait(futures, num_returns=1, timeout=0.5)[0])

    def result(self, future: Any) -> int:
        return int(self.executor.get(future))

    def cancel(self, futures: List[Any]) -> None:
        for future in futures:
            self.executor.cancel(future)


def _is_dask(executor: Any) -> bool:
    return type(executor).__module__.split(".")[0] == "distributed" and hasattr(executor, "scheduler_info")


#: what an executor is, and what submits parts to it; the first that fits
ENGINES: List[Tuple[Callable[[Any], bool], Callable[[Any], _Futures]]] = [
    (_is_dask, _Dask),
    (lambda e: getattr(e, "__name__", "") == "ray", _Ray),
    (lambda e: isinstance(e, concurrent.futures.Executor), _Futures),
]


def _engine(executor: Any) -> _Futures:
    for fits, engine in ENGINES:
        if fits(executor):
            return engine(executor)
    raise ArgumentError(f"executor: {type(executor).__name__} is none; expected a concurrent.futures.Executor, a "
                        "distributed.Client or the module ray")


def _poll(store: Store, progress: Optional[Progress], done: int) -> None:
    if progress is not None and progress(done, store.variants):
        raise StoppedError(f"{store.folder}: stopped with {store.state().complete} of {store.parts} parts; the same call "
                           "continues")


def complete(store: Store, executor: Any = None, threads: int = 0, lanes: int = 0,
             progress: Optional[Progress] = None) -> None:
    """Makes all parts that are missing, here or by an executor; `progress` gets variants: those in complete parts, all."""
    missing, done = store.missing(), store.state().rows
    if executor is None:
        for part in missing:
            _poll(store, progress, done)
            store.run(part, threads, lanes)
            done += store.rows(part)
        return
    engine, folder = _engine(executor), os.path.abspath(store.folder)
    running: List[Any] = []
    missing.reverse()  # taken from the end
    window, asked = WINDOW, -ASK
    try:
        while missing or running:
            _poll(store, progress, done)
            if time.monotonic() - asked >= ASK:
                window, asked = max(WINDOW, 2 * engine.workers()), time.monotonic()
            while missing and len(running) < window:
                running.append(engine.submit(folder, missing.pop(), threads or 1, lanes))
            ended = set(engine.wait(running))
            running = [f for f in running if f not in ended]
            done += sum(store.rows(engine.result(f)) for f in ended)
    except concurrent.futures.BrokenExecutor as broken:
        raise StoppedError(f"{store.folder}: the executor has ended ({broken}) with {store.state().complete} of {store.parts} "
                           "parts complete; the same call continues") from broken
    finally:
        engine.cancel(running)


__all__ = ["Store", "StoreState", "complete", "make_part"]
