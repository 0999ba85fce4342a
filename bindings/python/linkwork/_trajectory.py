"""Trajectories: rows of a run or a result file, with names."""
from __future__ import annotations

import fnmatch
import os
import tempfile
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import quaternion as _quaternion
from ._errors import ArgumentError, check, path_bytes, text_of, unknown
from ._memory import Array, doubles, view
from ._model import Model, Path, components
from ._native import ffi, lib
from ._options import Options, make_options, read_options
from ._simulation import Summary, hdf5_lock
from ._view import write_view

if TYPE_CHECKING:
    import pandas as _pandas  # type: ignore[import-untyped,unused-ignore]


def _close(handle: Any) -> None:
    with hdf5_lock:
        lib.lw_result_close(handle)


class Event(NamedTuple):
    """An event of the model that has happened."""

    time: float  #: [s]
    name: str
    row: int  #: the first that is not before it; with `record` its own
    action: str  #: what it did: "set u, record, stop"
    instance: int = 0  #: of a sweep


class Statistics(NamedTuple):
    """Of a column over the rows of a run."""

    rows: int
    min: float
    max: float
    range: float  #: max - min
    mean: float  #: over the time, as the next
    rms: float
    last: float
    time_of_min: float  #: [s] of the first row that has it
    time_of_max: float
    integral: float


class Trajectory(Mapping[str, Array]):
    """A table with a row per time and a named column per number, as in docs/results.md::

        t["body.load.x"]              one column
        t.time                        [s]
        t.body("load").position       [rows, 3]
        t.joint("sway").q             [rows, coordinates]
        t.energy, t.residual("position")

    Columns of a run, and of a CSV file, are read-only views of one table, :attr:`table`, without copies;
    they keep it alive. Columns of an HDF5 file are read on first use.
    """

    def __init__(self, handle: Any, model: Optional[Model] = None, summary: Optional[Summary] = None,
                 path: Optional[str] = None, stopped: Optional[str] = None) -> None:
        self._handle = ffi.gc(handle, _close)
        self._model = model
        self.summary = summary  #: of the run; None for files
        self.path = path  #: of a file; None for a run
        self.stopped = stopped  #: the event that ended the run before its time; None: none did, or a file
        self._rows: int = lib.lw_result_row_count(handle)
        infos = [lib.lw_result_column(handle, i) for i in range(lib.lw_result_column_count(handle))]
        self.columns: Tuple[str, ...] = tuple(text_of(c.name) for c in infos)
        self._index = {name: i for i, name in enumerate(self.columns)}
        self._meaning = [(text_of(c.unit), text_of(c.frame), components(c.undetermined))
                         for c in infos]
        self._columns: Dict[int, Array] = {}
        self._known: Dict[str, Dict[str, None]] = {}  # names of items by kind, on first use
        values = lib.lw_result_values(handle)
        #: all numbers [rows, columns]; None for HDF5 files
        self.table: Optional[Array] = (
            view(values, (self._rows, len(self.columns)), self._handle) if values else None)

    # ------------------------------------------------------------------------------------- columns

    def _column(self, index: int) -> Array:
        if self.table is not None:
            return self.table[:, index]
        if index not in self._columns:
            values, error = np.empty(self._rows), ffi.new("lw_error *")
            with hdf5_lock:
                check(lib.lw_result_read(self._handle, index, 0, self._rows, doubles(values), error),
                      error)
            values.flags.writeable = False
            self._columns[index] = values
        return self._columns[index]

    def _find(self, name: str) -> int:
        if name not in self._index:
            unknown("column", name, self._index)
        return self._index[name]

    def __getitem__(self, name: str) -> Array:
        return self._column(self._find(name))

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __contains__(self, name: object) -> bool:
        return name in self._index

    def match(self, pattern: str) -> List[str]:
        """Names of columns: several separated by commas, with the wildcards ``*`` and ``?``."""
        found: List[str] = []
        for part in pattern.split(","):
            names = [c for c in self.columns if fnmatch.fnmatchcase(c, part.strip())]
            if not names:
                unknown("column", part.strip(), self.columns)
            found += names
        return list(dict.fromkeys(found))

    def select(self, names: Union[str, Sequence[str]]) -> Array:
        """Several columns side by side [rows, names], a copy: names or a pattern."""
        chosen = self.match(names) if isinstance(names, str) else names
        return np.stack([self[n] for n in chosen], axis=1)

    def unit(self, name: str) -> str:
        """Unit of a column; "1" for quaternions, "" if unknown."""
        return self._meaning[self._find(name)][0]

    def frame(self, name: str) -> str:
        """Frame of a column: "world", "body", "joint", "marker" or ""."""
        return self._meaning[self._find(name)][1]

    def unique(self, name: str) -> bool:
        """False for reactions that are not unique."""
        return not self.undetermined(name)

    def undetermined(self, name: str) -> Tuple[str, ...]:
        """Of a column of a reaction: the components along axes of the joint's first frame that the constraints do not
        determine at the first row, "fx" ... "tz"; empty if it is unique."""
        return self._meaning[self._find(name)][2]

    def statistics(self, name: str) -> "Statistics":
        """Of a column over the rows: min, max, range, mean, rms, last, time_of_min, time_of_max, integral."""
        s, error = ffi.new("lw_statistics *"), ffi.new("lw_error *")
        with hdf5_lock:
            check(lib.lw_result_statistics(self._handle, self._find(name), s, error), error)
        return Statistics(s.rows, s.min, s.max, s.range, s.mean, s.rms, s.last, s.time_of_min, s.time_of_max,
                          s.integral)

    @property
    def measures(self) -> Dict[str, "Statistics"]:
        """Statistics of the measures of the model, by name."""
        return {c[len("measure."):]: self.statistics(c) for c in self.columns if c.startswith("measure.")}

    @property
    def events(self) -> List[Event]:
        """All that happened, in order.  A CSV file has those with `record` alone, named by number; files of earlier
        versions have these with their names."""
        found, count, error = ffi.new("lw_result_event **"), ffi.new("long *"), ffi.new("lw_error *")
        with hdf5_lock:
            check(lib.lw_result_events(self._handle, found, count, error), error)
            events = [Event(e.time, text_of(e.name), e.row, text_of(e.action), e.instance)
                      for e in (found[0][i] for i in range(count[0]))]
        return events or self._recorded_events()

    def _recorded_events(self) -> List[Event]:
        number = self["sys.event"] if "sys.event" in self._index else np.empty(0)
        rows = [(int(row), int(number[row])) for row in np.flatnonzero(number)]
        names = self.model.events if rows and self.model is not None else None
        return [Event(float(self.time[row]), names[k - 1] if names else str(k), row, "record") for row, k in rows]

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self._rows

    @property
    def time(self) -> Array:
        """[s]"""
        return self._column(0)

    def _block(self, prefix: str, parts: Sequence[str]) -> Array:
        indices = [self._index[prefix + p] for p in parts if prefix + p in self._index]
        if not indices:
            return np.empty((self._rows, 0))
        if self.table is not None and indices == list(range(indices[0], indices[0] + len(indices))):
            return self.table[:, indices[0]:indices[-1] + 1]
        return np.stack([self._column(i) for i in indices], axis=1)

    def _items(self, kind: str) -> Dict[str, None]:
        if kind not in self._known:
            self._known[kind] = dict.fromkeys(c[len(kind) + 1:].rpartition(".")[0]
                                              for c in self.columns if c.startswith(kind + "."))
        return self._known[kind]

    def body(self, name: str) -> "BodyColumns":
        """The columns of a body."""
        return self._item("body", name)

    def marker(self, name: str) -> "BodyColumns":
        """The columns of a marker."""
        return self._item("marker", name)

    def _item(self, kind: str, name: str) -> "BodyColumns":
        if f"{kind}.{name}.x" not in self._index:
            unknown(kind, name, self._items(kind))
        return BodyColumns(self, f"{kind}.{name}.")

    def joint(self, name: str) -> "JointColumns":
        """The columns of a joint."""
        if name not in (items := self._items("joint")):
            unknown("joint", name, items)
        return JointColumns(self, f"joint.{name}.")

    @property
    def kinetic(self) -> Array:
        """[J]"""
        return self["sys.T"]

    @property
    def potential(self) -> Array:
        """[J]"""
        return self["sys.V"]

    @property
    def energy(self) -> Array:
        """Kinetic and potential [J]."""
        return self["sys.E"]

    @property
    def work(self) -> Array:
        """Of all forces without potential, since the start [J]; ``energy - work`` is constant."""
        return self["sys.Wnc"]

    @property
    def momentum(self) -> Array:
        """[rows, 3]"""
        return self._block("sys.", ["px", "py", "pz"])

    @property
    def angular_momentum(self) -> Array:
        """About the world's origin [rows, 3]."""
        return self._block("sys.", ["lx", "ly", "lz"])

    def residual(self, level: str = "position") -> Array:
        """Largest constraint residual of "position", "velocity" or "acceleration"."""
        names = {"position": "sys.cpos", "velocity": "sys.cvel", "acceleration": "sys.cacc"}
        return self[names[level] if level in names else unknown("level", level, names)]

    # -------------------------------------------------------------------------- model, options

    @property
    def model(self) -> Optional[Model]:
        """The model of the run; None for CSV files, which do not contain it."""
        if self._model is None:
            text, options = lib.lw_result_model(self._handle), lib.lw_result_options(self._handle)
            if not text:
                return None
            self._model = Model.from_string(text_of(text), name=self.path or "result")
            if options:
                self._model._options = make_options(options, {})
        return self._model

    @property
    def options(self) -> Optional[Options]:
        """Resolved options of the run; None for CSV files."""
        options = lib.lw_result_options(self._handle)
        return read_options(options) if options else None

    def _text(self, name: str) -> str:
        return text_of(lib.lw_result_text(self._handle, name.encode()))

    @property
    def notice(self) -> str:
        """The choices made and the reasons."""
        return self._text("notice")

    @property
    def warnings(self) -> str:
        """Elements that the reader of the model ignored."""
        return self._text("warnings")

    @property
    def versions(self) -> str:
        """Lines "NAME VERSION" of the libraries used."""
        return self._text("versions")

    @property
    def closed(self) -> bool:
        """False while a file is written, or if its writer was killed."""
        return bool(lib.lw_result_closed(self._handle))

    def state(self, row: int = -1) -> Array:
        """State of the run's formulation at a row, for :meth:`Simulation.set_state`."""
        if not -self._rows <= row < self._rows:
            raise ArgumentError(f"row {row}: there are {self._rows}")
        x, error = np.empty(lib.lw_result_state_size(self._handle)), ffi.new("lw_error *")
        with hdf5_lock:
            check(lib.lw_result_read_state(self._handle, row % self._rows, ffi.NULL, doubles(x), error),
                  error)
        return x

    # -------------------------------------------------------------------------------------- export

    def save(self, path: Path, columns: Optional[str] = None) -> None:
        """Writes a file, .h5 or .csv: every number bit for bit.  HDF5 has model, options and states.

        ``columns``: patterns of those that are written beside the times, ``"joint.*.f*,spring.strut.*"``."""
        error = ffi.new("lw_error *")
        patterns = ffi.NULL if columns is None else columns.encode()
        with hdf5_lock:
            check(lib.lw_result_convert_columns(self._handle, patterns, path_bytes(path), error), error)

    def to_dict(self) -> Dict[str, Array]:
        """Columns by name."""
        return {name: self[name] for name in self.columns}

    def to_pandas(self) -> "_pandas.DataFrame":
        """A data frame, indexed by time."""
        import pandas
        table = self.table if self.table is not None else self.select(self.columns)
        return pandas.DataFrame(table[:, 1:], index=pandas.Index(self.time, name="time"),
                                columns=list(self.columns[1:]))

    def plot(self, what: Union[str, Sequence[str]] = "overview", **keywords: Any) -> Any:
        """See :func:`linkwork.plot`."""
        from ._plot import plot
        return plot(self, what, **keywords)

    def view(self, path: Path, title: Optional[str] = None, model: Optional[Model] = None) -> None:
        """Writes a page for the browser (.html), or a glTF file (.gltf), animated with the
        trajectory, as ``linkwork view`` does.

        :param model: the model of a CSV file, which does not contain it
        """
        model = model or self.model
        if model is None:
            raise ArgumentError("view: a CSV file does not tell its model; expected model=...")
        with hdf5_lock:
            write_view(model, self._handle, path, title)

    # Rows are immutable, so a trajectory is its own copy; another process gets the contents of a file.

    def __copy__(self) -> "Trajectory":
        return self

    def __deepcopy__(self, memo: Any) -> "Trajectory":
        return self

    def __reduce__(self) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            # CSV for a trajectory read from CSV: a table alone
            path = os.path.join(folder, "rows.h5" if lib.lw_result_model(self._handle) else "rows.csv")
            self.save(path)
            with open(path, "rb") as file:
                data = file.read()
        return _unpickle, (data, os.path.basename(path), self._model, self.summary, self.path, self.stopped,
                           self.table is not None)

    def __repr__(self) -> str:
        where = f" {self.path}" if self.path else ""
        span = f", t = {self.time[0]:g} ... {self.time[-1]:g} s" if self._rows else ""
        return f"<linkwork.Trajectory{where}: {self._rows} rows, {len(self.columns)} columns{span}>"

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__


class _Columns:
    def __init__(self, trajectory: Trajectory, prefix: str) -> None:
        self._trajectory, self._prefix = trajectory, prefix

    def _of(self, *parts: str) -> Array:
        return self._trajectory._block(self._prefix, parts)


class BodyColumns(_Columns):
    """A body or marker through time; [rows, 3] except for the quaternion [rows, 4]."""

    @property
    def position(self) -> Array:
        """Of the mass centre (marker: its origin), world [m]."""
        return self._of("x", "y", "z")

    @property
    def quaternion(self) -> Array:
        """Body to world, scalar first."""
        return self._of("qw", "qx", "qy", "qz")

    @property
    def quaternion_xyzw(self) -> Array:
        """The same, scalar last; a copy."""
        return _quaternion.to_xyzw(self.quaternion)

    @property
    def velocity(self) -> Array:
        """World [m/s]."""
        return self._of("vx", "vy", "vz")

    @property
    def angular_velocity(self) -> Array:
        """Body axes [rad/s]."""
        return self._of("wx", "wy", "wz")

    @property
    def acceleration(self) -> Array:
        """World [m/s^2]."""
        return self._of("ax", "ay", "az")

    @property
    def angular_acceleration(self) -> Array:
        """Body axes [rad/s^2]."""
        return self._of("alx", "aly", "alz")

    @property
    def momentum(self) -> Array:
        """Of rows with ``level="momentum"``: world [kg m/s]."""
        return self._of("px", "py", "pz")

    @property
    def angular_momentum(self) -> Array:
        """The same about the mass centre, world axes [kg m^2/s]."""
        return self._of("lx", "ly", "lz")


class JointColumns(_Columns):
    """A joint through time."""

    @property
    def q(self) -> Array:
        """Coordinates [rows, nq]."""
        found = self._of("x", "y", "z", "qw", "qx", "qy", "qz")
        return found if found.shape[1] else self._of(*(f"q{k}" for k in range(8)))

    @property
    def qd(self) -> Array:
        """Speeds [rows, nv]."""
        found = self._of("vx", "vy", "vz", "wx", "wy", "wz")
        return found if found.shape[1] else self._of(*(f"qd{k}" for k in range(6)))

    @property
    def qdd(self) -> Array:
        """Accelerations [rows, nv]."""
        found = self._of("ax", "ay", "az", "alx", "aly", "alz")
        return found if found.shape[1] else self._of(*(f"qdd{k}" for k in range(6)))

    @property
    def force(self) -> Array:
        """Reaction on body2 [rows, 3], world [N]."""
        return self._of("fx", "fy", "fz")

    @property
    def torque(self) -> Array:
        """Reaction on body2 about its joint point [rows, 3], world [N m]."""
        return self._of("tx", "ty", "tz")

    @property
    def p(self) -> Array:
        """Of rows with ``level="momentum"``: joint momenta [rows, nv], conjugate to ``qd``."""
        found = self._of("px", "py", "pz", "lx", "ly", "lz")
        return found if found.shape[1] else self._of(*(f"p{k}" for k in range(6)))

    @property
    def transmitted(self) -> Array:
        """Of rows with ``level="momentum"``: linear and angular momentum that the joint transmits to body2, or the
        impulse of its constraints [rows, 6]; about its joint point, world [N s, N m s]."""
        return self._of("sfx", "sfy", "sfz", "stx", "sty", "stz")


def _unpickle(data: bytes, name: str, model: Optional[Model], summary: Optional[Summary], path: Optional[str],
              stopped: Optional[str], in_memory: bool) -> Trajectory:
    with tempfile.TemporaryDirectory() as folder:  # the file remains, without a name, while it is open
        place = os.path.join(folder, name)
        with open(place, "wb") as file:
            file.write(data)
        found = read_result(place)
    found._model, found.summary, found.path, found.stopped = model, summary, path, stopped
    if in_memory and found.table is None:
        table = found.select(found.columns)
        table.flags.writeable = False
        found.table, found._columns = table, {}
    return found


def read_result(path: Path) -> Trajectory:
    """Opens a result file, .h5 or .csv, also one that is still being written."""
    name = os.fspath(path)
    result, error = ffi.new("lw_result **"), ffi.new("lw_error *")
    with hdf5_lock:
        check(lib.lw_result_open(path_bytes(name), result, error), error)
    return Trajectory(result[0], path=name)


__all__ = ["BodyColumns", "Event", "JointColumns", "Trajectory", "read_result"]
