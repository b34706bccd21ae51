/** Turns that were not over when the page or the process ended, in Node: they go on where they were, and nothing is done twice. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { windlass } from './package-under-test.js';
import { all, callOf, scripted } from './scripted-agent.js';

const { Agent, MemorySessionStore, tool, unfinishedTurn } = windlass;

/** A moment that something has come to. */
function moment() {
  let reach;
  const reached = new Promise((resolve) => (reach = resolve));
  return { reached, reach };
}

/** As if the page were gone: nothing that it still does is kept. The next one has the sessions as they are now. */
async function gone(store) {
  store.close();
  return store.again();
}

async function agentOf(exchanges, sessionStore, options) {
  const { model, options: ofModel } = await scripted(exchanges);
  const requests = [];
  const fetch = (url, request) => {
    requests.push(JSON.parse(new TextDecoder().decode(request.body)));
    return model.fetch(url, request);
  };
  return { agent: new Agent({ ...ofModel, fetch, sessionStore, ...options }), requests };
}

/** Of a model that is never reached. */
const UNASKED = [{ respond: 'Nothing.' }];

const never = () => new Promise(() => {});
const texts = (messages) => JSON.stringify(messages.filter(({ type }) => type === 'user').map(({ message }) => message.content));

test('card_4_an_answer_that_was_arriving_is_asked_for_once_more', async () => {
  const store = new MemorySessionStore();
  const arriving = moment();
  const { agent } = await agentOf(UNASKED, store, {
    fetch: () => {
      arriving.reach();
      return never();
    },
  });
  const session = agent.session();
  const id = await session.id();
  session.prompt('What is it?');
  await arriving.reached;
  let unfinished;
  while (!unfinished) unfinished = await unfinishedTurn(id, { sessionStore: store });
  assert.deepEqual([unfinished.prompt, typeof unfinished.uuid, unfinished.askedAt >= 0], ['What is it?', 'string', true]);

  const next = await gone(store);
  const { agent: again, requests } = await agentOf([{ respond: 'It is 7.' }, { respond: 'Yes.' }], next);
  const resumed = again.session({ resume: id });
  const messages = await all(resumed.continue());
  assert.equal(messages.at(-1).result, 'It is 7.');
  assert.equal(requests.length, 1);
  assert.deepEqual(requests[0].messages.map(({ role }) => role), ['user']);
  assert.equal(await unfinishedTurn(id, { sessionStore: next }), undefined);
  assert.equal((await resumed.prompt('Sure?').result()).result, 'Yes.');
  const lines = (await next.load(id)).text.trimEnd().split('\n').map((line) => JSON.parse(line).uuid).filter(Boolean);
  assert.equal(new Set(lines).size, lines.length);
});

test('card_4_what_a_person_has_seen_of_an_answer_can_be_gone_on_with', async () => {
  const store = new MemorySessionStore();
  const happened = [];
  const append = store.append.bind(store);
  // A slow disk: the answer is there before the state is kept.
  store.append = async (...given) => {
    const hasState = given[4] !== undefined;
    if (hasState) await new Promise((resolve) => setTimeout(resolve, 50));
    await append(...given);
    if (hasState) happened.push('kept');
  };
  const { agent } = await agentOf([{ respond: 'It is 7.' }], store, { includePartialMessages: true });
  const session = agent.session();
  for await (const { type } of session.prompt('What is it?')) if (type === 'stream_event') happened.push('shown');
  assert.equal(happened.indexOf('kept') < happened.indexOf('shown'), true, happened.join(' '));
  assert.equal(happened.includes('kept'), true);
});

test('card_4_calls_keep_their_results_and_those_that_ran_run_again_as_their_tool_says', async () => {
  const store = new MemorySessionStore();
  const ran = [];
  const hang = moment();
  const look = (name, retry, run) =>
    tool(name, 'Looks.', { type: 'object' }, async () => {
      ran.push(name);
      return run ? run() : `${name} done`;
    }, { annotations: { readOnly: true }, retry });
  const tools = (hangs) => [
    look('Quick', 'never'),
    look('Slow', 'never', hangs && (() => (hang.reach(), never()))),
    look('Again', 'run_again', hangs && never),
  ];
  const calls = ['Quick', 'Slow', 'Again'].map((name) => ({ type: 'tool_use', name, input: {} }));
  const options = { allowedTools: ['Quick', 'Slow', 'Again'] };
  const { agent } = await agentOf([{ respond: { content: calls } }], store, { ...options, tools: tools(true) });
  const session = agent.session();
  const id = await session.id();
  session.prompt('Look.');
  await hang.reached;
  // What ran to its end has its result in what is kept.
  const has = async (text) => new TextDecoder().decode((await store.load(id))?.snapshot?.bytes ?? new Uint8Array()).includes(text);
  while (!(await has('Quick done')));
  assert.ok(await unfinishedTurn(id, { sessionStore: store }));

  const { agent: again, requests } = await agentOf([{ respond: 'Looked.' }], await gone(store), { ...options, tools: tools(false) });
  const messages = await all(again.session({ resume: id }).continue());
  assert.equal(messages.at(-1).result, 'Looked.');
  assert.equal(requests.length, 1);
  const results = JSON.stringify(requests[0].messages.at(-1));
  assert.match(results, /Quick done/);
  assert.match(results, /outcome is unknown/);
  assert.match(results, /Again done/);
  assert.deepEqual(ran.toSorted(), ['Again', 'Again', 'Quick', 'Slow']);
  assert.match(texts(messages), /Again done/);
});

test('card_4_a_question_is_asked_again', async () => {
  const store = new MemorySessionStore();
  const asked = moment();
  const note = tool('Note', 'Notes.', { type: 'object' }, () => 'noted');
  const ask = () => (asked.reach(), never());
  const { agent } = await agentOf([callOf('Note')], store, { tools: [note], canUseTool: ask });
  const session = agent.session();
  const id = await session.id();
  session.prompt('Note it.');
  await asked.reached;
  const next = await gone(store);
  const questions = [];
  const canUseTool = (name) => (questions.push(name), { behavior: 'allow' });
  const { agent: again, requests } = await agentOf([{ respond: 'Noted.' }], next, { tools: [note], canUseTool });
  const messages = await all(again.session({ resume: id }).continue());
  assert.deepEqual(questions, ['Note']);
  assert.equal(messages.at(-1).result, 'Noted.');
  assert.equal(requests.length, 1);
  assert.match(texts(messages), /noted/);
});

test('card_4_what_was_answered_interrupted_or_failed_is_no_unfinished_turn', async () => {
  const store = new MemorySessionStore();
  const { agent } = await agentOf([{ respond: 'Here.' }], store);
  const session = agent.session();
  await session.prompt('Here?').result();
  const id = await session.id();
  assert.equal(await unfinishedTurn(id, { sessionStore: store }), undefined);
  await session.close();
  await assert.rejects(agent.session({ resume: id }).continue().result(), /no turn of this session is unfinished/);
  await assert.rejects(unfinishedTurn(id, {}), /sessionStore/);

  const failing = await agentOf(UNASKED, store, { fetch: async () => new Response('{"type":"error","error":{"type":"authentication_error","message":"no"}}', { status: 401 }) });
  const failed = failing.agent.session();
  assert.equal((await failed.prompt('Fail.').result()).is_error, true);
  assert.equal(await unfinishedTurn(await failed.id(), { sessionStore: store }), undefined);

  const arriving = moment();
  const stalls = (url, { signal }) => {
    arriving.reach();
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  };
  const stalling = (await agentOf(UNASKED, store, { fetch: stalls })).agent.session();
  const run = stalling.prompt('Wait.');
  await arriving.reached;
  await run.interrupt();
  await run.result();
  assert.equal(await unfinishedTurn(await stalling.id(), { sessionStore: store }), undefined);
});

test('card_4_nothing_is_kept_of_unfinished_turns_where_that_is_switched_off', async () => {
  const store = new MemorySessionStore();
  const hang = moment();
  const wait = tool('Wait', 'Waits.', { type: 'object' }, () => (hang.reach(), never()));
  const { agent } = await agentOf([callOf('Wait')], store, { tools: [wait], allowedTools: ['Wait'], keepUnfinishedTurns: false });
  const session = agent.session();
  session.prompt('Wait.');
  await hang.reached;
  assert.equal((await store.load(await session.id())).snapshot, undefined);
});

test('card_4_no_two_calls_have_one_name_also_behind_the_same_message', async () => {
  const store = new MemorySessionStore();
  const names = [];
  const pay = tool('Pay', 'Pays.', { type: 'object' }, (input, { effectId }) => (names.push(effectId), 'paid'), { retry: 'run_again_with_key' });
  const options = { tools: [pay], allowedTools: ['Pay'] };
  const { agent } = await agentOf([{ respond: 'Hello.' }], store, options);
  const session = agent.session();
  const [said] = (await all(session.prompt('Hello.'))).filter(({ type }) => type === 'assistant');
  const id = await session.id();
  await session.close();
  for (const to of ['bob', 'carol']) {
    const again = await agentOf([{ respond: { content: [{ type: 'tool_use', id: `toolu_${to}`, name: 'Pay', input: { to } }] } }, { respond: 'Paid.' }], store, options);
    const resumed = again.agent.session({ resume: id, resumeSessionAt: said.uuid });
    await resumed.prompt(`Pay ${to}.`).result();
    await resumed.close();
  }
  assert.equal(new Set(names).size, 2, names.join());
});
