#!/usr/bin/env python3
"""Checks that works cited in the sources are in docs/references.bib, and the index of the papers' equations.

usage: check_references.py [ROOT]
       check_references.py --find KEY NUMBER     where an equation is: file:line: function: what it states

A citation is [author2003] or [author2003, (12)] or [author2003, (12)-(14); other2004, (3)] in a comment, or the
cite string of a part.  Where the head of a file says that numbers are "those of [author2003]", a number (12) in its
comments is a citation, too.

The index is docs/theory/equations.md: a section for each paper, with the key in its heading and a table
    | equation | states | here | file | function |
Every file must exist and define every function named beside it (several: `a`, `b`), and the function, with
the comment above it, or else another comment of the file, must cite the equation.  A range of more than MOST numbers in one
citation does not count: it leads nowhere.  A row without a file says why.  A comment "all: 1-77" in a section
requires that its table has these numbers.
Exit status: 0 all is well, 1 with one line per fault.
"""
import os
import re
import sys

KEY = r"[a-z]{3,}(?:19|20)\d\d[a-z]?"
CITATION = re.compile(r"\[(%s)(?=[\],])|\"(%s)\"" % (KEY, KEY))
BRACKET = re.compile(r"\[(%s\b[^\]]*)\]" % KEY)
NUMBERS = re.compile(r"\((\d+)\)(?:\s*(?:-|–|to)\s*\((\d+)\))?")
COMMENT = re.compile(r"//([^\n]*)|/\*(.*?)\*/|\"(?:\\.|[^\"\\\n])*\"", re.S)
INDEX = "docs/theory/equations.md"
MOST = 12


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def check_keys(root):
    """Citations whose key is not in docs/references.bib."""
    known = set(re.findall(r"^@\w+\{(\w+),", read(os.path.join(root, "docs/references.bib")), re.M))
    cited, faults = 0, []
    for top in ("include", "src", "docs", "tests"):
        for where, _, names in sorted(os.walk(os.path.join(root, top))):
            for name in sorted(names):
                if not name.endswith((".c", ".h", ".inl", ".def", ".md")):
                    continue
                path = os.path.join(where, name)
                for number, line in enumerate(read(path).split("\n"), 1):
                    keys = [match.group(1) or match.group(2) for match in CITATION.finditer(line)]
                    for bracket in BRACKET.findall(line):
                        keys += [key for key in re.findall(r";\s*(%s)\b" % KEY, bracket)]
                    cited += len(keys)
                    faults += ["%s:%d: %s is not in docs/references.bib" % (os.path.relpath(path, root), number, key)
                               for key in keys if key not in known]
    return cited, faults


def numbers(text, limit=None):
    """The equations that a text names: (3), (5)-(7)."""
    found = set()
    for first, last in NUMBERS.findall(text):
        low, high = int(first), int(last or first)
        if limit is None or high - low < limit:
            found.update(range(low, high + 1))
    return found


def comments(text):
    """All comments of a source text, line ends as blanks so that a citation may go over a line end."""
    return "\n".join(re.sub(r"\n\s*(?://|\*)?", " ", match.group(1) or match.group(2))
                     for match in COMMENT.finditer(text) if match.group(1) or match.group(2))


def cited(text, key, own):
    """Equations of the work `key` that the comments of a text cite; own: bare numbers are of this work."""
    prose, found = comments(text).replace("\n", " "), set()
    for bracket in BRACKET.findall(prose):
        for piece in bracket.split(";"):
            if piece.strip().startswith(key):
                found |= numbers(piece, MOST)
    if own:
        found |= numbers(BRACKET.sub(" ", prose), MOST)
    return found


def function_text(text, name):
    """The definition of a function or type with the comment above it; None: there is none."""
    lines = text.split("\n")
    for at, line in enumerate(lines):
        if not re.match(r"[A-Za-z#}]", line) or not re.search(r"\b%s\b(?=[ )]*[({,;])" % re.escape(name), line):
            continue
        if line.endswith(";") and not line.startswith("}"):
            continue
        first = last = at
        if line.startswith("}"):  # typedef struct ... { } name;
            while first > 0 and not lines[first].startswith("typedef"):
                first -= 1
        else:
            while last + 1 < len(lines) and not lines[last].startswith(("}", ")")) and lines[last].strip():
                if lines[last].endswith(");") and not lines[last].startswith(" "):
                    break
                last += 1
            while last + 1 < len(lines) and not lines[last].startswith("}") and "{" in "".join(lines[at:last + 1]):
                last += 1
        while first > 0 and re.match(r"//|/\*| \*", lines[first - 1]):
            first -= 1
        return "\n".join(lines[first:last + 1])
    return None


def check_row(root, key, number, cells):
    """Faults of one row of the index."""
    if len(cells) != 5:
        return ["%s:%d: a row has 5 columns, not %d" % (INDEX, number, len(cells))]
    wanted, path, names = numbers(cells[0]), cells[3].strip("` "), re.findall(r"`([^`]+)`", cells[4])
    if not wanted:
        return ["%s:%d: '%s' is no equation" % (INDEX, number, cells[0])]
    if path in ("", "-"):
        return [] if cells[1] else ["%s:%d: says neither where nor why not" % (INDEX, number)]
    if not os.path.isfile(os.path.join(root, path)):
        return ["%s:%d: there is no file %s" % (INDEX, number, path)]
    if not names:
        return ["%s:%d: names no function" % (INDEX, number)]
    text, faults, here = read(os.path.join(root, path)), [], set()
    own = re.search(r"those\s+(?://\s*)?of\s+(?://\s*)?\[%s\]" % key, text) is not None
    for name in names:
        function = function_text(text, name)
        if function is None:
            faults.append("%s:%d: %s defines no %s" % (INDEX, number, path, name))
        else:
            here |= cited(function, key, own)
    missing = wanted - here - cited(text, key, own)
    if missing:
        faults.append("%s:%d: no comment of %s cites %s of %s"
                      % (INDEX, number, path, ", ".join("(%d)" % n for n in sorted(missing)), key))
    return faults


def check_index(root):
    """Rows of the index of equations."""
    rows, faults, key, have, need = 0, [], None, set(), set()

    def end():
        missing = need - have
        if missing:
            faults.append("%s: of %s missing: %s" % (INDEX, key, ", ".join("(%d)" % n for n in sorted(missing))))
    for number, line in enumerate(read(os.path.join(root, INDEX)).split("\n"), 1):
        if line.startswith("## "):
            end()
            match = re.search(r"\[(%s)\]" % KEY, line)
            key, have, need = match and match.group(1), set(), set()
        for low, high in re.findall(r"<!-- all: (\d+)-(\d+) -->", line):
            need = set(range(int(low), int(high) + 1))
        if not key or not re.match(r"\|\s*\(", line):
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        rows += 1
        have |= numbers(cells[0])
        faults += check_row(root, key, number, cells)
    end()
    return rows, faults


def find(root, key, number):
    """Prints the rows of one equation with the lines of their functions; exit status 1: there is none."""
    inside, found = False, False
    for line in read(os.path.join(root, INDEX)).split("\n"):
        if line.startswith("## "):
            inside = "[%s]" % key in line
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not inside or not re.match(r"\|\s*\(", line) or number not in numbers(cells[0]):
            continue
        found = True
        path = cells[3].strip("` ")
        if path in ("", "-"):
            print("(%d): not evaluated: %s" % (number, cells[1]))
            continue
        text = read(os.path.join(root, path))
        for name in re.findall(r"`([^`]+)`", cells[4]):
            at = text.find(function_text(text, name) or "")
            print("%s:%d: %s: %s" % (path, text.count("\n", 0, at) + 1, name, cells[1]))
    return 0 if found else 1


def main():
    if sys.argv[1:2] == ["--find"] and len(sys.argv) == 4:
        return find(os.path.join(os.path.dirname(__file__), ".."), sys.argv[2], int(sys.argv[3]))
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "..")
    count, faults = check_keys(root)
    rows, more = check_index(root)
    for fault in faults + more:
        print(fault)
    print("%d citations, %d unknown; %d rows of equations, %d faults" % (count, len(faults), rows, len(more)))
    return 1 if faults or more else 0


if __name__ == "__main__":
    sys.exit(main())
