// path.js -- tendons as straight pieces and chords of curves on obstacles: the curves of src/model/forces/path.c, where
// they are explained.  Vectors are arrays; a pose is a matrix of three.js.

export const CHORDS = 10;  // of a curve
const TINY = 1e-12;
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2], norm = (a) => Math.sqrt(dot(a, a));
const sum = (a, s, b) => [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]], minus = (a, b) => sum(a, -1, b);
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const scaled = (s, a) => [s * a[0], s * a[1], s * a[2]], unit = (a) => scaled(1 / norm(a), a);
const along = ({elements: m}, v) => [0, 1, 2].map((i) => m[i] * v[0] + m[4 + i] * v[1] + m[8 + i] * v[2]);
const placed = (pose, p) => sum(along(pose, p), 1, pose.elements.slice(12, 15));
const dot2 = (a, b) => a[0] * b[0] + a[1] * b[1], cross2 = (a, b) => a[0] * b[1] - a[1] * b[0];

function across(n) {  // two unit vectors across a unit vector
  const k = [0, 1, 2].sort((i, j) => Math.abs(n[i]) - Math.abs(n[j]))[0], e = [0, 0, 0];
  e[k] = 1;
  const x = unit(sum(e, -dot(e, n), n));
  return [x, cross(n, x)];
}

// ------------------------------------------------------------------------------------------ circle

function touch(p, r, sign) {
  const d2 = dot2(p, p), a = r * r / d2, b = sign * r * Math.sqrt(Math.max(d2 - r * r, 0)) / d2;
  return [a * p[0] + b * p[1], a * p[1] - b * p[0]];
}

function wind(p, q, r, sign) {
  const first = touch(p, r, sign), last = touch(q, r, -sign);
  const angle = Math.atan2(-sign * cross2(first, last), dot2(first, last));
  return {first, last, angle: angle < -1e-7 ? angle + 2 * Math.PI : Math.max(angle, 0)};
}

function nearest(p, q) {
  const u = [q[0] - p[0], q[1] - p[1]], s = Math.min(Math.max(-dot2(u, p) / dot2(u, u), 0), 1);
  return [p[0] + s * u[0], p[1] + s * u[1]];
}

function outside(p, q, r, side) {
  const k = cross2(p, q), near = k > 0 ? -1 : 1;
  if (dot2(p, p) < r * r || dot2(q, q) < r * r || Math.hypot(q[0] - p[0], q[1] - p[1]) < TINY) return null;
  if (side && -cross2(p, side) * k > 0 && -cross2(side, q) * k > 0) return wind(p, q, r, -near);
  const x = nearest(p, q);
  return dot2(x, x) > r * r ? null : wind(p, q, r, near);
}

// By bisection for the point of the circle where both lines make equal angles with the radius.
function inside(p, q, r) {
  const dp = Math.hypot(...p), dq = Math.hypot(...q), G = Math.atan2(cross2(p, q), dot2(p, q)), x = nearest(p, q);
  if (dp <= r || dq <= r || Math.abs(G) > Math.PI - 1e-7) return null;
  const within = dot2([q[0] - p[0], q[1] - p[1]], p) < 0 && dot2([q[0] - p[0], q[1] - p[1]], q) > 0;
  if (within && dot2(x, x) <= r * r) return null;
  const from = Math.atan2(p[1], p[0]), on = (a) => [r * Math.cos(a), r * Math.sin(a)];
  const skew = (s) => {  // the derivative of the length by the angle
    const c = on(from + s * G), t = [-c[1] / r, c[0] / r];
    return [p, q].reduce((rate, e) => rate + dot2([c[0] - e[0], c[1] - e[1]], t) / Math.hypot(c[0] - e[0], c[1] - e[1]), 0) * Math.sign(G);
  };
  let low = 0, high = 1;
  for (let i = 0; i < 50; i++) {
    const s = (low + high) / 2;
    if (skew(s) > 0) high = s; else low = s;
  }
  const at = on(from + low * G);
  return {first: at, last: at, angle: 0};
}

// -------------------------------------------------------------------------------------- obstacles

// Points of the path on an obstacle between the points a and b; null: it does not touch it.
function curve(o, a, b, world) {
  const pose = world[o.body], centre = placed(pose, o.point), p = minus(a, centre), q = minus(b, centre);
  const axis = o.axis && unit(along(pose, o.axis)), side = o.side && minus(placed(world[o.side.body], o.side.point), centre);
  if (norm(p) < TINY || norm(q) < TINY) return null;
  const normal = cross(p, q);
  const [x, y] = axis ? across(axis) : norm(normal) < TINY * norm(p) * norm(q) ? [unit(p), across(unit(p))[0]] : [unit(p), cross(unit(normal), unit(p))];
  const flat = (v) => [dot(v, x), dot(v, y)], p2 = flat(p), q2 = flat(q);
  const arc = side && norm(side) < o.radius ? inside(p2, q2, o.radius) : outside(p2, q2, o.radius, side && flat(side));
  if (!arc) return null;
  const before = Math.hypot(p2[0] - arc.first[0], p2[1] - arc.first[1]), length = o.radius * arc.angle;
  const way = before > TINY ? [arc.first[0] - p2[0], arc.first[1] - p2[1]] : arc.last;  // of the path where the curve begins
  const sign = cross2(arc.first, way) < 0 ? -1 : 1, start = Math.atan2(arc.first[1], arc.first[0]);
  const all = before + length + Math.hypot(q2[0] - arc.last[0], q2[1] - arc.last[1]);
  const from = axis ? dot(p, axis) : 0, height = axis ? dot(q, axis) - from : 0;
  return Array.from({length: CHORDS + 1}, (_, k) => {
    const angle = start + sign * arc.angle * k / CHORDS;
    const at = sum(sum(centre, o.radius * Math.cos(angle), x), o.radius * Math.sin(angle), y);
    return axis ? sum(at, from + height * (before + length * k / CHORDS) / all, axis) : at;
  });
}

// ------------------------------------------------------------------------------------------ pieces

function crankPieces({crank, slider}, world) {
  const a = unit(along(world[slider.body], slider.axis)), from = placed(world[crank.body], crank.point), at = placed(world[slider.body], slider.point);
  const d = minus(from, at), ad = dot(a, d), root = Math.sqrt(Math.max(ad * ad + crank.rod * crank.rod - dot(d, d), 0));
  return [[from, sum(at, ad - root, a)]];
}

/** The pieces [from, to] of a tendon (data.js), in the same number at any poses. */
export function pieces(tendon, world) {
  if (tendon.crank) return crankPieces(tendon, world);
  const list = [];
  let before = null, round = null;
  for (const e of tendon.path) {
    if (e.pulley) before = null;
    else if (e.radius) round = e;
    else {
      const at = placed(world[e.body], e.point);
      if (before) {
        const on = round && curve(round, before, at, world), n = round ? CHORDS + 2 : 1;
        const points = on ? [before, ...on, at] : Array.from({length: n + 1}, (_, k) => sum(scaled(1 - k / n, before), k / n, at));
        for (let k = 0; k < n; k++) list.push([points[k], points[k + 1]]);
      }
      before = at;
      round = null;
    }
  }
  return list;
}
