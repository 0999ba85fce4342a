// browser.mjs -- operates pages of `linkwork view` in headless Chromium, and prints observations as JSON for
// test_viewer.py.
//
//   node browser.mjs CHROMIUM FOLDER [NAME...]     only these pages; FOLDER: motion, still, small, thrown, rests, fall, loads, shapes, long,
//                                      large.html, asked.json
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {chromium} from 'playwright-core';

const [,, executablePath, folder, ...only] = process.argv;
const PATIENCE = 60000;  // ms; a bound against hanging, not a promise
const browser = await chromium.launch({executablePath, args: ['--no-sandbox', '--use-gl=angle',
  '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--disable-background-networking']});

async function open(name, options = {}, before = null) {
  const page = await browser.newPage({viewport: {width: 1280, height: 800}, colorScheme: 'light', ...options});
  if (before) await page.addInitScript(before);
  const errors = [], requests = [];
  page.on('console', (m) => { if (m.type() === 'error') errors.push(m.text()); });
  page.on('pageerror', (e) => errors.push(String(e)));
  page.on('request', (r) => { if (!/^(file|data|blob):/.test(r.url())) requests.push(r.url()); });
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
  view.draw();  // the canvas can be read until the task ends
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
  facts.longest = (await arrowsOf(page)).longest;
  await page.keyboard.press('?');
  facts.after['?'] = await seen(page);
  // a key between closing the list of keys and the next picture is for the page
  facts.closed = await page.evaluate(() => {
    const {state} = window.linkwork, button = document.getElementById('close-keys');
    const press = (key) => document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true}));
    button.focus();
    press('Home');
    const open = state.t;
    button.click();
    press('Home');
    return [open, state.t];
  });
  await page.keyboard.press('?');
  await page.click('#keys-title');  // removes the focus from the button
  await page.keyboard.press('End');
  facts.behind = (await seen(page)).t;
  await page.click('#close-keys');

  // the animation runs and stops; slowly, so that it lasts at any frame rate
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

  // columns are unpacked bit for bit
  facts.columns = await page.evaluate((names) => Object.fromEntries(names.map((name) => {
    const {data} = window.linkwork;
    return [name, [...data.columns[data.column.get(name)].read()]];
  })), ['sys.E', 'joint.A.q0', 'body.rocker.vx']);

  // directions of the axes in the corner, on the screen and in the scene
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

  // energy, drift and residuals of the last row
  await page.keyboard.press('End');
  facts.checks = await page.$$eval('#checks tr', (rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));

  // the name of the body below the mouse
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
  await page.waitForFunction(() => innerWidth === 480, null, {timeout: PATIENCE});
  facts.small = await page.evaluate(() => {
    const box = (id) => document.getElementById(id).getBoundingClientRect();
    return {stage: box('stage').bottom, side: box('side').top, height: box('side').height, width: box('side').width,
      foot: document.querySelector('footer').getBoundingClientRect().bottom};
  });
  await page.setViewportSize({width: 1280, height: 800});

  // every control has a name
  facts.nameless = await page.$$eval('button, input, select, canvas, dialog', (all) => all.filter((e) =>
    !(e.getAttribute('aria-label') || e.getAttribute('aria-labelledby') || e.labels?.[0]?.textContent.trim() || e.title ||
      (e.tagName === 'BUTTON' && /\w/.test(e.textContent)))).map((e) => e.outerHTML.slice(0, 80)));

  // positions of bodies, also of the one that is followed
  const asked = JSON.parse(readFileSync(join(folder, 'asked.json'), 'utf8'));
  facts.positions = await page.evaluate((list) => list.map(([t, body]) => {
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
  // a lost context (sleep, restart of a driver) is restored with its picture
  facts.restored = await page.evaluate(() => new Promise((done) => {
    const {view, state} = window.linkwork, canvas = view.renderer.domElement, gl = view.renderer.getContext().getExtension('WEBGL_lose_context');
    canvas.addEventListener('webglcontextlost', () => setTimeout(() => gl.restoreContext()));
    canvas.addEventListener('webglcontextrestored', () => {
      const drawn = state.drawn;
      let frames = 0;  // of the page, which draws in each if needed
      requestAnimationFrame(function wait() { if (++frames < 3) requestAnimationFrame(wait); else done(state.drawn > drawn); });
    });
    gl.loseContext();
  }));
  await page.close();
  return {...facts, errors, requests};
}

// A mechanism of micrometres.
async function small() {
  const {page, errors, requests} = await open('small.html');
  const facts = {readout: await page.textContent('#readout')};
  await page.close();
  return {...facts, errors, requests};
}

// Position of the only body on the screen at the start and the end, whether it is found there, size of its ball.
async function alone(name) {
  const {page, errors, requests} = await open(name);
  const facts = await page.evaluate(() => {
    const {view, data, seek} = window.linkwork, {camera} = view, ends = [data.time[0], data.time[data.rows - 1]].map((t) => {
      seek(t);
      view.draw();
      camera.updateMatrixWorld();
      const {x, y} = camera.position.clone().setFromMatrixPosition(view.world[1]).project(camera);
      return [x, y, view.bodyAt(x, y)];
    });
    const radius = Math.min(3 * view.mark, 0.2 * view.link), far = camera.position.distanceTo(view.controls.target);
    return {ends, met: ends.map((e) => e[2]), readout: document.getElementById('readout').textContent,
      radius: radius / far / Math.tan(camera.fov * Math.PI / 360) * view.renderer.domElement.clientHeight / 2};
  });
  await page.close();
  return {...facts, errors, requests};
}

// Reactions: the largest of the page, the longest arrow of all rows by the size of the scene.
const arrowsOf = (page) => page.evaluate(() => {
  const {view, data, seek} = window.linkwork, n = view.forceArrows.count;
  let longest = 0, largest = 0;
  for (let r = 0; r < data.rows; r++) {
    seek(data.time[r]);
    const m = view.forceArrows.transforms.data;
    for (let i = 0; i < n; i++) longest = Math.max(longest, Math.hypot(m[16 * i + 4], m[16 * i + 5], m[16 * i + 6]));
    for (const [, columns] of view.forces) largest = Math.max(largest, Math.hypot(...columns.map((k) => data.columns[k].read()[r])));
  }
  return {longest: longest / view.size, largest};
});

async function fall() {
  const {page, errors, requests} = await open('fall.html');
  await page.keyboard.press('r');
  const {longest, largest} = await arrowsOf(page);
  const facts = {arrows: longest, largest, readout: await page.textContent('#readout')};
  await page.close();
  return {...facts, errors, requests};
}

// Very many rows: the lines of which a plot consists, their extent, its box, and the rows of a trace.
async function long() {
  const {page, errors, requests} = await open('long.html', {}, () => {
    window.lines = new Map();  // y of each, by the path of a plot
    const of = Path2D.prototype, {lineTo} = of;
    of.lineTo = function (x, y) { (window.lines.get(this) ?? window.lines.set(this, []).get(this)).push(y); return lineTo.call(this, x, y); };
  });
  const facts = await page.evaluate(() => ({rows: window.linkwork.data.rows, width: document.querySelector('.plot canvas').clientWidth,
    plots: [...window.linkwork.state.plots.values()].map(({chart}) => {
      const ys = window.lines.get(chart.series[1]._paths.stroke);
      return {count: ys.length, low: Math.min(...ys), high: Math.max(...ys), top: chart.bbox.top, height: chart.bbox.height};
    })}));
  for (const key of ['t', 'End']) await page.keyboard.press(key);
  facts.traced = await page.evaluate(() => [...window.linkwork.view.traced.values()].map((line) => line.geometry.drawRange));
  await page.close();
  return {...facts, errors, requests};
}

// Springs, dampers, forces: their end points at the start and the end.
async function loads() {
  const {page, errors, requests} = await open('loads.html');
  const ends = (fraction) => page.evaluate((part) => {
    const {view, data, seek} = window.linkwork;
    seek(data.time[0] + part * (data.time[data.rows - 1] - data.time[0]));
    return view.spans.filter((s) => s.batch.mesh.parent === view.loads).map((s) => s.list.map((_, i) => {
      const m = s.transforms.data.slice(16 * i, 16 * i + 16);
      return [-0.5, 0.5].map((y) => [0, 1, 2].map((k) => m[12 + k] + y * m[4 + k]));
    }));
  }, fraction);
  const arrows = () => page.evaluate(() => {
    const m = window.linkwork.view.loadArrows.transforms.data;  // shafts first
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

// Bodies of every shape, seen along y: the colour in the middle of each, and the body found there and next to it.
async function shapes() {
  const {page, errors, requests} = await open('shapes.html');
  const look = (fraction) => page.evaluate((part) => {
    const {view, data, seek} = window.linkwork, canvas = view.renderer.domElement, point = view.camera.position.clone();
    seek(data.time[0] + part * (data.time[data.rows - 1] - data.time[0]));
    view.grid.visible = false;
    view.controls.target.set(4, 0, 1);
    view.camera.position.set(4, -14, 1);
    view.controls.update();
    view.dirty = true;
    view.draw();
    const copy = document.createElement('canvas');
    copy.width = canvas.width; copy.height = canvas.height;
    copy.getContext('2d').drawImage(canvas, 0, 0);
    return data.bodies.slice(1).map((b, i) => {
      const {x, y} = point.setFromMatrixPosition(view.world[i + 1]).project(view.camera);
      const color = [...copy.getContext('2d').getImageData((x + 1) / 2 * copy.width, (1 - y) / 2 * copy.height, 1, 1).data];
      point.setFromMatrixPosition(view.world[i + 1]).add({x: 0.26, y: -0.3, z: 0.26}).project(view.camera);
      return {name: b.name, color, middle: view.bodyAt(x, y), corner: view.bodyAt(point.x, point.y),
        sent: [...view.transforms.data.slice(16 * (i + 1) + 12, 16 * (i + 1) + 15)]};
    });
  }, fraction);
  const facts = {start: await look(0), end: await look(1), calls: await page.evaluate(() => window.linkwork.view.renderer.info.render.calls)};
  await page.close();
  return {...facts, errors, requests};
}

// A dense screen where pictures take long: resolution of the canvas before, during and after a motion.
async function dense() {
  const {page, errors, requests} = await open('motion.html', {deviceScaleFactor: 2});
  const fine = (ratio) => page.waitForFunction((r) => {
    const canvas = window.linkwork.view.renderer.domElement;
    return Math.abs(canvas.width / canvas.clientWidth - r) < 0.01;
  }, ratio, {timeout: PATIENCE}).then(() => ratio);
  const facts = {ratios: [await fine(2)]};
  await page.evaluate(() => {
    const {view} = window.linkwork, draw = view.draw.bind(view);
    view.draw = () => {
      const drawn = draw(), start = performance.now();
      while (drawn && performance.now() - start < 100);
      return drawn;
    };
  });
  for (const key of ['-', '-', '-', '-', ' ']) await page.keyboard.press(key);
  facts.ratios.push(await fine(1));
  await page.keyboard.press(' ');
  facts.ratios.push(await fine(2));
  await page.close();
  return {...facts, errors, requests};
}

async function large() {
  const {page, errors, requests, first, ready} = await open('large.html');
  for (const key of ['-', '-', '-', ' ']) await page.keyboard.press(key);  // a tenth of the speed: the run lasts
  const from = await page.evaluate(() => window.linkwork.state.drawn), start = Date.now();
  await page.waitForTimeout(5000);  // for the frame rate; a slow machine gets more time
  await page.waitForFunction((d) => window.linkwork.state.drawn > d + 1, from, {timeout: PATIENCE});
  const frames = await page.evaluate(() => window.linkwork.state.drawn) - from;
  const facts = {first, ready, frames, per_second: frames / (Date.now() - start) * 1000};
  await page.keyboard.press(' ');
  facts.after = await seen(page);
  facts.calls = await page.evaluate(() => window.linkwork.view.renderer.info.render.calls);
  // from decreasing distances: lines or shapes, and the bodies at the mass centres of some
  facts.shots = await page.evaluate((parts) => {
    const {view} = window.linkwork, {camera, controls} = view, point = camera.position.clone();
    view.follow(500);
    return parts.map((part) => {
      camera.position.sub(controls.target).setLength(part * view.fitDistance).add(controls.target);
      view.dirty = true;
      view.draw();
      return {far: view.far.mesh.visible, near: view.near?.mesh.visible ?? false,
        met: [498, 499, 500, 501, 502].map((body) => {
          const {x, y} = point.setFromMatrixPosition(view.world[body]).project(camera);
          return view.bodyAt(x, y);
        })};
    });
  }, [1, 0.1, 0.03, 0.003]);
  await page.close();
  return {...facts, errors, requests};
}

// What a saved picture, or the first one of a video, has over the scene: for the scales, the numbers at arrows, the axes and the
// time the pixels that differ from the scene alone, and of these the part that differs from the page itself, where the time
// is put to the place it has in the picture.  `outside`: pixels that differ from the scene elsewhere.
async function written(page, movie = false) {
  await page.evaluate(() => {
    const copy = document.getElementById('readout').cloneNode();
    copy.textContent = document.getElementById('clock').textContent;
    copy.className = 'copy';
    [copy.style.left, copy.style.right] = ['auto', '.75em'];
    document.getElementById('stage').append(copy);
  });
  const shot = (await page.locator('#stage').screenshot()).toString('base64');
  return page.evaluate(async ([text, film]) => {
    const {view, state} = window.linkwork, stage = document.getElementById('stage'), box = stage.getBoundingClientRect();
    const pixels = (what) => {
      const copy = Object.assign(document.createElement('canvas'), {width: box.width, height: box.height}), g = copy.getContext('2d');
      g.drawImage(what, 0, 0);
      return g.getImageData(0, 0, box.width, box.height).data;
    };
    view.dirty = true;
    view.draw();  // the canvas can be read until the task ends
    const scene = pixels(view.renderer.domElement), bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const shown = pixels(await createImageBitmap(new Blob([bytes], {type: 'image/png'})));
    const picture = pixels(film ? window.movie : await createImageBitmap(await state.picture));
    const apart = (a, b, i) => Math.max(...[0, 1, 2].map((k) => Math.abs(a[4 * i + k] - b[4 * i + k])));
    const names = {'#readout': 'scales', '#readout.copy': 'time', '#triad': 'axes'};
    const parts = [...stage.querySelectorAll('#readout, #triad, #numbers span:not([hidden])')].map((e) => {
      const name = Object.keys(names).findLast((n) => e.matches(n)), r = e.getBoundingClientRect();
      return {name: names[name] ?? 'number', text: e.textContent, box: [r.left - box.left, r.top - box.top, r.right - box.left, r.bottom - box.top],
        ink: 0, off: 0};
    });
    let outside = 0;
    for (let y = 0; y < Math.floor(box.height); y++)
      for (let x = 0; x < Math.floor(box.width); x++) {
        const i = y * Math.floor(box.width) + x, part = parts.find(({box: [l, t, r, b]}) => x > l - 4 && x < r + 4 && y > t - 4 && y < b + 4);
        const ink = apart(picture, scene, i);
        if (!part) outside += ink > 8;
        else if (ink > 64) {
          part.ink++;
          part.off += apart(picture, shown, i) > 96;
        }
      }
    stage.querySelector('.copy').remove();
    return {parts: parts.map(({name, text: t, ink, off}) => ({name, text: t, ink, off: off / Math.max(ink, 1)})), outside};
  }, [shot, movie]);
}

// Directions and projection of the view, speeds, bodies that are hidden and faded, a picture and a video.
async function views() {
  const {page, errors, requests} = await open('motion.html');
  const facts = {from: {}};
  for (const key of ['1', '2', '3', '4']) {
    await page.keyboard.press(key);
    facts.from[key] = await page.evaluate(() => {
      const {camera, controls} = window.linkwork.view;
      camera.updateMatrixWorld();
      const e = camera.matrixWorldInverse.elements, row = (k) => [e[k], e[4 + k], e[8 + k]];
      return {right: row(0), above: row(1), name: document.getElementById('from').value, distance: camera.position.distanceTo(controls.target)};
    });
  }
  // a square perpendicular to the view has the same size at any depth
  const depth = () => page.evaluate(() => {
    const {view} = window.linkwork, {camera, controls} = view, p = camera.position.clone();
    view.dirty = true;
    view.draw();
    const back = camera.position.clone().sub(controls.target).normalize(), right = p.clone().set(1, 0, 0).applyQuaternion(camera.quaternion);
    return [-1, 0, 1].map((k) => {
      const at = controls.target.clone().addScaledVector(back, 0.3 * k * view.size);
      return at.clone().addScaledVector(right, 0.1).project(view.eye).x - at.project(view.eye).x;
    });
  });
  facts.perspective = await depth();
  await page.keyboard.press('o');
  facts.flat = await depth();
  await page.keyboard.press('1');
  // over a body: hide it, show it, fade it
  const spot = () => page.evaluate(() => {
    const {view, data} = window.linkwork, box = view.renderer.domElement.getBoundingClientRect(), i = data.bodies.findIndex((b) => b.name === 'rocker');
    view.dirty = true;
    view.draw();
    const p = view.camera.position.clone().setFromMatrixPosition(view.world[i]).project(view.eye);
    return {at: [box.left + (p.x + 1) / 2 * box.width, box.top + (1 - p.y) / 2 * box.height], x: p.x, y: p.y, i};
  });
  const {at, x, y, i} = await spot();
  const state = () => page.evaluate(([u, v, body]) => {
    const {view} = window.linkwork;
    return {met: view.bodyAt(u, v), display: view.visibility[body], size: Math.abs(view.transforms.data[16 * body + 15]), faint: view.faint ? view.faint.data[16 * body + 15] : 0};
  }, [x, y, i]);
  await page.mouse.move(at[0] + 1, at[1]);
  await page.mouse.move(...at);
  facts.body = i;
  facts.displays = [await state()];
  facts.scene = [(await painted(page)).scene];
  for (const how of ['hidden', 'faint', 'shown']) {
    await page.evaluate(([body, word]) => {
      const select = document.querySelector(`#bodies div:nth-of-type(${body}) select`);
      select.value = word;
      select.dispatchEvent(new Event('change'));
    }, [i, how]);
    facts.displays.push(await state());
    facts.scene.push((await painted(page)).scene);
  }
  await page.keyboard.press('h');
  facts.hidden = await state();
  await page.keyboard.press('h');
  // speeds
  facts.speeds = await page.$$eval('#speed option', (all) => all.map((o) => +o.value));
  await page.selectOption('#speed', {index: facts.speeds.length - 1});
  facts.whole = (await seen(page)).speed;
  for (const key of ['+', '-', '-']) {
    await page.keyboard.press(key);
    facts.whole = [facts.whole, (await seen(page)).speed].flat();
  }
  // a picture and a video
  const files = [];
  page.on('download', (d) => files.push(d.suggestedFilename()));
  await page.click('#picture');
  facts.picture = await page.evaluate(async () => {
    const blob = await window.linkwork.state.picture, map = await createImageBitmap(blob), canvas = window.linkwork.view.renderer.domElement;
    return {type: blob.type, same: map.width === canvas.width && map.height === canvas.height, size: blob.size};
  });
  for (const keys of ['rp', 'np']) {
    await page.evaluate(() => window.linkwork.seek(0.62));
    for (const key of keys) await page.keyboard.press(key);
    (facts.written ??= []).push(await written(page));
  }
  await page.keyboard.press('n');
  facts.recorder = await page.isVisible('#video');
  await page.selectOption('#speed', '1');
  await page.click('#video');
  await page.waitForFunction(() => window.linkwork.state.video, null, {timeout: PATIENCE});
  facts.video = await page.evaluate(async () => {
    const blob = await window.linkwork.state.video, video = document.createElement('video');
    video.muted = true;
    const head = [...new Uint8Array(await blob.slice(0, 4).arrayBuffer())];
    video.src = URL.createObjectURL(blob);
    await new Promise((done, no) => { video.onloadeddata = done; video.onerror = () => no(new Error('the video cannot be played')); });
    // played to its end: pictures that differ from the one before, and the time of the last
    const canvas = document.createElement('canvas'), g = canvas.getContext('2d', {willReadFrequently: true});
    let pictures = 0, different = 0, last = null;
    canvas.width = 160, canvas.height = 100;
    const look = () => {
      g.drawImage(video, 0, 0, canvas.width, canvas.height);
      const now = g.getImageData(0, 0, canvas.width, canvas.height).data;
      pictures++;
      if (last && now.some((v, i) => Math.abs(v - last[i]) > 24)) different++;
      last = now;
      video.requestVideoFrameCallback(look);
    };
    video.requestVideoFrameCallback(look);
    const ended = new Promise((done) => { video.onended = done; });
    await video.play();
    await ended;
    const seconds = video.currentTime;
    video.currentTime = 0;
    await new Promise((back) => { video.onseeked = back; });
    window.movie = video;  // at its first picture
    return {type: blob.type, size: blob.size, head, width: video.videoWidth, height: video.videoHeight, pictures, different, seconds};
  });
  await page.keyboard.press('Home');
  facts.written.push(await written(page, true));
  await page.waitForTimeout(100);
  facts.files = files;
  await page.close();
  return {...facts, errors, requests};
}

// Joints of models moved by their sliders to coordinates of results: the poses there, and how far the loops are open.
async function joints() {
  const asked = JSON.parse(readFileSync(join(folder, 'joints.json'), 'utf8')), facts = {errors: [], requests: []};
  for (const [name, moves] of Object.entries(asked)) {
    const {page, errors, requests} = await open(`${name}.html`);
    facts[name] = await page.evaluate((list) => {
      const {sliders, data, bodyPosition} = window.linkwork, k = sliders.kinematics, of = (name) => sliders.list.find((s) => s.name === name);
      const gaps = [k.gap];
      for (const [slider, value] of list) {
        const s = of(slider);
        if (!s) throw new Error(`no slider "${slider}" among ${sliders.list.map((x) => x.name).join()}`);
        s.slider.min = Math.min(s.slider.min, value);  // the result may be beyond
        s.slider.max = Math.max(s.slider.max, value);
        s.slider.value = value;
        s.slider.dispatchEvent(new Event('input'));
        gaps.push(k.gap);
        if (list.length > 1) s.hold.click();
      }
      return {gaps, positions: Object.fromEntries(data.bodies.map((b, i) => [b.name, [...k.pose[i].r]])), rows: k.m,
        rotations: Object.fromEntries(data.bodies.map((b, i) => [b.name, [...k.pose[i].R]])), outputs: sliders.list.map((s) => `${s.name}: ${s.output.textContent}`),
        cut: [...document.querySelectorAll('#joints label > span')].filter((e) => e.children.length > 1 && e.lastChild.getBoundingClientRect().right > e.getBoundingClientRect().right + 1)
          .map((e) => e.title), zeros: document.getElementById('joints').textContent.match(/-0\.0\u00b0/g),
        shown: Object.fromEntries(data.bodies.map((b) => [b.name, bodyPosition(b.name)])),
        coordinates: Object.fromEntries(sliders.list.map((s) => [s.name, +s.slider.value]))};
    }, moves);
    if (name === 'still') {  // beyond the reach of the rocker, and back
      facts.reach = await page.evaluate(() => {
        const {sliders} = window.linkwork, k = sliders.kinematics, rocker = sliders.list[3];
        const reached = sliders.drag(rocker.joint, 0, k.joints[rocker.joint].q[0] + 3), gap = k.gap, at = k.joints[rocker.joint].q[0];
        document.querySelector('#joints button').click();
        return {reached, at, gap, reset: k.joints.map((j) => j.q[0]), name: k.joints[rocker.joint].name};
      });
    }
    await page.close();
    facts.errors.push(...errors);
    facts.requests.push(...requests);
  }
  const {page, errors} = await open('many.html');
  facts.many = {text: await page.textContent('#joints'), errors};
  await page.close();
  return facts;
}

// Two results in one page: positions of both at a time, their largest distance, and the second curve of a plot.
async function two() {
  const {page, errors, requests} = await open('two.html');
  const facts = await page.evaluate((t) => {
    const {view, second, state, seek} = window.linkwork, place = (world, d) => Object.fromEntries(d.bodies.map((b, i) => [b.name, [...world[i].elements.slice(12, 15)]]));
    seek(t);
    const [plot] = state.plots.values();
    return {first: place(view.world, window.linkwork.data), second: place(view.second.world, second), apart: view.apart,
      shown: [...document.querySelectorAll('#checks tr')].map((row) => [...row.cells].map((cell) => cell.textContent)),
      about: document.getElementById('about-second').textContent, end: document.getElementById('clock').textContent,
      curves: plot.chart.data.map((values) => values.filter((v) => v !== null && v !== undefined).length), met: view.batches.length};
  }, 0.52);
  facts.both = (await painted(page)).scene;
  facts.one = await page.evaluate(() => { for (const b of window.linkwork.view.second.batches) b.mesh.visible = false; }) ?? (await painted(page)).scene;
  await page.keyboard.press('End');
  facts.last = await seen(page);
  await page.close();
  return {...facts, errors, requests};
}

// Drives, bushings and the forces of springs and bushings: arrows, numbers, what the signs are fixed to.
async function elements() {
  const {page, errors, requests} = await open('elements.html');
  const read = () => page.evaluate(() => {
    const {view, data} = window.linkwork, m = view.elementArrows.transforms.data, n = view.elementArrows.count;
    const signs = view.batches.filter((b) => b.mesh.parent === view.loads && b.transforms === view.transforms).flatMap((b) => b.members.map((x) => data.bodies[x.slot].name));
    // shafts first: their ends and heads
    const arrow = (i) => ({root: [0, 1, 2].map((k) => m[16 * i + 12 + k] - 0.5 * m[16 * i + 4 + k]), shaft: [0, 1, 2].map((k) => m[16 * i + 4 + k])});
    const ends = (d, i) => [-0.5, 0.5].map((y) => [0, 1, 2].map((k) => d[16 * i + 12 + k] + y * d[16 * i + 4 + k]));
    const ropes = view.spans.filter((s) => s.tendons).map((s) => s.batch.members.map((_, i) => ends(s.transforms.data, i)));
    return {ropes, arrows: view.elements.map((e, i) => ({name: e.name, ...arrow(i)})), count: n, signs, drives: data.joints.map((j) => j.drives), bushings: data.bushings,
      labels: [...document.querySelectorAll('#numbers span:not([hidden])')].map((e) => e.textContent), readout: document.getElementById('readout').textContent};
  });
  await page.evaluate(() => window.linkwork.seek(0.5));
  const twice = () => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  await twice();
  const facts = {at: await read(), painted: [(await painted(page)).scene]};
  await page.keyboard.press('r');
  await twice();
  facts.reactions = (await read()).labels;
  // labels of arrows that end at one place
  facts.together = await page.evaluate(() => {
    const {view} = window.linkwork, seek = view.seek.bind(view), boxes = () => [...document.querySelectorAll('#numbers span:not([hidden])')].map((e) => e.getBoundingClientRect());
    view.seek = (t) => { seek(t); view.labels.forEach((l) => l.at.copy(view.labels[0].at)); view.labels.sort((a, b) => b.size - a.size); };
    view.seek(0.5);
    view.dirty = true;
    return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => { view.seek = seek; const n = boxes().length; view.seek(0.5); view.dirty = true; done(n); })));
  });
  await twice();
  await page.keyboard.press('n');
  await twice();
  facts.without = (await read()).labels;
  await page.keyboard.press('r');
  await page.keyboard.press('s');
  facts.painted.push((await painted(page)).scene);
  await page.close();
  return {...facts, errors, requests};
}

// The modes of a mechanism: the page shows the one that is chosen, again and again.
async function modes() {
  const {page, errors, requests} = await open('modes.html');
  const facts = await page.evaluate(() => {
    const {data, choose, seek, state, bodyPosition, play} = window.linkwork, list = document.getElementById('clip');
    const playing = state.playing, place = (t) => { seek(t); return bodyPosition('body'); };
    play(false);
    const of = data.clips.map((clip, k) => {
      choose(k);
      const [a, b] = [data.time[clip.first], data.time[clip.last]];
      return {places: [0, 0.25, 0.5, 1].map((part) => place(a + part * (b - a))), before: (place(a - 10), state.t - a), after: (place(b + 10), state.t - b)};
    });
    choose(1);
    return {playing, of, names: [...list.options].map((o) => o.text), value: list.value, clock: document.getElementById('clock').textContent,
      sliders: document.getElementById('choose-joints').hidden};
  });
  await page.evaluate(() => { window.linkwork.state.speed = 10; window.linkwork.play(true); });
  await page.waitForTimeout(700);
  facts.still = (await seen(page)).playing;
  await page.close();
  return {...facts, errors, requests};
}

const tasks = {modes, motion, still, small, thrown: () => alone('thrown.html'), rests: () => alone('rests.html'), fall, long, loads, shapes, dense, views, joints, two, elements, large};
const facts = {};
for (const name of only.length ? only : Object.keys(tasks)) facts[name] = await tasks[name]();
console.log(JSON.stringify(facts));
await browser.close();
