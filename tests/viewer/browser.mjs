// browser.mjs -- does on pages of `linkwork view` what a user does, in headless Chromium, and prints
// what it saw as JSON; test_viewer.py judges it.
//
//   node browser.mjs CHROMIUM FOLDER     FOLDER: motion, still, loads, large.html, asked.json
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {chromium} from 'playwright-core';

const [,, executablePath, folder] = process.argv;
const PATIENCE = 60000;  // ms; a bound against hanging, not a promise
const browser = await chromium.launch({executablePath, args: ['--no-sandbox', '--use-gl=angle',
  '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--disable-background-networking']});

async function open(name) {
  const page = await browser.newPage({viewport: {width: 1280, height: 800}, colorScheme: 'light'});
  const errors = [], requests = [];
  page.on('console', (m) => { if (m.type() === 'error') errors.push(m.text()); });
  page.on('pageerror', (e) => errors.push(String(e)));
  page.on('request', (r) => { if (!/^(file|data):/.test(r.url())) requests.push(r.url()); });
  const start = Date.now();
  await page.goto(pathToFileURL(join(folder, name)).href, {waitUntil: 'commit'});
  await page.waitForFunction(() => window.linkwork?.state.drawn > 0, null, {timeout: PATIENCE});
  const first = Date.now() - start;  // the first picture; the last columns may still come
  await page.waitForFunction(() => window.linkwork.ready, null, {timeout: PATIENCE});
  return {page, errors, requests, first, ready: Date.now() - start};
}

// Pixels of the scene and of each plot that are not those of an empty one.
const painted = (page) => page.evaluate(() => {
  const {view} = window.linkwork;
  const count = (canvas, tall) => {
    const copy = document.createElement('canvas');
    copy.width = canvas.width; copy.height = tall;
    const g = copy.getContext('2d');
    g.drawImage(canvas, 0, 0);
    const d = g.getImageData(0, 0, copy.width, copy.height).data;
    let n = 0;
    for (let i = 4; i < d.length; i += 4) if (d[i] !== d[0] || d[i + 1] !== d[1] || d[i + 2] !== d[2] || d[i + 3] !== d[3]) n++;
    return n;
  };
  view.dirty = true;
  view.draw();  // a drawing can be read until the task ends
  return {scene: count(view.renderer.domElement, view.renderer.domElement.height),
    plots: [...document.querySelectorAll('.plot canvas')].map((c) => count(c, c.height))};
});

const seen = (page) => page.evaluate(() => {
  const {state, view} = window.linkwork;
  return {t: state.t, row: view.row, playing: state.playing, speed: state.speed, traced: view.traced.size, axes: view.marks.visible,
    reactions: view.reactions.visible, grid: view.grid.visible, following: view.following, dark: document.documentElement.classList.contains('dark'),
    plots: state.plots.size, keys: document.getElementById('keys').open, clock: document.getElementById('clock').textContent};
});

async function motion() {
  const {page, errors, requests, ready} = await open('motion.html');
  const facts = {ready, start: await seen(page), painted: await painted(page), after: {}};
  for (const key of ['End', 'Home', 'ArrowRight', 'ArrowLeft', 'Shift+ArrowRight', 'd', 't', 'a', 'r', 'g', 'f', '+']) {
    await page.keyboard.press(key);
    facts.after[key] = await seen(page);
  }
  facts.arrows = await painted(page);
  await page.keyboard.press('?');
  facts.after['?'] = await seen(page);
  await page.click('#close-keys');

  // the animation goes on by itself, and stops; slowly, so that it lasts however few pictures a second there are
  for (const key of ['-', '-', '-', '-', 'Home', ' ']) await page.keyboard.press(key);
  const drawn = await page.evaluate(() => window.linkwork.state.drawn);
  await page.waitForFunction((d) => window.linkwork.state.drawn > d + 2 && window.linkwork.state.t > window.linkwork.data.time[0], drawn, {timeout: PATIENCE});
  facts.playing = await seen(page);
  await page.keyboard.press(' ');
  facts.paused = await seen(page);
  await page.waitForTimeout(200);
  facts.later = await seen(page);

  // columns
  await page.click('#choose-plots summary');
  await page.fill('#filter', 'joint q0');
  facts.filtered = await page.$$eval('#columns label', (l) => l.map((e) => e.textContent));
  await page.$$eval('#columns input', (boxes) => boxes.find((b) => !b.checked).click());
  facts.added = {...await seen(page), painted: (await painted(page)).plots};
  await page.click('.plot button');
  facts.removed = await seen(page);

  // columns come back bit for bit
  facts.columns = await page.evaluate((names) => Object.fromEntries(names.map((name) => {
    const {data} = window.linkwork;
    return [name, [...data.columns[data.column.get(name)].read()]];
  })), ['sys.E', 'joint.A.q0', 'body.rocker.vx']);

  // what an axis of the corner points to, on the screen and in the scene
  facts.triad = await page.evaluate(() => {
    const {camera, controls} = window.linkwork.view, middle = controls.target, origin = middle.clone().project(camera);
    const near = 1e-3 * camera.position.distanceTo(middle);
    return ['x', 'y', 'z'].map((name, k) => {
      const line = document.querySelector(`#triad line.${name}`), tip = middle.clone();
      tip.setComponent(k, tip.getComponent(k) + near).project(camera);
      return [[+line.getAttribute('x2'), -line.getAttribute('y2')], [(tip.x - origin.x) * camera.aspect, tip.y - origin.y]];
    });
  });
  facts.readout = await page.textContent('#readout');

  // the name of a body under the resting mouse
  const over = await page.evaluate(() => {
    const {view} = window.linkwork, box = view.renderer.domElement.getBoundingClientRect();
    const i = window.linkwork.data.bodies.findIndex((b) => b.name === 'crank');  // it is followed, in the middle
    view.camera.updateMatrixWorld();
    const p = view.camera.position.clone().setFromMatrixPosition(view.world[i]).project(view.camera);
    return [box.left + (p.x + 1) / 2 * box.width, box.top + (1 - p.y) / 2 * box.height];
  });
  await page.mouse.move(over[0] + 1, over[1]);
  await page.mouse.move(...over);
  await page.waitForSelector('#hover:not([hidden])', {timeout: PATIENCE});
  facts.hover = await page.textContent('#hover');

  // a small window has the panel below
  await page.setViewportSize({width: 480, height: 800});
  facts.small = await page.evaluate(() => {
    const box = (id) => document.getElementById(id).getBoundingClientRect();
    return {stage: box('stage').bottom, side: box('side').top, height: box('side').height, width: box('side').width,
      foot: document.querySelector('footer').getBoundingClientRect().bottom};
  });
  await page.setViewportSize({width: 1280, height: 800});

  // everything that can be pressed has a name
  facts.nameless = await page.$$eval('button, input, select, canvas, dialog', (all) => all.filter((e) =>
    !(e.getAttribute('aria-label') || e.getAttribute('aria-labelledby') || e.labels?.[0]?.textContent.trim() || e.title ||
      (e.tagName === 'BUTTON' && /\w/.test(e.textContent)))).map((e) => e.outerHTML.slice(0, 80)));

  // where bodies stand, also of the body that is followed
  const asked = JSON.parse(readFileSync(join(folder, 'asked.json'), 'utf8'));
  facts.stand = await page.evaluate((list) => list.map(([t, body]) => {
    window.linkwork.seek(t);
    return window.linkwork.bodyPosition(body);
  }), asked);
  facts.centred = await page.evaluate(() => {
    const {view, data} = window.linkwork, b = data.bodies[view.following].name, p = window.linkwork.bodyPosition(b);
    return Math.hypot(...view.controls.target.toArray().map((x, k) => x - p[k]));
  });
  facts.scrubbed = await page.$eval('#scrub', (e) => { e.value = 0.5; e.dispatchEvent(new Event('input')); return window.linkwork.state.t; });
  await page.close();
  return {...facts, errors, requests};
}

async function still() {
  const {page, errors, requests, ready} = await open('still.html');
  const facts = {ready, painted: await painted(page), play: await page.isVisible('#play')};
  await page.keyboard.press(' ');
  facts.after = await seen(page);
  await page.close();
  return {...facts, errors, requests};
}

// Springs, dampers, forces: the two ends of everything that lies between points, at the start and the end.
async function loads() {
  const {page, errors, requests} = await open('loads.html');
  const ends = (fraction) => page.evaluate((part) => {
    const {view, data, seek} = window.linkwork;
    seek(data.time[0] + part * (data.time[data.rows - 1] - data.time[0]));
    return view.spans.filter((s) => s.mesh.parent === view.loads).map((s) => s.list.map((_, i) => {
      const m = s.mesh.instanceMatrix.array.slice(16 * i, 16 * i + 16);
      return [-0.5, 0.5].map((y) => [0, 1, 2].map((k) => m[12 + k] + y * m[4 + k]));
    }));
  }, fraction);
  const arrows = () => page.evaluate(() => {
    const m = window.linkwork.view.loadShafts.instanceMatrix.array;
    return window.linkwork.view.wrenches.map((_, i) => [-0.5, 0.5].map((y) => [0, 1, 2].map((k) => m[16 * i + 12 + k] + y * m[16 * i + 4 + k])));
  });
  const facts = {start: await ends(0), end: await ends(1), arrows: await arrows(), painted: (await painted(page)).scene};
  const shown = () => page.evaluate(() => window.linkwork.view.loads.visible);
  facts.shown = [await shown()];
  await page.keyboard.press('s');
  facts.shown.push(await shown());
  facts.without = (await painted(page)).scene;
  await page.close();
  return {...facts, errors, requests};
}

async function large() {
  const {page, errors, requests, first, ready} = await open('large.html');
  for (const key of ['-', '-', '-', ' ']) await page.keyboard.press(key);  // a tenth of the speed: it lasts
  const from = await page.evaluate(() => window.linkwork.state.drawn), start = Date.now();
  await page.waitForTimeout(5000);
  const frames = await page.evaluate(() => window.linkwork.state.drawn) - from;
  const facts = {first, ready, frames, per_second: frames / (Date.now() - start) * 1000, after: await seen(page)};
  await page.close();
  return {...facts, errors, requests};
}

console.log(JSON.stringify({motion: await motion(), still: await still(), loads: await loads(), large: await large()}));
await browser.close();
