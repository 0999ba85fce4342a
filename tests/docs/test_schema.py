#!/usr/bin/env python3
"""The JSON Schema and the program accept the same model files.

usage: test_schema.py PROGRAM SOURCES [STRIDE]

The example of docs/model-file.md, a model of what is not in it, and every option of a run, are changed one place at a
time: values of other kinds and signs, unknown keys, keys left out, wrong words; every STRIDE-th of some 5000 changes (23).  What the
schema refuses the program must refuse.  What the program refuses the schema must refuse too, except for relations
between several values (names that are referred to, bodies that do not close, a speed that dry friction needs), with listed
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

# What the schema leaves to the checks of the model: relations of values, names that are referred to, formulas.
RELATIONS = re.compile(
    r"there is no (body|joint|function|input|point|column|marker|spring)|expected lower <= upper|is periodic|depends on itself|rows of|is a unit and a name|shapes have the mass|unknown name|expected as many|model has no bodies|triangle inequality|"
    r"before it|is indefinite|unit quaternion|zero vector|floats and has no|have no inertia|"
    r": qd?: expected a list|a speed > 0 at which|one of both|expected after its start|of the table is|"
    r"meet at|does not close|do not close|is given as|its own|'between'|same body|no moving|massless|has length 0|"
    r"polynomial|already|not perpendicular|coplanar|with itself|must differ|is on body|has no mass|"
    r"on what it acts is missing|needs axis2|as mode=real-time requires|"
    r"expected one between two points|path: |path\[|both path and slider_crank|"
    r"apart at the start|rotated by q|rotate about z|letters x, y, z|"
    r"(kappa: .always|sample: .none). is not a positive")
OPTIONS = {
    "duration": ("1", "0", "-1", "x", "'1'", "[1]"), "step": ("0", "0.1", "-1"), "rtol": ("1e-14", "1e-15", "0", "1", "0.5"),
    "atol": ("1e-100", "1e-101", "0", "3"), "atol_p": ("0", "1e-200", "1e-99", "-1"),
    "state": ("auto", "speeds", "momenta", "steps", "1"), "kappa": ("auto", "none", "2", "0", "-1", "always"),
    "independent": ("auto", "hinge", "''", "[hinge]"), "columns": ("auto", "'joint.*.f*, sys.E'", "''", "[sys.E]", "1"),
    "sample": ("steps", "0.5", "0", "-1", "none"), "sample_mode": ("stop", "interpolate", "never"),
    "baumgarte": ("'1,2'", "1", "none"), "project": ("auto", "never", "always", "stop"),
    "plan": ("auto", "comb", "balanced", "mixed", "pass"), "threads": ("0", "1", "256", "257", "1.5", "-1", "two"),
    "compiled": ("off", "on", "auto", "always", "1"),
    "max_steps": ("0", "7", "1.5", "-1", "1e15", "2e15"), "pace": ("0", "1", "-1"),
    "index3": ("auto", "7", "''", "'tangent=1'", "'tangent=1,newton=full'", "'tangnet=1'", "'tangent'", "'tangent=1,'", "{}",
               "{tangent: 1, newton: modified, penalty: 1e9}", "{tangent: '1'}", "{tangent: 3}", "{tangent: 1.5}",
               "{newton: half}", "{newton: 1}", "{tangnet: 1}", "{regularisation: 1}", "{regularisation: 1e-3}",
               "{iterations: 0}", "{iterations: 1001}", "{stop: q+lambda}", "{mode: real-time, control: error}", "[1]"),
    "formulation": ("auto", "aba", "rk4", "foo"), "integrator": ("auto", "rk4", "aba", "foo"), "nonsense": ("1",),
}
# What the example of the page does not have.
MORE = """
linkwork: 1
bodies:
  a: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}
  b: {mass: 0.5, inertia: [1, 1, 1, 0, 0, 0], position: [1, 0, 0]}
joints:
  hinge: {type: revolute, between: [ground, a], at: [0, 0, 0], rotor: {q0: 0.1}}
  rod: {type: distance, between: [a, b], point1: [0, 0, 0], point2: [0, 0, 0], length: 1}
forces:
  air: {type: drag, body: b, linear: 1, quadratic: 1, angular: 1, angular_quadratic: 1, flow: [1, 0, 0]}
  drive: {type: servo, joint: hinge, coordinate: q0, gear: 2, target: 0.1, rate: 1, kp: 1, kd: 2, effort_range: [-1, 1]}
  cord: {type: servo, of: [{joint: hinge, factor: 2}], gain: [1, 2, 3], bias: [1, 0, 0], target_range: [0, 1]}
  rope: {type: tendon, path: [{point: [0, 0, 1]}, {body: a, radius: 0.1, axis: [0, 1, 0], side: [0, 0, 2], side_body: b}, {body: b, point: [0.5, 0, 1]}, {pulley: 2}, {body: a}, {body: b}], stiffness: 1, length: 1, slack: 0.5, damping: 1, coulomb: 1, speed: 0.1, kp: 1}
  rod: {type: tendon, slider_crank: {crank: b, crank_point: [0, 0, 1], slider: a, slider_point: [0, 1, 0], axis: [1, 0, 0], rod: 2}, kd: 2}
  hit: {type: stop, between: [a, b], radius: 0.1, radius2: 0.1, stiffness: 1000, exponent: 1.5, dissipation: 0.1}
generate:
  chain: {n: 3, name: c, length: 1, mass: 2, radius: 0.1, seed: 7, joint: revolute, axes: xz}
  net: {n: 2, m: 2, name: n, q: [0.1, 0, 0], qd: [0, 0, 1]}
"""
CHANGES = (-1, 0, 0.5, 1.5, "word", [1], {}, {"nonsense": 1}, [], [1, 2, 3, 4, 5, 6, 7])


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
    stride = int(sys.argv[3]) if len(sys.argv) > 3 else 23
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
        more = yaml.load(MORE, loader)
        comparison.compare("the other model", MORE, more)
        number = 0
        for start, path in [(d, p) for d in (document, more) for p in places(d)]:
            for change in range(len(CHANGES) + 2) if path else ():
                number += 1
                if number % stride == 0:
                    what, new = changed(start, path, change)
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
