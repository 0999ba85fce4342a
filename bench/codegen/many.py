#!/usr/bin/env python3
"""4096 states, and batches of runs, by compiled models and by the library, from Python.

usage: many.py [--program PROGRAM] [--threads N]

For each model: one evaluation of forward dynamics of a row of states (`Compiled` and `Data`, minimum of three rounds in
turns), and a batch of runs from the same start by dopri54 at default tolerances (`Batch`, with `use_compiled` and without).
PROGRAM assembles the Delta robot; without it that is left out.
"""
import argparse
import os
import tempfile
import time

import numpy as np

from common import model_path
import linkwork as lw

STATES = 4096
# name, file, assembled first, formulation, calls of the library, instances, duration [s]
CASES = (("four-bar", "examples/models/four_bar.yaml", False, "rcr", 5, 4096, 0.1),
         ("Delta", "tests/models/parallel/robot_delta/robot.urdf", True, "rcr", 1, 256, 0.02),
         ("UR5", "examples/models/ur5.urdf", False, "aba", 5, 4096, 0.1))


def least(calls, *functions):
    """Seconds of a call of each, minimum of three rounds in turns."""
    best = [float("inf")] * len(functions)
    for _ in range(3):
        for k, (function, count) in enumerate(zip(functions, calls)):
            began = time.perf_counter()
            for _ in range(count):
                function()
            best[k] = min(best[k], (time.perf_counter() - began) / count)
    return best


def states(model, compiled):
    """Near the start, on the loops."""
    rng = np.random.default_rng(1)
    q, v = (np.tile(x, (STATES, 1)) for x in model.start())
    q, v = compiled.project(q + rng.uniform(-0.05, 0.05, q.shape), v + rng.uniform(-1, 1, v.shape))
    closed = np.isfinite(q).all(1) & np.isfinite(v).all(1)
    return np.ascontiguousarray(q[closed]), np.ascontiguousarray(v[closed])


def measure(name, path, formulation, calls, instances, duration, cache, threads):
    model = lw.load(path)
    compiled, data = model.compile(cache=cache), lw.Data(model)
    q, v = states(model, compiled)
    out, other = np.empty_like(v), np.empty_like(v)
    a, b = least((20, calls), lambda: compiled.forward_dynamics(q, v, out=out), lambda: data.forward_dynamics(q, v, out=other))
    off = np.abs(out - other).max() / np.abs(other).max()
    print(f"{name}: {len(q)} states, {compiled.lanes} lanes: {1e6 * a / len(q):.3g} us, library {1e6 * b / len(q):.3g} us, "
          f"factor {b / a:.1f}, off by {off:.1e}")
    taken = []
    for use in (True, False):
        batch = lw.Batch(model, instances=instances, threads=threads, formulation=formulation, integrator="dopri54")
        if use:
            batch.use_compiled(compiled)
        began = time.perf_counter()
        batch.step(duration)
        taken.append(time.perf_counter() - began)
    print(f"    batch of {instances}, {duration} s: {taken[0]:.3g} s, library {taken[1]:.3g} s, factor {taken[1] / taken[0]:.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--program")
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name, file, assembled, *rest in CASES:
            if assembled and not arguments.program:
                continue
            path = model_path(arguments.program, name, file, assembled, folder)
            measure(name, path, *rest, os.path.join(folder, "cache"), arguments.threads)


if __name__ == "__main__":
    main()
