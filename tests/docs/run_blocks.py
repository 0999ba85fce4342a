#!/usr/bin/env python3
"""Types every fenced block of the documents, as docs/documentation.md says, and counts them.

usage: run_blocks.py --program LINKWORK --sources FOLDER [--library FOLDER] [--compiler CC] [--flags FLAGS]
                     [--python PYTHON] [PAGE...]

Without PAGE: README.md, CONTRIBUTING.md and all pages of docs, examples and bench.  --python: an interpreter that has the
package; without it blocks of Python are compiled, not run.  --library: the folder of the shared library; without it blocks of sh
that link it are not run.
Exit status: 0 all work, 1 one does not.
"""
import argparse
import csv
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import Counter

LANGUAGES = ("sh", "yaml", "python", "c", "csv", "text", "")
BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```[ ]*$", re.M | re.S)
MARKER = re.compile(r"<!-- *(with|output|not run:)(.*?)-->\s*\Z", re.S)
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
NEAR, NOTHING = 0.02, 1e-6 # of numbers in output; processors and compilers differ in the last digits
DRIVER = """import json, sys
names = {"__name__": "__main__"}
for line in sys.stdin:
    exec(compile(json.loads(line), "block", "exec"), names)
    print("\\n\\0", flush=True)
"""
LIMIT = 300                # seconds of one block; sanitizers take ten times as long


class Failed(Exception):
    """A block that does not work; the text says how."""


def markers(before):
    """{marker: text} of the comments right before a block."""
    found = {}
    while True:
        match = MARKER.search(before)
        if not match:
            return found
        found[match.group(1).rstrip(":")] = match.group(2).strip("\n").strip(" ")
        before = before[:match.start()]


def blocks(text):
    """(line, language, block, markers) of a page; a directive of Sphinx is no code."""
    last = 0
    for match in BLOCK.finditer(text):
        language = match.group(1).strip()
        if not language.startswith("{"):
            yield (text.count("\n", 0, match.start()) + 1, language, match.group(2),
                   markers(text[last:match.start()]))
        last = match.end()


def same_word(expected, got, timed):
    """Equal except for numbers, which are near each other, and for wall-clock times."""
    if NUMBER.sub("#", expected) != NUMBER.sub("#", got):
        return False
    if timed:
        return True
    for a, b in zip(NUMBER.findall(expected), NUMBER.findall(got)):
        a, b = float(a), float(b)
        if abs(a - b) > NEAR * max(abs(a), abs(b)) and max(abs(a), abs(b)) > NOTHING:
            return False
    return True


def same_line(expected, got, timed=None):
    """Words that agree; `...` stands for any number of them."""
    if timed is None:
        timed = "wall" in expected
    if not expected:
        return not got
    if expected[0] == "...":
        return any(same_line(expected[1:], got[n:], timed) for n in range(len(got) + 1))
    return bool(got) and same_word(expected[0], got[0], timed) and same_line(expected[1:], got[1:], timed)


def compare(expected, got):
    """Raises at the first line that differs; a line `...` stands for any lines."""
    wanted = [line.split() for line in expected.strip().split("\n")]
    have = [line.split() for line in got.strip().split("\n")]
    skipping = False
    for words in wanted:
        if words == ["..."]:
            skipping = True
            continue
        while skipping and have and not same_line(words, have[0]):
            have.pop(0)
        if not have or not same_line(words, have[0]):
            raise Failed("the page says\n    %s\nbut this was printed:\n%s" % (" ".join(words), got))
        have.pop(0)
        skipping = False
    if have and not skipping:
        raise Failed("the page does not have\n    %s" % " ".join(have[0]))


class Page:
    """A page and the folder it is typed in."""

    def __init__(self, name, arguments, folder):
        self.name, self.arguments, self.folder = name, arguments, folder
        self.counts, self.skipped, self.printed = Counter(), [], ""
        self.python = None
        os.makedirs(os.path.join(folder, "build/bin"))
        os.symlink(os.path.abspath(arguments.program), os.path.join(folder, "build/bin/linkwork"))
        for part in ("bench", "examples", "include", "bindings"):
            os.symlink(os.path.join(os.path.abspath(arguments.sources), part), os.path.join(folder, part))
        if arguments.lib_folder:
            os.symlink(os.path.abspath(arguments.lib_folder), os.path.join(folder, "build/lib"))
        self.environment = dict(os.environ, MPLBACKEND="Agg")
        tools = os.path.join(folder, ".tools") # `cc` and `python` of the page are those of the build
        os.makedirs(tools)
        for tool, command in (("cc", "%s %s" % (shlex.quote(shutil.which(arguments.compiler)), arguments.flags)),
                              ("python", shlex.quote(arguments.python or sys.executable))):
            path = os.path.join(tools, tool)
            with open(path, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\nexec %s \"$@\"\n" % command)
            os.chmod(path, 0o755)
        self.environment["PATH"] = tools + os.pathsep + self.environment["PATH"]

    def save(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def call(self, command, text=None):
        done = subprocess.run(command, cwd=self.folder, env=self.environment, input=text, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=LIMIT)
        if done.returncode:
            raise Failed("it ends with status %d:\n%s" % (done.returncode, done.stdout))
        return done.stdout

    def name_of(self, pattern, text):
        match = re.match(pattern, text)
        return match.group(1) if match else None

    def sh(self, text, bare):
        if not self.arguments.lib_folder and "build/lib" in text: # an archive, or none
            self.printed = None
            self.counts["sh, not run for want of the shared library"] += 1
            self.counts["sh"] -= 1
            return
        if re.search(r"--m(in|ax)imize", text) and not self.has_nlopt():
            self.printed = None
            self.counts["sh, not run for want of NLopt"] += 1
            self.counts["sh"] -= 1
            return
        self.printed = self.call(["sh", "-eu"], text)

    def has_nlopt(self):
        done = subprocess.run([self.arguments.program, "optimize", "no.yaml", "--minimize", "a"], check=False, text=True,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        return "without NLopt" not in done.stderr

    def yaml(self, text, bare):
        name = self.name_of(r"# (\S+\.yaml)", bare) or "block.yaml"
        self.save(name, text)
        self.printed = self.call(["build/bin/linkwork", "check", name])

    def python_block(self, text, bare):
        compile(text, self.name, "exec")
        name = self.name_of(r"# (\S+\.py)\n", bare)
        if name:
            self.save(name, text)
        self.printed = None
        if self.arguments.python:
            self.printed = self.interpret(text)
        else:
            self.counts["python, compiled only"] += 1
            self.counts["python"] -= 1

    def interpret(self, text):
        """What a block prints in the page's process, which has run the blocks before it."""
        if not self.python:
            self.python = subprocess.Popen([self.arguments.python, "-c", DRIVER], cwd=self.folder, text=True,
                                           env=self.environment, stdin=subprocess.PIPE,
                                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.python.stdin.write(json.dumps(text) + "\n")
        self.python.stdin.flush()
        lines = []
        for line in self.python.stdout:
            if line == "\0\n":
                return "".join(lines)
            lines.append(line)
        raise Failed("".join(lines))

    def close(self):
        if self.python:
            self.python.stdin.close()
            self.python.wait(timeout=LIMIT)
            self.python.stdout.close()

    def c(self, text, bare):
        name = self.name_of(r"// (\S+\.c)\b", bare)
        if name:
            self.save(name, text)
        self.printed = self.call(["cc", "-std=c17", "-D_POSIX_C_SOURCE=200809L", "-Wall", "-Wextra", "-Werror",
                                  "-Iinclude", "-fsyntax-only", "-x", "c", "-"], text)

    def csv(self, text, bare):
        rows = list(csv.reader(text.strip().split("\n")))
        if any(len(row) != len(rows[0]) for row in rows):
            raise Failed("its rows are not of equal length")

    def usage(self, text):
        """Lines `linkwork VERB --option` of what is not run: verb and options exist."""
        for line in re.findall(r"^ *(?:build/bin/)?linkwork +([a-z]+\b.*)", text, re.M):
            verb = line.split()[0]
            known = self.call(["build/bin/linkwork", verb, "--help", "--all"])
            for option in re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", line):
                if not re.search(re.escape(option) + r"(?![\w-])", known):
                    raise Failed("`linkwork %s` has no option %s" % (verb, option))
            self.counts["usage lines held against --help"] += 1

    def run(self):
        with open(os.path.join(self.arguments.sources, self.name), encoding="utf-8") as file:
            text = file.read()
        for line, language, block, marks in blocks(text):
            try:
                self.one(line, language, block, marks)
            except (Failed, SyntaxError, subprocess.TimeoutExpired) as error:
                print("%s:%d: this block does not work: %s" % (self.name, line, error))
                return False
        try:
            self.usage(BLOCK.sub("", text))
        except Failed as error:
            print("%s: %s" % (self.name, error))
            return False
        return True

    def one(self, line, language, block, marks):
        if "output" in marks:
            if self.printed is None:
                self.counts["output, not compared here"] += 1
                return
            compare(block, self.printed)
            self.counts["output"] += 1
            return
        if "not run" in marks:
            if not marks["not run"].strip():
                raise Failed("'not run' without a reason")
            self.skipped.append("%s:%d: %s: %s" % (self.name, line, language, marks["not run"].strip()))
            self.counts["not run"] += 1
            return
        if language not in LANGUAGES:
            raise Failed("nothing runs blocks of '%s'; mark it <!-- not run: why -->" % language)
        if language in ("", "text"):
            self.usage(block)
            self.counts["plain text"] += 1
            return
        whole = block
        if "with" in marks:
            around = marks["with"]
            whole = re.sub(r"^ *@block@ *$", lambda _: block, around, flags=re.M) if "@block@" in around \
                else around + "\n" + block
        self.counts[language] += 1
        {"python": self.python_block}.get(language, getattr(self, language))(whole, block)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--sources", required=True)
    parser.add_argument("--library", dest="lib_folder")
    parser.add_argument("--compiler", default="cc")
    parser.add_argument("--flags", default="")
    parser.add_argument("--python")
    parser.add_argument("pages", nargs="*")
    arguments = parser.parse_args()
    pages = arguments.pages or ["README.md", "CONTRIBUTING.md"] + sorted(
        os.path.relpath(os.path.join(where, name), arguments.sources)
        for part in ("docs", "examples", "bench")
        for where, _, names in os.walk(os.path.join(arguments.sources, part))
        for name in names if name.endswith(".md"))
    total, skipped, failed = Counter(), [], 0
    for name in pages:
        with tempfile.TemporaryDirectory() as folder:
            page = Page(name, arguments, folder)
            try:
                failed += not page.run()
            finally:
                page.close()
            total.update(page.counts)
            skipped += page.skipped
            words = ["%d %s" % (n, kind) for kind, n in sorted(page.counts.items()) if n]
            print("%s: %s" % (name, ", ".join(words) or "no blocks"), flush=True)
    print("\n".join(["", "not run:"] + skipped if skipped else []))
    ran = sum(total[kind] for kind in ("sh", "yaml", "python", "c", "csv", "output"))
    print("%d pages, %d blocks run: %s" % (len(pages), ran, ", ".join(
        "%d %s" % (n, kind) for kind, n in sorted(total.items()) if n)))
    return 1 if failed or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
