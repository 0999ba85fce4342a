// main.js -- the page: clock, controls, panels.  Scripts and tests use `window.linkwork`.
import {Vector3} from 'three';
import {columnsOf, load, loadLate} from './data.js';
import {View} from './scene.js';
import {Plot, number, short} from './plots.js';
import {Recording, savePicture, stem} from './record.js';
import {Sliders, coordinatesOf} from './sliders.js';

const $ = (id) => document.getElementById(id);
const SLOW = 25, LONG = 50;  // ms between pictures: more than at 60 and at 50 Hz; not fluid
const REST = 250;  // ms without a new picture
const SPEEDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 50];
const WHOLE = 10;  // s in which the whole motion is shown, if this speed is selected
const WIDE = 7.5, HIGH = 13;  // px: a character of a number at an arrow
const VISIBILITIES = ['shown', 'faint', 'hidden'];

function fail(text) {
  $('message').textContent = text;
  $('message').hidden = false;
}

async function start() {
  const data = await load(document), second = await load(document, 'second');
  const canvas = $('view');
  let view;
  try {
    view = new View(canvas, data, second);
  } catch (error) {
    fail(`The browser cannot draw in three dimensions here (WebGL): ${error.message}`);
    throw error;
  }
  const both = second ? [data, second] : [data];
  let first = Math.min(...both.map((d) => d.time[0] ?? 0)), last = Math.max(...both.map((d) => d.time[d.rows - 1] ?? 0));
  const state = {t: first, playing: false, speed: 1, plots: new Map(), drawn: 0};
  let style = null;

  // ---- clock
  function seek(t) {
    move(t);
    show();
  }
  function move(t) {
    state.t = Math.min(last, Math.max(first, t));
    view.seek(state.t);
  }
  // Shows the time and everything that depends on it.
  let shown = 0;
  function show() {
    shown = performance.now();
    $('scrub').value = last > first ? (state.t - first) / (last - first) : 0;
    $('clock').textContent = clock();
    if (!state.playing) $('scrub').setAttribute('aria-valuetext', data.clips.length ? clock() : `${state.t.toFixed(3)} seconds`);
    panels();
  }
  const clock = () => data.clips.length ? `phase ${Math.round(360 * (state.t - first) / (last - first))}\u00b0` :
    `${state.t.toFixed(3)} s of ${last.toFixed(3)}`;
  function play(on) {
    if (state.playing) show();
    state.playing = on && last > first;
    if (state.playing && state.t >= last) seek(first);
    $('play').innerHTML = state.playing ? '&#10073;&#10073;' : '&#9654;';
    $('play').setAttribute('aria-label', state.playing ? 'pause' : 'play');
    $('hover').hidden = true;
    if (!state.playing) stopVideo();
  }

  // ---- panels
  function panels() {
    for (const plot of state.plots.values()) plot.draw(state.t, view.row, style);
    for (const c of checks) c.output.textContent = c.text(view.row);
  }
  const checks = [];
  function check(label, text) {
    const table = $('checks').querySelector('table') ?? $('checks').appendChild(document.createElement('table'));
    const line = table.insertRow();
    line.insertCell().textContent = label;
    checks.push({output: line.insertCell(), text});
  }
  function makeChecks() {
    const read = (dataset) => columnsOf(data, 'sys', dataset).map((k) => data.columns[k]?.read());
    const [E] = read('energy'), [W] = read('work');
    if (E) check('energy E [J]', (r) => number(E[r]));
    if (E) {
      const drift = (r) => (E[r] - (W ? W[r] : 0)) - (E[0] - (W ? W[0] : 0));
      check(W ? 'drift of E \u2212 Wnc [J]' : 'drift of E [J]', (r) => number(drift(r)));
    }
    if (second) check('largest distance of the two [m]', () => number(view.apart));
    read('residual').forEach((values, level) => {
      if (values) check(`${['position', 'velocity', 'acceleration'][level]} residual`, (r) => number(values[r]));
    });
  }
  function togglePlot(column, on) {
    if (!on) {
      const plot = state.plots.get(column);
      if (plot) plot.remove();
      state.plots.delete(column);
    } else if (!state.plots.has(column)) {
      state.plots.set(column, new Plot($('plots'), data, column, seek, () => {
        togglePlot(column, false);
        listColumns();
      }, second));
    }
    panels();
  }
  function listColumns() {
    const words = $('filter').value.toLowerCase().split(/\s+/).filter(Boolean), list = $('columns');
    list.replaceChildren();
    let shown = 0;
    for (let i = 0; i < data.columns.length && shown < 200; i++) {
      const name = data.columns[i].name;
      if (!words.every((w) => name.toLowerCase().includes(w))) continue;
      shown++;
      const label = document.createElement('label'), box = document.createElement('input');
      box.type = 'checkbox';
      box.checked = state.plots.has(i);
      box.addEventListener('change', () => togglePlot(i, box.checked));
      label.append(box, name);
      list.append(label);
    }
    if (shown === 200) list.append('\u2026 filter for more');
    if (data.left_out) list.append(`${data.left_out} columns are not in this page: it would be too large`);
  }
  const howShown = new Map();  // selectors of the panel
  function display(body, how) {
    view.display(body, how);
    if (howShown.has(body)) howShown.get(body).value = how;
  }
  // The body below the mouse: hidden or faded; again: shown.
  function change(how) {
    const body = pointed && view.bodyAt(...pointed);
    if (body > 0) display(body, view.visibility[body] === how ? 'shown' : how);
  }
  function listBodies() {
    const all = document.createElement('button');
    all.textContent = 'show all';
    all.addEventListener('click', () => data.bodies.forEach((_, i) => display(i, 'shown')));
    $('bodies').append(all);
    data.bodies.forEach((b, i) => {
      if (i === 0) return;
      const option = document.createElement('option');
      option.value = i;
      option.textContent = b.name;
      $('follow').append(option);
      if (i > 2000) return;
      const line = document.createElement('div'), name = document.createElement('span'), label = document.createElement('label'), box = document.createElement('input');
      const how = document.createElement('select');
      how.setAttribute('aria-label', `how ${b.name} is shown`);
      for (const word of VISIBILITIES) how.append(new Option(word));
      how.addEventListener('change', () => { view.display(i, how.value); how.blur(); });
      howShown.set(i, how);
      name.textContent = b.name;
      box.type = 'checkbox';
      box.addEventListener('change', () => { view.trace(i, box.checked); $('show-traces').checked = view.traced.size > 0; });
      label.append(box, 'trace');
      label.className = 'moving';
      line.append(name, how, label);
      $('bodies').append(line);
    });
  }

  // ---- look
  function theme(dark) {
    document.documentElement.classList.toggle('dark', dark);
    const css = getComputedStyle(document.documentElement);
    style = Object.fromEntries(['soft', 'line', 'accent'].map((name) => [name, css.getPropertyValue(`--${name}`).trim()]));
    view.background(css.getPropertyValue('--back').trim());
    panels();
  }
  let coarse = false;
  function resize() {
    const box = $('stage').getBoundingClientRect();
    view.resize(box.width, box.height, coarse ? 1 : Math.min(devicePixelRatio, 2));
    panels();
  }
  function follow(body) {
    $('follow').value = body;
    view.follow(body);
  }
  // Traces of at most eight bodies at the ends of the tree.
  function traces(on) {
    const inner = new Set(data.joints.filter((j) => !j.closes_loop).map((j) => j.body1));
    let ends = data.bodies.map((_, i) => i).filter((i) => i > 0 && !inner.has(i));
    if (!ends.length || ends.length > 8) ends = ends.slice(-8);
    for (const b of on ? ends : [...view.traced.keys()]) view.trace(b, on);
  }
  function turn(from) {
    $('from').value = from;
    view.turn(from);
  }
  function flatten(on) {
    view.orthographic = on;
    view.dirty = true;
  }
  const newtons = (size) => size >= 1000 ? `${short(+(size / 1000).toPrecision(3))} kN` : `${short(+size.toPrecision(3))} N`;
  // The scales of the drawing.
  function readout() {
    $('readout').textContent = `grid ${short(view.cell)} m` +
      ((view.reactions.visible || (view.loads.visible && view.elements.length)) && view.largestForce ? `\nlongest arrow ${newtons(view.largestForce)}` :
        view.reactions.visible && view.largestForce === 0 ? '\nno forces in joints' : '');
  }
  // Directions of the world's axes.
  let drawn = '';
  function triad() {
    const e = view.camera.matrixWorldInverse.elements, now = e.slice(0, 12).join();
    if (now === drawn) return;
    drawn = now;
    ['x', 'y', 'z'].forEach((name, k) => {
      const [line, text] = axes[k], x = 24 * e[4 * k], y = -24 * e[4 * k + 1];
      line.setAttribute('x2', x);
      line.setAttribute('y2', y);
      text.setAttribute('x', 1.3 * x);
      text.setAttribute('y', 1.3 * y);
    });
  }
  // Sizes of forces at the tips of their arrows.
  const written = [];
  function writeNumbers() {
    const box = $('stage').getBoundingClientRect(), p = new Vector3(), taken = [];
    while (written.length < view.labels.length) written.push($('numbers').appendChild(document.createElement('span')));
    written.forEach((label, i) => {
      label.hidden = i >= view.labels.length;
      if (label.hidden) return;
      const {at, size} = view.labels[i];
      p.copy(at).project(view.eye);
      label.textContent = newtons(size);
      const x = (p.x + 1) / 2 * box.width + 4, y = (1 - p.y) / 2 * box.height - 8, wide = WIDE * label.textContent.length;
      label.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
      // of numbers that would be one upon the other the largest is shown
      label.hidden = Math.abs(p.z) > 1 || taken.some((t) => Math.abs(t.y - y) < HIGH && x < t.x + t.wide && t.x < x + wide);
      if (!label.hidden) taken.push({x, y, wide});
    });
  }
  const axes = ['x', 'y', 'z'].map((name) => [...document.querySelectorAll(`#triad .${name}`)]);
  const toggles = {
    traces, axes: (on) => { view.marks.visible = on; }, grid: (on) => { view.grid.visible = on; },
    reactions: (on) => { view.reactions.visible = on; }, numbers: (on) => { view.numbers = on; }, forces: (on) => { view.loads.visible = on; },
  };
  for (const [name, set] of Object.entries(toggles))
    $(`show-${name}`).addEventListener('change', (e) => { set(e.target.checked); view.seek(state.t); readout(); });
  $('show-axes').checked = view.marks.visible;
  $('show-reactions').disabled = true;  // until their columns are loaded
  if (!data.springs.length && !data.tendons.length && !data.wrenches.length && !data.bushings.length && !data.joints.some((j) => j.drives.length)) $('show-forces').parentElement.hidden = true;

  // ---- input
  function step(rows, fraction) {
    play(false);
    if (fraction) seek(state.t + fraction * (last - first));
    else seek(data.time[Math.min(data.rows - 1, Math.max(0, view.row + rows))]);
  }
  function faster(by) {
    const above = SPEEDS.findIndex((s) => s >= state.speed), at = above < 0 ? SPEEDS.length : above;
    const i = SPEEDS[at] === state.speed || by < 0 ? at + by : at;  // from a speed between them to the next
    state.speed = SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, i))];
    $('speed').value = state.speed;
  }
  // Plays from the start, at the speed selected, and records it.
  let video = null;
  function record() {
    if (video) return play(false);
    play(false);
    seek(first);
    video = new Recording($('stage'), stem(data.title));
    draw(true);
    $('video').textContent = 'stop';
    play(true);
  }
  function stopVideo() {
    if (!video) return;
    draw(true);
    state.video = video.stop();
    video = null;
    $('video').textContent = 'video';
  }
  function flip(name) { $(`show-${name}`).click(); }
  const keys = {
    ' ': () => play(!state.playing), 'Home': () => seek(first), 'End': () => seek(last), '+': () => faster(1), '=': () => faster(1),
    '-': () => faster(-1), 'f': () => follow(view.following + 1 < data.bodies.length ? Math.max(1, view.following + 1) : -1),
    't': () => flip('traces'), 'a': () => flip('axes'), 'r': () => flip('reactions'), 's': () => flip('forces'), 'n': () => flip('numbers'), 'g': () => flip('grid'),
    'o': () => flip('flat'), 'h': () => change('hidden'), 'x': () => change('faint'), 'p': () => picture(),
    '1': () => turn('front'), '2': () => turn('side'), '3': () => turn('top'), '4': () => turn('isometric'), '5': () => turn('default'),
    '0': () => view.fit(), 'd': () => theme(!document.documentElement.classList.contains('dark')), '?': () => $('keys').showModal(),
  };
  document.addEventListener('keydown', (e) => {
    // a closed dialog has the focus until the next picture
    const at = e.target.closest('dialog:not([open])') ? document.body : e.target;
    if ($('keys').open || at.matches('input[type=search], select') || e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.key === ' ' && at.matches('button, summary, input[type=checkbox]')) return;  // space presses them
    if (e.key === 'ArrowLeft' || e.key === 'ArrowRight') {
      const sign = e.key === 'ArrowLeft' ? -1 : 1;
      step(sign, e.shiftKey ? 0.1 * sign : 0);
    } else if (keys[e.key]) keys[e.key]();
    else return;
    e.preventDefault();
  });
  $('play').addEventListener('click', () => play(!state.playing));
  $('scrub').addEventListener('input', (e) => { play(false); seek(first + e.target.value * (last - first)); });
  const picture = () => {
    draw(true);
    state.picture = savePicture($('stage'), last > first ? clock() : '', stem(data.title));
  };
  $('picture').addEventListener('click', picture);
  $('video').addEventListener('click', record);
  if (!Recording.kind) $('video').hidden = true;
  $('from').addEventListener('change', (e) => turn(e.target.value));
  $('show-flat').addEventListener('change', (e) => flatten(e.target.checked));
  $('speed').addEventListener('change', (e) => { state.speed = +e.target.value; });
  $('follow').addEventListener('change', (e) => follow(+e.target.value));
  $('fit').addEventListener('click', () => view.fit());
  canvas.addEventListener('dblclick', (e) => {
    const box = canvas.getBoundingClientRect();
    follow(view.bodyAt((e.clientX - box.left) / box.width * 2 - 1, 1 - (e.clientY - box.top) / box.height * 2) || -1);
  });
  // shows the name of the body below the mouse
  let rest = 0, pointed = null;  // place of the mouse on the canvas, -1 ... 1
  canvas.addEventListener('pointermove', (e) => {
    clearTimeout(rest);
    $('hover').hidden = true;
    const box = canvas.getBoundingClientRect(), x = e.clientX - box.left, y = e.clientY - box.top;
    pointed = [x / box.width * 2 - 1, 1 - y / box.height * 2];
    if (e.buttons) return;
    rest = setTimeout(() => {
      const body = view.bodyAt(x / box.width * 2 - 1, 1 - y / box.height * 2);
      if (body < 0) return;
      $('hover').textContent = data.bodies[body].name;
      $('hover').hidden = false;
      $('hover').style.left = `${Math.min(x + 12, box.width - $('hover').offsetWidth - 4)}px`;
      $('hover').style.top = `${Math.max(y - 28, 4)}px`;
    }, 150);
  });
  canvas.addEventListener('pointerleave', () => { clearTimeout(rest); $('hover').hidden = true; pointed = null; });
  // after a click keys are for the page again
  document.addEventListener('click', (e) => { if (e.detail > 0 && e.target.closest('footer, .plot')) document.activeElement.blur(); });
  for (const id of ['speed', 'follow', 'from']) $(id).addEventListener('change', () => $(id).blur());
  $('theme').addEventListener('click', keys.d);
  $('help').addEventListener('click', keys['?']);
  $('close-keys').addEventListener('click', () => $('keys').close());
  $('filter').addEventListener('input', listColumns);
  for (const s of SPEEDS) {
    const option = document.createElement('option');
    option.value = s;
    option.textContent = `${s}\u00d7`;
    option.selected = s === 1;
    $('speed').append(option);
  }
  if (last > first) $('speed').append(new Option(`all in ${WHOLE} s`, (last - first) / WHOLE));

  // ---- motions that are repeated, one at a time: modes
  function choose(k) {
    const clip = data.clips[k];
    [first, last, view.from] = [data.time[clip.first], data.time[clip.last], clip.first];
    $('clip').value = k;
    seek(first);
  }
  function listClips() {
    data.clips.forEach((clip, k) => $('clip').append(new Option(clip.name, k)));
    $('clip').size = Math.min(12, Math.max(2, data.clips.length));
    $('clip').addEventListener('change', () => choose(+$('clip').value));
    $('choose-clip').hidden = !data.clips.length;
  }

  // ---- joints of a model without a result
  let sliders = null;
  function makeSliders() {
    if (!data.kinematics?.joints.some((j) => coordinatesOf(j).length)) return;
    $('choose-joints').hidden = false;
    sliders = new Sliders($('joints'), data, view.size, () => view.seek(state.t));
    if (!sliders.kinematics.slow) return;
    $('joints').replaceChildren('Too many loops to move the joints here.');
    sliders = null;
  }

  // ---- begin
  document.title = `${data.title} \u2013 Linkwork`;
  $('title').textContent = data.title;
  $('about').textContent = data.about;
  $('about-second').hidden = !second;
  $('about-second').textContent = second ? `compared with ${second.title} (transparent, dashed)\n${second.about}` : '';
  makeChecks();
  listColumns();
  listBodies();
  makeSliders();
  listClips();
  theme(matchMedia('(prefers-color-scheme: dark)').matches);
  new ResizeObserver(resize).observe($('stage'));
  resize();
  if (view.leaves && data.bodies.length > 1) follow(1);
  view.fit();
  if (data.clips.length) choose(0);
  seek(first);
  document.body.classList.toggle('still', !(last > first));
  readout();

  // A dense screen has four times the pixels: if pictures take long, the resolution is lower while something moves.
  let late = 0, still = 0;
  function adapt(since) {  // since: time from the last picture [ms]
    still = view.dirty ? 0 : still + since;
    late = since > LONG ? late + 1 : 0;
    if (coarse ? still < REST : late < 4 || devicePixelRatio <= 1) return;
    coarse = !coarse;
    resize();
  }

  // Draws the stage, if something has changed.
  function draw(always = false) {
    view.dirty ||= always;
    if (!view.draw()) return;
    triad();
    writeNumbers();
    video?.add(clock());
    state.drawn++;
  }

  let before = null;
  function frame(now) {
    if (state.playing && before !== null) {
      const since = now - before, again = data.clips.length && !video;
      let t = state.t + Math.min(since, 200) / 1000 * state.speed;
      if (again && t >= last) t = first + (t - first) % (last - first);
      move(t);
      // numbers and cursors change with every picture, or ten times a second if pictures take long
      if (since < SLOW || performance.now() - shown > 100) show();
      if (t >= last) play(false);
    }
    adapt(now - (before ?? now));
    before = now;
    draw();
    requestAnimationFrame(frame);
  }
  requestAnimationFrame(frame);

  window.linkwork = {
    data, second, view, seek, play, state, sliders, choose,
    /** Mass centre of a body in the scene. */
    bodyPosition: (name) => {
      const i = data.bodies.findIndex((b) => b.name === name);
      return i < 0 ? null : new Vector3().setFromMatrixPosition(view.world[i]).toArray();
    },
    ready: false,
  };

  // When the columns after the script are loaded.
  function finish() {
    loadLate(document, data);
    view.makeArrows();
    $('show-reactions').disabled = !view.forces.length;
    $('show-numbers').disabled = !view.forces.length && !view.elements.length;
    if (view.elements.length) view.seek(state.t);
    readout();
    $('choose-plots').hidden = !data.columns.length;
    for (const name of data.plots) if (data.column.has(name)) togglePlot(data.column.get(name), true);
    listColumns();
    if (data.clips.length) play(true);
    window.linkwork.ready = true;
  }
  function finishOrSay() {
    try {
      finish();
    } catch (error) {
      fail(error.message);
      throw error;
    }
  }
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', finishOrSay);
  else finishOrSay();
}

start().catch((error) => {
  if ($('message').hidden) fail(error.message);
  throw error;
});
