/** What is done with sessions that are kept: read, named, copied, deleted, put elsewhere. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { windlass } from './package-under-test.js';
import { agentOf, all, callOf } from './scripted-agent.js';

const { MemorySessionStore, tool } = windlass;
const add = tool('Add', 'Adds.', { type: 'object' }, ({ a, b }) => `${a + b}`);

/** A store with a session of two prompts, between which a tool was called; `agent` answers further prompts by its own exchanges. */
async function stored(...exchanges) {
  const sessionStore = new MemorySessionStore();
  const { agent, model } = await agentOf(
    [callOf('Add', { a: 1, b: 2 }), { respond: 'It is 3.' }, { respond: 'Yes.' }, ...exchanges],
    { sessionStore, tools: [add], allowedTools: ['Add'] },
  );
  const session = agent.session();
  await session.prompt('1 + 2?').result();
  const snapshot = await session.snapshot();
  await session.prompt('Sure?').result();
  return { agent, model, session, sessionStore, snapshot, id: await session.id(), inStore: { sessionStore } };
}

/** Types and texts of messages; of blocks without a text their types. */
function said(messages) {
  const inWords = (content) => (typeof content === 'string' ? content : (content[0].text ?? content[0].type));
  return messages.map(({ type, message: { content } }) => [type, inWords(content)]);
}

const TALK = [
  ['user', '1 + 2?'],
  ['assistant', 'tool_use'],
  ['user', 'tool_result'],
  ['assistant', 'It is 3.'],
  ['user', 'Sure?'],
  ['assistant', 'Yes.'],
];

test('card_4_the_messages_of_a_session_are_read', async () => {
  const { id, inStore, session } = await stored();
  const messages = await windlass.getSessionMessages(id, inStore);
  assert.deepEqual(said(messages), TALK);
  assert.ok(messages.every((message) => message.session_id === id && message.uuid && message.parent_tool_use_id === null));
  assert.deepEqual(said(await windlass.getSessionMessages(id, { ...inStore, offset: 1, limit: 2 })), TALK.slice(1, 3));
  assert.deepEqual(await windlass.getSessionMessages(crypto.randomUUID(), inStore), []);
  await session.close();
});

test('card_4_the_messages_of_a_subagent_are_read', async () => {
  const sessionStore = new MemorySessionStore();
  const { agent } = await agentOf(
    [callOf('Agent', { description: 'look', prompt: 'Look around.', subagent_type: 'scout' }), { respond: 'Nothing.' }, { respond: 'So.' }],
    { sessionStore, agents: { scout: { description: 'Looks.', prompt: 'Look.' } }, allowedTools: ['Agent'] },
  );
  let agentId;
  let id;
  for await (const message of agent.query('Go.')) {
    id = message.session_id;
    agentId ??= message.tool_use_result?.agentId;
  }
  const messages = await windlass.getSubagentMessages(id, agentId, { sessionStore });
  assert.deepEqual(said(messages), [['user', 'Look around.'], ['assistant', 'Nothing.']]);
});

test('card_4_a_session_has_a_title_and_a_tag', async () => {
  const { id, inStore, session } = await stored();
  // It has one writer.
  await assert.rejects(windlass.renameSession(id, 'Sums', inStore), ({ kind }) => kind === 'busy');
  await session.close();
  await windlass.renameSession(id, ' Sums ', inStore);
  await windlass.tagSession(id, 'red', inStore);
  const info = await windlass.getSessionInfo(id, inStore);
  const { createdAt, lastModified, ...rest } = info;
  const expected = { sessionId: id, summary: 'Sums', customTitle: 'Sums', firstPrompt: '1 + 2?', tag: 'red', cwd: '/' };
  assert.deepEqual(rest, expected);
  assert.ok(createdAt > 0 && lastModified > 0);
  assert.deepEqual(await windlass.listSessions(inStore), [info]);
  await windlass.tagSession(id, null, inStore);
  assert.equal((await windlass.getSessionInfo(id, inStore)).tag, undefined);
  await assert.rejects(windlass.renameSession(id, ' ', inStore), /the title of a session is a text/);
  await assert.rejects(windlass.tagSession(id, '', inStore), /a tag is a text/);
  await assert.rejects(windlass.renameSession(crypto.randomUUID(), 'x', inStore), ({ kind }) => kind === 'unknown');
});

test('card_4_a_session_is_deleted', async () => {
  const { id, inStore, session } = await stored();
  await session.close();
  await windlass.deleteSession(id, inStore);
  assert.equal(await windlass.getSessionInfo(id, inStore), undefined);
  assert.deepEqual(await windlass.listSessions(inStore), []);
  await assert.rejects(windlass.deleteSession(id, inStore), ({ kind }) => kind === 'unknown');
});

test('card_4_a_copy_of_a_session_goes_on_by_itself', async () => {
  const { agent, model, id, inStore, session } = await stored({ expect: { messages: 5 }, respond: 'Still 3.' });
  const messages = await windlass.getSessionMessages(id, inStore);
  const { sessionId } = await windlass.forkSession(id, { ...inStore, upToMessageId: messages[3].uuid });
  assert.deepEqual(said(await windlass.getSessionMessages(sessionId, inStore)), TALK.slice(0, 4));
  assert.equal((await windlass.getSessionInfo(sessionId, inStore)).summary, '1 + 2? (fork)');
  const copy = agent.session({ resume: sessionId });
  assert.equal((await copy.prompt('And now?').result()).result, 'Still 3.');
  model.verify();
  await copy.close();
  assert.deepEqual(said(await windlass.getSessionMessages(id, inStore)), TALK);
  await assert.rejects(windlass.forkSession(id, { ...inStore, upToMessageId: crypto.randomUUID() }), /No message found/);
  await assert.rejects(windlass.forkSession(crypto.randomUUID(), inStore), ({ kind }) => kind === 'unknown');
  await session.close();
});

test('card_4_a_session_is_forked_while_it_is_open', async () => {
  const { model, session, id, inStore } = await stored({ respond: 'Other.' }, { expect: { messages: 7 }, respond: 'Mine.' });
  const messages = await windlass.getSessionMessages(id, inStore);
  const fork = await session.fork({ upToMessageId: messages[3].uuid });
  assert.notEqual(await fork.id(), id);
  assert.equal((await fork.prompt('Elsewhere?').result()).result, 'Other.');
  assert.equal((await session.prompt('Here?').result()).result, 'Mine.');
  model.verify();
  const ids = async (session) => (await windlass.getSessionMessages(session, inStore)).map(({ uuid }) => uuid);
  const [there, here] = [await ids(await fork.id()), await ids(id)];
  assert.deepEqual(there.slice(0, 4), here.slice(0, 4));
  assert.ok(there.slice(4).every((uuid) => !here.includes(uuid)), 'no id stands for two messages');
  await Promise.all([fork.close(), session.close()]);
});

test('card_4_no_more_is_left_out_than_was_meant', async () => {
  const { agent, id, inStore, session } = await stored({ expect: { messages: 5 }, respond: 'Otherwise.' });
  await session.close();
  const messages = await windlass.getSessionMessages(id, inStore);
  const before = { resume: id, forkSession: true };
  const first = agent.session({ ...before, resumeSessionAt: messages[1].uuid, resumeDropsTurn: messages[4].uuid });
  await assert.rejects(first.prompt('Sure?').result(), /resume-drops-turn/);
  const second = agent.session({ ...before, resumeSessionAt: messages[3].uuid, resumeDropsTurn: messages[4].uuid });
  assert.equal((await second.prompt('Really?').result()).result, 'Otherwise.');
  await second.close();
});

test('card_4_a_fixed_seed_makes_no_id_twice', async () => {
  const sessionStore = new MemorySessionStore();
  const { agent } = await agentOf([{ respond: 'One.' }, { respond: 'Two.' }], { sessionStore, seed: new Uint8Array(32) });
  const session = agent.session();
  await session.prompt('First.').result();
  const fork = await session.fork();
  await fork.prompt('Second.').result();
  const messages = await windlass.getSessionMessages(await fork.id(), { sessionStore });
  assert.equal(new Set(messages.map(({ uuid }) => uuid)).size, 4);
  await Promise.all([fork.close(), session.close()]);
});

test('card_4_a_snapshot_goes_on_here_and_elsewhere', async () => {
  const { agent, session, snapshot, id, inStore } = await stored({ expect: { messages: 5 }, respond: 'Here.' });
  const sent = JSON.parse(JSON.stringify(snapshot));
  const back = await agent.restore(sent);
  assert.equal((await back.prompt('Again?').result()).result, 'Here.');
  assert.notEqual(await back.id(), id, 'what came behind the snapshot stays');
  assert.deepEqual(said(await windlass.getSessionMessages(id, inStore)), TALK);

  const elsewhere = { sessionStore: new MemorySessionStore() };
  const other = await agentOf([{ expect: { messages: 5 }, respond: 'There.' }], elsewhere);
  const there = await other.agent.restore(sent);
  assert.equal((await there.prompt('Again?').result()).result, 'There.');
  assert.equal(await there.id(), id);
  await Promise.all([back.close(), there.close(), session.close()]);
});

test('card_4_what_needs_a_store_says_so', async () => {
  const { agent } = await agentOf([{ respond: 'Here.' }]);
  const session = agent.session();
  await session.prompt('Hi.').result();
  await assert.rejects(session.fork(), /`fork` needs a session that is kept in a `sessionStore`/);
  await assert.rejects(session.snapshot(), /`snapshot` needs a session that is kept/);
  await assert.rejects(agent.restore({ sessionId: crypto.randomUUID(), transcript: '' }), /`restore` needs a `sessionStore`/);
  await session.close();
  await assert.rejects(windlass.listSessions(), /`sessionStore` says where the sessions are/);
  await assert.rejects(windlass.listSessions({ dir: '/x', sessionStore: new MemorySessionStore() }), /`dir` has no meaning here/);
  const kept = await agentOf([{ respond: 'Never.' }], { sessionStore: new MemorySessionStore() });

test('what is no snapshot is not restored, and nothing of it is kept', async () => {
  const sessionStore = new MemorySessionStore();
  const { agent } = await agentOf([{ respond: 'Never.' }], { sessionStore });
  const sessionId = crypto.randomUUID();
  const line = '{"type":"user"}\n';
  for (const [snapshot, reason] of [
    [null, /`sessionId` is no UUID/], [{ sessionId: '../../x', transcript: line }, /`sessionId` is no UUID/], [{ sessionId }, /`transcript` is no text/],
    [{ sessionId, transcript: '' }, /`transcript` is empty/], [{ sessionId, transcript: `${line}not json\n` }, /line 2 of its `transcript`/],
    [{ sessionId, transcript: line, messageId: 5 }, /`messageId` is no text/],
  ]) {
    await assert.rejects(agent.restore(snapshot), reason);
  }
  assert.deepEqual(await sessionStore.list(), []);
});
  const empty = kept.agent.session();
  await assert.rejects(empty.snapshot(), /nothing has been said/);
  await empty.close();
});

test('a session that is open elsewhere, and one that is unknown, are told with their kind', async () => {
  const sessionStore = new MemorySessionStore();
  const { agent } = await agentOf([{ respond: 'One.' }], { sessionStore });
  const first = agent.session();
  await first.prompt('One.').result();
  const busy = agent.session({ resume: await first.id() });
  await assert.rejects(busy.prompt('Two.').result(), { kind: 'busy' });
  await assert.rejects(busy.id(), { kind: 'busy' });
  await first.close();
});

test('a store that fails without a reason ends the session with one', async () => {
  const sessionStore = new MemorySessionStore();
  sessionStore.create = () => Promise.reject();
  const { agent } = await agentOf([{ respond: 'Never.' }], { sessionStore });
  await assert.rejects(agent.run('One.'), /gave no reason/);
});
