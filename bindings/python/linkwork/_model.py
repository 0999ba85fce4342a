"""Models: reading from files and strings, properties, writing, assembly."""
from __future__ import annotations

import dataclasses
import os
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike

from . import _configuration
from ._compiled import Compiled
from ._errors import ArgumentError, UnknownNameError, check, path_bytes, text_of, unknown
from ._memory import Array, doubles
from ._native import ffi, lib
from ._options import Options, make_options, read_options
from ._view import write_view

Path = Union[str, "os.PathLike[str]"]

#: stops at limits of joints: "auto", "auto,SECONDS", "ignore", stiffness, (stiffness, damping)
Limits = Union[None, str, float, Tuple[float, float]]
_LIMITS_TIME = 0.02  # of "auto", as LW_LIMITS_TIME [s]

_BASES = {"auto": lib.LW_BASE_AUTO, "fixed": lib.LW_BASE_FIXED, "floating": lib.LW_BASE_FLOATING}


@dataclasses.dataclass(frozen=True)
class Body:
    """A body of a model; index 0 is the ground."""

    index: int
    name: str
    mass: float  #: [kg]
    com: Tuple[float, float, float]  #: mass centre in the body frame [m]
    moves_with: str  #: the body with which this massless one is merged; itself otherwise


@dataclasses.dataclass(frozen=True)
class Base:
    """A floating base: a body whose pose and twist are part of the tree's ``q`` and ``v``."""

    body: str  #: root link of a URDF robot, body of a free joint, else the first body in the file of a part that floats
    joint: Optional[str]  #: free joint whose coordinates they are; None: its point is the mass centre
    tree_q: slice  #: the point, then the unit quaternion, scalar first (body axes to world)
    tree_v: slice  #: velocity of the point, then angular velocity, both in body axes


@dataclasses.dataclass(frozen=True)
class Joint:
    """A joint of a model, with the slices of its numbers."""

    index: int
    name: str
    type: str
    body1: str
    body2: str
    nq: int  #: coordinates, driven ones included
    nv: int  #: speeds
    q: slice  #: in ``q`` of observations
    v: slice  #: in ``qd`` and ``qdd`` of observations
    tree_q: slice  #: in coordinates of the tree (:class:`Data`); empty where it closes a loop
    tree_v: slice  #: in speeds of the tree
    driven: int  #: coordinates that follow a function
    closes_loop: bool
    merged: bool  #: fixed joint of a massless body that moves with another
    angles: Tuple[int, ...]  #: coordinates that are angles
    quaternion: int  #: first coordinate of a unit quaternion; -1: none


def _destroy_model(handle: Any) -> None:
    lib.lw_model_destroy(handle)


class Model:
    """An immutable mechanism.  Any number of threads, :class:`Simulation` and :class:`Data` may share
    one.

    Created by :func:`load`, :meth:`from_string`, :meth:`from_dict` or :class:`Builder`.
    """

    def __init__(self, handle: Any, options: Any, source: Optional[str] = None, open: bool = False) -> None:
        # use the class methods instead
        self._handle = ffi.gc(handle, _destroy_model)
        self._options = options
        self._open = open  # the start need not close
        self.source = source  #: the file, or None
        self.bodies: Tuple[Body, ...] = tuple(
            self._body(i) for i in range(lib.lw_model_body_count(handle)))
        self.joints: Tuple[Joint, ...] = tuple(
            self._joint(i) for i in range(lib.lw_model_joint_count(handle)))
        self.bases: Tuple[Base, ...] = tuple(
            self._base(i) for i in range(lib.lw_model_base_count(handle)))
        self.inputs: Tuple[str, ...] = tuple(
            text_of(lib.lw_model_input_name(handle, i))
            for i in range(lib.lw_model_input_count(handle)))
        self.markers: Tuple[str, ...] = tuple(
            text_of(lib.lw_model_marker_name(handle, i))
            for i in range(lib.lw_model_marker_count(handle)))
        #: what a reader ignored or changed, with file and line
        self.warnings: Tuple[str, ...] = tuple(
            text_of(lib.lw_model_warning(handle, i))
            for i in range(lib.lw_model_warning_count(handle)))
        self.nq: int = lib.lw_model_nq(handle)  #: coordinates of all joints
        self.nv: int = lib.lw_model_nv(handle)  #: speeds of all joints
        text = ffi.new("char[]", 256)

        def state_name(i: int) -> str:
            lib.lw_model_signal_state_name(handle, i, text, 256)
            return text_of(text)
        #: names of the states of signals: integrals, lags, controllers
        self.signal_states: Tuple[str, ...] = tuple(map(state_name, range(lib.lw_model_signal_states(handle))))
        functions = [lib.lw_model_function(handle, i) for i in range(lib.lw_model_function_count(handle))]
        #: signals: name and type, "formula", "switch", ...
        self.signals: Dict[str, str] = {text_of(f.name): text_of(f.type_name) for f in functions if f.recorded}
        #: names of events
        self.events: Tuple[str, ...] = tuple(text_of(lib.lw_model_event_name(handle, i))
                                             for i in range(lib.lw_model_event_count(handle)))
        self.tree_nq: int = lib.lw_model_tree_nq(handle)  #: coordinates of the tree's free joints
        self.tree_nv: int = lib.lw_model_tree_nv(handle)  #: speeds of the tree's free joints
        self._body_by_name = {b.name: b for b in self.bodies}
        self._joint_by_name = {j.name: j for j in self.joints}
        self._blocks: Optional[List[_configuration.Block]] = None

    def __setattr__(self, name: str, value: object) -> None:
        if "_blocks" in self.__dict__ and not name.startswith("_"):  # it exists
            raise AttributeError(f"{name}: a model does not change; build another, or write and edit it")
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{name}: a model does not change")

    # ------------------------------------------------------------------------------------- reading

    @classmethod
    def from_file(cls, path: Path, *, format: Optional[str] = None, base: str = "auto",
                  limits: Limits = None,
                  cut: Union[None, str, Sequence[str]] = None, open: bool = False,
                  folder: Optional[Path] = None, keyframe: Optional[str] = None,
                  inertia_check: Optional[str] = None, package_path: Union[None, str, Sequence[str]] = None,
                  missing_mesh: Optional[str] = None,
                  parameters: Optional[Mapping[str, Any]] = None, **options: Any) -> "Model":
        """Reads a model of any format that ``linkwork info`` lists, selected by the extension or `format`.

        :param base: of URDF and SDF: "fixed", "floating" or "auto"
        :param limits: of joints' limits without stiffness (all of URDF, SDF and MJCF): "auto" makes critically damped
            stops scaled by the mechanism ("auto,T" of the time constant T, default 0.02 s), a number or (stiffness,
            damping) stops of these; None or "ignore": limits are only reported
        :param cut: names of joints at which loops are cut
        :param open: accept a start that does not close, for :meth:`assemble`
        :param folder: folder of files that the model refers to; default: the model's folder
        :param keyframe: of MJCF: the start is the ``<key>`` of this name
        :param inertia_check: of an inertia that no mass has: "error", "warn", "accept" or "repair"; None: as the
            file says, formats of robots warn
        :param package_path: folders with packages, searched for ``package://`` and ``model://``
        :param missing_mesh: of a mesh that a mass depends on and that cannot be read: "error" (None) or "massless"
        :param parameters: values of parameters of a native file: numbers, in the unit in which the file states the
            parameter, or texts, "5 mm", "2*l"
        :param options: override those of the file's ``simulation:``
        """
        path = os.fspath(path)
        desc, keep = _read_desc(format, base, limits, cut, open, folder, keyframe, inertia_check,
                                package_path, missing_mesh, parameters)
        model, error = ffi.new("lw_model **"), ffi.new("lw_error *")
        found = make_options(None, {})
        check(lib.lw_model_read(path_bytes(path), desc, model, found, error), error)
        del keep
        return cls(model[0], make_options(found, options), path, open)

    @classmethod
    def from_string(cls, text: str, format: str = "yaml", *, name: str = "string",
                    base: str = "auto", limits: Limits = None,
                    cut: Union[None, str, Sequence[str]] = None, open: bool = False,
                    folder: Optional[Path] = None, keyframe: Optional[str] = None,
                    inertia_check: Optional[str] = None, package_path: Union[None, str, Sequence[str]] = None,
                  missing_mesh: Optional[str] = None,
                  parameters: Optional[Mapping[str, Any]] = None, **options: Any) -> "Model":
        """The same from a string; `name` stands for the file in messages.  Further files are read only
        if `folder` is set."""
        desc, keep = _read_desc(format, base, limits, cut, open, folder, keyframe, inertia_check,
                                package_path, missing_mesh, parameters)
        model, error = ffi.new("lw_model **"), ffi.new("lw_error *")
        found, data = make_options(None, {}), text.encode()
        check(lib.lw_model_parse(data, len(data), name.encode(), desc, model, found, error), error)
        del keep
        return cls(model[0], make_options(found, options), open=open)

    @classmethod
    def from_dict(cls, description: Mapping[str, Any], **keywords: Any) -> "Model":
        """A model from the contents of a native file, as dictionaries and lists (docs/model-file.md)."""
        from ._builder import model_of
        return model_of(description, **keywords)

    # ------------------------------------------------------------------------------------- properties

    def _body(self, index: int) -> Body:
        info = lib.lw_model_body(self._handle, ffi.new("lw_body *", [index])[0])
        host = ffi.new("lw_body *", [info.moves_with])[0]
        return Body(index, text_of(info.name), info.mass, (info.com.x, info.com.y, info.com.z),
                    text_of(lib.lw_model_body_name(self._handle, host)))

    def _joint(self, index: int) -> Joint:
        joint = ffi.new("lw_joint *", [index])[0]
        info = lib.lw_model_joint(self._handle, joint)
        where = ffi.new("int[4]")
        if lib.lw_model_joint_tree(self._handle, joint, where, where + 1, where + 2, where + 3) < 0:
            where[0] = where[1] = where[2] = where[3] = 0
        name = text_of(lib.lw_joint_type_info(int(ffi.cast("int", info.type))).name)
        return Joint(index, text_of(info.name), name,
                     text_of(lib.lw_model_body_name(self._handle, info.body1)),
                     text_of(lib.lw_model_body_name(self._handle, info.body2)), info.nq, info.nv,
                     slice(info.q_first, info.q_first + info.nq),
                     slice(info.v_first, info.v_first + info.nv),
                     slice(where[0], where[0] + where[1]), slice(where[2], where[2] + where[3]),
                     info.ndriven, bool(info.closes_loop), bool(info.merged),
                     tuple(k for k in range(info.nq) if info.angles >> k & 1), info.quaternion)

    def _base(self, index: int) -> Base:
        info = lib.lw_model_base(self._handle, index)
        return Base(text_of(lib.lw_model_body_name(self._handle, info.body)),
                    self.joints[info.joint.index].name if info.joint.index >= 0 else None,
                    slice(info.q_first, info.q_first + 7), slice(info.v_first, info.v_first + 6))

    def joint_axes(self, name: str) -> Tuple[str, Array]:
        """Axes of F1 of a joint: the body that carries it, and the rotation [3, 3] that takes components in F1 to
        components in that body. Components of reactions that are not unique are along these axes."""
        body, R = ffi.new("lw_body *"), np.empty((3, 3))
        lib.lw_model_joint_axes(self._handle, ffi.new("lw_joint *", [self.joint(name).index])[0], body,
                                doubles(R))
        return text_of(lib.lw_model_body_name(self._handle, body[0])), R

    def body(self, name: str) -> Body:
        """The body of this name."""
        return self._body_by_name.get(name) or unknown("body", name, self._body_by_name)

    def joint(self, name: str) -> Joint:
        """The joint of this name."""
        return self._joint_by_name.get(name) or unknown("joint", name, self._joint_by_name)

    @property
    def loops(self) -> Tuple[Tuple[str, ...], ...]:
        """Names of the joints of every loop; the first is the one outside the tree."""
        found = []
        room = ffi.new("lw_joint[]", max(1, len(self.joints)))
        for i in range(lib.lw_model_loop_count(self._handle)):
            count = lib.lw_model_loop(self._handle, i, room, len(self.joints))
            found.append(tuple(self.joints[room[k].index].name for k in range(count)))
        return tuple(found)

    @property
    def options(self) -> Options:
        """Options of a run from the file's ``simulation:``; others have defaults."""
        return read_options(self._options)

    def __repr__(self) -> str:
        loops = lib.lw_model_loop_count(self._handle)
        lines = [f"<linkwork.Model{' ' + self.source if self.source else ''}: "
                 f"{len(self.bodies) - 1} bodies, {len(self.joints)} joints, {loops} loops, "
                 f"{self.tree_nv} speeds of the tree>"]
        most = 12
        for joint in self.joints[:most]:
            closes = "  closes a loop" if joint.closes_loop else ""
            lines.append(f"  {joint.name:20s} {joint.type:12s} {joint.body1} - {joint.body2}{closes}")
        if len(self.joints) > most:
            lines.append(f"  ... {len(self.joints) - most} more")
        return "\n".join(lines)

    def to_yaml(self, options: bool = False) -> str:
        """The native file in canonical form: read again, it is the same model bit for bit."""
        text, error = ffi.new("char **"), ffi.new("lw_error *")
        given = self._options if options else ffi.NULL
        try:
            check(lib.lwpy_model_text(self._handle, given, text, error), error)
            return text_of(text[0])
        finally:
            lib.lwpy_free(text[0])

    def write(self, path: Path, options: bool = False) -> Tuple[str, ...]:
        """Writes a file in the format of its ending: the native file (.yaml), for other programs a tree as URDF (.urdf)
        or MJCF (.mjcf, .xml). Other endings are refused, and so are loops and joints that the format does not have.

        :param options: also ``simulation:``, in the native file
        :return: what the format cannot express and the file lacks
        """
        omitted, error = ffi.new("char **"), ffi.new("lw_error *")
        given = self._options if options else ffi.NULL
        try:
            check(lib.lwpy_model_save(self._handle, given, path_bytes(os.fspath(path)), omitted, error), error)
            return tuple(text_of(omitted[0]).splitlines()) if omitted[0] else ()
        finally:
            lib.lwpy_free(omitted[0])

    def view(self, path: Path, title: Optional[str] = None) -> None:
        """Writes a page for the browser (.html) or a glTF file (.gltf) of the mechanism at its start."""
        write_view(self, ffi.NULL, path, title)

    # A model is immutable, so it is its own copy; another process gets its native file.

    def __copy__(self) -> "Model":
        return self

    def __deepcopy__(self, memo: Any) -> "Model":
        return self

    def __reduce__(self) -> Any:
        return _unpickle, (self.to_yaml(options=True), self.source, self._open, self.warnings)

    # --------------------------------------------------------------------------------- derived

    def check(self) -> "Check":
        """Degrees of freedom, loops, redundant constraints, warnings: the report of ``linkwork check``."""
        return check_model(self)

    def assemble(self, hold: Sequence[str] = (),
                 near: Optional[Mapping[str, Union[float, ArrayLike]]] = None,
                 starts: int = 0) -> "Assembly":
        """The nearest start that satisfies all joints, as a new model with a report.

        :param hold: names of bodies and joints that should stay where they are
        :param near: coordinates of joints by name [m, rad] near which to assemble
        :param starts: most starts to try where loops stay open; 0: 40
        """
        names = [ffi.new("char[]", h.encode()) for h in hold]
        array = ffi.new("const char *[]", names + [ffi.NULL])
        places, keep = _coordinates_of_joints(self, near or {})
        desc = ffi.new("lw_assemble_desc *", {"hold": array, "nhold": len(names), "near": places,
                                              "nnear": len(keep), "starts": starts})
        model, error = ffi.new("lw_model **"), ffi.new("lw_error *")
        report = ffi.new("lw_assembly *")
        check(lib.lw_model_assemble(self._handle, desc, model, report, error), error)
        return Assembly._of(Model(model[0], self._options, self.source), report)

    def compile(self, compiler: Optional[str] = None, cache: Optional[str] = None, lanes: int = 0,
                derivatives: bool = False) -> Compiled:
        """Its dynamics as machine code, for many calls or long runs: generated C, which the system's compiler translates once
        and which is kept in a private folder (docs/compiled.md).

        :param compiler: a command; default: ``$CC``, else cc, gcc, clang
        :param cache: the folder; default: ``$XDG_CACHE_HOME/linkwork``, else ``~/.cache/linkwork``
        :param lanes: states side by side, 1, 4 or 8; 0: the processor's width
        :param derivatives: also the derivatives of the dynamics, for at most 64 speeds; they take longer to compile than all else
        """
        return Compiled(self, compiler, cache, lanes, derivatives)

    # ------------------------------------------------------------------------------- configurations

    def _configuration(self) -> List[_configuration.Block]:
        if self._blocks is None:
            self._blocks = _configuration.blocks_of(self)
        return self._blocks

    def start(self) -> Tuple[Array, Array]:
        """Coordinates q [tree_nq] and speeds v [tree_nv] of the tree at the start."""
        q, v = np.empty(self.tree_nq), np.empty(self.tree_nv)
        lib.lw_model_tree_start(self._handle, doubles(q),
                                doubles(v))
        return q, v

    def neutral(self) -> Array:
        """The configuration of zeros and unit quaternions."""
        return _configuration.neutral(self._configuration(), self.tree_nq)

    def random(self, rng: Union[None, int, np.random.Generator] = None) -> Array:
        """A random configuration: angles in (-pi, pi), displacements in (-1, 1) m, attitudes uniform.

        Its loops are not closed."""
        generator = np.random.default_rng(rng)
        return _configuration.random(self._configuration(), self.tree_nq, generator)

    def integrate(self, q: ArrayLike, v: ArrayLike) -> Array:
        """The configuration that is reached from q in unit time at constant speeds v; so
        ``integrate(q, v * h)``."""
        return _configuration.integrate(self._configuration(), self, q, v)

    def difference(self, q0: ArrayLike, q1: ArrayLike) -> Array:
        """Constant speeds v that take q0 to q1 in unit time: ``integrate(q0, v)`` is q1."""
        return _configuration.difference(self._configuration(), self, q0, q1)


def _coordinates_of_joints(model: Model, near: Mapping[str, Union[float, ArrayLike]]) -> Any:
    """``lw_joint_q[]``, and what must live as long."""
    names = [ffi.new("char[]", name.encode()) for name in near]
    array = ffi.new("lw_joint_q[]", max(1, len(names)))
    for item, name, value in zip(array, names, near.values()):
        q = np.atleast_1d(np.asarray(value, dtype=float))
        joint = ffi.string(name).decode()
        wanted = model.joint(joint).nq
        if q.shape != (wanted,):
            raise ArgumentError(f"near: joint '{joint}' has {wanted} coordinate(s), {q.size} are given")
        item.joint, item.q = name, list(q)
    return array, names


def _unpickle(text: str, source: Optional[str], open: bool, warnings: Tuple[str, ...]) -> Model:
    model = Model.from_string(text, open=open)
    object.__setattr__(model, "source", source)  # not yet shared
    object.__setattr__(model, "warnings", warnings)  # of the file that was read first
    return model


def _read_desc(format: Optional[str], base: str, limits: Limits,
               cut: Union[None, str, Sequence[str]], open: bool, folder: Optional[Path],
               keyframe: Optional[str], inertia_check: Optional[str],
               package_path: Union[None, str, Sequence[str]], missing_mesh: Optional[str],
               parameters: Optional[Mapping[str, Any]]) -> Tuple[Any, Any]:
    """An ``lw_read_desc``, and the objects that must exist as long."""
    desc = ffi.new("lw_read_desc *")
    texts = []

    def text(value: Optional[str]) -> Any:
        if value is None:
            return ffi.NULL
        texts.append(ffi.new("char[]", path_bytes(value)))
        return texts[-1]

    desc.format = text(format)
    if base not in _BASES:
        unknown("base", base, _BASES)
    desc.base = _BASES[base]
    desc.limits_time, desc.limits.stiffness, desc.limits.damping = read_limits(limits)
    if cut is not None and not isinstance(cut, str):
        cut = ",".join(cut)
    desc.cut = text(cut)
    desc.open = bool(open)
    desc.folder = text(None if folder is None else os.fspath(folder))
    desc.keyframe = text(keyframe)
    desc.inertia_check = text(inertia_check)
    if package_path is not None and not isinstance(package_path, str):
        package_path = ":".join(os.fspath(folder) for folder in package_path)
    desc.package_path = text(package_path)
    desc.missing_mesh = text(missing_mesh)
    if parameters:
        values = [text(f"{name}={value if isinstance(value, str) else repr(float(value))}")
                  for name, value in parameters.items()]
        texts.append(ffi.new("char *[]", values))
        desc.set, desc.nset = texts[-1], len(values)
    return desc, texts


def read_limits(limits: Limits) -> Tuple[float, float, float]:
    """Time constant, stiffness and damping, zeros if they are not given, of "auto" or "auto,SECONDS", stiffness or (stiffness,
    damping), None or "ignore"."""
    if limits is None or limits == "ignore":
        return 0.0, 0.0, 0.0
    if isinstance(limits, str):
        word, _, seconds = limits.partition(",")
        try:
            time = float(seconds) if seconds else _LIMITS_TIME
        except ValueError:
            time = 0.0
        if word != "auto" or not time > 0:
            raise ArgumentError(f"limits: {limits!r}, expected \"auto\", \"auto,SECONDS\", \"ignore\", a stiffness or "
                                "(stiffness, damping)")
        return time, 0.0, 0.0
    stiffness, damping = limits if isinstance(limits, tuple) else (limits, 0.0)
    return 0.0, stiffness, damping


def load(path: Path, **keywords: Any) -> Model:
    """Reads a model file; keywords as of :meth:`Model.from_file`."""
    return Model.from_file(path, **keywords)


def made_model(model: object) -> Model:
    """The same; raises if it is none, for instance a path."""
    if not isinstance(model, Model):
        raise ArgumentError(f"model: expected a linkwork.Model, as linkwork.load(path) gives, got {model!r:.80}")
    return model


# ----------------------------------------------------------------------------------------- assembly


@dataclasses.dataclass(frozen=True)
class Assembly:
    """An assembled model and a report of the changes."""

    model: Model
    iterations: int
    starts: int  #: how many starts were tried
    before: Tuple[float, float]  #: residuals of positions [m, rad] and velocities
    after: Tuple[float, float]
    moved: float  #: largest displacement of a mass centre [m]
    moved_body: str
    turned: float  #: largest rotation of a body [rad]
    rotated_body: str
    changed: float  #: largest change of a specified coordinate
    changed_joint: Optional[str]
    changed_speed: float
    changed_speed_joint: Optional[str]

    @classmethod
    def _of(cls, model: Model, report: Any) -> "Assembly":
        def joint(which: Any) -> Optional[str]:
            return model.joints[which.index].name if which.index >= 0 else None
        return cls(model, report.iterations, report.starts, tuple(report.before), tuple(report.after),
                   report.moved, model.bodies[report.moved_body.index].name, report.rotated,
                   model.bodies[report.rotated_body.index].name, report.changed,
                   joint(report.changed_joint), report.changed_speed,
                   joint(report.changed_speed_joint))


# -------------------------------------------------------------------------------------------- check

_AXES = ("fx", "fy", "fz", "tx", "ty", "tz")


def components(axes: int) -> Tuple[str, ...]:
    """Names of the components of a reaction in a set of bits."""
    return tuple(name for k, name in enumerate(_AXES) if axes >> k & 1)


@dataclasses.dataclass(frozen=True)
class Redundancy:
    """Redundancy at one joint at the start."""

    joint: str
    rows: int  #: constraint equations of the joint
    dependent: int  #: of them, those that depend on others
    open: int  #: directions of its reaction that are not unique
    axes: Tuple[str, ...]  #: those along axes of its first frame


@dataclasses.dataclass(frozen=True)
class Check:
    """Report of :meth:`Model.check` on the start of a model."""

    rows: int  #: constraint equations of all joints
    rank: int  #: independent ones
    dof: int  #: degrees of freedom now
    dof_generic: int  #: generically, at nearby configurations
    redundant: int
    residual: Tuple[float, float]  #: position, velocity
    followed: int  #: joints with speeds computed from the specified ones
    kept: float  #: smallest pivot of the independent rows
    kept_joint: Optional[str]  #: joint of that row
    dropped: float  #: largest pivot of the redundant rows
    conflict: float  #: accelerations that no motion satisfies
    conflict_joint: Optional[str]
    joints: Tuple[Redundancy, ...]
    loops: Tuple[Tuple[str, ...], ...]
    warnings: Tuple[str, ...]
    moving_drive: Optional[str]  #: the first joint whose motion starts with a speed
    drive_speed: float  #: this speed

    def __str__(self) -> str:
        lines = [f"degrees of freedom {self.dof}" + (
            f" here, {self.dof_generic} nearby: a singular position"
            if self.dof != self.dof_generic else "")]
        lines.append(f"constraints        {self.rows}, independent {self.rank}, "
                     f"redundant {self.redundant}")
        lines.append(f"residuals          {self.residual[0]:.1e} position, "
                     f"{self.residual[1]:.1e} velocity")
        if self.moving_drive:
            lines.append(f"starts in motion   that of joint '{self.moving_drive}' has the speed {self.drive_speed:.9g}")
        lines += [f"loop               {' '.join(loop)}" for loop in self.loops]
        lines += [f"joint '{j.joint}': {j.dependent} of {j.rows} equations redundant" + (
            f"; reaction not unique in {', '.join(j.axes) or 'some directions'}" if j.open else "")
                  for j in self.joints if j.dependent or j.open]
        if self.conflict_joint:
            lines.append(f"joint '{self.conflict_joint}': cannot have the accelerations asked for "
                         f"({self.conflict:.1e})")
        lines += [f"warning: {w}" for w in self.warnings]
        return "\n".join(lines)


def check_model(model: Model) -> Check:
    """See :meth:`Model.check`."""
    found, error = ffi.new("lw_check *"), ffi.new("lw_error *")
    joints = ffi.new("lw_redundancy[]", max(1, len(model.joints)))
    check(lib.lw_model_mobility(model._handle, found, joints, error), error)
    redundancy = tuple(
        Redundancy(joint.name, r.rows, r.dependent, r.open,
                   components(r.axes))
        for joint, r in zip(model.joints, joints))
    conflict = found.conflict_joint
    # relative to 1 plus the largest right-hand side: larger values are not round-off
    doubtful = found.conflict > 1e-6 and conflict >= 0
    return Check(found.rows, found.rank, found.dof, found.dof_generic, found.redundant,
                 tuple(found.residual), found.followed, found.kept,
                 model.joints[found.kept_joint].name if found.kept_joint >= 0 else None, found.dropped, found.conflict,
                 model.joints[conflict].name if doubtful else None, redundancy, model.loops,
                 model.warnings, model.joints[found.drive_joint].name if found.drive_joint >= 0 else None,
                 found.drive_speed)


__all__ = ["Assembly", "Body", "Check", "Joint", "Model", "Redundancy", "UnknownNameError", "load"]
