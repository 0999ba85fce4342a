"""The module in C of workspace.c, which is in the same file as that of cffi."""
from __future__ import annotations

import functools
import importlib.util
from importlib.machinery import ExtensionFileLoader
from typing import Any, Callable, TypeVar, cast

import numpy as np

from . import _native
from ._errors import ArgumentError


def _module() -> Any:
    name, path = "linkwork._workspace", str(_native.__file__)
    spec = importlib.util.spec_from_file_location(name, path, loader=ExtensionFileLoader(name, path))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_MODULE: Any = _module()
_Workspace: Any = _MODULE.Workspace
#: (address, rows, instances, code, bits, kind, number, versioned, owner) -> capsule of DLPack
dlpack_new: Any = _MODULE.dlpack_new
#: capsule of DLPack -> (address, shape, strides or None, code, bits, lanes, kind, number)
dlpack_read: Any = _MODULE.dlpack_read


def workspace() -> Any:
    """A new one, without a mechanism."""
    return _Workspace(np.ndarray)


_Method = TypeVar("_Method", bound=Callable[..., Any])


def alone(method: _Method) -> _Method:
    """A method that only one thread at a time may run on the same object, whose workspace ``_calls`` is shared."""
    @functools.wraps(method)
    def call(self: Any, *arguments: Any, **keywords: Any) -> Any:
        if not self._calls.acquire():
            name = type(self).__name__
            raise ArgumentError(f"the {name} is at work in another thread: expected one {name} for each thread")
        try:
            return method(self, *arguments, **keywords)
        finally:
            self._calls.release()

    return cast(_Method, call)
