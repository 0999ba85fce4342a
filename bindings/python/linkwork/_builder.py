"""Models built in Python: the keys of the native file (docs/model-file.md) as keyword arguments."""
from __future__ import annotations

import json
import math
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

import numpy as np
from numpy.typing import ArrayLike

from ._errors import ArgumentError, Error
from ._memory import real
from ._model import Model

Function = Union[float, str, Mapping[str, Any]]


def _plain(value: Any, where: str) -> Any:
    """Arrays, tuples and NumPy numbers as JSON values."""
    if isinstance(value, Mapping):
        return {str(k): _plain(v, f"{where}.{k}") for k, v in value.items() if v is not None}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(v, where) for v in value]
    if isinstance(value, (str, bool, int)) or value is None:
        return value
    if isinstance(value, np.integer):
        return int(value)
    if hasattr(value, "__float__"):
        number = float(value)
        if not math.isfinite(number):
            raise ArgumentError(f"{where}: {number} is not a finite number")
        return number
    raise ArgumentError(f"{where}: {value!r} is neither number, text, list nor dictionary")


def model_of(description: Mapping[str, Any], **keywords: Any) -> Model:
    """A model from the native file's keys."""
    plain = _plain(description, "model")
    plain.setdefault("linkwork", 1)
    try:
        return Model.from_string(json.dumps(plain, indent=0), "yaml", **keywords)
    except Error as error:  # the generated text is not shown, so its lines are meaningless
        text = type(error)(error.text)
        raise text from None


class Builder:
    """A description under construction.

    Methods take the keys of the native file, under the same names: positions, functions, signals and
    so on; ``from_`` stands for ``from``. They return the name, so that it can be used later::

        b = Builder(gravity=[0, 0, -9.81])
        rod = b.body("rod", mass=1, inertia=[0.1, 0.1, 0.01, 0, 0, 0], position=[0.5, 0, 0])
        b.joint("hinge", "revolute", ["ground", rod], at=[0, 0, 0], axis=[0, 1, 0])
        model = b.build()
    """

    def __init__(self, gravity: Optional[ArrayLike] = None, **simulation: Any) -> None:
        self._description: Dict[str, Any] = {"linkwork": 1}
        if gravity is not None:
            self._description["gravity"] = real(gravity, "gravity")
        if simulation:
            self._description["simulation"] = simulation

    def _add(self, section: str, name: str, what: Mapping[str, Any]) -> str:
        items = self._description.setdefault(section, {})
        if name in items:
            raise ArgumentError(f"{section}: there is a '{name}' already")
        # from is a keyword of Python; q0, qd0 and so on are keys of dictionaries
        items[name] = {k.rstrip("_"): v for k, v in what.items() if v is not None}
        return name

    def function(self, name: str, type: str, **keys: Any) -> str:
        """A function of time: "sine", "table", "formula", ...; its name may drive joints and forces."""
        return self._add("functions", name, {"type": type, **keys})

    def input(self, name: str) -> str:
        """A number that a program sets during a simulation."""
        self._description.setdefault("inputs", []).append(name)
        return name

    def body(self, name: str, mass: float, inertia: Optional[ArrayLike] = None, **keys: Any) -> str:
        """A body: ``inertia=[xx, yy, zz, xy, xz, yz]`` about the mass centre, ``position``,
        ``orientation`` (scalar first), ``com``, ``in_``, ``velocity``, ``shape``, ..."""
        return self._add("bodies", name, {"mass": mass, "inertia": inertia, **keys})

    def joint(self, name: str, type: str, between: Sequence[str], **keys: Any) -> str:
        """A joint between two bodies, one may be "ground": ``at`` and ``axis``, or ``frame1`` and
        ``frame2``; ``q``, ``qd``, ``motion``, ``spring``, ``limits``, ``rotor``, ``effort``, ..."""
        return self._add("joints", name, {"type": type, "between": list(between), **keys})

    def force(self, name: str, type: str, **keys: Any) -> str:
        """A force; ``type`` is one of model files, for example "spring", "bushing" or "drag"."""
        return self._add("forces", name, {"type": type, **keys})

    def coupling(self, joint: str, coordinate: str, of: str, with_: str,
                 polynomial: ArrayLike) -> None:
        """q_joint = c0 + c1 q_of + c2 q_of^2 + ..."""
        self._description.setdefault("couplings", []).append(
            {"joint": joint, "coordinate": coordinate, "of": of, "with": with_,
             "polynomial": polynomial})

    def marker(self, name: str, body: str, **keys: Any) -> str:
        """A frame on a body; its motion is recorded."""
        return self._add("markers", name, {"body": body, **keys})

    def measure(self, name: str, of: str, unit: Optional[str] = None) -> str:
        """An expression of columns of results, "hypot(joint.A.fx, joint.A.fz)"; results have it as ``measure.NAME``."""
        return self._add("measures", name, {"of": of} if unit is None else {"of": of, "unit": unit})

    def impulse(self, name: str, time: float, **keys: Any) -> str:
        """An impulse on a body at a point or on a joint; velocities jump at its time."""
        return self._add("impulses", name, {"time": time, **keys})

    def event(self, name: str, **keys: Any) -> str:
        """Where a run ends, records or sets switches: ``when="A.q0 > 0.5"``, ``every=0.01`` or ``at=[1, 2]``, with
        ``stop=True``, ``record=True``, ``set={"u": "-4*A.q0"}``."""
        return self._add("events", name, keys)

    def signal(self, name: str, formula: Optional[str] = None, **keys: Any) -> str:
        """A formula, ``"-4*A.q0"``, or a type with its keys, ``type="switch", value=0``; its column is
        ``signal.NAME.value``."""
        if (formula is None) == (not keys):
            raise ArgumentError(f"signal '{name}': expected either a formula or type=... with its keys")
        self._add("signals", name, keys)
        if formula is not None:
            self._description["signals"][name] = formula
        return name

    def generate(self, kind: str, **keys: Any) -> None:
        """Many equal rods: "chain", "tree", "loop", "n_four_bar", "ladder"."""
        self._description.setdefault("generate", {})[kind] = keys

    def simulation(self, **options: Any) -> None:
        """Options of runs."""
        self._description.setdefault("simulation", {}).update(options)

    def to_dict(self) -> Dict[str, Any]:
        """The description as in the native file."""
        plain: Dict[str, Any] = _plain(self._description, "model")
        return plain

    def build(self, *, cut: Union[None, str, Sequence[str]] = None, open: bool = False) -> Model:
        """Checks the whole description and creates the model; the builder may be used again."""
        return model_of(self._description, cut=cut, open=open)

    def __repr__(self) -> str:
        sizes: List[str] = [f"{len(self._description.get(s, ()))} {s}" for s in ("bodies", "joints")]
        return f"<linkwork.Builder: {', '.join(sizes)}>"
