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
const code = `${name}.js`;
files[code] = new TextEncoder().encode(bundled(new TextDecoder().decode(files[code])));
await writeFiles(files, { baseDir: outDir });
await writeFile(`${outDir}/declaration.js`, `export const declaration = ${JSON.stringify(declarationOf(bytes))};\n`);

/**
 * Without what bundlers trip over: a directive that nothing reads, and the line that fetches modules that are not given, which here
 * they always are; it names a folder, all of which they would copy.
 */
function bundled(text) {
  const lines = text.split('\n');
  const kept = lines.filter((line) => !line.includes('import.meta.url') && line !== '"use components";');
  if (kept.length !== lines.length - 2) throw new Error(`${code} has ${lines.length - kept.length} lines for no bundler instead of two`);
  return kept.join('\n');
}
