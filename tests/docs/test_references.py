#!/usr/bin/env python3
"""The generated pages have everything: functions of the library, keys of the file; and refuse what is new.

usage: test_references.py LINKWORK SOURCES [LIBRARY]
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAM, SOURCES = (os.path.abspath(a) for a in sys.argv[1:3])
LIBRARY = sys.argv[3] if len(sys.argv) > 3 else None


def tool(name, *arguments, text=None):
    return subprocess.run([sys.executable, os.path.join(SOURCES, "tools", name)] + list(arguments), input=text,
                          text=True, capture_output=True, check=False)


def exported():
    """Functions of the public headers; where the library can be asked, what it shows."""
    if LIBRARY and shutil.which("nm"):
        told = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], check=True, capture_output=True,
                              text=True).stdout
        return set(re.findall(r" T (lw_\w+)$", told, re.M))
    names = set()
    folder = os.path.join(SOURCES, "include/linkwork")
    for header in os.listdir(folder):
        with open(os.path.join(folder, header), encoding="utf-8") as file:
            names |= set(re.findall(r"LW_API [^;(]*?\b(lw_\w+)\(", file.read()))
    return names


def test_every_function_is_in_the_c_reference(folder):
    done = tool("c_reference.py", "-o", folder)
    assert done.returncode == 0, done.stderr
    pages = ""
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            pages += file.read()
    told = set(re.findall(r"^(?:\.\. c:function:: |\s{10,})[^(\n]*?\b(lw_\w+)\(", pages, re.M))
    assert told == exported(), "missing or too many: %s" % sorted(told ^ exported())
    assert "Returns LW\\_ERR\\_SINGULAR" in pages # fields of comments are there
    assert "64-byte alignment is not required" in pages # comments within structures are there
    print("%d functions" % len(told))


def test_what_is_not_understood_is_told(folder):
    headers = os.path.join(folder, "headers")
    os.makedirs(headers)
    with open(os.path.join(headers, "odd.h"), "w", encoding="utf-8") as file:
        file.write("// odd.h -- odd.\n\nextern int lw_odd[3];\n")
    done = tool("c_reference.py", "--headers", headers, "-o", folder)
    assert done.returncode == 1 and "odd.h:3: not understood" in done.stderr, done.stderr


def keys(part, names):
    """All keys of a schema."""
    if isinstance(part, dict):
        names |= set(part.get("properties", {})) if isinstance(part.get("properties"), dict) else set()
        for inside in part.values():
            keys(inside, names)
    elif isinstance(part, list):
        for inside in part:
            keys(inside, names)
    return names


def test_every_key_is_in_the_format_reference(_):
    schema = subprocess.run([PROGRAM, "schema"], check=True, capture_output=True, text=True).stdout
    done = tool("format_reference.py", text=schema)
    assert done.returncode == 0, done.stderr
    wanted = keys(json.loads(schema), set())
    missing = [key for key in wanted if "`%s`" % key not in done.stdout]
    assert not missing, missing
    for target in re.findall(r"\]\(#(part-[\w-]+)\)", done.stdout):
        assert "(%s)=" % target in done.stdout, target
    print("%d keys" % len(wanted))


def test_a_new_keyword_is_told(_):
    schema = json.loads(subprocess.run([PROGRAM, "schema"], check=True, capture_output=True).stdout)
    schema["properties"]["gravity"]["contains"] = {}
    done = tool("format_reference.py", text=json.dumps(schema))
    assert done.returncode == 1 and "schema.gravity: keyword 'contains'" in done.stderr, done.stderr


def main():
    for name, test in sorted(globals().items()):
        if name.startswith("test_"):
            with tempfile.TemporaryDirectory() as folder:
                test(folder)
            print("%s: passed" % name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
