#!/usr/bin/env python3
"""Checks that C and C++ files are laid out as .clang-format says.

usage: check_layout.py [ROOT] [--write]

Tables formatted by hand are between `// clang-format off` and `// clang-format on`.  Versions of clang-format
differ in small things: this is for version 14, clang-format-14 or a clang-format that says so.
--write formats the files.  Exit status: 0 clean, 1 with one line per file, 77 without clang-format 14.
"""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys

FOLDERS = ["bench", "examples", "include", "src", "tests"]
ENDINGS = (".c", ".h", ".inl", ".cpp", ".hpp")
VERSION = "14."
AT_ONCE = 32  # files of one call


def formatter():
    for name in ("clang-format-14", "clang-format"):
        path = shutil.which(name)
        if path and f"version {VERSION}" in subprocess.run([path, "--version"], capture_output=True, text=True,
                                                          check=True).stdout:
            return path
    return None


def sources(root):
    for folder in FOLDERS:
        for where, _, names in sorted(os.walk(os.path.join(root, folder))):
            for name in sorted(names):
                if name.endswith(ENDINGS):
                    yield os.path.join(where, name)


def main():
    arguments = [word for word in sys.argv[1:] if word != "--write"]
    root = arguments[0] if arguments else os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    tool = formatter()
    if not tool:
        print(f"skipped: no clang-format {VERSION}x here (Debian: clang-format-14)")
        return 77
    paths = list(sources(root))
    parts = [paths[i:i + AT_ONCE] for i in range(0, len(paths), AT_ONCE)]
    way = ["-i"] if "--write" in sys.argv else ["--dry-run", "-Werror"]

    def complaints(part):
        return subprocess.run([tool, *way, *part], capture_output=True, text=True, check=False).stderr

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        said = "".join(pool.map(complaints, parts))
    faults = sorted(set(re.findall(r"^(.+?):\d+:\d+: error", said, re.MULTILINE)))
    for path in faults:
        print(f"{os.path.relpath(path, root)}: not laid out, clang-format-14 -i does it")
    print(f"{len(paths)} files, {len(faults)} not laid out")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
