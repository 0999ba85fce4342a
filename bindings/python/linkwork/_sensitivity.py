"""Derivatives of the results of a run by parameters of the model's file."""
from __future__ import annotations

from typing import Any, Dict, Optional, Sequence, Union

import numpy as np

from ._errors import ArgumentError, check
from ._memory import Array
from ._model import Model, made_model
from ._native import ffi, lib
from ._options import make_options

_STATISTICS = ("last", "mean", "rms", "min", "max")
_METHODS = ("differences", "adjoint", "forward")


class Sensitivity:
    """Derivatives of columns of a run by parameters.

    ``parameters`` and ``columns`` are names, ``statistics`` [column] what is differentiated of each, ``values`` [column]
    those of the model itself, ``derivative``
    [column, parameter] and ``error`` its bound for smooth results; NaN where a variant has failed, for the reason in
    ``failures``. ``warning``: why those of the adjoint may be far from exact, or "". Units are those of the column per unit of the parameter in its file.
    """

    def __init__(self, handle: Any) -> None:
        n, m = lib.lw_sensitivity_parameters(handle), lib.lw_sensitivity_columns(handle)
        self.parameters = tuple(ffi.string(lib.lw_sensitivity_parameter(handle, k)).decode() for k in range(n))
        self.columns = tuple(ffi.string(lib.lw_sensitivity_column(handle, c).name).decode() for c in range(m))
        statistics = [lib.lw_sensitivity_statistic(handle, c) for c in range(m)]
        self.statistics = tuple(_STATISTICS[which] for which in statistics)
        self.values: Array = np.array([lib.lw_sensitivity_value(handle, c, statistics[c]) for c in range(m)])
        self.derivative: Array = np.empty((m, n))
        self.error: Array = np.empty((m, n))
        error = ffi.new("double *")
        for c in range(m):
            for k in range(n):
                self.derivative[c, k] = lib.lw_sensitivity_at(handle, k, c, statistics[c], error)
                self.error[c, k] = error[0]
        texts = (ffi.string(lib.lw_sensitivity_failure(handle, k)).decode() for k in range(n))
        self.warning = ffi.string(lib.lw_sensitivity_warning(handle)).decode()
        self.failures: Dict[str, str] = {name: text for name, text in zip(self.parameters, texts) if text}

    def of(self, column: str) -> Dict[str, float]:
        """The derivatives of one column, by parameter."""
        if column not in self.columns:
            raise ArgumentError(f"there is no column '{column}'; there are {', '.join(self.columns)}")
        return dict(zip(self.parameters, self.derivative[self.columns.index(column)].tolist()))

    def __repr__(self) -> str:
        return f"<linkwork.Sensitivity: {len(self.columns)} columns by {len(self.parameters)} parameters>"


def sensitivity(model: Model, by: Union[str, Sequence[str]], *, columns: Optional[str] = None,
                statistic: str = "last", step: float = 0.0, method: str = "differences",
                **options: Any) -> Sensitivity:
    """Derivatives of results of a run by parameters of the model's file.

    :param by: names of parameters of the model's file
    :param columns: patterns of result columns and names of measures, each with or without a statistic:
        "body.tip.*,sag.max,joint.A.q0.rms"; default: the measures of the model
    :param statistic: of names without one: "last", "mean", "rms" (over the time), "min" or "max" of the rows
    :param method: "differences" of six variants for each parameter, in lanes and threads, or "adjoint": one run and one
        sweep back for any number of parameters, or "forward": the same along the run, for any number of columns
    :param step: of the differences, relative to the value of a parameter; 0: 1e-3
    :param options: of the run, as of :func:`simulate`; tolerances are at most 1e-12, of the others 1e-10
    """
    if statistic not in _STATISTICS:
        raise ArgumentError(f"statistic: expected one of {', '.join(_STATISTICS)}, got {statistic!r}")
    if method not in _METHODS:
        raise ArgumentError(f"method: expected one of {', '.join(_METHODS)}, got {method!r}")
    names = [by] if isinstance(by, str) else list(by)
    keep = [ffi.new("char[]", name.encode()) for name in names]
    pattern = ffi.NULL if columns is None else ffi.new("char[]", columns.encode())
    model = made_model(model)
    made = make_options(model._options, options)
    array = ffi.new("const char *[]", keep or [ffi.NULL])
    desc = ffi.new("lw_sensitivity_desc *", {"options": made, "nby": len(keep), "by": array, "columns": pattern,
                                             "step": step, "method": _METHODS.index(method),
                                             "statistic": _STATISTICS.index(statistic)})
    found, error = ffi.new("lw_sensitivity **"), ffi.new("lw_error *")
    check(lib.lw_sensitivity_create(model._handle, desc, found, error), error)
    handle = ffi.gc(found[0], lib.lw_sensitivity_destroy)
    return Sensitivity(handle)
