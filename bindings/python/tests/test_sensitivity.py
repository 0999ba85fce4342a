"""Derivatives of a run by parameters."""
import math

import numpy as np
import pytest

import linkwork as lw

PENDULUM = """
linkwork: 1
gravity: [0, 0, -9.81]
parameters:
  length: {value: 1500, unit: mm}
  mass: {value: 2, unit: kg}
bodies: {bob: {mass: mass, inertia: [0, 0, 0, 0, 0, 0], position: [0, 0, -length]}}
joints: {pivot: {type: revolute, between: [ground, bob], at: [0, 0, 0], axis: [0, 1, 0], qd: [0.01]}}
measures: {angle: {of: joint.pivot.q0}}
simulation: {duration: 1, sample: 0.5}
"""


def test_pendulum():
    """Of small swings q = (v/w) sin(w t), w^2 = g/l; the mass has no influence."""
    s = lw.sensitivity(lw.Model.from_string(PENDULUM, format="yaml"), ["length", "mass"])
    w = math.sqrt(9.81 / 1.5)
    by_w = 0.01 * (math.cos(w) / w - math.sin(w) / w**2)
    assert s.columns == ("measure.angle",) and s.parameters == ("length", "mass")
    assert np.isclose(s.values[0], 0.01 / w * math.sin(w), rtol=1e-4)
    assert np.isclose(s.of("measure.angle")["length"], by_w * (-0.5 * w / 1.5) * 1e-3, rtol=1e-4)
    assert abs(s.derivative[0, 1]) < 1e-12 and s.failures == {}
    several = lw.sensitivity(lw.Model.from_string(PENDULUM, format="yaml"), ["length", "mass"],
                             columns="angle.max,joint.pivot.qd0.rms,angle", method="adjoint")
    assert several.columns == ("joint.pivot.qd0.rms", "measure.angle", "measure.angle.max")
    assert several.statistics == ("rms", "last", "max")
    assert np.isclose(several.of("measure.angle")["length"], s.of("measure.angle")["length"], rtol=1e-9)
    alone = lw.sensitivity(lw.Model.from_string(PENDULUM, format="yaml"), ["length"], columns="joint.pivot.qd0",
                           statistic="rms")
    assert np.isclose(several.of("joint.pivot.qd0.rms")["length"], alone.derivative[0, 0], rtol=1e-8)
    with pytest.raises(lw.ArgumentError, match="'median' is no statistic of measure 'angle'"):
        lw.sensitivity(lw.Model.from_string(PENDULUM, format="yaml"), "mass", columns="angle.median")
    with pytest.raises(lw.ArgumentError, match="statistic"):
        lw.sensitivity(lw.Model.from_string(PENDULUM, format="yaml"), "mass", statistic="median")
    with pytest.raises(lw.ArgumentError, match="length"):
        lw.sensitivity(lw.Model.from_string(PENDULUM, format="yaml"), "lenght")
