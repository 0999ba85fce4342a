#!/usr/bin/env python3
"""Times of generated forward dynamics and of the library, and of compiling the code.

usage: codegen.py --program PROGRAM [--compiler CC] [--rounds N] [--json FILE]
       codegen.py --table FILE

For chains of rods (the cases `chain-N` of `linkwork bench`): one evaluation by the generated code and by `aba` of the
library, interleaved, minimum of the rounds (5), and the processor time of compiling everything that `linkwork codegen`
writes.  --table prints the table of docs/codegen.md from such a file.
"""
import json
import os
import re
import resource
import sys
import tempfile

from common import argument_parser, call, conditions, main

CHAINS = (7, 16, 32, 64)
TIMER = """#define _POSIX_C_SOURCE 200809L
#include "{name}.h"
#include <stdio.h>
#include <time.h>

static double now(void)
{{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}}

int main(void)
{{
    enum {{ N = {n} }};
    double q[N], v[N], tau[N] = {{0}}, a[N], least = 1;
    for (int i = 0; i < N; i++) q[i] = 0.1 * i, v[i] = 0.2 - 0.01 * i;
    for (int k = 0; k < 200; k++) {{
        const double start = now();
        for (int i = 0; i < 500; i++) {{
            {name}_forward_dynamics(q, v, tau, a);
            q[0] += 1e-9 * a[N - 1]; /* depends on the evaluation before */
        }}
        const double taken = (now() - start) / 500;
        if (taken < least) least = taken;
    }}
    printf("%.9e\\n", least);
    return 0;
}}
"""


def flags_of(folder):
    """Those of the Makefile that is generated."""
    with open(os.path.join(folder, "Makefile"), encoding="utf-8") as file:
        value = dict(re.findall(r"^(CFLAGS|ALL) [?]?= (.*)$", file.read(), re.M))
    return value["ALL"].replace("$(CFLAGS)", value["CFLAGS"]).split()


def compiled(arguments, folder, n):
    """The program that times the generated code, the seconds of compiling the code, and the flags."""
    name = f"chain_{n}"
    model = os.path.join(folder, name + ".yaml")
    with open(model, "w", encoding="utf-8") as file:
        file.write(f"linkwork: 1\ngenerate: {{chain: {{n: {n}}}}}\n")
    call(arguments.program, "codegen", model, "-o", folder)
    source, timer, program = (os.path.join(folder, part) for part in (name + ".c", name + "_timer.c", name))
    with open(timer, "w", encoding="utf-8") as file:
        file.write(TIMER.format(name=name, n=n))
    flags = flags_of(folder)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    call(arguments.compiler, *flags, "-c", source, "-o", source + ".o")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    call(arguments.compiler, *flags, "-I", folder, timer, source + ".o", "-lm", "-o", program)
    return program, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, flags


def library(arguments, n):
    """Seconds of an evaluation."""
    found = json.loads(call(arguments.program, "bench", "--case", f"chain-{n}", "--seconds", "0.1", "--json"))
    return min(1e-9 * c["minimum"] for c in found["cases"] if c["method"] == "aba")


def measure(arguments):
    chains = []
    with tempfile.TemporaryDirectory() as folder:
        for n in CHAINS:
            program, compiling, flags = compiled(arguments, folder, n)
            pairs = [(float(call(program)), library(arguments, n)) for _ in range(arguments.rounds)]
            chains.append({"n": n, "generated": min(p[0] for p in pairs), "library": min(p[1] for p in pairs),
                           "compiling": compiling})
    return {**conditions(arguments), "flags": " ".join(flags), "chains": chains}


def print_table(found):
    chains = found["chains"]
    print(f"{found['cpu']}; {found['compiler']}, `{found['flags']}`; minimum of {found['rounds']} rounds.\n")
    print("| chain of | " + " | ".join(str(c["n"]) for c in chains) + " |\n|---|" + "---|" * len(chains))
    for what, value in (("generated [µs]", lambda c: 1e6 * c["generated"]), ("library [µs]", lambda c: 1e6 * c["library"]),
                        ("compiling [s]", lambda c: c["compiling"])):
        print(f"| {what} | " + " | ".join(f"{value(c):.2g}" for c in chains) + " |")


if __name__ == "__main__":
    sys.exit(main(argument_parser(__doc__), measure, print_table))
