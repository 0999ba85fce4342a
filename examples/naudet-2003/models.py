"""Chains as model files."""
import math


def number(x):
    return repr(float(x) + 0.0)


def numbers(values):
    return "[" + ", ".join(number(v) for v in values) + "]"


def rod(i, at, length, mass, radius):
    """A solid cylinder along x, its frame at its hinge."""
    axial, across = mass * radius ** 2 / 2, mass * (length ** 2 / 12 + radius ** 2 / 4)
    return (f"  b{i}: {{mass: {number(mass)}, inertia: {numbers((axial, across, across, 0, 0, 0))}, "
            f"com: {numbers((length / 2, 0, 0))}, position: {numbers((at, 0, 0))}}}")


def joint(i, kind, at, axis, q, qd):
    where = f"  j{i}: {{type: {kind}, between: [{'ground' if i == 0 else f'b{i - 1}'}, b{i}], "
    where += f"at: {numbers((at, 0, 0))}"
    if axis:
        where += f", axis: {numbers(axis)}"
    if q:
        where += f", q: {numbers(q)}"
    return where + f", qd: {numbers(qd)}}}"


def chain(n, kind="revolute", length=1, mass=1, radius=0.05, axes=((1, 0, 0), (0, 1, 0), (0, 0, 1)),
          q=None, qd=None, gravity=(0, 0, -9.81)):
    """n rods end to end, along x where all q are zero."""
    bodies, joints = [], []
    for i in range(n):
        bodies.append(rod(i, i * length, length, mass, radius))
        joints.append(joint(i, kind, i * length, axes[i % len(axes)] if kind == "revolute" else None,
                            q[i] if q else None, qd[i] if qd else ((0,) if kind == "revolute" else (0, 0, 0))))
    return "\n".join(["linkwork: 1", f"gravity: {numbers(gravity)}", "bodies:", *bodies, "joints:",
                      *joints]) + "\n"


def draws(seed):
    """Knuth's 64-bit generator, numbers in [-1, 1)."""
    state = seed
    while True:
        state = (state * 6364136223846793005 + 1442695040888963407) % 2 ** 64
        yield (state >> 11) / 2 ** 53 * 2 - 1


def slender(n):
    """Rods of 1 m and 1 kg hinged about x, y, z in turn, at a random state; the speeds, too."""
    numbers_of = draws(1 * 7919 + 12345)
    q = [(next(numbers_of),) for _ in range(n)]
    qd = [(next(numbers_of),) for _ in range(n)]
    return chain(n, q=q, qd=qd), [v[0] for v in qd]


def hanging(n):
    """A planar chain of rods of length and mass 1/n, released with its first angle at 2 rad from
    hanging."""
    return chain(n, length=1 / n, mass=1 / n, radius=0.02, axes=((0, 1, 0),),
                 q=[(math.pi / 2 - 2 if i == 0 else 0,) for i in range(n)])


def spherical(n):
    """Rods of 1 m and 1 kg on spherical joints, straight, turning slowly about the vertical."""
    return chain(n, kind="spherical", qd=[(0, 0, 0.1) if i == 0 else (0, 0, 0) for i in range(n)])
