// build.mjs -- bundles src/, three.js and uPlot into dist/page.html, a page that works offline.
//
//   node build.mjs            writes it
//   node build.mjs --check    fails if it differs from what the sources give
//
// The program replaces the comments <!--DATA--> and <!--LATE--> by a model and a result.
import {readFileSync, writeFileSync, mkdirSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {dirname, join} from 'node:path';
import {build} from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const page = join(here, 'dist', 'page.html');

const bundle = await build({
  entryPoints: [join(here, 'src', 'main.js')],
  bundle: true,
  minify: true,
  format: 'iife',
  target: 'es2020',
  charset: 'ascii',
  legalComments: 'inline',
  write: false,
});
const script = bundle.outputFiles[0].text.replaceAll('</script', '<\\/script');
const ofPackage = (...path) => readFileSync(join(here, 'node_modules', ...path), 'utf8').trim();
const style = `${ofPackage('uplot', 'dist', 'uPlot.min.css')}\n${readFileSync(join(here, 'src', 'style.css'), 'utf8')}`;
const html = readFileSync(join(here, 'src', 'page.html'), 'utf8')
  .replace('<!--STYLE-->', () => `<style>\n${style}</style>`)
  .replace('<!--SCRIPT-->', () => `<!-- This page contains three.js:
${ofPackage('three', 'LICENSE')}

and with it fflate, https://github.com/101arrowz/fflate, Copyright (c) Arjun Barrett, under the same terms.

uPlot, https://github.com/leeoniya/uPlot:
${ofPackage('uplot', 'LICENSE')}
-->
<script>\n${script}</script>`);

if (process.argv.includes('--check')) {
  if (readFileSync(page, 'utf8') !== html) {
    console.error('viewer/dist/page.html differs from what viewer/src gives: run `npm ci && npm run build` in viewer/');
    process.exit(1);
  }
  console.log('viewer/dist/page.html is up to date');
} else {
  mkdirSync(dirname(page), {recursive: true});
  writeFileSync(page, html);
  console.log(`dist/page.html: ${html.length} bytes`);
}
