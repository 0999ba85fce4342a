#!/usr/bin/env python3
"""Names in the pages exist: files, tests, functions, types and macros, and the headings that links lead to.

usage: test_names.py ROOT
"""
import os
import re
import sys

ROOT = os.path.abspath(sys.argv[1])
SOURCES = ("src", "include", "tests", "bench", "examples", "bindings", "cmake", "tools", "viewer", "docs")
GENERATED = ("docs/model-keys.md", "docs/c/index.rst", "docs/python-api.rst", "docs/references.md")
FENCE = re.compile(r"^```.*?^```", re.M | re.S)
FILE = re.compile(r"`((?:[\w-]+/)*[\w.*-]+\.(?:c|h|inl|def|py|js|cpp|hpp|cmake))`")
FOLDER = re.compile(r"`((?:src|tests|bench|tools|examples|viewer|bindings|include|cmake)/[\w./-]*)`")
NAME = re.compile(r"\b(?:lwi?|LWI?)_\w+\b(?![*<])")
TEST = re.compile(r"`(test_\w+)`")
NOT_FILES = {"NAME.c", "NAME.h", "NAME_casadi.c", "NAME_lanes.c", "NAME_lanes.h", "example.c", "four_bar.c", "snake_case.c"}  # of the reader, of generated code


def walk(*tops):
    for top in tops:
        for where, folders, names in os.walk(os.path.join(ROOT, top)):
            folders[:] = [name for name in folders if name not in ("node_modules", "__pycache__")]
            for name in names:
                yield os.path.relpath(os.path.join(where, name), ROOT)


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def anchor(heading):
    """The anchor of a heading as GitHub and MyST make it."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"[^\w\- ]", "", text).strip().replace(" ", "-")


def anchors(path):
    return {anchor(heading) for heading in re.findall(r"^#+ (.*)$", FENCE.sub("", read(path)), re.M)}


def wrong_links(page, text):
    for target in re.findall(r"\]\(([^)\s]*)\)", FENCE.sub("", text)):
        path, _, heading = target.partition("#")
        full = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        if re.match(r"[a-z]+:", target) or full in GENERATED:
            continue
        if not os.path.exists(os.path.join(ROOT, full)):
            yield f"link to {target}, which does not exist"
        elif heading and full.endswith(".md") and heading not in anchors(full):
            yield f"link to {target}: no such heading"


def wrong_names(page, text, files, words, tests):
    names = {os.path.basename(path) for path in files}
    for name in set(FILE.findall(text)):
        near = os.path.normpath(os.path.join(os.path.dirname(page), name))
        places = (name, near, os.path.join("src", name)) if "/" in name else ()
        if name not in NOT_FILES and "*" not in name and name not in names and not set(places) & files:
            yield f"file {name} does not exist"
    for name in set(FOLDER.findall(text)):
        if not os.path.exists(os.path.join(ROOT, name)) and name not in tests:
            yield f"{name} does not exist"
    for name in set(NAME.findall(text)):
        if name not in words:
            yield f"{name} is not in the sources"
    for name in set(TEST.findall(text)):
        if name + ".c" not in names and name + ".py" not in names:
            yield f"test {name} does not exist"


def main():
    files = set(walk(*SOURCES))
    words = set(re.findall(r"\w+", read("CMakeLists.txt")))
    for path in files:
        if path.startswith(("src/", "include/", "cmake/", "tests/CMake", "bindings/")):
            words.update(re.findall(r"\w+", read(path)))
    tests = read("tests/CMakeLists.txt") + read("bench/CMakeLists.txt") # names of ctest
    pages = [path for path in files if path.endswith(".md") and path.startswith(("docs/", "examples/"))]
    pages += [name for name in ("README.md", "CONTRIBUTING.md") if os.path.exists(os.path.join(ROOT, name))]
    wrong = []
    for page in sorted(pages):
        text = read(page)
        for fault in [*wrong_links(page, text), *wrong_names(page, text, files, words, tests)]:
            wrong.append(f"{page}: {fault}")
    print("\n".join(wrong + [f"{len(pages)} pages, {len(wrong)} faults"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
