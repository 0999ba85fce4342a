"""``python -m linkwork.engine FOLDER --engine dask``: makes the parts of a study that are missing.

The program comes here for ``linkwork sweep --store FOLDER --engine ...``. With mpi:
``mpiexec -n 8 python -m mpi4py.futures -m linkwork.engine FOLDER --engine mpi``.
"""
from __future__ import annotations

import argparse
import concurrent.futures
import importlib
import multiprocessing
import os
import signal
import sys
import threading
import time
from typing import Any, List, Optional

from ._errors import Error, StoppedError
from ._store import Store, complete

#: engine: what must be installed, and by which extra
MODULES = {"dask": "distributed", "mpi": "mpi4py.futures", "ray": "ray"}


def _module(engine: str) -> Any:
    try:
        return importlib.import_module(MODULES[engine])
    except ImportError as missing:
        sys.exit(f"linkwork: --engine {engine} needs the Python module {MODULES[engine]} ({missing}): "
                 f"pip install linkwork[{engine}]")


def _end_with_parent() -> None:
    """A worker of a pool ends when its parent has ended, also by a kill, which it would not notice."""
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)  # a part that is not complete is not kept

    threading.Thread(target=watch, daemon=True).start()


def _executor(engine: str, scheduler: Optional[str], workers: int) -> Any:
    if engine == "processes":
        return concurrent.futures.ProcessPoolExecutor(workers or None, initializer=_end_with_parent)
    module = _module(engine)
    if engine == "dask":
        if scheduler:
            return module.Client(scheduler)
        return module.Client(n_workers=workers or None, threads_per_worker=1, dashboard_address=None)
    if engine == "mpi":
        return module.MPIPoolExecutor()
    module.init(address=scheduler, num_cpus=None if scheduler else workers or None, log_to_driver=False)
    return module


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


class _Line:
    """Variants, rate and time left on a terminal, like `linkwork sweep`: the time left is not known before a few parts are made."""

    KNOWN = 3

    def __init__(self, store: Store, quiet: bool) -> None:
        self.store, self.begun, self.first, self.last, self.made = store, time.monotonic(), -1.0, -1.0, 0
        self.shown = not quiet and sys.stderr.isatty()

    def text(self, done: float, rows: float, elapsed: float) -> str:
        """The line, after `elapsed` seconds."""
        if self.first < 0:
            self.first = self.last = done
        if done > self.last:
            self.last, self.made = done, self.made + 1
        rate = (done - self.first) / max(elapsed, 1e-9)
        line = f"{done:.0f} of {rows:.0f} variants"
        if rate > 0:
            line += f", {rate:.3g}/s"
        if rate > 0 and self.made >= self.KNOWN:
            line += f", {_duration((rows - done) / rate)} left"
        return line

    def __call__(self, done: float, rows: float) -> bool:
        line = self.text(done, rows, time.monotonic() - self.begun)
        if self.shown:
            sys.stderr.write(f"\r{line}\033[K")
        return _stopped.is_set()


_stopped = threading.Event()


def _interrupt(number: int, frame: Any) -> None:
    _stopped.set()  # an exception is lost where Python ignores them, as in what runs after a fork
    raise KeyboardInterrupt


def _run(arguments: argparse.Namespace) -> int:
    store = Store(arguments.folder)
    if arguments.merge:
        store.merge(arguments.merge)
        return 0
    executor = _executor(arguments.engine, arguments.scheduler, arguments.workers)
    line = _Line(store, arguments.quiet)
    try:
        complete(store, executor, arguments.threads, arguments.lanes, line)
    except (KeyboardInterrupt, StoppedError, Error) as reason:
        state = store.state()
        print(f"\nlinkwork: {str(reason) or 'stopped'}: {state.complete} of {state.parts} parts are complete; `linkwork sweep "
              f"--resume {store.folder}` continues", file=sys.stderr, flush=True)
        os._exit(1)  # workers may be at work for as long as a part takes
    if line.shown:
        sys.stderr.write("\r\033[K")
    for close in ("close", "shutdown"):
        if hasattr(executor, close):
            getattr(executor, close)()
            break
    state = store.state()
    for path in arguments.table:
        store.merge(path)
    if not arguments.quiet:
        print(f"parts        {state.complete} of {state.parts} complete\nvariants     {state.rows} of {state.variants}, "
              f"{state.failed} failed")
    return 0


def main(words: Optional[List[str]] = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m linkwork.engine", description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--engine", choices=["processes", *MODULES], default="processes")
    parser.add_argument("--scheduler", help="address of a scheduler that runs; default: one of this machine")
    parser.add_argument("--workers", type=int, default=0, help="of this machine, without a scheduler; default: all processors")
    parser.add_argument("--threads", type=int, default=1, help="of each part")
    parser.add_argument("--lanes", type=int, default=0)
    parser.add_argument("--table", action="append", default=[])
    parser.add_argument("--merge", metavar="FILE", help="only write the table of a complete study")
    parser.add_argument("--quiet", action="store_true")
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        return _run(parser.parse_args(words))
    except (Error, ImportError, OSError) as error:  # of pandas, where .parquet is written
        print(f"linkwork: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
