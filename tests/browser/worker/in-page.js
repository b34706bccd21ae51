/** What the tests of components in Workers do in a page. */
import { fileTools } from '/package/files.js';
import { declaration } from '/package/files/declaration.js';
import * as windlass from '/package/index.js';
import * as testkit from '/package/testkit.js';
import { WorkerPlugin } from '/package/worker-plugin.js';

const declared = (access, judges) => ({
  name: 'probe',
  version: '0.1.0',
  wit: '0.1.0',
  tools: [{ name: 'Probe', description: 'Probes.', input_schema: { type: 'object' }, paths: [{ field: 'root', access }] }],
  hooks: judges ? [{ name: 'Look', kind: 'judge', event: 'PreToolUse', matcher: 'Probe' }] : [],
  grants: { filesystem: 'write', state: 'session' },
  limits: { timeout_ms: 1_000, memory_bytes: 1 << 20 },
});

/** Runs a prompt in which the model calls the tool with each of these inputs; gives the results, the log, and the files. */
export async function probe(inputs, { access = 'write', judges = false, grant = { workspace: 'write', state: true }, disallowedTools = [], interruptAt, opfs } = {}) {
  await windlass.init();
  const calls = inputs.map((input) => ({ respond: { content: [{ type: 'tool_use', name: 'Probe', input: { root: '/w', ...input } }] } }));
  const model = await testkit.ScriptedModel.load({ exchanges: [...calls, { respond: 'Done.' }] });
  const plugin = new WorkerPlugin(declared(access, judges), '/tests/worker/probe.js', grant);
  const files = opfs ? await windlass.OpfsFileSystem.open(opfs) : new windlass.MemoryFileSystem();
  await put(files, { '/w/a.txt': 'alpha', '/w/.env': 'KEY=1', '/other/b.txt': 'beta' });
  const told = [];
  const agent = new windlass.Agent({
    fetch: model.fetch,
    cwd: '/w',
    files,
    plugins: [plugin],
    allowedTools: ['Probe'],
    disallowedTools,
    progressIntervalMs: 1,
    pluginLog: (name, level, message) => told.push(`${name} ${level} ${message}`),
  });
  const results = [];
  let beats = 0;
  const beat = setInterval(() => (beats += 1), 10);
  const run = agent.query('Go.');
  for await (const message of run) {
    if (message.type === 'assistant' && results.length === interruptAt) setTimeout(() => run.interrupt(), 300);
    if (message.type === 'tool_progress') told.push('progress');
    if (message.type !== 'user') continue;
    for (const { type, content } of message.message.content) {
      if (type === 'tool_result') results.push(typeof content === 'string' ? content : content.map(({ text }) => text).join());
    }
  }
  clearInterval(beat);
  plugin.close();
  const stat = await files.read('/w/new.txt');
  return { results, told, beats, written: stat && new TextDecoder().decode(stat.content) };
}

/** What the model is told of these calls, one after another, and the file `/w/a.txt` afterwards; `inWorker`: the file tools, too, are in a Worker. */
export async function withFileTools(calls, { inWorker = false } = {}) {
  await windlass.init();
  const asked = calls.map(([name, input]) => ({ respond: { content: [{ type: 'tool_use', name, input }] } }));
  const model = await testkit.ScriptedModel.load({ exchanges: [...asked, { respond: 'Done.' }] });
  const tools = inWorker ? new WorkerPlugin(declaration, '/package/files/files.js', { workspace: 'write' }) : await fileTools();
  const prober = new WorkerPlugin(declared('write', false), '/tests/worker/probe.js', { workspace: 'write' });
  const files = new windlass.MemoryFileSystem({ files: { '/w/a.txt': 'alpha', '/w/empty.txt': '' } });
  const agent = new windlass.Agent({
    fetch: model.fetch,
    cwd: '/w',
    files,
    plugins: [tools, prober],
    allowedTools: ['Probe', 'Read', 'Edit', 'Write'],
  });
  const told = [];
  for await (const message of agent.query('Go.')) if (message.type === 'user') told.push(JSON.stringify(message.message.content));
  for (const plugin of [tools, prober]) plugin.close?.();
  return { told, text: files.readText('/w/a.txt'), empty: files.readText('/w/empty.txt') };
}

async function put(files, contents) {
  for (const directory of ['/w', '/other']) await files.change([{ type: 'createDirectory', path: directory }]);
  for (const [path, content] of Object.entries(contents)) {
    await files.change([{ type: 'write', path, content: new TextEncoder().encode(content) }]);
  }
}
