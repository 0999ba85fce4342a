#!/usr/bin/env python3
"""The site is built without a warning; its links have targets, it is read without network, and it has the whole C API.

usage: test_site.py LINKWORK SOURCES FOLDER [LIBRARY]

FOLDER keeps the environment with Sphinx between runs.  Exit status 77, skipped: pip reaches no index.
"""
import html.parser
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse

SKIPPED = 77


class Links(html.parser.HTMLParser):
    """Targets and anchors of a page, and what its browser would load."""

    def __init__(self):
        super().__init__()
        self.targets, self.anchors, self.loaded = [], set(), []

    def handle_starttag(self, tag, attrs):
        have = dict(attrs)
        if have.get("id"):
            self.anchors.add(have["id"])
        if tag == "a" and have.get("href"):
            self.targets.append(have["href"])
        elif tag in ("img", "script") and have.get("src"):
            self.loaded.append(have["src"])
        elif tag == "link" and have.get("rel") == "stylesheet":
            self.loaded.append(have["href"])


def check(folder):
    """Lines about what is wrong with the pages below a folder, and how many pages and links there are."""
    pages = {}
    for where, _, names in os.walk(folder):
        for name in names:
            if name.endswith(".html"):
                path = os.path.join(where, name)
                pages[path] = Links()
                with open(path, encoding="utf-8") as file:
                    pages[path].feed(file.read())
    wrong, links = [], 0
    for path, page in pages.items():
        for target in page.targets + page.loaded:
            parts = urllib.parse.urlsplit(target)
            if parts.scheme or parts.netloc:
                if target in page.loaded and parts.scheme != "data":
                    wrong.append("%s loads %s" % (path, target))
                continue
            links += 1
            file = os.path.normpath(os.path.join(os.path.dirname(path), urllib.parse.unquote(parts.path))) \
                if parts.path else path
            anchor = urllib.parse.unquote(parts.fragment)
            if not os.path.exists(file):
                wrong.append("%s: %s is not there" % (path, target))
            elif anchor and file in pages and anchor not in pages[file].anchors:
                wrong.append("%s: %s has no such place" % (path, target))
    return wrong, len(pages), links


def exported(sources, library):
    """Functions of the public headers; if there is a shared library, those that it exports."""
    if library and shutil.which("nm"):
        shown = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
        return set(re.findall(r" T (lw_\w+)$", shown, re.M))
    names = set()
    folder = os.path.join(sources, "include/linkwork")
    for header in os.listdir(folder):
        with open(os.path.join(folder, header), encoding="utf-8") as file:
            names |= set(re.findall(r"LW_API [^;(]*?\b(lw_\w+)\(", file.read()))
    return names


def check_c_pages(sources, folder, library):
    """Lines about what the pages of the C API lack."""
    pages = ""
    for name in sorted(os.listdir(os.path.join(folder, "source/c"))):
        with open(os.path.join(folder, "source/c", name), encoding="utf-8") as file:
            pages += file.read()
    shown = set(re.findall(r"^(?:\.\. c:function:: |\s{10,})[^(\n]*?\b(lw_\w+)\(", pages, re.M))
    wrong = ["C API: %s is missing, or not exported" % n for n in sorted(shown ^ exported(sources, library))]
    for part in ("Returns LW\\_ERR\\_SINGULAR",                      # fields of comments
                 "64-byte alignment is not required",                # comments within structures
                 ".. c:enumerator:: LW_ERR_SINGULAR = -7",           # values
                 ".. c:enumerator:: LW_JOINT_UNIVERSAL\n\n      ``universal``: angles about z1 and x2",
                 ".. c:member:: lw_joint_type type"):
        if part not in pages:
            wrong.append("C API: '%s' is missing" % part)
    return wrong


def check_refusal(sources, python):
    """A header with something that the generator does not know ends it, with the place."""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "array.h"), "w", encoding="utf-8") as file:
            file.write("// array.h -- an array.\n\nextern int lw_array[3];\n")
        done = subprocess.run([python, os.path.join(sources, "tools/c_reference.py"), "--headers", folder, "-o", folder],
                              check=False, capture_output=True, text=True)
    refused = done.returncode == 1 and "array.h:3: not understood" in done.stderr
    return [] if refused else ["c_reference.py accepts a variable: %s" % done.stderr]


def main():
    program, sources, folder = (os.path.abspath(a) for a in sys.argv[1:4])
    library = sys.argv[4] if len(sys.argv) > 4 else None
    began = time.monotonic()
    done = subprocess.run([sys.executable, os.path.join(sources, "tools/docs"), "--program", program, "-o", folder],
                          check=False)
    if done.returncode == SKIPPED:
        print("SKIPPED: the site of the documents is NOT built: Sphinx cannot be had")
    if done.returncode:
        return done.returncode
    wrong, pages, links = check(os.path.join(folder, "html"))
    wrong += check_c_pages(sources, folder, library) + check_refusal(sources, os.path.join(folder, "venv/bin/python"))
    print("\n".join(wrong))
    print("%d pages, %d links within the site, %.0f s" % (pages, links, time.monotonic() - began))
    if pages < 30 or links < 1000: # a site without its parts would have few of both
        print("there is less than there should be")
        return 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
