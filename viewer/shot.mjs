// shot.mjs -- takes a picture of a page of `linkwork view`; makes docs/images/viewer-*.png.
//
//   node shot.mjs PAGE.html OUT.png SECONDS [KEYS [dark|light [JOINT=VALUE...]]]
//
// KEYS are pressed first, e.g. tr; the sliders of joints are moved to values (rad, m).
import {resolve} from 'node:path';
import {pathToFileURL} from 'node:url';
import {chromium} from 'playwright-core';

const [,, page, out, seconds, keys = '', theme, ...joints] = process.argv;
const browser = await chromium.launch({executablePath: process.env.LW_CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader']});
const tab = await browser.newPage({viewport: {width: 1120, height: 700}, colorScheme: theme === 'dark' ? 'dark' : 'light'});
await tab.goto(pathToFileURL(resolve(page)).href);
await tab.waitForFunction(() => window.linkwork?.ready);
for (const key of keys) await tab.keyboard.press(key);
for (const [name, value] of joints.map((j) => j.split('=')))
  await tab.evaluate(([joint, q]) => {
    const {sliders} = window.linkwork, of = sliders.list.find((s) => s.name === joint);
    sliders.drag(of.joint, of.coordinate, +q);
  }, [name, value]);
await tab.evaluate((t) => window.linkwork.seek(t), +seconds);
await tab.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
await tab.screenshot({path: out});
await browser.close();
