/** The size of workers with the package, compressed: `node edge-size.js PACKAGE`; the last line is JSON, MiB. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const [directory] = process.argv.slice(2);
const CORE = 'windlass_browser_bg.wasm';
const FILES = ['files.core.wasm', 'files.core2.wasm', 'files.core3.wasm'];
const BARE = `
  import module from './${CORE}';
  import { edge } from './edge.js';
  const { handler, SessionObject } = edge({ module, authorize: () => {}, options: () => ({}) });
  export { SessionObject };
  export default handler;`;
const WITH_FILES = `
  import { fileTools } from './files.js';
  import { MemoryFileSystem } from './index.js';
  ${FILES.map((name, index) => `import files${index} from './files/${name}';`).join('')}
  const modules = { ${FILES.map((name, index) => `'${name}': files${index}`).join(', ')} };
  ${BARE.replace('options: () => ({})', 'options: async () => ({ plugins: [await fileTools({ modules })], files: new MemoryFileSystem() })')}`;

/** Of a script and its modules, in MiB. */
async function size(contents, modules) {
  const bundled = await build({
    stdin: { contents, resolveDir: directory },
    bundle: true,
    external: ['*.wasm'],
    format: 'esm',
    minify: true,
    write: false,
  });
  const parts = [bundled.outputFiles[0].contents, ...(await Promise.all(modules.map((name) => readFile(join(directory, name)))))];
  return parts.reduce((sum, part) => sum + gzipSync(part).length, 0) / 2 ** 20;
}

const withFiles = await size(WITH_FILES, [CORE, ...FILES.map((name) => `files/${name}`)]);
console.log(`with the file tools: ${withFiles.toFixed(3)} MiB`);
console.log(JSON.stringify({ worker: await size(BARE, [CORE]) }));
