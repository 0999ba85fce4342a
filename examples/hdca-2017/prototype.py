#!/usr/bin/env python3
"""Cases 1 to 3 of [chadaj2017] by other equations, other linear algebra and other integrators than the library's.

usage: prototype.py                computes the table below and writes it to prototype.json
       prototype.py --check [N]    computes a part of it (tolerances down to 1e-N, by default 1e-5) and
                                   compares it with prototype.json; exit status 1 where they differ

Links are planar.  Link i points along e(phi_i) = (cos phi_i, sin phi_i); its mass centre is
sum_j L_ij e(phi_j) from a support, and loops close where K e(phi) is constant.  With w = phidot

    T = w' M w / 2,   M_jk = (L'L)_jk cos(phi_j - phi_k) + delta_jk,   J = d(K e)/d phi (two rows a loop)

Hamiltonian form, (7) and (8) of the paper with sigmadot = lambda - kappa sigma:

    p = M w + J' sigma,   J w = 0,   pdot = dT/dphi + Q + Jdot' sigma - kappa J' sigma

and with accelerations   M wdot = Q - h + J' lambda,   J wdot = - Jdot w.   The state has the angles of the hinges
(and their momenta or rates), as the library's, because tolerances hold for these.  Integrators are SciPy's
RK45 and RK23 and VODE's Adams methods: step controllers differ from the library's, so counts do; what can be
compared are ratios, sizes of errors and growth.  Needs NumPy and SciPy.
"""
import argparse
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))

TOLERANCES = [1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9]
DURATION = 10
GRAVITY = 9.81
GROWTH_TIMES = [1, 2.5, 5, 10]

# name of the table's row, form, cut, kappa [1/s]
METHODS = [("end", "hdca", "end", 0.0), ("end, leak", "hdca", "end", 2.0), ("middle, leak", "hdca", "middle", 2.0),
           ("dca", "dca", "end", 0.0)]

INTEGRATORS = ["dopri5", "bs3", "adams"]  # names of the library's methods of the same kind


class Linkage:
    """A case with its loops cut at their right `end` or in the `middle`."""

    def __init__(self, case, where):
        import numpy as np

        import cases
        outer = np.array(cases.OUTER[case])
        inner = np.array(cases.INNER[case]) if case in cases.INNER else None
        links = np.diff(outer, axis=0)
        if inner is not None:
            links = np.vstack([links, np.diff(inner, axis=0)])
        self.n = n = len(links)
        self.start = np.arctan2(links[:, 1], links[:, 0])
        self.parent = [-1] * n
        self.L = np.zeros((n, n))
        self.K, self.closed = [], []
        self.left = outer[0]
        reach = self._loop(range(len(outer) - 1), -1, np.zeros(n), -1, np.zeros(n), where)
        self.to_k = reach[(len(outer) - 1) // 2 - 1]  # coefficients of point K from the left support
        if inner is not None:
            first, last = 0, len(outer) - 2
            begin, end = np.zeros(n), np.zeros(n)  # hinges Q0 and the last from the supports of their links
            begin[first] = 1
            if self.parent[last] == -1:
                end[last] = -1  # from the right support backwards
            else:
                end[:last] = 1  # from the left support to the beginning of the last link
            self._loop(range(len(outer) - 1, n), first, begin, last, end, where)
        self.C = self.L.T @ self.L
        self.K = np.array(self.K)
        tree = np.eye(n)
        for i in range(n):
            if self.parent[i] >= 0:
                tree[i, self.parent[i]] = -1
        self.B = tree  # theta = B (phi - start): an angle for each hinge of the tree
        self.A = np.linalg.inv(tree)
        e = np.array([np.cos(self.start), np.sin(self.start)])
        self.closed = self.K @ e.T  # constant on the constraints
        self.np = np

    def _loop(self, links, parent, begin, other_parent, end, where):
        """Adds the tree and the row of a loop of these links, from `begin` on `parent` to `end` on the other; the
        coefficients of every link's far point from the left."""
        links = list(links)
        cut = len(links) if where == "end" else len(links) // 2
        at, up, reach = begin.copy(), parent, []
        for i in links[:cut]:
            self.parent[i], up = up, i
            self.L[i] = at
            self.L[i, i] += 0.5
            at = at.copy()
            at[i] += 1
            reach.append(at)
        back, up = end.copy(), other_parent
        for i in reversed(links[cut:]):
            self.parent[i], up = up, i
            self.L[i] = back
            self.L[i, i] -= 0.5
            back = back.copy()
            back[i] -= 1
        self.K.append(at - back)
        return reach

    def _parts(self, theta):
        np = self.np
        phi = self.start + self.A @ theta
        c, s = np.cos(phi), np.sin(phi)
        M = self.C * (np.outer(c, c) + np.outer(s, s)) + np.eye(self.n)
        J = np.concatenate([np.vstack([-k * s, k * c]) for k in self.K])
        S = np.outer(s, c) - np.outer(c, s)  # sin(phi_j - phi_k)
        return c, s, M, J, self.C * S, -GRAVITY * self.L.sum(0) * c

    def speeds(self, y):
        """w and sigma of the Hamiltonian form."""
        np = self.np
        _, _, M, J, _, _ = self._parts(y[:self.n])
        return self._speeds(np, M, J, y)

    def _speeds(self, np, M, J, y):
        X = np.linalg.solve(M, np.column_stack([self.B.T @ y[self.n:], J.T]))
        sigma = np.linalg.solve(J @ X[:, 1:], J @ X[:, 0])
        return X[:, 0] - X[:, 1:] @ sigma, sigma

    def hdca(self, y, kappa):
        np, n = self.np, self.n
        c, s, M, J, CS, Q = self._parts(y[:n])
        w, sigma = self._speeds(np, M, J, y)
        Jdot = np.concatenate([np.vstack([-k * c * w, -k * s * w]) for k in self.K])
        pdot = Q - (CS @ w) * w + Jdot.T @ sigma - kappa * (J.T @ sigma)
        return np.concatenate([self.B @ w, self.A.T @ pdot])

    def dca(self, y):
        np, n = self.np, self.n
        c, s, M, J, CS, Q = self._parts(y[:n])
        w = self.A @ y[n:]
        gamma = np.concatenate([[(k * c) @ (w * w), (k * s) @ (w * w)] for k in self.K])  # - Jdot w
        X = np.linalg.solve(M, np.column_stack([Q - CS @ (w * w), J.T]))
        multipliers = np.linalg.solve(J @ X[:, 1:], gamma - J @ X[:, 0])
        return np.concatenate([y[n:], self.B @ (X[:, 0] + X[:, 1:] @ multipliers)])

    def measures(self, y, form):
        """Energy, largest residual of velocities and of positions, point K."""
        np, n = self.np, self.n
        c, s, M, J, _, _ = self._parts(y[:n])
        w = self.A @ y[n:] if form == "dca" else self._speeds(np, M, J, y)[0]
        energy = 0.5 * w @ M @ w + GRAVITY * (self.L @ s).sum()
        gap = self.K @ np.column_stack([c, s]) - self.closed
        return (energy, np.abs(J @ w).max(), np.abs(gap).max(),
                self.left + np.array([self.to_k @ c, self.to_k @ s]))

    def rates(self, form, kappa):
        """The right-hand side, which counts its calls in `.calls`."""
        def call(t, y):
            call.calls += 1
            return self.hdca(y, kappa) if form == "hdca" else self.dca(y)

        call.calls = 0
        return call


def integrate(rates, n, integrator, tolerance, keep=False, most=400000):
    """States at accepted steps (the last one only, unless `keep`), or None where it does not get to the end."""
    import warnings

    import numpy as np
    from scipy.integrate import RK23, RK45, ode
    y0 = np.zeros(2 * n)
    times, states = [0.0], [y0]

    def take(t, y):
        if not keep:
            del times[:], states[:]
        times.append(t)
        states.append(y.copy())

    if integrator == "adams":
        solver = ode(rates).set_integrator("vode", method="adams", rtol=tolerance, atol=tolerance, nsteps=most)
        solver.set_initial_value(y0, 0.0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            solver.integrate(DURATION)
        if not solver.successful():
            return None
        take(solver.t, solver.y)
        return times, states
    method = RK45 if integrator == "dopri5" else RK23
    solver = method(rates, 0.0, y0, DURATION, rtol=tolerance, atol=tolerance)
    while solver.status == "running":
        solver.step()
        if rates.calls > most or not np.all(np.isfinite(solver.y)):
            return None
        if solver.status != "failed":
            take(solver.t, solver.y)
    return None if solver.status == "failed" else (times, states)


def count(case, method, integrator, tolerance):
    """Evaluations in 10 s; None: the run does not get to the end."""
    _, form, where, kappa = method
    linkage = Linkage(case, where)
    rates = linkage.rates(form, kappa)
    return rates.calls if integrate(rates, linkage.n, integrator, tolerance) else None


def reference_k(case):
    """K over time, cut in the middle, where no symmetry is lost: DOP853 at 1e-12, dense output."""
    from scipy.integrate import solve_ivp
    import numpy as np
    linkage = Linkage(case, "middle")
    solution = solve_ivp(linkage.rates("dca", 0), (0, DURATION), np.zeros(2 * linkage.n), method="DOP853", rtol=1e-12,
                         atol=1e-12, dense_output=True).sol
    return lambda t: linkage.measures(solution(t), "dca")[3]


def errors(case):
    """By row of METHODS: the largest over the accepted steps of dopri5 at 1e-6 of energy error [J], residual of
    velocity, of position, distance of K [m]; and how residuals grow: the largest up to GROWTH_TIMES."""
    import numpy as np
    true_k, rows, growth = reference_k(case), [], {}
    for name, form, where, kappa in METHODS:
        linkage = Linkage(case, where)
        times, states = integrate(linkage.rates(form, kappa), linkage.n, "dopri5", 1e-6, keep=True)
        found = [linkage.measures(y, form) for y in states]
        rows.append([max(abs(e[0] - found[0][0]) for e in found), max(e[1] for e in found), max(e[2] for e in found),
                     max(np.hypot(*(e[3] - true_k(t))) for t, e in zip(times, found))])
        growth[name] = {what: [max(e[k] for t, e in zip(times, found) if t <= until) for until in GROWTH_TIMES]
                        for k, what in ((2, "position"), (1, "velocity"))}
    return rows, growth


def impulses(case):
    """Largest component of sigma after 10 s, cut at the end, kappa 0 and 2/s, dopri5 at 1e-9."""
    import numpy as np
    linkage, found = Linkage(case, "end"), []
    for kappa in (0.0, 2.0):
        _, states = integrate(linkage.rates("hdca", kappa), linkage.n, "dopri5", 1e-9)
        found.append(float(np.abs(linkage.speeds(states[-1])[1]).max()))
    return found


def compute(tolerances=None):
    """The whole table; of some tolerances, counts only."""
    wanted = tolerances or TOLERANCES
    result = {"tolerances": wanted, "evaluations": {}}
    for integrator in INTEGRATORS:
        for case in (1, 2, 3):
            result["evaluations"][f"{integrator} {case}"] = [
                [count(case, method, integrator, tolerance) for tolerance in wanted] for method in METHODS]
    if tolerances is None:
        import scipy
        result["errors"], result["growth"] = {}, {}
        for case in (1, 2, 3):
            result["errors"][str(case)], result["growth"][str(case)] = errors(case)
        result["impulses"] = {str(case): impulses(case) for case in (1, 2, 3)}
        result["computed by"] = f"prototype.py with SciPy {scipy.__version__}"
    return result


def load():
    """What prototype.json has."""
    with open(os.path.join(HERE, "prototype.json"), encoding="utf-8") as file:
        return json.load(file)


def text(result):
    """JSON with a line for each list of numbers."""
    def write(value, indent):
        if isinstance(value, dict):
            inner = ",\n".join(f'{" " * (indent + 1)}"{k}": {write(v, indent + 1)}' for k, v in value.items())
            return "{\n" + inner + "\n" + " " * indent + "}"
        if isinstance(value, list) and value and isinstance(value[0], list):
            return "[" + (",\n" + " " * (indent + 1)).join(write(v, indent + 1) for v in value) + "]"
        if isinstance(value, list):
            return "[" + ", ".join(write(v, indent) for v in value) + "]"
        if isinstance(value, float):
            return repr(float(f"{value:.4g}"))
        return json.dumps(value)

    return write(result, 0) + "\n"


def main():
    parser = argparse.ArgumentParser(description="cases 1 to 3 of [chadaj2017] by independent equations")
    parser.add_argument("--check", nargs="?", type=int, const=5, metavar="N")
    arguments = parser.parse_args()
    try:
        import scipy  # noqa: F401
    except ImportError:
        print("SKIPPED: the prototype needs NumPy and SciPy (pip install scipy)")
        return 77 if arguments.check else 1
    if arguments.check is None:
        with open(os.path.join(HERE, "prototype.json"), "w", encoding="utf-8") as file:
            file.write(text(compute()))
        return 0
    known, wrong = load(), 0
    wanted = [t for t in TOLERANCES if t >= 0.99 * 10.0 ** -arguments.check]
    for key, rows in compute(wanted)["evaluations"].items():
        for method, row, stored in zip(METHODS, rows, known["evaluations"][key]):
            for tolerance, a, b in zip(wanted, row, stored):
                # versions of SciPy and of its linear algebra differ in last digits, which moves a step or two
                if (a is None) != (b is None) or (a is not None and abs(a - b) > 0.03 * b):
                    print(f"{key}, {method[0]}, {tolerance:g}: {a} evaluations, {b} in prototype.json")
                    wrong += 1
    print(f"{len(wanted)} tolerances computed, {wrong} counts differ from prototype.json")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
