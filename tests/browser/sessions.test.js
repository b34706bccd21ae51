/** Sessions that are kept: stores, resume, forks, and what is told when a session cannot be had. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testkit, windlass } from './package-under-test.js';

const { Agent, MemorySessionStore, StoreError, tool } = windlass;

/** An agent whose model follows these exchanges. */
async function agentOf(exchanges, options) {
  const clock = new testkit.VirtualClock();
  // A script has an exchange, which no agent that fails before reaches.
  const script = { exchanges: exchanges.length > 0 ? exchanges : [{ respond: 'Never.' }] };
  const model = await testkit.ScriptedModel.load(script, { clock });
  return { agent: new Agent({ fetch: model.fetch, clock, ...options }), model };
}

async function all(run) {
  const messages = [];
  for await (const message of run) messages.push(message);
  return messages;
}

test('card_4_the_store_in_memory_keeps_the_contract_of_stores', async () => {
  const place = () => {
    const first = new MemorySessionStore();
    return { store: () => first.again() };
  };
  assert.deepEqual(await testkit.checkStore(place), []);
});

test('card_4_a_store_that_breaks_the_contract_is_found_out', async () => {
  class Forgetful extends MemorySessionStore {
    async load() {
      return undefined;
    }
  }
  const broken = await testkit.checkStore(() => {
    const store = new Forgetful();
    return { store: () => store };
  });
  assert.ok(broken.some((found) => found.startsWith('lines are kept in the order')), broken.join('\n'));
});

test('card_4_a_store_that_throws_ends_no_session', async () => {
  const broken = () => {
    throw new Error('no such store');
  };
  const names = ['create', 'open', 'release', 'append', 'load', 'put', 'extend', 'get', 'list', 'delete', 'place', 'documentPlace', 'settings', 'replaceSettings', 'settingsPlace'];
  const sessionStore = Object.fromEntries(names.map((name) => [name, broken]));
  const { agent } = await agentOf([], { sessionStore });
  await assert.rejects(agent.run('Begin.'), /no such store/);
  const other = await agentOf([{ respond: 'Here.' }]);
  assert.equal((await other.agent.run('Begin.')).result, 'Here.');
});

test('card_4_a_session_goes_on_where_it_ended', async () => {
  const sessionStore = new MemorySessionStore();
  const first = await agentOf([{ respond: 'Noted.' }], { sessionStore });
  const [init] = await all(first.agent.query('My number is 7.'));
  const second = await agentOf([{ expect: { last_user_contains: 'Which' }, respond: '7.' }], {
    sessionStore,
    resume: init.session_id,
  });
  const requests = [];
  const { agent, model } = second;
  const watching = new Agent({
    fetch: (url, request) => {
      requests.push(JSON.parse(new TextDecoder().decode(request.body)));
      return model.fetch(url, request);
    },
    sessionStore,
    resume: init.session_id,
  });
  assert.ok(agent);
  const result = await watching.run('Which number?');
  assert.equal(result.session_id, init.session_id);
  assert.deepEqual(
    requests[0].messages.map(({ role }) => role),
    ['user', 'assistant', 'user'],
  );
  assert.match(JSON.stringify(requests[0].messages[0]), /My number is 7/);
});

test('card_4_the_latest_session_goes_on_in_a_copy', async () => {
  const sessionStore = new MemorySessionStore();
  const first = await agentOf([{ respond: 'One.' }], { sessionStore });
  const { session_id: origin } = await first.agent.run('First.');
  const second = await agentOf([{ respond: 'Two.' }], { sessionStore, continue: true, forkSession: true });
  const { session_id: copy } = await second.agent.run('Second.');
  assert.notEqual(copy, origin);
  const kept = (await sessionStore.list()).map(({ id }) => id);
  assert.deepEqual(kept, [copy, origin]);
  const lines = async (id) => (await sessionStore.load(id)).text.trimEnd().split('\n').length;
  assert.ok((await lines(copy)) > (await lines(origin)));
});

test('card_4_sessions_are_listed_by_what_they_are_about', async () => {
  const sessionStore = new MemorySessionStore();
  for (const prompt of ['Mend the fence.', 'Paint the door.']) {
    const { agent } = await agentOf([{ respond: 'Done.' }], { sessionStore });
    await agent.run(prompt);
  }
  const listed = await windlass.listSessions({ sessionStore });
  assert.deepEqual(listed.map(({ summary, firstPrompt }) => [summary, firstPrompt]), [
    ['Paint the door.', 'Paint the door.'],
    ['Mend the fence.', 'Mend the fence.'],
  ]);
  assert.deepEqual(await windlass.listSessions({ sessionStore, limit: 1, offset: 1 }), [listed[1]]);
});

test('card_4_a_session_has_one_writer', async () => {
  const sessionStore = new MemorySessionStore();
  const first = await agentOf([{ respond: 'Here.' }], { sessionStore });
  const session = first.agent.session();
  await session.prompt('Begin.').result();
  const id = await session.id();
  const second = await agentOf([], { sessionStore: sessionStore.again(), resume: id });
  await assert.rejects(second.agent.run('I, too.'), /written by somebody else/);
  await session.close();
  await assert.rejects(session.prompt('More.').result(), /the session has ended/);
  const third = await agentOf([{ respond: 'Now.' }], { sessionStore: sessionStore.again(), resume: id });
  assert.equal((await third.agent.run('And now?')).result, 'Now.');
});

test('card_4_what_cannot_go_on_is_told', async () => {
  const sessionStore = new MemorySessionStore();
  assert.throws(() => new Agent({ resume: crypto.randomUUID() }), /need a `sessionStore`/);
  const unknown = await agentOf([], { sessionStore, resume: crypto.randomUUID() });
  await assert.rejects(unknown.agent.run('Go on.'), /No conversation found|nothing is kept/);
  const noId = await agentOf([], { sessionStore, resume: 'the last one' });
  await assert.rejects(noId.agent.run('Go on.'), /no id of a session/);
  const noFork = await agentOf([], { sessionStore, forkSession: true });
  await assert.rejects(noFork.agent.run('Go on.'), /needs a session to fork/);
});

test('card_4_a_store_that_does_not_write_is_told', async () => {
  const sessionStore = new MemorySessionStore();
  sessionStore.append = async () => {
    throw new Error('the disk is full');
  };
  const { agent } = await agentOf([{ respond: 'Here.' }], { sessionStore });
  const result = await agent.run('Begin.');
  assert.equal(result.is_error, true);
  assert.match(result.errors[0], /the transcript could not be written: .*the disk is full/);
});

test('card_4_a_subagent_works_in_a_transcript_of_its_own', async () => {
  const sessionStore = new MemorySessionStore();
  const { agent } = await agentOf(
    [
      {
        respond: {
          content: [
            {
              type: 'tool_use',
              name: 'Agent',
              input: { description: 'look', prompt: 'Look around.', subagent_type: 'scout' },
            },
          ],
        },
      },
      { expect: { last_user_contains: 'Look around.' }, respond: 'Nothing there.' },
      { expect: { last_user_contains: 'Nothing there.' }, respond: 'All clear.' },
    ],
    { sessionStore, agents: { scout: { description: 'Looks around.', prompt: 'You look around.' } }, allowedTools: ['Agent'] },
  );
  const result = await agent.run('Is it safe?');
  assert.equal(result.result, 'All clear.');
  const { text } = await sessionStore.load(result.session_id);
  assert.doesNotMatch(text, /"isSidechain":true/);
  const [, agentId] = text.match(/"agentId":"([^"]+)"/);
  assert.match((await sessionStore.load(result.session_id, agentId)).text, /Look around\./);
});

test('a tool of an agent without a store leaves nothing', async () => {
  const add = tool('Add', 'Adds.', { type: 'object' }, ({ a, b }) => `${a + b}`);
  const { agent } = await agentOf([{ respond: 'So.' }], { tools: [add] });
  assert.equal((await agent.run('Hm.')).result, 'So.');
  assert.equal(new StoreError('busy', 'x').kind, 'busy');
});

test('card_4_query_is_that_of_the_typescript_sdk', async () => {
  const clock = new testkit.VirtualClock();
  const exchanges = [{ respond: 'One.' }, { respond: 'Two.' }];
  const model = await testkit.ScriptedModel.load({ exchanges }, { clock });
  const options = { fetch: model.fetch, clock };
  const single = await all(windlass.query({ prompt: 'First.', options }));
  assert.equal(single.at(-1).result, 'One.');
  const aborted = new AbortController();
  aborted.abort(new Error('never mind'));
  await assert.rejects(all(windlass.query({ prompt: 'Not at all.', options: { ...options, abortController: aborted } })), /never mind/);
  const stream = windlass.query({ prompt: prompts('Second.'), options });
  await stream.setPermissionMode('plan');
  const messages = await all(stream);
  assert.equal(messages.at(-1).result, 'Two.');
  assert.equal(messages.find(({ subtype }) => subtype === 'init').permissionMode, 'plan');
  model.verify();
});

async function* prompts(...texts) {
  for (const content of texts) yield { type: 'user', message: { role: 'user', content } };
}
