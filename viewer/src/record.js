// record.js -- pictures and videos of the stage, as files that the browser saves.

const LAST = 1000, AGAIN = 100;  // ms for the last picture, which a slow encoder gets late; between its repetitions

function save(blob, name) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

/** The name of a file for a title, without its ending. */
export const stem = (title) => title.replace(/\.[^.]*$/, '').replace(/[^\w.-]+/g, '-') || 'linkwork';

// Writes a text, line by line, from the left (or the right) end x and the top y, in the style of an element of the page.
function write(g, text, style, x, y, {right = false, halo = null} = {}) {
  const size = parseFloat(style.fontSize), line = parseFloat(style.lineHeight) || 1.4 * size;
  g.font = `${style.fontWeight} ${size}px ${style.fontFamily}`;
  g.fillStyle = style.color;
  [g.textAlign, g.textBaseline] = [right ? 'right' : 'left', 'alphabetic'];
  const {fontBoundingBoxAscent: above, fontBoundingBoxDescent: below} = g.measureText(text);
  text.split('\n').forEach((part, k) => {
    const base = y + k * line + (line + above - below) / 2;
    if (halo) {
      [g.strokeStyle, g.lineWidth, g.lineJoin] = [halo, 3, 'round'];
      g.strokeText(part, x, base);
    }
    g.fillText(part, x, base);
  });
}

// The axes in the corner, an SVG picture of lines and letters.
function drawAxes(g, svg, x, y) {
  const box = svg.getBoundingClientRect(), scale = box.width / svg.viewBox.baseVal.width;
  g.save();
  g.translate(box.left - x + box.width / 2, box.top - y + box.height / 2);
  g.scale(scale, scale);
  for (const line of svg.querySelectorAll('line')) {
    const style = getComputedStyle(line);
    [g.strokeStyle, g.lineWidth, g.lineCap] = [style.stroke, parseFloat(style.strokeWidth), style.strokeLinecap];
    g.beginPath();
    g.moveTo(0, 0);
    g.lineTo(line.x2.baseVal.value, line.y2.baseVal.value);
    g.stroke();
  }
  [g.textAlign, g.textBaseline] = ['center', 'middle'];
  for (const text of svg.querySelectorAll('text')) {
    const style = getComputedStyle(text);
    g.font = `${style.fontSize} ${style.fontFamily}`;
    g.fillStyle = style.fill;
    g.fillText(text.textContent, +text.getAttribute('x'), +text.getAttribute('y'));
  }
  g.restore();
}

/** Draws the stage on a canvas: what the view has drawn in this task, with the scales, the numbers at arrows and the axes that
 *  the page has over it, and the time, which the page has below. */
function drawStage(to, stage, time) {
  const canvas = stage.querySelector('canvas'), box = stage.getBoundingClientRect(), g = to.getContext('2d');
  g.setTransform(to.width / box.width, 0, 0, to.height / box.height, 0, 0);
  g.drawImage(canvas, 0, 0, box.width, box.height);
  const readout = stage.querySelector('#readout'), style = getComputedStyle(readout), at = readout.getBoundingClientRect();
  write(g, readout.textContent, style, at.left - box.left, at.top - box.top);
  write(g, time, style, box.width - (at.left - box.left), at.top - box.top, {right: true});
  const halo = getComputedStyle(document.documentElement).getPropertyValue('--back').trim();
  for (const number of stage.querySelectorAll('#numbers span:not([hidden])')) {
    const {left, top} = number.getBoundingClientRect();
    write(g, number.textContent, getComputedStyle(number), left - box.left, top - box.top, {halo});
  }
  drawAxes(g, stage.querySelector('#triad'), box.left, box.top);
}

function canvasLike({width, height}) {
  return Object.assign(document.createElement('canvas'), {width, height});
}

/** Saves the stage as PNG, in the resolution of its canvas. The view must have been drawn in this task: until it ends
 *  its canvas can be read. */
export function savePicture(stage, time, name) {
  const canvas = canvasLike(stage.querySelector('canvas'));
  drawStage(canvas, stage, time);
  return new Promise((done) => {
    canvas.toBlob((blob) => {
      save(blob, `${name}.png`);
      done(blob);
    }, 'image/png');
  });
}

/** Records the pictures that are added until `stop` is called, and saves them as WebM. */
export class Recording {
  static get kind() {
    return ['video/webm;codecs=vp9', 'video/webm;codecs=vp8', 'video/webm'].find((kind) => globalThis.MediaRecorder?.isTypeSupported(kind));
  }

  constructor(stage, name) {
    this.stage = stage;
    this.canvas = canvasLike(stage.querySelector('canvas'));
    this.canvas.getContext('2d');  // a canvas without a context has no stream
    const stream = this.canvas.captureStream(30), parts = [];
    this.recorder = new MediaRecorder(stream, {mimeType: Recording.kind, videoBitsPerSecond: 8e6});
    this.recorder.addEventListener('dataavailable', (e) => { if (e.data.size) parts.push(e.data); });
    this.blob = new Promise((done) => this.recorder.addEventListener('stop', () => {
      for (const track of stream.getTracks()) track.stop();
      const blob = new Blob(parts, {type: 'video/webm'});
      save(blob, `${name}.webm`);
      done(blob);
    }));
    this.recorder.start();
  }

  /** Adds the stage, after the view was drawn in this task. */
  add(time) {
    drawStage(this.canvas, this.stage, time);
  }

  /** Ends when the last picture is recorded. */
  stop() {
    // a stream takes at most 30 pictures a second: one that comes soon after another is left out
    const g = this.canvas.getContext('2d');
    g.resetTransform();
    const again = setInterval(() => g.drawImage(this.canvas, 0, 0), AGAIN);
    setTimeout(() => {
      clearInterval(again);
      if (this.recorder.state !== 'inactive') this.recorder.stop();
    }, LAST);
    return this.blob;
  }
}
