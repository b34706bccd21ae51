/**
 * Builds the page: `node build.js PACKAGE PROJECT`.
 *
 * PACKAGE is the built npm package, in whose folder `demo` the page is written; PROJECT is the demonstration of the native host
 * (`host-native/demo`). esbuild and what the page is made of are taken from where NODE_PATH says.
 */
import { createHash } from 'node:crypto';
import { copyFile, mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, delimiter, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleOf } from './bundle.js';
import { scriptOfThePage } from './page-script.js';

/** Copied as they are: `demo.js` runs without the page, too, and neither belongs to it. */
const COPIED = ['demo.js', 'serve.js'];

/** What turns components into JavaScript: its modules lie beside the page, which loads them when a component is dropped. */
const JCO = '@bytecodealliance/jco-transpile/component';

const source = dirname(fileURLToPath(import.meta.url));
const [target, project] = process.argv.slice(2);
const output = join(target, 'demo');
/** The modules of WebAssembly in the folder above that the package in the page loads. */
const modulesAbove = new Set();
// NODE_PATH counts for `require` alone.
const require = createRequire(import.meta.url);

// Modules of an earlier build would stay there.
await rm(output, { recursive: true, force: true });
await mkdir(output, { recursive: true });
for (const name of COPIED) await copyFile(join(source, name), join(output, name));
const bundle = await bundleOf(project);
await writeFile(join(output, 'bundle.json'), `${JSON.stringify(bundle, null, 1)}\n`);
const scenarios = JSON.parse(await readFile(join(source, 'scenarios.json'), 'utf8'));
await writeFile(join(output, 'script.json'), `${JSON.stringify(scriptOfThePage(JSON.parse(bundle.script), scenarios), null, 1)}\n`);
await writeFile(join(output, 'index.html'), await pageWith(await bundlePage()));
await bundleWorker();
await copyModulesOfJco();
await bundleServiceWorker();

/** @returns {Promise<string[]>} what `page.js` imports at once */
async function bundlePage() {
  const { metafile } = await bundled(['page.jsx', 'page.css'], { splitting: true, jsx: 'automatic', jsxImportSource: 'preact', metafile: true });
  const [, page] = Object.entries(metafile.outputs).find(([path]) => basename(path) === 'page.js');
  return page.imports.filter(({ kind }) => kind === 'import-statement').map(({ path }) => basename(path));
}

/** A Worker starts by itself what it is made of, and shares no module with the page: that would come in more pieces. */
function bundleWorker() {
  return bundled(['component-worker.js']);
}

/** The service worker is told what the page is made of, so it comes when all of that is there. */
async function bundleServiceWorker() {
  const beside = (await readdir(output)).filter((name) => !COPIED.includes(name) && !name.endsWith('.LEGAL.txt'));
  // The page itself comes last: where it is kept, all of it is.
  const others = [...beside.filter((name) => name !== 'index.html'), ...modulesAbove].sort();
  const files = [];
  for (const name of [...others, 'index.html']) {
    const digest = createHash('sha256').update(await readFile(join(output, name)));
    // Servers that send from `index.html` to the folder are asked for the folder: a browser takes no redirected answer for a page.
    const path = name === 'index.html' ? './' : name.replaceAll('\\', '/');
    files.push({ path, integrity: `sha256-${digest.digest('base64')}` });
  }
  const version = createHash('sha256').update(JSON.stringify(files)).digest('hex').slice(0, 16);
  await bundled(['module-server.js'], { define: { BUILT: JSON.stringify({ version, files }) } });
}

function bundled(names, options = {}) {
  const { build } = require('esbuild');
  return build({
    entryPoints: names.map((name) => join(source, name)),
    outdir: output,
    bundle: true,
    format: 'esm',
    minify: true,
    target: 'es2022',
    nodePaths: (process.env.NODE_PATH ?? '').split(delimiter).filter(Boolean),
    // What jco would load only in Node.
    external: ['node:*'],
    plugins: [packageOf(resolve(target))],
    legalComments: 'linked',
    logLevel: 'warning',
    ...options,
  });
}

/** The page, which says at its beginning what all it will load. */
async function pageWith(modules) {
  const page = await readFile(join(source, 'index.html'), 'utf8');
  const links = modules.map((name) => `    <link rel="modulepreload" href="${name}">\n`);
  return page.replace('    <script type="module"', `${links.join('')}$&`);
}

/**
 * The package is bundled with the page, because thirty modules that name each other one after another take their time; the files that
 * it loads stay where they are, in the folder above.
 */
function packageOf(directory) {
  const fileOf = (path) => (path === 'windlass' ? 'index.js' : `${path.slice('windlass/'.length)}.js`);
  return {
    name: 'windlass',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^windlass(\/|$)/ }, ({ path }) => ({ path: join(directory, fileOf(path)), sideEffects: false }));
      // The shell's way to compress, which a page has not.
      onResolve({ filter: /^node:zlib$/ }, () => ({ path: join(directory, 'no-zlib.js') }));
      onLoad({ filter: /\.js$/ }, async ({ path }) => {
        if (!path.startsWith(`${directory}/`)) return undefined;
        const contents = await readFile(path, 'utf8');
        for (const [, name] of contents.matchAll(/new URL\('(\.\/[^']+\.wasm)', import\.meta\.url\)/g)) {
          modulesAbove.add(relative(output, join(dirname(path), name)));
        }
        return { contents: contents.replaceAll('import.meta.url', `new URL('../${relative(directory, path)}', import.meta.url).href`) };
      });
    },
  };
}

async function copyModulesOfJco() {
  const vendor = dirname(require.resolve(JCO));
  const modules = (await readdir(vendor)).filter((name) => /^js-component-bindgen-component\.core\d*\.wasm$/.test(name));
  if (modules.length === 0) throw new Error(`${relative('.', vendor)} has no modules of ${JCO}`);
  for (const name of modules) await copyFile(join(vendor, name), join(output, name));
}
