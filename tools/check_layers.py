#!/usr/bin/env python3
"""Checks that includes point up the list of layers only.

usage: check_layers.py [ROOT]

A file of src/<layer>/ may include headers of its own layer and of those before it in LAYERS, and none of
its siblings.  A type of the library has one definition.  The program (cli) includes the public headers and its own only, which shows that the public API is
enough.  Public headers include public headers only.  Libraries of others stay where OUTSIDE says.
A C file that the build does not list is a fault too, and a test that reads files outside of the source tree.
Exit status: 0 clean, 1 with one line per fault.
"""
import os
import re
import sys

# Siblings stand in one entry: they must not include one another.
LAYERS = [("base",), ("spatial",), ("model",), ("kinematics",), ("tree", "elimination"), ("system", "loops"),
          ("methods/dca", "methods/rcr", "methods/index3", "methods/rattle", "methods/dense", "methods/lagrange"),
          ("dynamics",), ("initial",), ("integrate",), ("simulate",), ("batch",), ("io",),
          ("io/yaml", "io/urdf", "io/sdf", "io/mjcf", "io/result"), ("codegen",), ("compiled",), ("device",), ("store",), ("analysis",), ("plot",), ("view",), ("cli",)]
LEVEL = {layer: level for level, group in enumerate(LAYERS) for layer in group}
OUTSIDE = {"arkode": "integrate", "cvode": "integrate", "nvector": "integrate",
           "sundials": "integrate", "sunmatrix": "integrate", "sunlinsol": "integrate",
           "sunnonlinsol": "integrate", "yaml.h": "io", "expat.h": "io", "cairo-pdf.h": "plot",
           "hdf5.h": "io/result", "zlib.h": "view", "mpi.h": "cli"}
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')


def sources(folder):
    for where, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            if name.endswith((".c", ".h", ".inl", ".def")):
                yield os.path.join(where, name)


def includes(path):
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            match = INCLUDE.match(line)
            if match:
                yield number, match.group(1) == '"', match.group(2)


def layer_of(path):
    """The layer of a path below src/, or None."""
    parts = path.split("/")
    for count in (2, 1):
        layer = "/".join(parts[:count])
        if layer in LEVEL:
            return layer
    return None


def fault(layer, quoted, header):
    """Why a file of `layer` (None: a public header) may not include `header`, or None."""
    first = header.split("/")[0]
    other = layer_of(header)
    if not quoted:
        home = OUTSIDE.get(first)
        return "belongs to %s only" % home if home not in (None, layer) else None
    if layer is None:
        return "a public header may include <linkwork/...> only"
    if other is None:
        return 'is not written as "<layer>/..."'
    if layer == "cli" and first != "cli":
        return "the program may include <linkwork/...> only"
    if LEVEL[other] > LEVEL[layer]:
        return "%s is below %s" % (other, layer)
    if LEVEL[other] == LEVEL[layer] and other != layer:
        return "%s and %s are siblings" % (other, layer)
    return None


def unlisted(root):
    """C files of src and tests that no CMakeLists.txt names, alone or by `folder/*.c`."""
    for folder, lists, ending in (("src", "CMakeLists.txt", ".c"),
                                  ("tests", "tests/CMakeLists.txt", "")):
        with open(os.path.join(root, lists), encoding="utf-8") as file:
            listed = set(re.split(r"[\s()]+", file.read()))
        base = root if folder == "src" else os.path.join(root, folder)
        for path in sources(os.path.join(root, folder)):
            name = os.path.relpath(path, base)
            every = os.path.join(os.path.dirname(name), "*.c")
            if name.endswith(".c") and not {name, name[:-2] + ending, every} & listed:
                yield os.path.relpath(path, root), lists


TYPE = re.compile(r"^(?:typedef )?(?:struct|enum|union) (lwi?_\w+)\s*\{", re.MULTILINE)


def defined_twice(root):
    """Types with more than one definition in include/ and src/, with the files."""
    homes = {}
    for top in ("include", "src"):
        for path in sources(os.path.join(root, top)):
            with open(path, encoding="utf-8") as file:
                for name in TYPE.findall(file.read()):
                    homes.setdefault(name, []).append(os.path.relpath(path, root))
    return {name: where for name, where in homes.items() if len(where) > 1}


OUTSIDE_TREE = re.compile(r"\.\./shared|\bLW_SHARED|parents?\b.*/ \"shared\"")


def outside_the_tree(root):
    """Lines of tests, bindings, benches and examples that name a folder beside the checkout."""
    for top in ("tests", "bindings", "bench", "examples"):
        for where, _, names in sorted(os.walk(os.path.join(root, top))):
            for name in sorted(names):
                if name.endswith((".c", ".h", ".py", ".txt", ".cpp")):
                    path = os.path.join(where, name)
                    with open(path, encoding="utf-8") as file:
                        for number, line in enumerate(file, 1):
                            if OUTSIDE_TREE.search(line):
                                yield os.path.relpath(path, root), number


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "..")
    faults = files = 0
    for top in ("include", "src"):
        for path in sources(os.path.join(root, top)):
            files += 1
            shown = os.path.relpath(path, root)
            layer = layer_of(shown[len("src/"):]) if top == "src" else None
            if top == "src" and layer is None:
                print("%s: its folder is not a layer" % shown)
                faults += 1
                continue
            for number, quoted, header in includes(path):
                why = fault(layer, quoted, header)
                if why:
                    print("%s:%d: %s: %s" % (shown, number, header, why))
                    faults += 1
    for path, lists in unlisted(root):
        print("%s: not listed in %s" % (path, lists))
        faults += 1
    for name, where in sorted(defined_twice(root).items()):
        print("%s: defined in %s" % (name, ", ".join(where)))
        faults += 1
    for path, number in outside_the_tree(root):
        print("%s:%d: reads files outside of the source tree" % (path, number))
        faults += 1
    if not files:
        print("%s: no sources there" % root)
        return 1
    print("%d files, %d faults" % (files, faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
