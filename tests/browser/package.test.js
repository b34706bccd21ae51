/** The package as people get it: packed, checked, installed into a fresh project, and bundled. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Model } from './edge/model.js';
import { printedFiles } from './package/printed.js';
import { Project, pack } from './package/project.js';
import { directory } from './package-under-test.js';

const folder = mkdtempSync(join(tmpdir(), 'windlass-package-'));
const manifest = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
/** The entries that are JavaScript. */
const entries = Object.entries(manifest.exports).flatMap(([entry, { default: file = '' }]) => (file.endsWith('.js') ? [entry.replace('.', 'windlass')] : []));
let tarball;
let project;

before(async () => {
  tarball = await pack(directory, folder);
  project = await Project.create(tarball, { 'agent.js': printedFiles('docs/browser.md')['agent.js'] });
  project.link('publint', '@arethetypeswrong/cli', 'esbuild', ...Object.keys(manifest.peerDependencies));
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

test('modules_come_from_anywhere_and_a_load_that_failed_is_tried_again', async () => {
  const core = "import.meta.resolve('windlass/core.wasm')";
  const bytes = `(await readFile(new URL(${core})))`;
  for (const given of [core, `new URL(${core})`, bytes, `new Response(${bytes})`, `WebAssembly.compile(${bytes})`, 'undefined']) {
    const script = `
      import { readFile } from 'node:fs/promises';
      import { Agent, init } from 'windlass';
      await init('file:///nowhere.wasm').catch((error) => console.log(error.code));
      await init(${given});
      await new Agent({ allowedTools: ['Read('] }).run('Hi.').catch((error) => console.log(error.message));
    `;
    const [failed, loaded] = (await project.run(process.execPath, '--input-type=module', '--eval', script)).split('\n');
    assert.equal(failed, 'ENOENT', given);
    assert.match(loaded, /parenthesis/, given); // which only the core finds
  }
});

test('where_nothing_is_beside_the_package_that_is_said', async () => {
  const { loadOnce } = await import(pathToFileURL(join(directory, 'load-once.js')));
  const init = loadOnce(() => assert.fail('it started'), () => new URL('./core.wasm', undefined));
  await assert.rejects(init(), /nothing can be loaded from beside the package here: give its modules yourself/);
});

test('the_file_tools_take_their_modules', async () => {
  const script = `
    import { readFile } from 'node:fs/promises';
    import { Agent, MemoryFileSystem } from 'windlass';
    import { fileTools } from 'windlass/files';
    import { ScriptedModel } from 'windlass/testkit';
    const names = ['files.core.wasm', 'files.core2.wasm', 'files.core3.wasm'];
    const read = [];
    const modules = Object.fromEntries(names.map((name) => [name, readFile(new URL(import.meta.resolve('windlass/files/' + name))).then((bytes) => {
      read.push(name);
      return bytes;
    })]));
    await fileTools({ modules: { 'core.wasm': modules['files.core.wasm'] } }).catch((error) => console.log(error.message));
    const call = { content: [{ type: 'tool_use', name: 'Read', input: { file_path: '/a' } }] };
    const model = await ScriptedModel.load({ exchanges: [{ respond: call }, { expect: { last_user_contains: 'alpha' }, respond: 'Read.' }] });
    const files = new MemoryFileSystem({ files: { '/a': 'alpha' } });
    const agent = new Agent({ fetch: model.fetch, files, plugins: [await fileTools({ modules })], allowedTools: ['Read'] });
    console.log((await agent.run('Read.')).result, read.length);
  `;
  const said = await project.run(process.execPath, '--input-type=module', '--eval', script);
  assert.match(said, /^fileTools: there is no module "core\.wasm", only files\.core\.wasm.*\nRead\. 3\n$/);
});

/** A program that imports a module, and prints what that has changed or begun, a line each. */
const IMPORTING = `
  const told = new Set();
  // What Node loads when its globals are looked at compiles a module, too, and so does jco when it is imported.
  const others = ['node:internal/deps/', '/node_modules/@bytecodealliance/jco-transpile/'];
  const tell = (what) => others.some((place) => new Error().stack.includes(place)) || told.add(what);
  const wasm = ['compile', 'compileStreaming', 'instantiate', 'instantiateStreaming', 'Module', 'Instance', 'Memory'];
  const watched = [...['fetch', 'setTimeout', 'setInterval', 'Worker'].map((name) => [globalThis, name]), ...wasm.map((name) => [WebAssembly, name])];
  for (const [object, name] of watched) {
    object[name] = new Proxy(object[name] ?? class {}, {
      apply: (called, self, given) => (tell(name + ' was called'), Reflect.apply(called, self, given)),
      construct: (made, given) => (tell(name + ' was made'), Reflect.construct(made, given)),
    });
  }
  for (const name of Object.getOwnPropertyNames(globalThis)) void globalThis[name]; // some are made when they are first looked at
  const builtIns = [globalThis, ...Object.values(Object.getOwnPropertyDescriptors(globalThis)).flatMap(({ value }) => {
    return typeof value === 'function' && value.prototype ? [value, value.prototype] : [];
  })];
  const state = () => builtIns.map((object) => Object.getOwnPropertyDescriptors(object));
  const before = state();
  await import(process.argv[2]);
  for (const [at, after] of state().entries()) {
    for (const name of new Set([...Reflect.ownKeys(before[at]), ...Reflect.ownKeys(after)])) {
      if (String(name).startsWith('__zod_global')) continue; // of Zod, which the SDK of MCP imports
      const [old, now] = [before[at][name] ?? {}, after[name] ?? {}];
      if (!['value', 'get', 'set'].every((part) => Object.is(old[part], now[part]))) told.add(String(name) + ' has changed');
    }
  }
  console.log([...told].join('\\n'));
`;

test('importing_changes_nothing_and_begins_nothing', async () => {
  project.write({ 'importing.js': IMPORTING });
  const importing = (specifier) => project.run(process.execPath, 'importing.js', specifier);
  for (const entry of entries) assert.equal(await importing(entry), '\n', entry);
  for (const [planted, told] of [
    ['globalThis.planted = 1;', 'planted has changed\n'], ["Array.prototype.planted = () => '';", 'planted has changed\n'],
    ["fetch('data:,');", 'fetch was called\n'], ['new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]));', 'Module was made\n'],
  ]) {
    project.write({ 'planted.js': planted });
    assert.equal(await importing('./planted.js'), told);
  }
});

test('what_is_not_used_is_not_bundled', async () => {
  const bundle = async (line) => {
    project.write({ 'use.js': line });
    const externals = ['node:*', ...Object.keys(manifest.peerDependencies)].map((name) => `--external:${name}`);
    return project.run(process.execPath, 'node_modules/esbuild/bin/esbuild', 'use.js', '--bundle', '--format=esm', '--minify', ...externals);
  };
  for (const entry of entries) assert.equal(await bundle(`import '${entry}';`), '', entry);
  const tool = await bundle("import { tool } from 'windlass'; export default tool;");
  assert.ok(tool.length < 6000 && !tool.includes('.wasm'), `${tool.length} characters`);
  const agent = await bundle("import { Agent } from 'windlass'; export default Agent;");
  assert.ok(agent.includes('windlass_browser_bg.wasm') && !agent.includes('testkit') && !agent.includes('files.core.wasm'));
});
