"""Trajectories as CSV files: reading, grouping of columns, largest differences by group.

A group passes when its largest difference is at most atol + rtol * scale, scale being the largest
magnitude of the group in the reference; a group with a separate tolerance when it is at most
tolerance * max(1, scale).  q and -q are the same attitude.  Times must agree, nothing is
interpolated.
"""
import csv

ATOL = 1e-6
RTOL = 1e-6

GROUPS = ["position", "quaternion", "velocity", "angular_velocity", "acceleration",
          "angular_acceleration", "joint_q", "joint_qd", "joint_qdd", "joint_quaternion",
          "joint_w", "reaction_force", "reaction_torque", "energy", "momentum"]

_BODY = {"x": "position", "y": "position", "z": "position"}
_BODY.update({f"q{c}": "quaternion" for c in "wxyz"})
_BODY.update({f"v{c}": "velocity" for c in "xyz"})
_BODY.update({f"w{c}": "angular_velocity" for c in "xyz"})
_BODY.update({f"a{c}": "acceleration" for c in "xyz"})
_BODY.update({f"al{c}": "angular_acceleration" for c in "xyz"})
_JOINT = {f"q{c}": "joint_quaternion" for c in "wxyz"}
_JOINT.update({f"w{c}": "joint_w" for c in "xyz"})
_JOINT.update({f"f{c}": "reaction_force" for c in "xyz"})
_JOINT.update({f"t{c}": "reaction_torque" for c in "xyz"})
for _k in range(6):
    _JOINT.update({f"q{_k}": "joint_q", f"qd{_k}": "joint_qd", f"qdd{_k}": "joint_qdd"})
_SYSTEM = {c: "energy" for c in ("T", "V", "E", "Wnc")}
_SYSTEM.update({c: "momentum" for c in ("px", "py", "pz", "lx", "ly", "lz")})
_TABLES = {"body": _BODY, "joint": _JOINT, "sys": _SYSTEM}


def group_of(column):
    """The group of a column, or None: time, residuals."""
    kind, _, rest = column.partition(".")
    return _TABLES.get(kind, {}).get(rest.rpartition(".")[2])


def read(path):
    """Columns by name: {"time": [...], ...}."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = csv.reader(file)
        head = next(rows)
        columns = list(zip(*((float(x) for x in row) for row in rows)))
    if len(columns) != len(head) or "time" not in head:
        raise ValueError(f"{path}: not a trajectory")
    return dict(zip(head, columns))


def match(reference, candidate, until):
    """Pairs of row indices with the same time, for all reference times up to `until`."""
    time, other = reference["time"], candidate["time"]
    tolerance = max(1e-12, 1e-9 * (time[-1] - time[0]))
    pairs, j = [], 0
    for i, t in enumerate(time):
        if t > until + tolerance:
            break
        while j < len(other) and other[j] < t - tolerance:
            j += 1
        if j == len(other) or other[j] > t + tolerance:
            raise ValueError(f"no row at t = {t!r}")
        pairs.append((i, j))
    return pairs


def _signs(reference, candidate, column, pairs):
    """-1 for rows in which the other sign of the quaternion is the nearer one."""
    base = column.rpartition(".")[0]
    names = [f"{base}.q{c}" for c in "wxyz"]
    if any(n not in reference or n not in candidate for n in names):
        return [1.0] * len(pairs)
    return [-1.0 if sum(reference[n][i] * candidate[n][j] for n in names) < 0 else 1.0
            for i, j in pairs]


class Difference:
    """Largest difference of one group."""

    def __init__(self):
        self.error = 0.0
        self.scale = 0.0
        self.column = ""
        self.time = 0.0

    def limit(self, tolerance):
        if tolerance is None:
            return ATOL + RTOL * self.scale
        return tolerance * max(1.0, self.scale)


def compare(reference, candidate, until=float("inf"), skip=()):
    """{group: Difference}; a column of the reference that the candidate lacks is an error."""
    pairs = match(reference, candidate, until)
    if not pairs:
        raise ValueError("no rows")
    result = {}
    for column, values in reference.items():
        group = group_of(column)
        if group is None or column in skip:
            continue
        if column not in candidate:
            raise ValueError(f"column {column} is missing")
        other = candidate[column]
        signs = [1.0] * len(pairs)
        if group.endswith("quaternion"):
            signs = _signs(reference, candidate, column, pairs)
        d = result.setdefault(group, Difference())
        for (i, j), sign in zip(pairs, signs):
            error = abs(sign * other[j] - values[i])
            d.scale = max(d.scale, abs(values[i]))
            if not error <= d.error:  # also when it is not a number
                d.error, d.column, d.time = error, column, reference["time"][i]
    return result
