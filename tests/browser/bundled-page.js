/** A page in Chromium whose script esbuild bundles, as an application's would be: with what the package takes from npm. */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { launch } from './chromium.js';
import { directory } from './package-under-test.js';

const npm = fileURLToPath(new URL('../node_modules', import.meta.url));

/** What a strict policy has to allow for WebAssembly; servers are elsewhere. */
const POLICY = "default-src 'none'; img-src data:; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self' http://127.0.0.1:*";

const HTML = '<!doctype html><meta charset="utf-8"><title>test</title><link rel="icon" href="data:,"><script type="module" src="/page.js"></script>';

/**
 * Opens a page that runs a script; gives what the script's `run` resolves to.
 * @param {string} script the name of a file beside this one, which exports `run(argument)`
 * @param {object} argument JSON
 */
export async function runInPage(script, argument) {
  const served = await serve(await bundle(script));
  const browser = await launch();
  try {
    const page = await browser.newPage();
    const faults = [];
    page.on('pageerror', (error) => faults.push(`${error}`));
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
    await page.goto(served.url);
    await page.waitForFunction(() => globalThis.run !== undefined, undefined, { timeout: 20_000 }).catch((error) => {
      throw new Error(`the page did not start: ${faults.join('\n')}`, { cause: error });
    });
    const result = await page.evaluate((it) => globalThis.run(it), argument);
    return { result, faults };
  } finally {
    await browser.close();
    await served.stop();
  }
}

async function bundle(script) {
  const contents = `import { run } from ${JSON.stringify(`./${script}`)}; globalThis.run = run;`;
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: fileURLToPath(new URL('.', import.meta.url)) },
    bundle: true,
    format: 'esm',
    platform: 'browser',
    write: false,
    // Only where there is no page.
    external: ['node:fs/promises'],
    nodePaths: [npm],
    alias: {
      ...Object.fromEntries(['index', 'mcp', 'shell', 'testkit'].map((name) => [alias(name), join(directory, `${name}.js`)])),
      'node:zlib': join(directory, 'no-zlib.js'),
    },
    logLevel: 'error',
  });
  return outputFiles[0].text;
}

function alias(name) {
  return name === 'index' ? 'windlass' : `windlass/${name}`;
}

async function serve(script) {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, 'http://page.invalid');
    const [type, content] = await answer(pathname, script);
    response.writeHead(content === undefined ? 404 : 200, { 'content-type': type, 'content-security-policy': POLICY });
    response.end(content);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stop = async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
  return { url: `http://127.0.0.1:${server.address().port}/`, stop };
}

async function answer(path, script) {
  if (path === '/') return ['text/html', HTML];
  if (path === '/page.js') return ['text/javascript', script];
  if (/^\/\w+\.wasm$/.test(path)) return ['application/wasm', await readFile(join(directory, path)).catch(() => undefined)];
  return ['text/plain', undefined];
}
