"""Plots of trajectories by matplotlib, which is imported on first use."""
from __future__ import annotations

import fnmatch
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from ._compare import WorkPrecision
from ._errors import ArgumentError, unknown
from ._memory import Array
from ._model import Path
from ._trajectory import Trajectory, read_result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: one curve: label, x, y
Curve = Tuple[str, Array, Array]

PRESETS = ("overview", "joints", "positions", "energy", "residuals", "reactions", "phase")
MAX_PHASES = 16  # panels, as `linkwork plot`
MAX_LABELS = 12  # curves beyond are not in the key


class Panel:
    """The contents of one Axes."""

    def __init__(self, curves: List[Curve], xlabel: str, ylabel: str, log: bool = False) -> None:
        self.curves, self.xlabel, self.ylabel, self.log = curves, xlabel, ylabel, log


def _label(trajectory: Trajectory, names: Sequence[str]) -> str:
    units = list(dict.fromkeys(trajectory.unit(n) for n in names))
    what = names[0] if len(names) == 1 else ""
    unit = f"[{', '.join(units)}]" if any(u not in ("", "1") for u in units) else ""
    return f"{what} {unit}".strip()


def _columns(t: Trajectory, names: Sequence[str], x: str) -> Panel:
    return Panel([(n, t[x], t[n]) for n in names], _label(t, [x]), _label(t, names))


def _by_unit(t: Trajectory, names: Sequence[str], x: str) -> List[Panel]:
    units: Dict[str, List[str]] = {}
    for name in names:
        units.setdefault(t.unit(name), []).append(name)
    return [_columns(t, group, x) for group in units.values()]


def _matching(t: Trajectory, *patterns: str) -> List[str]:
    return [c for c in t.columns if any(fnmatch.fnmatchcase(c, p) for p in patterns)]


def _energy(t: Trajectory, x: str) -> List[Panel]:
    drift = t.energy - t.work
    at, label = t[x], _label(t, [x])
    change: List[Curve] = [("T", at, t.kinetic), ("V - V(0)", at, t.potential - t.potential[0]),
                           ("E - E(0)", at, t.energy - t.energy[0])]
    return [Panel(change, label, "energy [J]"),
            Panel([("drift of E - Wnc", at, drift - drift[0])], label, "drift of E - Wnc [J]")]


def _residuals(t: Trajectory, x: str) -> List[Panel]:
    names = _matching(t, "sys.c*")
    some = any(np.any(t[n] > 0) for n in names)  # zeros are gaps of a logarithmic axis
    curves = [(n, t[x], np.where(t[n] > 0, t[n], np.nan) if some else t[n]) for n in names]
    return [Panel(curves, _label(t, [x]), "largest residual", log=some)]


def _reactions(t: Trajectory, x: str) -> List[Panel]:
    panels = []
    for what, unit in (("force", "N"), ("torque", "N m")):
        curves = [(j, t[x], np.linalg.norm(getattr(t.joint(j), what), axis=1))
                  for j in t._items("joint") if getattr(t.joint(j), what).shape[1]]
        panels.append(Panel(curves, _label(t, [x]), f"{what} [{unit}]"))
    return panels


def _phase(t: Trajectory) -> List[Panel]:
    names = [n for n in _matching(t, "joint.*.q[0-9]") if n.replace(".q", ".qd") in t]
    return [Panel([(n, t[n], t[_rate(n)])], _label(t, [n]), _label(t, [_rate(n)]))
            for n in names[:MAX_PHASES]]


def _rate(name: str) -> str:
    head, _, last = name.rpartition(".q")
    return f"{head}.qd{last}"


def _overview(t: Trajectory, x: str) -> List[Panel]:
    names = _matching(t, "joint.*.q[0-9]") or _matching(t, "body.*.x", "body.*.y", "body.*.z")
    return _by_unit(t, names, x) + (_energy(t, x)[:1] if "sys.T" in t else [])


def panels_of(t: Trajectory, what: Union[str, Sequence[str]], x: str) -> List[Panel]:
    """The quantities to show: a preset, or a list of columns or patterns per panel."""
    if isinstance(what, str) and what in PRESETS:
        made = {"overview": lambda: _overview(t, x),
                "joints": lambda: _by_unit(t, _matching(t, "joint.*.q[0-9]", "joint.*.qd[0-9]"), x),
                "positions": lambda: [_columns(t, _matching(t, f"body.*.{c}"), x) for c in "xyz"],
                "energy": lambda: _energy(t, x), "residuals": lambda: _residuals(t, x),
                "reactions": lambda: _reactions(t, x), "phase": lambda: _phase(t)}
        return made[what]()
    lists = [what] if isinstance(what, str) else list(what)
    for word in lists:
        if not any(c in word for c in ".*?,") and word not in t:
            unknown("preset or column", word, [*PRESETS, *t.columns])
    return [_columns(t, t.match(word), x) for word in lists]


def _work_precision(study: WorkPrecision, x: str, ax: Any, labels: Optional[Sequence[str]],
                    style: Dict[str, Any]) -> Any:
    costs = {"time": ("evaluations", study.evaluations), "evaluations": ("evaluations", study.evaluations),
             "wall": ("wall time [s]", study.wall)}
    if x not in costs:
        unknown("cost", x, list(costs)[1:])
    title, cost = costs[x]
    (axis,) = _axes(ax, 1)
    for number, method in enumerate(study.methods):
        error = study.error[method]  # zeros are gaps of a logarithmic axis
        axis.plot(cost[method], np.where(error > 0, error, np.nan), label=labels[number] if labels else method,
                  **{"marker": "o", **style})
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlabel(title)
    axis.set_ylabel("relative error of positions")
    axis.grid(True, which="both", alpha=0.3)
    axis.legend(fontsize="small")
    return axis


def plot(result: Union[Trajectory, Path, WorkPrecision, Sequence[Union[Trajectory, Path]]],
         what: Union[str, Sequence[str]] = "overview", *, x: str = "time",
         ax: Union[None, "Axes", Sequence["Axes"]] = None, labels: Optional[Sequence[str]] = None,
         log: Optional[bool] = None, title: Optional[str] = None, **style: Any) -> Any:
    """Draws quantities of a result, or of several over each other.

    :param result: trajectories or result files; or a result of :func:`work_precision`, with the only preset
         "work-precision": error over cost, `x` is "evaluations" (default) or "wall"
    :param what: "overview", "joints", "positions", "energy", "residuals", "reactions", "phase"; or
        columns, "joint.sway.q0,joint.sway.q1", with ``*`` and ``?`` as wildcards; a list: a panel each
    :param x: the column to draw over
    :param ax: where to draw: an Axes, or as many as there are panels; default: a new figure
    :param labels: of the results, in the key
    :param log: logarithmic y
    :param style: of the curves, to ``Axes.plot``
    :returns: the Axes, or an array of them
    """
    if isinstance(result, WorkPrecision):
        if what not in ("overview", "work-precision"):
            raise ArgumentError(f"{what}: a study of work and precision has the preset work-precision alone")
        axis = _work_precision(result, x, ax, labels, style)
        if title:
            axis.set_title(title)
        return axis
    if what == "work-precision":
        raise ArgumentError("preset work-precision: expected what linkwork.work_precision returns")
    several = not isinstance(result, (Trajectory, str)) and isinstance(result, Sequence)
    given: Any = result if several else [result]
    results = [r if isinstance(r, Trajectory) else read_result(r) for r in given]
    panels = [panels_of(r, what, x) for r in results]
    axes = _axes(ax, len(panels[0]))
    for number, own in enumerate(panels):
        label = labels[number] if labels else (f"{number + 1}" if several else "")
        for axis, panel in zip(axes, own):
            _draw(axis, panel, label, log, style)
    if title:
        axes[0].set_title(title)
    return axes[0] if len(axes) == 1 else np.array(axes)


def _axes(ax: Any, count: int) -> List[Any]:
    if ax is None:
        import matplotlib.pyplot as plt
        figure, made = plt.subplots(count, 1, squeeze=False, constrained_layout=True,
                                    figsize=(9, 1.2 + 2.4 * count))
        return list(made[:, 0])
    axes = list(np.atleast_1d(np.asarray(ax, dtype=object)).ravel())
    if len(axes) < count:
        raise ArgumentError(f"ax: expected {count} Axes, got {len(axes)}")
    return axes[:count]


def _draw(axis: Any, panel: Panel, label: str, log: Optional[bool], style: Dict[str, Any]) -> None:
    for name, at, values in panel.curves:
        axis.plot(at, values, label=f"{name} {label}".strip(), **style)
    axis.set_xlabel(panel.xlabel)
    axis.set_ylabel(panel.ylabel)
    if panel.log if log is None else log:
        axis.set_yscale("log")
    axis.grid(True, alpha=0.3)
    if 1 < len(axis.get_lines()) <= MAX_LABELS:
        axis.legend(loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0, fontsize="small")


__all__ = ["PRESETS", "plot"]
