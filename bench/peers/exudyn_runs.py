#!/usr/bin/env python3
"""Whole runs by Exudyn, printed as the drivers in C++ print theirs: one of the programs of run.py.

usage: exudyn_runs.py --scenes FILE --case A,B,... [--seconds S] [--samples N]

FILE is libscenes.so. Trees are its ObjectKinematicTree by its explicit methods, classical Runge-Kutta with equal steps and
DOPRI5 with tolerances; loops, closed by ObjectJointSpherical, are exact, by its generalised-alpha method of index 3 with
spectral radius 0.9 and by its trapezoidal rule of index 2, with equal steps. Balls and free bodies are hinges and slides in
series, which start at zero. The time is that of SolveSteps, in C++; what comes before it, is left out. Needs exudyn and numpy.
"""
import argparse
import json
import math
import sys
import time

import exudyn as exu
import numpy as np
from exudyn.itemInterface import MarkerKinematicTreeRigid, NodeGenericODE2, ObjectJointSpherical, ObjectKinematicTree

import scenes

TOLERANCES = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10)
SMALL = (1e-4, 5e-5, 2e-5)  # steps of methods of order two, besides those of all
LIMIT = 1.0  # s that a run may take: longer ones are left out
TURNS = (exu.JointType.RevoluteX, exu.JointType.RevoluteY, exu.JointType.RevoluteZ)
SLIDES = (exu.JointType.PrismaticX, exu.JointType.PrismaticY, exu.JointType.PrismaticZ)
METHODS = {"rk44": exu.DynamicSolverType.RK44, "dopri5": exu.DynamicSolverType.DOPRI5,
           "generalized-alpha": exu.DynamicSolverType.GeneralizedAlpha, "trapezoidal": exu.DynamicSolverType.TrapezoidalIndex2}


def joints_of(body):
    """Types of joints with one coordinate each, in series."""
    if body.joint == scenes.REVOLUTE:
        return [TURNS[body.axis]]
    return [*(SLIDES if body.joint == scenes.FREE else ()), *TURNS[:2 if body.joint == scenes.UNIVERSAL else 3]]


class Model:
    def __init__(self, scene):
        self.scene, self.system = scene, exu.SystemContainer()
        self.mbs = self.system.AddSystem()
        types, parents, turns, offsets, masses, coms, inertias, link = [], [], [], [], [], [], [], []
        for b in scene.body:
            series = joints_of(b)
            for k, kind in enumerate(series):
                last = k + 1 == len(series)
                parents.append(len(types) - 1 if k else link[b.parent] if b.parent >= 0 else -1)
                types.append(kind)
                turns.append(np.eye(3) if k else np.array(scenes.rotation(b.turn)))
                offsets.append([0.0, 0.0, 0.0] if k else list(b.at))
                masses.append(b.mass if last else 0.0)
                coms.append(list(b.com) if last else [0.0, 0.0, 0.0])
                inertias.append(np.diag(list(b.inertia)) if last else np.zeros((3, 3)))
            link.append(len(types) - 1)
        self.node = self.mbs.AddNode(NodeGenericODE2(
            referenceCoordinates=[0.0] * scene.nv, initialCoordinates=list(scene.q), initialCoordinates_t=list(scene.v),
            numberOfODE2Coordinates=scene.nv))
        tree = self.mbs.AddObject(ObjectKinematicTree(
            nodeNumber=self.node, gravity=scene.gravity, jointTypes=types, linkParents=parents,
            jointTransformations=exu.Matrix3DList(turns), jointOffsets=exu.Vector3DList(offsets),
            linkInertiasCOM=exu.Matrix3DList(inertias), linkCOMs=exu.Vector3DList(coms), linkMasses=masses))
        for x in scene.loop:
            ends = [self.mbs.AddMarker(MarkerKinematicTreeRigid(objectNumber=tree, linkNumber=link[x.body[i]],
                                                                localPosition=list(x.at[i]))) for i in range(2)]
            # in the plane a hinge has no third equation: Exudyn wants independent ones
            flat = all(b.joint == scenes.REVOLUTE and b.axis == 2 for b in scene.body)
            self.mbs.AddObject(ObjectJointSpherical(markerNumbers=ends, constrainedAxes=[1, 1, 0 if flat else 1]))
        self.mbs.Assemble()

    def settings(self, method, value):
        s = exu.SimulationSettings()
        time_of = s.timeIntegration
        s.solution.file.write = False
        s.solution.sensors.writePeriod = 1e3
        s.solution.solverInformationFileName = ""
        s.linearSolver.solverType = exu.LinearSolverType.EXUdense if self.scene.nv < 40 else exu.LinearSolverType.EigenSparse
        time_of.endTime = self.scene.duration
        time_of.verboseMode = 0
        time_of.automaticStepSize = method == "dopri5"
        if method == "dopri5":
            time_of.absoluteTolerance = time_of.relativeTolerance = value
            time_of.numberOfSteps, time_of.minimumStepSize = 1, 1e-5
            time_of.initialStepSize = 1e-3
        else:
            time_of.numberOfSteps = max(1, round(self.scene.duration / value))
        time_of.explicit.computeEndOfStepAccelerations = False
        time_of.generalizedAlpha.spectralRadius = 0.9
        time_of.newton.relativeTolerance = 1e-10
        return s

    def run(self, method, value):
        """Processor seconds, and the angles of hinges and universal joints; None: it fails."""
        settings = self.settings(method, value)
        settings.timeIntegration.solverType = METHODS[method]
        if method == "trapezoidal":
            settings.timeIntegration.generalizedAlpha.useIndex2Constraints = True
            settings.timeIntegration.generalizedAlpha.useNewmark = True
        explicit = method in ("rk44", "dopri5")
        solver = exu.MainSolverExplicit() if explicit else exu.MainSolverImplicitSecondOrder()
        if not solver.InitializeSolver(self.mbs, settings):
            return None
        began = time.thread_time()
        good = solver.SolveSteps(self.mbs, settings)
        taken = time.thread_time() - began
        q = self.mbs.systemData.GetODE2Coordinates()
        solver.FinalizeSolver(self.mbs, settings)
        found = [q[at + k] for b, at in zip(self.scene.body, self.scene.first()) if b.joint <= scenes.UNIVERSAL
                 for k in range(b.joint)]
        return (taken, found) if good and all(map(math.isfinite, found)) else None


def entries(scene, seconds, samples):
    model = Model(scene)
    loops = len(scene.loop) > 0
    for method in ("generalized-alpha", "trapezoidal") if loops else ("rk44", "dopri5"):
        for value in TOLERANCES if method == "dopri5" else [*scene.steps, *(SMALL if loops else ())]:
            times, found = [], None
            while len(times) < (samples or 1) or (not samples and sum(times) < seconds):
                done = model.run(method, value)
                if done is None:
                    break
                times.append(done[0])
                found = done[1]
                if done[0] > LIMIT:
                    break
            if done is not None and times:
                yield {"case": scene.name, "bodies": len(scene.body), "method": method, "unit": "s", "samples": len(times),
                       "minimum": min(times), "median": sorted(times)[len(times) // 2], "setting": value,
                       "angles": scenes.digest(found)}
            if times and times[-1] > LIMIT:
                break


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--scenes", required=True)
    parser.add_argument("--case", required=True)
    parser.add_argument("--seconds", type=float, default=0.1)
    parser.add_argument("--samples", type=int, default=0)
    options = parser.parse_args()
    found = []
    for name in options.case.split(","):
        scene = scenes.Scene(options.scenes, name)
        if scene.is_run:
            found += entries(scene, options.seconds, options.samples)
    json.dump({"name": "exudyn", "version": exu.__version__, "compiler": "", "flags": "as packaged", "cases": found},
              sys.stdout, indent=1)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
