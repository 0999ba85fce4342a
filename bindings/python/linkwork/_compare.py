"""The same run by several methods, side by side."""
from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from ._errors import ArgumentError
from ._memory import Array
from ._model import Model, Path, load
from ._simulation import simulate
from ._trajectory import Trajectory
from .quaternion import to_matrix

_BODY = {"x": "position [m]", "q": "attitude [1]", "v": "velocity [m/s]",
         "w": "angular velocity [rad/s]", "a": "acceleration [m/s^2]",
         "al": "angular acceleration [rad/s^2]"}


def _group(column: str) -> Optional[str]:
    """The kind of a column; None: not compared."""
    kind, _, rest = column.partition(".")
    what = rest.rpartition(".")[2]
    if kind == "body" or kind == "marker":
        return _BODY.get(what.rstrip("xyzw") or ("w" if what[0] == "w" else "x"))
    if kind == "joint" and what in ("fx", "fy", "fz"):
        return "reaction force [N]"
    if kind == "joint" and what in ("tx", "ty", "tz"):
        return "reaction torque [N m]"
    return None


_REACTIONS = {"reaction force [N]": ("fx", "fy", "fz"), "reaction torque [N m]": ("tx", "ty", "tz")}


def _unique_reactions(first: Trajectory, trajectory: Trajectory, parts: Sequence[str]) -> Array:
    """Components of all reactions along the axes of F1 that are unique in the first run, [rows, n]."""
    model = trajectory.model
    assert model is not None  # of a simulation
    components: List[Array] = [np.empty((trajectory.rows, 0))]
    for joint in model.joints:
        columns = [f"joint.{joint.name}.{p}" for p in parts]
        if any(c not in first.columns or c not in trajectory.columns for c in columns):
            continue
        body, R = model.joint_axes(joint.name)
        if body != model.bodies[0].name:
            attitude = trajectory.body(body).quaternion
            if attitude.shape[1] != 4:
                continue
            R = to_matrix(attitude) @ R
        local = np.einsum("...ij,...i->...j", R, trajectory.select(columns))
        unique = [p not in first.undetermined(columns[0]) for p in parts]
        components.append(local[:, unique])
    return np.hstack(components)


class Comparison:
    """Result of :func:`compare`; print it.

    ``differences[method][kind]`` is the largest difference from the first method, ``scales[kind]`` the
    largest magnitude, ``trajectories[method]`` a run.
    """

    def __init__(self, trajectories: Dict[str, Trajectory]) -> None:
        self.trajectories = trajectories
        self.methods: Tuple[str, ...] = tuple(trajectories)
        first = trajectories[self.methods[0]]
        self.scales: Dict[str, float] = {}
        self.differences: Dict[str, Dict[str, float]] = {m: {} for m in self.methods[1:]}
        groups: Dict[str, List[str]] = {}
        for column in first.columns:
            group = _group(column)
            if group and not group.startswith("reaction"):
                groups.setdefault(group, []).append(column)
        values = [{group: t.select(columns) for group, columns in groups.items()} for t in trajectories.values()]
        for found, t in zip(values, trajectories.values()):
            for group, parts in _REACTIONS.items():
                reactions = _unique_reactions(first, t, parts)
                if reactions.shape[1]:
                    found[group] = reactions
        for group, reference in values[0].items():
            self.scales[group] = float(np.max(np.abs(reference), initial=0.0))
            for method, found in zip(self.methods[1:], values[1:]):
                if group in found:
                    self.differences[method][group] = _distance(reference, found[group], group)

    def __str__(self) -> str:
        def line(name: str, scale: str, cells: Sequence[str]) -> str:
            return f"{name:32s}{scale:>12s}" + "".join(f"{c:>18s}" for c in cells)
        first, others = self.methods[0], self.methods[1:]
        lines = [f"largest difference from {first}, {self.trajectories[first].rows} rows", "",
                 line("", "scale", others)]
        lines += [line(group, f"{scale:.4g}", [f"{self.differences[m][group]:.3e}" for m in others])
                  for group, scale in self.scales.items()]
        lines += ["", line("", "", self.methods)]
        figures: Mapping[str, Any] = {
            "energy error [J]": lambda s: s.energy_error,
            "constraint residual: position": lambda s: s.residual[0],
            "velocity": lambda s: s.residual[1], "acceleration": lambda s: s.residual[2],
            "steps": lambda s: s.steps, "evaluations": lambda s: s.evaluations,
            "wall time [s]": lambda s: s.wall}
        summaries = [self.trajectories[m].summary for m in self.methods]
        lines += [line(name, "", [f"{value(s):.4g}" for s in summaries])
                  for name, value in figures.items()]
        return "\n".join(lines)

    __repr__ = __str__


def _distance(a: Array, b: Array, group: str) -> float:
    if len(a) != len(b):
        return float("nan")
    if not group.startswith("attitude"):
        return float(np.max(np.abs(a - b), initial=0.0))
    # q and -q are the same attitude
    p, q = a.reshape(len(a), -1, 4), b.reshape(len(b), -1, 4)
    sign = np.where(np.sum(p * q, axis=2, keepdims=True) < 0, -1.0, 1.0)
    return float(np.max(np.abs(p - sign * q), initial=0.0))


def _check_list(formulations: Sequence[str]) -> None:
    if isinstance(formulations, str):
        raise ArgumentError(f"formulations: expected a list of names, got the text '{formulations}'")


def compare(model: Union[Model, Path], formulations: Sequence[str], duration: Optional[float] = None,
            **options: Any) -> Comparison:
    """Runs a model by several formulations and reports the differences.

    :param formulations: at least two, as "hdca", or with an integrator, "hdca:adams"
    """
    if not isinstance(model, Model):
        model = load(model)
    _check_list(formulations)
    runs: Dict[str, Trajectory] = {}
    for method in formulations:
        formulation, _, integrator = method.partition(":")
        chosen = dict(options, formulation=formulation)
        if integrator:
            chosen["integrator"] = integrator
        if formulation == "rattle":  # equal steps have no tolerances: those are for the others
            chosen = {key: value for key, value in chosen.items() if key not in ("rtol", "atol")}
        runs[method] = simulate(model, duration, **chosen)
    return Comparison(runs)


# ----------------------------------------------------------------------------------- work, precision

_TIGHTEST = 1e-13  # tolerances below are rounding


class WorkPrecision:
    """Result of :func:`work_precision`: cost and error of each method; print or plot it.

    ``error[method]``, ``evaluations[method]``, ``wall[method]`` have a number for each of ``tolerances``.
    The error is the largest difference of positions from the reference, divided by the largest position.
    """

    def __init__(self, reference: Trajectory, name: str, tolerances: Sequence[float]) -> None:
        self.reference = name  #: the reference of the errors
        self.tolerances: Tuple[float, ...] = tuple(tolerances)
        self.methods: Tuple[str, ...] = ()
        self.error: Dict[str, Array] = {}
        self.evaluations: Dict[str, Array] = {}
        self.wall: Dict[str, Array] = {}
        self._columns = [c for c in reference.columns if _group(c) == _BODY["x"]]
        self._positions = reference.select(self._columns)
        self._scale = float(np.max(np.abs(self._positions), initial=0.0)) or 1.0

    def _add(self, method: str, runs: Sequence[Trajectory]) -> None:
        self.methods += (method,)
        self.error[method] = np.array([_distance(self._positions, t.select(self._columns), "") for t in runs])
        self.error[method] /= self._scale
        summaries: List[Any] = [t.summary for t in runs]
        self.evaluations[method] = np.array([float(s.evaluations) for s in summaries])
        self.wall[method] = np.array([s.wall for s in summaries])

    def plot(self, ax: Any = None, **keywords: Any) -> Any:
        """:func:`linkwork.plot` with preset "work-precision"."""
        from ._plot import plot
        return plot(self, "work-precision", ax=ax, **keywords)

    def __str__(self) -> str:
        lines = [f"error of positions against {self.reference}", "",
                 f"{'':24s}{'tolerance':>12s}{'error':>12s}{'evaluations':>14s}{'wall time [s]':>15s}"]
        for m in self.methods:
            lines += [f"{m:24s}{tol:12.1e}{e:12.2e}{n:14.0f}{wall:15.4g}" for tol, e, n, wall in
                      zip(self.tolerances, self.error[m], self.evaluations[m], self.wall[m])]
        return "\n".join(lines)

    __repr__ = __str__


def work_precision(model: Union[Model, Path], formulations: Sequence[str],
                   tolerances: Sequence[float] = (1e-4, 1e-6, 1e-8, 1e-10),
                   duration: Optional[float] = None, reference: Optional[str] = None,
                   **options: Any) -> WorkPrecision:
    """Runs a model by several methods at several tolerances: cost over precision.

    :param formulations: as of :func:`compare`: "hdca", or with an integrator, "hdca:adams"
    :param tolerances: used as `rtol` and `atol`, one run each
    :param reference: the method of the reference run, at a hundredth of the smallest tolerance;
        default: the first
    :param options: of every run; the default of `sample` is a tenth of the duration, because rows
        limit steps
    """
    if not isinstance(model, Model):
        model = load(model)
    _check_list(formulations)
    if not formulations or not tolerances:
        raise ArgumentError("formulations and tolerances: expected at least one of each")
    length = float(model.options["duration"]) if duration is None else duration
    options.setdefault("sample", length / 10)

    def run(method: str, tolerance: float) -> Trajectory:
        formulation, _, integrator = method.partition(":")
        chosen = dict(options, formulation=formulation, rtol=tolerance, atol=tolerance)
        if integrator:
            chosen["integrator"] = integrator
        return simulate(model, duration, **chosen)

    exact, tight = reference or formulations[0], max(_TIGHTEST, min(tolerances) / 100)
    found = WorkPrecision(run(exact, tight), f"{exact} at {tight:.1g}", tolerances)
    for method in formulations:
        found._add(method, [run(method, tolerance) for tolerance in tolerances])
    return found


__all__ = ["Comparison", "WorkPrecision", "compare", "work_precision"]
