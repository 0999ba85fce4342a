"""Exceptions: one class per status of the library."""
from __future__ import annotations

import os
from typing import Any, Dict, NoReturn, Optional, Type

from ._native import ffi, lib


class Error(Exception):
    """A failure of the library.

    The message names the item ("joint 'elbow': ...") and, if a file was read, begins with
    ``file:line:column``.
    """

    #: name of the status: "MODEL", "SINGULAR", ...
    status: str = ""
    #: the message without the position
    text: str
    #: file, line and column; None if there are none
    file: Optional[str]
    line: Optional[int]
    column: Optional[int]
    #: of a run that ended early: the rows so far (:class:`linkwork.Trajectory`)
    trajectory: Any
    #: of a batch that ended early: the rows so far (:class:`linkwork.BatchResult`)
    result: Any

    def __init__(self, text: str, file: Optional[str] = None, line: Optional[int] = None,
                 column: Optional[int] = None) -> None:
        place = ":".join(str(p) for p in (file, line, column) if p)
        super().__init__(f"{place}: {text}" if place else text)
        self.text, self.file, self.line, self.column = text, file, line, column
        self.trajectory = self.result = None

    def __str__(self) -> str:  # base classes like KeyError, OSError would print something else
        return str(self.args[0])

    def __reduce__(self) -> Any:
        return type(self), (self.text, self.file, self.line, self.column)


class KeptException:
    """Base of what holds functions of users that the library calls: the first exception of one is kept until the call ends."""

    exception: Optional[BaseException] = None

    def finish(self, **rows: Any) -> None:
        """Raises the exception, with the rows so far as attributes."""
        if self.exception is not None:
            exception, self.exception = self.exception, None
            for name, value in rows.items():
                exception.__dict__.setdefault(name, value)
            raise exception


def keep_exception(kind: Any, exception: BaseException, trace: Any) -> None:
    """``onerror`` of a function of the glue whose variable ``callback`` is a :class:`KeptException`."""
    callback = trace.tb_frame.f_locals.get("callback") if trace is not None else None
    if callback is not None and callback.exception is None:
        callback.exception = exception


class ArgumentError(Error, ValueError):
    """An argument is missing, of the wrong size or out of range."""


class UnknownNameError(ArgumentError, KeyError):
    """There is no column, body, joint, ... of this name; the message has the nearest."""


class OutOfMemoryError(Error, MemoryError):
    """An allocation failed."""


class FileError(Error, OSError):
    """A file cannot be read or written."""


class ParseError(Error, ValueError):
    """A file is not valid."""


class ModelError(Error, ValueError):
    """A model is not physical or not complete."""


class UnsupportedError(Error, NotImplementedError):
    """This combination is not supported."""


class SingularError(Error, ArithmeticError):
    """The equations are singular in this configuration."""


class IntegratorError(Error, RuntimeError):
    """The integration cannot continue."""


class NotFiniteError(Error, ArithmeticError):
    """A result is not a finite number."""


class StoppedError(Error):
    """The caller stopped the run (``progress`` returned something true)."""


class InternalError(Error, RuntimeError):
    """A defect of the library."""


_classes: Dict[int, Type[Error]] = {
    lib.LW_ERR_ARGUMENT: ArgumentError,
    lib.LW_ERR_MEMORY: OutOfMemoryError,
    lib.LW_ERR_IO: FileError,
    lib.LW_ERR_PARSE: ParseError,
    lib.LW_ERR_MODEL: ModelError,
    lib.LW_ERR_UNSUPPORTED: UnsupportedError,
    lib.LW_ERR_SINGULAR: SingularError,
    lib.LW_ERR_INTEGRATOR: IntegratorError,
    lib.LW_ERR_NOT_FINITE: NotFiniteError,
    lib.LW_ERR_INTERRUPTED: StoppedError,
    lib.LW_ERR_INTERNAL: InternalError,
}
for _status, _class in _classes.items():
    _class.status = ffi.string(ffi.cast("lw_status", _status)).replace("LW_ERR_", "")


def path_bytes(path: Any) -> bytes:
    """A path in the encoding of the library.  Raises ValueError if C would read another one."""
    data = os.fsencode(os.fspath(path))
    if b"\0" in data:
        raise ValueError(f"path {data!r}: embedded null byte")
    return data


def text_of(chars: Any) -> str:
    """A string of the library."""
    return ffi.string(chars).decode("utf-8", "replace") if chars else ""


def make_error(status: int, error: Any = None, text: str = "") -> Error:
    """The exception of a status; `error` is an ``lw_error *`` or NULL."""
    text = text or (text_of(error.text) if error else "")
    text = text or text_of(lib.lw_status_text(status))
    kind = _classes.get(status, InternalError)
    if not error:
        return kind(text)
    return kind(text, text_of(error.file) or None, error.line or None, error.column or None)


def check(status: int, error: Any = None, text: str = "") -> None:
    """Raises unless the status is a success."""
    if status < 0:
        raise make_error(status, error, text)


def unknown(what: str, name: object, known: Any) -> NoReturn:
    """Raises for an unknown name, with the nearest one."""
    names = [ffi.new("char[]", str(k).encode()) for k in known]
    near = lib.lw_nearest(str(name).encode(), ffi.new("const char *[]", names + [ffi.NULL]),
                          len(names))
    hint = f", did you mean '{text_of(near)}'?" if near else ""
    raise UnknownNameError(f"there is no {what} '{name}'{hint}")
