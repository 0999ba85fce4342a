"""The mechanisms of [anderson2003], section 4, as model files.

The paper shows its mechanisms in schematic pictures and gives no data; lengths, masses and states are ours.
Bars are square, 0.02 m wide; "planar" ones are bodies in space on hinges about z, gravity along -y.  The
ladders' data are chosen, as the paper says, such that all of them are one spatial pendulum.
"""
import math

TOP = "linkwork: 1\ngravity: {}\n"


def number(x):
    return repr(float(x) + 0.0)


def numbers(values):
    return "[" + ", ".join(number(v) for v in values) + "]"


class Model:
    def __init__(self, gravity=(0, -9.81, 0)):
        self.head, self.bodies, self.joints, self.markers = TOP.format(numbers(gravity)), [], [], []

    def body(self, name, mass, inertia, com=(0, 0, 0), position=(0, 0, 0), turn=None):
        self.bodies.append(f"  {name}: {{mass: {number(mass)}, inertia: {numbers((*inertia, 0, 0, 0))}, "
                           f"com: {numbers(com)}, position: {numbers(position)}"
                           + (f", orientation: {numbers(turn)}" if turn else "") + "}")

    def bar(self, name, length, mass, start=(0, 0), angle=0):
        """Along x of its frame, which is at its joint."""
        w, across = 0.02, mass * (length ** 2 + 0.02 ** 2) / 12
        self.body(name, mass, (mass * w * w / 6, across, across), (length / 2, 0, 0), (*start, 0),
                  (math.cos(angle / 2), 0, 0, math.sin(angle / 2)))

    def pin(self, name, one, two, p1=(0, 0), p2=(0, 0), q=None, qd=None, cut=None):
        """A hinge about z between points of two bodies in their frames."""
        text = (f"  {name}: {{type: revolute, between: [{one}, {two}], "
                f"frame1: {{position: {numbers((*p1, 0))}}}, frame2: {{position: {numbers((*p2, 0))}}}")
        for key, value in (("q", q), ("qd", qd)):
            text += f", {key}: [{number(value)}]" if value is not None else ""
        self.joints.append(text + (f", cut: {cut}}}" if cut else "}"))

    def joint(self, name, kind, one, two, at, more=""):
        self.joints.append(f"  {name}: {{type: {kind}, between: [{one}, {two}], at: {numbers(at)}{more}}}")

    def marker(self, name, body, at):
        self.markers.append(f"  {name}: {{body: {body}, position: {numbers(at)}}}")

    def text(self):
        parts = [self.head + "bodies:", *self.bodies, "joints:", *self.joints]
        return "\n".join(parts + (["markers:", *self.markers] if self.markers else [])) + "\n"


def four_bar(rows="ground"):
    """Crank, coupler, rocker; the cut joint's rows are in the axes of `rows`: ground or rocker.  The start
    is given to nine decimals, as in the paper."""
    m, q = Model(), (1, -0.596675966, -2.310247148, 1.906923114)
    u = (4, -4.472068354, 1.993092836, -1.521024482)
    for name, length, mass in (("crank", 0.3, 1), ("coupler", 0.8, 2), ("rocker", 0.6, 1.5)):
        m.bar(name, length, mass)
    m.pin("A", "ground", "crank", q=q[0], qd=u[0], cut="never")
    m.pin("B", "crank", "coupler", (0.3, 0), q=q[1], qd=u[1], cut="never")
    m.pin("C", "coupler", "rocker", (0.8, 0), q=q[2], qd=u[2], cut="never")
    if rows == "ground":
        m.pin("D", "ground", "rocker", (0.7, 0), (0.6, 0), q=-q[3], qd=-u[3], cut="prefer")
    else:
        m.pin("D", "rocker", "ground", (0.6, 0), (0.7, 0), q=q[3], qd=u[3], cut="prefer")
    m.marker("D", "rocker", (0.6, 0, 0))
    return m.text()


def wrapped(angle):
    return angle - 2 * math.pi * round(angle / (2 * math.pi))


def five_bar(legs):
    """The redundant manipulator of figure 7a: two bars and as many closing legs as wanted, up to two."""
    m = Model()
    angles = ((11.100991634, -26.416001598, 14.615009964), (-15.077475128, 32.755956895, -18.378481767))
    m.bar("one", 0.5, 1)
    m.bar("two", 0.6, 0.8)
    m.pin("A", "ground", "one", q=1.9, qd=0.5, cut="never")
    m.pin("B", "one", "two", (0.5, 0), q=-1.2, qd=-0.3, cut="never")
    for i in range(legs):
        a = angles[i]
        m.bar(f"upper{i}", 0.6, 0.7)
        m.bar(f"lower{i}", 0.5, 0.6)
        m.pin(f"E{i}", "two", f"upper{i}", (0.6, 0), q=wrapped(a[0]), cut="never")
        m.pin(f"F{i}", f"upper{i}", f"lower{i}", (0.6, 0), q=wrapped(a[1]), cut="never")
        m.pin(f"G{i}", "ground", f"lower{i}", (0.5 + 0.1 * i, 0.05 * i), (0.5, 0), q=wrapped(-a[2]),
              cut="prefer")
    return m.text()


def chain_of_bars(m, name, first, points, q=()):
    """Bars along points, each on the one before; the hinges are at the points, but not at the last."""
    before = first
    for i in range(len(points) - 1):
        (x, y), (x1, y1) = points[i], points[i + 1]
        length = math.hypot(x1 - x, y1 - y)
        m.bar(f"{name}{i}", length, length * 1.5, (x, y), math.atan2(y1 - y, x1 - x))
        m.joint(f"{name}_{i}", "revolute", before, f"{name}{i}", (x, y, 0),
                f", axis: [0, 0, 1]" + (f", qd: [{number(q[i])}]" if i < len(q) else ""))
        before = f"{name}{i}"
    return before


def under_actuated():
    """A platform on three legs, as figure 7b: two legs of two bars, one of three.  Four freedoms, three
    pivots on the ground."""
    m = Model()
    m.bar("platform", 0.4, 1, (0.8, 1.0), 0.2)
    corner = (0.8 + 0.4 * math.cos(0.2), 1 + 0.4 * math.sin(0.2))
    legs = {"a": ((0, 0), (0.2, 0.7), (0.8, 1.0)),
            "b": ((1.0, 0), (0.6, 0.55), (0.8, 1.0)),
            "c": ((2.0, 0), (2.2, 0.5), (1.7, 0.9), corner)}
    for name, points in legs.items():
        last = chain_of_bars(m, name, "ground", points, (0.6,) if name == "a" else ())
        m.joint(f"{name}_end", "revolute", last, "platform", (*points[-1], 0), ", axis: [0, 0, 1]")
    m.marker("P", "platform", (0.2, 0, 0))
    return m.text()


def hexapod():
    """A platform on six legs that change their length: universal, prismatic, spherical joints; springs
    in the legs carry it.  Six freedoms, six loops."""
    m = Model((0, 0, -9.81))
    height, low, high = 1.0, 0.8, 0.5
    m.body("platform", 6, (0.5, 0.5, 0.9), position=(0, 0, height))
    m.marker("P", "platform", (0.1, 0.2, 0.1))
    for i in range(6):
        a = math.pi / 3 * (i // 2 * 2) + (0.2 if i % 2 else -0.2)
        b = math.pi / 3 * (i // 2 * 2 + (0.8 if i % 2 else -0.8))
        foot = (low * math.cos(a), low * math.sin(a), 0)
        top = (high * math.cos(b), high * math.sin(b), height)
        d = [t - f for t, f in zip(top, foot)]
        length = math.sqrt(sum(x * x for x in d))
        d = [x / length for x in d]
        half = math.acos(d[2]) / 2
        s = math.sin(half) / math.hypot(d[0], d[1])
        turn = (math.cos(half), -d[1] * s, d[0] * s, 0)
        middle = [f + 0.35 * length * x for f, x in zip(foot, d)]
        upper = [f + 0.7 * length * x for f, x in zip(foot, d)]
        m.body(f"tube{i}", 0.8, (0.02, 0.02, 0.001), position=middle, turn=turn)
        m.body(f"rod{i}", 0.4, (0.01, 0.01, 0.0005), position=upper, turn=turn)
        across = (-d[1], d[0], 0)
        second = (d[1] * across[2] - d[2] * across[1], d[2] * across[0] - d[0] * across[2],
                  d[0] * across[1] - d[1] * across[0])
        m.joint(f"hooke{i}", "universal", "ground", f"tube{i}", foot,
                f", axis: {numbers(across)}, axis2: {numbers(second)}")
        m.joint(f"slide{i}", "prismatic", f"tube{i}", f"rod{i}", middle,
                f", axis: {numbers(d)}, spring: {{q0: {{stiffness: {600 + 40 * i}, at: 0.01}}}}")
        m.joint(f"ball{i}", "spherical", f"rod{i}", "platform", top)
    return m.text()


def n_four_bar(n):
    """The generated row of four-bars on the ground, moving."""
    return f"{TOP.format('[0, -9.81, 0]')}generate:\n  n_four_bar: {{n: {n}, q: [0.3, 0, 0], qd: [1, 0, 0]}}\n"


Q, U = (0.4, -0.7), (1, 0.5)


def leg_data(legs, rungs):
    """Mass, foot's inertia and depth of the mass centre of a leg, mass and inertia of a rung: together a
    pendulum of 3 kg, J = diag(1.3, 1.1, 0.25) kg m^2 about the pivot, mass centre 0.35 m below it."""
    mr = 0.42 / rungs if rungs else 0
    ir = 0.02 * mr
    j = (1.3 - rungs * (mr + ir), 1.1 - rungs * mr, 0.25 - rungs * ir)
    mass = 3 - 0.42 * bool(rungs)
    c = (1.05 - 0.42 * bool(rungs)) / mass
    return mass / legs, [x / legs for x in j], c, mr, ir


def ladder(cells, closed=True):
    """L cells between L + 1 legs; 0: the pendulum.  Not closed: without the hinges that close cells."""
    m = Model((0, 0, -9.81))
    mass, j, c, mr, ir = leg_data(cells + 1, cells)
    before = None
    for i in range(cells + 1):
        x = 0.6 * i
        m.body(f"leg{i}", mass, (j[0] - mass * c * c, j[1] - mass * c * c, j[2]), (0, 0, -c), (x, 0, 0))
        m.joint(f"foot{i}", "universal", "ground", f"leg{i}", (x, 0, 0),
                f", axis: [1, 0, 0], axis2: [0, 1, 0], q: {numbers(Q)}, qd: {numbers(U)}")
        hinge = f", axis: [0, 1, 0], q: [{number(-Q[1])}], qd: [{number(-U[1])}]"
        if before and closed:
            m.joint(f"close{i}", "revolute", f"leg{i}", before, (x, 0, -1), hinge)
        if i < cells:
            before = f"rung{i + 1}"
            m.body(before, mr, (ir, ir, ir), position=(x + 0.3, 0, -1))
            m.joint(f"hinge{i + 1}", "revolute", f"leg{i}", before, (x, 0, -1), hinge)
    return m.text()


def pendulum_equations(t_end, step):
    """(q1, q2) of the pendulum at t_end by RK4 on its two equations."""
    jx, jy, jz, md, g = 1.3, 1.1, 0.25, 1.05, 9.81

    def rates(x):
        q1, q2, u1, u2 = x
        s, c = math.sin(q2), math.cos(q2)
        inertia, slope = jx * c * c + jz * s * s, 2 * (jz - jx) * s * c
        return (u1, u2, (-slope * u1 * u2 - md * g * math.sin(q1) * c) / inertia,
                (0.5 * slope * u1 * u1 - md * g * math.cos(q1) * s) / jy)

    x = (*Q, *U)
    for _ in range(round(t_end / step)):
        k1 = rates(x)
        k2 = rates([a + step / 2 * b for a, b in zip(x, k1)])
        k3 = rates([a + step / 2 * b for a, b in zip(x, k2)])
        k4 = rates([a + step * b for a, b in zip(x, k3)])
        x = [a + step / 6 * (p + 2 * q + 2 * r + s) for a, p, q, r, s in zip(x, k1, k2, k3, k4)]
    return x
