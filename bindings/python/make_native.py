"""Write _native.c, the extension module: the public headers as the compiler's preprocessor leaves them,
and the glue.

usage: make_native.py C_COMPILER INCLUDE OUTPUT
"""
import os
import re
import subprocess
import sys
import tempfile

import cffi

HERE = os.path.dirname(os.path.abspath(__file__))
STANDARD = ["stdbool.h", "stddef.h", "stdint.h", "stdio.h"]  # cffi knows their types


def declarations(compiler, include, header):
    """A header without directives, macros and attributes."""
    with tempfile.TemporaryDirectory() as empty:
        for name in STANDARD:
            with open(os.path.join(empty, name), "w", encoding="utf-8"):
                pass
        command = [compiler, "-E", "-P", "-U__GNUC__", "-U__clang__", "-nostdinc", "-I", empty,
                   "-I", include, "-DLWPY_CDEF", header]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def main():
    compiler, include, output = sys.argv[1:]
    ffi = cffi.FFI()
    ffi.cdef(declarations(compiler, include, os.path.join(include, "linkwork", "linkwork.h")))
    with open(os.path.join(HERE, "glue.h"), encoding="utf-8") as file:
        glue = file.read()
    # what Python may call, and what calls Python
    calls = re.search(r"// ---- from Python\n(.*?)// ---- to Python\n(.*?)// ----", glue, re.S)
    ffi.cdef(calls.group(1).replace("static ", ""))
    ffi.cdef('extern "Python" {\n%s\n}' % calls.group(2).replace("static ", ""))
    ffi.set_source("linkwork._native", '#include <linkwork/linkwork.h>\n#include "glue.h"\n'
                   '#include "glue.c"\n')
    ffi.emit_c_code(output)


if __name__ == "__main__":
    main()
