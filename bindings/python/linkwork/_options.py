"""Options of a run: keyword arguments to and from ``lw_options``."""
from __future__ import annotations

from typing import Any, Dict, Mapping

from ._errors import check, text_of
from ._native import ffi, lib

Options = Dict[str, Any]


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, Mapping):  # index3={"iterations": 5}
        return ",".join(f"{k}={_text(v)}" for k, v in value.items())
    if isinstance(value, (list, tuple)):  # baumgarte=(10, 10)
        return ",".join(_text(v) for v in value)
    return repr(float(value)) if hasattr(value, "__float__") else str(value)


def make_options(base: Any, options: Mapping[str, Any]) -> Any:
    """A new ``lw_options``: `base` (one, or None for the defaults), then keywords; None is ignored."""
    made = ffi.new("lw_options *")
    if base is None:
        lib.lw_options_default(made)
    else:
        made[0] = base[0]
    error = ffi.new("lw_error *")
    for key, value in options.items():
        if value is not None:
            check(lib.lw_options_set(made, key.encode(), _text(value).encode(), error), error)
    return made


def read_options(options: Any) -> Options:
    """``lw_options`` as a dictionary."""
    found: Options = {}
    for key, field in ffi.typeof("lw_options").fields:
        value = getattr(options, key)
        found[key] = value if field.type.kind == "primitive" else text_of(value)
    return found
