#!/usr/bin/env python3
"""The generated page of the model file has every key, its generator refuses what is new, and scripts are executable.

usage: test_references.py LINKWORK SOURCES
"""
import json
import os
import re
import subprocess
import sys
import tempfile

PROGRAM, SOURCES = (os.path.abspath(a) for a in sys.argv[1:3])


def tool(name, *arguments, text=None):
    return subprocess.run([sys.executable, os.path.join(SOURCES, "tools", name)] + list(arguments), input=text,
                          text=True, capture_output=True, check=False)


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


def test_a_new_keyword_is_reported(_):
    schema = json.loads(subprocess.run([PROGRAM, "schema"], check=True, capture_output=True).stdout)
    schema["properties"]["gravity"]["contains"] = {}
    done = tool("format_reference.py", text=json.dumps(schema))
    assert done.returncode == 1 and "schema.gravity: keyword 'contains'" in done.stderr, done.stderr


def test_scripts_are_executable(_):
    """Pages name them as commands."""
    scripts, faults = 0, []
    for top in ("bench", "bindings", "examples", "tests", "tools"):
        for where, _, names in os.walk(os.path.join(SOURCES, top)):
            for path in (os.path.join(where, name) for name in names):
                with open(path, "rb") as file:
                    if file.read(2) == b"#!":
                        scripts += 1
                        if not os.access(path, os.X_OK):
                            faults.append(os.path.relpath(path, SOURCES))
    assert scripts and not faults, faults
    print("%d scripts" % scripts)


def main():
    for name, test in sorted(globals().items()):
        if name.startswith("test_"):
            with tempfile.TemporaryDirectory() as folder:
                test(folder)
            print("%s: passed" % name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
