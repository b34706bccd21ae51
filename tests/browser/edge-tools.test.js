/** What agents at the edge work with, in workerd: components that were turned into JavaScript ahead, a server of MCP, a shell. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { Model } from './edge/model.js';
import { Workerd } from './edge/workerd.js';
import { Server } from './mcp/server.js';
import { printedFiles } from './package/printed.js';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const directory = process.env.WINDLASS_BROWSER ?? join(HERE, '../../target/browser');
const components = process.env.WINDLASS_PAGE_COMPONENTS;
const skip = ['linux', 'darwin'].includes(process.platform) ? false : 'there is no workerd for this platform';
const folder = mkdtempSync(join(tmpdir(), 'windlass-edge-tools-'));
let model;
let server;
let workerd;

before(async () => {
  if (skip) return;
  assert.ok(components, '$WINDLASS_PAGE_COMPONENTS names the folder of policy.wasm and words.wasm');
  [model, server] = await Promise.all([Model.start(), Server.start()]);
  const modules = ['words', 'policy'].flatMap(transpiled);
  writeFileSync(join(folder, 'modules.js'), moduleThatImports(modules));
  writeFileSync(join(folder, 'settings.js'), printedFiles('docs/edge.md')['settings.js']);
  const worker = join(folder, 'worker.js');
  await build({
    entryPoints: [join(HERE, 'edge/tools-worker.js')],
    outfile: worker,
    bundle: true,
    format: 'esm',
    platform: 'browser',
    conditions: ['workerd', 'worker', 'browser'],
    external: ['*.wasm'],
    alias: {
      package: directory,
      windlass: join(directory, 'index.js'),
      'windlass/settings': join(directory, 'settings.js'),
      'windlass/settings.wasm': 'windlass_browser_settings_bg.wasm',
      components: folder,
      'node:zlib': join(directory, 'no-zlib.js'),
    },
    nodePaths: [join(HERE, '../node_modules')],
    logLevel: 'error',
  });
  workerd = new Workerd({
    directory,
    worker,
    files: Object.fromEntries(modules.map(({ name, file }) => [name, file])),
    texts: { MODEL: model.url, MCP: server.url },
    objects: { SESSIONS: 'SessionObject', SETTLED: 'SettledObject', UNSETTLED: 'UnsettledObject' },
  });
  await workerd.start();
});

after(async () => {
  await workerd?.remove();
  await server?.stop();
  await model?.stop();
  rmSync(folder, { recursive: true });
});

/** Turns a component into JavaScript; gives its core modules. */
function transpiled(name) {
  const output = join(folder, name);
  mkdirSync(output);
  execFileSync(process.execPath, [join(HERE, 'transpile.js'), join(components, `${name}.wasm`), name, directory, output]);
  const code = join(output, `${name}.js`);
  writeFileSync(code, compilesNothing(readFileSync(code, 'utf8')));
  return readdirSync(output)
    .filter((file) => file.endsWith('.wasm'))
    .map((file) => ({ name: file, file: join(output, file) }));
}

/** What jco makes of a component in JavaScript compiles a helper when it is loaded, which nothing uses here. As docs/edge.md says. */
function compilesNothing(code) {
  return code
    .replace(/^const (_conditionalSuspending\w+) = new WebAssembly\.Module\(/m, 'const $1 = () => new WebAssembly.Module(')
    .replace(/^ {2}(_conditionalSuspending\w+Module),$/m, '  $1(),');
}

/** What workers have instead of compiling: modules that are imported. */
function moduleThatImports(modules) {
  const imports = modules.map(({ name }, index) => `import m${index} from ${JSON.stringify(name)};`);
  const entries = modules.map(({ name }, index) => `${JSON.stringify(name)}: m${index}`);
  return `${imports.join('\n')}\nexport default { ${entries.join(', ')} };\n`;
}

/** Has the model make a call; gives its result as the model gets it. */
async function resultOf(name, input, headers = {}) {
  model.answer({ call: { name, input } }, 'So it is.');
  const response = await fetch(`${workerd.url}/sessions`, { method: 'POST', headers, body: JSON.stringify({ prompt: 'Go.' }) });
  const events = await response.text();
  assert.match(events, /"result":"So it is\."/, events);
  return model.requests.at(-1).body.messages.at(-1).content[0];
}

test('card_4_a_tool_of_a_component_runs_at_the_edge', { skip }, async () => {
  const { content, is_error } = await resultOf('CountWords', { file_path: '/project/README.md' });
  assert.ok(!is_error, JSON.stringify(content));
  assert.match(JSON.stringify(content), /3 words, 2 different/);
});

test('card_4_a_hook_of_a_component_judges_at_the_edge', { skip }, async () => {
  const refused = await resultOf('Write', { file_path: '/project/notes.md', content: 'x' });
  assert.ok(refused.is_error, JSON.stringify(refused));
  const allowed = await resultOf('Write', { file_path: '/project/src/notes.md', content: 'x' });
  assert.match(JSON.stringify(allowed.content), /wrote \/project\/src\/notes\.md/);
});

test('card_4_a_server_of_mcp_is_reached_from_the_edge', { skip }, async () => {
  assert.match(JSON.stringify(await resultOf('mcp__tester__add', { a: 1, b: 2 })), /3/);
});

test('card_4_a_shell_runs_at_the_edge', { skip }, async () => {
  const { content, is_error } = await resultOf('Bash', { command: "cat README.md | tr ' ' '\\n' | sort | uniq -c" });
  assert.ok(!is_error, JSON.stringify(content));
  assert.match(JSON.stringify(content), /1 one.*2 two/s);
});

test('card_4_instructions_in_files_and_settings_count_at_the_edge', { skip }, async () => {
  // What reads them is a module of its own. Without it there is one clear message; once the isolate has it, all of its objects do.
  const without = await fetch(`${workerd.url}/sessions`, { method: 'POST', headers: { settings: 'unsettled' }, body: JSON.stringify({ prompt: 'Go.' }) });
  assert.match(await without.text(), /`initSettings`/);
  const denied = await resultOf('Write', { file_path: '/work/src/notes.md' }, { settings: 'settled' });
  assert.ok(denied.is_error, JSON.stringify(denied));
  assert.match(JSON.stringify(model.requests.at(-1).body), /Answer in one sentence\./);
});
