#!/usr/bin/env python3
"""The table of result columns in docs/results.md, from `linkwork info --json`.

usage: columns_table.py PROGRAM [PAGE] [--write]

Without --write the page is compared with the table.  Exit status: 0 the same or written, 1 with the difference.
"""
import difflib
import json
import os
import subprocess
import sys

BEGIN, END = "<!-- columns: written by tools/columns_table.py -->", "<!-- end of columns -->"


def table(parts):
    lines = ["| columns | what | unit | frame | quantity |", "|---|---|---|---|---|"]
    for part in parts:
        lines.append("| `%s` | %s | %s | %s | `%s` |" % (
            part["name"], part["summary"], "; ".join(dict.fromkeys(part["unit"])), part["frame"], part["quantity"]))
    return "\n".join(lines)


def main():
    arguments = [a for a in sys.argv[1:] if a != "--write"]
    page = arguments[1] if len(arguments) > 1 else os.path.join(os.path.dirname(__file__), "../docs/results.md")
    info = json.loads(subprocess.run([arguments[0], "info", "--json"], check=True, capture_output=True,
                                     text=True).stdout)
    with open(page, encoding="utf-8") as file:
        old = file.read()
    before, _, rest = old.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        print("%s: the lines '%s' and '%s' are missing" % (page, BEGIN, END))
        return 1
    new = before + BEGIN + "\n\n" + table(info["columns"]) + "\n\n" + END + after
    if "--write" in sys.argv:
        with open(page, "w", encoding="utf-8") as file:
            file.write(new)
        return 0
    sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True), page, "as it should be"))
    return 0 if new == old else 1


if __name__ == "__main__":
    sys.exit(main())
