#!/usr/bin/env python3
"""Forward dynamics of URDF robots, compared with Pinocchio: a table.

usage: robots.py [--states 50] [--limit 1e-11] [FOLDER or FILE...]

Default: all robots of the package example-robot-data, if it is installed with Pinocchio. Each robot is read with a fixed
and with a floating base; at random states (positions, speeds, efforts) the accelerations of `Data.forward_dynamics`
are compared with those of `pin.aba`. Where joints mimic others, which `pin.aba` does not know, the reference
eliminates their coordinates, q = G u + c, from Pinocchio's mass matrix and bias: G' M G du/dt = G'(tau - h). Friction,
which Pinocchio does not apply, is left out of the file. A body with an inertia that no mass distribution has is accepted.

Columns: free speeds; error, the largest difference relative to the largest acceleration of its state; `own`, the same
difference between two ways of Pinocchio (`aba`, and Cholesky of `crba` and `rnea`), which shows what round-off does to
an ill-conditioned robot. A robot is right if the error is below the limit, or below ten times `own`.
A robot that Linkwork refuses counts as wrong, unless Pinocchio refuses its mimic joints or has no finite accelerations.
Needs the packages linkwork, pin, numpy. Exit status: 0, or 1 if a robot is wrong.
"""
import argparse
import contextlib
import os
import pathlib
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pinocchio as pin

import linkwork as lw

def find_robots(places):
    if not places:
        share = pathlib.Path(pin.__file__).resolve().parents[4] / "share" / "example-robot-data" / "robots"
        if not share.is_dir():
            sys.exit("there is no example-robot-data beside Pinocchio; name a folder or files")
        places = [share]
    files = []
    for place in map(pathlib.Path, places):
        files += sorted(place.rglob("*.urdf")) if place.is_dir() else [place]
    return files


@contextlib.contextmanager
def quiet():
    """Readers print to the streams of C."""
    keep = os.dup(1), os.dup(2)
    with open(os.devnull, "w") as null:
        os.dup2(null.fileno(), 1), os.dup2(null.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(keep[0], 1), os.dup2(keep[1], 2)
            os.close(keep[0]), os.close(keep[1])


class Reference:
    """Pinocchio's model of one file, with what its aba does not know."""

    def __init__(self, path, floating):
        with quiet():
            self.model = (pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer()) if floating
                          else pin.buildModelFromUrdf(str(path)))
        self.data, self.floating = self.model.createData(), floating
        self.names = [n for n in self.model.names[1:] if n != "root_joint"]
        robot = ElementTree.parse(path).getroot()
        mimics = {}
        for joint in robot.findall("joint"):
            mimic = joint.find("mimic")
            for dynamics in joint.findall("dynamics"):
                joint.remove(dynamics)
            if mimic is not None and joint.get("name") in self.names:
                mimics[joint.get("name")] = (mimic.get("joint"), float(mimic.get("multiplier", 1)),
                                             float(mimic.get("offset", 0)))
        self.text = ElementTree.tostring(robot, encoding="unicode")  # without friction
        self.mimics = {name: self._leader(mimics, name) for name in mimics}
        n = self.model.nv
        self.G = np.eye(n)  # speeds from the free ones, the columns
        free = np.ones(n, dtype=bool)
        for name, (leader, factor, _) in self.mimics.items():
            at = self.model.joints[self.model.getJointId(name)].idx_v
            free[at] = False
            self.G[at, at] = 0
            if leader in self.names:
                self.G[at, self.model.joints[self.model.getJointId(leader)].idx_v] = factor
        self.G = self.G[:, free]

    def _leader(self, mimics, name):
        leader, factor, offset = mimics[name]
        while leader in mimics:
            leader, f, o = mimics[leader]
            offset, factor = offset + factor * o, factor * f
        return leader, factor, offset

    def joint(self, name):
        return self.model.joints[self.model.getJointId(name)]

    def state(self, rng):
        """Random coordinates by joint, Pinocchio's q, v, tau."""
        angles = {}
        q = pin.neutral(self.model)
        for name in self.names:
            joint = self.joint(name)
            if joint.nv != 1:
                raise NotImplementedError(f"joint '{name}' has {joint.nv} speeds")
            low, high = -np.pi, np.pi
            if joint.nq == 1:
                low, high = (x[joint.idx_q] for x in (self.model.lowerPositionLimit, self.model.upperPositionLimit))
                if not (np.isfinite([low, high]).all() and 0 < high - low < 7):
                    low, high = -1.5, 1.5
            angles[name] = rng.uniform(low, high)
        for name, (leader, factor, offset) in self.mimics.items():
            angles[name] = offset + factor * angles.get(leader, 0)
        for name in self.names:
            joint, x = self.joint(name), angles[name]
            q[joint.idx_q:joint.idx_q + joint.nq] = [x] if joint.nq == 1 else [np.cos(x), np.sin(x)]
        if self.floating:
            attitude = rng.normal(size=4)
            q[:7] = np.concatenate((rng.normal(size=3), attitude / np.linalg.norm(attitude)))
        v = self.G @ rng.normal(size=self.G.shape[1])
        tau = np.diag(pin.crba(self.model, self.data, q)) * rng.normal(size=self.model.nv)
        return angles, q, v, tau

    def accelerations(self, q, v, tau):
        """By aba (None: it cannot), and by the mass matrix."""
        M = np.array(pin.crba(self.model, self.data, q))
        M = np.triu(M) + np.triu(M, 1).T
        h = pin.rnea(self.model, self.data, q, v, np.zeros(self.model.nv))
        with np.errstate(all="ignore"):
            try:
                solved = self.G @ np.linalg.solve(self.G.T @ M @ self.G, self.G.T @ (tau - h))
            except np.linalg.LinAlgError:
                solved = np.full(self.model.nv, np.nan)
        if self.mimics:
            return solved, solved
        return np.array(pin.aba(self.model, self.data, q, v, tau)), solved


class Ours:
    """Linkwork's model of the same file."""

    def __init__(self, path, reference):
        self.model = lw.Model.from_string(reference.text, format="urdf", folder=path.parent, inertia_check="accept",
                                          base="floating" if reference.floating else "fixed")
        self.data, self.reference = lw.Data(self.model), reference
        self.base = self.model.bases[0] if self.model.bases else None
        if self.base:
            self.com = np.array(self.model.body(self.base.body).com)
            frame = reference.model.frames[reference.model.getFrameId(self.base.body)]
            self.X = frame.placement  # of the base's frame on Pinocchio's root

    def accelerations(self, angles, q, v, tau):
        """In Pinocchio's order."""
        ours, ref = self.model, self.reference
        x, u, effort = np.zeros(ours.tree_nq), np.zeros(ours.tree_nv), np.zeros(ours.tree_nv)
        for name in ref.names:
            joint, other = ours.joint(name), ref.joint(name)
            x[joint.tree_q], u[joint.tree_v] = angles[name], v[other.idx_v]
            effort[joint.tree_v] = tau[other.idx_v]
        if self.base:
            root = pin.SE3(pin.Quaternion(q[6], q[3], q[4], q[5]).toRotationMatrix(), q[:3])
            pose, twist = root * self.X, self.X.actInv(pin.Motion(v[:6]))
            wrench = self.X.actInv(pin.Force(tau[:6]))
            x[self.base.tree_q] = np.concatenate((pose.act(self.com), lw.quaternion.from_matrix(pose.rotation)))
            u[self.base.tree_v] = np.concatenate((twist.linear + np.cross(twist.angular, self.com), twist.angular))
            effort[self.base.tree_v] = np.concatenate((wrench.linear, wrench.angular - np.cross(self.com, wrench.linear)))
        rates = self.data.forward_dynamics(x, u, effort)
        found = np.zeros(ref.model.nv)
        for name in ref.names:
            found[ref.joint(name).idx_v] = rates[ours.joint(name).tree_v][0]
        if self.base:
            a, al = rates[self.base.tree_v][:3], rates[self.base.tree_v][3:]
            found[:6] = self.X.act(pin.Motion(a - np.cross(al, self.com), al)).vector
        return found


def why_not(path, reference):
    """What Pinocchio makes of a robot that is refused, or None: it is right there."""
    try:
        with quiet():
            pin.buildModelFromUrdf(str(path), mimic=True)
    except (ValueError, RuntimeError) as error:
        return f"Pinocchio with mimic=True: {error}"
    _, q, v, tau = reference.state(np.random.default_rng(1))
    for way in reference.accelerations(q, v, tau):
        if not np.all(np.isfinite(way)) or np.max(np.abs(way)) > 1e12:
            return "accelerations of Pinocchio are not finite"
    return None


def compare(path, floating, states):
    """(speeds, mimics, error, own) of a robot, or a reason."""
    try:
        reference = Reference(path, floating)
    except ValueError:
        return "not read by Pinocchio"
    if reference.G.shape[1] == 0:
        return "does not move"
    try:
        return differences(Ours(path, reference), reference, states)
    except lw.Error as error:
        reason = why_not(path, reference)
        if reason is None:
            raise
        return f"refused: {error} ({reason})"


def differences(ours, reference, states):
    if reference.floating and not ours.base:
        return "does not float: its root link is the world"
    rng = np.random.default_rng(1)
    error = own = 0.0
    for _ in range(states):
        angles, q, v, tau = reference.state(rng)
        aba, solved = reference.accelerations(q, v, tau)
        found = ours.accelerations(angles, q, v, tau)
        scale = max(np.max(np.abs(aba)), 1e-300)
        error = max(error, np.max(np.abs(found - aba)) / scale)
        own = max(own, np.max(np.abs(solved - aba)) / scale)
    return reference.G.shape[1], len(reference.mimics), error, own


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("places", nargs="*", metavar="FOLDER or FILE")
    parser.add_argument("--states", type=int, default=50)
    parser.add_argument("--limit", type=float, default=1e-11)
    arguments = parser.parse_args()
    wrong = good = reasons = 0
    print(f"{'robot':44} {'base':9} {'speeds':>6} {'mimics':>6} {'error':>9} {'own':>9}")
    for path in find_robots(arguments.places):
        for base in ("fixed", "floating"):
            head = f"{path.parent.parent.name + '/' + path.stem:44.44} {base:9}"
            try:
                result = compare(path, base == "floating", arguments.states)
            except (lw.Error, NotImplementedError, KeyError, ValueError) as error:
                print(f"{head} refused: {error}")
                wrong += 1
                continue
            if isinstance(result, str):
                print(f"{head} {result}")
                reasons += 1
                continue
            n, mimics, error, own = result
            right = error <= max(arguments.limit, 10 * own)
            wrong, good = wrong + (not right), good + right
            print(f"{head} {n:6} {mimics:6} {error:9.1e} {own:9.1e}{'' if right else '  WRONG'}")
    print(f"{good} right, {reasons} not compared for a reason, {wrong} wrong or refused without one")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
