// data.js -- the model and the result that the program wrote into the page.
//
// The script element `data` holds JSON; numbers of many rows are base64 of little-endian arrays:
//   time      float64 [row]
//   position  float32 [row][body][3]   mass centres in the world [m]
//   rotation  int16   [row][body][4]   unit quaternions body -> world, scalar first, times 32767
//   bodies[i].group    bodies that fixed joints hold together have the same; 0: with the ground
//   columns[i].values  float64 or float32 [row]
// All columns but those of the system stand behind the script, in the element `late`, so that drawing can
// begin before they have come.
// Everything fixed in a body is given from its mass centre, in its axes.

function bytes(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text).buffer;
  const binary = atob(text);
  const out = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) out[i] = binary.charCodeAt(i);
  return out.buffer;
}

export function load(document) {
  const element = document.getElementById('data');
  if (!element) throw new Error('this page has no data: it is the template of `linkwork view`');
  const d = JSON.parse(element.textContent);
  d.time = new Float64Array(bytes(d.time));
  d.rows = d.time.length;
  d.position = new Float32Array(bytes(d.position));
  d.rotation = new Int16Array(bytes(d.rotation));
  d.column = new Map();
  const columns = d.columns;
  d.columns = [];
  add(d, columns);
  element.remove();  // the text is large and not needed again
  return d;
}

function add(d, columns) {
  for (const c of columns) {
    c.read = lazily(c);
    d.column.set(c.name, d.columns.length);
    d.columns.push(c);
  }
}

/** Columns that stand behind the script: once the document has been read. */
export function loadLate(document, d) {
  const element = document.getElementById('late');
  if (!element) throw new Error('the page is not whole: its last columns are missing');
  const late = JSON.parse(element.textContent);
  add(d, late.columns);
  d.left_out = late.left_out;
  element.remove();
}

// Columns are decoded when they are first looked at.
function lazily(column) {
  let values = null;
  return () => {
    if (!values) {
      const raw = bytes(column.values);
      values = column.double ? new Float64Array(raw) : new Float32Array(raw);
      column.values = null;
    }
    return values;
  };
}

/** Row at or before a time, and how far the time is towards the next. */
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
