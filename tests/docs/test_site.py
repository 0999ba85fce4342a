#!/usr/bin/env python3
"""The site is built without a warning; its links lead somewhere and it needs no network to be read.

usage: test_site.py LINKWORK SOURCES FOLDER

FOLDER keeps the environment with Sphinx between runs.  Exit status 77, skipped: pip reaches no index.
"""
import html.parser
import os
import subprocess
import sys
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


def main():
    program, sources, folder = (os.path.abspath(a) for a in sys.argv[1:4])
    began = time.monotonic()
    done = subprocess.run([sys.executable, os.path.join(sources, "tools/docs"), "--program", program, "-o", folder],
                          check=False)
    if done.returncode == SKIPPED:
        print("SKIPPED: the site of the documents is NOT built: Sphinx cannot be had")
    if done.returncode:
        return done.returncode
    wrong, pages, links = check(os.path.join(folder, "html"))
    print("\n".join(wrong))
    print("%d pages, %d links within the site, %.0f s" % (pages, links, time.monotonic() - began))
    if pages < 30 or links < 1000: # a site without its parts would have few of both
        print("there is less than there should be")
        return 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
