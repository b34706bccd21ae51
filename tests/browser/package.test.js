/** The package as people get it: packed, checked, installed into fresh projects, built, and run. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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

/** Vite as a project has it, whose configuration sends what it asks the model to ours. */
function viteOf(project) {
  Object.assign(process.env, { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'secret' });
  return import(pathToFileURL(project.path('node_modules/vite/dist/node/index.js')));
}

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

test('what_is_not_used_is_not_bundled', async () => {
  const project = await Project.create(tarball, {});
  try {
    project.link('esbuild');
    const bundle = async (line) => {
      project.write({ 'use.js': line });
      return project.run(process.execPath, 'node_modules/esbuild/bin/esbuild', 'use.js', '--bundle', '--format=esm', '--minify');
    };
    assert.equal(await bundle("import 'windlass'; import 'windlass/files'; import 'windlass/edge'; import 'windlass/testkit';"), '');
    const tool = await bundle("import { tool } from 'windlass'; export default tool;");
    assert.ok(tool.length < 6000 && !tool.includes('.wasm'), `${tool.length} characters`);
    const agent = await bundle("import { Agent } from 'windlass'; export default Agent;");
    assert.ok(agent.includes('windlass_browser_bg.wasm') && !agent.includes('testkit') && !agent.includes('files.core.wasm'));
  } finally {
    project.remove();
  }
});

/** A page without a bundler, whose agent reads a file and whose model follows a script; its title is what became of it. */
const UNBUNDLED = `
import { Agent, MemoryFileSystem } from '/package/index.js';
import { fileTools } from '/package/files.js';
import { ScriptedModel } from '/package/testkit.js';

const call = { content: [{ type: 'tool_use', name: 'Read', input: { file_path: '/a.txt' } }] };
const exchanges = [{ respond: call }, { expect: { last_user_contains: 'alpha' }, respond: 'It says alpha.' }];
try {
  const { fetch } = await ScriptedModel.load({ exchanges });
  const files = new MemoryFileSystem({ files: { '/a.txt': 'alpha' } });
  const agent = new Agent({ fetch, files, plugins: [await fileTools()], allowedTools: ['Read'] });
  document.title = (await agent.run('Read.')).result;
} catch (error) {
  document.title = error.message;
}
`;

test('a_page_without_a_bundler_runs_under_a_strict_policy_and_needs_what_the_guide_says', async () => {
  const site = join(folder, 'site');
  mkdirSync(site);
  writeFileSync(join(site, 'index.html'), '<!doctype html><title></title><script type="module" src="/main.js"></script>');
  writeFileSync(join(site, 'main.js'), UNBUNDLED);
  const titleUnder = async (policy) => {
    const headers = { 'content-security-policy': policy };
    const served = await serve({ folders: { '/package/': directory, '/': site }, headers });
    const page = await browser.newPage();
    try {
      await page.goto(served.url);
      await page.waitForFunction(() => document.title !== '');
      return await page.title();
    } finally {
      await page.close();
      await served.close();
    }
  };
  assert.equal(await titleUnder(POLICY), 'It says alpha.');
  assert.match(await titleUnder("default-src 'self'"), /Content Security Policy|unsafe-eval/);
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
    const vite = await viteOf(project);
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

test('the_lines_of_the_readme_run_in_vite_and_go_on', async () => {
  const page = '<!doctype html><body><script type="module" src="/main.js"></script></body>';
  const project = await Project.create(tarball, {
    'index.html': page,
    'main.js': printedFiles('README.md')['main.js'],
    'vite.config.js': printed['vite.config.js'],
  });
  const closing = [() => project.remove()];
  try {
    project.link('vite');
    const vite = await viteOf(project);
    const developed = await vite.createServer({ root: project.path(), logLevel: 'warn', server: { host: '127.0.0.1', port: 0 } });
    closing.push(() => developed.close());
    await developed.listen();
    const page = await browser.newPage();
    closing.push(() => page.close());
    for (const [visit, messages] of [['first', 1], ['second', 5]]) {
      model.answer({ call: { name: 'Read', input: { file_path: '/list.txt' } } }, `Plants, the ${visit} time.`);
      await page.goto(`http://127.0.0.1:${developed.httpServer.address().port}/`);
      await page.getByText(`Plants, the ${visit} time.`).waitFor();
      // The second visit goes on with what the first one left.
      assert.equal(model.requests.at(-2).body.messages.length, messages);
    }
  } finally {
    for (const close of closing.reverse()) await close();
  }
});
