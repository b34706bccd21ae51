/** Pages in headless Chromium: the package and the pages of the tests from a server on loopback, where nothing else is. */
import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const PLACES = {
  package: pathToFileURL(`${process.env.WINDLASS_BROWSER ?? fileURLToPath(new URL('../../target/browser', import.meta.url))}/`),
  tests: new URL('./', import.meta.url),
};
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.json': 'application/json', '.wasm': 'application/wasm' };
const EMPTY = '<!doctype html><title>test</title><link rel="icon" href="data:,"><body style="height: 100vh">';

/** A browser with one origin: `{ newPage(), origin, close() }`. */
export async function openBrowser() {
  const server = createServer(answer);
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${server.address().port}`;
  const browser = await chromium.launch({ executablePath: chromiumPath(), args: ['--no-sandbox'] });
  const context = await browser.newContext();
  return {
    origin,
    /** A page of the origin with nothing in it. */
    async newPage() {
      const page = await context.newPage();
      await page.goto(`${origin}/`);
      return page;
    },
    async close() {
      await browser.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function chromiumPath() {
  if (process.env.WINDLASS_CHROMIUM) return process.env.WINDLASS_CHROMIUM;
  const names = ['chromium', 'chromium-browser', 'google-chrome'];
  for (const name of names) {
    try {
      return execFileSync('which', [name], { encoding: 'utf8' }).trim();
    } catch {
      // The next one, then.
    }
  }
  throw new Error('there is no Chromium on PATH: run `cargo xtask setup`, or name one in $WINDLASS_CHROMIUM');
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
