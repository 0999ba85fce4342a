#!/usr/bin/env python3
"""The JSON Schema and the program accept the same model files.

usage: test_schema.py PROGRAM SOURCES [STRIDE]

The example of docs/model-file.md with every key, and every option of a run, are changed one place at a time: values of
other kinds and signs, unknown keys, keys left out, wrong words; every STRIDE-th of some 4000 changes (17).  What the
schema refuses the program must refuse.  What the program refuses the schema must refuse too, except for relations
between several values (names that are referred to, bodies that do not close, ranges of physical values), with listed
messages.  Exit status 77 without the Python modules jsonschema and yaml.
"""
import collections
import copy
import json
import os
import re
import subprocess
import sys
import tempfile

try:
    import jsonschema
    import yaml
except ImportError as missing:
    print(f"SKIPPED: schema and program are NOT compared: {missing} (tools/install-deps)")
    sys.exit(77)

# What the schema leaves to the checks of the model: relations of values, names that are referred to, formulas, and
# ranges of physical values.
RELATIONS = re.compile(
    r"there is no (body|joint|function|input)|unknown name|expected as many|model has no bodies|triangle inequality|"
    r"is indefinite|expected a number >=? 0|unit quaternion|zero vector|floats and has no|have no inertia|"
    r": qd?: expected a list|stiffness > 0|(six )?numbers >= 0|one of both|expected after its start|of the table is|"
    r"meet at|does not close|do not close|is given as|its own|'between'|same body|no moving|massless|has length 0|"
    r"polynomial|already|not perpendicular|coplanar|with itself|must differ|is on body|has no mass|"
    r"on what it acts is missing|needs axis2|expected >= 0")
OPTIONS = {
    "duration": ("1", "0", "-1", "x", "'1'", "[1]"), "step": ("0", "0.1", "-1"), "rtol": ("1e-14", "1e-15", "0", "1", "0.5"),
    "atol": ("1e-100", "1e-101", "0", "3"), "atol_p": ("0", "1e-200", "1e-99", "-1"),
    "state": ("auto", "speeds", "momenta", "steps", "1"), "kappa": ("auto", "none", "2", "0", "-1", "always"),
    "sample": ("steps", "0.5", "0", "-1", "none"), "sample_mode": ("stop", "interpolate", "never"),
    "baumgarte": ("'1,2'", "1", "none"), "project": ("auto", "never", "always", "stop"),
    "plan": ("auto", "comb", "balanced", "mixed", "pass"), "threads": ("0", "1", "256", "257", "1.5", "-1", "two"),
    "max_steps": ("0", "7", "1.5", "-1", "1e15", "2e15"), "pace": ("0", "1", "-1"),
    "formulation": ("auto", "aba", "rk4", "foo"), "integrator": ("auto", "rk4", "aba", "foo"), "nonsense": ("1",),
}
CHANGES = (-1, 0, 1.5, "word", [1], {}, {"nonsense": 1}, [], [1, 2, 3, 4, 5, 6, 7])


def places(part, path=()):
    """Every place of a document but its options, a path of keys."""
    yield path
    inside = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    for key, value in inside:
        if path or key != "simulation":
            yield from places(value, path + (key,))


def changed(document, path, change):
    """What is changed, and a document that differs from it at one place: another value, none, another key."""
    part = new = copy.deepcopy(document)
    for key in path[:-1]:
        part = part[key]
    place = ".".join(map(str, path))
    if change < len(CHANGES):
        part[path[-1]] = CHANGES[change]
        return f"{place}: {CHANGES[change]}", new
    old = part.pop(path[-1])
    if change > len(CHANGES) and isinstance(part, dict):
        part["nonsense"] = old
        return f"nonsense for {place}", new
    return f"no {place}", new


class Comparison:
    def __init__(self, program, folder):
        self.program, self.path = program, os.path.join(folder, "model.yaml")
        schema = json.loads(self.call("schema").stdout)
        jsonschema.Draft202012Validator.check_schema(schema)
        self.validator = jsonschema.Draft202012Validator(schema)
        self.counts, self.faults = collections.Counter(), []

    def call(self, *arguments):
        return subprocess.run([self.program, *arguments], capture_output=True, text=True, check=False)

    def compare(self, what, text, document):
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(text)
        done = self.call("convert", self.path, "-o", self.path + ".out.yaml")
        by_program, by_schema = done.returncode == 0, self.validator.is_valid(document)
        self.counts[by_program, by_schema] += 1
        if by_program == by_schema or (by_schema and RELATIONS.search(done.stderr)):
            return
        self.faults.append(f"{what}: the program {'accepts' if by_program else 'refuses'} it, the schema "
                           f"{'accepts' if by_schema else 'refuses'} it: {done.stderr.strip()[:300]}")


def main():
    program, sources = os.path.abspath(sys.argv[1]), sys.argv[2]
    stride = int(sys.argv[3]) if len(sys.argv) > 3 else 17
    with open(os.path.join(sources, "docs/model-file.md"), encoding="utf-8") as file:
        example = re.search(r"^```yaml\n(.*?)^```", file.read(), re.S | re.M).group(1)
    loader = yaml.SafeLoader  # numbers as in JSON: 1e5 too
    loader.add_implicit_resolver("tag:yaml.org,2002:float", re.compile(r"^-?\d+(\.\d+)?[eE][-+]?\d+$"), list("-0123456789"))
    document = yaml.load(example, loader)
    with tempfile.TemporaryDirectory() as folder:
        comparison = Comparison(program, folder)
        comparison.compare("the example", example, document)
        small = "linkwork: 1\nbodies: {a: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}}\n"
        for key, values in OPTIONS.items():
            for name in dict.fromkeys((key, key.replace("_", "-"))):
                for value in values:
                    text = f"{small}simulation: {{{name}: {value}}}\n"
                    comparison.compare(f"{name}: {value}", text, yaml.load(text, loader))
        text = small + "simulation: {max_steps: 7, max-steps: 7}\n"
        comparison.compare("both forms", text, yaml.load(text, loader))
        number = 0
        for path in places(document):
            for change in range(len(CHANGES) + 2) if path else ():
                number += 1
                if number % stride == 0:
                    what, new = changed(document, path, change)
                    comparison.compare(what, json.dumps(new), new)
    counts = comparison.counts
    print(f"{sum(counts.values())} files: {counts[True, True]} accepted by both, {counts[False, False]} refused by both, "
          f"{counts[False, True]} refused for relations of values")
    for fault in comparison.faults[:40]:
        print(fault)
    print(f"{len(comparison.faults)} faults")
    return 1 if comparison.faults else 0


if __name__ == "__main__":
    sys.exit(main())
