#!/usr/bin/env python3
"""Strikes three mechanisms and compares the jumps of their velocities with closed forms.

usage: struck.py --program PROGRAM [--table]

A double pendulum in space, a four-bar and a Stewart platform move for 0.2 s and are struck: on a body at a point, by an
angular impulse, and on a coordinate of a joint.  The closed form: with the velocities of all bodies V = J u of the
independent rates u, written down by hand for each mechanism, u jumps by (J'M J)^-1 J'F.  For every formulation, in the
rows before and after,

* closed form: the jumps of all velocities are those of this equation at the poses of the row;
* balance: of each body the jump of momentum is the sum of the impulses on it, those of the joints' reactions included;
* work: the kinetic energy grows by the work reported;
* `dense`: velocities and impulses of reactions are those of the dense equations.

Errors are relative to the largest jump, momentum, energy or value.  --table prints the table of README.md.
Exit status: 0; 1 when a statement does not hold.  Needs nothing but Python and the program.
"""
import argparse
import math
import os
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from reports import Study, power, read_table, table

TIME = 0.2
LIMIT = 1e-11
LIMIT_OF_STEPS = 1e-4  # index3 has fixed steps of 1 ms, of order two: its state before is another one

# ------------------------------------------------------------------------------------------ vectors


def add(*vectors):
    return [sum(x) for x in zip(*vectors)]


def scale(factor, a):
    return [factor * x for x in a]


def sub(a, b):
    return [x - y for x, y in zip(a, b)]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def largest(values):
    return max(map(abs, values))


def rotation(q):
    w, x, y, z = q
    return [[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]


def turn(R, a):
    return [dot(row, a) for row in R]


def turn_back(R, a):
    return [dot(column, a) for column in zip(*R)]


def solve(A, b):
    """Gaussian elimination; the matrices are positive definite."""
    A = [row[:] + [x] for row, x in zip(A, b)]
    for i, pivot in enumerate(A):
        for row in A[i + 1:]:
            factor = row[i] / pivot[i]
            row[:] = [x - factor * y for x, y in zip(row, pivot)]
    x = [0.0] * len(A)
    for i in reversed(range(len(A))):
        x[i] = (A[i][-1] - dot(A[i][i + 1:-1], x[i + 1:])) / A[i][i]
    return x


# --------------------------------------------------------------------------------------- mechanisms


class State:
    """One row of a result."""

    def __init__(self, columns, row):
        self.columns, self.row = columns, row

    def values(self, item, *components):
        return [self.columns[f"{item}.{c}"][self.row] for c in components]

    def pose(self, body):
        return self.values(f"body.{body}", "x", "y", "z"), rotation(self.values(f"body.{body}", "qw", "qx", "qy", "qz"))

    def twist(self, body):
        """Velocity of the centre of mass and angular velocity, world axes."""
        return (self.values(f"body.{body}", "vx", "vy", "vz"),
                turn(self.pose(body)[1], self.values(f"body.{body}", "wx", "wy", "wz")))


class Mechanism:
    """Bodies {name: (mass, principal inertias, centre)}, joints {name: (type, body1, body2, point, keys)}, and
    impulses; all bodies have the world's axes at the start."""

    def __init__(self, name, formulations, bodies, joints, impulses, speeds, rates):
        self.name, self.formulations = name, formulations
        self.bodies, self.joints, self.impulses = bodies, joints, impulses
        self.rates = rates  #: (mechanism, state) -> for each independent rate {body: (v, w)}, {joint: speed}
        lines = ["linkwork: 1", "gravity: [0, -9.81, 0]", "bodies:"]
        for body, (mass, inertia, centre) in bodies.items():
            lines.append(f"  {body}: {{mass: {mass}, inertia: {[*inertia, 0, 0, 0]}, position: {list(centre)}}}")
        lines.append("joints:")
        for joint, (kind, body1, body2, point, keys) in joints.items():
            speed = f", qd: {speeds[joint]}" if joint in speeds else ""
            lines.append(f"  {joint}: {{type: {kind}, between: [{body1}, {body2}], at: {list(point)}{keys}{speed}}}")
        lines.append("impulses:")
        for i, keys in enumerate(impulses):
            words = ", ".join(f"{key}: {value}" for key, value in keys.items())
            lines.append(f"  strike{i}: {{time: {TIME}, {words}}}")
        self.text = "\n".join(lines) + "\n"

    def at(self, state, body, point):
        """Where a point of the assembled mechanism, fixed to a body, is now."""
        if body == "ground":
            return list(point)
        r, R = state.pose(body)
        return add(r, turn(R, sub(point, self.bodies[body][2])))

    def loads(self, state):
        """Impulse and angular impulse about the centre of mass of each body, world axes; impulses on speeds."""
        on_body = {body: ([0.0] * 3, [0.0] * 3) for body in self.bodies}
        on_speed = {}
        for keys in self.impulses:
            if "joint" in keys:
                on_speed[keys["joint"]] = keys["effort"]
                continue
            R = state.pose(keys["body"])[1]
            f, n = keys.get("impulse", [0.0] * 3), keys.get("angular_impulse", [0.0] * 3)
            if keys.get("axes") == "body":
                f, n = turn(R, f), turn(R, n)
            arm = turn(R, keys.get("point", [0.0] * 3))
            before = on_body[keys["body"]]
            on_body[keys["body"]] = add(before[0], f), add(before[1], n, cross(arm, f))
        return on_body, on_speed

    def momentum(self, state, body, twist):
        """Linear, and angular about the centre of mass."""
        mass, inertia, _ = self.bodies[body]
        R = state.pose(body)[1]
        return scale(mass, twist[0]), turn(R, [i * x for i, x in zip(inertia, turn_back(R, twist[1]))])


def hinged(axis, centre, at):
    """Motion of a body about an axis at unit rate."""
    return cross(axis, sub(centre, at)), axis


def pendulum():
    """Two rods in space; the second hinge is at an angle to the first one."""
    axis2 = [0.0, math.sin(0.7), math.cos(0.7)]

    def rates(m, state):
        r1, R1 = state.pose("rod1")
        elbow, axis = m.at(state, "rod1", (1.2, 0, 0)), turn(R1, axis2)
        r2 = state.pose("rod2")[0]
        z, origin = [0, 0, 1], [0, 0, 0]
        return [({"rod1": hinged(z, r1, origin), "rod2": hinged(z, r2, origin)}, {"j1": 1, "j2": 0}),
                ({"rod1": ([0] * 3, [0] * 3), "rod2": hinged(axis, r2, elbow)}, {"j1": 0, "j2": 1})]

    return Mechanism(
        "double pendulum", ["aba", "momenta", "dense", "dca", "hdca", "lagrange", "rcr", "index3"],
        {"rod1": (2, (0.02, 0.3, 0.3), (0.6, 0, 0)), "rod2": (1.5, (0.01, 0.2, 0.2), (1.6, 0, 0))},
        {"j1": ("revolute", "ground", "rod1", (0, 0, 0), ", axis: [0, 0, 1]"),
         "j2": ("revolute", "rod1", "rod2", (1.2, 0, 0), f", axis: {axis2}")},
        [{"body": "rod2", "point": [0.3, 0, 0.1], "impulse": [5, -3, 2], "angular_impulse": [0.1, 0.2, 0.25]},
         {"joint": "j2", "effort": 0.8}], {"j1": [0.4], "j2": [-1.1]}, rates)


def four_bar():
    """Bars in space with parallel hinges, whose reactions are not unique."""
    def rates(m, state):
        z, a, d = [0, 0, 1], [0, 0, 0], [1.2, 0, 0]
        b, c = m.at(state, "crank", (0, 0.5, 0)), m.at(state, "rocker", (1.2, 0.9, 0))
        bar, crank, rocker = sub(c, b), cross(z, sub(b, a)), cross(z, sub(c, d))
        rate = dot(crank, bar) / dot(rocker, bar)  # the coupler keeps its length
        spin = dot(sub(scale(rate, rocker), crank), cross(z, bar)) / dot(bar, bar)
        centre = {body: state.pose(body)[0] for body in m.bodies}
        coupler = add(crank, cross(scale(spin, z), sub(centre["coupler"], b))), scale(spin, z)
        return [({"crank": hinged(z, centre["crank"], a), "coupler": coupler,
                  "rocker": hinged(scale(rate, z), centre["rocker"], d)}, {"a": 1, "c": rate - spin})]

    hinge = ", axis: [0, 0, 1]"
    return Mechanism(
        "four-bar", ["dense", "dca", "hdca", "lagrange", "rcr", "index3"],
        {"crank": (1, (0.02, 0.01, 0.02), (0, 0.25, 0)), "coupler": (3, (0.01, 0.4, 0.4), (0.6, 0.7, 0)),
         "rocker": (2, (0.1, 0.01, 0.1), (1.2, 0.45, 0))},
        {"a": ("revolute", "ground", "crank", (0, 0, 0), hinge),
         "b": ("revolute", "crank", "coupler", (0, 0.5, 0), hinge),
         "c": ("revolute", "coupler", "rocker", (1.2, 0.9, 0), hinge),
         "d": ("revolute", "ground", "rocker", (1.2, 0, 0), hinge)},
        [{"body": "coupler", "point": [0.1, 0.2, 0.3], "impulse": [2, 1, 0.5], "angular_impulse": [0.1, 0.2, 0.3]},
         {"joint": "c", "effort": 0.4}], {"a": [0.7]}, rates)


def stewart():
    """A platform on six legs of a universal joint, a slider and a ball; the platform's twist is independent."""
    feet, balls, bodies, joints = [], [], {"top": (20, (1, 1.2, 2), (0.05, -0.03, 1))}, {}
    for i in range(6):
        a = math.pi / 3 * i
        b = a + (-0.35 if i % 2 else 0.35)
        feet.append([math.cos(a), math.sin(a), 0.0])
        balls.append([0.5 * math.cos(b) + 0.05, 0.5 * math.sin(b), 1.0])
        leg = sub(balls[i], feet[i])
        bodies[f"low{i}"] = (1, (0.1, 0.1, 0.02), add(feet[i], scale(0.2, leg)))
        bodies[f"high{i}"] = (0.8, (0.08, 0.08, 0.01), add(feet[i], scale(0.7, leg)))
        joints[f"u{i}"] = ("universal", "ground", f"low{i}", feet[i], ", axis: [1, 0, 0], axis2: [0, 1, 0]")
        joints[f"p{i}"] = ("prismatic", f"low{i}", f"high{i}", feet[i], f", axis: {leg}")
        joints[f"s{i}"] = ("spherical", f"high{i}", "top", balls[i], "")

    def leg_motion(m, state, i, velocity):
        """Of both parts and the slider, as the ball moves with a velocity."""
        foot, ball, R = feet[i], m.at(state, "top", balls[i]), state.pose(f"low{i}")[1]
        length = math.sqrt(dot(sub(ball, foot), sub(ball, foot)))
        e = scale(1 / length, sub(ball, foot))
        extension = dot(velocity, e)
        across = scale(1 / length, sub(velocity, scale(extension, e)))
        axes = [1, 0, 0], turn(R, [0, 1, 0])
        arms = [cross(axis, e) for axis in axes]
        spin = solve([[dot(p, q) for q in arms] for p in arms], [dot(p, across) for p in arms])
        w = add(scale(spin[0], axes[0]), scale(spin[1], axes[1]))
        low = cross(w, sub(state.pose(f"low{i}")[0], foot))
        high = add(velocity, cross(w, sub(state.pose(f"high{i}")[0], ball)))
        return {f"low{i}": (low, w), f"high{i}": (high, w)}, {f"p{i}": extension}

    def rates(m, state):
        columns, centre = [], state.pose("top")[0]
        for k in range(6):
            v, w = [float(k == j) for j in range(3)], [float(k == j) for j in range(3, 6)]
            twists, speeds = {"top": (v, w)}, {}
            for i in range(6):
                ball = m.at(state, "top", balls[i])
                parts, speed = leg_motion(m, state, i, add(v, cross(w, sub(ball, centre))))
                twists.update(parts)
                speeds.update(speed)
            columns.append((twists, speeds))
        return columns

    return Mechanism(
        "Stewart platform", ["dense", "dca", "hdca", "lagrange", "rcr", "index3"], bodies, joints,
        [{"body": "top", "point": [0.1, 0.2, 0.05], "impulse": [3, -2, 10], "angular_impulse": [0.5, 0, 1]},
         {"body": "high1", "point": [0.1, 0, 0], "impulse": [0.3, 0.2, 0.1], "axes": "body"},
         {"joint": "p2", "effort": 2}], {f"p{i}": [0.1] for i in range(6)}, rates)


# ---------------------------------------------------------------------------------------- statements


def jump(state, other, body):
    return [sub(a, b) for a, b in zip(other.twist(body), state.twist(body))]


def closed_form_error(m, before, after):
    """(J'M J) du = J'F, and all velocities J du."""
    loads, efforts = m.loads(before)
    columns = m.rates(m, before)
    momenta = [{body: m.momentum(before, body, twist) for body, twist in twists.items()} for twists, _ in columns]
    inertia = [[sum(dot(p[b][k], twists[b][k]) for b in m.bodies for k in (0, 1)) for p in momenta]
               for twists, _ in columns]
    forces = [sum(dot(loads[b][k], twists[b][k]) for b in m.bodies for k in (0, 1)) +
              sum(effort * speeds[joint] for joint, effort in efforts.items()) for twists, speeds in columns]
    du = solve(inertia, forces)
    found, expected = [], []
    for body in m.bodies:
        for k in (0, 1):
            found += jump(before, after, body)[k]
            expected += add(*(scale(rate, twists[body][k]) for rate, (twists, _) in zip(du, columns)))
    return largest(sub(found, expected)) / largest(expected)


def effort_on_bodies(m, state, joint, effort):
    """Impulse on body2 by an impulse on the speed of its joint: (linear, angular), the other body has the opposite."""
    kind, body1, _, _, keys = m.joints[joint]
    axis = [float(x) for x in keys.split("[")[1].split("]")[0].split(",")]
    axis = scale(effort / math.sqrt(dot(axis, axis)), axis if body1 == "ground" else turn(state.pose(body1)[1], axis))
    return (axis, [0.0] * 3) if kind == "prismatic" else ([0.0] * 3, axis)


def balance_error(m, before, after):
    """Jump of the momenta of each body less the impulses on it."""
    loads, efforts = m.loads(before)
    left = {body: [sub(a, b) for a, b in zip(m.momentum(before, body, jump(before, after, body)), loads[body])]
            for body in m.bodies}
    size = largest(x for body in m.bodies for part in m.momentum(before, body, jump(before, after, body)) for x in part)
    for joint, (_, body1, body2, point, _) in m.joints.items():
        at = m.at(before, body2, point)
        f, n = after.values(f"joint.{joint}", "ifx", "ify", "ifz"), after.values(f"joint.{joint}", "itx", "ity", "itz")
        if joint in efforts:
            effort = effort_on_bodies(m, before, joint, efforts[joint])
            f, n = add(f, effort[0]), add(n, effort[1])
        for body, sign in ((body1, -1), (body2, 1)):
            if body != "ground":
                arm = cross(sub(at, before.pose(body)[0]), f)
                left[body] = [sub(left[body][0], scale(sign, f)), sub(left[body][1], scale(sign, add(n, arm)))]
    return largest(x for parts in left.values() for part in parts for x in part) / size


def work_error(before, after):
    kinetic, work = ([s.values("sys", name)[0] for s in (before, after)] for name in ("T", "Wnc"))
    return abs(kinetic[1] - kinetic[0] - (work[1] - work[0])) / max(kinetic)


def dense_error(after, dense, names):
    return largest(after.columns[n][after.row] - dense.columns[n][dense.row] for n in names) / largest(
        dense.columns[n][dense.row] for n in names)


def strike(study, m, formulation):
    """The rows before and after."""
    output = study.path("struck.csv")
    steps = ["--integrator", "verner87", "--rtol", "1e-13", "--atol", "1e-13"]
    if formulation == "index3":
        steps = ["--step", "1e-3"]
    study.summary(study.write("struck.yaml", m.text), "--formulation", formulation, *steps, "--duration",
                  repr(TIME + 0.01), "--sample", "0.1", "-o", output)
    columns = read_table(output)
    impact = columns["sys.impact"]
    return State(columns, impact.index(1)), State(columns, impact.index(2))


def examine(study, m):
    """Lines of the table."""
    struck = {formulation: strike(study, m, formulation) for formulation in m.formulations}
    dense = struck["dense"][1]
    velocities = [f"body.{body}.{c}" for body in m.bodies for c in ("vx", "vy", "vz", "wx", "wy", "wz")]
    impulses = [f"joint.{joint}.{c}" for joint in m.joints for c in ("ifx", "ify", "ifz", "itx", "ity", "itz")]
    lines = []
    for formulation, (before, after) in struck.items():
        errors = {"closed form": closed_form_error(m, before, after), "balance": balance_error(m, before, after),
                  "work": work_error(before, after)}
        limits = dict.fromkeys(errors, LIMIT)
        for what, names in (("velocities of dense", velocities), ("impulses of dense", impulses)):
            errors[what] = dense_error(after, dense, names)
            limits[what] = LIMIT_OF_STEPS if formulation == "index3" else LIMIT
        for what, error in errors.items():
            study.hold(f"{m.name}, {formulation}: {what} within {error:.1e}", error <= limits[what])
        lines.append([m.name, f"`{formulation}`", *(power(error) for error in errors.values())])
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--table", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        study = Study(os.path.abspath(arguments.program), folder)
        study.told = sys.stderr if arguments.table else sys.stdout
        lines = [line for make in (pendulum, four_bar, stewart) for line in examine(study, make())]
    if arguments.table:
        print(table(["mechanism", "formulation", "closed form", "balance", "work", "velocities of `dense`",
                     "impulses of `dense`"], lines))
    return 1 if study.failed else 0


if __name__ == "__main__":
    sys.exit(main())
