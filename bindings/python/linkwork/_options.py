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
    """``lw_options`` as a dictionary: numbers as float or int, everything else as the text that sets it."""
    found: Options = {}
    text = ffi.new("char[]", lib.LW_OPTION_STRING_SIZE)
    for index in range(lib.lw_option_count()):
        info = lib.lw_option_at(index)
        lib.lw_options_get(options, info.key, text, len(text))
        value = text_of(text)
        found[text_of(info.key)] = (float(value) if info.is_real else int(value) if info.is_integer
                                    else value)
    return found
