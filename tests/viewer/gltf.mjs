// gltf.mjs -- what Khronos' validator says of glTF files, as JSON.     node gltf.mjs FILE...
import {readFileSync} from 'node:fs';
import validator from 'gltf-validator';

const out = {};
for (const file of process.argv.slice(2))
  out[file] = (await validator.validateBytes(new Uint8Array(readFileSync(file)))).issues;
console.log(JSON.stringify(out));
