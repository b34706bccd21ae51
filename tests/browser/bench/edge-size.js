/** The size of a worker with the package, compressed: `node edge-size.js PACKAGE`; the last line is JSON, MiB. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const [directory] = process.argv.slice(2);
const SCRIPT = `
  import module from './windlass_browser_bg.wasm';
  import { edge } from './edge.js';
  const { handler, SessionObject } = edge({ module, authorize: () => {}, options: () => ({}) });
  export { SessionObject };
  export default handler;`;

const bundled = await build({
  stdin: { contents: SCRIPT, resolveDir: directory },
  bundle: true,
  external: ['*.wasm'],
  format: 'esm',
  minify: true,
  write: false,
});
const parts = [bundled.outputFiles[0].contents, await readFile(join(directory, 'windlass_browser_bg.wasm'))];
console.log(JSON.stringify({ worker: parts.reduce((sum, part) => sum + gzipSync(part).length, 0) / 2 ** 20 }));
