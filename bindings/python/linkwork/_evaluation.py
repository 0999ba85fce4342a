"""Points of optimisers that ask and tell: evaluated here or by an executor, in order or as they come."""
from __future__ import annotations

import concurrent.futures
import functools
import os
import tempfile
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike

from ._errors import (ArgumentError, IntegratorError, ModelError, NotFiniteError, SingularError, UnsupportedError,
                      unknown)
from ._memory import Array, real
from ._model import Model, load
from ._study import Study, sweep


@functools.lru_cache(maxsize=8)
def _loaded(path: str, changed: int) -> Model:
    """The model of a file as it is now."""
    return load(path)


def _model_of(model: Union[Model, str]) -> Model:
    return _loaded(model, os.stat(model).st_mtime_ns) if isinstance(model, str) else model


def _evaluate(model: Union[Model, str], names: Sequence[str], points: Array, columns: Sequence[str], failed: float,
              threads: int, options: Dict[str, Any]) -> Array:
    """Values [points, columns] of some points; what processes call."""
    measures = ",".join(sorted({name.rpartition(".")[0] for name in columns}))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "points.csv")
        with open(path, "w", encoding="utf-8") as file:
            quoted = ['"' + name.replace('"', '""') + '"' for name in names]
            rows = [",".join(repr(float(x)) for x in point) for point in points]
            file.write("\n".join([",".join(quoted), *rows]) + "\n")
        try:
            return _columns(sweep(_model_of(model), {}, measures, rows=path, threads=threads, **options), columns, failed)
        except (ModelError, SingularError, IntegratorError, NotFiniteError):
            return np.full((len(points), len(columns)), failed)  # none can run


def _columns(table: Study, columns: Sequence[str], failed: float) -> Array:
    for name in columns:
        if name not in table:
            unknown("column", name, table)
    values = np.stack([table[name] for name in columns], axis=1)
    values[[bool(failure) for failure in table.failures]] = failed
    return values


class Evaluation:
    """The values of points for an optimiser that asks and tells (pycma, nevergrad, optuna, SciPy).

    :param model: a path, or a model; processes read the path, and get a model as ``to_yaml`` writes it
    :param names: what a point has numbers of: parameters, ``body.rod.mass``, ``joint.A.q0``, ... (docs/batch.md), in the
        unit of the parameter or SI
    :param values: columns of a study: ``"measure.load.max"``, or several
    :param failed: the value of a point that fails
    :param executor: a ``concurrent.futures.Executor`` (``distributed.Client.get_executor()`` of Dask is one): each call of
        :meth:`submit` is evaluated by it; default: at once, here
    :param options: of the runs, ``duration`` and others, and `threads`

    A point has the same bits anywhere, so an optimiser with a seed is deterministic if it gets values in the order in
    which it asked: by a call, or by :meth:`results` with ``ordered=True``.
    """

    def __init__(self, model: Union[Model, str, "os.PathLike[str]"], names: Sequence[str], values: Union[str, Sequence[str]], *,
                 failed: float = float("inf"), executor: Optional[concurrent.futures.Executor] = None, threads: int = 0,
                 **options: Any) -> None:
        self.model = model if isinstance(model, Model) else os.path.abspath(os.fspath(model))
        _model_of(self.model)
        self.names = tuple(names)
        self.columns = (values,) if isinstance(values, str) else tuple(values)
        self.failed, self.executor, self.threads, self.options = failed, executor, threads, options
        self._single = isinstance(values, str)
        if not all(name.rpartition(".")[0] for name in self.columns):
            raise ArgumentError(f"values: expected columns of a study, NAME.max or the like, got {', '.join(self.columns)}")
        self._submitted: List[Tuple[int, Any]] = []
        self._count = 0

    def _points(self, points: ArrayLike) -> Array:
        array = np.atleast_2d(real(points, "points"))
        if array.ndim != 2 or array.shape[1] != len(self.names):
            raise ArgumentError(f"points: shape {array.shape}, expected [points, {len(self.names)}]")
        return array

    def _words(self, points: Array) -> Tuple[Any, ...]:
        threads = self.threads or int(self.executor is not None)
        return self.model, self.names, points, self.columns, self.failed, threads, self.options

    def _shaped(self, values: Array) -> Array:
        return values[:, 0] if self._single else values

    def submit(self, points: ArrayLike) -> int:
        """Begins to evaluate one point or several [points, names]; a number, by which :meth:`results` returns their values."""
        words = self._words(self._points(points))
        future: Any = self.executor.submit(_evaluate, *words) if self.executor else _evaluate(*words)
        self._submitted.append((self._count, future))
        self._count += 1
        return self._count - 1

    def _take(self, k: int) -> Tuple[int, Array]:
        number, future = self._submitted.pop(k)
        return number, self._shaped(future.result() if self.executor else future)

    def results(self, ordered: bool = False) -> Iterator[Tuple[int, Array]]:
        """Numbers and values of what was submitted, as it ends or in order, until nothing is left; more may be submitted
        meanwhile."""
        while self._submitted:
            k = 0
            if self.executor and not ordered:
                futures = [future for _, future in self._submitted]
                done, _ = concurrent.futures.wait(futures, return_when=concurrent.futures.FIRST_COMPLETED)
                k = next(i for i, future in enumerate(futures) if future in done)
            yield self._take(k)

    def __call__(self, points: ArrayLike) -> Array:
        """Values of points [points, names], in their order: [points], or [points, values] of several columns."""
        if self._submitted:
            raise UnsupportedError("a call evaluates all its points: take the results of what was submitted first")
        array = self._points(points)
        if self.executor is None:
            return self._shaped(_evaluate(*self._words(array)))
        try:
            for point in array:
                self.submit(point)
            return np.concatenate([values for _, values in self.results(ordered=True)])
        finally:
            self._submitted.clear()  # what is left of a call that has failed

    def __repr__(self) -> str:
        return f"<linkwork.Evaluation: {', '.join(self.columns)} of {', '.join(self.names)}>"


__all__ = ["Evaluation"]
