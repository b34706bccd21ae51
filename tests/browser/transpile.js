/**
 * `node transpile.js COMPONENT NAME PACKAGE OUTPUT`: a component as JavaScript and core modules, and its declaration,
 * which would be lost otherwise. PACKAGE is where the JavaScript of the npm package is.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { transpileBytes, writeFiles } from '@bytecodealliance/jco-transpile';

const [component, name, host, outDir] = process.argv.slice(2);
const { declarationOf } = await import(pathToFileURL(`${host}/declaration.js`));
const bytes = await readFile(component);
const { files } = await transpileBytes(bytes, {
  name,
  instantiation: 'async',
  nodejsCompat: false,
  tlaCompat: false,
});
await writeFiles(files, { baseDir: outDir });
await writeFile(`${outDir}/declaration.json`, JSON.stringify(declarationOf(bytes)));
