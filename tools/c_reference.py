#!/usr/bin/env python3
"""Writes the pages of the C API, one per public header, from the headers as libclang reads them.

usage: c_reference.py [--headers include/linkwork] -o FOLDER

A page has the sections of its header (`// ---- name`), macros, types with their members and enumerators, and functions,
each with the /** */ comment before it or the ///< behind.  Functions and types that follow without an empty line share
a comment.  An enumerator of an X-macro list has the strings of its row.
Exit status: 0 written, 1 not (with file and line), 77 the Python package libclang is missing.
"""
import argparse
import os
import re
import subprocess
import sys

try:
    from clang.cindex import CursorKind, Index, TokenKind, TranslationUnit, TypeKind
except ImportError:
    print("c_reference: SKIPPED, the C API is NOT written: pip install libclang", file=sys.stderr)
    sys.exit(77)

ORDER = ["base", "spatial", "model", "io", "simulate", "result", "dynamics", "assemble", "batch",
         "codegen", "compiled", "device", "plot", "view"]
SECTION = re.compile(r"// -{10,} (.+)")
INTERNAL = re.compile(r"\w+_H|LW_API|LW_PRINTF|X") # macros that are not for the caller
KINDS = {CursorKind.FUNCTION_DECL: "function", CursorKind.STRUCT_DECL: "struct", CursorKind.ENUM_DECL: "enum",
         CursorKind.TYPEDEF_DECL: "type", CursorKind.MACRO_DEFINITION: "macro"}


def system_folders():
    """Where the compiler of this machine finds its headers."""
    shown = subprocess.run([os.environ.get("CC", "cc"), "-E", "-v", "-xc", os.devnull], check=True, text=True,
                           capture_output=True).stderr
    return re.findall(r"^ (/\S+)$", shown, re.M)


def comment_lines(text):
    """Lines of a /** */ comment without its frame."""
    body = text[3:].rsplit("*/", 1)[0]
    return [re.sub(r"^\s*\* ?", "", line).rstrip() if n else line.strip()
            for n, line in enumerate(body.split("\n"))]


class Header:
    """A header: its declarations in order, and its comments by line."""

    def __init__(self, path, folders):
        self.path = path
        with open(path, "rb") as file:
            self.source = file.read()
        root = os.path.dirname(os.path.dirname(os.path.abspath(path)))
        arguments = ["-xc", "-std=c17", "-I" + root] + [a for f in folders for a in ("-isystem", f)]
        self.unit = Index.create().parse(path, arguments,
                                         options=TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD)
        for d in self.unit.diagnostics:
            if d.severity >= d.Error:
                raise ValueError("%s:%d: %s" % (d.location.file, d.location.line, d.spelling))
        self.read_comments()
        self.cursors = sorted((c for c in self.unit.cursor.get_children()
                               if c.location.file and c.location.file.name == path), key=lambda c: c.extent.start.offset)

    def read_comments(self):
        self.summary, self.sections = [], []
        self.doc, self.remark, self.note = {}, {}, {} # last line of /** */, line of ///<, line of // alone
        last = 0 # line of the remark that may continue
        for token in self.unit.get_tokens(extent=self.unit.cursor.extent):
            if token.kind != TokenKind.COMMENT:
                continue
            text, line = token.spelling, token.extent.start.line
            alone = not self.source[:token.extent.start.offset].rpartition(b"\n")[2].strip()
            if line == len(self.summary) + 1 and text.startswith("//"):
                self.summary.append(text[2:].strip())
            elif SECTION.match(text):
                self.sections.append((line, SECTION.match(text).group(1)))
            elif text.startswith("///<") and alone and last == line - 1:
                first = next(k for k in range(last, 0, -1) if k in self.remark)
                self.remark[first] += " " + text[4:].strip()
                last = line
            elif text.startswith("///<"):
                self.remark[line] = text[4:].strip()
                last = line
            elif text.startswith("/**"):
                self.doc[token.extent.end.line] = comment_lines(text)
            elif alone:
                self.note[line] = text[2:].strip()

    def slice(self, extent):
        return re.sub(r"\s+", " ", self.source[extent.start.offset:extent.end.offset].decode())

    def comment(self, first, last):
        """Lines about what is declared on lines first to last: before it, and behind it."""
        remark = self.remark.get(last)
        return self.doc.get(first - 1, []) + ([remark] if remark else [])


# ------------------------------------------------------------------------------------------- declarations

def declare(header, cursor, kind, name):
    """`double name[3]` of a field's type."""
    if kind.kind == TypeKind.CONSTANTARRAY:
        return declare(header, cursor, kind.element_type, "%s[%d]" % (name, kind.element_count))
    if "(*)(" in kind.spelling: # to a function: the names of its arguments are in the source only
        return header.slice(cursor.extent)
    if "(*)" in kind.spelling:
        return kind.spelling.replace("(*)", "(*%s)" % name)
    return kind.spelling + ("" if kind.spelling.endswith("*") else " ") + name


def prototype(header, cursor):
    arguments = [header.slice(a.extent) for a in cursor.get_arguments()]
    if cursor.type.is_function_variadic():
        arguments.append("...")
    result = cursor.result_type.spelling
    return "%s%s%s(%s)" % (result, "" if result.endswith("*") else " ", cursor.spelling, ", ".join(arguments) or "void")


def rows_of(macro):
    """{NAME: remark} of a macro X(NAME, ...) X(NAME, ...): the strings of each row, and the comment after it."""
    rows, name, depth = {}, None, 0
    tokens = list(macro.get_tokens())
    for before, token in zip(tokens, tokens[1:]):
        text = token.spelling
        depth += (text == "(") - (text == ")")
        if before.spelling == "(" and depth == 1 and token.kind == TokenKind.IDENTIFIER:
            name = text
            rows[name] = []
        elif name and token.kind == TokenKind.LITERAL and text.startswith('"'):
            if before.kind == TokenKind.LITERAL and before.spelling.startswith('"'):
                rows[name][-1] += text[1:-1] # a string in two parts
            else:
                rows[name].append(text[1:-1])
        elif name and token.kind == TokenKind.COMMENT and depth == 0:
            rows[name].append(text[2:-2].strip())
    return {key: ": ".join((["`%s`" % parts[0]] if parts[1:] else parts[:1]) + parts[1:])
            for key, parts in rows.items() if parts}


class Item:
    """Declarations that share one comment."""

    def __init__(self, kind, name, signature, comment):
        self.kind, self.names, self.signatures, self.comment = kind, [name], [signature], comment
        self.source, self.parts, self.note = "", [], []


def members(header, struct):
    """Fields, those of one declaration together, and remarks that are alone on their lines."""
    parts, last = [], None
    for field in struct.get_children():
        if field.kind != CursorKind.FIELD_DECL:
            continue
        first, end = field.extent.start, field.extent.end.line
        signature = declare(header, field, field.type, field.spelling)
        if last == first.offset:
            parts[-1].names.append(field.spelling)
            parts[-1].signatures.append(signature)
            parts[-1].comment = header.comment(first.line, end)
            continue
        notes = []
        while first.line - 1 - len(notes) in header.note:
            notes.insert(0, header.note[first.line - 1 - len(notes)])
        parts.append(Item("member", field.spelling, signature, header.comment(first.line, end)))
        parts[-1].note = notes # about this field and the next ones
        last = first.offset
    return parts


def enumerators(header, enum, lists):
    """Enumerators, with the remarks of their rows if they come from a list; values unless they are 0, 1, 2, ..."""
    parts, rows = [], {}
    for name in lists:
        if re.search(r"\b%s\b" % name, header.slice(enum.extent)):
            rows.update(lists[name])
    values = list(enum.get_children())
    counted = [v.enum_value for v in values] == list(range(len(values)))
    for value in values:
        name = value.spelling
        keys = [key for key in rows if name.endswith("_" + key)]
        comment = [rows[max(keys, key=len)]] if keys else \
            header.comment(value.extent.start.line, value.extent.end.line) if not rows else []
        parts.append(Item("enumerator", name, name if counted else "%s = %d" % (name, value.enum_value), comment))
    return parts


def items_of(header):
    """[(section, [Item])] of a header."""
    sections = [(0, None, [])] + [(line, title, []) for line, title in header.sections]
    lists, last, last_line = {}, None, 0
    defined = {c.spelling for c in header.cursors if c.is_definition()
               and c.kind in (CursorKind.STRUCT_DECL, CursorKind.ENUM_DECL)}
    for cursor in header.cursors:
        first, end = cursor.extent.start.line, cursor.extent.end.line
        kind, name = KINDS.get(cursor.kind), cursor.spelling
        if not kind:
            if cursor.kind in (CursorKind.INCLUSION_DIRECTIVE, CursorKind.MACRO_INSTANTIATION):
                continue
            raise ValueError("%s:%d: not understood: %s" % (header.path, first, header.slice(cursor.extent)))
        if kind == "macro":
            if INTERNAL.fullmatch(name):
                continue
            lists[name] = rows_of(cursor)
        elif kind in ("struct", "enum") and not cursor.is_definition():
            continue # typedef struct a a: the type follows
        elif kind == "type" and name in defined:
            continue # typedef struct a {...} a
        signature = prototype(header, cursor) if kind == "function" else name
        if kind == "enum" and cursor.is_anonymous():
            kind, signature = "constants", ""
        comment = header.comment(first, end)
        joins = last and kind in ("function", "type") and last.kind == kind and last_line == first - 1 and not comment
        if joins:
            last.names.append(name)
            last.signatures.append(signature)
        else:
            last = Item(kind, name, signature, comment)
            next(s for s in reversed(sections) if s[0] < first)[2].append(last)
        last_line = 0 if end in header.remark else end
        if kind == "struct":
            last.parts = members(header, cursor)
        elif kind in ("enum", "constants"):
            last.parts = enumerators(header, cursor, lists)
        elif kind == "macro" or (kind == "type" and "(*" in header.slice(cursor.extent)):
            define = "#define " if kind == "macro" else ""
            last.source = define + header.source[cursor.extent.start.offset:cursor.extent.end.offset].decode()
    return [(title, items) for _, title, items in sections]


# ------------------------------------------------------------------------------------------------- pages

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


def directive(item, indent):
    """An item as Sphinx's C domain has it, its parts within."""
    if item.kind == "constants":
        return [line for part in item.parts for line in directive(part, indent)]
    out = [indent + escape(" ".join(item.note)), ""] if item.note else []
    head = "%s.. c:%s:: " % (indent, item.kind)
    out += [(head if n == 0 else " " * len(head)) + s for n, s in enumerate(item.signatures)]
    out += [""] + prose(item.comment, indent + "   ")
    if item.source:
        out += [indent + "   .. code-block:: c", ""]
        out += [(indent + "      " + line).rstrip() for line in item.source.split("\n")] + [""]
    for part in item.parts:
        out += directive(part, indent + "   ")
    return out


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
            out += directive(item, "")
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
    functions, folders = 0, system_folders()
    for name in names:
        try:
            header = Header(os.path.join(arguments.headers, name + ".h"), folders)
            sections = items_of(header)
        except ValueError as error:
            print("c_reference: %s" % error, file=sys.stderr)
            return 1
        functions += sum(len(i.names) for _, items in sections for i in items if i.kind == "function")
        with open(os.path.join(arguments.output, name + ".rst"), "w", encoding="utf-8") as file:
            file.write(page(name, header.summary, sections))
        index.append("   " + name)
    with open(os.path.join(arguments.output, "index.rst"), "w", encoding="utf-8") as file:
        file.write("\n".join(index) + "\n")
    print("%d headers, %d functions" % (len(names), functions))
    return 0


if __name__ == "__main__":
    sys.exit(main())
