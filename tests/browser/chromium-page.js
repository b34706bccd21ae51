/** Pages in headless Chromium: the package and the pages of the tests from a server on loopback, where nothing else is. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { launch, launching } from './chromium.js';

const PLACES = {
  package: pathToFileURL(`${process.env.WINDLASS_BROWSER ?? fileURLToPath(new URL('../../target/browser', import.meta.url))}/`),
  tests: new URL('./', import.meta.url),
  jco: new URL('./', import.meta.resolve('@bytecodealliance/jco-transpile/component')),
  shim: new URL('../browser/', import.meta.resolve('@bytecodealliance/preview2-shim/cli')),
  components: pathToFileURL(`${process.env.WINDLASS_TRANSPILED ?? '/nowhere'}/`),
};
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.json': 'application/json', '.wasm': 'application/wasm' };
const EMPTY = '<!doctype html><title>test</title><link rel="icon" href="data:,"><body style="height: 100vh">';

/**
 * A browser with one origin: `{ newPage(), origin, close() }`.
 * @param {{ preferences?: object }} [options] settings of the browser, as its profile has them
 */
export async function openBrowser({ preferences } = {}) {
  const server = createServer(answer);
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${server.address().port}`;
  const { context, closeContext } = preferences ? await contextWith(preferences) : await newContext();
  return {
    origin,
    /** A page of the origin with nothing in it. */
    async newPage() {
      const page = await context.newPage();
      await page.goto(`${origin}/`);
      return page;
    },
    async close() {
      await closeContext();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Calls a function of a module of the tests in a page. */
export function inPage(page, module, name, ...given) {
  return page.evaluate(async ([module, name, given]) => (await import(`/tests/${module}`))[name](...given), [module, name, given]);
}

async function newContext() {
  const browser = await launch();
  return { context: await browser.newContext(), closeContext: () => browser.close() };
}

/** Settings are read from a profile, which is on the disk. */
async function contextWith(preferences) {
  const profile = await mkdtemp(join(tmpdir(), 'windlass-profile-'));
  await mkdir(join(profile, 'Default'));
  await writeFile(join(profile, 'Default/Preferences'), JSON.stringify(preferences));
  const context = await chromium.launchPersistentContext(profile, launching());
  const closeContext = async () => {
    await context.close();
    await rm(profile, { recursive: true, force: true });
  };
  return { context, closeContext };
}

async function answer(request, response) {
  const { pathname } = new URL(request.url, 'http://localhost');
  const [place, ...names] = pathname.slice(1).split('/');
  try {
    const body = pathname === '/' ? EMPTY : await readFile(new URL(names.join('/'), PLACES[place]));
    response.writeHead(200, { 'content-type': pathname === '/' ? TYPES['.html'] : (TYPES[extname(pathname)] ?? 'application/octet-stream') });
    response.end(body);
  } catch {
    response.writeHead(404).end();
  }
}
