"""The mechanisms of [chadaj2017], section 3, as model files; run it to write them: cases.py FOLDER.

Links of 1 m, 1 kg and 1 kg m^2 about every axis, hinged in the x-z plane, at rest.  Lengths and masses are
the paper's; it shows the starting shapes in a picture only, so coordinates are our reading of it.  K is
the joint in the middle of the (outer) loop.

    case 1   one loop of four links
    case 2   one loop of eight links
    case 3   two loops of four links each: the second hangs on the first and the last link of the first

`spatial` copies have the same links; between them are universal joints, a spherical one at K and at the
middle of the inner loop, and gravity leans out of the plane: nothing is planar and no row redundant.
"""
import math
import os
import sys

H = math.sqrt(3) / 2

OUTER = {
    1: [(-2 * H, 0), (-H, 0.5), (0, 0), (H, 0.5), (2 * H, 0)],
    2: [(-4 * H, 0), (-3 * H, 0.5), (-2 * H, 1), (-H, 0.5), (0, 0),
        (H, 0.5), (2 * H, 1), (3 * H, 0.5), (4 * H, 0)],
    3: [(-1.5, 0), (-0.5, 0), (0, -H), (0.5, 0), (1.5, 0)],
}
AXIS = 0  # x of the axis of symmetry, on which K is
INNER = {3: [(-0.5, 0), (-0.5, -1), (0, -1 - H), (0.5, -1), (0.5, 0)]}


def number(x):
    return repr(round(x, 17) + 0.0)


def vector(*x):
    return "[" + ", ".join(number(c) for c in x) + "]"


def link(name, start, end):
    """A body with its x axis along the link; a turn about +y takes x down."""
    half = 0.5 * math.atan2(-(end[1] - start[1]), end[0] - start[0])
    return (f"  {name}: {{mass: 1, inertia: [1, 1, 1, 0, 0, 0], "
            f"position: {vector((start[0] + end[0]) / 2, 0, (start[1] + end[1]) / 2)}, "
            f"orientation: {vector(math.cos(half), 0, math.sin(half), 0)}}}")


def joint(name, kind, body1, body2, at, along):
    """Axis y; the second axis of a universal joint is normal to it and to the link `along`."""
    text = f"  {name}: {{type: {kind}, between: [{body1}, {body2}], at: {vector(at[0], 0, at[1])}"
    if kind != "spherical":
        text += ", axis: [0, 1, 0]"
    if kind == "universal":
        text += f", axis2: {vector(-along[1], 0, along[0])}"
    return text + "}"


def loop(letter, points, first, last, spatial):
    """Names of the links, and bodies and joints as text; joints P0, P1, ... in order."""
    names = [f"{letter.lower()}{i}" for i in range(len(points) - 1)]
    bodies = [link(n, points[i], points[i + 1]) for i, n in enumerate(names)]
    joints = []
    # every joint points from the ground outwards but the last, which goes from there to the last link
    pairs = list(zip([first] + names, names)) + [(last, names[-1])]
    for i, (body1, body2) in enumerate(pairs):
        kind = "revolute"
        if spatial and 0 < i < len(points) - 1:
            kind = "spherical" if 2 * i == len(points) - 1 else "universal"
        k = min(i, len(points) - 2)
        along = (points[k + 1][0] - points[k][0], points[k + 1][1] - points[k][1])
        joints.append(joint(f"{letter}{i}", kind, body1, body2, points[i], along))
    return names, bodies, joints


def model(case, spatial=False):
    """The model file of a case."""
    outer, bodies, joints = loop("P", OUTER[case], "ground", "ground", spatial)
    if case in INNER:
        _, more_bodies, more_joints = loop("Q", INNER[case], outer[0], outer[-1], spatial)
        bodies += more_bodies
        joints += more_joints
    before_k = outer[len(outer) // 2 - 1]
    lines = [f"# case {case} of [chadaj2017]" + (", a spatial variant" if spatial else ""),
             "linkwork: 1", "gravity: " + ("[0, 1.5, -9.81]" if spatial else "[0, 0, -9.81]"),
             "bodies:", *bodies, "joints:", *joints,
             "markers:", f"  K: {{body: {before_k}, position: [0.5, 0, 0]}}"]
    return "\n".join(lines) + "\n"


def cut(case, where):
    """Joints that close the loops: at their right `end`, or in the `middle`, on the axis of symmetry."""
    outer = len(OUTER[case]) - 1
    joints = ["P" + str(outer if where == "end" else outer // 2)]
    if case in INNER:
        inner = len(INNER[case]) - 1
        joints.append("Q" + str(inner if where == "end" else inner // 2))
    return ",".join(joints)


def write(folder):
    """All six files; {(case, spatial): path}."""
    os.makedirs(folder, exist_ok=True)
    paths = {}
    for case in OUTER:
        for spatial in (False, True):
            path = os.path.join(folder, f"case-{case}{'-spatial' if spatial else ''}.yaml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(model(case, spatial))
            paths[case, spatial] = path
    return paths


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: cases.py FOLDER")
    for written in write(sys.argv[1]).values():
        print(written)
