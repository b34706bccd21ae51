/** What components get in JavaScript, and what their hooks can do. Here they are made of JavaScript, as jco would hand them over. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testkit, windlass } from './package-under-test.js';

const { Agent, MemoryFileSystem, Plugin, tool } = windlass;
await windlass.init();

const TOOL = { name: 'Touch', description: 'Touches.', input_schema: { type: 'object' } };
const HOOK = { name: 'Look', kind: 'judge', event: 'PreToolUse', matcher: 'Touch' };

/** What a function with an error in its type throws when it is transpiled. */
class ComponentError extends Error {
  constructor(payload) {
    super('it returned an error');
    this.payload = payload;
  }
}

const declared = (parts) => ({ name: 'probe', version: '0.1.0', wit: '0.1.0', ...parts });

/** A plugin whose functions get the imports of their instance. */
function pluginOf(declaration, exports, grant) {
  const instantiate = async (module, imports) =>
    Object.fromEntries(Object.entries(exports).map(([name, run]) => [name, (given) => run(imports, given)]));
  return new Plugin(declared(declaration), instantiate, undefined, grant);
}

const said = (text) => ({ content: [{ tag: 'text', val: text }], isError: false, observed: [] });
const callOf = (name, input = {}) => ({ respond: { content: [{ type: 'tool_use', name, input }] } });

/** Runs one prompt, in which the model calls these tools, one after another; gives all messages. */
async function run(calls, options) {
  const clock = new testkit.VirtualClock();
  const exchanges = [...calls, { respond: 'Done.' }];
  const model = await testkit.ScriptedModel.load({ exchanges }, { clock });
  const agent = new Agent({ fetch: model.fetch, clock, cwd: '/w', seed: new Uint8Array(32), ...options });
  const messages = [];
  for await (const message of agent.query('Go.')) messages.push(message);
  model.verify();
  return messages;
}

const results = (messages) =>
  messages
    .filter((message) => message.type === 'user')
    .flatMap((message) => message.message.content)
    .map(({ content, is_error }) => ({ text: content.map?.((block) => block.text).join() ?? content, error: is_error ?? false }));

const hookResponses = (messages) => messages.filter((message) => message.subtype === 'hook_response');

test('a tool without a grant reaches no file, whatever rules allow', async () => {
  const declaration = { tools: [{ ...TOOL, paths: [{ field: 'file_path', access: 'write' }] }], grants: { filesystem: 'write' } };
  const reached = async (grant, path) => {
    let roots = [];
    const call = ({ 'windlass:host/filesystem': files }) => {
      roots = files.roots().map((root) => `${root.access} ${root.path}`);
      return said('touched');
    };
    const files = new MemoryFileSystem({ files: { '/w/a.txt': 'a', '/d/b.txt': 'b' } });
    const plugins = [pluginOf(declaration, { call }, grant)];
    await run([callOf('Touch', { file_path: path })], { files, plugins, allowedTools: ['Touch'] });
    return roots;
  };
  for (const path of ['/w/a.txt', '/d/b.txt']) {
    assert.deepEqual(await reached(undefined, path), []);
    assert.deepEqual(await reached({}, path), []);
  }
  assert.deepEqual(await reached({ workspace: 'write' }, '/w/a.txt'), ['write /w']);
  assert.deepEqual(await reached({ workspace: 'write' }, '/d/b.txt'), []);
  assert.deepEqual(await reached({ directories: { '/d': 'write' } }, '/d/b.txt'), ['write /d']);
  assert.deepEqual(await reached({ directories: { '/d': 'read' } }, '/d/b.txt'), []); // it asks for writing
});

test('what nobody asks for cannot be granted, and what nobody enforces cannot be declared', () => {
  const make = (declaration, grant) => () => pluginOf(declaration, {}, grant);
  assert.throws(make({}, { env: { HOME: '/' } }), /for which it does not ask/);
  assert.throws(make({}, { state: true }), /for which it does not ask/);
  assert.throws(make({}, { http: ['https://example.com'] }), /for which it does not ask/);
  assert.throws(make({}, { processes: true }), /does not hand out/);
  assert.throws(make({ grants: { filesystem: 'read' } }, { directories: { logs: 'read' } }), /not absolute/);
  assert.throws(make({ privileged: true }), /`privileged`/);
  assert.throws(make({ grants: { processes: true } }), /`processes`/);
  assert.throws(make({ tools: [{ ...TOOL, grant: [{ path: '/', access: 'write' }] }] }), /`grant`/);
  assert.throws(make({ tools: [TOOL, TOOL] }), /there twice/);
  assert.throws(make({ hooks: [{ ...HOOK, event: 'PostToolUse' }] }), /nothing can be refused/);
  assert.throws(make({ wit: '9.0.0' }), /version 9.0.0/);
  assert.throws(make({ hooks: [HOOK], instance: 'session' }), /"instance": "session".* has no tool/);
  assert.throws(make({ tools: [TOOL], instance: 'forever' }), /`instance`/);
});

test('a limit that is no number is refused', () => {
  const make = (declaration) => () => pluginOf(declaration, {});
  for (const name of ['memory_bytes', 'timeout_ms', 'output_bytes', 'log_bytes', 'host_calls', 'http_bytes']) {
    for (const limit of ['many', -1, 0.5, 1e300, {}, true]) assert.throws(make({ limits: { [name]: limit } }), /no whole number/, `${name} ${limit}`);
    // Under none of these at all no call runs.
    const isNeeded = ['memory_bytes', 'timeout_ms'].includes(name);
    assert[isNeeded ? 'throws' : 'doesNotThrow'](make({ limits: { [name]: 0 } }));
  }
  for (const timeout_ms of ['long', 0]) assert.throws(make({ tools: [{ ...TOOL, timeout_ms }] }), /no whole number/);
  for (const timeout_ms of ['long', 0, 60_001]) assert.throws(make({ hooks: [{ ...HOOK, timeout_ms }] }), /no whole number/);
});

const ROLES = [
  { role: 'database', access: 'read', description: 'where the data is' },
  { role: 'logs', access: 'write', description: 'where reports go' },
];

/** What a tool reaches that names no path: of each directory its access and path, and whether it was read and written. */
async function reachedByRole(grant, { tool = {}, input = {}, grants = {}, ...options } = {}) {
  let seen = [];
  const call = ({ 'windlass:host/filesystem': files, 'windlass:host/config': config }) => {
    const attempt = (run) => {
      try {
        return run() === undefined ? '+' : 'read';
      } catch (code) {
        return code;
      }
    };
    seen = files.roots().map(({ path, access, directory }) => {
      const read = attempt(() => directory.read('note.txt', 0, 100));
      const bytes = new TextEncoder().encode('x');
      const written = attempt(() => directory.write('made.txt', bytes, { createNew: false, createParents: false }));
      return `${access} ${path} ${read} ${written}`;
    });
    return said(['database', 'logs', 'other'].map((role) => config.get(`directory:${role}`) ?? '-').join());
  };
  const files = new MemoryFileSystem({ files: { '/w/note.txt': 'w', '/data/note.txt': 'd', '/data/in/note.txt': 'i', '/logs/note.txt': 'l' } });
  const declaration = { tools: [{ ...TOOL, ...tool }], grants: { directories: ROLES, ...grants } };
  const plugins = [pluginOf(declaration, { call }, grant)];
  const [{ text }] = results(await run([callOf('Touch', input)], { files, plugins, allowedTools: ['Touch'], ...options }));
  return [text, ...seen];
}

test('directories by role are reached as they were granted, whatever a call names', async () => {
  const data = { path: '/data', access: 'read' };
  const logs = { path: '/logs', access: 'write' };
  assert.deepEqual(await reachedByRole({}), ['-,-,-']);
  assert.deepEqual(await reachedByRole({ roles: { database: data, logs } }), [
    '/data,/logs,-',
    'read /data read read-only',
    'write /logs read +',
  ]);
  assert.deepEqual(await reachedByRole({ roles: { logs: { ...logs, access: 'read' } } }), ['-,/logs,-', 'read /logs read read-only']);
  assert.deepEqual(await reachedByRole({ roles: { logs } }, { tool: { annotations: { readOnly: true } } }), ['-,/logs,-', 'read /logs read read-only']);
  // What is granted to be read is not written, although it lies in what is.
  const nested = { database: { path: '/data/in', access: 'read' }, logs: { path: '/data', access: 'write' } };
  assert.deepEqual((await reachedByRole({ roles: nested })).slice(1), ['read /data/in read read-only', 'write /data read +']);
  // Rules close files there.
  for (const [rule, told] of [
    ['Read(//logs/note.txt)', 'write /logs not-found +'],
    ['Edit(//logs/**)', 'write /logs read read-only'],
    ['Edit', 'write /logs read read-only'],
    // A directory that is closed altogether is none that was granted.
    ['Read'],
  ]) {
    const expected = told ? [told] : [];
    assert.deepEqual((await reachedByRole({ roles: { logs } }, { disallowedTools: [rule] })).slice(1), expected, rule);
  }
});

test('a role that nobody asks for, or not so, cannot be granted', () => {
  const make = (roles, more = {}, grants = {}) => () => pluginOf({ grants: { directories: ROLES, ...grants } }, {}, { roles, ...more });
  const read = (path) => ({ path, access: 'read' });
  assert.throws(make({ cache: read('/c') }), /role `cache`, for which it does not ask/);
  assert.throws(make({ database: { path: '/d', access: 'write' } }), /which it asks to read/);
  assert.throws(make({ database: { ...read('/d'), more: 1 } }), /a `path` and an `access`/);
  assert.throws(make({ database: '/d' }), /a `path` and an `access`/);
  for (const path of ['d', '', '/a/../b', undefined]) assert.throws(make({ database: read(path) }), /not absolute/);
  const logs = (path) => ({ path, access: 'write' });
  assert.throws(make({ database: read('/d'), logs: logs('/d/in') }), /granted to read/);
  assert.throws(make({ database: read('/d'), logs: logs('/d') }), /granted to read/);
  assert.throws(make({ database: read('/d') }, { directories: { '/d/in': 'write' } }, { filesystem: 'write' }), /granted to read/);
  const declare = (...directories) => () => pluginOf({ grants: { directories } }, {}, {});
  const [role] = ROLES;
  assert.doesNotThrow(declare(...ROLES));
  assert.throws(declare(role, role), /there twice/);
  assert.throws(declare({ ...role, role: 'a=b' }), /misspelt/);
  assert.throws(declare({ ...role, access: 'none' }), /no access/);
  assert.throws(declare({ ...role, path: '/etc' }), /`path`/);
  for (const description of ['', ' ', 'a\nb', 'a\u202eb', 'x'.repeat(201), undefined]) {
    assert.throws(declare({ ...role, description }), /description/);
  }
  assert.throws(declare(...Array.from({ length: 17 }, (_, n) => ({ ...role, role: `r${n}` }))), /more than 16/);
});

test('hooks reach directories by role', async () => {
  const opened = ({ path, directory }) => {
    try {
      return directory.read('note.txt', 0, 100) && path;
    } catch (code) {
      return code;
    }
  };
  const look = (imports) => ({ tag: 'deny', val: imports['windlass:host/filesystem'].roots().map(opened).join() });
  const asked = { tools: [TOOL], hooks: [HOOK], grants: { directories: ROLES } };
  const plugin = pluginOf(asked, { judge: look, call: () => said('called') }, { roles: { database: { path: '/data', access: 'read' } } });
  const files = new MemoryFileSystem({ files: { '/data/note.txt': 'd' } });
  const told = async (rule) => results(await run([callOf('Touch')], { files, plugins: [plugin], allowedTools: ['Touch'], disallowedTools: [rule] }))[0].text;
  assert.match(await told('Read(*.pem)'), /\/data/);
  // Rules close there what they close elsewhere.
  for (const rule of ['Read', 'Read(//data/**)']) assert.doesNotMatch(await told(rule), /\/data/, rule);
});

test('a component that imports more than there is is not run', async () => {
  const greedy = pluginOf({ tools: [TOOL] }, { call: (imports) => said(String(imports['wasi:sockets/tcp'])) });
  const [result] = results(await run([callOf('Touch')], { plugins: [greedy], allowedTools: ['Touch'] }));
  assert.equal(result.error, true);
  assert.match(result.text, /`wasi:sockets\/tcp`, which this host does not hand out/);
});

test('a component has no network and no secret, and only the variables it was granted', async () => {
  const call = (imports) => {
    const attempt = (interfaceName) => {
      try {
        return imports[interfaceName].send({}, []);
      } catch ({ tag }) {
        return tag;
      }
    };
    const { get } = imports['windlass:host/config'];
    return said([attempt('windlass:host/http'), attempt('windlass:host/secrets'), get('A'), get('B')].join());
  };
  const plugin = pluginOf({ tools: [TOOL], grants: { env: ['A', 'B'] } }, { call }, { env: { A: 'one' } });
  const [result] = results(await run([callOf('Touch')], { plugins: [plugin], allowedTools: ['Touch'] }));
  assert.equal(result.text, 'refused,refused,one,');
});

test('state is of one session, and only where it is granted', async () => {
  const call = ({ 'windlass:host/state': state }) => {
    const count = (state.get('count')?.[0] ?? 0) + 1;
    state.set('count', Uint8Array.of(count));
    return said(String(count));
  };
  const declaration = { tools: [TOOL], grants: { state: 'session' } };
  const texts = async (plugin) => {
    const messages = await run([callOf('Touch'), callOf('Touch')], { plugins: [plugin], allowedTools: ['Touch'] });
    return results(messages).map(({ text, error }) => (error ? 'error' : text));
  };
  const granted = pluginOf(declaration, { call }, { state: true });
  assert.deepEqual(await texts(granted), ['1', '2']);
  assert.deepEqual(await texts(granted), ['1', '2']); // another session
  assert.deepEqual(await texts(pluginOf(declaration, { call })), ['error', 'error']);
});

test('calls of the host, output and log are limited', async () => {
  const logged = [];
  const outcomes = {};
  const attempt = async (name, call, limits) => {
    const plugin = pluginOf({ tools: [TOOL], grants: { filesystem: 'read' }, limits }, { call }, { workspace: 'read' });
    const options = { plugins: [plugin], allowedTools: ['Touch'], pluginLog: (...line) => logged.push(line) };
    [outcomes[name]] = results(await run([callOf('Touch')], options));
  };
  await attempt('calls', ({ 'windlass:host/filesystem': files }) => {
    for (;;) files.workingDirectory();
  }, { host_calls: 99 });
  await attempt('output', () => said('x'.repeat(11)), { output_bytes: 10 });
  await attempt('log', ({ 'windlass:host/log': { log } }) => {
    for (let i = 0; i < 100; i += 1) log('info', 'y'.repeat(10));
    return said('logged');
  }, { log_bytes: 25 });
  assert.match(outcomes.calls.text, /more than 99 times/);
  assert.match(outcomes.output.text, /the limit is 10/);
  assert.equal(outcomes.log.text, 'logged');
  assert.equal(logged.map(([, , text]) => text).join(''), 'y'.repeat(25));
});

test('a judge refuses what rules allow, and allows nothing that they do not', async () => {
  const touched = [];
  const touch = tool('Touch', 'Touches.', { type: 'object' }, () => {
    touched.push('touched');
    return 'touched';
  });
  const judging = (judge) => pluginOf({ hooks: [HOOK] }, { judge });
  const attempt = async (judge, options = { allowedTools: ['Touch'] }) => {
    touched.length = 0;
    const messages = await run([callOf('Touch')], { tools: [touch], plugins: [judging(judge)], ...options });
    return { ran: touched.length > 0, text: results(messages)[0].text, outcomes: hookResponses(messages).map((it) => it.outcome) };
  };
  assert.equal((await attempt(() => ({ tag: 'pass' }))).ran, true);
  const denied = await attempt((imports, { event, input }) => ({
    tag: 'deny',
    val: `${event} of ${JSON.parse(input).tool_name} is closed`,
  }));
  assert.equal(denied.ran, false);
  assert.match(denied.text, /PreToolUse of Touch is closed/);
  assert.equal((await attempt(() => ({ tag: 'pass' }), {})).ran, false);
  assert.equal((await attempt(() => ({ tag: 'allow' }), {})).ran, false);
  // What fails has refused, however it fails, and the stream says so.
  const failures = [
    () => { throw new Error('unreachable'); },
    () => { throw new ComponentError('no idea'); },
    () => ({ tag: 'allow' }),
    () => ({ tag: 'narrow', val: { denyPaths: [{ pattern: '/w/**', access: 'read' }] } }), // the files of a closure
    () => ({ tag: 'deny', val: 'x'.repeat(20_000) }),
    () => undefined,
  ];
  for (const judge of failures) {
    const { ran, outcomes } = await attempt(judge);
    assert.equal(ran, false, String(judge));
    assert.deepEqual(outcomes, ['error'], String(judge));
  }
  const asked = [];
  const canUseTool = (name, input, { decisionReason }) => {
    asked.push(decisionReason);
    return { behavior: 'deny', message: 'no' };
  };
  const ask = await attempt(() => ({ tag: 'ask', val: 'really?' }), { allowedTools: ['Touch'], canUseTool });
  assert.equal(ask.ran, false);
  assert.equal(asked.length, 1);
});

test('a judge takes files away from a tool of a component', async () => {
  const seen = [];
  const call = ({ 'windlass:host/filesystem': files }) => {
    const [{ directory }] = files.roots();
    seen.push(directory.list('', undefined, false).entries.map(({ name }) => name));
    return said('looked');
  };
  const paths = [{ field: 'directory', access: 'read' }];
  const looker = pluginOf({ tools: [{ ...TOOL, paths }], grants: { filesystem: 'read' } }, { call }, { workspace: 'read' });
  const judge = pluginOf(
    { name: 'policy', hooks: [HOOK] },
    { judge: () => ({ tag: 'narrow', val: { denyPaths: [{ pattern: '**/.env', access: 'read' }] } }) },
  );
  const files = new MemoryFileSystem({ files: { '/w/a.txt': 'a', '/w/.env': 'KEY=1' } });
  await run([callOf('Touch', { directory: '/w' })], { files, plugins: [looker, judge], allowedTools: ['Touch'] });
  assert.deepEqual(seen, [['a.txt']]);
});

test('an observer sees, changes nothing, and may fail', async () => {
  const seen = [];
  const observing = (observe) =>
    pluginOf({ hooks: [{ ...HOOK, kind: 'observer', event: 'PostToolUse' }] }, { observe });
  const touch = tool('Touch', 'Touches.', { type: 'object' }, () => 'touched');
  for (const observe of [
    (imports, { input }) => void seen.push(JSON.parse(input).tool_name),
    () => ({ hookSpecificOutput: { hookEventName: 'PostToolUse', additionalContext: 'obey' } }),
    () => { throw new Error('unreachable'); },
  ]) {
    const messages = await run([callOf('Touch')], { tools: [touch], plugins: [observing(observe)], allowedTools: ['Touch'] });
    assert.deepEqual(results(messages), [{ text: 'touched', error: false }]);
    assert.doesNotMatch(JSON.stringify(messages), /obey/);
    assert.equal(messages.at(-1).subtype, 'success');
  }
  assert.deepEqual(seen, ['Touch']);
});

test('a hook reaches directories that were granted by their paths, and not the workspace', async () => {
  const seen = [];
  const observe = ({ 'windlass:host/filesystem': files }) => void seen.push(files.roots().map((root) => root.path));
  const plugin = pluginOf(
    { hooks: [{ ...HOOK, kind: 'observer', event: 'PostToolUse' }], grants: { filesystem: 'write' } },
    { observe },
    { workspace: 'write', directories: { '/log': 'write' } },
  );
  const files = new MemoryFileSystem({ files: { '/w/a.txt': 'a', '/log/begun.txt': '' } });
  const touch = tool('Touch', 'Touches.', { type: 'object' }, () => 'touched');
  await run([callOf('Touch')], { files, tools: [touch], plugins: [plugin], allowedTools: ['Touch'] });
  assert.deepEqual(seen, [['/log']]);
});

test('a component that trapped three times in a row is not run any more', async () => {
  let runs = 0;
  const call = () => {
    runs += 1;
    throw new Error('unreachable');
  };
  const plugin = pluginOf({ tools: [TOOL] }, { call });
  const messages = await run(Array(5).fill(callOf('Touch')), { plugins: [plugin], allowedTools: ['Touch'] });
  assert.equal(runs, 3);
  assert.match(results(messages)[4].text, /trapped 3 times in a row/);
});

test('callbacks are hooks: they see, refuse, allow and change what they were called for', async () => {
  const inputs = [];
  const touch = tool('Touch', 'Touches.', { type: 'object' }, (input) => {
    inputs.push(input);
    return 'touched';
  });
  const hooks = (output) => ({ PreToolUse: [{ matcher: 'Touch', hooks: [async (input) => output(input)] }] });
  const decided = (permissionDecision, more = {}) => ({
    hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision, ...more },
  });
  const attempt = async (output) => results(await run([callOf('Touch', { a: 1 })], { tools: [touch], hooks: hooks(output) }))[0];
  assert.equal((await attempt(() => decided('allow', { updatedInput: { a: 2 } }))).text, 'touched');
  assert.deepEqual(inputs, [{ a: 2 }]);
  assert.match((await attempt(() => decided('deny', { permissionDecisionReason: 'not today' }))).text, /not today/);
  const seen = [];
  await attempt((input) => void seen.push([input.hook_event_name, input.tool_name]));
  assert.deepEqual(seen, [['PreToolUse', 'Touch']]);
  assert.equal(inputs.length, 1);
});
