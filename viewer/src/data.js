// data.js -- the model and the result that the program wrote into the page.
//
// The script element `data` holds JSON; series of numbers are packed (below):
//   time      float64 [row]
//   position  float32 [row][body][3]   mass centres in the world [m]
//   rotation  int16   [row][body][4]   unit quaternions body -> world, scalar first, times 32767
//   bodies[i].group    number of the rigid group; 0: that of the ground
//   joints[i].sign     of its type, as in drawings; .separates: its two points move apart
//   joints[i].drives   what drives or springs its coordinates: kind, axis: which of its axes, angle: about it
//   tendons[i]         path: points {body, point}, obstacles with radius, axis (of a cylinder) and side {body, point}, {pulley};
//                      or of a slider-crank: crank {body, point, rod}, slider {body, point, axis}
//   bushings           frames from mass centres, orientation of the first, axis about which it is softest
//   meshes[i]          null, or {vertices, triangles, half: of its box, position float32 [vertex][3] from the middle of
//                      its box, normal int16 [vertex][3] times 32767, index int32 [triangle][3]}
//   shapes of type mesh  .mesh: number of the mesh, .size: its scales, negative: mirrored
//   palette            colours of groups: of the ground, then of the others, which repeat
//   quantities         {item, dataset, part}: the names of columns (columnsOf)
//   clips[i]           {name, first, last}: rows of motions that are shown one at a time, again and again
//   kinematics         of a model without a result: joints, couplings, bodies (kinematics.js); null: not known
//   columns[i].values  float64 or float32 [row]
// The element `second` has a mechanism to compare with: title, about, meshes, bodies, motion, all columns.
// All columns except those of the system are after the script, in the element `late`, so that drawing begins before
// they are loaded.  Vectors fixed in a body are from its mass centre, in its axes.
import {inflateSync} from 'three/examples/jsm/libs/fflate.module.js';

function bytes(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const binary = atob(text);
  const out = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) out[i] = binary.charCodeAt(i);
  return out;
}

// Inflates by the browser's decoder, which is asynchronous and several times faster than a script.
async function inflated(deflated) {
  try {
    const stream = new Blob([deflated]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  } catch {  // an older browser, or damaged data
    return inflateSync(deflated);
  }
}

/** Decodes what src/view/pack.h describes, without loss.  Returns [row][series]. */
export function unpack(text, rows, series, Type) {
  const size = rows * series * Type.BYTES_PER_ELEMENT;
  return arrange(inflateSync(bytes(text), {out: new Uint8Array(size)}), rows, series, Type);
}

/** The same asynchronously, for long series. */
export async function unpackSoon(text, rows, series, Type) {
  return arrange(await inflated(bytes(text)), rows, series, Type);
}

function arrange(planes, rows, series, Type) {
  const n = rows * series, width = Type.BYTES_PER_ELEMENT;
  if (planes.length !== n * width) throw new Error('the page is damaged: numbers are missing');
  const out = new Type(n);
  if (width === 8) {
    const raw = new Uint8Array(out.buffer);
    for (let k = 0; k < width; k++)
      for (let s = 0, i = k * n; s < series; s++)
        for (let r = 0; r < rows; r++) raw[(r * series + s) * width + k] = planes[i++];
    return out;
  }
  const bits = width === 4 ? new Int32Array(out.buffer) : out;
  for (let s = 0, i = 0; s < series; s++) {
    let x = 0, step = 0;
    for (let r = 0, to = s; r < rows; r++, i++, to += series) {
      let code = planes[i] | planes[n + i] << 8;
      if (width === 4) code |= planes[2 * n + i] << 16 | planes[3 * n + i] << 24;
      step = step + (code >>> 1 ^ -(code & 1)) | 0;
      x = x + step | 0;
      bits[to] = x;
    }
  }
  return out;
}

function unpackMesh(m) {
  if (!m) return;
  m.position = unpack(m.position, m.vertices, 3, Float32Array);
  m.normal = Float32Array.from(unpack(m.normal, m.vertices, 3, Int16Array), (x) => x / 32767);
  m.index = unpack(m.index, m.triangles, 3, Uint32Array);
}

/** The data of the page, or with `id` second of the mechanism to compare with (null: there is none). */
export async function load(document, id = 'data') {
  const element = document.getElementById(id);
  if (!element && id === 'second') return null;
  if (!element) throw new Error('this page has no data: it is the template of `linkwork view`');
  const d = JSON.parse(element.textContent), n = d.bodies.length;
  d.meshes.forEach(unpackMesh);
  for (const b of d.bodies) for (const shape of b.shapes) if (shape.type === 'mesh') shape.half = d.meshes[shape.mesh].half;
  d.time = unpack(d.time, d.rows, 1, Float64Array);
  [d.position, d.rotation] = await Promise.all([unpackSoon(d.position, d.rows, 3 * n, Float32Array), unpackSoon(d.rotation, d.rows, 4 * n, Int16Array)]);
  d.column = new Map();
  const columns = d.columns;
  d.columns = [];
  add(d, columns);
  element.remove();  // the text is large and not needed again
  return d;
}

/** Indices of the columns of a quantity, of the system or of an item by its name; undefined: not in the result. */
export function columnsOf(d, item, dataset, name) {
  const {part} = d.quantities.find((q) => q.item === item && q.dataset === dataset);
  return part.map((p) => d.column.get([item, ...name === undefined ? [] : [name], p].join('.')));
}

function add(d, columns) {
  for (const c of columns) {
    c.read = lazily(c, d.rows);
    d.column.set(c.name, d.columns.length);
    d.columns.push(c);
  }
}

/** Adds the columns after the script, when the document is complete. */
export function loadLate(document, d) {
  const element = document.getElementById('late');
  if (!element) throw new Error('the page is not whole: its last columns are missing');
  const late = JSON.parse(element.textContent);
  add(d, late.columns);
  d.left_out = late.left_out;
  element.remove();
}

// Columns are unpacked when they are first read.
function lazily(column, rows) {
  let values = null;
  return () => {
    if (!values) {
      values = unpack(column.values, rows, 1, column.double ? Float64Array : Float32Array);
      column.values = null;
    }
    return values;
  };
}

/** Row at or before a time, and the fraction of the step to the next row. */
export function locate(time, t) {
  const last = time.length - 1;
  if (last <= 0 || t <= time[0]) return [0, 0];
  if (t >= time[last]) return [last, 0];
  let low = 0, high = last;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (time[middle] <= t) low = middle; else high = middle;
  }
  const h = time[high] - time[low];
  return [low, h > 0 ? (t - time[low]) / h : 0];
}
