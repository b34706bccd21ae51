/** Components that keep their memory from call to call: of one session, for tools alone, and each call with what it was granted itself. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load, windlass } from './package-under-test.js';
import { agentOf, all, callOf } from './scripted-agent.js';

const { MemoryFileSystem, Plugin, tool } = windlass;
await windlass.init();

const TOOL = { name: 'Touch', description: 'Touches.', input_schema: { type: 'object' }, paths: [{ field: 'path', access: 'read' }] };
const said = (text) => ({ content: [{ tag: 'text', val: text }], isError: false, observed: [] });

/** A component whose `call` and `judge` get the memory of their instance, its imports and what they are given. */
function keeping({ call, judge, declared = {}, grant }) {
  const declaration = { name: 'keeps', version: '0.1.0', wit: '0.1.0', instance: 'session', tools: [TOOL], ...declared };
  const instantiate = async (module, imports) => {
    const memory = { calls: 0 };
    return { call: (given) => call(memory, imports, given), judge: (given) => judge(memory, imports, given) };
  };
  return new Plugin(declaration, instantiate, undefined, grant);
}

const counting = (memory) => said(`call ${(memory.calls += 1)}`);

/** What the calls of one session answer. */
async function called(plugin, inputs, options) {
  const { agent } = await agentOf([...inputs.map((input) => callOf('Touch', input)), { respond: 'Done.' }], {
    plugins: [plugin],
    allowedTools: ['Touch'],
    ...options,
  });
  const messages = await all(agent.query('Go.'));
  const results = messages.filter(({ type }) => type === 'user').flatMap(({ message }) => message.content);
  return results.map(({ content }) => content.map?.(({ text }) => text).join() ?? content);
}

test('card_5_a_kept_instance_is_of_one_session_and_of_tools_alone', async () => {
  const hooks = [{ name: 'Look', kind: 'judge', event: 'PreToolUse', matcher: 'Touch' }];
  const judged = [];
  const judge = (memory) => {
    judged.push((memory.calls += 1));
    return { tag: 'pass' };
  };
  const plugin = keeping({ call: counting, judge, declared: { hooks } });
  assert.deepEqual(await called(plugin, [{}, {}, {}]), ['call 1', 'call 2', 'call 3']);
  assert.deepEqual(await called(plugin, [{}, {}]), ['call 1', 'call 2']);
  assert.deepEqual(judged, [1, 1, 1, 1, 1]);
  const fresh = keeping({ call: counting, declared: { instance: 'call' } });
  assert.deepEqual(await called(fresh, [{}, {}]), ['call 1', 'call 1']);
});

test('card_5_a_call_that_does_not_end_well_ends_its_instance', async () => {
  const large = 'x'.repeat(17 << 20);
  for (const [how, text] of [['trap', /stopped in the middle/], ['error', /it said no/], ['large', /the limit is/]]) {
    const call = (memory, imports, { input }) => {
      memory.calls += 1;
      if (input.includes('badly')) {
        if (how === 'trap') throw new Error('trapped');
        if (how === 'error') throw Object.assign(new Error('error'), { payload: 'it said no' });
        return said(large);
      }
      return said(`call ${memory.calls}`);
    };
    const [first, bad, next] = await called(keeping({ call }), [{}, { how: 'badly' }, {}]);
    assert.equal(first, 'call 1');
    assert.match(bad, text);
    assert.equal(next, 'call 1', how);
  }
});

test('card_5_a_directory_that_was_kept_is_looked_up_in_the_grant_of_the_call', async () => {
  const call = (memory, imports) => {
    const filesystem = imports['windlass:host/filesystem'];
    memory.directory ??= filesystem.roots().find(({ path }) => path === '/w')?.directory;
    const attempt = (path) => {
      try {
        return new TextDecoder().decode(memory.directory.read(path, 0, 100));
      } catch (code) {
        return code;
      }
    };
    return said(`${attempt('a.txt')} ${attempt('b.txt')}`);
  };
  const files = new MemoryFileSystem({ files: { '/w/a.txt': 'A', '/w/b.txt': 'B' } });
  const close = tool('Close', 'Closes.', { type: 'object' }, () => 'closed');
  const plugin = keeping({ call, declared: { grants: { filesystem: 'read' } }, grant: { workspace: 'read' } });
  const { agent } = await agentOf(
    [callOf('Touch', { path: '/w' }), callOf('Close'), callOf('Touch', { path: '/w' }), { respond: 'Done.' }],
    {
      plugins: [plugin], tools: [close], files, cwd: '/w', allowedTools: ['Touch'],
      canUseTool: () => ({
        behavior: 'allow',
        updatedPermissions: [{ type: 'addRules', behavior: 'deny', rules: [{ toolName: 'Read', ruleContent: 'b.txt' }], destination: 'session' }],
      }),
    },
  );
  const messages = await all(agent.query('Go.'));
  const results = messages.filter(({ type }) => type === 'user').flatMap(({ message }) => message.content);
  const [before, , after] = results.map(({ content }) => content.map?.(({ text }) => text).join() ?? content);
  assert.equal(before, 'A B');
  // The same handle, and the rules that hold now.
  assert.equal(after, 'A not-found');
});

test('card_5_each_call_in_a_kept_instance_has_budgets_a_log_and_a_state_of_its_own', async () => {
  const log = [];
  const call = (memory, imports) => {
    memory.calls += 1;
    imports['windlass:host/log'].log('info', `in ${memory.calls}`);
    const state = imports['windlass:host/state'];
    const seen = state.keys('').length;
    state.set(`call ${memory.calls}`, new Uint8Array([1]));
    return said(`${seen} kept`);
  };
  const declared = { limits: { host_calls: 3, log_bytes: 4 }, grants: { state: 'session' } };
  const plugin = keeping({ call, declared, grant: { state: true } });
  assert.deepEqual(await called(plugin, [{}, {}, {}], { pluginLog: (name, level, text) => log.push(text) }), ['0 kept', '1 kept', '2 kept']);
  assert.deepEqual(log, ['in 1', 'in 2', 'in 3']);
});

test('card_5_what_has_to_wait_begins_anew_and_what_wasi_hands_out_ends_with_its_call', async () => {
  const tree = new MemoryFileSystem({ files: { '/w/a.txt': 'A' } });
  const waiting = Object.fromEntries(['stat', 'read', 'list', 'change'].map((name) => [name, async (...asked) => tree[name](...asked)]));
  const reading = (memory, imports) => {
    memory.calls += 1;
    const [{ directory }] = imports['windlass:host/filesystem'].roots();
    return said(`${new TextDecoder().decode(directory.read('a.txt', 0, 10))} ${memory.calls}`);
  };
  const plugin = keeping({ call: reading, declared: { grants: { filesystem: 'read' } }, grant: { workspace: 'read' } });
  const results = await called(plugin, [{ path: '/w/a.txt' }, { path: '/w/a.txt' }], { files: waiting, cwd: '/w' });
  // Nothing of an attempt that was not complete counts, also not what it did to the memory.
  for (const result of results) assert.match(result, /^A [12]$/);
  const { wasi } = await load('wasi.js');
  const using = (memory, imports) => {
    imports['wasi:cli/environment'].getArguments();
    return counting(memory);
  };
  const declaration = { name: 'wasi', version: '0.1.0', wit: '0.1.0', instance: 'session', tools: [TOOL] };
  const instantiate = async (module, imports) => {
    const memory = { calls: 0 };
    return { call: () => using(memory, imports) };
  };
  assert.deepEqual(await called(new Plugin(declaration, instantiate, undefined, {}, { wasi }), [{}, {}]), ['call 1', 'call 1']);
});
