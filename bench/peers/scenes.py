"""The mechanisms of src/cli/scenes.c for peers that are called from Python: libscenes.so of this folder's build."""
import ctypes
import math

REVOLUTE, UNIVERSAL, BALL, FREE = 1, 2, 3, 6  # the number of their speeds
KINDS = {"evaluation": 0, "batch": 1, "fall": 2, "run": 3}


class Body(ctypes.Structure):
    _fields_ = [("parent", ctypes.c_int), ("joint", ctypes.c_int), ("axis", ctypes.c_int), ("at", ctypes.c_double * 3),
                ("mass", ctypes.c_double), ("com", ctypes.c_double * 3), ("inertia", ctypes.c_double * 3),
                ("turn", ctypes.c_double * 2)]


class Loop(ctypes.Structure):
    _fields_ = [("joint", ctypes.c_int), ("body", ctypes.c_int * 2), ("at", ctypes.c_double * 3 * 2), ("axis", ctypes.c_int)]


class Case(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("work", ctypes.c_int), ("kind", ctypes.c_int), ("n", ctypes.c_int),
                ("is_default", ctypes.c_int)]


class Scene:
    """A case: bodies, loops, gravity, the state, and of a run the duration and the lengths of equal steps."""

    def __init__(self, library, name):
        lib = ctypes.CDLL(library)
        count = ctypes.c_int()
        lib.scene_cases.restype = ctypes.POINTER(Case)
        lib.scene_duration.restype = ctypes.c_double
        cases = lib.scene_cases(ctypes.byref(count))
        case = next((cases[i] for i in range(count.value) if cases[i].name.decode() == name), None)
        if case is None:
            raise ValueError(f"there is no case '{name}'")
        self.name, self.is_run = name, case.work == KINDS["run"]
        self.body = (Body * lib.scene_size(case.kind, case.n))()
        self.loop = (Loop * lib.scene_loops(case.kind, case.n))()
        lib.scene_fill(case.kind, case.n, self.body)
        lib.scene_close(case.kind, case.n, self.loop)
        gravity = (ctypes.c_double * 3)()
        lib.scene_gravity(case.kind, gravity)
        self.gravity = list(gravity)
        self.nv = lib.scene_dof(self.body, len(self.body))
        self.q, self.v, self.tau = ((ctypes.c_double * self.nv)() for _ in range(3))
        lib.scene_state(case.kind, self.body, len(self.body), self.q, self.v, self.tau)
        if self.is_run:
            self.duration = lib.scene_duration(case.kind, case.n)
            self.steps = list((ctypes.c_double * 9).in_dll(lib, "scene_steps"))

    def first(self):
        """Index of the first speed of each body."""
        at, found = 0, []
        for b in self.body:
            found.append(at)
            at += b.joint
        return found


def rotation(turn):
    """Of a body's axes at q = 0, in the parent's: rows."""
    (c, s), (d, t) = ((math.cos(x), math.sin(x)) for x in turn)
    return [[c * d, -s, c * t], [s * d, c, s * t], [-t, 0.0, d]]


def digest(x):
    """As scene_digest_of."""
    return {"sum": math.fsum(v * (1 + i % 7) for i, v in enumerate(x)), "max": max(map(abs, x)), "first": x[0], "last": x[-1]}
