/** What components remember for good, in the stores that the embedder gives. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { windlass } from './package-under-test.js';
import { agentOf, all, callOf } from './scripted-agent.js';

const { Agent, MemorySessionStore, Plugin } = windlass;
await windlass.init();

const DECLARED = {
  name: 'counter',
  version: '0.1.0',
  wit: '0.1.0',
  tools: [{ name: 'Count', description: 'Counts.', input_schema: { type: 'object' } }],
  grants: { state: 'durable' },
};

/** A component that counts its calls; `how` says what else it does with what it remembers. */
function counter(grant, how = () => {}) {
  const call = (imports) => {
    const state = imports['windlass:host/state'];
    const count = Number(new TextDecoder().decode(state.get('count') ?? new Uint8Array())) + 1;
    state.set('count', new TextEncoder().encode(String(count)));
    how(state, count);
    return { content: [{ tag: 'text', val: `call ${count}` }], isError: false, observed: [] };
  };
  return new Plugin(DECLARED, async (module, imports) => ({ call: () => call(imports) }), undefined, grant);
}

const DURABLE = { state: 'durable', stateId: 'counter of the tests' };

/** What a session of its own hears of so many calls. */
async function counted(plugin, options, calls = 1) {
  const { agent } = await agentOf([...Array(calls).fill(callOf('Count')), { respond: 'Done.' }], { plugins: [plugin], allowedTools: ['Count'], ...options });
  const messages = await all(agent.query('Count.'));
  const results = messages.filter(({ type }) => type === 'user').flatMap(({ message }) => message.content);
  return results.map(({ content }) => content.map?.(({ text }) => text).join() ?? content);
}

test('card_5_durable_state_outlives_sessions_and_versions_and_is_nobody_elses', async () => {
  const sessionStore = new MemorySessionStore();
  const options = { sessionStore };
  assert.deepEqual(await counted(counter(DURABLE), options, 2), ['call 1', 'call 2']);
  // Another page, another day, the next version.
  assert.deepEqual(await counted(counter(DURABLE), { sessionStore: sessionStore.again() }), ['call 3']);
  assert.deepEqual(await counted(counter({ ...DURABLE, stateId: 'another' }), options), ['call 1']);
  assert.deepEqual(await counted(counter({ state: true }), options, 2), ['call 1', 'call 2']);
  assert.deepEqual(await counted(counter({ state: 'session' }), options), ['call 1']);
  // The embedder says where, and can take it away.
  const elsewhere = new MemorySessionStore().pluginState;
  assert.deepEqual(await counted(counter(DURABLE), { pluginState: elsewhere }), ['call 1']);
  assert.deepEqual([...(await elsewhere.load(DURABLE.stateId)).keys()], ['count']);
  await elsewhere.delete(DURABLE.stateId);
  assert.deepEqual(await counted(counter(DURABLE), { ...options, pluginState: elsewhere }), ['call 1']);
});

test('card_5_what_is_removed_is_gone_and_what_a_call_did_before_it_failed_is_kept', async () => {
  const { pluginState } = new MemorySessionStore();
  const set = (state) => state.set('other', new Uint8Array([1]));
  await counted(counter(DURABLE, set), { pluginState });
  assert.deepEqual([...(await pluginState.load(DURABLE.stateId)).keys()].sort(), ['count', 'other']);
  const removes = (state) => {
    state.remove('other');
    throw new Error('trapped');
  };
  assert.match((await counted(counter(DURABLE, removes), { pluginState }))[0], /trapped/);
  const kept = await pluginState.load(DURABLE.stateId);
  assert.deepEqual([...kept.keys()], ['count']);
  assert.equal(new TextDecoder().decode(kept.get('count')), '2');
});

test('card_5_state_that_cannot_be_kept_is_told_and_counts_nothing', async () => {
  const { pluginState } = new MemorySessionStore();
  const full = { ...bound(pluginState), change: () => Promise.reject(new Error('no room')) };
  assert.match((await counted(counter(DURABLE), { pluginState: full }))[0], /it has run, but what it remembers could not be kept: no room/);
  assert.equal((await pluginState.load(DURABLE.stateId)).size, 0);
  // Others have filled it meanwhile: all of a change, or nothing.
  const large = Array.from({ length: 17 }, (_, i) => [`large ${i}`, new Uint8Array(1 << 20)]);
  await assert.rejects(pluginState.change(DURABLE.stateId, new Map(large)), /no room/);
  assert.equal((await pluginState.load(DURABLE.stateId)).size, 0);
  const many = Array.from({ length: 1001 }, (_, i) => [`${i}`, new Uint8Array(1)]);
  await assert.rejects(pluginState.change(DURABLE.stateId, new Map(many)), /no room/);
});

const bound = (store) => ({ load: (id) => store.load(id), change: (...given) => store.change(...given) });

test('card_5_durable_state_is_granted_under_an_id_to_who_asks_for_it_and_kept_somewhere', async () => {
  assert.throws(() => counter({ state: 'durable' }), /without a `stateId`/);
  for (const stateId of ['', 'a\nb', 'x'.repeat(121), 7]) assert.throws(() => counter({ state: 'durable', stateId }), /without a `stateId`/);
  assert.throws(() => counter({ state: 'session', stateId: 'a' }), /a `stateId` without `state: "durable"`/);
  assert.throws(() => counter({ state: 'forever' }), /the state `forever`/);
  const session = { ...DECLARED, grants: { state: 'session' } };
  assert.throws(() => new Plugin(session, undefined, undefined, DURABLE), /durable state, for which it does not ask/);
  assert.throws(() => new Agent({ plugins: [counter(DURABLE)] }), /say where it is kept by `pluginState`/);
});
