// scene.js -- the mechanism in three dimensions: solids of bodies, links between their joints, axes,
// traces, reactions.  World axes are those of the model; `up` is against gravity.
import {
  AmbientLight, Box3, BoxGeometry, BufferAttribute, BufferGeometry, CapsuleGeometry, Color, ConeGeometry, Curve, CylinderGeometry,
  DirectionalLight, Fog, GridHelper, Group, HemisphereLight, Line, LineBasicMaterial, Matrix4, OctahedronGeometry,
  OrthographicCamera, PerspectiveCamera, Quaternion, Raycaster, Scene, SphereGeometry, TorusGeometry, TubeGeometry, Vector2, Vector3, WebGLRenderer,
} from 'three';
import {OrbitControls} from 'three/examples/jsm/controls/OrbitControls.js';
import {Batch, LIGHT, Transforms} from './batch.js';
import {columnsOf, locate} from './data.js';
import {pieces} from './path.js';

const CORE = 1e-3;  // radius of a line before it is inflated, by its radius: enough to have normals
const ROUND_OFF = 1e-9;  // smaller forces, by the reference force, are round-off: sums of large forces lose digits
const TRAIL = 20000;  // maximum rows of a trace: without a graphics card 200 000 take a second
const SECOND = {color: '#e8590c', opacity: 0.4};  // of the mechanism to compare with
const FAINT = 0.2;  // opacity of bodies that are faded
const MANY = 300;  // bodies: if there are more, each has fewer triangles

/** Copies of a geometry of length one, centred, along y, each between points of two bodies. */
class Spans {
  /** @param list  [{body1, p: point of it, body2, q, radius, from, to}]  from, to: fractions of the distance, 0 and 1 */
  constructor(parent, geometry, color, list, options) {
    this.list = list;
    this.transforms = new Transforms(list.length);
    this.batch = new Batch(parent, this.transforms, list.map((_, slot) => ({geometry, slot, local: null, color})), options);
  }
  update(world) {
    for (let i = 0; i < this.list.length; i++) {
      const s = this.list[i], a = FROM.copy(s.p).applyMatrix4(world[s.body1]), b = TO.copy(s.q).applyMatrix4(world[s.body2]);
      const along = WAY.subVectors(b, a);
      b.copy(a).addScaledVector(along, s.to ?? 1);
      a.addScaledVector(along, s.from ?? 0);
      this.transforms.set(i, between(a, b, s.radius, MATRIX));
    }
    this.transforms.send();
  }
}

/** Tendons: rods along their pieces. */
class Ropes {
  constructor(parent, tendons, world, radius, options) {
    this.tendons = tendons;
    this.radius = radius;
    const count = tendons.reduce((sum, t) => sum + pieces(t, world).length, 0), geometry = new CylinderGeometry(1, 1, 1, count > MANY ? 5 : 8, 1, true);
    this.transforms = new Transforms(count);
    this.batch = new Batch(parent, this.transforms, Array.from({length: count}, (_, slot) => ({geometry, slot, local: null, color: new Color(ROPE)})), options);
  }
  update(world) {
    let i = 0;
    for (const tendon of this.tendons)
      for (const [a, b] of pieces(tendon, world)) this.transforms.set(i++, between(FROM.fromArray(a), TO.fromArray(b), this.radius, MATRIX));
    this.transforms.send();
  }
}

/** Arrows, one for each colour of the list: first the slots of all shafts, then those of all heads. */
class Arrows {
  constructor(parent, colors, sunward) {
    const n = this.count = colors.length, many = n > MANY;
    const shaft = new CylinderGeometry(1, 1, 1, many ? 4 : 10, 1, many), head = new ConeGeometry(1, 1, many ? 5 : 14);
    this.transforms = new Transforms(2 * n);
    this.batch = new Batch(parent, this.transforms, [shaft, head].flatMap((geometry, part) =>
      colors.map((color, i) => ({geometry, slot: part * n + i, local: null, color}))), {roughness: 0.5, sunward});
  }
  /** An arrow from a point along a unit vector: length of shaft and head.  Changes `from`. */
  set(i, from, along, shaft, radius, head) {
    const neck = NECK.copy(from).addScaledVector(along, shaft);
    this.transforms.set(i, between(from, neck, radius, MATRIX));
    this.transforms.set(this.count + i, between(neck, from.copy(neck).addScaledVector(along, head), 0.4 * head, MATRIX));
  }
}

// A coil about y of radius one, centred, with straight ends.
const TURNS = 8, SLIM = 14;  // length of the coil by its radius
class Coil extends Curve {
  getPoint(t, to = new Vector3()) {
    const part = Math.min(1, Math.max(0, (t - 0.1) / 0.8)), angle = 2 * Math.PI * TURNS * part;
    const r = Math.max(0, Math.min(1, (Math.min(t, 1 - t) - 0.08) / 0.04));
    return to.set(r * Math.cos(angle), SLIM * (t - 0.5), r * Math.sin(angle));
  }
}

// A spiral about z of radius one.
class Spiral extends Curve {
  getPoint(t, to = new Vector3()) {
    const angle = 5 * Math.PI * t, r = 0.3 + 0.7 * t;
    return to.set(r * Math.cos(angle), r * Math.sin(angle), 0);
  }
}

const ALONG_Z = new Vector3(0, 0, 1);
// Signs of drives and springs on joint coordinates, about or along z, of radius or length one: [geometry, its place].
const SIGNS = {
  'drive true': () => [[new TorusGeometry(1, 0.12, 6, 30, 1.5 * Math.PI), new Matrix4()],
    [new ConeGeometry(0.32, 0.7, 12), new Matrix4().makeRotationZ(-Math.PI / 2).setPosition(0.2, -1, 0)]],
  'drive false': () => [[new CylinderGeometry(0.06, 0.06, 1.2, 8).applyMatrix4(UPRIGHT), new Matrix4().makeTranslation(0.6, 0, 0)],
    [new ConeGeometry(0.2, 0.45, 12).applyMatrix4(UPRIGHT), new Matrix4().makeTranslation(0.6, 0, 0.8)],
    [new ConeGeometry(0.2, 0.45, 12).applyMatrix4(UPRIGHT.clone().invert()), new Matrix4().makeTranslation(0.6, 0, -0.8)]],
  'spring true': () => [[new TubeGeometry(new Spiral(), 60, 0.09, 5), new Matrix4()]],
  'spring false': () => [[new TubeGeometry(new Coil(), 120, 0.2, 5).scale(0.2, 2 / SLIM, 0.2).applyMatrix4(UPRIGHT), new Matrix4().makeTranslation(-0.6, 0, 0)]],
};

// Of length one; the more springs, the fewer corners; very many are a zigzag without a graphics card.
function coilFor(count, software) {
  const around = count > MANY ? (software ? 2 : 5) : count > 60 ? 6 : count > 8 ? 10 : 16, sides = count > 60 ? 3 : count > 8 ? 4 : 6;
  return new TubeGeometry(new Coil(), Math.round(1.25 * TURNS * around), 0.22, sides).scale(1, 1 / SLIM, 1);
}

const ONE = new Vector3(1, 1, 1), NOTHING = new Matrix4().set(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
const FORCE = '#d92d20', TORQUE = '#7a3fb5', SPRING = '#667085', DRIVE = '#0c8599', RUBBER = '#343a40', PIN = '#ced4da', ROPE = '#a0703c';
const LABELS = 12;  // numbers at the longest arrows
const NOW = new Vector3(), THEN = new Vector3(), TURN = new Quaternion(), TURN_THEN = new Quaternion();
const quaternion = (q) => new Quaternion(q[1], q[2], q[3], q[0]);
const vector = (p) => new Vector3(p[0], p[1], p[2]);

// Reused for every picture: no garbage.
const MATRIX = new Matrix4(), FROM = new Vector3(), TO = new Vector3(), WAY = new Vector3(), NECK = new Vector3();
const Y = new Vector3(0, 1, 0), ALONG = new Vector3(), MIDDLE = new Vector3(), SIZE = new Vector3(), TURNED = new Quaternion();

// A rod of length and radius one along y, moved to lie between two points.
function between(a, b, radius, m = new Matrix4()) {
  const length = ALONG.subVectors(b, a).length();
  if (length > 0) ALONG.divideScalar(length);
  else ALONG.copy(Y);
  TURNED.setFromUnitVectors(Y, ALONG);
  return m.compose(MIDDLE.addVectors(a, b).multiplyScalar(0.5), TURNED, SIZE.set(radius, Math.max(length, 1e-9), radius));
}

// Shapes are along z; cylinders and capsules of three.js along y.
const UPRIGHT = new Matrix4().makeRotationX(Math.PI / 2);

// Its surface is turned over where the scale mirrors it.
function meshOf(mesh, scale) {
  const geometry = new BufferGeometry(), mirrored = scale[0] * scale[1] * scale[2] < 0;
  const index = mirrored ? mesh.index.map((_, i, all) => all[i % 3 ? i + 3 - 2 * (i % 3) : i]) : mesh.index;
  geometry.setAttribute('position', new BufferAttribute(mesh.position.slice(), 3));
  geometry.setAttribute('normal', new BufferAttribute(mesh.normal.slice(), 3));
  geometry.setIndex(new BufferAttribute(index, 1));
  return geometry.scale(...scale);
}

function geometryOf(shape, count, meshes) {
  const s = shape.size, n = count > MANY ? 6 : Math.round(1.5 * round(count)), half = n >> 1, ball = Math.max(n, 8);
  switch (shape.type) {
    case 'box': return new BoxGeometry(s[0], s[1], s[2]);
    case 'sphere': return new SphereGeometry(s[0], ball, ball >> 1);
    case 'cylinder': return new CylinderGeometry(s[0], s[0], s[1], n).applyMatrix4(UPRIGHT);
    case 'capsule': return new CapsuleGeometry(s[0], s[1], half >> 1, n).applyMatrix4(UPRIGHT);
    case 'ellipsoid': return new SphereGeometry(1, ball, ball >> 1).scale(s[0], s[1], s[2]);
    case 'mesh': return meshOf(meshes[shape.mesh], s);
    default: throw new Error(`unknown shape ${shape.type}`);
  }
}

// Half the edges of the box around a shape.
function halfBox(shape) {
  const s = shape.size;
  switch (shape.type) {
    case 'box': return [s[0] / 2, s[1] / 2, s[2] / 2];
    case 'sphere': return [s[0], s[0], s[0]];
    case 'cylinder': return [s[0], s[0], s[1] / 2];
    case 'capsule': return [s[0], s[0], s[1] / 2 + s[0]];
    case 'mesh': return shape.half.map((h, k) => h * Math.abs(s[k]));
    default: return [...s];
  }
}

// Maximum over the shapes of the second smallest half extent; Infinity: no shapes.
const halfWidth = (body) => (body.shapes.length ? Math.max(...body.shapes.map((shape) => halfBox(shape).sort((a, b) => a - b)[1])) : Infinity);
const middle = (list) => list.sort((p, q) => p - q)[list.length >> 1];

// Diagonal of the box around points.
const span = (points) => (points.length ? new Box3().setFromPoints(points).getSize(new Vector3()).length() : 0);

function corners(shapes) {
  const points = [];
  for (const shape of shapes) {
    const half = halfBox(shape), turn = quaternion(shape.orientation), at = vector(shape.position);
    for (let c = 0; c < 8; c++)
      points.push(new Vector3(...half.map((h, k) => (c >> k & 1 ? h : -h))).applyQuaternion(turn).add(at));
  }
  return points;
}

// Points of a body, in its axes: ends of lines, corners of shapes, or its mass centre.
function outline(body) {
  const points = [...body.lines.flat().map(vector), ...corners(body.shapes)];
  if (!points.length && body.mass > 0) points.push(new Vector3());
  return points;
}

// Are the shapes of a body far from its joints, or missing?
const remote = (body) => 1.5 * span(corners(body.shapes)) < span(body.lines.flat().map(vector));
const opacityOf = (shape) => (shape.color ? shape.color[3] : 1);

// Corners of a circle: fewer for many; very many rods have open ends.
const round = (count) => (count > MANY ? 5 : count > 60 ? 10 : 16);
const rodFor = (list) => new CylinderGeometry(1, 1, 1, round(list.length), 1, list.length > MANY);
const ballFor = (list) => (list.length > MANY ? new OctahedronGeometry(1) : new SphereGeometry(1, round(list.length), round(list.length) >> 1));

// Does the browser draw without a graphics card?  Antialiasing then takes a third of the time.
function drawsInSoftware() {
  const gl = document.createElement('canvas').getContext('webgl2'), info = gl?.getExtension('WEBGL_debug_renderer_info');
  const name = info ? gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : '';
  gl?.getExtension('WEBGL_lose_context')?.loseContext();
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}

export class View {
  /** @param second  a mechanism to compare with, or null */
  constructor(canvas, data, second = null) {
    this.data = data;
    this.scene = new Scene();
    this.software = data.bodies.length > MANY && drawsInSoftware();  // then no antialiasing, light per vertex, fewer corners
    // opaque: the default of three.js is transparent, and the page below would be drawn for every picture
    const context = canvas.getContext('webgl2', {alpha: false, antialias: !this.software});
    this.renderer = new WebGLRenderer({canvas, context: context ?? undefined});
    this.camera = new PerspectiveCamera(40, 1, 0.01, 1000);
    this.flat = new OrthographicCamera();  // at the place of the other, which the controls move
    this.orthographic = false;
    this.from = 'default';  // direction of the view
    this.world = data.bodies.map(() => new Matrix4());
    this.visibility = data.bodies.map(() => 'shown');  // or 'faint', 'hidden'
    this.faint = null;  // transforms of bodies that are faded; created when the first one is
    this.transforms = new Transforms(data.bodies.length);  // the same as a texture
    this.measure();
    this.start = 0;  // initial height of the body that is followed
    this.camera.up.copy(this.up);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.addEventListener('change', () => { this.dirty = true; });
    canvas.addEventListener('webglcontextrestored', () => { this.dirty = true; });
    this.batches = [];
    this.lights();
    this.solids();
    this.second = second && this.addSecond(second);
    this.axes();
    this.springs();
    this.drives();
    this.bushings();
    this.arrows();
    this.traces = new Group();
    this.scene.add(this.traces);
    this.traced = new Map();
    this.following = -1;
    this.dirty = true;
    this.from = 0;  // first row of what is shown, for traces
    this.seek(data.time[0] ?? 0);
    this.fit();
  }

  // Determines up, the extent of the mechanism at the start and in the whole motion, and the size of marks.
  measure() {
    const d = this.data, g = vector(d.gravity);
    this.up = g.length() > 0 ? g.negate().normalize() : new Vector3(0, 0, 1);
    this.outlines = d.bodies.map((b, i) => (i > 0 ? outline(b) : b.lines.flat().map(vector)));
    for (const s of d.springs) {
      this.outlines[s.body1].push(vector(s.point1));
      this.outlines[s.body2].push(vector(s.point2));
    }
    for (const t of d.tendons) for (const e of t.path ?? [t.crank]) if (e.point) this.outlines[e.body].push(vector(e.point));
    for (const j of d.joints) if (j.body1 === 0) this.outlines[0].push(vector(j.point1));
    const each = this.outlines.reduce((sum, o) => sum + o.length, 1);
    const rows = Math.max(1, Math.min(d.rows, Math.floor(50000 / each)));  // a sample is sufficient
    this.all = [];
    for (let i = 0; i < rows; i++)
      for (const p of this.pointsAt(rows > 1 ? Math.round(i * (d.rows - 1) / (rows - 1)) : 0)) this.all.push(p);
    const now = this.pointsAt(0);
    // a free body without a shape is a point: the size is that of its path, or 1 if it does not move
    this.size = Math.max(span(now), 1e-3);
    if (span(now) === 0) this.size = span(this.all) || 1;
    // a motion far from the start (a fall, a walk) is followed, not shown as a whole
    this.leaves = span(this.all) > 4 * this.size;
    this.thin = (this.leaves ? this.size : span(this.all)) / 400;  // radius of a line in the first picture
    this.floor = (this.leaves ? now : this.all).reduce((low, p) => Math.min(low, p.dot(this.up)), Infinity);
    // marks scale with the median length of a link, within limits
    this.link = middle(this.outlines.slice(1).map(span).filter((length) => length > 0)) || this.size;
    this.mark = Math.min(this.size / 220, Math.max(this.link / 15, this.size / 700));
    // joints on the ground: a cone below each, unless the ground has shapes
    this.supports = d.bodies[0].shapes.length ? [] : d.joints.filter((j) => j.body1 === 0 || j.body2 === 0)
      .map((j) => vector(j.body1 === 0 ? j.point1 : j.point2).applyMatrix4(this.startOf(0)));
    const foot = 5 * this.mark;
    this.feet = this.supports.map((p) => p.clone().addScaledVector(this.up, -foot));
    for (const p of this.feet) this.floor = Math.min(this.floor, p.dot(this.up));
  }

  pointsAt(row) {
    const points = [], m = new Matrix4();
    this.outlines.forEach((list, b) => {
      this.pose(b, row, row, 0, m);
      for (const p of list) {
        const at = p.clone().applyMatrix4(m);
        if (Number.isFinite(at.x + at.y + at.z)) points.push(at);
      }
    });
    return points.length ? points : [new Vector3(-1, -1, -1), new Vector3(1, 1, 1)];
  }

  // Pose of a body between two rows; nothing is allocated.
  pose(body, row, next, part, to) {
    const {position, rotation: r, bodies} = this.data, i = row * bodies.length + body, k = next * bodies.length + body;
    const p = NOW.fromArray(position, 3 * i), q = TURN.set(r[4 * i + 1], r[4 * i + 2], r[4 * i + 3], r[4 * i]).normalize();
    if (part > 0) {
      p.lerp(THEN.fromArray(position, 3 * k), part);
      q.slerp(TURN_THEN.set(r[4 * k + 1], r[4 * k + 2], r[4 * k + 3], r[4 * k]).normalize(), part);
    }
    to.compose(p, q, ONE);
  }

  lights() {
    this.scene.add(new HemisphereLight(LIGHT.sky, LIGHT.ground), new AmbientLight(LIGHT.all));
    const sun = new DirectionalLight(LIGHT.sun);
    sun.position.copy(this.up).multiplyScalar(2).add(new Vector3(0.7, -0.9, 0.4));
    this.sunward = this.software ? sun.position.clone().normalize() : null;
    this.scene.add(sun);
    // cells of 1, 2 or 5 times a power of ten metres, about ten along the mechanism
    const raw = this.size / 10, power = Math.pow(10, Math.floor(Math.log10(raw)));
    this.cell = [1, 2, 5, 10].map((k) => k * power).find((c) => c >= raw);
    this.grid = new GridHelper(40 * this.cell, 40, '#888888', '#888888');
    this.grid.material.transparent = true;
    this.grid.material.opacity = 0.3;
    this.grid.quaternion.setFromUnitVectors(new Vector3(0, 1, 0), this.up);
    this.scene.fog = new Fog('#ffffff', 1, 2);  // for the grid only
    this.placeGrid(new Box3().setFromPoints(this.all).getCenter(new Vector3()));
    this.scene.add(this.grid);
  }

  // Puts the grid below a point, in whole cells; below a falling body in steps of five cells.
  placeGrid(point) {
    const turn = this.grid.quaternion, p = point.clone().applyQuaternion(turn.clone().invert()), storey = 5 * this.cell;
    p.set(Math.round(p.x / this.cell) * this.cell, this.floor + (this.leaves ? Math.min(0, Math.floor((p.y - this.start) / storey)) * storey : 0),
      Math.round(p.z / this.cell) * this.cell);
    this.grid.position.copy(p.applyQuaternion(turn));
  }

  // Bodies that fixed joints hold together have one colour.
  colorOf(body) {
    if (this.tint) return new Color(this.tint);
    const {palette, bodies} = this.data, group = bodies[body].group;
    return new Color(palette[group && 1 + (group - 1) % (palette.length - 1)]);
  }

  batch(parent, members, opacity = 1) {
    if (!members.length) return null;
    this.batches.push(new Batch(parent, this.transforms, members, {roughness: 0.65, metalness: 0.05, transparent: opacity < 1, opacity, sunward: this.sunward}));
    return this.batches[this.batches.length - 1];
  }

  // Shapes, links and supports; everything opaque is one batch.  Slender bodies, with shapes too thin to be visible in
  // the first picture, are drawn as lines from far and by their shapes from near (shapesOrRods).
  solids() {
    const kinds = new Map(), members = new Map([[1, []]]), near = [], far = [];
    this.slender = this.data.bodies.map((b) => b.lines.length > 0 && this.narrow(b) && !remote(b) && b.shapes.every((shape) => opacityOf(shape) === 1));
    this.links(members.get(1), far);
    this.data.bodies.forEach((b, body) => b.shapes.forEach((shape) => {
      const key = `${shape.type} ${shape.mesh ?? ''} ${shape.size}`;
      if (!kinds.has(key)) kinds.set(key, []);
      kinds.get(key).push([body, shape]);
    }));
    const total = this.data.bodies.reduce((sum, b) => sum + b.shapes.length, 0);
    for (const list of kinds.values()) {
      const geometry = geometryOf(list[0][1], this.software ? total : list.length, this.data.meshes);
      for (const [slot, shape] of list) {
        const opacity = this.tint ? 1 : opacityOf(shape);
        if (!members.has(opacity)) members.set(opacity, []);
        const to = this.slender[slot] ? near : members.get(opacity);
        to.push({geometry, slot, color: shape.color && !this.tint ? new Color(...shape.color.slice(0, 3)) : this.colorOf(slot),
          local: new Matrix4().compose(vector(shape.position), quaternion(shape.orientation), ONE)});
      }
    }
    for (const [opacity, list] of members) if (opacity > 0) this.batch(this.scene, list, opacity);
    this.solidMembers = [...[...members].flatMap(([opacity, list]) => (opacity > 0 ? list : [])), ...near];
    this.far = this.batch(this.scene, far);
    this.nearMembers = near;  // created when they are first visible
    this.near = null;
    this.slenderWidth = middle(this.data.bodies.filter((_, i) => this.slender[i]).map(halfWidth)) ?? 0;
  }

  // A second mechanism in the same scene: its solids, transparent, in one colour.
  addSecond(data) {
    const {scene, software, sunward, mark, thin, link, size} = this, n = data.bodies.length;
    const other = Object.assign(Object.create(View.prototype), {data, scene, software, sunward, mark, thin, link, size, supports: [], feet: [],
      batches: [], tint: SECOND.color, world: data.bodies.map(() => new Matrix4()), transforms: new Transforms(n)});
    other.batch = (parent, members) => View.prototype.batch.call(other, parent, members, SECOND.opacity);
    other.solids();
    other.outlines = data.bodies.map((b) => outline(b));
    const rows = Math.max(1, Math.min(data.rows, 200));
    for (let i = 0; i < rows; i++)
      for (const p of other.pointsAt(rows > 1 ? Math.round(i * (data.rows - 1) / (rows - 1)) : 0)) this.all.push(p);
    const same = new Map(data.bodies.map((b, i) => [b.name, i]));
    other.pairs = this.data.bodies.flatMap((b, i) => (i > 0 && same.has(b.name) ? [[i, same.get(b.name)]] : []));
    return other;
  }

  // Poses at a time, between rows.
  placeBodies(t) {
    const d = this.data, [row, part] = locate(d.time, t), next = Math.min(row + 1, d.rows - 1);
    for (let b = 0; b < d.bodies.length; b++) {
      this.pose(b, row, next, part, this.world[b]);
      this.transforms.set(b, !this.visibility || this.visibility[b] === 'shown' ? this.world[b] : NOTHING);
      this.faint?.set(b, this.visibility[b] === 'faint' ? this.world[b] : NOTHING);
    }
    this.transforms.send();
    this.faint?.send();
    return row;
  }

  /** Largest distance of the mass centres of bodies of the same name; NaN: there are none. */
  get apart() {
    const {pairs, world} = this.second;
    return pairs.reduce((most, [a, b]) => Math.max(most, FROM.setFromMatrixPosition(this.world[a]).distanceTo(TO.setFromMatrixPosition(world[b]))), pairs.length ? 0 : NaN);
  }

  // Slender bodies seen from `distance`: rods, or shapes if these are at least as wide as a line.
  shapesOrRods(distance, fitDistance) {
    if (!this.far) return;
    const line = this.thin * distance / fitDistance, near = this.slenderWidth >= 0.8 * line;
    if (near && !this.near) this.near = this.batch(this.scene, this.nearMembers);
    this.far.mesh.visible = !near;
    if (this.near) this.near.mesh.visible = near;
    this.far.inflate.value = line - CORE * this.thin;
  }

  // Bodies are drawn as rods between their joints and mass centre if they have no shape, if it is far from the joints
  // (a robot without its meshes), or if it is too thin to be visible.
  bare(body) { return remote(body) || this.narrow(body); }
  narrow(body) { return halfWidth(body) < 0.8 * this.thin; }

  links(members, far) {
    const rods = [], lines = [], balls = [], leads = new Set(), size = Math.min(3 * this.mark, 0.2 * this.link);
    this.data.bodies.forEach((b, body) => {
      const radius = this.slender[body] ? CORE * this.thin : Math.max((b.shapes.length ? 0.5 : 1.6) * this.mark, this.thin);
      for (const [p, q] of this.bare(b) ? b.lines : [])
        (this.slender[body] ? lines : rods).push([body, between(vector(p), vector(q), radius)]);
      const first = !leads.has(b.group);
      leads.add(b.group);
      if (body > 0 && first && !b.shapes.length && b.mass > 0)
        balls.push([body, new Matrix4().makeScale(size, size, size)]);
    });
    const cones = this.feet.map((foot, i) => [0, between(foot, this.supports[i], 2.8 * this.mark)]);
    this.many(rodFor(rods), rods, members);
    this.many(ballFor(balls), balls, members);
    this.many(new ConeGeometry(1, 1, round(cones.length)), cones, members);
    this.many(rodFor(lines), lines, far);
  }

  many(geometry, list, members, color) {
    for (const [slot, local] of list) members.push({geometry, slot, local, color: color ?? this.colorOf(slot)});
  }

  axes() {
    this.marks = new Group();
    this.marks.visible = this.link > this.size / 60;  // of many links they would hide the links
    this.scene.add(this.marks);
    const rods = [], balls = [], length = Math.min(9 * this.mark, 0.8 * this.link), size = Math.min(2 * this.mark, 0.15 * this.link);
    for (const j of this.data.joints) {
      const at = vector(j.point1);
      for (const a of j.axes) {
        const axis = vector(a).multiplyScalar(length);
        rods.push([j.body1, between(at.clone().sub(axis), at.clone().add(axis), 0.7 * this.mark)]);
      }
      balls.push([j.body1, new Matrix4().makeScale(size, size, size).setPosition(at)]);
    }
    const color = new Color('#999fa8');
    const members = [];
    this.many(rodFor(rods), rods, members, color);
    this.many(ballFor(balls), balls, members, color);
    this.batch(this.marks, members);
    // a thin rod between the two points of a joint where they move apart
    const sliding = this.data.joints.filter((j) => j.separates);
    this.spans = [];
    if (sliding.length)
      this.spans.push(new Spans(this.scene, new CylinderGeometry(1, 1, 1, 8), color, sliding.map((j) => this.span(j, 0.6 * this.mark)), {sunward: this.sunward}));
  }

  span(item, radius, from, to) {
    return {body1: item.body1, p: vector(item.point1), body2: item.body2, q: vector(item.point2), radius, from, to};
  }

  // Springs as coils, dampers as piston and cylinder, forces between two points as lines, tendons as ropes, forces and torques on points
  // as arrows of constant length: point and direction, not magnitude.
  springs() {
    const d = this.data;
    this.loads = new Group();
    this.scene.add(this.loads);
    const of = (kind) => d.springs.filter((s) => s.kind === kind);
    const add = (geometry, color, list) => {
      if (list.length) this.spans.push(new Spans(this.loads, geometry, new Color(color), list, {roughness: 0.5, metalness: 0.2, sunward: this.sunward}));
    };
    // a coil is slender at the start, and at least as wide as the marks
    const end = (body, point) => vector(point).applyMatrix4(this.startOf(body));
    const start = (s) => end(s.body1, s.point1).distanceTo(end(s.body2, s.point2));
    const wide = (s) => Math.max(2 * this.mark, Math.min(start(s) / SLIM, 0.03 * this.size));
    add(coilFor(d.springs.length, this.software), SPRING, of('spring').map((s) => this.span(s, wide(s))));
    const rod = new CylinderGeometry(1, 1, 1, 10);
    add(rod, SPRING, of('damper').flatMap((s) => [this.span(s, 0.3 * wide(s)), this.span(s, 0.8 * wide(s), 0, 0.5)]));
    add(rod, FORCE, of('force').map((s) => this.span(s, 0.8 * this.mark)));
    if (d.tendons.length)
      this.spans.push(new Ropes(this.loads, d.tendons, d.bodies.map((_, b) => this.startOf(b)), Math.max(0.4 * this.mark, this.thin), {roughness: 0.8, sunward: this.sunward}));
    this.wrenches = [];
    for (const w of d.wrenches) {
      if (Math.hypot(...w.force) > 0) this.wrenches.push([w, vector(w.force).normalize(), FORCE]);
      if (Math.hypot(...w.torque) > 0) this.wrenches.push([w, vector(w.torque).normalize(), TORQUE]);
    }
    if (this.wrenches.length) this.loadArrows = new Arrows(this.loads, this.wrenches.map(([, , color]) => new Color(color)), this.sunward);
  }

  // Drives of joint coordinates as arrows around or along the axis, springs on them as spirals and coils.
  drives() {
    const members = [], radius = Math.min(8 * this.mark, 0.4 * this.link);
    for (const j of this.data.joints)
      for (const {kind, axis, angle} of j.drives) {
        const place = new Matrix4().compose(vector(j.point1), new Quaternion().setFromUnitVectors(ALONG_Z, vector(j.axes[axis]).normalize()), new Vector3(radius, radius, radius));
        for (const [geometry, local] of SIGNS[`${kind} ${angle}`]())
          members.push({geometry, slot: j.body1, local: place.clone().multiply(local), color: new Color(kind === 'drive' ? DRIVE : SPRING)});
      }
    this.batch(this.loads, members);
  }

  // Bushings as a ring of rubber on the first body about a pin on the second; they part as it deflects.
  bushings() {
    const members = [], list = this.data.bushings, radius = Math.min(5 * this.mark, 0.3 * this.link);
    const ring = new TorusGeometry(0.75, 0.27, 8, 24), pin = new CylinderGeometry(0.4, 0.4, 1.3, 12).applyMatrix4(UPRIGHT);
    for (const b of list) {
      const along = new Vector3().setComponent(b.axis, 1).applyQuaternion(quaternion(b.orientation)), scale = new Vector3(radius, radius, radius);
      const turn = new Quaternion().setFromUnitVectors(ALONG_Z, along);
      members.push({geometry: ring, slot: b.body1, local: new Matrix4().compose(vector(b.point1), turn, scale), color: new Color(RUBBER)});
      // the axis in the second body, as it is at the start
      const start = this.startOf(b.body2).invert().multiply(this.startOf(b.body1));
      members.push({geometry: pin, slot: b.body2, local: new Matrix4().compose(vector(b.point2),
        new Quaternion().setFromUnitVectors(ALONG_Z, along.clone().transformDirection(start)), scale), color: new Color(PIN)});
    }
    this.batch(this.loads, members);
  }

  startOf(body) {
    const m = new Matrix4();
    this.pose(body, 0, 0, 0, m);
    return m;
  }

  // Arrows of forces and torques, from their points.
  placeLoads() {
    const length = 0.12 * this.size, head = Math.min(6 * this.mark, 0.4 * length);
    for (let i = 0; i < this.wrenches.length; i++) {
      const [w, axis] = this.wrenches[i], at = FROM.fromArray(w.point).applyMatrix4(this.world[w.body]), along = WAY.copy(axis);
      if (w.body_axes) along.transformDirection(this.world[w.body]);
      this.loadArrows.set(i, at, along, length - head, 0.8 * this.mark, head);
    }
    this.loadArrows.transforms.send();
  }

  // Forces of joints on their second bodies.
  arrows() {
    this.reactions = new Group();
    this.reactions.visible = false;
    this.scene.add(this.reactions);
    this.forces = [];
    this.elements = [];
    this.numbers = true;  // at the arrows
    this.labels = [];  // {at, size} of the arrows that are drawn
  }

  /** Creates the arrows when the columns of reactions are loaded. */
  makeArrows() {
    const d = this.data;
    this.forces = d.joints.map((j, i) => [i, columnsOf(d, 'joint', 'force', j.name)])
      .filter(([, c]) => c.every((k) => k !== undefined));
    // springs and bushings, if the result has their forces: on the second body, those of bushings in axes of the first frame
    const element = (item, axes) => (e) => ({...e, axes, columns: columnsOf(d, item, 'force', e.name)});
    this.elements = [...d.springs.map(element('spring', null)), ...d.bushings.map((b) => element('bushing', quaternion(b.orientation))(b))]
      .filter(({columns}) => columns.every((k) => k !== undefined));
    if (this.elements.length) this.elementArrows = new Arrows(this.loads, this.elements.map(() => new Color(TORQUE)), this.sunward);
    if (this.forces.length) this.forceArrows = new Arrows(this.reactions, this.forces.map(() => new Color(FORCE)), this.sunward);
    this.largestForce = undefined;  // not yet measured
  }

  // The largest force of the motion, without the highest 2 % (impacts).  The length of arrows is relative to it, or to
  // the weight of the heaviest body if that is larger.  Round-off is not drawn: forces below a fraction of this
  // reference, or of kinetic energy by size.
  measureForces() {
    const d = this.data, all = [], step = Math.max(1, d.rows >> 8);
    for (const columns of [...this.forces.map(([, c]) => c), ...this.elements.map((e) => e.columns)]) {
      const f = columns.map((k) => d.columns[k].read());
      for (let r = 0; r < d.rows; r += step) all.push(Math.hypot(f[0][r], f[1][r], f[2][r]));
    }
    const sizes = all.filter(Number.isFinite).sort((a, b) => a - b);
    const weight = Math.hypot(...d.gravity) * d.bodies.reduce((most, b) => Math.max(most, b.mass), 0);
    this.largestForce = sizes[Math.floor(0.98 * (sizes.length - 1))] ?? 0;
    this.referenceForce = Math.max(this.largestForce, weight);
    const energy = d.columns[columnsOf(d, 'sys', 'kinetic')[0]]?.read() ?? [];
    let moving = 0;
    for (let r = 0; r < d.rows; r += step) if (energy[r] > moving) moving = energy[r];
    this.minForce = ROUND_OFF * Math.max(this.referenceForce, moving / this.size);
    if (!(this.largestForce > this.minForce)) this.largestForce = 0;
  }

  // An arrow of a force, in the world: sets arrow i from a point (FROM), the force is in WAY.
  placeForce(arrows, i) {
    const f = WAY, size = f.length(), seen = Number.isFinite(size) && size > this.minForce;
    const length = seen ? Math.min(size / this.referenceForce, 1.5) * 0.25 * this.size : 0, head = Math.min(5 * this.mark, 2 * length);
    if (length > 0) f.divideScalar(size);
    if (length > 0) this.labels.push({at: FROM.clone().addScaledVector(f, length + head), size});
    arrows.set(i, FROM, f, length, length > 0 ? 0.8 * this.mark : 0, head);
  }

  readForce(columns, row) {
    const d = this.data;
    return WAY.set(d.columns[columns[0]].read()[row], d.columns[columns[1]].read()[row], d.columns[columns[2]].read()[row]);
  }

  placeArrows(row) {
    const d = this.data;
    for (let i = 0; i < this.forces.length; i++) {
      const [joint, columns] = this.forces[i], j = d.joints[joint];
      this.readForce(columns, row);
      FROM.fromArray(j.point2).applyMatrix4(this.world[j.body2]);
      this.placeForce(this.forceArrows, i);
    }
    this.forceArrows.transforms.send();
  }

  placeElements(row) {
    for (let i = 0; i < this.elements.length; i++) {
      const e = this.elements[i], f = this.readForce(e.columns, row), size = f.length();
      if (e.axes && size > 0) f.applyQuaternion(e.axes).transformDirection(this.world[e.body1]).multiplyScalar(size);
      FROM.fromArray(e.point2).applyMatrix4(this.world[e.body2]);
      this.placeForce(this.elementArrows, i);
    }
    this.elementArrows.transforms.send();
  }

  // Arrows of the forces that are shown; the longest get numbers.
  placeForces(row) {
    const reactions = this.reactions.visible && this.forces.length, elements = this.loads.visible && this.elements.length;
    this.labels = [];
    if ((reactions || elements) && this.largestForce === undefined) this.measureForces();
    if (reactions) this.placeArrows(row);
    if (elements) this.placeElements(row);
    this.labels = this.numbers ? this.labels.sort((a, b) => b.size - a.size).slice(0, LABELS) : [];
  }

  /** Sets all poses for a time, interpolated between rows. */
  seek(t) {
    const row = this.placeBodies(t);
    this.second?.placeBodies(t);
    for (const s of this.spans) s.update(this.world);
    if (this.wrenches.length) this.placeLoads();
    this.placeForces(row);
    if (this.following >= 0) {
      const now = FROM.setFromMatrixPosition(this.world[this.following]);
      this.camera.position.add(WAY.subVectors(now, this.controls.target));
      this.controls.target.copy(now);
      this.placeGrid(now);
    }
    const shown = Math.min(row + 1 - this.from, TRAIL);
    for (const line of this.traced.values()) line.geometry.setDrawRange(row + 1 - shown, shown);
    this.t = t;
    this.row = row;
    this.dirty = true;
  }

  /** Shows, fades or hides a body: 'shown', 'faint', 'hidden'. */
  display(body, how) {
    this.visibility[body] = how;
    if (how === 'faint' && !this.faint && this.solidMembers.length) {
      this.faint = new Transforms(this.visibility.length);
      this.batches.push(new Batch(this.scene, this.faint, this.solidMembers,
        {roughness: 0.65, metalness: 0.05, transparent: true, opacity: FAINT, depthWrite: false, sunward: this.sunward}));
    }
    this.seek(this.t);
  }

  follow(body) {
    if (body >= 0) {  // the same direction, with the body in the middle
      const now = new Vector3().setFromMatrixPosition(this.world[body]);
      this.camera.position.add(now.clone().sub(this.controls.target));
      this.controls.target.copy(now);
    }
    this.following = body;
    if (body >= 0) this.start = vector(this.data.position.subarray(3 * body)).dot(this.up);
    this.seek(this.t);
  }

  trace(body, on) {
    if (!on) {
      const line = this.traced.get(body);
      if (line) { this.traces.remove(line); line.geometry.dispose(); }
      this.traced.delete(body);
    } else if (!this.traced.has(body)) {
      const d = this.data, n = d.bodies.length, points = new Float32Array(3 * d.rows);
      for (let r = 0; r < d.rows; r++)
        for (let k = 0; k < 3; k++) points[3 * r + k] = d.position[3 * (r * n + body) + k];
      const geometry = new BufferGeometry();
      geometry.setAttribute('position', new BufferAttribute(points, 3));
      const line = new Line(geometry, new LineBasicMaterial({color: this.colorOf(body), fog: false}));
      line.frustumCulled = false;
      this.traced.set(body, line);
      this.traces.add(line);
    }
    this.seek(this.t);
  }

  // Direction to the camera: along the axes of a planar mechanism, slightly from the side and above.
  side() {
    const axes = this.data.joints.filter((j) => j.sign === 'circle' && j.axes.length === 1)
      .map((j) => vector(j.axes[0]).transformDirection(this.world[j.body1]));
    const planar = axes.length > 0 && axes.every((a) => Math.abs(a.dot(axes[0])) > 0.999) && Math.abs(axes[0].dot(this.up)) < 0.1;
    if (!planar)
      return new Vector3(0.55, 0.4, 0.8).applyQuaternion(new Quaternion().setFromUnitVectors(new Vector3(0, 1, 0), this.up)).normalize();
    const along = axes[0].clone();
    const right = this.up.clone().cross(along).normalize();
    if (right.x + right.y + right.z < 0) { along.negate(); right.negate(); }  // coordinates increase to the right
    return along.addScaledVector(right, 0.35).addScaledVector(this.up, 0.3).normalize();
  }

  // Direction to the camera of a named view: x, or y where x is vertical, points to the right in front.
  direction() {
    const right = new Vector3(1, 0, 0);
    if (Math.abs(this.up.x) > 0.9) right.set(0, 1, 0);
    const front = right.clone().cross(this.up).normalize();
    right.copy(this.up).cross(front);
    switch (this.from) {
      case 'front': return front;
      case 'side': return right;
      case 'top': return this.up.clone().addScaledVector(front, 1e-5).normalize();  // the front is below
      case 'isometric': return front.add(right).add(this.up).normalize();
      default: return this.side();
    }
  }

  /** Looks from 'front', 'side', 'top', 'isometric' or the 'default' direction. */
  turn(from) {
    this.from = from;
    this.fit();
  }

  /** The camera that draws. */
  get eye() { return this.orthographic ? this.flat : this.camera; }

  // The orthographic camera sees what the other sees at the distance of its target.
  flatten(distance) {
    const half = distance * Math.tan(this.camera.fov * Math.PI / 360), wide = half * this.camera.aspect;
    Object.assign(this.flat, {left: -wide, right: wide, top: half, bottom: -half, near: -this.camera.far, far: this.camera.far});
    this.flat.position.copy(this.camera.position);
    this.flat.quaternion.copy(this.camera.quaternion);
    this.flat.updateProjectionMatrix();
    this.flat.updateMatrixWorld();
  }

  /** Moves the camera so that everything is visible; the body that is followed is in the middle. */
  fit() {
    const points = this.leaves || this.following >= 0 ? this.pointsAt(this.row) : this.all;
    const z = this.direction(), x = this.up.clone().cross(z).normalize(), y = z.clone().cross(x);
    const target = new Vector3(), followed = this.following >= 0;
    for (const axis of [x, y, z]) {
      let low = Infinity, high = -Infinity;
      for (const p of points) { const c = p.dot(axis); low = Math.min(low, c); high = Math.max(high, c); }
      target.addScaledVector(axis, (low + high) / 2);
    }
    if (followed) target.setFromMatrixPosition(this.world[this.following]);
    const tangent = Math.tan(this.camera.fov * Math.PI / 360), wide = tangent * this.camera.aspect;
    let distance = this.size / 4;
    for (const p of points) {
      const q = p.clone().sub(target);
      distance = Math.max(distance, q.dot(z) + 1.15 * Math.max(Math.abs(q.dot(x)) / wide, Math.abs(q.dot(y)) / tangent));
    }
    this.camera.position.copy(target).addScaledVector(z, distance);
    this.controls.target.copy(target);
    this.controls.update();
    this.fitDistance = distance;  // at which lines have their nominal width
    this.dirty = true;
  }

  /** The body under a point of the canvas (-1 ... 1), or -1. */
  bodyAt(x, y) {
    const ray = new Raycaster();
    ray.setFromCamera(new Vector2(x, y), this.eye);
    let body = -1, nearest = Infinity;
    for (const c of this.batches) {
      const [distance, slot] = c.mesh.visible && c.mesh.parent.visible ? c.intersect(ray.ray) : [Infinity, -1];
      if (distance < nearest) { nearest = distance; body = slot; }
    }
    return body;
  }

  resize(width, height, ratio) {
    this.renderer.setPixelRatio(ratio);
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / Math.max(height, 1);
    this.camera.updateProjectionMatrix();
    this.dirty = true;
  }

  background(color) {
    this.scene.background = new Color(color);
    this.scene.fog.color.set(color);
    this.dirty = true;
  }

  /** Draws if something has changed. */
  draw() {
    this.controls.update();
    if (!this.dirty) return false;
    this.dirty = false;
    const distance = this.camera.position.distanceTo(this.controls.target);
    this.scene.fog.near = distance;
    this.scene.fog.far = 3 * distance + this.size;
    this.camera.near = distance / 200;
    this.camera.far = 100 * distance + 10 * this.size;
    this.camera.updateProjectionMatrix();
    this.shapesOrRods(distance, this.fitDistance);
    this.second?.shapesOrRods(distance, this.fitDistance);
    if (this.orthographic) this.flatten(distance);
    this.renderer.render(this.scene, this.eye);
    return true;
  }
}
