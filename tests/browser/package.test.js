/** The package as people get it: packed, checked, installed into fresh projects, built, and run. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Model } from './edge/model.js';
import { launch } from './package/chromium.js';
import { askThePage } from './package/guide-page.js';
import { printedFiles } from './package/printed.js';
import { Project, pack } from './package/project.js';
import { serve } from './package/server.js';
import { directory } from './package-under-test.js';

/** What the guide tells pages to send. */
const POLICY = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'";

const folder = mkdtempSync(join(tmpdir(), 'windlass-package-'));
const printed = printedFiles('docs/browser.md');
let tarball;
let model;
let browser;

before(async () => {
  tarball = await pack(directory, folder);
  model = await Model.start();
  browser = await launch();
});

after(async () => {
  await browser?.close();
  await model?.stop();
  rmSync(folder, { recursive: true });
});

test('publint_and_attw_find_nothing', async () => {
  const project = await Project.create(tarball, {});
  try {
    project.link('publint', '@arethetypeswrong/cli');
    await project.run(process.execPath, 'node_modules/publint/src/cli.js', tarball, '--strict');
    await project.run(process.execPath, 'node_modules/@arethetypeswrong/cli/dist/index.js', tarball, '--profile', 'esm-only');
  } finally {
    project.remove();
  }
});

test('a_project_in_node_runs_as_printed', async () => {
  const project = await Project.create(tarball, { 'agent.js': printed['agent.js'] });
  try {
    model.answer({ call: { name: 'Dice', input: {} } }, 'It fell.');
    const env = { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'secret' };
    assert.equal(await project.runWith(env, process.execPath, 'agent.js'), 'It fell.\n');
    assert.equal(model.requests.at(-1).headers['x-api-key'], 'secret');
  } finally {
    project.remove();
  }
});

test('a_project_of_vite_runs_as_printed_developed_and_built', async () => {
  const files = ['index.html', 'main.js', 'vite.config.js'].map((name) => [name, printed[name]]);
  const project = await Project.create(tarball, Object.fromEntries(files));
  const closing = [() => project.remove()];
  try {
    project.link('vite');
    Object.assign(process.env, { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'secret' });
    const vite = await import(pathToFileURL(project.path('node_modules/vite/dist/node/index.js')));
    const root = { root: project.path(), logLevel: 'warn' };
    const developed = await vite.createServer({ ...root, server: { host: '127.0.0.1', port: 0 } });
    closing.push(() => developed.close());
    await developed.listen();
    await askThePage(browser, model, `http://127.0.0.1:${developed.httpServer.address().port}/`);
    assert.equal(model.requests.at(-1).headers['x-api-key'], 'secret');

    await vite.build(root);
    const headers = { 'content-security-policy': POLICY };
    const built = await serve({ folders: { '/': project.path('dist') }, headers, forward: { '/model': model.url } });
    closing.push(() => built.close());
    await askThePage(browser, model, `${built.url}/`);
  } finally {
    for (const close of closing.reverse()) await close();
  }
});
