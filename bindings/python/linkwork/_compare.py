"""The same run by several methods, side by side."""
from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from ._memory import Array
from ._model import Model, Path, load
from ._simulation import simulate
from ._trajectory import Trajectory

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


class Comparison:
    """What :func:`compare` found; print it.

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
            if group and first.unique(column):
                groups.setdefault(group, []).append(column)
        for group, columns in groups.items():
            reference = first.select(columns)
            self.scales[group] = float(np.max(np.abs(reference), initial=0.0))
            for method in self.methods[1:]:
                other = trajectories[method].select(columns)
                self.differences[method][group] = _distance(reference, other, group)

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


def compare(model: Union[Model, Path], formulations: Sequence[str], duration: Optional[float] = None,
            **options: Any) -> Comparison:
    """Runs a model by several formulations and tells how far they are apart.

    :param formulations: at least two, as "hdca", or with an integrator, "hdca:adams"
    """
    if not isinstance(model, Model):
        model = load(model)
    runs: Dict[str, Trajectory] = {}
    for method in formulations:
        formulation, _, integrator = method.partition(":")
        chosen = dict(options, formulation=formulation)
        if integrator:
            chosen["integrator"] = integrator
        runs[method] = simulate(model, duration, **chosen)
    return Comparison(runs)


__all__ = ["Comparison", "compare"]
