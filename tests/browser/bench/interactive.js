/**
 * How long a page takes from its navigation until it can ask: its bundle fetched, the core compiled, an agent made. The bundle is made by
 * esbuild, as pages do.
 *
 * `node interactive.js PACKAGE CHROMIUM`; the last line is JSON, milliseconds in the median over fresh profiles' pages.
 */
import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';

const ROUNDS = 9;

const [directory, executablePath] = process.argv.slice(2);
const CORE = 'windlass_browser_bg.wasm';
const SCRIPT = `
  import { Agent, init } from './index.js';
  await init();
  new Agent({ baseUrl: '/model' }).session();
  document.title = String(performance.now());`;
const PAGE = `<!doctype html><title>bench</title>
<link rel="preload" href="/${CORE}" as="fetch" type="application/wasm" crossorigin><script type="module" src="/page.js"></script>`;

const bundled = await build({
  stdin: { contents: SCRIPT, resolveDir: directory },
  bundle: true,
  format: 'esm',
  minify: true,
  write: false,
});
const answers = {
  '/': ['text/html', PAGE],
  '/page.js': ['text/javascript', bundled.outputFiles[0].contents],
  [`/${CORE}`]: ['application/wasm', await readFile(join(directory, CORE))],
};
const server = createServer((request, response) => {
  const [type, body] = answers[request.url] ?? [];
  response.writeHead(type ? 200 : 404, { 'content-type': type ?? 'text/plain' }).end(body);
});
await new Promise((listening) => server.listen(0, '127.0.0.1', listening));

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
const times = [];
for (let round = 0; round <= ROUNDS; round += 1) {
  // Nothing is in a cache.
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
  await page.waitForFunction(() => Number(document.title) > 0);
  if (round > 0) times.push(Number(await page.title()));
  await context.close();
}
await browser.close();
server.close();
server.closeAllConnections();
console.log(JSON.stringify({ interactive: times.sort((a, b) => a - b)[times.length >> 1] }));
