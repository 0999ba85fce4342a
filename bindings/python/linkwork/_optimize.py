"""Parameters of a model's file that minimise a measure of a run, or fit rows of data: gradients for optimisers, and SciPy's."""
from __future__ import annotations

import dataclasses
import importlib
import os
import re
import tempfile
from typing import Any, Callable, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike

from ._errors import (ArgumentError, Error, IntegratorError, ModelError, NotFiniteError, ParseError, SingularError,
                      UnsupportedError, check, text_of, unknown)
from ._memory import Array, real
from ._model import Model, Path, load
from ._native import ffi, lib
from ._options import make_options
from ._study import _design
from ._trajectory import Trajectory, read_result

#: of designs without a run
INFEASIBLE = (ModelError, ParseError, SingularError, IntegratorError, NotFiniteError)
_GRADIENTS = ("auto", "differences", "adjoint", "forward")
Range = Union[str, Tuple[float, float]]
Data = Union[Path, Trajectory, Mapping[str, ArrayLike]]


def _range(model: Model, name: str, given: Range) -> Tuple[float, float]:
    """Two numbers in the unit of the parameter, or "400 mm:1 m"."""
    if isinstance(given, str):
        if given.count(":") != 1:
            raise ArgumentError(f"vary: {name}: expected FROM:TO or two numbers, got {given!r}")
        table = _design(model, {name: given + ":2"}, "grid", 1, None)
        return float(lib.lw_table_values(table)[0]), float(lib.lw_table_values(table)[1])
    ends = real(given, f"vary: {name}")
    if ends.shape != (2,):
        raise ArgumentError(f"vary: {name}: expected FROM:TO or two numbers, got {given!r}")
    return float(ends[0]), float(ends[1])


def _rows(data: Data) -> Trajectory:
    """Measured rows as a result."""
    if isinstance(data, Trajectory):
        return data
    if isinstance(data, (str, os.PathLike)):
        return read_result(data)
    if "time" not in data:
        raise ArgumentError(f"fit: expected the column 'time', got {', '.join(data)}")
    names = ["time", *(name for name in data if name != "time")]
    table = np.stack([real(data[name], f"fit: {name}") for name in names], axis=1)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "fit.csv")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join([",".join(names), *(",".join(repr(float(x)) for x in row) for row in table)]) + "\n")
        return read_result(path)


class Response:
    """Numbers of a run as functions of parameters of the model's file, with their derivatives, for optimisers.

    :param vary: parameters with their ranges, ``{"rate": (10, 90)}`` in the unit of the file, or ``{"rate": "10:90 N/mm"}``
    :param values: measures or columns of results, each with its statistic: ``"load.max"``; last (default), mean, rms, min, max
    :param fit: measured rows, ``time`` and columns of results: a path, a :class:`Trajectory` or a mapping of arrays. A value
        is added for each row and column: weight × (run - data), row by row
    :param weights: of columns of `fit`; default 1
    :param gradient: "differences" in lanes, "adjoint" of values, "forward" sensitivities of `fit`, or "auto", what costs less
        (docs/optimization.md)
    :param options: of the runs, ``duration`` and others

    A design that has no run raises one of ``linkwork.INFEASIBLE``.
    """

    def __init__(self, model: Union[Model, Path], vary: Mapping[str, Range], values: Union[str, Sequence[str]] = (), *,
                 fit: Optional[Data] = None, weights: Optional[Mapping[str, float]] = None, gradient: str = "auto",
                 **options: Any) -> None:
        self.model = model if isinstance(model, Model) else load(model)
        if gradient not in _GRADIENTS:
            raise ArgumentError(f"gradient: expected one of {', '.join(_GRADIENTS)}, got {gradient!r}")
        self.names = tuple(vary)
        ranges = [_range(self.model, name, given) for name, given in vary.items()]
        self.lower, self.upper = (np.array([r[i] for r in ranges], dtype=float) for i in (0, 1))
        wanted = [values] if isinstance(values, str) else list(values)
        keep: List[Any] = [ffi.new("char[]", text.encode()) for text in (*self.names, *wanted)]
        n = len(self.names)
        by, of = ffi.new("const char *[]", keep[:n] or [ffi.NULL]), ffi.new("const char *[]", keep[n:] or [ffi.NULL])
        low, high = ffi.new("double[]", self.lower.tolist() or [0.0]), ffi.new("double[]", self.upper.tolist() or [0.0])
        rows = None if fit is None else _rows(fit)
        weight = self._weights(rows, weights)
        made = make_options(self.model._options, options)
        desc = ffi.new("lw_response_desc *", {
            "options": made, "nby": n, "by": by, "lower": low, "upper": high, "nwanted": len(wanted), "wanted": of,
            "data": ffi.NULL if rows is None else rows._handle, "weight": weight, "gradient": _GRADIENTS.index(gradient)})
        found, error = ffi.new("lw_response **"), ffi.new("lw_error *")
        check(lib.lw_response_create(self.model._handle, desc, found, error), error)
        kept = (self.model,)
        self._handle = ffi.gc(found[0], lambda r, kept=kept: lib.lw_response_destroy(r))
        count = lib.lw_response_count(self._handle)
        self.columns = tuple(text_of(lib.lw_response_name(self._handle, i)) for i in range(count))  #: of the values
        self.units = tuple(text_of(lib.lw_response_unit(self._handle, i)) for i in range(count))
        infos = [lib.lw_model_parameter_at(self.model._handle, i)
                 for i in range(lib.lw_model_parameter_count(self.model._handle))]
        nominal = {text_of(p.name): p.value / p.unit_value for p in infos}
        self.start: Array = np.array([nominal[name] for name in self.names])  #: the values of the file

    @staticmethod
    def _weights(rows: Optional[Trajectory], weights: Optional[Mapping[str, float]]) -> Any:
        if weights is None:
            return ffi.NULL
        if rows is None:
            raise ArgumentError("weights: are those of columns of `fit`, which is not given")
        for name in weights:
            if name not in rows.columns:
                unknown("column", name, rows.columns)
        return ffi.new("double[]", [float(weights.get(name, 1.0)) for name in rows.columns])

    def _evaluate(self, x: ArrayLike, jacobian: Any) -> Array:
        point = real(x, "x")
        if point.shape != (len(self.names),):
            raise ArgumentError(f"x: shape {point.shape}, expected [{len(self.names)}]: {', '.join(self.names)}")
        values, error = ffi.new("double[]", len(self.columns)), ffi.new("lw_error *")
        given = ffi.new("double[]", point.tolist())
        check(lib.lw_response_evaluate(self._handle, given, values, jacobian, error), error)
        return np.array(ffi.unpack(values, len(self.columns)))

    def __call__(self, x: ArrayLike) -> Array:
        """The values of a design [parameters]."""
        return self._evaluate(x, ffi.NULL)

    def derivatives(self, x: ArrayLike) -> Tuple[Array, Array]:
        """Values and their Jacobian [values, parameters], per unit of each parameter in its file."""
        shape = len(self.columns), len(self.names)
        jacobian = ffi.new("double[]", shape[0] * shape[1])
        values = self._evaluate(x, jacobian)
        return values, np.array(ffi.unpack(jacobian, shape[0] * shape[1])).reshape(shape)

    @property
    def runs(self) -> int:
        """Runs so far; a sweep along a run, of the adjoint or forward, is one."""
        return int(lib.lw_response_runs(self._handle))

    @property
    def gradient(self) -> str:
        """How the last Jacobian was computed; "auto": there was none."""
        return _GRADIENTS[lib.lw_response_gradient(self._handle)]

    def __repr__(self) -> str:
        return f"<linkwork.Response: {len(self.columns)} values of {', '.join(self.names)}>"


# --------------------------------------------------------------------------------------- optimisation


class Design(NamedTuple):
    """A design that was evaluated."""

    x: Array
    objective: float  #: NaN: it has no run
    violation: float  #: the largest of a constraint, relative to its bound
    failure: str      #: why it has no run; "": it has


@dataclasses.dataclass(frozen=True)
class Optimum:
    """The best design of a search."""

    parameters: Dict[str, float]  #: in the units of the file
    objective: float              #: the measure; of a fit the root mean square of the residuals
    start: Design
    values: Dict[str, float]      #: of all measures, also of constraints
    deviations: Dict[str, float]  #: of a fit: standard deviations of the parameters; NaN: not determined
    violation: float              #: the largest of a constraint, relative to its bound
    converged: bool
    message: str
    model: Model                  #: with these parameters
    designs: Tuple[Design, ...]   #: in the order of their evaluation
    runs: int
    gradient: str                 #: "adjoint", "forward" or "differences"
    result: Any                   #: of SciPy; None if the number of evaluations ended the search

    def __str__(self) -> str:
        lines = [f"{self.message} ({len(self.designs)} designs, {self.runs} runs, gradient by {self.gradient})",
                 f"objective {self.objective:.10g}, at the start {self.start.objective:.10g}"]
        for (name, value), start in zip(self.parameters.items(), self.start.x):
            deviation = f" ± {self.deviations[name]:.2g}" if name in self.deviations else ""
            lines.append(f"  {name:<20} {start:.10g} -> {value:.10g}{deviation}")
        return "\n".join(lines)


class _Limit(Exception):
    """The number of evaluations is reached."""


class _Constraint(NamedTuple):
    text: str
    name: str
    sign: str
    bound: float

    @classmethod
    def parse(cls, text: str) -> "_Constraint":
        match = re.fullmatch(r"\s*([^<>=]+?)\s*(<=?|>=?|==?)\s*(\S+)\s*", text)
        if match and match.group(2) in "<>":
            raise ArgumentError(f"subject_to: {text!r}: a minimum may be on the bound itself; expected {match.group(2)}= "
                                f"in place of {match.group(2)}")
        try:
            return cls(text, match.group(1), match.group(2)[0], float(match.group(3)))  # type: ignore[union-attr]
        except (AttributeError, ValueError):
            raise ArgumentError(f"subject_to: {text!r}: expected MEASURE <= NUMBER, >= or =") from None

    def over(self, value: float) -> float:
        """How much it is violated, relative to its bound."""
        over = (value - self.bound) / (abs(self.bound) or 1.0)
        return -over if self.sign == ">" else abs(over) if self.sign == "=" else over


class _Search:
    """Values of designs t from 0 to 1, the last one kept; what has been evaluated, the best of it."""

    def __init__(self, response: Response, sign: float, fits: bool, constraints: Sequence[_Constraint], limit: int,
                 progress: Optional[Callable[[Design], None]]) -> None:
        self.response, self.sign, self.fits, self.constraints, self.limit = response, sign, fits, constraints, limit
        self.progress = progress
        self.width = response.upper - response.lower
        self.designs: List[Design] = []
        self.values: List[Optional[Array]] = []
        self._at: Optional[Array] = None
        self._values: Optional[Array] = None
        self._jacobian: Optional[Array] = None

    def x(self, t: Array) -> Array:
        lower, upper = self.response.lower, self.response.upper
        x: Array = np.clip(lower + t * self.width, lower, upper)
        return x

    def objective(self, values: Array) -> float:
        return float(np.sqrt(np.mean(values ** 2))) if self.fits else float(values[0])

    def evaluate(self, t: ArrayLike, derivatives: bool) -> Tuple[Optional[Array], Optional[Array]]:
        """Values and Jacobian by t; None: the design has no run."""
        point = np.array(t, dtype=float)
        same = self._at is not None and np.array_equal(point, self._at)
        if same and (self._values is None or not derivatives or self._jacobian is not None):
            return self._values, self._jacobian
        if not same and len(self.designs) == self.limit:
            raise _Limit
        self._at, self._values, self._jacobian, failure = point, None, None, ""
        x = self.x(point)
        try:
            if derivatives:
                self._values, jacobian = self.response.derivatives(x)
                self._jacobian = jacobian * self.width
            else:
                self._values = self.response(x)
        except INFEASIBLE as error:
            if not self.designs:
                raise
            failure = str(error)
        if not same:
            self._record(x, failure)
        return self._values, self._jacobian

    def _record(self, x: Array, failure: str) -> None:
        objective = violation = float("nan")
        if self._values is not None:
            objective = self.objective(self._values)
            violation = max([0.0, *(c.over(self._values[1 + k]) for k, c in enumerate(self.constraints))])
        self.designs.append(Design(x, objective, violation, failure))
        self.values.append(self._values)
        if self.progress is not None:
            self.progress(self.designs[-1])

    def best(self) -> int:
        def order(k: int) -> Tuple[bool, float]:
            design = self.designs[k]
            meets = design.violation <= 1e-6
            return not meets, (1.0 if self.fits else self.sign) * design.objective if meets else design.violation

        return min((k for k, design in enumerate(self.designs) if not design.failure), key=order)

    def value(self, t: Array, k: int) -> float:
        """Of measure k; of a design without a run a number that is worse than all others so far."""
        values, _ = self.evaluate(t, False)
        if values is not None:
            return float(values[k])
        known = [v[k] for v in self.values if v is not None]
        worst = max(known) if self._worse(k) > 0 else min(known)
        return float(worst + self._worse(k) * (max(known) - min(known) + abs(worst) + 1.0))

    def _worse(self, k: int) -> float:
        if k == 0:
            return self.sign
        return -1.0 if self.constraints[k - 1].sign == ">" else 1.0

    def slope(self, t: Array, k: int) -> Array:
        _, jacobian = self.evaluate(t, True)
        return np.zeros(len(t)) if jacobian is None else jacobian[k]


def _minimize(search: _Search, start: Array, method: str, tolerance: float, optimize: Any) -> Any:
    """SciPy's result; objective and constraints of order one."""
    slope = search.slope(start, 0)
    scale = search.sign * 0.1 / (float(np.linalg.norm(slope)) or 1.0)  # the first step is a part of the ranges

    def constraint(k: int, c: _Constraint) -> Dict[str, Any]:
        factor = (1.0 if c.sign == ">" else -1.0) / (abs(c.bound) or 1.0)
        return {"type": "eq" if c.sign == "=" else "ineq", "fun": lambda t: factor * (search.value(t, 1 + k) - c.bound),
                "jac": lambda t: factor * search.slope(t, 1 + k)}

    return optimize.minimize(lambda t: scale * search.value(t, 0), start, jac=lambda t: scale * search.slope(t, 0),
                             bounds=[(0, 1)] * len(start), method=method, tol=tolerance,
                             constraints=[constraint(k, c) for k, c in enumerate(search.constraints)])


def _fit(search: _Search, start: Array, method: str, tolerance: float, optimize: Any) -> Any:
    """SciPy's result of least squares."""
    count = len(search.response.columns)

    def residuals(t: Array) -> Array:
        values, _ = search.evaluate(t, False)
        return np.full(count, np.nan) if values is None else values

    def jacobian(t: Array) -> Array:
        _, found = search.evaluate(t, True)
        if found is None:
            raise _Limit
        return found

    return optimize.least_squares(residuals, start, jac=jacobian, bounds=(0, 1), method=method, x_scale="jac",
                                  ftol=tolerance, xtol=tolerance, gtol=1e-14)


def _determined(jacobian: Array) -> bool:
    """Has it full rank, beyond the errors of its differences?"""
    sizes = np.linalg.norm(jacobian, axis=0)
    return bool(sizes.all()) and bool(np.linalg.matrix_rank(jacobian / sizes, tol=1e-5) == len(sizes))


def _deviations(search: _Search, x: Array) -> Dict[str, float]:
    """From the Jacobian at x and the variance of the residuals there."""
    response = search.response
    values, jacobian = response.derivatives(x)
    scaled = jacobian * search.width
    count, n = scaled.shape
    deviation = np.full(n, np.nan)
    free = (x > response.lower) & (x < response.upper)
    if count > n and free.any() and _determined(scaled[:, free]):
        covariance = np.linalg.inv(scaled[:, free].T @ scaled[:, free]) * (values @ values) / (count - n)
        deviation[free] = np.sqrt(np.diag(covariance)) * search.width[free]
    return dict(zip(response.names, deviation.tolist()))


_METHODS: Dict[str, str] = {name.lower(): name for name in ("SLSQP", "trust-constr", "L-BFGS-B")}
_FITS = ("trf", "dogbox")


def _method(method: Optional[str], fits: bool, constrained: bool) -> str:
    if fits:
        if method is not None and method not in _FITS:
            raise ArgumentError(f"method: expected one of {', '.join(_FITS)} with `fit`, got {method!r}")
        return method or "trf"
    known = _METHODS.get((method or "SLSQP").lower())
    if known is None:
        raise ArgumentError(f"method: expected one of {', '.join(_METHODS.values())}, got {method!r}")
    if constrained and known == "L-BFGS-B":
        raise ArgumentError("method: L-BFGS-B has no constraints; expected SLSQP or trust-constr with `subject_to`")
    return known


def optimize(model: Union[Model, Path], vary: Mapping[str, Range], *, minimize: Optional[str] = None,
             maximize: Optional[str] = None, fit: Optional[Data] = None, subject_to: Union[str, Iterable[str]] = (),
             weights: Optional[Mapping[str, float]] = None, start: Optional[Mapping[str, float]] = None,
             method: Optional[str] = None, gradient: str = "auto", evaluations: int = 200, tolerance: float = 1e-9,
             progress: Optional[Callable[[Design], None]] = None, **options: Any) -> Optimum:
    """Parameters that minimise or maximise a measure of a run, or fit rows of data, by SciPy; as ``linkwork optimize``.

    :param vary, fit, weights, gradient, options: as of :class:`Response`
    :param minimize, maximize: a measure or column with its statistic, ``"swing.rms"``
    :param subject_to: constraints, ``"load.max <= 12"``, ``>=``, ``=``, in the unit of the measure
    :param start: values of parameters at which the search begins; default: those of the file
    :param method: "SLSQP" (default), "trust-constr", "L-BFGS-B"; of `fit` "trf" (default), "dogbox"
    :param evaluations: the largest number of designs
    :param tolerance: of SciPy's tests of convergence, for parameters in units of their ranges
    :param progress: called with every design

    A design without a run is infeasible and the search continues; at the start it raises. Needs SciPy.
    """
    if (minimize is not None) + (maximize is not None) + (fit is not None) != 1:
        raise ArgumentError("expected one of minimize, maximize, fit")
    constraints = [_Constraint.parse(text) for text in ([subject_to] if isinstance(subject_to, str) else subject_to)]
    if fit is not None and constraints:
        raise ArgumentError("fit has no constraints: expected minimize with subject_to")
    name = _method(method, fit is not None, bool(constraints))
    try:
        solver: Any = importlib.import_module("scipy.optimize")
    except ImportError as error:
        raise UnsupportedError("optimize needs SciPy: pip install scipy, or linkwork[optimize]") from error
    goal = minimize if minimize is not None else maximize
    values = [] if goal is None else [goal, *(c.name for c in constraints)]
    response = Response(model, vary, values, fit=fit, weights=weights, gradient=gradient, **options)
    first = _first(response, start or {})
    search = _Search(response, -1.0 if maximize is not None else 1.0, fit is not None, constraints, evaluations,
                     progress)
    result, message = None, f"the number of evaluations, {evaluations}, is reached"
    try:
        solve = _fit if fit is not None else _minimize
        result = solve(search, (first - response.lower) / search.width, name, tolerance, solver)
        message = str(result.message)
    except _Limit:
        if len(search.designs) < evaluations:
            message = "no derivatives at the last design: none next to it has a run"
    return _optimum(search, result, message)


def _first(response: Response, start: Mapping[str, float]) -> Array:
    for name in start:
        if name not in response.names:
            unknown("parameter", name, response.names)
    first = np.array([float(start.get(name, value)) for name, value in zip(response.names, response.start)])
    for name, x, lower, upper in zip(response.names, first, response.lower, response.upper):
        if not lower <= x <= upper:
            raise ArgumentError(f"vary: {name}: the search begins at {x:g}, which is not in {lower:g}:{upper:g}; "
                                "expected another range, or start")
    return first


def _optimum(search: _Search, result: Any, message: str) -> Optimum:
    response, k = search.response, search.best()
    best, values = search.designs[k], search.values[k]
    assert values is not None
    deviations: Dict[str, float] = {}
    if search.fits and result is not None:
        try:
            deviations = _deviations(search, best.x)
        except Error:
            pass
    made, error = ffi.new("lw_model **"), ffi.new("lw_error *")
    keep = [ffi.new("char[]", f"{name}={float(x)!r}".encode()) for name, x in zip(response.names, best.x)]
    names = ffi.new("const char *[]", keep)
    check(lib.lw_model_remake(response.model._handle, names, len(keep), ffi.NULL, made, error), error)
    named = {} if search.fits else dict(zip(response.columns, values.tolist()))
    return Optimum(dict(zip(response.names, best.x.tolist())), best.objective, search.designs[0], named, deviations,
                   best.violation, bool(result is not None and result.success), message,
                   Model(made[0], response.model._options, response.model.source), tuple(search.designs), response.runs, response.gradient, result)


__all__ = ["Design", "INFEASIBLE", "Optimum", "Response", "optimize"]
