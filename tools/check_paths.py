#!/usr/bin/env python3
"""Checks that the files that pages name exist.

usage: check_paths.py [ROOT]

A file is a path that begins with a folder of the sources, in README.md, CONTRIBUTING.md, docs/ and the README.md of
other folders.  Paths with <...>, * or a word in capitals and names of tests are none.
Exit status: 0 all exist, 1 with one line for each that does not.
"""
import glob
import os
import re
import sys

PATH = re.compile(r"(?<![\w./-])(?:src|include|tests|tools|docs|bench|examples|cmake|viewer|bindings)/[\w./-]*[\w/]"
                  r"(?![<*{\w])")
PAGES = ("*.md", "docs/**/*.md", "bench/**/README.md", "examples/**/README.md", "tests/**/README.md")
TESTS = ("CMakeLists.txt", "tests/CMakeLists.txt", "bench/CMakeLists.txt")


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def placeholder(path):
    return any(part.isupper() for part in path.split("/"))


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "..")
    tests = set(re.findall(r"(?:NAME |lw\w*_test\()([\w/-]+)", "".join(read(root, name) for name in TESTS)))
    count = missing = 0
    for page in sorted({p for pattern in PAGES for p in glob.glob(os.path.join(root, pattern), recursive=True)}):
        for number, line in enumerate(read(page).split("\n"), 1):
            for path in PATH.findall(line):
                if path in tests or placeholder(path):
                    continue
                count += 1
                if not os.path.exists(os.path.join(root, path)):
                    print("%s:%d: %s does not exist" % (os.path.relpath(page, root), number, path))
                    missing += 1
    print("%d paths in pages, %d missing" % (count, missing))
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
