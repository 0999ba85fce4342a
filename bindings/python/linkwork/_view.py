"""Pages for the browser and glTF files."""
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Optional

from ._errors import ArgumentError, check
from ._native import ffi, lib

if TYPE_CHECKING:
    from ._model import Model, Path


def write_view(model: "Model", result: Any, path: "Path", title: Optional[str]) -> None:
    """Writes the files of ``linkwork view``; `result` is an ``lw_result *``, or NULL for the model's start."""
    name = os.fspath(path)
    if not name.endswith((".html", ".gltf")):
        raise ArgumentError(f"{name}: views are written as .html or .gltf")
    text, size, error = ffi.new("char **"), ffi.new("size_t *"), ffi.new("lw_error *")
    words = ffi.new("char[]", (title or os.path.basename(name)).encode())
    try:
        check(lib.lwpy_view_text(model._handle, result, words, name.endswith(".gltf"), text, size,
                                 error), error)
        with open(name, "wb") as file:
            file.write(ffi.buffer(text[0], size[0]))
    finally:
        lib.lwpy_free(text[0])
