#!/usr/bin/env python3
"""Writes the pages of the C API, one per public header, from the headers and their comments.

usage: c_reference.py [--headers include/linkwork] -o FOLDER

A page has the sections of its header (`// ---- name`), functions with the /** */ comment before them or
the ///< behind, structures, enumerations and lists as they stand in the header.  Functions that follow a
comment without an empty line share it.  A declaration that is not understood ends the program with its
place: nothing public can be missing.  Exit status: 0 written, 1 not.
"""
import argparse
import os
import re
import sys

ORDER = ["base", "spatial", "model", "io", "simulate", "result", "dynamics", "assemble", "batch",
         "codegen", "plot", "view"]
SECTION = re.compile(r"// -{10,} (.+)")
SKIPPED = re.compile(r"#(include|if|ifdef|ifndef|else|elif|endif|undef)\b|extern \"C\" \{|\}$|#define X\(")


class Item:
    """Declarations that share one comment."""

    def __init__(self, kind, comment):
        self.kind, self.comment = kind, comment
        self.names, self.signatures, self.source = [], [], ""


def blocks(lines):
    """(first line, text of whole preprocessor lines, comments, declarations), in order."""
    at = 0
    while at < len(lines):
        first, line = at, lines[at]
        at += 1
        bare = line.strip()
        if bare.startswith("/**"):
            while "*/" not in lines[at - 1]:
                at += 1
        elif bare.startswith("#"):
            while lines[at - 1].endswith("\\"):
                at += 1
        elif bare and not bare.startswith("//") and not SKIPPED.match(bare):
            depth = 0
            while True:
                code = re.sub(r"//.*|/\*.*?\*/", "", lines[at - 1])
                depth += code.count("{") - code.count("}") + code.count("(") - code.count(")")
                if depth <= 0 and code.rstrip().endswith(";"):
                    break
                if at == len(lines):
                    raise ValueError("line %d: no end of '%s'" % (first + 1, bare))
                at += 1
        while at < len(lines) and "///<" in lines[at - 1] and lines[at].strip().startswith("///<"):
            at += 1 # a remark that goes on
        yield first, "\n".join(lines[first:at])


def comment_text(block):
    """Lines of a comment without its frame."""
    body = block.strip()[3:].rsplit("*/", 1)[0]
    return [re.sub(r"^\s*\* ?", "", line).rstrip() if n else line.strip()
            for n, line in enumerate(body.split("\n"))]


def kind_of(code):
    """(kind, name) of a declaration without comments, or None."""
    for kind, pattern in (
            ("macro", r"#define (\w+)"),
            ("function", r"LW_API [^(;]*?\b(lw_\w+)\("),
            ("struct", r"typedef struct (\w+) \{"),
            ("enum", r"typedef enum (\w+) \{"),
            ("type", r"typedef (?:struct|enum) \w+ (\w+);"),
            ("type", r"typedef [^;{]*\(\*(\w+)\)\("),
            ("constants", r"enum \{.*?(\w+)(?: = \w+)? \};")):
        match = re.match(pattern, code)
        if match:
            return kind, match.group(1)
    return None


def signature(code):
    text = re.sub(r"LW_PRINTF\([^)]*\)|LW_API ", "", code.split(";")[0])
    return re.sub(r"\s+", " ", text).strip()


def read(path):
    """(summary lines, [(section, [Item])]) of a header."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    summary = []
    for line in lines:
        if not line.startswith("//"):
            break
        summary.append(line[2:].strip())
    sections, comment, last = [(None, [])], None, None
    for first, block in blocks(lines[len(summary):]):
        where = "%s:%d" % (path, first + 1 + len(summary))
        bare = block.strip()
        match = SECTION.match(bare)
        if match:
            sections.append((match.group(1), []))
        if not bare or match or bare.startswith("//"):
            comment, last = None, None
            continue
        if bare.startswith("/**"):
            comment = comment_text(block)
            continue
        if SKIPPED.match(bare) or re.match(r"#define (\w+_H|LW_API|LW_PRINTF)\b", bare):
            continue
        remark = " ".join(r.strip() for r in re.findall(r"///<(.*)", block))
        code = "\n".join(re.sub(r"\s*//.*", "", line) for line in block.split("\n")).strip()
        found = kind_of(code)
        if not found:
            raise ValueError("%s: not understood: %s" % (where, bare.split("\n")[0]))
        kind, name = found
        alone = kind not in ("function", "type")
        if alone or comment or remark or not last or last.kind != kind:
            last = Item(kind, comment or ([remark] if remark and not alone else []))
            if comment and remark and not alone:
                last.comment = comment + [remark]
            sections[-1][1].append(last)
        last.names.append(name)
        last.signatures.append(signature(code) if kind == "function" else name)
        last.source = block if alone else ""
        if kind == "type" and "(*" in code:
            last.source = block
        if remark:
            last = None # it tells of this line only
        comment = None
    return summary, sections


def escape(text):
    """Plain text, with code in backquotes, as reStructuredText."""
    parts = text.split("`")
    return "".join("``%s``" % part if k % 2 and k < len(parts) - 1 and part.strip() == part and part
                   else re.sub(r"([\\*_|`<>])", r"\\\1", part) for k, part in enumerate(parts))


def prose(lines, indent):
    """Paragraphs, formulas (indented lines) and @fields of a comment."""
    fields, out, formula = [], [], False
    for line in lines:
        pieces = re.split(r"\s*(?=@(?:param|return|cost)\b)", line)
        for n, piece in enumerate(pieces):
            match = re.match(r"@(param|return|cost)\s*(.*)", piece.strip())
            if match:
                fields.append([match.group(1), match.group(2)])
            elif fields and piece.strip():
                fields[-1][1] += " " + piece.strip()
            elif not fields and (n == 0 or piece):
                deep = len(piece) - len(piece.lstrip()) >= 4 and piece.strip()
                if deep and not formula:
                    out += ["", "::", ""]
                if formula and not deep:
                    out.append("")
                out.append(("    " + piece.strip()) if deep else escape(piece.strip()))
                formula = bool(deep)
    out.append("")
    for key, text in fields:
        match = re.match(r"([\w ,]*\w)(?:\s{2,}|\s+(?=\[))(.*)", text) if key == "param" else None
        parts = match.groups() if match else ["", text]
        head = {"param": "*%s*: " % escape(parts[0]) if parts[0] else "", "return": "Returns ",
                "cost": "Cost: "}[key]
        out.append("* " + head + escape(re.sub(r"\s+", " ", parts[1]).strip().rstrip(";")))
    return [(indent + line).rstrip() for line in out] + [""]


def heading(text, mark):
    return [text, mark * len(text), ""]


def page(name, summary, sections):
    first = re.sub(r"^\S+ -- ", "", summary[0])
    first = first[0].upper() + first[1:]
    out = [".. generated by tools/c_reference.py from include/linkwork/%s.h" % name, ""]
    out += heading("linkwork/%s.h" % name, "=") + [escape(first)]
    out += [escape(line) for line in summary[1:]] + [""]
    for title, items in sections:
        if title and items:
            out += heading(title[0].upper() + title[1:], "-")
        for item in items:
            directive = {"constants": "macro"}.get(item.kind, item.kind)
            head = ".. c:%s:: " % directive
            out += [(head if n == 0 else " " * len(head)) + s for n, s in enumerate(item.signatures)]
            out += [""] + prose(item.comment, "   ")
            if item.source:
                out += ["   .. code-block:: c", ""]
                out += [("      " + line).rstrip() for line in item.source.split("\n")] + [""]
    return "\n".join(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    here = os.path.dirname(os.path.abspath(__file__))
    parser.add_argument("--headers", default=os.path.join(here, "../include/linkwork"))
    parser.add_argument("-o", "--output", required=True)
    arguments = parser.parse_args()
    found = sorted(n[:-2] for n in os.listdir(arguments.headers) if n.endswith(".h") and n != "linkwork.h")
    names = [n for n in ORDER if n in found] + [n for n in found if n not in ORDER]
    os.makedirs(arguments.output, exist_ok=True)
    index = heading("C API", "=") + [
        "``#include <linkwork/linkwork.h>`` includes all of these. Every call that can fail returns a "
        ":c:enum:`lw_status`; the library never prints, exits or keeps hidden state.", "",
        ".. toctree::", "   :maxdepth: 2", ""]
    functions = 0
    for name in names:
        path = os.path.join(arguments.headers, name + ".h")
        try:
            summary, sections = read(path)
        except ValueError as error:
            print("c_reference: %s" % error, file=sys.stderr)
            return 1
        functions += sum(len(i.names) for _, items in sections for i in items if i.kind == "function")
        with open(os.path.join(arguments.output, name + ".rst"), "w", encoding="utf-8") as file:
            file.write(page(name, summary, sections))
        index.append("   " + name)
    with open(os.path.join(arguments.output, "index.rst"), "w", encoding="utf-8") as file:
        file.write("\n".join(index) + "\n")
    print("%d headers, %d functions" % (len(names), functions))
    return 0


if __name__ == "__main__":
    sys.exit(main())
