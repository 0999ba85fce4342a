#!/usr/bin/env python3
"""Static equilibria and natural frequencies compared with MuJoCo, Exudyn and closed forms: a table.

usage: modes.py --program LINKWORK [--json FILE] [--cases A,B]
       modes.py --table FILE

Each mechanism is given once, planar in the plane x, y: bodies with mass centre and moment of inertia, hinges with torsion
springs, slides with springs. From it the model file of Linkwork, the MJCF of MuJoCo (trees only: its loops are soft)
and the items of Exudyn are made. Linkwork: `linkwork equilibrium --json`, `linkwork modes --json`. MuJoCo: Newton's method
with differences of mj_inverse at rest, frequencies from these and the mass matrix. Exudyn: SolveStatic from the drawn
position; frequencies by ComputeODE2Eigenvalues where joints carry no load (it leaves out that the forces of joints change
their directions), with one degree of freedom by the zeros of a small free oscillation (SolveDynamic, 2000 steps a
period). `closed form`: of chains of point masses on massless rods, of masses in a row between springs, and the
four-bar's equation of motion in one coordinate.

Columns: degrees of freedom; the largest difference of a position in equilibrium [m] and of a frequency, relative to the
same frequency, to each. Needs mujoco, exudyn, numpy, scipy; without one of them its columns are `-`.
Exit status: 0, or 1 if a difference is above 1e-5 (MuJoCo, Exudyn) or 1e-9 (closed form).
"""
import argparse
import contextlib
import json
import math
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    np = None  # --table needs none

GRAVITY = 9.81
LIMIT = 1e-5
THIN = 1e-3  # moments of inertia about x and y: without effect in the plane


def rod(name, a, b, mass=None):
    """A uniform thin rod between two points, of 1 kg/m unless a mass is given."""
    length = math.dist(a, b)
    mass = length if mass is None else mass
    return {"name": name, "mass": mass, "inertia": mass * length ** 2 / 12, "at": [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2]}


def hinge(name, body1, body2, at, stiffness=0.0, free=0.0):
    return {"name": name, "type": "revolute", "bodies": [body1, body2], "at": at, "stiffness": stiffness, "free": free}


def slide(name, body1, body2, at, axis, stiffness=0.0, free=0.0):
    return {"name": name, "type": "prismatic", "bodies": [body1, body2], "at": at, "axis": axis, "stiffness": stiffness, "free": free}


def pendulum(n):
    """Point masses on massless rods of 1 m, drawn 0.3 rad and more off the vertical."""
    bodies, joints, x, y, last = [], [], 0.0, 0.0, "ground"
    for i in range(n):
        angle, at = 0.3 + 0.05 * i, [x, y]
        x, y = x + math.sin(angle), y - math.cos(angle)
        bodies.append({"name": f"m{i}", "mass": 1.0, "inertia": 0.0, "at": [x, y]})
        joints.append(hinge(f"j{i}", last, f"m{i}", at))
        last = f"m{i}"
    # squared frequencies: the zeros of the Laguerre polynomial of degree n, times g for rods of 1 m
    zeros = np.polynomial.laguerre.lagroots([0] * n + [1])
    return bodies, joints, sorted(np.sqrt(GRAVITY * zeros) / (2 * math.pi))


def row_of_masses(n):
    """Masses on slides in a row, springs between them and to the ground at one end."""
    m, k = 2.0, 300.0
    bodies = [{"name": f"m{i}", "mass": m, "inertia": 0.1, "at": [float(i + 1), 0.0]} for i in range(n)]
    joints = [slide(f"s{i}", "ground" if i == 0 else f"m{i - 1}", f"m{i}", [float(i), 0.0], [1.0, 0.0], k) for i in range(n)]
    closed = [2 * math.sqrt(k / m) * math.sin((2 * i - 1) * math.pi / (2 * (2 * n + 1))) / (2 * math.pi) for i in range(1, n + 1)]
    return bodies, joints, closed


def tree_of_springs():
    """A Y of three rods that hang on torsion springs."""
    a, b, c, d = [0.0, 0.0], [0.6, -0.2], [1.1, 0.1], [0.9, -0.7]
    bodies = [rod("trunk", a, b, 1.5), rod("up", b, c, 0.8), rod("down", b, d, 0.6)]
    return bodies, [hinge("A", "ground", "trunk", a, 30.0, 0.1), hinge("B", "trunk", "up", b, 12.0), hinge("C", "trunk", "down", b, 7.0, -0.2)], None


def four_bar_angles(crank):
    """Of coupler and rocker, and their derivatives by that of the crank."""
    coupler, rocker = 0.48, 1.42
    for _ in range(50):
        f = np.array([0.4 * np.cos(crank) + np.cos(coupler) - 1 - 0.8 * np.cos(rocker),
                      0.4 * np.sin(crank) + np.sin(coupler) - 0.8 * np.sin(rocker)])
        J = np.array([[-np.sin(coupler), 0.8 * np.sin(rocker)], [np.cos(coupler), -0.8 * np.cos(rocker)]])
        coupler, rocker = np.array([coupler, rocker]) - np.linalg.solve(J, f)
    return coupler, rocker, np.linalg.solve(J, np.array([0.4 * np.sin(crank), -0.4 * np.cos(crank)]))


def four_bar_frequency():
    """sqrt(V'' / M) of the crank's angle where V' = 0, with V'' by a complex step."""
    def slope_and_mass(crank):
        coupler, rocker, (by_coupler, by_rocker) = four_bar_angles(crank)
        b = 0.4 * np.array([-np.sin(crank), np.cos(crank)])
        rods = [(0.4, 0.5 * b, 1), (1, b + 0.5 * by_coupler * np.array([-np.sin(coupler), np.cos(coupler)]), by_coupler),
                (0.8, 0.4 * by_rocker * np.array([-np.sin(rocker), np.cos(rocker)]), by_rocker)]
        return (20 * (crank - math.pi / 3) + sum(length * GRAVITY * v[1] for length, v, _ in rods),
                sum(length * (v @ v + (length * w) ** 2 / 12) for length, v, w in rods))

    crank = 0.9
    for _ in range(20):
        slope, mass = slope_and_mass(crank + 1e-30j)
        crank -= slope.real / (slope.imag / 1e-30)
    return math.sqrt(slope.imag / 1e-30 / mass.real) / (2 * math.pi)


def four_bar():
    """The four-bar of the reference at a crank angle of 0.9 rad."""
    crank = 0.9
    coupler, rocker, _ = four_bar_angles(crank)
    b = [0.4 * math.cos(crank), 0.4 * math.sin(crank)]
    c = [1 + 0.8 * math.cos(rocker), 0.8 * math.sin(rocker)]
    bodies = [rod("crank", [0, 0], b), rod("coupler", b, c), rod("rocker", [1, 0], c)]
    joints = [hinge("A", "ground", "crank", [0.0, 0.0], 20.0, math.pi / 3 - crank), hinge("B", "crank", "coupler", b),
              hinge("C", "coupler", "rocker", c), hinge("D", "ground", "rocker", [1.0, 0.0])]
    return bodies, joints, [four_bar_frequency()]


def slider_crank():
    """A crank with a torsion spring, a rod and a piston along x."""
    b = [0.1 * math.cos(0.8), 0.1 * math.sin(0.8)]
    c = [b[0] + math.sqrt(0.09 - b[1] ** 2), 0.0]
    bodies = [rod("crank", [0, 0], b, 1.0), rod("rod", b, c, 0.6), {"name": "piston", "mass": 0.8, "inertia": 1e-3, "at": c}]
    joints = [hinge("A", "ground", "crank", [0.0, 0.0], 15.0, 0.05), hinge("B", "crank", "rod", b), hinge("C", "rod", "piston", c),
              slide("D", "ground", "piston", c, [1.0, 0.0])]
    return bodies, joints, None


def wishbone():
    """A double wishbone in the plane: two arms, an upright, a spring in the hinge of the lower arm."""
    lower, upper, low, up = [0.0, 0.2], [0.05, 0.5], [0.42, 0.18], [0.38, 0.48]
    bodies = [rod("lower", lower, low, 4.0), rod("upper", upper, up, 2.5),
              {"name": "upright", "mass": 22.0, "inertia": 0.6, "at": [0.5, 0.3]}]
    joints = [hinge("A", "ground", "lower", lower, 4200.0, 0.03), hinge("B", "ground", "upper", upper), hinge("C", "lower", "upright", low),
              hinge("D", "upper", "upright", up)]
    return bodies, joints, None


def platform():
    """A plate on two legs of different lengths, with springs in all hinges."""
    feet, tops = [[0.0, 0.0], [0.5, 0.05]], [[0.1, 0.6], [0.55, 0.7]]
    bodies = [rod(f"leg{i}", a, b, 1.2) for i, (a, b) in enumerate(zip(feet, tops))]
    bodies.append({"name": "plate", "mass": 5.0, "inertia": 0.4, "at": [0.55, 0.75]})
    joints = [hinge(f"foot{i}", "ground", f"leg{i}", feet[i], 150.0 + 40 * i) for i in range(2)]
    joints += [hinge(f"top{i}", f"leg{i}", "plate", tops[i], 60.0) for i in range(2)]
    return bodies, joints, None


CASES = {"pendulum-1": lambda: pendulum(1), "pendulum-2": lambda: pendulum(2), "pendulum-5": lambda: pendulum(5),
         "row-10": lambda: row_of_masses(10), "tree": tree_of_springs, "four-bar": four_bar, "slider-crank": slider_crank,
         "wishbone": wishbone, "plate": platform}


# ---------------------------------------------------------------------------------------------- Linkwork

def linkwork(program, bodies, joints):
    """({body: [x, y]} in equilibrium, frequencies)."""
    lines = ["linkwork: 1", f"gravity: [0, {-GRAVITY}, 0]", "bodies:"]
    for b in bodies:
        thin = THIN if b["inertia"] > 0 else 0
        # a rod's moments obey the triangle inequality: Ixx + Iyy >= Izz
        across = max(thin, b["inertia"])
        inertia = f"[{across!r}, {across!r}, {b['inertia']!r}, 0, 0, 0]" if b["inertia"] else "[0, 0, 0, 0, 0, 0]"
        lines.append(f"  {b['name']}: {{mass: {b['mass']!r}, inertia: {inertia}, position: [{b['at'][0]!r}, {b['at'][1]!r}, 0]}}")
    lines.append("joints:")
    for j in joints:
        axis = [*j.get("axis", (0, 0)), 0] if j["type"] == "prismatic" else [0, 0, 1]
        spring = f", spring: {{q0: {{stiffness: {j['stiffness']!r}, at: {j['free']!r}}}}}" if j["stiffness"] else ""
        lines.append(f"  {j['name']}: {{type: {j['type']}, between: [{', '.join(j['bodies'])}], at: [{j['at'][0]!r}, {j['at'][1]!r}, 0], "
                     f"axis: {axis}{spring}}}")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        found = [json.loads(subprocess.run([program, verb, path, "--json"], check=True, capture_output=True, text=True).stdout)
                 for verb in ("equilibrium", "modes")]
    places = {name: pose["position"][:2] for name, pose in found[0]["bodies"].items()}
    return places, sorted(m["frequency_hz"] for m in found[1]["modes"])


# ------------------------------------------------------------------------------------------------ MuJoCo

def mujoco_results(bodies, joints, _lowest):
    """The same by MuJoCo, of trees; None: there is a loop."""
    import mujoco
    parent = {}
    for j in joints:
        if j["bodies"][1] in parent:
            return None
        parent[j["bodies"][1]] = j
    by_name = {b["name"]: b for b in bodies}

    def element(name):
        b, j = by_name[name], parent[name]
        base = by_name.get(j["bodies"][0], {"at": [0.0, 0.0]})["at"]
        at = [b["at"][k] - base[k] for k in range(2)]
        pos = [j["at"][k] - b["at"][k] for k in range(2)]
        kind = "slide" if j["type"] == "prismatic" else "hinge"
        axis = [*j["axis"], 0] if kind == "slide" else [0, 0, 1]
        children = "".join(element(c) for c, k in parent.items() if k["bodies"][0] == name)
        across = max(THIN, b["inertia"]) if b["inertia"] else 1e-15
        return (f'<body name="{name}" pos="{at[0]!r} {at[1]!r} 0"><joint name="{j["name"]}" type="{kind}" pos="{pos[0]!r} {pos[1]!r} 0" '
                f'axis="{axis[0]} {axis[1]} {axis[2]}" stiffness="{j["stiffness"]!r}" springref="{j["free"]!r}"/>'
                f'<inertial pos="0 0 0" mass="{b["mass"]!r}" diaginertia="{across!r} {across!r} {b["inertia"] or 1e-15!r}"/>{children}</body>')

    roots = "".join(element(n) for n, j in parent.items() if j["bodies"][0] == "ground")
    model = mujoco.MjModel.from_xml_string(f'<mujoco><compiler angle="radian"/><option gravity="0 {-GRAVITY} 0"/>'
                                           f'<worldbody>{roots}</worldbody></mujoco>')
    data = mujoco.MjData(model)

    def force(q):
        data.qpos[:], data.qvel[:], data.qacc[:] = q, 0, 0
        mujoco.mj_inverse(model, data)
        return data.qfrc_inverse.copy()

    def stiffness(q, h=1e-3):
        K = np.zeros((model.nv, model.nv))
        for i in range(model.nv):
            step = np.eye(model.nv)[i] * h
            for k, w in ((1, 45 / 60), (2, -9 / 60), (3, 1 / 60)):
                K[:, i] += w * (force(q + k * step) - force(q - k * step)) / h
        return (K + K.T) / 2

    q = np.zeros(model.nv)
    for _ in range(60):
        step = np.linalg.solve(stiffness(q), -force(q))
        q = q + step * min(1, 0.5 / max(1e-300, np.max(np.abs(step))))
        if np.max(np.abs(step)) < 1e-14:
            break
    K = stiffness(q)
    force(q)
    mujoco.mj_forward(model, data)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M) if tuple(map(int, mujoco.__version__.split(".")[:2])) >= (3, 4) else mujoco.mj_fullM(model, M, data.qM)
    from scipy.linalg import eigh
    values = eigh(K, M, eigvals_only=True)
    places = {b["name"]: list(data.xipos[model.body(b["name"]).id][:2]) for b in bodies}
    return places, sorted(np.sqrt(np.maximum(values, 0)) / (2 * math.pi))


# ------------------------------------------------------------------------------------------------ Exudyn

def exudyn_results(bodies, joints, lowest):
    """By bodies and joints in the plane."""
    import exudyn as exu
    import exudyn.utilities as eu
    from exudyn.solver import ComputeODE2Eigenvalues, SolveStatic
    system = exu.SystemContainer().AddSystem()
    item = {"ground": system.AddObject(eu.ObjectGround())}
    for b in bodies:
        node = system.AddNode(eu.NodeRigidBody2D(referenceCoordinates=[*b["at"], 0]))
        item[b["name"]] = system.AddObject(eu.ObjectRigidBody2D(physicsMass=b["mass"], physicsInertia=b["inertia"] or 1e-12,
                                                                nodeNumber=node))
        at = system.AddMarker(eu.MarkerBodyMass(bodyNumber=item[b["name"]]))
        system.AddLoad(eu.Gravity(markerNumber=at, loadVector=[0, -GRAVITY, 0]))
    for j in joints:
        pair = [system.AddMarker(eu.MarkerBodyRigid(bodyNumber=item[n], localPosition=[x - c for x, c in zip(j["at"], by_at(bodies, n))] + [0]))
                for n in j["bodies"]]
        if j["type"] == "prismatic":
            x, y = j["axis"]
            system.AddObject(eu.PrismaticJoint2D(markerNumbers=pair, axisMarker0=[x, y, 0], normalMarker1=[-y, x, 0]))
            if j["stiffness"]:
                system.AddObject(eu.CartesianSpringDamper(markerNumbers=pair, stiffness=[j["stiffness"], 0, 0], damping=[0, 0, 0],
                                                          offset=[j["free"], 0, 0]))
            continue
        system.AddObject(eu.RevoluteJoint2D(markerNumbers=pair))
        if j["stiffness"]:
            system.AddObject(eu.TorsionalSpringDamper(markerNumbers=pair, stiffness=j["stiffness"], damping=0, offset=j["free"]))
    system.Assemble()
    settings = exu.SimulationSettings()
    settings.solutionSettings.writeSolutionToFile = False
    newton = settings.staticSolver.newton
    newton.relativeTolerance, newton.absoluteTolerance = 1e-10, 1e-10
    settings.staticSolver.numberOfLoadSteps, settings.staticSolver.verboseMode = 1, 0
    settings.linearSolverType = exu.LinearSolverType.EigenDense  # a pendulum has no stiffness before its joints have forces
    settings.linearSolverSettings.ignoreSingularJacobian = True
    SolveStatic(system, settings, updateInitialValues=True, showHints=False)
    places = {b["name"]: list(system.GetObjectOutputBody(item[b["name"]], exu.OutputVariableType.Position)[:2]) for b in bodies}
    if len(joints) > len(bodies):
        return places, [oscillation(system, settings, item[bodies[0]["name"]], lowest)]
    if any(j["type"] == "revolute" for j in joints):
        return places, None
    values = np.sort(np.real(np.asarray(ComputeODE2Eigenvalues(system, settings)[0], dtype=complex)))
    return places, list(np.sqrt(np.maximum(values, 0)) / (2 * math.pi))


def oscillation(system, settings, body, about):
    """The frequency of a small free oscillation of a mechanism with one degree of freedom, by its zeros; about: roughly that."""
    import exudyn as exu
    import exudyn.utilities as eu
    from exudyn.solver import SolveDynamic, SolveStatic
    rest = system.GetObjectOutputBody(body, exu.OutputVariableType.Rotation)
    load = system.AddLoad(eu.Torque(markerNumber=system.AddMarker(eu.MarkerBodyRigid(bodyNumber=body)), loadVector=[0, 0, 2e-3]))
    angle = system.AddSensor(eu.SensorBody(bodyNumber=body, storeInternal=True, writeToFile=False,
                                           outputVariableType=exu.OutputVariableType.Rotation))
    system.Assemble()
    SolveStatic(system, settings, updateInitialValues=True, showHints=False)
    system.SetLoadParameter(load, "loadVector", [0, 0, 0])
    integration = settings.timeIntegration
    integration.endTime, integration.numberOfSteps = 10 / about, 20000
    integration.generalizedAlpha.spectralRadius, integration.verboseMode = 1, 0
    integration.newton.relativeTolerance = integration.newton.absoluteTolerance = 1e-10
    settings.solutionSettings.sensorsWritePeriod = integration.endTime / integration.numberOfSteps
    SolveDynamic(system, settings, showHints=False)
    rows = np.asarray(system.GetSensorStoredData(angle))
    t, x = rows[:, 0], rows[:, 1] - rest
    k = np.nonzero(x[:-1] * x[1:] < 0)[0]
    zeros = t[k] - x[k] * (t[k + 1] - t[k]) / (x[k + 1] - x[k])
    return (len(zeros) - 1) // 2 / (zeros[2 * ((len(zeros) - 1) // 2)] - zeros[0])


def by_at(bodies, name):
    return next((b["at"] for b in bodies if b["name"] == name), [0.0, 0.0])


# ------------------------------------------------------------------------------------------------- table

def compare(ours, theirs):
    """(largest difference of positions, of frequencies relative)."""
    if theirs is None:
        return None
    places = max(math.dist(ours[0][n], p) for n, p in theirs[0].items())
    return places, None if theirs[1] is None else apart(ours[1], theirs[1])


def apart(ours, theirs):
    if len(ours) > len(theirs):
        return math.inf
    return max(abs(a - b) / a for a, b in zip(ours, theirs[-len(ours):] if len(theirs) > len(ours) else theirs))


def attempt(function, bodies, joints, lowest):
    try:
        with open(os.devnull, "w", encoding="utf-8") as nothing, contextlib.redirect_stdout(nothing):
            return function(bodies, joints, lowest)
    except ImportError:
        return None
    except Exception as error:  # of the peer's solver
        print(f"{function.__name__}: {error}", file=sys.stderr)
        return None


def measure(program, name):
    bodies, joints, closed = CASES[name]()
    ours = linkwork(program, bodies, joints)
    found = {"case": name, "dof": len(ours[1]), "loops": len(joints) - len(bodies), "lowest": ours[1][0],
             "closed form": closed and apart(ours[1], closed)}
    for peer, function in (("mujoco", mujoco_results), ("exudyn", exudyn_results)):
        found[peer] = compare(ours, attempt(function, bodies, joints, ours[1][0]))
    return found


def line(found):
    def number(x):
        return "-" if x is None else f"{x:.0e}"
    peers = [number(part) for peer in ("mujoco", "exudyn") for part in (found[peer] or (None, None))]
    return [found["case"], str(found["dof"]), str(found["loops"]), f"{found['lowest']:.6g}", number(found["closed form"]), *peers]


HEAD = ["case", "dof", "loops", "lowest [Hz]", "closed form", "MuJoCo: position [m]", "frequency", "Exudyn: position [m]", "frequency"]


def table(rows):
    """The table of the documents, lines of text."""
    cells = [HEAD, ["---"] * len(HEAD), *map(line, rows)]
    return ["| " + " | ".join(c) + " |" for c in cells]


def is_wrong(difference):
    return difference is not None and difference > LIMIT


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program")
    parser.add_argument("--table", metavar="FILE", help="prints the table of a file of --json")
    parser.add_argument("--json")
    parser.add_argument("--cases", default=",".join(CASES))
    a = parser.parse_args()
    if a.table:
        with open(a.table, encoding="utf-8") as file:
            print("\n".join(table(json.load(file)["rows"])))
        return 0
    if not a.program:
        parser.error("expected --program or --table")
    rows = [measure(a.program, name) for name in a.cases.split(",")]
    print("\n".join(table(rows)))
    if a.json:
        with open(a.json, "w", encoding="utf-8") as file:
            json.dump({"rows": rows}, file, indent=1)
            file.write("\n")
    wrong = [r["case"] for r in rows
             if (r["closed form"] or 0) > 1e-9 or any(is_wrong(part) for p in ("mujoco", "exudyn") for part in r[p] or ())]
    if wrong:
        print("apart: " + ", ".join(wrong))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
