#!/usr/bin/env python3
"""Checks that every work cited in the code is in docs/references.bib.

usage: check_references.py [ROOT]

A citation is [author2003] or [author2003, (12)] in a comment, or the cite string of a part.
Exit status: 0 all are there, 1 with one line per unknown key.
"""
import os
import re
import sys

KEY = r"[a-z]{3,}(?:19|20)\d\d[a-z]?"
CITATION = re.compile(r"\[(%s)(?=[\],])|\"(%s)\"" % (KEY, KEY))


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "..")
    with open(os.path.join(root, "docs/references.bib"), encoding="utf-8") as file:
        known = set(re.findall(r"^@\w+\{(\w+),", file.read(), re.M))
    cited = unknown = 0
    for top in ("include", "src", "docs", "tests"):
        for where, _, names in sorted(os.walk(os.path.join(root, top))):
            for name in sorted(names):
                if not name.endswith((".c", ".h", ".def", ".md")):
                    continue
                path = os.path.join(where, name)
                with open(path, encoding="utf-8") as file:
                    for number, line in enumerate(file, 1):
                        for match in CITATION.finditer(line):
                            key = match.group(1) or match.group(2)
                            cited += 1
                            if key not in known:
                                print("%s:%d: %s is not in docs/references.bib"
                                      % (os.path.relpath(path, root), number, key))
                                unknown += 1
    print("%d citations, %d unknown" % (cited, unknown))
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main())
