"""Derivatives of the dynamics at a state by physical parameters."""
import pathlib

import numpy as np
import pytest

import linkwork as lw

PENDULUM = """
linkwork: 1
gravity: [0, 0, -9.81]
parameters: {length: 1.5, mass: 2, damping: 0.1}
bodies: {bob: {mass: mass, position: [0, 0, -length]}}
joints:
  pivot: {type: revolute, between: [ground, bob], at: [0, 0, 0], axis: [0, 1, 0],
    spring: {q0: {damping: damping}}}
"""


def test_pendulum(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "pendulum.yaml"
    path.write_text(PENDULUM)
    model = lw.load(str(path))
    p = lw.Parametric(model, ["length", "mass", "damping", "gravity.z"])
    assert all(p.exact) and len(p.parameters) == 4
    q, v, tau, g, m, length, c = 0.4, 0.7, 0.3, 9.81, 2.0, 1.5, 0.1
    vdot, by_p = p.forward([q], [v], [tau])
    assert vdot[0] == pytest.approx(-g / length * np.sin(q) + (tau - c * v) / (m * length**2))
    free = (tau - c * v) / (m * length**2)
    expected = [g / length**2 * np.sin(q) - 2 * free / length, -free / m, -v / (m * length**2), np.sin(q) / length]
    assert by_p[0] == pytest.approx(expected, rel=1e-10)
    by_p = p.inverse([q], [v], [1.0])
    expected = [2 * m * length + m * g * np.sin(q), length**2 + g * length * np.sin(q), v, -m * length * np.sin(q)]
    assert by_p[0] == pytest.approx(expected, rel=1e-10)
    with pytest.raises(lw.ArgumentError, match="mas"):
        lw.Parametric(model, "body.bob.mas")
    with pytest.raises(lw.NotFiniteError):
        p.forward([np.nan], [v])
