// plots.js -- columns of the result over time (uPlot), with one cursor at the time of the animation.
import uPlot from 'uplot';

const HEIGHT = 96, GUTTER = 52, FOOT = 16;  // of a chart, its labels of y, its labels of time [px]
const SECOND = '#e8590c';  // colour of the data to compare with
const FONT = '10px system-ui, sans-serif';

export function number(x) {
  if (!Number.isFinite(x)) return '\u2013';
  if (x === 0) return '0';
  const size = Math.abs(x);
  return size >= 1e5 || size < 1e-3 ? x.toExponential(3) : x.toPrecision(5);
}

/** A number without trailing zeros. */
export function short(x) {
  const text = number(Math.abs(x) < 1e-300 ? 0 : x);
  return text.includes('.') ? text.replace(/\.?0+(e|$)/, '$1') : text;
}

// The range of the finite values with a margin; [-1, 1] if there are none.
function rangeOf(values) {
  let low = Infinity, high = -Infinity;
  for (const v of values) if (Number.isFinite(v)) { low = Math.min(low, v); high = Math.max(high, v); }
  if (!(low <= high)) return [-1, 1];
  const margin = low < high ? 0.06 * (high - low) : 0.5 * (Math.abs(low) || 1);
  return [low - margin, high + margin];
}

// uPlot has gaps at null.
const gapped = (values) => (values.every(Number.isFinite) ? values : Array.from(values, (v) => (Number.isFinite(v) ? v : null)));

function element(name, parent, properties = {}) {
  const e = Object.assign(document.createElement(name), properties);
  parent.append(e);
  return e;
}

export class Plot {
  /** @param second  data to compare with: a column of the same name is drawn dashed; or null */
  constructor(parent, data, column, onSeek, onClose, second = null) {
    const {name, unit, read} = data.columns[column];
    this.data = data;
    this.values = read();
    this.second = second?.column.has(name) ? {time: second.time, values: second.columns[second.column.get(name)].read()} : null;
    this.range = this.rangeOfBoth(this.values, this.second?.values);
    // small changes of a large value: the axis shows the difference from the first
    const [low, high] = this.range, base = high - low < 1e-3 * Math.max(Math.abs(low), Math.abs(high)) ? this.values[0] : 0;
    this.shown = base ? this.values.map((v) => v - base) : this.values;
    if (base && this.second) this.second.values = this.second.values.map((v) => v - base);
    if (base) this.range = this.rangeOfBoth(this.shown, this.second?.values);
    this.root = element('div', parent, {className: 'plot'});
    const head = element('header', this.root);
    this.title = (unit && unit !== '1' ? `${name} [${unit}]` : name) + (base ? ` \u2212 ${number(base)}` : '');
    element('span', head, {textContent: this.title});
    this.output = element('output', head);
    const close = element('button', head, {textContent: '\u00d7', title: 'remove this plot'});
    close.setAttribute('aria-label', `remove the plot of ${name}`);
    close.addEventListener('click', onClose);
    this.box = element('div', this.root);
    this.onSeek = onSeek;
    this.chart = null;  // once the width is known
    this.row = null;  // of the value shown
  }

  rangeOfBoth(values, others) {
    const [low, high] = rangeOf(values), [down, up] = others ? rangeOf(others) : [low, high];
    return [Math.min(low, down), Math.max(high, up)];
  }

  make(width) {
    const times = [this.data.time, ...this.second ? [this.second.time] : []];
    const first = Math.min(...times.map((t) => t[0])), last = Math.max(...times.map((t) => t[t.length - 1]));
    const line = (more) => ({stroke: () => this.style.accent, width: 1.3, pxAlign: 0, points: {show: false}, ...more});
    const own = [this.data.time, gapped(this.shown)];
    const axis = (more) => ({stroke: () => this.style.soft, font: FONT, ticks: {show: false}, gap: 4, ...more});
    this.chart = new uPlot({
      width, height: HEIGHT, padding: [2, 10, 0, 0], legend: {show: false}, cursor: {show: false},
      scales: {x: {time: false, range: [first, last > first ? last : first + 1]}, y: {range: this.range}},
      axes: [
        axis({size: FOOT, space: 50, grid: {show: false}, values: (_, splits) => splits.map((t) => `${+t.toPrecision(6)}`)}),
        axis({size: GUTTER, space: 18, grid: {stroke: () => this.style.line, width: 1}, values: (_, splits) => splits.map(short)}),
      ],
      series: [{}, line(), ...this.second ? [line({stroke: SECOND, dash: [5, 3], spanGaps: true})] : []],
    }, this.second ? uPlot.join([own, [this.second.time, gapped(this.second.values)]]) : own, this.box);
    if (this.second) this.chart.series[1].spanGaps = true;
    const {over, ctx} = this.chart, seek = (event) =>
      this.onSeek(Math.min(last, Math.max(first, this.chart.posToVal(event.clientX - over.getBoundingClientRect().left, 'x'))));
    ctx.canvas.setAttribute('role', 'img');
    ctx.canvas.setAttribute('aria-label', `${this.title} over time`);
    over.addEventListener('pointerdown', (e) => { over.setPointerCapture(e.pointerId); seek(e); });
    over.addEventListener('pointermove', (e) => { if (e.buttons) seek(e); });
    this.cursor = element('div', over, {className: 'cursor'});
  }

  /** Puts the cursor at a time and shows the value of a row; draws the chart again if its size or colours have changed. */
  draw(t, row, style) {
    const width = this.box.clientWidth;
    if (!width) return;
    const restyled = style !== this.style;
    this.style = style;
    if (!this.chart) this.make(width);
    else if (width !== this.chart.width) this.chart.setSize({width, height: HEIGHT});
    else if (restyled) this.chart.redraw(false, true);
    this.cursor.style.transform = `translateX(${this.chart.valToPos(t, 'x')}px)`;
    if (row !== this.row) this.output.textContent = number(this.values[row]);
    this.row = row;
  }

  remove() {
    this.chart?.destroy();
    this.root.remove();
  }
}
