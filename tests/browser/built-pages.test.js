/** The package in pages: without a bundler, and in fresh projects of Vite, developed and built, as the guides print them. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Model } from './edge/model.js';
import { launch } from './chromium.js';
import { askThePage } from './package/guide-page.js';
import { printedFiles } from './package/printed.js';
import { Project, pack } from './package/project.js';
import { serve } from './package/server.js';
import { directory } from './package-under-test.js';

/** What the guide tells pages to send. */
const POLICY = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'";

const folder = mkdtempSync(join(tmpdir(), 'windlass-pages-'));
const printed = printedFiles('docs/browser.md');
let tarball;
let model;
let browser;

before(async () => {
  tarball = await pack(directory, folder);
  model = await Model.start();
  browser = await launch();
  // The configuration of the guide sends there what the page asks the model.
  Object.assign(process.env, { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'secret' });
});

after(async () => {
  await browser?.close();
  await model?.stop();
  rmSync(folder, { recursive: true });
});

/** Runs a test in a project of Vite with these files; `developed` and `built` give the address of its page. */
async function inVite(files, work) {
  const project = await Project.create(tarball, { 'vite.config.js': printed['vite.config.js'], ...files });
  const closing = [() => project.remove()];
  try {
    project.link('vite');
    const vite = await import(pathToFileURL(project.path('node_modules/vite/dist/node/index.js')));
    const root = { root: project.path(), logLevel: 'warn' };
    await work({
      async developed() {
        const server = await vite.createServer({ ...root, server: { host: '127.0.0.1', port: 0 } });
        closing.push(() => server.close());
        await server.listen();
        return `http://127.0.0.1:${server.httpServer.address().port}/`;
      },
      async built() {
        await vite.build(root);
        const headers = { 'content-security-policy': POLICY };
        const server = await serve({ folders: { '/': project.path('dist') }, headers, forward: { '/model': model.url } });
        closing.push(() => server.close());
        return `${server.url}/`;
      },
    });
  } finally {
    for (const close of closing.reverse()) await close();
  }
}

const pageOf = (script) => `<!doctype html><title></title><body><script type="module" src="/${script}"></script></body>`;

/** Opens a page whose agent reads the list, and waits for its answer. */
async function answered(page, url, answer) {
  model.answer({ call: { name: 'Read', input: { file_path: '/list.txt' } } }, answer);
  await page.goto(url);
  await page.getByText(answer).waitFor();
}

test('the_page_of_the_guide_runs_developed_and_built_under_its_policy', async () => {
  const files = { 'index.html': printed['index.html'], 'main.js': printed['main.js'] };
  await inVite(files, async ({ developed, built }) => {
    await askThePage(browser, model, await developed());
    assert.equal(model.requests.at(-1).headers['x-api-key'], 'secret');
    await askThePage(browser, model, await built());
  });
});

test('the_worker_of_the_guide_runs_developed_and_built', async () => {
  const files = { 'in-a-worker.js': printed['in-a-worker.js'], 'agent-worker.js': printed['agent-worker.js'] };
  await inVite({ 'index.html': pageOf('in-a-worker.js'), ...files }, async ({ developed, built }) => {
    const page = await browser.newPage();
    await answered(page, await developed(), 'Plants, developed.');
    await answered(page, await built(), 'Plants, built.');
    await page.close();
  });
});

test('the_lines_of_the_readme_run_and_go_on', async () => {
  const files = { 'index.html': pageOf('main.js'), 'main.js': printedFiles('README.md')['main.js'] };
  await inVite(files, async ({ developed }) => {
    const page = await browser.newPage();
    const url = await developed();
    await answered(page, url, 'Plants, the first time.');
    assert.equal(model.requests.at(-2).body.messages.length, 1);
    // The second visit goes on with what the first one left.
    await answered(page, url, 'Plants, the second time.');
    assert.equal(model.requests.at(-2).body.messages.length, 5);
    await page.close();
  });
});

/** What a page without a bundler makes of a script, under a policy: its title. */
async function titleOf(script, policy) {
  const site = join(folder, 'site');
  mkdirSync(site, { recursive: true });
  writeFileSync(join(site, 'index.html'), pageOf('main.js'));
  for (const [name, text] of Object.entries(script)) writeFileSync(join(site, name), text);
  const headers = { 'content-security-policy': policy };
  const server = await serve({ folders: { '/package/': directory, '/': site }, headers });
  const page = await browser.newPage();
  try {
    await page.goto(server.url);
    await page.waitForFunction(() => document.title !== '');
    return await page.title();
  } finally {
    await page.close();
    await server.close();
  }
}

/** An agent that reads a file, and whose model follows a script. */
const SCRIPTED = `
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

test('a_page_without_a_bundler_needs_the_policy_of_the_guide_and_no_more', async () => {
  assert.equal(await titleOf({ 'main.js': SCRIPTED }, POLICY), 'It says alpha.');
  assert.match(await titleOf({ 'main.js': SCRIPTED }, "default-src 'self'"), /Content Security Policy|unsafe-eval/);
});

test('a_key_in_a_worker_of_a_page_is_one_in_the_page', async () => {
  const worker = `
    import { Agent } from '/package/index.js';
    const told = [];
    const fetch = async (url, { headers }) => {
      told.push(headers.get('anthropic-dangerous-direct-browser-access'));
      return Response.json({ type: 'error', error: { type: 'authentication_error', message: 'no' } }, { status: 401 });
    };
    try {
      new Agent({ apiKey: 'key', fetch });
    } catch (error) {
      told.push(error.message.slice(0, 24));
    }
    await new Agent({ apiKey: 'key', fetch, dangerouslyAllowBrowser: true }).run('Hi.');
    postMessage(told.join('; '));
  `;
  const main = "new Worker('/worker.js', { type: 'module' }).onmessage = ({ data }) => { document.title = data; };";
  assert.equal(await titleOf({ 'main.js': main, 'worker.js': worker }, POLICY), 'an API key in a page can; true');
});
