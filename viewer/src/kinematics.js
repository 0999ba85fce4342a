// kinematics.js -- positions of a mechanism from its joint coordinates, with loops that stay closed.
//
// A spanning tree of the joints gives every body its pose; a joint outside of it closes a loop: six rows, with its own
// coordinates among the unknowns,
//
//     r = (B - A, log(A' B)),     A = P1 F1 T(q),  B = P2 F2     the frame of the joint by its two bodies
//
// a distance joint one, and a coupling one.  Gauss-Newton's steps of minimum norm,  dz = -J' (J J' + e 1)^-1 r,  leave
// dependent rows be.  Coordinates that are held keep their values.  Poses {R: [9] row-major, r: [3]}, double precision.
const TURN = 1, SLIDE = 2, SCREW = 3, PLACE = 4, BALL = 5;  // of an elementary motion, src/model/joints/joint.h
const COORDINATES = [0, 1, 1, 1, 3, 4], SPEEDS = [0, 1, 1, 1, 3, 3];
const CLOSED = 1e-12, ROUNDS = 30;  // residual by the size of the mechanism; Gauss-Newton steps
const STEP = 0.06;  // rad, or lengths of the mechanism: of one closing
const RIDGE = 1e-13;
const LARGE = 4e8;  // multiplications of a step: more take more than a second

const mul = (A, B) => {
  const R = new Float64Array(9), r = new Float64Array(3);
  for (let i = 0; i < 3; i++) {
    for (let j = 0; j < 3; j++) R[3 * i + j] = A.R[3 * i] * B.R[j] + A.R[3 * i + 1] * B.R[3 + j] + A.R[3 * i + 2] * B.R[6 + j];
    r[i] = A.r[i] + A.R[3 * i] * B.r[0] + A.R[3 * i + 1] * B.r[1] + A.R[3 * i + 2] * B.r[2];
  }
  return {R, r};
};
const inverse = (A) => {
  const R = new Float64Array(9), r = new Float64Array(3);
  for (let i = 0; i < 3; i++) {
    for (let j = 0; j < 3; j++) R[3 * i + j] = A.R[3 * j + i];
    r[i] = -(A.R[i] * A.r[0] + A.R[3 + i] * A.r[1] + A.R[6 + i] * A.r[2]);
  }
  return {R, r};
};
const identity = () => ({R: Float64Array.of(1, 0, 0, 0, 1, 0, 0, 0, 1), r: new Float64Array(3)});
const column = (R, k) => [R[k], R[3 + k], R[6 + k]];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

function ofQuaternion([w, x, y, z]) {
  const n = 2 / (w * w + x * x + y * y + z * z);
  return Float64Array.of(1 - n * (y * y + z * z), n * (x * y - w * z), n * (x * z + w * y), n * (x * y + w * z), 1 - n * (x * x + z * z), n * (y * z - w * x),
    n * (x * z - w * y), n * (y * z + w * x), 1 - n * (x * x + y * y));
}

/** The unit quaternion of a rotation matrix, scalar first. */
export function quaternionOf(R) {
  const t = [R[0] + R[4] + R[8], R[0] - R[4] - R[8], R[4] - R[0] - R[8], R[8] - R[0] - R[4]], k = t.indexOf(Math.max(...t));
  const s = Math.sqrt(1 + t[k]) * 2;
  if (k === 0) return [s / 4, (R[7] - R[5]) / s, (R[2] - R[6]) / s, (R[3] - R[1]) / s];
  if (k === 1) return [(R[7] - R[5]) / s, s / 4, (R[1] + R[3]) / s, (R[2] + R[6]) / s];
  if (k === 2) return [(R[2] - R[6]) / s, (R[1] + R[3]) / s, s / 4, (R[5] + R[7]) / s];
  return [(R[3] - R[1]) / s, (R[2] + R[6]) / s, (R[5] + R[7]) / s, s / 4];
}

const product = ([a, b, c, d], [w, x, y, z]) =>
  [a * w - b * x - c * y - d * z, a * x + b * w + c * z - d * y, a * y - b * z + c * w + d * x, a * z + b * y - c * x + d * w];
function exponential(v) {
  const angle = Math.hypot(...v), s = angle > 1e-12 ? Math.sin(angle / 2) / angle : 0.5;
  return [Math.cos(angle / 2), s * v[0], s * v[1], s * v[2]];
}
function logarithm(R) {
  const q = quaternionOf(R), sign = q[0] < 0 ? -1 : 1, v = q.slice(1).map((x) => sign * x), s = Math.hypot(...v);
  const k = s > 1e-12 ? 2 * Math.atan2(s, sign * q[0]) / s : 2;
  return v.map((x) => k * x);
}

// Body rates of exp(v) by v, row-major: 1 - (1 - cos a)/a^2 [v] + (a - sin a)/a^3 [v]^2, a = |v|.
function rates(v) {
  const a = Math.hypot(...v), b = a > 1e-4 ? (1 - Math.cos(a)) / a ** 2 : 0.5, c = a > 1e-4 ? (a - Math.sin(a)) / a ** 3 : 1 / 6;
  const X = [0, -v[2], v[1], v[2], 0, -v[0], -v[1], v[0], 0];
  return X.map((x, i) => (i % 4 ? 0 : 1) - b * x + c * (v[Math.trunc(i / 3)] * v[i % 3] - (i % 4 ? 0 : a * a)));
}

function about(axis, angle) {
  const q = [Math.cos(angle / 2), 0, 0, 0];
  q[1 + axis] = Math.sin(angle / 2);
  return ofQuaternion(q);
}

// The pose of an elementary motion.
function motion([kind, axis, at], q, pitch) {
  const T = identity();
  if (kind === TURN || kind === SCREW) T.R = about(axis, q[at]);
  if (kind === SLIDE) T.r[axis] = q[at];
  if (kind === SCREW) T.r[axis] = pitch * q[at];
  if (kind === PLACE) T.r = Float64Array.from(q.slice(at, at + 3));
  if (kind === BALL) T.R = ofQuaternion(q.slice(at, at + 4));
  return T;
}

// Solves (S + ridge 1) y = b, S symmetric and not negative, by Cholesky; both are overwritten.
function solve(S, b) {
  const n = b.length;
  let most = 0;
  for (let i = 0; i < n; i++) most = Math.max(most, S[i * n + i]);
  for (let i = 0; i < n; i++) S[i * n + i] += RIDGE * most + 1e-300;
  for (let i = 0; i < n; i++)
    for (let j = 0; j <= i; j++) {
      let s = S[i * n + j];
      for (let k = 0; k < j; k++) s -= S[i * n + k] * S[j * n + k];
      S[i * n + j] = i === j ? Math.sqrt(Math.max(s, 1e-3 * RIDGE * most + 1e-300)) : s / S[j * n + j];
    }
  for (let i = 0; i < n; i++) {
    for (let k = 0; k < i; k++) b[i] -= S[i * n + k] * b[k];
    b[i] /= S[i * n + i];
  }
  for (let i = n - 1; i >= 0; i--) {
    for (let k = i + 1; k < n; k++) b[i] -= S[k * n + i] * b[k];
    b[i] /= S[i * n + i];
  }
  return b;
}

export class Kinematics {
  /** @param d  the page's `kinematics` (data.js)   @param size  length of the mechanism [m] */
  constructor(d, size) {
    this.size = size;
    this.pose = d.bodies.map((b) => ({R: ofQuaternion(b.orientation), r: Float64Array.from(b.position)}));
    this.carrier = d.bodies.map((b) => b.carrier);
    this.held = this.pose.map((P, b) => mul(inverse(this.pose[this.carrier[b]]), P));  // of merged bodies in their carriers
    this.joints = d.joints.map((j) => ({...j, q: [...j.q], F1: {R: j.R1, r: j.r1}, F2: {R: j.R2, r: j.r2}}));
    this.couplings = d.couplings;
    this.span();
    this.number();
    for (const j of this.joints) {
      const X = mul(inverse(mul(this.pose[j.body1], j.F1)), mul(this.pose[j.body2], j.F2));
      j.rest = mul(inverse(this.transform(j)), X);  // the identity, but for a mount that moves
      if (j.length) j.length = Math.hypot(...X.r) || 1e-300;
      if (!j.tree && !j.length) j.rest = identity();  // loops close exactly
    }
    this.start = this.state();
  }

  // The spanning tree: joints that give bodies their poses, in order; bodies that none reaches float.
  span() {
    const reached = new Set([0]), of = new Map(this.pose.map((_, b) => [b, []]));
    for (const j of this.joints) { of.get(j.body1).push(j); of.get(j.body2).push(j); j.tree = false; }
    this.order = [];
    const queue = [0];
    const walk = () => {
      while (queue.length) {
        const body = queue.shift();
        for (const j of of.get(body)) {
          const child = j.body1 === body ? j.body2 : j.body1;
          if (j.length || reached.has(child)) continue;
          Object.assign(j, {tree: true, parent: body, child, reversed: j.body2 === body});
          reached.add(child);
          this.order.push(j);
          queue.push(child);
        }
      }
    };
    walk();
    this.pose.forEach((P, b) => {
      if (reached.has(b) || this.carrier[b] !== b) return;
      const base = {name: null, body1: 0, body2: b, F1: identity(), F2: identity(), factors: [[PLACE, 0, 0], [BALL, 0, 3]],
        q: [...P.r, ...quaternionOf(P.R)], pitch: 0, length: 0, tree: true, parent: 0, child: b, reversed: false};
      this.joints.push(base);
      this.order.push(base);
      reached.add(b);
      queue.push(b);
      walk();
    });
    this.above = this.pose.map(() => null);  // the tree joint of a body
    for (const j of this.order) this.above[j.child] = j;
  }

  // Columns of the unknowns and rows of the loops.
  number() {
    this.n = this.m = 0;
    for (const j of this.joints) {
      j.first = this.n;
      for (const [kind] of j.factors) this.n += SPEEDS[kind];
      if (!j.tree) { j.row = this.m; this.m += j.length ? 1 : 6; }
    }
    for (const c of this.couplings) c.row = this.m++;
    this.scale = new Float64Array(this.n);  // of lengths, so that all unknowns are angles
    for (const j of this.joints) {
      let at = j.first;
      for (const [kind] of j.factors)
        for (let k = 0; k < SPEEDS[kind]; k++) this.scale[at++] = kind === SLIDE || kind === PLACE ? this.size : 1;
    }
  }

  /** Too many loops for a drawing that follows. */
  get slow() { return this.m * this.m * (this.n + this.m) > LARGE; }

  transform(j) {
    let T = identity();
    for (const f of j.factors) T = mul(T, motion(f, j.q, j.pitch));
    return T;
  }

  /** Poses of all bodies from the coordinates of the tree. */
  place() {
    for (const j of this.order) {
      const T = mul(this.transform(j), j.rest), P = this.pose[j.parent];
      this.pose[j.child] = j.reversed ? mul(mul(P, j.F2), inverse(mul(j.F1, T))) : mul(mul(mul(P, j.F1), T), inverse(j.F2));
    }
    this.carrier.forEach((c, b) => { if (c !== b) this.pose[b] = mul(this.pose[c], this.held[b]); });
  }

  // Twists [velocity at the origin, angular velocity] of a joint's unknowns, of body 2 against body 1, in the world.
  twists(j) {
    const list = [];
    // of a reversed joint body 2 is placed before body 1: both are known here
    let W = mul(this.pose[j.body1], j.F1);
    const turn = (axis, point, slide = 0) => {
      const v = cross(point, axis);
      list.push([v[0] + slide * axis[0], v[1] + slide * axis[1], v[2] + slide * axis[2], ...axis]);
    };
    for (const f of j.factors) {
      const [kind, axis] = f, next = mul(W, motion(f, j.q, j.pitch));
      if (kind === TURN) turn(column(W.R, axis), W.r);
      if (kind === SCREW) turn(column(W.R, axis), W.r, j.pitch);
      if (kind === SLIDE) list.push([...column(W.R, axis), 0, 0, 0]);
      if (kind === PLACE) for (let k = 0; k < 3; k++) list.push([...column(W.R, k), 0, 0, 0]);
      if (kind === BALL) for (let k = 0; k < 3; k++) turn(column(next.R, k), next.r);
      W = next;
    }
    return list;
  }

  // Rows r [m] and J [m][n]: lengths by the size of the mechanism.
  rows() {
    const {m, n, size} = this, r = new Float64Array(m), J = new Float64Array(m * n);
    const twist = new Map(this.joints.map((j) => [j, this.twists(j)]));
    // adds `sign` times the motion of a body, at a point, to six rows or to one along a direction
    const add = (row, j, t, column, sign, point, along) => {
      const w = t.slice(3), turned = cross(w, point), v = [t[0] + turned[0], t[1] + turned[1], t[2] + turned[2]], s = sign * this.scale[column];
      if (along) { J[row * n + column] += s * dot(along, v) / size; return; }
      for (let k = 0; k < 3; k++) { J[(row + k) * n + column] += s * v[k] / size; J[(row + 3 + k) * n + column] += s * w[k]; }
    };
    const path = (row, body, sign, point, along) => {
      for (let j = this.above[body]; j; j = this.above[j.parent])
        twist.get(j).forEach((t, k) => add(row, j, t, j.first + k, j.reversed ? -sign : sign, point, along));
    };
    for (const j of this.joints) {
      if (j.tree) continue;
      const A = mul(mul(this.pose[j.body1], j.F1), this.transform(j)), B = mul(this.pose[j.body2], j.F2), d = [0, 1, 2].map((k) => B.r[k] - A.r[k]);
      if (j.length) {
        const far = Math.hypot(...d), along = d.map((x) => x / (far || 1));
        r[j.row] = (far - j.length) / size;
        path(j.row, j.body2, 1, B.r, along);
        path(j.row, j.body1, -1, A.r, along);
        continue;
      }
      const turn = logarithm(mul({R: inverse({R: A.R, r: d}).R, r: d}, {R: B.R, r: d}).R);
      for (let k = 0; k < 3; k++) { r[j.row + k] = d[k] / size; r[j.row + 3 + k] = dot([A.R[3 * k], A.R[3 * k + 1], A.R[3 * k + 2]], turn); }
      path(j.row, j.body2, 1, B.r);
      path(j.row, j.body1, -1, A.r);
      twist.get(j).forEach((t, k) => add(j.row, j, t, j.first + k, -1, A.r));
    }
    for (const c of this.couplings) {
      const j = this.joints[c.joint], of = this.joints[c.of], x = of.q[c.with], scale = this.scale[this.columnOf(j, c.coordinate)];
      let value = 0, slope = 0;
      for (let k = c.polynomial.length - 1; k >= 0; k--) { slope = slope * x + value; value = value * x + c.polynomial[k]; }
      r[c.row] = (j.q[c.coordinate] - value) / scale;
      J[c.row * n + this.columnOf(j, c.coordinate)] += 1;
      J[c.row * n + this.columnOf(of, c.with)] -= slope * this.scale[this.columnOf(of, c.with)] / scale;
    }
    return {r, J};
  }

  /** The unknown of a scalar coordinate. */
  columnOf(j, coordinate) {
    let at = j.first;
    for (const [kind, , first] of j.factors) {
      if (coordinate >= first && coordinate < first + COORDINATES[kind]) return at + coordinate - first;
      at += SPEEDS[kind];
    }
    return -1;
  }

  // The ball that has the coordinate, as the index of its quaternion; -1: none.
  ballOf(j, coordinate) {
    const ball = j.factors.find(([kind, , first]) => kind === BALL && coordinate >= first && coordinate < first + 3);
    return ball ? ball[2] : -1;
  }

  // The rotation vector of a ball.
  vector(j, first) { return logarithm(ofQuaternion(j.q.slice(first, first + 4))); }

  /** A coordinate; of a ball the component of its rotation vector [rad]. */
  value(joint, coordinate) {
    const j = this.joints[joint], ball = this.ballOf(j, coordinate);
    return ball < 0 ? j.q[coordinate] : this.vector(j, ball)[coordinate - ball];
  }

  // false: a rotation of more than 180 degrees
  set(joint, coordinate, value) {
    const j = this.joints[joint], ball = this.ballOf(j, coordinate);
    if (ball < 0) { j.q[coordinate] = value; return true; }
    const v = this.vector(j, ball);
    v[coordinate - ball] = value;
    exponential(v).forEach((x, k) => { j.q[ball + k] = x; });
    return Math.hypot(...v) <= Math.PI;
  }

  // Balls of which components are fixed: their unknowns are the rotation vector, not rates.
  charts(fixed) {
    const found = new Map();
    for (const j of this.joints)
      for (const [kind, , first] of j.factors) {
        const at = this.columnOf(j, first);
        if (kind === BALL && fixed.some((c) => c >= at && c < at + 3)) found.set(at, () => this.vector(j, first));
      }
    return found;
  }

  /** @param charts  balls that move by their rotation vectors */
  move(dz, charts) {
    for (const j of this.joints) {
      let at = j.first;
      for (const [kind, , first] of j.factors) {
        const step = [...dz.subarray(at, at + SPEEDS[kind])].map((x, k) => x * this.scale[at + k]);
        if (kind === BALL) {
          const v = charts.get(at)?.();
          const q = v ? exponential(v.map((x, k) => x + step[k])) : product(j.q.slice(first, first + 4), exponential(step)), norm = Math.hypot(...q);
          for (let k = 0; k < 4; k++) j.q[first + k] = q[k] / norm;
        } else step.forEach((x, k) => { j.q[first + k] += x; });
        at += SPEEDS[kind];
      }
    }
  }

  /** Largest residual of the loops, lengths by the size of the mechanism. */
  get gap() { return this.m ? this.rows().r.reduce((most, x) => Math.max(most, Math.abs(x)), 0) : 0; }

  state() { return this.joints.map((j) => [...j.q]); }
  restore(state) {
    this.joints.forEach((j, i) => { j.q = [...state[i]]; });
    this.place();
  }

  /** Closes all loops.  @param fixed  unknowns that keep their values   @return false: they do not close */
  close(fixed) {
    this.place();
    const {m, n} = this, charts = this.charts(fixed);
    let before = Infinity;
    for (let round = 0; m && round < ROUNDS; round++) {
      const {r, J} = this.rows(), gap = r.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
      if (gap < CLOSED || (gap < 1e-10 && gap > 0.5 * before)) return true;
      if (!Number.isFinite(gap) || (round > 8 && gap > 0.9 * before)) return false;
      before = gap;
      for (const [at, vector] of charts) {
        const E = rates(vector());
        for (let i = 0; i < m; i++) {
          const row = [...J.subarray(i * n + at, i * n + at + 3)];
          for (let k = 0; k < 3; k++) J[i * n + at + k] = dot(row, column(E, k));
        }
      }
      for (const c of fixed) for (let i = 0; i < m; i++) J[i * n + c] = 0;
      const S = new Float64Array(m * m);
      for (let i = 0; i < m; i++)
        for (let j = 0; j <= i; j++) {
          let s = 0;
          for (let k = 0; k < n; k++) s += J[i * n + k] * J[j * n + k];
          S[i * m + j] = s;
        }
      const y = solve(S, r.map((x) => -x)), dz = new Float64Array(n);
      for (let i = 0; i < m; i++) for (let k = 0; k < n; k++) dz[k] += J[i * n + k] * y[i];
      this.move(dz, charts);
      this.place();
    }
    return !m;
  }

  /** Moves a coordinate to a value, or as far as the loops close.  @param held  [[joint, coordinate]] that keep theirs */
  drag(joint, coordinate, value, held = []) {
    const j = this.joints[joint], own = this.columnOf(j, coordinate), longest = STEP * this.scale[own];
    const fixed = [own, ...held.map(([i, k]) => this.columnOf(this.joints[i], k))];
    const values = held.map(([i, k]) => this.value(i, k));
    // A rotation vector changes its sign where the loops turn a ball by more than 180 degrees.
    const kept = (next) => [[joint, coordinate], ...held].every(([i, k], n) => Math.abs(this.value(i, k) - (n ? values[n - 1] : next)) < 1e-9);
    let step = longest;
    for (let left = value - this.value(joint, coordinate); Math.abs(left) > 1e-14 && step > longest / 500; left = value - this.value(joint, coordinate)) {
      const before = this.state();
      const next = Math.abs(left) <= step ? value : this.value(joint, coordinate) + Math.sign(left) * step;
      if (this.set(joint, coordinate, next) && this.close(fixed) && kept(next)) continue;
      this.restore(before);
      step /= 4;
    }
    return this.value(joint, coordinate);
  }
}
