/** The package in projects of bundlers and runtimes that are too large for every run of the tests: `cargo xtask attack bundlers`. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Model } from './edge/model.js';
import { launch } from './chromium.js';
import { askThePage } from './package/guide-page.js';
import { printedFiles } from './package/printed.js';
import { Project, pack } from './package/project.js';
import { serve } from './package/server.js';
import { startService } from './package/service.js';
import { directory } from './package-under-test.js';

/** Where the packages of `bundlers/package.json` are installed. */
const PACKAGES = join(process.env.WINDLASS_BUNDLERS ?? fileURLToPath(new URL('bundlers', import.meta.url)), 'node_modules');

/** A Node for tools that need 22, if the packages of the tests have one for this platform. */
const NEWER_NODE = [
  fileURLToPath(new URL(`../node_modules/node-${process.platform}-${process.arch}/bin/node`, import.meta.url)),
  process.execPath,
].find((program) => existsSync(program));

/** What Next needs, as copies: it follows no links out of a project. */
const NEXT = [
  'next', 'react', 'react-dom', '@next', '@swc', 'styled-jsx', 'client-only', 'scheduler', 'postcss', 'nanoid', 'picocolors',
  'source-map-js', 'caniuse-lite', 'baseline-browser-mapping', 'tslib',
];

const folder = mkdtempSync(join(tmpdir(), 'windlass-bundlers-'));
const page = printedFiles('docs/browser.md');
const worker = printedFiles('docs/edge.md');
let tarball;
let model;
let browser;
let env;

before(async () => {
  assert.ok(existsSync(PACKAGES), `${PACKAGES} is not there: \`cargo xtask attack bundlers\` installs what the tests build with`);
  tarball = await pack(directory, folder);
  model = await Model.start();
  browser = await launch();
  env = { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'secret', NEXT_TELEMETRY_DISABLED: '1', WRANGLER_SEND_METRICS: 'false', CI: '1' };
});

after(async () => {
  await browser?.close();
  await model?.stop();
  rmSync(folder, { recursive: true });
});

/** Runs a test in a project with these files. */
async function inProject(files, work) {
  const project = await Project.create(tarball, files);
  const closing = [() => project.remove()];
  try {
    await work(project, (close) => closing.push(close));
  } finally {
    for (const close of closing.reverse()) await close();
  }
}

const some = (files, ...names) => Object.fromEntries(names.map((name) => [name, files[name]]));

/** The program of a runtime that npm brings for this platform. */
function program(scope, name) {
  const found = readdirSync(join(PACKAGES, scope)).flatMap((folder) => [
    join(PACKAGES, scope, folder, name),
    join(PACKAGES, scope, folder, 'bin', name),
  ]);
  return found.find((file) => existsSync(file)) ?? assert.fail(`npm has brought no ${name}`);
}

test('card_4_the_guide_runs_in_deno_and_bun', async () => {
  await inProject(some(page, 'agent.js'), async (project) => {
    for (const command of [[program('@deno', 'deno'), 'run', '-A', 'agent.js'], [program('@oven', 'bun'), 'agent.js']]) {
      model.answer({ call: { name: 'Dice', input: {} } }, 'It fell.');
      assert.equal(await project.runWith(env, ...command), 'It fell.\n');
    }
  });
});

test('card_4_the_guide_is_built_by_esbuild', async () => {
  await inProject(some(page, 'index.html', 'main.js', 'build.sh'), async (project, closing) => {
    project.link('esbuild');
    await project.run('sh', '-e', 'build.sh');
    const headers = { 'content-security-policy': "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'" };
    const built = await serve({ folders: { '/': project.path('dist') }, headers, forward: { '/model': model.url } });
    closing(() => built.close());
    await askThePage(browser, model, `${built.url}/`);
  });
});

for (const bundler of ['--webpack', '--turbopack']) {
  test(`card_4_the_guide_is_built_by_next_${bundler.slice(2)}`, async () => {
    const layout = 'export default ({ children }) => <html lang="en"><body>{children}</body></html>;\n';
    await inProject({ ...some(page, 'app/page.js', 'app/model/v1/messages/route.js'), 'app/layout.js': layout }, async (project, closing) => {
      project.copy(PACKAGES, ...NEXT);
      const next = [process.execPath, 'node_modules/next/dist/bin/next'];
      await project.runWith(env, ...next, 'build', bundler);
      const command = [...next, 'start', '--hostname', '127.0.0.1', '--port', '0'];
      const served = await startService({ cwd: project.path(), env }, /(http:\/\/127\.0\.0\.1:[1-9]\d*)/, command);
      closing(() => served.stop());
      await askThePage(browser, model, served.url);
      assert.equal(model.requests.at(-1).headers['x-api-key'], 'secret');
    });
  });
}

/** Asks a worker; gives the events of its answer. */
async function ask(url, prompt) {
  const response = await fetch(`${url}/sessions`, {
    method: 'POST',
    headers: { authorization: 'Bearer visitor' },
    body: JSON.stringify({ prompt }),
  });
  assert.equal(response.status, 200);
  return response.text();
}

test('card_4_the_handler_of_the_edge_is_served_by_deno', async () => {
  await inProject(some(worker, 'agents.js'), async (project, closing) => {
    const variables = { ...env, BASE_URL: model.url, API_KEY: 'secret', VISITORS: 'visitor' };
    const command = [program('@deno', 'deno'), 'serve', '-A', '--host', '127.0.0.1', '--port', '0', 'agents.js'];
    const served = await startService({ cwd: project.path(), env: variables }, /(http:\/\/127\.0\.0\.1:[1-9]\d*)/, command);
    closing(() => served.stop());
    assert.equal((await fetch(`${served.url}/sessions`, { method: 'POST' })).status, 401);
    model.answer('Here.');
    assert.match(await ask(served.url, 'Where?'), /"result":"Here\."/);
  });
});

test('card_4_the_worker_of_the_guide_is_built_and_served_by_wrangler', async () => {
  const withFiles = worker['worker.js'].replace('options: (env) => ({', 'options: async (env) => ({ ...(await withFiles()),');
  const files = {
    ...some(worker, 'worker.js', 'wrangler.jsonc', 'files.js'),
    'readme.js': printedFiles('README.md')['worker.js'],
    'with-files.js': `import { withFiles } from './files.js';\n${withFiles.replace("['Note']", "['Note', 'Glob']")}`,
  };
  await inProject(files, async (project, closing) => {
    const wrangler = [NEWER_NODE, join(PACKAGES, 'wrangler/bin/wrangler.js')];
    const variables = [`BASE_URL:${model.url}`, 'API_KEY:secret', 'VISITORS:visitor'].flatMap((variable) => ['--var', variable]);
    const serveWorker = async (...main) => {
      const command = [...wrangler, 'dev', ...main, '--ip', '127.0.0.1', '--port', '0', ...variables];
      const served = await startService({ cwd: project.path(), env }, /Ready on (http:\S+)/, command);
      closing(() => served.stop());
      return served.url;
    };
    const url = await serveWorker();
    assert.equal((await fetch(`${url}/sessions`, { method: 'POST' })).status, 401);
    model.answer({ call: { name: 'Note', input: { text: 'a' } } }, 'It is noted.');
    assert.match(await ask(url, 'Note a.'), /event: message\ndata: .*"result":"It is noted\."/);

    const urlOfReadme = await serveWorker('readme.js');
    model.answer('Here.');
    assert.match(await ask(urlOfReadme, 'Where?'), /"result":"Here\."/);

    const urlWithFiles = await serveWorker('with-files.js');
    model.answer({ call: { name: 'Glob', input: { pattern: '**' } } }, 'There is none.');
    assert.match(await ask(urlWithFiles, 'Which files?'), /"result":"There is none\."/);
    assert.match(JSON.stringify(model.requests.at(-1).body.messages.at(-1)), /No files/);
  });
});
