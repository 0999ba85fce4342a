#!/usr/bin/env python3
"""Finds measured figures that are typed into the pages: times, sizes, ratios, percentages, counts of operations.

usage: check_figures.py [--root ROOT] [--list [PAGE...]] [--update]

Figures belong into a block that tools/doc_tables.py makes.  Searched: README.md and the pages of docs, bench and
examples, without blocks of commands and code, made tables, and the reports in docs/reports, which are made whole.
CHANGELOG.md is not searched: its figures are those of a change, with the ones before.
In a table that is typed a row with two decimal numbers is one figure.

tools/figures.list has the rest, one line a page or text:
  allow PAGE: TEXT    not measured (a limit, a setting, a definition): figures within TEXT are allowed
  COUNT PAGE          so many figures are still typed there; --update lowers the counts and never raises one
--list prints every figure.  Exit status: 0, 1 a page has more figures than its count or a TEXT is not in its page.
"""
import argparse
import glob
import os
import re
import sys

PAGES = ("README.md", "docs/**/*.md", "bench/**/*.md", "examples/**/*.md")
MADE = "docs/reports/"  # by the programs in examples, from results.json there
LIST = "tools/figures.list"
NOT_PROSE = re.compile(r"^[ ]*```.*?^[ ]*```|<!-- table .*?<!-- end of table -->|<!--.*?-->", re.M | re.S)
NUMBER = r"(?<![\w.,^-])\d[\d.,]*(?:e[-+]?\d+)?"
RANGE = rf"{NUMBER}(?:\s*(?:to|and|or|–|-)\s*{NUMBER})?"
MEASURED = re.compile(
    rf"{RANGE}\s*(?:million |thousand )*(?:ms|us|µs|ns|kB|KB|MB|GB|KiB|MiB|kilobytes?|megabytes?|bytes|%|per cent|percent|"
    r"times|instructions|evaluations|multiplications|pictures a second)(?![\w-])"
    rf"|(?:takes?|took|taken|in|after|needs?|used?|before|set-up)\s+(?:some\s+|about\s+)?{NUMBER}\s*(?:s|seconds|minutes)(?!\w)"
    rf"|(?:a |an )?factors? of {NUMBER}|{RANGE} of the (?:time|cost|work)", re.I)
ROW = re.compile(r"^\|.*\|[ ]*$", re.M)
DECIMAL = re.compile(r"(?<![\w.])\d+\.\d+(?:e[-+]?\d+)?(?![\w.])|(?<![\w.])\d+e[-+]?\d+(?!\w)")


def blank(text):
    return re.sub(r"[^\n]", " ", text)


def figures(text):
    """(position, text) of each figure of a page."""
    text = NOT_PROSE.sub(lambda m: blank(m.group()), text)
    for row in ROW.finditer(text):
        if len(DECIMAL.findall(row.group())) > 1:
            yield row.start() + DECIMAL.search(row.group()).start(), row.group()
    text = ROW.sub(lambda m: blank(m.group()) if len(DECIMAL.findall(m.group())) > 1 else m.group(), text)
    for match in MEASURED.finditer(text):
        yield match.start(), " ".join(match.group().split())


def places(text, part):
    """Where a text is in a page, whatever its line ends."""
    return [m.span() for m in re.finditer(r"\s+".join(map(re.escape, part.split())), text)]


def read_list(path):
    counts, allowed = {}, []
    with open(path, encoding="utf-8") as file:
        for line in file.read().splitlines():
            if line.startswith("allow "):
                allowed.append(tuple(line[6:].split(": ", 1)))
            elif line.strip() and not line.startswith("#"):
                count, page = line.split()
                counts[page] = int(count)
    return counts, allowed


def lower(path, found):
    """Writes the counts that fell; pages without figures are left out."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    kept = []
    for line in lines:
        match = re.fullmatch(r"(\d+) (\S+)", line)
        if match:
            count = min(int(match[1]), len(found.get(match[2], ())))
            line = f"{count} {match[2]}" if count else None
        if line is not None:
            kept.append(line)
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(kept) + "\n")


def search(root, allowed):
    """Figures of each page that are not allowed, and the allowed texts that are nowhere."""
    found, unused = {}, set(allowed)
    for pattern in PAGES:
        for path in sorted(glob.glob(os.path.join(root, pattern), recursive=True)):
            page = os.path.relpath(path, root)
            if page.startswith(MADE):
                continue
            with open(path, encoding="utf-8") as file:
                text = file.read()
            spans = []
            for entry in allowed:
                if entry[0] == page and places(text, entry[1]):
                    spans += places(text, entry[1])
                    unused.discard(entry)
            found[page] = [(text.count("\n", 0, at) + 1, figure) for at, figure in figures(text)
                           if not any(a <= at < b for a, b in spans)]
    return found, unused


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--root", default=os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    parser.add_argument("--list", nargs="*", metavar="PAGE", help="print every figure, of these pages")
    parser.add_argument("--update", action="store_true", help="lower the counts")
    options = parser.parse_args()
    path = os.path.join(options.root, LIST)
    counts, allowed = read_list(path)
    found, unused = search(options.root, allowed)
    for page in options.list or (found if options.list is not None else ()):
        for line, figure in found[page]:
            print(f"{page}:{line}: {figure}")
    if options.update:
        lower(path, found)
    good = True
    for page, text in sorted(unused):
        print(f"{LIST}: '{text}' is not in {page}")
        good = False
    for page, those in found.items():
        if len(those) > counts.get(page, 0):
            print(f"{page}: measured figures that are typed: {len(those)}, allowed: {counts.get(page, 0)}; render them by "
                  f"tools/doc_tables.py, delete them, or allow a limit or setting in {LIST}:")
            for line, figure in those:
                print(f"  {page}:{line}: {figure}")
            good = False
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
