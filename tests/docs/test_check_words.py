#!/usr/bin/env python3
"""Tests tools/check_words on a small tree.

usage: test_check_words.py ROOT
"""
import os
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(sys.argv[1])
PLAIN = """// a.c -- at least 2 degrees
// of freedom, a moment of inertia.
#include "seat/limb.h"
static const char *text = "rad/s";
int meter; // as told
"""


class Tree:
    """A tree of sources in a folder for the time being."""

    def __init__(self, folder):
        self.folder = folder

    def write(self, path, text):
        path = os.path.join(self.folder, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def move(self, old, new):
        os.makedirs(os.path.dirname(os.path.join(self.folder, new)), exist_ok=True)
        os.rename(os.path.join(self.folder, old), os.path.join(self.folder, new))

    def run(self, *options, status=0):
        done = subprocess.run([sys.executable, os.path.join(ROOT, "tools/check_words"), "--root", self.folder,
                               *options], capture_output=True, text=True, check=False)
        assert done.returncode == status, (options, done.returncode, done.stdout, done.stderr)
        return done.stdout

    def budget(self):
        with open(os.path.join(self.folder, "tools/words.budget"), encoding="utf-8") as file:
            return [line.strip() for line in file if line.strip() and not line.startswith("#")]


def test_plain_is_clean(tree):
    tree.write("src/base/a.c", PLAIN.replace("as told", "nothing"))
    tree.write("docs/page.md", "Plain.\n\n```sh\necho told\n```\n\n`told` and [a link](told.md)\n")
    assert "0 places" in tree.run("--list")


def test_comment_string_identifier_page_and_file_name(tree):
    for path, text, found in (("src/base/a.c", "// It is told.\n", "src/base/a.c:1: 'told'"),
                              ("src/base/a.c", "\nconst char *a = \"it goes on\";\n", "src/base/a.c:2: 'goes on'"),
                              ("src/base/a.c", "// it goes\n// on\n", "src/base/a.c:1: 'goes on'"),
                              ("src/base/a.c", "int lwi_limb_body;\n", "src/base/a.c:1: 'lwi_limb_body'"),
                              ("src/base/a.c", "// 2 freedoms\n", "src/base/a.c:1: 'freedoms'"),
                              ("src/base/seat.c", "", "src/base/seat.c:1: 'seat'"),
                              ("docs/page.md", "# A page\n\nIt is told.\n", "docs/page.md:3: 'told'")):
        tree.write(path, text)
        assert found in tree.run("--list", status=1), found
        tree.write(path, "")
        if "seat" in path:
            os.remove(os.path.join(tree.folder, path))
    tree.write("src/base/a.c", PLAIN)
    tree.run(status=1)  # the word in the last line


def test_budget_falls_and_never_grows(tree):
    tree.write("tools/words.budget", "src/base 2\n")
    tree.write("src/base/a.c", "// told, told\n")
    tree.run()
    tree.write("src/base/a.c", "// told, told, told\n")
    assert "src/base: 3 places, 2 allowed" in tree.run(status=1)
    tree.run("--update", status=1)
    assert tree.budget() == ["src/base 2"]
    tree.write("src/base/a.c", "// told\n")
    tree.run("--update")
    assert tree.budget() == ["src/base 1"]


def test_files_move_with_their_budget(tree):
    tree.write("tools/words.budget", "src/base 2\n")
    tree.write("src/base/a.c", "// told, told\n")
    tree.move("src/base/a.c", "src/new/a.c")
    tree.run(status=1)
    tree.run("--update")
    assert tree.budget() == ["src/new 2"]
    tree.write("src/more/a.c", "// told\n")
    tree.run("--update", status=1)
    assert tree.budget() == ["src/new 2"]


def main():
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            with tempfile.TemporaryDirectory() as folder:
                test(Tree(folder))
            print(f"ok {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
