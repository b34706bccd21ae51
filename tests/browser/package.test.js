/** The package as people get it: packed, checked, installed into a fresh project, and bundled. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Model } from './edge/model.js';
import { printedFiles } from './package/printed.js';
import { Project, pack } from './package/project.js';
import { directory } from './package-under-test.js';

const folder = mkdtempSync(join(tmpdir(), 'windlass-package-'));
let tarball;
let project;

before(async () => {
  tarball = await pack(directory, folder);
  project = await Project.create(tarball, { 'agent.js': printedFiles('docs/browser.md')['agent.js'] });
  project.link('publint', '@arethetypeswrong/cli', 'esbuild');
});

after(() => {
  project?.remove();
  rmSync(folder, { recursive: true });
});

test('publint_and_attw_find_nothing', async () => {
  await project.run(process.execPath, 'node_modules/publint/src/cli.js', tarball, '--strict');
  await project.run(process.execPath, 'node_modules/@arethetypeswrong/cli/dist/index.js', tarball, '--profile', 'esm-only');
});

test('the_package_has_what_belongs_to_it_and_nothing_else', async () => {
  const [{ files }] = JSON.parse(await project.run('npm', 'pack', '--json', '--dry-run', tarball));
  const paths = files.map(({ path }) => path);
  for (const path of ['LICENSE-APACHE', 'LICENSE-MIT', 'README.md', 'index.d.ts', 'files/files.core.wasm']) assert.ok(paths.includes(path), path);
  assert.deepEqual(paths.filter((path) => !/^(LICENSE-\w+|README\.md|package\.json|(files\/)?[\w.-]+\.(js|wasm)|[\w-]+\.d\.ts)$/.test(path)), []);
});

test('a_project_in_node_runs_as_printed', async () => {
  const model = await Model.start();
  try {
    model.answer({ call: { name: 'Dice', input: {} } }, 'It fell.');
    const env = { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'secret' };
    assert.equal(await project.runWith(env, process.execPath, 'agent.js'), 'It fell.\n');
    assert.equal(model.requests.at(-1).headers['x-api-key'], 'secret');
  } finally {
    await model.stop();
  }
});

test('what_is_not_used_is_not_bundled', async () => {
  const bundle = async (line) => {
    project.write({ 'use.js': line });
    return project.run(process.execPath, 'node_modules/esbuild/bin/esbuild', 'use.js', '--bundle', '--format=esm', '--minify');
  };
  assert.equal(await bundle("import 'windlass'; import 'windlass/files'; import 'windlass/edge'; import 'windlass/testkit';"), '');
  const tool = await bundle("import { tool } from 'windlass'; export default tool;");
  assert.ok(tool.length < 6000 && !tool.includes('.wasm'), `${tool.length} characters`);
  const agent = await bundle("import { Agent } from 'windlass'; export default Agent;");
  assert.ok(agent.includes('windlass_browser_bg.wasm') && !agent.includes('testkit') && !agent.includes('files.core.wasm'));
});
