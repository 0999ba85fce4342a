// plots.js -- columns of the result over time, with a cursor that is the animation's.

// Steps of 1, 2, 5 times a power of ten, `most` of them at the most.
export function ticks(low, high, most) {
  if (!(high > low)) return [low];
  const raw = (high - low) / most, power = Math.pow(10, Math.floor(Math.log10(raw)));
  const step = [1, 2, 5, 10].map((k) => k * power).find((s) => (high - low) / s <= most);
  const out = [];
  for (let k = Math.ceil(low / step); k * step <= high * (1 + 1e-12) + 1e-300; k++) out.push(k * step);
  return out;
}

export function number(x) {
  if (!Number.isFinite(x)) return '\u2013';
  if (x === 0) return '0';
  const size = Math.abs(x);
  return size >= 1e5 || size < 1e-3 ? x.toExponential(3) : x.toPrecision(5);
}

// A number without the zeros behind its digits.
export function short(x) {
  const text = number(Math.abs(x) < 1e-300 ? 0 : x);
  return text.includes('.') ? text.replace(/\.?0+(e|$)/, '$1') : text;
}

const RIGHT = 10;  // pixels beside the curve, for half of the last number

export class Plot {
  constructor(parent, data, column, onSeek, onClose) {
    this.data = data;
    this.column = column;
    this.values = data.columns[column].read();
    this.root = document.createElement('div');
    this.root.className = 'plot';
    const head = document.createElement('header'), name = document.createElement('span'), close = document.createElement('button');
    name.textContent = data.columns[column].unit && data.columns[column].unit !== '1'
      ? `${data.columns[column].name} [${data.columns[column].unit}]` : data.columns[column].name;
    this.output = document.createElement('output');
    close.textContent = '\u00d7';
    close.title = 'remove this plot';
    close.setAttribute('aria-label', `remove the plot of ${data.columns[column].name}`);
    close.addEventListener('click', onClose);
    head.append(name, this.output, close);
    this.canvas = document.createElement('canvas');
    this.canvas.setAttribute('role', 'img');
    this.canvas.setAttribute('aria-label', `${name.textContent} over time`);
    this.cursor = document.createElement('div');
    this.cursor.className = 'cursor';
    const body = document.createElement('div');
    body.className = 'curve';
    body.append(this.canvas, this.cursor);
    this.root.append(head, body);
    parent.append(this.root);
    const seek = (event) => {
      const box = this.canvas.getBoundingClientRect();
      onSeek(this.timeAt((event.clientX - box.left) / box.width * this.width));
    };
    this.canvas.addEventListener('pointerdown', (e) => { this.canvas.setPointerCapture(e.pointerId); seek(e); });
    this.canvas.addEventListener('pointermove', (e) => { if (e.buttons) seek(e); });
    let low = Infinity, high = -Infinity;
    for (const v of this.values) if (Number.isFinite(v)) { low = Math.min(low, v); high = Math.max(high, v); }
    if (!(low <= high)) { low = -1; high = 1; }
    if (low === high) { const d = Math.abs(low) || 1; low -= 0.5 * d; high += 0.5 * d; }
    // small changes of a large value: the axis says how far from its first
    this.base = high - low < 1e-3 * Math.max(Math.abs(low), Math.abs(high)) ? this.values[0] : 0;
    if (this.base) name.textContent += ` \u2212 ${number(this.base)}`;
    this.low = low - 0.06 * (high - low);
    this.high = high + 0.06 * (high - low);
    this.style = null;  // in which it has been drawn
    this.shown = null;
  }

  x(t) {
    const time = this.data.time, span = time[time.length - 1] - time[0] || 1;
    return this.left + (t - time[0]) / span * (this.width - this.left - RIGHT);
  }
  y(v) { return (this.high - v) / (this.high - this.low) * (this.height - 16) + 2; }
  timeAt(x) {
    const time = this.data.time, span = time[time.length - 1] - time[0];
    return time[0] + Math.min(1, Math.max(0, (x - this.left) / (this.width - this.left - RIGHT))) * span;
  }

  // Axes and curve, drawn once (the cursor is an element above); many rows fall on one column of pixels, of which the extremes show.
  picture(style) {
    const g = this.canvas.getContext('2d'), time = this.data.time;
    g.clearRect(0, 0, this.width, this.height);
    g.font = '10px system-ui, sans-serif';
    g.fillStyle = g.strokeStyle = style.soft;
    g.lineWidth = 1;
    for (const tick of ticks(this.low - this.base, this.high - this.base, 4)) {
      const v = tick + this.base;
      g.globalAlpha = 0.35;
      g.beginPath(); g.moveTo(this.left, this.y(v)); g.lineTo(this.width - RIGHT, this.y(v)); g.stroke();
      g.globalAlpha = 1;
      g.textAlign = 'right'; g.textBaseline = 'middle';
      g.fillText(short(tick), this.left - 4, this.y(v));
    }
    g.textAlign = 'center'; g.textBaseline = 'top';
    for (const t of ticks(time[0], time[time.length - 1], 5)) g.fillText(`${+t.toPrecision(6)}`, this.x(t), this.height - 12);
    g.strokeStyle = style.accent;
    g.lineWidth = 1.3;
    g.beginPath();
    let at = NaN, low = 0, high = 0, end = 0;  // of the column of pixels
    const column = () => { if (low < high) { g.lineTo(at, low); g.lineTo(at, high); g.lineTo(at, end); } };
    for (let i = 0; i < time.length; i++) {
      const v = this.values[i], x = Math.round(this.x(time[i]) * 2) / 2, y = this.y(v);
      if (x === at && Number.isFinite(v)) { low = Math.min(low, y); high = Math.max(high, y); end = y; continue; }
      column();
      const gap = !Number.isFinite(v);
      if (!gap) g[Number.isNaN(at) ? 'moveTo' : 'lineTo'](x, y);
      at = gap ? NaN : x;
      low = high = end = gap ? 0 : y;
    }
    column();
    g.stroke();
  }

  draw(t, row, style, ratio) {
    const width = this.canvas.clientWidth, height = this.canvas.clientHeight;
    if (!width) return;
    if (width !== this.width || style !== this.style || ratio !== this.ratio) {
      this.width = width; this.height = height; this.style = style; this.ratio = ratio; this.left = 52;
      this.canvas.width = width * ratio; this.canvas.height = height * ratio;
      this.canvas.getContext('2d').setTransform(ratio, 0, 0, ratio, 0, 0);
      this.picture(style);
      this.shown = null;
    }
    this.cursor.style.transform = `translateX(${this.x(t)}px)`;
    if (row !== this.shown) this.output.textContent = number(this.values[row]);
    this.shown = row;
  }
}
