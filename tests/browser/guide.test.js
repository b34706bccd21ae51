/** The programs of the guide for pages, in a page, as they are printed. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Model } from './edge/model.js';
import { launch } from './chromium.js';
import { printedFiles } from './package/printed.js';
import { serve } from './package/server.js';
import { directory } from './package-under-test.js';

const ZOD = fileURLToPath(new URL('../node_modules/zod/', import.meta.url));
const printed = printedFiles('docs/browser.md');
const folder = mkdtempSync(join(tmpdir(), 'windlass-guide-'));
let model;
let server;
let browser;

before(async () => {
  write('weather', 'Rain.');
  model = await Model.start();
  const folders = { '/package/': directory, '/zod/': ZOD, '/': folder };
  server = await serve({ folders, forward: { '/model': model.url } });
  browser = await launch();
});

after(async () => {
  await browser?.close();
  await server?.close();
  await model?.stop();
  rmSync(folder, { recursive: true });
});

function write(path, text) {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

/** Runs a program of the guide, whose model answers so, until it has printed so many lines. */
async function run(name, answers, lines) {
  const imports = { windlass: '/package/index.js', 'windlass/files': '/package/files.js', zod: '/zod/index.js' };
  write(name, `${printed[name]}\ndocument.title = 'done';\n`);
  write(
    name.replace('.js', '.html'),
    `<!doctype html><script type="importmap">${JSON.stringify({ imports })}</script><script type="module" src="/${name}"></script>`,
  );
  model.answer(...answers);
  const context = await browser.newContext();
  const page = await context.newPage();
  const said = [];
  const failed = new Promise((_, reject) => {
    page.on('pageerror', reject);
  });
  page.on('console', (message) => message.type() === 'log' && said.push(message.text()));
  await page.goto(`${server.url}/${name.replace('.js', '.html')}`);
  await Promise.race([page.waitForFunction(() => document.title === 'done'), failed]);
  await context.close();
  assert.deepEqual(said, lines);
}

const call = (name, input) => ({ call: { name, input } });
const toolResults = ({ body }) => JSON.stringify(body.messages.at(-1));

test('tools', async () => {
  await run('tools.js', [call('Weather', { city: 'Bergen' }), 'Yes.'], ['Yes.']);
  assert.match(toolResults(model.requests.at(-1)), /Rain\./);
  const [{ input_schema: schema }] = model.requests.at(-1).body.tools;
  assert.deepEqual(schema.required, ['city']);
});

test('permissions', async () => {
  const write = (file) => call('Write', { file_path: `/work/${file}`, content: 'x\n' });
  const answers = [write('a.txt'), write('b.txt'), call('Read', { file_path: '/work/.env' }), 'Done.'];
  await run('permissions.js', answers, ['May Write write /work/a.txt?', 'Done. /work/.env /work/a.txt /work/b.txt']);
  assert.doesNotMatch(toolResults(model.requests.at(-1)), /KEY=1/);
});

test('hooks', async () => {
  const answers = [call('Send', { to: 'a@example.com' }), call('Send', { to: 'a@example.org' }), 'One is written.'];
  await run('hooks.js', answers, ['One is written. 1']);
  assert.match(toolResults(model.requests.at(-1)), /letters go to example\.com only/);
});

test('sessions', async () => {
  await run('sessions.js', ['Noted.', '7.'], ['user assistant', '7.']);
  assert.equal(model.requests.at(-1).body.messages.length, 3);
});

test('settings', async () => {
  const left = 'nobody has trusted this folder, so its files do not allow Write (project settings): `trustProject` lets them';
  await run('settings.js', ['A file.'], [left, 'A file.']);
  assert.match(JSON.stringify(model.requests.at(-1).body), /Answer in one sentence\./);
});

test('turns', async () => {
  await run('turns.js', [], []);
});
