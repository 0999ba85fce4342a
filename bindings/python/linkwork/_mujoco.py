"""Models of MuJoCo in memory: whatever MuJoCo compiles, from the arrays of the compiled model."""
from __future__ import annotations

import collections
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike

from ._builder import model_of
from ._errors import ArgumentError
from ._memory import Array
from ._model import Limits, Model, read_limits

# Values of MuJoCo's enums, the same in all its versions.
_FREE, _BALL, _SLIDE, _HINGE = range(4)
_CONNECT, _WELD, _JOINT, _TENDON = range(4)  # equalities
_ON_JOINT, _IN_PARENT, _CRANK, _ON_TENDON, _ON_SITE, _ON_BODY = range(6)
_WRAP_JOINT, _WRAP_PULLEY, _WRAP_SITE, _WRAP_SPHERE, _WRAP_CYLINDER = range(1, 6)
_BODY, _GEOM, _SITE = 1, 5, 6  # kinds of objects
_PLANE, _HFIELD, _SPHERE, _CAPSULE, _ELLIPSOID, _CYLINDER, _BOX = range(7)
_NO_EQUALITY, _NO_SPRING, _NO_DAMPER, _NO_GRAVITY, _NO_CLAMP, _NO_ACTUATION = 1 << 1, 1 << 5, 1 << 6, 1 << 7, 1 << 8, 1 << 11
_UNLIMITED = 1e300  # [N]
_SPEED = 0.01  # of dry friction, as in files [m/s, rad/s]
_NO_TURN = np.array([1.0, 0.0, 0.0, 0.0])

Pose = Tuple[Array, Array]  # position, quaternion (scalar first)


def _times(a: Array, b: Array) -> Array:
    """Product of two quaternions."""
    w, v = a[0] * b[0] - a[1:] @ b[1:], a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])
    return np.concatenate(([w], v))


def _turned(q: Array, v: Array) -> Array:
    t = 2 * np.cross(q[1:], v)
    result: Array = v + q[0] * t + np.cross(q[1:], t)
    return result


def _after(a: Pose, b: Pose) -> Pose:
    """The pose b, given in the frame of the pose a, in the frame in which a is given."""
    q = _times(a[1], b[1])
    return a[0] + _turned(a[1], b[0]), q / np.linalg.norm(q)


def _in(a: Pose, b: Pose) -> Pose:
    """The pose b in the frame of the pose a."""
    back = a[1] * [1, -1, -1, -1]
    return _turned(back, b[0] - a[0]), _times(back, b[1])


def _to_axis(axis: Array) -> Array:
    """A quaternion that takes z to an axis."""
    z = axis / np.linalg.norm(axis)
    if z[2] < -0.9:  # by half a turn about x first
        return _times(_to_axis(-z), np.array([0.0, 1.0, 0.0, 0.0]))
    q = np.array([1 + z[2], -z[1], z[0], 0.0])
    result: Array = q / np.linalg.norm(q)
    return result


def _frame(pose: Pose) -> Dict[str, Any]:
    return {"position": pose[0], "orientation": pose[1]}


class _Names:
    """Names of one kind of item, each once."""

    def __init__(self) -> None:
        self.taken: set[str] = {"ground"}

    def make(self, name: str, otherwise: str = "") -> str:
        name = name or otherwise
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name


class _Drive(NamedTuple):
    """An actuator along a length, (g0 + g1 l + g2 l') u + b0 + b1 l + b2 l': shares of joints in the length, or keys of a
    tendon."""

    name: str
    of: List[Tuple[int, float]]
    along: Dict[str, Any]
    gear: float
    gain: Array
    bias: Array
    ranges: Dict[str, Any]


class _Reading:
    """A compiled model, and the native description that is made of it."""

    def __init__(self, m: Any, qpos: Array, qvel: Array, limits: Limits) -> None:
        self.m, self.qpos, self.qvel, self.limits = m, qpos, qvel, limits
        self.off = int(m.opt.disableflags)
        self.gravity = np.zeros(3) if self.off & _NO_GRAVITY else np.array(m.opt.gravity)
        self.ignored: Dict[str, List[str]] = collections.OrderedDict()
        self.names = {kind: _Names() for kind in ("bodies", "joints", "forces", "markers", "inputs")}
        self.names["inputs"].taken |= {"t", "pi", "e"}  # of formulas
        self.drives: List[_Drive] = []
        self.given: Dict[str, Any] = {"gravity": self.gravity, "functions": {}, "inputs": [], "bodies": {}, "joints": {}, "couplings": [],
                                      "forces": {}, "markers": {}}
        self.body: List[str] = ["ground"]
        self.joint: List[str] = [""] * m.njnt
        self.world: List[Pose] = [(np.zeros(3), _NO_TURN)]

    def ignore(self, what: str, name: str = "") -> None:
        self.ignored.setdefault(what, []).append(name)

    def warnings(self) -> Tuple[str, ...]:
        lines = []
        for what, names in self.ignored.items():
            shown = [n for n in names if n]
            listed = ", ".join(shown[:20]) + (f" and {len(shown) - 20} more" if len(shown) > 20 else "")
            count = f" ({len(names)})" if len(names) > 1 else ""
            lines.append(f"mujoco: {what}{count}{': ' + listed if listed else ''}")
        return tuple(lines)

    # -------------------------------------------------------------------------------------- bodies

    def bodies(self) -> None:
        m = self.m
        named = {m.body(i).name for i in range(1, m.nbody)}
        for i in range(1, m.nbody):
            name = m.body(i).name
            if not name:
                name = f"body{i}"
                while name in named:
                    name += "_"
            self.body.append(self.names["bodies"].make(name, f"body{i}"))
        for i in range(1, m.nbody):
            pose = np.array(m.body_pos[i]), np.array(m.body_quat[i])
            parent = int(m.body_parentid[i])
            self.world.append(_after(self.world[parent], pose))
            self.given["bodies"][self.body[i]] = {
                "mass": m.body_mass[i], "com": m.body_ipos[i], "inertia": [*m.body_inertia[i], 0.0, 0.0, 0.0],
                "inertia_axes": m.body_iquat[i], "in": self.body[parent], **_frame(pose), "inertia_check": "warn",
                "shape": self.shapes(i) or None}
            if m.body_mocapid[i] >= 0:
                self.ignore("bodies moved by motion capture are fixed", self.body[i])

    def shapes(self, body: int) -> List[Dict[str, Any]]:
        m, found = self.m, []
        first = int(m.body_geomadr[body])
        for g in range(first, first + int(m.body_geomnum[body])):
            size, kind = m.geom_size[g], int(m.geom_type[g])
            drawn: Dict[int, Callable[[], Dict[str, Any]]] = {
                _SPHERE: lambda: {"sphere": size[0]}, _BOX: lambda: {"box": 2 * size},
                _ELLIPSOID: lambda: {"ellipsoid": size}, _CAPSULE: lambda: {"capsule": [size[0], 2 * size[1]]},
                _CYLINDER: lambda: {"cylinder": [size[0], 2 * size[1]]}}
            if kind in drawn:
                found.append({**drawn[kind](), "position": m.geom_pos[g], "orientation": m.geom_quat[g],
                              "color": np.clip(m.geom_rgba[g], 0, 1)})
            else:
                self.ignore("shapes of meshes, planes and height fields are not drawn")
        return found

    # -------------------------------------------------------------------------------------- joints

    def joints(self) -> None:
        m = self.m
        for j in range(m.njnt):
            self.joint[j] = m.joint(j).name
            if self.joint[j]:
                self.names["joints"].taken.add(self.joint[j])
        for i in range(1, m.nbody):
            first, count = int(m.body_jntadr[i]), int(m.body_jntnum[i])
            if count == 0:
                name = self.names["joints"].make(f"{self.body[i]}_fixed")
                self.given["joints"][name] = {
                    "type": "fixed", "between": [self.body[int(m.body_parentid[i])], self.body[i]],
                    "frame1": self.given_pose(i), "frame2": {}}
            before, pose = self.body[int(m.body_parentid[i])], (np.array(m.body_pos[i]), np.array(m.body_quat[i]))
            for k in range(count):
                last = k == count - 1
                if not self.joint[first + k]:
                    kind = "free" if m.jnt_type[first + k] == _FREE else "joint"
                    self.joint[first + k] = self.names["joints"].make(f"{self.body[i]}_{kind}{k + 1 if k else ''}")
                after = self.body[i] if last else self.between(i, self.joint[first + k])
                self.add_joint(first + k, i, before, after, pose)
                before, pose = after, (np.zeros(3), _NO_TURN)

    def given_pose(self, body: int) -> Dict[str, Any]:
        return _frame((np.array(self.m.body_pos[body]), np.array(self.m.body_quat[body])))

    def between(self, body: int, joint: str) -> str:
        """A massless body between two joints of a body."""
        name = self.names["bodies"].make(f"{self.body[body]}::{joint}")
        self.given["bodies"][name] = {"mass": 0.0, "in": self.body[int(self.m.body_parentid[body])],
                                      **self.given_pose(body)}
        return name

    def add_joint(self, j: int, body: int, before: str, after: str, pose: Pose) -> None:
        m, kind = self.m, int(self.m.jnt_type[j])
        at, dof = int(m.jnt_qposadr[j]), int(m.jnt_dofadr[j])
        keys: Dict[str, Any] = {"between": [before, after]}
        if kind == _FREE:
            q = self.qpos[at:at + 7]
            turn = q[3:] / np.linalg.norm(q[3:])
            v = self.qvel[dof:dof + 6]
            keys.update(type="free", frame1={}, frame2={}, q=[*q[:3], *turn],
                        qd=[*_turned(turn * [1, -1, -1, -1], v[:3]), *v[3:]])
            self.isotropic(j, keys, 6, body)
        elif kind == _BALL:
            frame = np.array(m.jnt_pos[j]), _NO_TURN
            q = self.qpos[at:at + 4]
            keys.update(type="spherical", frame1=_frame(_after(pose, frame)), frame2=_frame(frame),
                        q=q / np.linalg.norm(q), qd=self.qvel[dof:dof + 3])
            self.isotropic(j, keys, 3, body)
        else:
            frame = np.array(m.jnt_pos[j]), _to_axis(np.array(m.jnt_axis[j]))
            ref = float(m.qpos0[at])
            back = ((np.zeros(3), np.array([np.cos(ref / 2), 0, 0, -np.sin(ref / 2)])) if kind == _HINGE
                    else (np.array([0, 0, -ref]), _NO_TURN))
            keys.update(type="revolute" if kind == _HINGE else "prismatic", frame2=_frame(frame),
                        frame1=_frame(_after(_after(pose, frame), back)), q=[self.qpos[at]], qd=[self.qvel[dof]])
            self.scalar(j, keys)
        self.given["joints"][self.joint[j]] = keys

    def polynomial(self, values: str, index: int) -> Array:
        """Quadratic and cubic coefficients, which older versions do not have."""
        array = getattr(self.m, values, None)
        return np.zeros(2) if array is None else np.array(array[index])

    def scalar(self, j: int, keys: Dict[str, Any]) -> None:
        m, dof, name = self.m, int(self.m.jnt_dofadr[j]), self.joint[j]
        k, c = float(m.jnt_stiffness[j]), float(m.dof_damping[dof])
        k2, c2 = self.polynomial("jnt_stiffnesspoly", j), self.polynomial("dof_dampingpoly", dof)
        if self.off & _NO_SPRING:
            k, k2 = 0.0, np.zeros(2)
        if self.off & _NO_DAMPER:
            c, c2 = 0.0, np.zeros(2)
        at = float(m.qpos_spring[m.jnt_qposadr[j]])
        spring: Dict[str, Any] = {"stiffness": k, "damping": c, "at": at if k else None}
        if k2.any() or c2.any():
            x, v = f"({_quoted(name)}.q0 - ({at!r}))", f"{_quoted(name)}.qd0"
            spring["force"] = {"type": "formula", "of": (
                f"-({k2[0]!r})*{x}^2 - ({k2[1]!r})*{x}^3 - ({c2[0]!r})*{v}*abs({v}) - ({c2[1]!r})*{v}^3".replace("np.float64", ""))}
        if k or c or "force" in spring:
            keys["spring"] = {"q0": spring}
        if m.dof_armature[dof]:
            keys["rotor"] = {"q0": m.dof_armature[dof]}
        if m.dof_frictionloss[dof]:
            keys["friction"] = {"q0": {"coulomb": m.dof_frictionloss[dof], "speed": _SPEED}}
        if m.jnt_limited[j] and self.limits in (None, "ignore"):
            self.ignore("limits are not enforced, joints", name)
        if m.jnt_limited[j] and m.jnt_range[j, 0] < m.jnt_range[j, 1]:
            keys["limits"] = {"q0": {"lower": m.jnt_range[j, 0], "upper": m.jnt_range[j, 1], "stiffness": 0}}

    def isotropic(self, j: int, keys: Dict[str, Any], n: int, body: int) -> None:
        """Ball and free joints: the same about all axes."""
        m, dof, name = self.m, int(self.m.jnt_dofadr[j]), self.joint[j]
        dofs = slice(dof, dof + n)
        same = all(len(set(np.array(x[dofs]))) == 1 for x in (m.dof_damping, m.dof_armature))
        if not same:
            self.ignore("dampers and armatures of ball and free joints that differ between axes count as the first", name)
        if m.dof_damping[dof] and not self.off & _NO_DAMPER:
            keys["spring"] = {"all": {"damping": m.dof_damping[dof]}}
        loss = np.array(m.dof_frictionloss[dofs])
        if loss.any():
            keys["friction"] = {f"q{k}": {"coulomb": loss[k], "speed": _SPEED} for k in range(n)}
        stiffness = float(m.jnt_stiffness[j])
        if stiffness and not self.off & _NO_SPRING:
            self.isotropic_spring(j, keys, stiffness, body)
        if any(self.polynomial(p, i).any() for p, i in (("jnt_stiffnesspoly", j), ("dof_dampingpoly", dof))):
            self.ignore("quadratic and cubic springs and dampers of ball and free joints", name)
        if m.dof_armature[dof] and n == 6:
            self.free_armature(body, float(m.dof_armature[dof]))
        elif m.dof_armature[dof]:
            self.ignore("armature of ball joints", name)
        if m.jnt_limited[j]:
            self.ignore("limits of ball joints", name)

    def isotropic_spring(self, j: int, keys: Dict[str, Any], stiffness: float, body: int) -> None:
        along = stiffness if self.m.jnt_type[j] == _FREE else 0.0
        at = int(self.m.jnt_qposadr[j]) + (3 if along else 0)
        rest = np.array(self.m.qpos_spring[at:at + 4])
        frame1 = ((np.array(self.m.qpos_spring[at - 3:at]), rest) if along
                  else _after((keys["frame1"]["position"], keys["frame1"]["orientation"]), (np.zeros(3), rest)))
        self.force(f"{self.joint[j]}_spring", {
            "type": "bushing", "between": keys["between"], "frame1": _frame(frame1), "frame2": keys["frame2"],
            "stiffness": [along] * 3 + [stiffness] * 3})

    def free_armature(self, body: int, armature: float) -> None:
        """A body without weight that moves along has the kinetic energy of the armature."""
        name = self.names["bodies"].make(f"{self.body[body]}::armature")
        self.given["bodies"][name] = {"mass": armature, "inertia": [armature] * 3 + [0.0] * 3, "in": self.body[body]}
        self.given["joints"][self.names["joints"].make(f"{self.body[body]}_armature")] = {
            "type": "fixed", "between": [self.body[body], name], "frame1": {}, "frame2": {}}
        if self.gravity.any():
            self.force(name, {"type": "wrench", "body": name, "force": -armature * self.gravity})

    # -------------------------------------------------------------------------------------- forces

    def force(self, name: str, keys: Dict[str, Any]) -> None:
        self.given["forces"][self.names["forces"].make(name)] = keys

    def compensation(self) -> None:
        m = self.m
        for i in range(1, m.nbody):
            f = self.compensating(i)
            if f.any():
                self.force(f"{self.body[i]}_gravcomp", {"type": "wrench", "body": self.body[i],
                                                        "point": m.body_ipos[i], "force": f})

    # ---------------------------------------------------------------------------------- equalities

    def ends(self, e: int) -> Optional[Tuple[List[int], List[Pose]]]:
        """Bodies of a connect or weld, and the frames on them that coincide."""
        m, ids = self.m, (int(self.m.eq_obj1id[e]), int(self.m.eq_obj2id[e]))
        if int(m.eq_objtype[e]) == _SITE:
            return ([int(m.site_bodyid[s]) for s in ids],
                    [(np.array(m.site_pos[s]), np.array(m.site_quat[s])) for s in ids])
        data = np.array(m.eq_data[e])
        if m.eq_type[e] == _CONNECT:
            return list(ids), [(data[:3], _NO_TURN), (data[3:6], _NO_TURN)]
        return list(ids), [(data[3:6], data[6:10] / np.linalg.norm(data[6:10])), (data[:3], _NO_TURN)]

    def equalities(self) -> None:
        m, connects = self.m, {}  # type: Any, Dict[Tuple[int, int], Tuple[str, List[int], List[Pose]]]
        if self.off & _NO_EQUALITY:
            return
        for e in range(m.neq):
            name, kind = m.equality(e).name, int(m.eq_type[e])
            if not m.eq_active0[e]:
                self.ignore("inactive equalities", name)
            elif kind in (_CONNECT, _WELD):
                self.tie(e, kind, name, connects)
            elif kind == _JOINT:
                self.couple(e, int(m.eq_obj1id[e]), int(m.eq_obj2id[e]), 1.0, 1.0, name)
            elif kind == _TENDON:
                self.couple_tendons(e, name)
            else:
                self.ignore("equalities of flexible bodies", name)

    def tie(self, e: int, kind: int, name: str, connects: Dict[Any, Any]) -> None:
        bodies, frames = self.ends(e) or ([0, 0], [])
        first, second = self.body[bodies[0]], self.body[bodies[1]]
        if bodies[0] == bodies[1]:
            raise ArgumentError(f"equality '{name or e}': both ends are on body '{first}'")
        pair = (min(bodies), max(bodies))
        if kind == _CONNECT and pair in connects and self.hinge(connects.pop(pair), bodies, frames):
            return
        kind_name = "connect" if kind == _CONNECT else "weld"
        name = self.names["joints"].make(name, f"{first if bodies[0] else second}_{kind_name}")
        self.given["joints"][name] = {"type": "spherical" if kind == _CONNECT else "fixed", "between": [first, second],
                                      "frame1": _frame(frames[0]), "frame2": _frame(frames[1]), "cut": "prefer"}
        if kind == _CONNECT:
            connects[pair] = name, bodies, frames

    def hinge(self, other: Tuple[str, List[int], List[Pose]], bodies: List[int], frames: List[Pose]) -> bool:
        """Two connects of the same bodies are a hinge through both points."""
        name, theirs, start = other
        ends = frames if theirs == bodies else frames[::-1]
        lines = [b[0] - a[0] for a, b in zip(start, ends)]
        if min(np.linalg.norm(line) for line in lines) < 1e-6:
            return False  # the same point twice
        keys = self.given["joints"][name]
        keys["type"] = "revolute"
        for k in range(2):
            keys[f"frame{k + 1}"] = _frame((start[k][0], _to_axis(lines[k])))
        self.ignore("note: two connects of the same bodies are one revolute joint", name)
        return True

    def is_scalar(self, j: int) -> bool:
        return int(self.m.jnt_type[j]) in (_SLIDE, _HINGE)

    def couple(self, e: int, j: int, of: int, factor: float, factor_of: float, name: str) -> None:
        """factor (q_j - ref) = polynomial(factor_of (q_of - ref)); without `of` the coordinate is held."""
        m, c = self.m, np.array(self.m.eq_data[e, :5])
        for k in [j] + ([of] if of >= 0 else []):
            if not self.is_scalar(k):
                raise ArgumentError(f"equality '{name or e}': joint '{self.joint[k]}' is neither a hinge nor a slide")
        y0 = float(m.qpos0[m.jnt_qposadr[j]])
        if of < 0:
            keys = self.given["joints"][self.joint[j]]
            value = y0 + c[0] / factor
            keys.update(motion={"q0": value}, q=[value], qd=[0.0])
            return
        x0 = float(m.qpos0[m.jnt_qposadr[of]])
        p = np.polynomial.Polynomial(c * factor_of ** np.arange(5) / factor)
        shifted = p(np.polynomial.Polynomial([-x0, 1.0])) + y0
        coefficients = np.trim_zeros(shifted.coef, "b")
        self.given["couplings"].append({"joint": self.joint[j], "coordinate": "q0", "of": self.joint[of], "with": "q0",
                                        "polynomial": coefficients if len(coefficients) else [0.0]})

    def couple_tendons(self, e: int, name: str) -> None:
        m = self.m
        ids = [int(m.eq_obj1id[e]), int(m.eq_obj2id[e])]
        terms = [self.terms(t) if t >= 0 else [] for t in ids]
        if len(terms[0]) != 1 or (ids[1] >= 0 and len(terms[1]) != 1):
            self.ignore("equalities of tendons over several joints, or spatial ones", name)
            return
        (j, a), (of, b) = terms[0][0], terms[1][0] if terms[1] else (-1, 1.0)
        self.couple(e, j, of, a, b, name)

    # ------------------------------------------------------------------------- tendons, actuators

    def terms(self, tendon: int) -> List[Tuple[int, float]]:
        """Joints of a fixed tendon and their coefficients; none: a spatial one."""
        m = self.m
        first, count = int(m.tendon_adr[tendon]), int(m.tendon_num[tendon])
        wraps = range(first, first + count)
        if any(int(m.wrap_type[w]) != _WRAP_JOINT for w in wraps):
            return []
        return [(int(m.wrap_objid[w]), float(m.wrap_prm[w])) for w in wraps if m.wrap_prm[w]]

    def tendons(self) -> None:
        m = self.m
        for t in range(m.ntendon):
            name, terms = m.tendon(t).name, self.terms(t)
            k, c = float(m.tendon_stiffness[t]), float(m.tendon_damping[t])
            if self.off & _NO_SPRING:
                k = 0.0
            if self.off & _NO_DAMPER:
                c = 0.0
            if m.tendon_limited[t]:
                self.tendon_limits(t, terms)
            loss = float(m.tendon_frictionloss[t])
            rest = [
                "frictionloss of fixed" if loss and terms else "",
                "armature" if getattr(m, "tendon_armature", np.zeros(m.ntendon))[t] else "",
                "quadratic and cubic laws" if any(self.polynomial(p, t).any()
                                                  for p in ("tendon_stiffnesspoly", "tendon_dampingpoly")) else ""]
            for what in filter(None, rest):
                self.ignore(f"{what} tendons" if what.endswith("fixed") else f"{what} of tendons", name)
            lower, upper = m.tendon_lengthspring[t]
            if not terms:
                if k or c or loss:
                    self.force(f"{name or f'tendon{t + 1}'}_spring", {
                        "type": "tendon", **self.path(t), "stiffness": k, "length": upper, "slack": upper - lower,
                        "damping": c, "coulomb": loss})
                continue
            if k and lower != upper:
                self.ignore("springs of fixed tendons with slack", name)
                k = 0.0
            if k or c:
                self.force(f"{name or f'tendon{t + 1}'}_spring", {
                    "type": "servo", "of": self.shares(terms), "bias": [k * lower, -k, -c]})

    def tendon_limits(self, t: int, terms: List[Tuple[int, float]]) -> None:
        """Stops at the ends of a tendon's range, as in files: they only push back."""
        m, name = self.m, self.m.tendon(t).name
        time, k, c = read_limits(self.limits)
        if not time and not k:
            self.ignore("limits are not enforced, tendons", name)
            return
        if time:
            inverse = float(m.tendon_invweight0[t])  # of the inertia along the tendon
            if not inverse > 0:
                self.ignore("limits are not enforced, nothing with inertia moves with the tendons", name)
                return
            k, c = 1 / (inverse * time**2), 2 / (inverse * time)
        for end, efforts, at in zip(("lower", "upper"), ((0.0, _UNLIMITED), (-_UNLIMITED, 0.0)), m.tendon_range[t]):
            along = {"type": "servo", "of": self.shares(terms)} if terms else {"type": "tendon", **self.path(t)}
            self.force(f"{name or f'tendon{t + 1}'}_{end}", {
                **along, "bias": [k * float(at), -k, -c], "effort_range": list(efforts)})

    def path(self, tendon: int) -> Dict[str, Any]:
        """The path of a spatial tendon."""
        m = self.m
        path: List[Dict[str, Any]] = []
        first = int(m.tendon_adr[tendon])
        for w in range(first, first + int(m.tendon_num[tendon])):
            kind, i, prm = int(m.wrap_type[w]), int(m.wrap_objid[w]), float(m.wrap_prm[w])
            if kind == _WRAP_PULLEY:
                path.append({"pulley": prm})
            elif kind == _WRAP_SITE:
                path.append({"body": self.body[int(m.site_bodyid[i])], "point": m.site_pos[i]})
            elif kind in (_WRAP_SPHERE, _WRAP_CYLINDER):
                part: Dict[str, Any] = {"body": self.body[int(m.geom_bodyid[i])], "point": m.geom_pos[i],
                                        "radius": m.geom_size[i, 0]}
                if kind == _WRAP_CYLINDER:
                    part["axis"] = _turned(np.array(m.geom_quat[i]), np.array([0.0, 0.0, 1.0]))
                side = round(prm)
                if side >= 0:
                    part.update(side=m.site_pos[side], side_body=self.body[int(m.site_bodyid[side])])
                path.append(part)
        return {"path": path}

    def crank(self, i: int) -> Dict[str, Any]:
        """The slider-crank of an actuator."""
        m = self.m
        crank, slider = (int(k) for k in m.actuator_trnid[i, :2])
        return {"slider_crank": {
            "crank": self.body[int(m.site_bodyid[crank])], "crank_point": m.site_pos[crank],
            "slider": self.body[int(m.site_bodyid[slider])], "slider_point": m.site_pos[slider],
            "axis": _turned(np.array(m.site_quat[slider]), np.array([0.0, 0.0, 1.0])), "rod": m.actuator_cranklength[i]}}

    def shares(self, terms: Sequence[Tuple[int, float]]) -> List[Dict[str, Any]]:
        return [{"joint": self.joint[j], "factor": c} for j, c in terms]

    def actuators(self) -> None:
        count = 0 if self.off & _NO_ACTUATION else self.m.nu if not hasattr(self.m, "nactuator") else self.m.nactuator
        for i in range(count):
            self.actuator(i)
        self.add_drives(count > 0)

    def actuator(self, i: int) -> None:
        m, name = self.m, self.m.actuator(i).name
        kind, target = int(m.actuator_trntype[i]), int(m.actuator_trnid[i, 0])
        control = int(m.actuator_ctrladr[i]) if hasattr(m, "actuator_ctrladr") else i
        affine = (m.actuator_dyntype[i] == 0 and m.actuator_gaintype[i] in (0, 1) and m.actuator_biastype[i] in (0, 1))
        plugin = hasattr(m, "actuator_plugin") and m.actuator_plugin[i] >= 0
        if not affine or plugin:
            self.ignore("actuators with an internal state or a law that is not affine", name)
            return
        gear = np.array(m.actuator_gear[i])
        gain = np.array(m.actuator_gainprm[i, :3]) * ([1, 1, 1] if m.actuator_gaintype[i] == 1 else [1, 0, 0])
        bias = np.array(m.actuator_biasprm[i, :3]) * (m.actuator_biastype[i] == 1)
        ranges: Dict[str, Any] = {}
        if m.actuator_ctrllimited[control] and not self.off & _NO_CLAMP:
            ranges["target_range"] = np.array(m.actuator_ctrlrange[control])
        if m.actuator_forcelimited[i]:
            ranges["effort_range"] = np.array(m.actuator_forcerange[i])
        of = self.target(i, name, kind, target)
        along = self.along(i, kind, target) if not of else {}
        if of is None:
            return
        name = self.names["inputs"].make(name, f"actuator{i + 1}")
        self.given["inputs"].append(name)
        if kind == _ON_SITE:
            self.site_actuator(name, target, gain, bias, gear, bool(ranges))
            return
        if not gear[0]:
            self.ignore("actuators with gear 0", name)
            return
        self.drives.append(_Drive(name, of, along, float(gear[0]), gain, bias, ranges))

    def add_drives(self, acts: bool) -> None:
        """Servos; where the range of a joint limits a sum, formulas in their place."""
        limited = getattr(self.m, "jnt_actfrclimited", np.zeros(self.m.njnt))
        weights = self.actuated_compensations(acts)
        on: Dict[int, List[_Drive]] = {}
        for drive in self.drives:
            for j in {j for j, _ in drive.of}:
                on.setdefault(j, []).append(drive)
        sums = {j for j, drives in on.items()
                if limited[j] and (len(drives) > 1 or drives[0].of != [(j, 1.0)])} | set(weights)
        summed = [d for d in self.drives if any(j in sums for j, _ in d.of)]
        names = {d.name for d in summed}
        for drive in self.drives:
            if drive.name not in names:
                if len(drive.of) == 1 and drive.of[0][1] == 1:
                    self.joint_range(drive.of[0][0], drive.gear, drive.ranges)
                if drive.along:
                    self.note_ranges()
                self.servo(drive)
        for j in {j for d in summed for j, _ in d.of} | set(weights):
            terms = [f"({float(d.gear * sum(c for k, c in d.of if k == j))!r})*({self.force_text(d)})" for d in summed
                     if any(k == j for k, _ in d.of)]
            terms += [_quoted(weights[j])] if j in weights and acts else []
            text = " + ".join(terms) or "0"
            if j in sums and limited[j]:
                text = _clipped(text, self.m.jnt_actfrcrange[j])
            if j in weights:
                text = f"{text} - {_quoted(weights[j])}"  # which the forces of the bodies contain
            self.given["joints"][self.joint[j]].setdefault("effort", {})["q0"] = text

    def actuated_compensations(self, acts: bool) -> Dict[int, str]:
        """Formulas of the gravity compensation that counts as effort of actuators, where that is not the same: at joints
        with a range, or where no actuator acts."""
        m, names = self.m, {}
        limited = getattr(m, "jnt_actfrclimited", np.zeros(m.njnt))
        for j in np.flatnonzero(getattr(m, "jnt_actgravcomp", np.zeros(m.njnt))):
            outer = [i for i in range(1, m.nbody) if self.carries(int(m.jnt_bodyid[j]), i)
                     and self.compensating(i).any()]
            if not outer or (acts and not limited[j]):
                continue
            text = self.moment(int(j), outer) if self.is_scalar(int(j)) else None
            if text is None:
                self.ignore("gravity compensation is not part of the limited effort, joints", self.joint[j])
                continue
            names[int(j)] = self.names["inputs"].make(f"{self.joint[j]}_gravcomp")
            self.given["functions"][names[int(j)]] = {"type": "formula", "of": text}
        return names

    def carries(self, body: int, other: int) -> bool:
        while other > body:
            other = int(self.m.body_parentid[other])
        return other == body

    def moment(self, j: int, outer: List[int]) -> Optional[str]:
        """The effort of the compensating forces at a scalar joint: (b - a) . sum f, or (b - a) . sum (r - a) x f, with points
        a, b on its axis; none: the formula would be too long."""
        m, after = self.m, self.given["joints"][self.joint[j]]["between"][1]
        if len(outer) > 19:  # a formula reads 64 coordinates
            return None
        a, b = (self.names["markers"].make(f"{self.joint[j]}_{end}") for end in ("anchor", "axis"))
        for name, at in ((a, m.jnt_pos[j]), (b, m.jnt_pos[j] + m.jnt_axis[j])):
            self.given["markers"][name] = {"body": after, "position": np.array(at)}
        parts = []
        for k, x in enumerate("xyz"):
            along = f"(marker.{_quoted(b)}.{x} - marker.{_quoted(a)}.{x})"
            if m.jnt_type[j] == _HINGE:
                terms = [f"({sign * float(f)!r})*(body.{_quoted(self.body[i])}.{y} - marker.{_quoted(a)}.{y})"
                         for i in outer for sign, y, f in (
                             (1, "xyz"[(k + 1) % 3], self.compensating(i)[(k + 2) % 3]),
                             (-1, "xyz"[(k + 2) % 3], self.compensating(i)[(k + 1) % 3])) if f]
            else:
                total = float(sum(self.compensating(i)[k] for i in outer))
                terms = [f"({total!r})"] if total else []
            if terms:
                parts.append(f"{along}*({' + '.join(terms)})")
        text = " + ".join(parts) or "0"
        return text if len(text) < 4000 else None

    def compensating(self, body: int) -> Array:
        return np.asarray(-self.m.body_gravcomp[body] * self.m.body_mass[body] * self.gravity)

    def force_text(self, drive: "_Drive") -> str:
        """The force of an actuator along its length, as a formula."""
        def affine(c: Array) -> str:
            parts = [f"({float(c[0])!r})"]
            for k, of in ((1, "q0"), (2, "qd0")):
                if c[k]:
                    length = " + ".join(f"({float(f)!r})*{_quoted(self.joint[j])}.{of}" for j, f in drive.of)
                    parts.append(f"({float(c[k]) * drive.gear!r})*({length})")
            return "(" + " + ".join(parts) + ")"
        control = _quoted(drive.name)
        if "target_range" in drive.ranges:
            control = _clipped(control, drive.ranges["target_range"])
        text = f"{affine(drive.gain)}*{control} + {affine(drive.bias)}"
        return _clipped(text, drive.ranges["effort_range"]) if "effort_range" in drive.ranges else text

    def target(self, i: int, name: str, kind: int, target: int) -> Optional[List[Tuple[int, float]]]:
        m = self.m
        if kind in (_ON_JOINT, _IN_PARENT):
            if self.is_scalar(target):
                return [(target, 1.0)]
            self.ignore("actuators of ball and free joints", name)
        elif kind == _ON_TENDON:
            terms = self.terms(target)
            if terms:
                if getattr(m, "tendon_actfrclimited", np.zeros(m.ntendon))[target]:
                    self.ignore("actuatorfrcrange of tendons", m.tendon(target).name)
            return terms
        elif kind == _CRANK or (kind == _ON_SITE and m.actuator_trnid[i, 1] < 0):
            return []
        else:
            self.ignore("actuators that act neither on a joint, a tendon or a slider-crank nor at a site alone", name)
        return None

    def along(self, i: int, kind: int, target: int) -> Dict[str, Any]:
        """Keys of a tendon along which an actuator acts; none: it acts on joints or at a site."""
        if kind == _CRANK:
            return self.crank(i)
        return self.path(target) if kind == _ON_TENDON else {}

    def joint_range(self, j: int, gear: float, ranges: Dict[str, Any]) -> None:
        """The efforts that the joint takes, as a range of the actuator."""
        m = self.m
        if not getattr(m, "jnt_actfrclimited", np.zeros(m.njnt))[j]:
            return
        limit = np.sort(np.array(m.jnt_actfrcrange[j]) / gear)
        ranges["effort_range"] = np.clip(ranges["effort_range"], *limit) if "effort_range" in ranges else limit

    def note_ranges(self) -> None:
        for j in np.flatnonzero(getattr(self.m, "jnt_actfrclimited", np.zeros(self.m.njnt))):
            what = "actuatorfrcrange does not limit actuators of spatial tendons and slider-cranks, joints"
            if self.joint[j] not in self.ignored.get(what, []):
                self.ignore(what, self.joint[j])

    def servo(self, drive: _Drive) -> None:
        of, gain, bias = drive.of, drive.gain, drive.bias
        keys: Dict[str, Any] = {"type": "tendon" if drive.along else "servo", "target": drive.name, "gear": drive.gear,
                                **drive.along}
        if len(of) == 1 and of[0][1] == 1:
            keys["joint"] = self.joint[of[0][0]]
        elif of:
            keys["of"] = self.shares(of)
        if gain[0] > 0 and gain[0] == -bias[1] and not gain[1:].any():
            keys["kp"], gain, bias = gain[0], np.zeros(3), bias * [1, 0, 1]
        if bias[2] < 0:
            keys["kd"], bias = -bias[2], bias * [1, 1, 0]
        if gain.any():
            keys["gain"] = gain
        if bias.any():
            keys["bias"] = bias
        self.force(drive.name, {**keys, **drive.ranges})

    def site_actuator(self, name: str, site: int, gain: Array, bias: Array, gear: Array, limited: bool) -> None:
        m, body, q = self.m, int(self.m.site_bodyid[site]), np.array(self.m.site_quat[site])
        if limited:
            self.ignore("ranges of actuators at sites; keep their inputs within", name)
        if bias.any() or gain[1:].any():
            self.ignore("laws of actuators at sites but a constant gain", name)
        if body:
            self.force(name, {"type": "wrench", "body": self.body[body], "point": m.site_pos[site], "axes": "body",
                              "force": _turned(q, gain[0] * gear[:3]), "torque": _turned(q, gain[0] * gear[3:]),
                              "scale": name})

    # ----------------------------------------------------------------------------------------- rest

    def markers(self) -> None:
        m = self.m
        for s in range(m.nsite):
            if m.site(s).name:
                self.given["markers"][self.names["markers"].make(m.site(s).name)] = {
                    "body": self.body[int(m.site_bodyid[s])],
                    **_frame((np.array(m.site_pos[s]), np.array(m.site_quat[s])))}

    def rest(self) -> None:
        """What has no counterpart."""
        m = self.m
        solid = [g for g in range(m.ngeom) if m.geom_contype[g] or m.geom_conaffinity[g]]
        if solid:
            self.ignore(f"contacts between {len(solid)} geoms")
        if m.opt.density or m.opt.viscosity:
            self.ignore("forces of the medium (density, viscosity)")
        for count, what in ((m.nflex, "flexible bodies"), (m.nsensor, "sensors"), (m.nplugin, "plugins")):
            if count:
                self.ignore(f"{count} {what}")

    def read(self) -> Dict[str, Any]:
        self.bodies()
        self.joints()
        self.equalities()
        self.tendons()
        self.markers()
        self.actuators()
        self.compensation()
        self.rest()
        if not self.given["bodies"]:
            raise ArgumentError("from_mujoco: the model has no bodies but the world")
        return {k: v for k, v in self.given.items() if k == "gravity" or len(v)}


def _clipped(text: str, limits: Any) -> str:
    return f"max({float(limits[0])!r}, min({float(limits[1])!r}, {text}))"


def _quoted(name: str) -> str:
    return "'" + name.replace("'", "''") + "'"


def _compiled(model: Any) -> Any:
    """An MjModel of a model or a specification."""
    if hasattr(model, "body_iquat"):
        return model
    if not hasattr(model, "compile") or not hasattr(model, "worldbody"):
        raise ArgumentError(f"from_mujoco: expected a mujoco.MjModel or mujoco.MjSpec, got {model!r:.80}")
    try:
        return model.compile()
    except Exception as error:  # of any class, by version
        raise ArgumentError(f"from_mujoco: MuJoCo does not compile the specification: {error}") from error


def from_mujoco(model: Any, *, keyframe: Union[None, str, int] = None, qpos: Optional[ArrayLike] = None,
                qvel: Optional[ArrayLike] = None, limits: Limits = None, cut: Union[None, str, Sequence[str]] = None,
                open: bool = False, **options: Any) -> Model:
    """A model of a live ``mujoco.MjModel`` or ``mujoco.MjSpec``: whatever MuJoCo compiles (``<composite>``,
    ``<attach>``, ``<replicate>``, meshes), from the arrays of the compiled model, with its names.

    Joints, springs, dampers, dry friction, armature, equalities, affine actuators and gravity compensation act;
    :attr:`Model.warnings` lists what is ignored, contacts above all. The package mujoco is not imported here.

    :param keyframe: name or number of the key that is the start; default: ``qpos0`` at rest
    :param qpos: the start, in MuJoCo's order, for instance ``data.qpos``
    :param qvel: its speeds
    :param limits: as of :func:`load`
    :param cut: names of joints at which loops are cut
    :param open: accept a start that does not close, for :meth:`Model.assemble`
    :param options: options of runs
    """
    m = _compiled(model)
    start, speeds = np.array(m.qpos0), np.zeros(m.nv)
    if keyframe is not None:
        try:
            key = m.key(keyframe)
        except (KeyError, IndexError) as error:
            raise ArgumentError(f"from_mujoco: there is no keyframe {keyframe!r}: {error}") from None
        start, speeds = np.array(key.qpos), np.array(key.qvel)
    for what, given, array in (("qpos", qpos, start), ("qvel", qvel, speeds)):
        if given is None:
            continue
        values = np.asarray(given, dtype=float)
        if values.shape != array.shape or not np.isfinite(values).all():
            raise ArgumentError(f"from_mujoco: {what} has shape {values.shape}, expected {array.shape} finite numbers")
        array[:] = values
    reading = _Reading(m, start, speeds, limits)
    made = model_of(reading.read(), limits=limits, cut=cut, open=open, **options)
    object.__setattr__(made, "warnings", reading.warnings() + made.warnings)  # not yet shared
    return made


__all__ = ["from_mujoco"]
