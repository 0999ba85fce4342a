#!/usr/bin/env python3
"""Inertias of bodies from meshes: Linkwork's reader and MuJoCo, each against integrals in extended precision.

usage: mesh_inertia.py [--limit 1e-6] FILE.xml ...

Of every body of an MJCF file, the mass, the mass centre and the inertia tensor about it in axes of the body; MuJoCo's tensor
is R diag(I) R' of its principal inertias and axes. Where all geoms with mass are meshes of STL files, of OBJ files with
triangles alone, or of vertices whose convex hull is filled, the same numbers are computed here too, from the files and in long double, by the definition of
MuJoCo's `inertia` of meshes (docs/meshes.md); of MuJoCo's compiler only the poses of the geoms are used.

A line for each model, the largest relative differences: of tensors to their largest element, of mass centres to the radius of
gyration:
  bodies   that have mass; of how many the integrals are computed here
  mass, centre, tensor   between Linkwork and MuJoCo, all bodies
  ours, MuJoCo's         of the tensors to the integrals
Where the two differ by much more than round-off, the last columns show of which one: MuJoCo's compiler ends its search for
principal axes early.
Exit status 1 if a difference to MuJoCo is above the limit, or if ours is farther from the integrals than 1e-12.
Needs the packages linkwork, mujoco, numpy, yaml; scipy for convex hulls.
"""
import argparse
import os
import sys
import tempfile

import mujoco
import numpy as np
import yaml

import linkwork as lw

REAL = np.longdouble
OURS = 1e-12
LEGACY, EXACT, CONVEX, SHELL = (getattr(mujoco.mjtMeshInertia, f"mjMESH_INERTIA_{n}")
                                for n in ("LEGACY", "EXACT", "CONVEX", "SHELL"))


def rotation(q):
    w, x, y, z = np.asarray(q, REAL) / np.sqrt(np.sum(np.asarray(q, REAL) ** 2))
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]], REAL)


def stl(path):
    """Corners [n, 3, 3] of a binary STL file."""
    with open(path, "rb") as file:
        data = file.read()
    n = int(np.frombuffer(data, "<u4", 1, 80)[0])
    if len(data) != 84 + 50 * n:
        raise ValueError("no binary STL")
    kind = np.dtype([("normal", "<f4", 3), ("corner", "<f4", (3, 3)), ("rest", "<u2")])
    return np.frombuffer(data, kind, n, 84)["corner"]


def obj(path):
    """Corners [n, 3, 3] of an OBJ file of one group of triangles."""
    vertices, faces, groups = [], [], 0
    with open(path, encoding="utf-8", errors="replace") as file:
        for words in (line.split() for line in file):
            if words and words[0] == "v":
                vertices.append([np.float32(x) for x in words[1:4]])
            if words and words[0] == "f":
                faces.append([int(w.split("/")[0]) for w in words[1:]])
            groups += bool(words and words[0] in ("o", "g"))
    if groups > 1 or any(len(f) != 3 or min(f) < 1 for f in faces):
        raise ValueError("polygons or groups")
    return np.array(vertices, np.float32)[np.array(faces) - 1]


def hull(vertices):
    from scipy.spatial import ConvexHull
    found = ConvexHull(np.asarray(vertices, float))
    corners = np.asarray(vertices, REAL)[found.simplices]
    inside = np.mean(np.asarray(vertices, REAL), axis=0)
    out = np.einsum("ij,ij->i", np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), corners[:, 0] - inside)
    corners[out < 0] = corners[out < 0][:, ::-1]
    return corners


def integrals(corners, fill, mirrored):
    """Volume or area, its centre, second moments about it."""
    def parts(origin):
        c = corners - origin
        cross = np.cross(c[:, 1] - c[:, 0], c[:, 2] - c[:, 0])
        if fill == SHELL:
            return c, np.sqrt(np.sum(cross * cross, axis=1)) / 2
        volume = np.einsum("ij,ij->i", c[:, 0], cross) / (-6 if mirrored else 6)
        return c, np.abs(volume) if fill == LEGACY else volume

    edges = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area = np.sqrt(np.sum(edges * edges, axis=1))
    surface = np.einsum("i,ij->j", area, np.sum(corners, axis=1)) / 3 / np.sum(area)
    c, v = parts(surface)
    centre = surface + np.einsum("i,ij->j", v, np.sum(c, axis=1)) / (3 if fill == SHELL else 4) / np.sum(v)
    c, v = parts(centre)
    total = np.sum(c, axis=1)
    moments = (np.einsum("i,ikj,ikl->jl", v, c, c) + np.einsum("i,ij,il->jl", v, total, total)) / (12 if fill == SHELL else 20)
    return np.sum(v), centre, moments


def tensor(moments):
    """The inertia tensor of second moments."""
    return np.trace(moments) * np.eye(3, dtype=REAL) - moments


class Model:
    def __init__(self, path):
        self.folder = os.path.dirname(os.path.abspath(path))
        self.spec = mujoco.MjSpec.from_file(path)
        self.m = self.spec.compile()
        self.solids = {}

    def solid(self, name):
        if name not in self.solids:
            mesh = self.spec.mesh(name)
            if np.any(mesh.refpos != 0) or np.any(mesh.refquat != [1, 0, 0, 0]):
                raise ValueError("refpos")
            fill, scale = mesh.inertia, np.asarray(mesh.scale, REAL)
            if mesh.file:
                read = {".stl": stl, ".obj": obj}.get(os.path.splitext(mesh.file)[1].lower())
                if not read:
                    raise ValueError("another format")
                corners = read(os.path.join(self.folder, self.spec.compiler.meshdir or "", mesh.file)).astype(REAL) * scale
                if fill == CONVEX:
                    corners = hull(corners.reshape(-1, 3))
            elif len(mesh.uservert) and not len(mesh.userface):
                corners, fill = hull(np.asarray(mesh.uservert, np.float32).reshape(-1, 3).astype(REAL) * scale), EXACT
            else:
                raise ValueError("not vertices alone")
            mirrored = fill == EXACT and mesh.file != "" and np.prod(scale) < 0
            self.solids[name] = integrals(corners, EXACT if fill == CONVEX else fill, mirrored)
        return self.solids[name]

    def body(self, k):
        """Mass, centre and tensor of a body by these integrals; ValueError: not from such meshes alone."""
        m, parts = self.m, []
        body = self.spec.body(m.body(k).name)
        if body.explicitinertial:
            raise ValueError("stated")
        for geom, i in zip(body.geoms, range(m.body_geomadr[k], m.body_geomadr[k] + m.body_geomnum[k])):
            if geom.mass == 0 or geom.density == 0:
                continue
            if geom.type != mujoco.mjtGeom.mjGEOM_MESH:
                raise ValueError("not a mesh")
            size, centre, moments = self.solid(geom.meshname)
            mass = REAL(geom.mass) if geom.mass > 0 else REAL(geom.density) * size
            mesh = m.geom_dataid[i]
            R = rotation(m.geom_quat[i]) @ rotation(m.mesh_quat[mesh]).T
            r = np.asarray(m.geom_pos[i], REAL) - R @ np.asarray(m.mesh_pos[mesh], REAL)
            parts.append((mass, r + R @ centre, R @ moments @ R.T * (mass / size)))
        total = sum(p[0] for p in parts)
        if not parts or abs(total / m.body_mass[k] - 1) > 1e-3:  # scaled or bounded
            raise ValueError("mass")
        centre = sum(mass * at for mass, at, _ in parts) / total
        moments = sum(own + mass * np.outer(at - centre, at - centre) for mass, at, own in parts)
        return total, centre, tensor(moments)


def ours(path):
    """{name: (mass, centre, tensor)} of the bodies."""
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "model.yaml")
        lw.load(path, open=True).write(name)
        with open(name, encoding="utf-8") as file:
            bodies = yaml.safe_load(file)["bodies"]
    found = {}
    for name, b in bodies.items():
        if "inertia" not in b:
            continue
        xx, yy, zz, xy, xz, yz = b["inertia"]
        A = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], REAL)
        R = rotation(b.get("inertia_axes", [1, 0, 0, 0]))
        found[name] = b["mass"], np.array(b.get("com", [0, 0, 0]), REAL), R @ A @ R.T
    return found


def off(A, B):
    return float(np.max(np.abs(A - B)) / np.max(np.abs(B)))


def compare(path):
    model, mine = Model(path), ours(path)
    m, worst, bodies, computed = model.m, dict.fromkeys(("mass", "centre", "tensor", "ours", "MuJoCo's"), 0.0), 0, 0
    for k in range(1, m.nbody):
        name = m.body(k).name
        if not m.body_mass[k] or name not in mine:
            continue
        bodies += 1
        mass, centre, A = mine[name]
        R = rotation(m.body_iquat[k])
        B = R @ np.diag(m.body_inertia[k].astype(REAL)) @ R.T
        radius = np.sqrt(np.max(np.abs(B)) / m.body_mass[k])
        found = {"mass": abs(float(mass / m.body_mass[k] - 1)), "tensor": off(A, B),
                 "centre": float(np.max(np.abs(centre - m.body_ipos[k])) / radius)}
        try:
            _, _, C = model.body(k)
            computed += 1
            found.update({"ours": off(A, C), "MuJoCo's": off(B, C)})
        except (ValueError, OSError):
            pass
        for what, x in found.items():
            worst[what] = max(worst[what], x)
    return bodies, computed, worst


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--limit", type=float, default=1e-6)
    arguments = parser.parse_args()
    bad = 0
    for n, path in enumerate(arguments.files):
        bodies, computed, worst = compare(path)
        if n == 0:
            print(f"{'model':44s} bodies {' '.join(f'{what:>9s}' for what in worst)}")
        good = max(worst[w] for w in ("mass", "centre", "tensor")) <= arguments.limit and worst["ours"] <= OURS
        bad += not good
        cells = [f"{x:9.1e}" if computed or what in ("mass", "centre", "tensor") else f"{'-':>9s}" for what, x in worst.items()]
        print(f"{'/'.join(path.split('/')[-2:]):44s} {computed:2d}/{bodies:3d} {' '.join(cells)}{'' if good else ' ABOVE'}", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
