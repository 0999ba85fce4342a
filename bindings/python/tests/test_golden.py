"""The C goldens, replayed; and the program's rows, bit for bit."""
import subprocess

import numpy as np
import pytest
import run_cases
import trajectory
from conftest import GOLDEN, MODELS

import linkwork as lw

# each case by the default for its topology, and by the route that shares least with it
CASES = [(name, formulation) for name in sorted(p.stem for p in GOLDEN.glob("*.yaml"))
         for formulation in ("auto", "dense") if formulation == "auto" or not name.startswith(("P12", "P14", "P15"))]


@pytest.mark.parametrize("name,formulation", CASES)
def test_golden(name, formulation):
    _, position, until = run_cases.CASES[name]
    reference = trajectory.read(str(GOLDEN / f"{name}.csv"))
    times = [t for t in reference["time"] if until is None or t <= until]
    run = lw.simulate(GOLDEN / f"{name}.yaml", times[-1], sample=times[-1] / (len(times) - 1),
                      formulation=formulation, integrator="fehlberg8", rtol=1e-12, atol=1e-12)
    differences = trajectory.compare(reference, {c: run[c] for c in run}, times[-1])
    assert len(differences) > 5
    for group, d in differences.items():
        limit = d.limit(position if group == "position" else None)
        assert d.error <= limit, f"{group}: {d.error} at {d.column}, t = {d.time}"


@pytest.mark.parametrize("name", ["crane.yaml", "four_bar.yaml", "ur5.urdf"])
def test_rows_are_the_programs(name, program, tmp_path):
    output = tmp_path / "program.csv"
    subprocess.run([program, "run", str(MODELS / name), "--duration", "0.5", "--sample", "0.01", "--quiet", "-o",
                    str(output)], check=True, stdout=subprocess.DEVNULL)
    run = lw.simulate(MODELS / name, 0.5, sample=0.01)
    told = lw.read_result(output)
    assert run.columns == told.columns and run.rows == told.rows == 51
    assert np.array_equal(run.table, told.table)
    run.save(tmp_path / "python.csv")
    assert (tmp_path / "python.csv").read_bytes() == output.read_bytes()


@pytest.mark.parametrize("name", ["ur5", "anymal_c"])
def test_robots(name):
    """Efforts and mass matrices of the shipped robots by Pinocchio."""
    model = lw.load(MODELS / f"{name}.urdf", base="fixed")
    data = lw.Data(model)
    lines = [line.split() for line in (GOLDEN / "robots" / f"{name}.txt").read_text().splitlines()]
    at = [model.joint(line[0]).tree_v.start for line in lines]
    assert len(at) == model.tree_nv
    numbers = np.array([[float(x) for x in line[1:]] for line in lines])
    q, v, a, tau = np.empty((4, model.tree_nv))
    q[at], v[at], a[at], tau[at] = numbers[:, :4].T
    M = np.empty((model.tree_nv, model.tree_nv))
    M[np.ix_(at, at)] = numbers[:, 4:]
    assert np.max(np.abs(data.inverse_dynamics(q, v, a) - tau)) < 1e-13 * np.max(np.abs(tau))
    assert np.max(np.abs(data.mass_matrix(q) - M)) < 1e-13 * np.max(M)
