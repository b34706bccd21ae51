/** The messages of a run, as they are read. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { windlass } from './package-under-test.js';
import { agentOf, all, callOf } from './scripted-agent.js';

const { Agent, tool } = windlass;

const PARTIAL = { includePartialMessages: true, forwardSubagentText: true, seed: new Uint8Array(32) };

/** The stream of an answer of so many pieces of text. */
function streamOf(count) {
  const usage = { input_tokens: 10, output_tokens: 5 };
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, stop_sequence: null, usage };
  const piece = (at) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: `word ${at}, "ß"\n` } });
  const events = [
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ...Array.from({ length: count }, (_, at) => piece(at)),
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage },
    { type: 'message_stop' },
  ];
  return new TextEncoder().encode(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''));
}

/** A model whose answer comes in pieces of these many bytes, over and over. */
function answering(bytes, sizes) {
  let sent = 0;
  let at = 0;
  const body = new ReadableStream({
    pull(controller) {
      if (sent >= bytes.length) return controller.close();
      const size = sizes[at % sizes.length];
      controller.enqueue(bytes.slice(sent, sent + size));
      sent += size;
      at += 1;
      return undefined;
    },
  });
  return async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

async function linesOf(run) {
  const lines = [];
  for await (const line of run.lines()) lines.push(line);
  return lines;
}

test('a message is what its line says, of subagents as well', async () => {
  const exchanges = () => [
    callOf('Agent', { description: 'look', prompt: 'Look "here".', subagent_type: 'scout' }), { respond: 'Nothing there.' },
    callOf('Note'), { respond: 'It was looked at.' },
  ];
  const options = () => ({
    ...PARTIAL,
    coreTools: ['Agent'],
    agents: { scout: { description: 'Looks.', prompt: 'You look.' } },
    tools: [tool('Note', '', { type: 'object' }, () => 'noted')],
    allowedTools: ['Note', 'Agent'],
  });
  const { agent } = await agentOf(exchanges(), options());
  const messages = await all(agent.query('Go.'));
  const { agent: again } = await agentOf(exchanges(), options());
  const lines = await linesOf(again.query('Go.'));
  // Both were made by the core of the same seed: byte for byte, in the order of its fields.
  assert.deepEqual(messages.map((message) => JSON.stringify(message)), lines.map((line) => line.trimEnd()));
  const streamed = messages.filter(({ type }) => type === 'stream_event');
  assert.equal(new Set(streamed.map(({ uuid }) => uuid)).size, streamed.length);
  const ofSubagents = streamed.filter((message) => message.parent_tool_use_id !== null);
  assert.notEqual(ofSubagents.length, 0);
  assert.ok(ofSubagents.length < streamed.length);
});

test('events come in their order, each once, before their message, however an answer is cut', async () => {
  const expected = Array.from({ length: 600 }, (_, at) => `word ${at}, "ß"\n`);
  for (const sizes of [[1 << 20], [7, 4096, 1, 333], [65_536, 13]]) {
    const agent = new Agent({ ...PARTIAL, fetch: answering(streamOf(600), sizes) });
    const messages = await all(agent.query('Go.'));
    const texts = messages.flatMap(({ event }) => event?.delta?.text ?? []);
    assert.deepEqual(texts, expected, `pieces of ${sizes}`);
    const types = messages.map(({ type, event }) => event?.type ?? type).filter((type) => type !== 'content_block_delta');
    const end = ['content_block_stop', 'message_delta', 'message_stop'];
    assert.deepEqual(types.filter((type) => end.includes(type)), end, `pieces of ${sizes}`);
    const answer = messages.findIndex(({ type }) => type === 'assistant');
    assert.ok(answer > messages.findLastIndex(({ event }) => event?.type === 'content_block_delta'), `pieces of ${sizes}`);
    assert.equal(messages.at(-1).result, expected.join(''));
  }
});

test('what has arrived is read while the rest is on its way', async () => {
  const bytes = streamOf(4);
  let send;
  const body = new ReadableStream({ start: (controller) => void (send = controller) });
  const agent = new Agent({ ...PARTIAL, fetch: async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } }) });
  const run = agent.query('Go.');
  const first = new TextDecoder().decode(bytes).indexOf('word 1');
  send.enqueue(bytes.slice(0, first));
  let read;
  do read = (await run.next()).value;
  while (read.event?.type !== 'content_block_delta');
  assert.equal(read.event.delta.text, 'word 0, "ß"\n');
  send.enqueue(bytes.slice(first));
  send.close();
  assert.match((await run.result()).result, /word 3/);
});

test('a reader that is late holds the loop up, and no longer than it is', async () => {
  const bytes = (count) => streamOf(count);
  // So many events that the last of a stream is the one for which there is no more room, or one of those around it.
  for (let count = 245; count <= 260; count += 1) {
    const fetch = async () => answering(bytes(count), [1 << 20])();
    const agent = new Agent({ ...PARTIAL, fetch });
    const session = agent.session();
    for (const prompt of ['First.', 'Second.']) {
      const run = session.prompt(prompt);
      await new Promise((resolve) => setTimeout(resolve)); // it is not read before the loop has come as far as it can
      const texts = (await all(run)).flatMap(({ event }) => event?.delta?.text ?? []);
      assert.equal(texts.length, count, `${count} pieces, ${prompt}`);
    }
    await session.close();
  }
});

test('what nobody reads of an answer does not hold up the next one', async () => {
  for (let count = 245; count <= 260; count += 1) {
    for (const read of [1, 5, 60]) {
      const agent = new Agent({ ...PARTIAL, fetch: async () => answering(streamOf(count), [1 << 20])() });
      const session = agent.session();
      const first = session.prompt('First.');
      for (let at = 0; at < read; at += 1) await first.next();
      await new Promise((resolve) => setTimeout(resolve, 5)); // it ends, if it can without its reader
      await first.return();
      const texts = (await all(session.prompt('Second.'))).flatMap(({ event }) => event?.delta?.text ?? []);
      assert.equal(texts.length, count, `${count} pieces, of which ${read} messages were read`);
      await session.close();
    }
  }
});

test('nothing is read ahead of a reader that stops, and nothing more is sent to it', async () => {
  let pulled = 0;
  const bytes = streamOf(50_000);
  const body = new ReadableStream({
    pull(controller) {
      controller.enqueue(bytes.slice(pulled, (pulled += 4096)));
      if (pulled >= bytes.length) controller.close();
    },
  });
  const agent = new Agent({ ...PARTIAL, fetch: async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } }) });
  const run = agent.query('Go.');
  while ((await run.next()).value.event?.type !== 'content_block_delta');
  await new Promise(setImmediate); // whoever writes has had its turn
  assert.ok(pulled < bytes.length / 10, `${pulled} of ${bytes.length} bytes were read for one message`);
  await run.return();
  assert.deepEqual(await run.next(), { done: true, value: undefined });
});

test('a hook is called with the name of its effect, the same where the same is done again', async () => {
  const named = async () => {
    const names = [];
    const note = (input, id, { effectId }) => void names.push(effectId);
    const { agent } = await agentOf([{ respond: 'One.' }], { ...PARTIAL, hooks: { UserPromptSubmit: [{ hooks: [note] }], Stop: [{ hooks: [note] }] } });
    await agent.run('Go.');
    return names;
  };
  const names = await named();
  assert.equal(new Set(names).size, 2, `${names}`);
  assert.ok(names.every((name) => typeof name === 'string' && name !== ''), `${names}`);
  assert.deepEqual(await named(), names);
});

test('an agent is told of each call that may run, and why, before it runs', async () => {
  const told = [];
  const warnings = [];
  const note = tool('Note', '', { type: 'object' }, (input, { effectId }) => void told.push(effectId));
  const { agent } = await agentOf([callOf('Note'), { respond: 'Noted.' }], {
    tools: [note],
    allowedTools: ['Note'],
    onWarning: (text) => warnings.push(text),
    onAllowed: (call) => {
      told.push(call);
      throw new Error('no room in the log');
    },
  });
  assert.equal((await agent.run('Go.')).result, 'Noted.');
  const [{ effectId, toolUseID, ...call }, ran] = told;
  assert.deepEqual(call, { parentToolUseID: null, toolName: 'Note', reason: 'the rule Note (options) says so' });
  assert.match(toolUseID, /./);
  assert.equal(effectId, ran);
  assert.deepEqual(warnings, ['`onAllowed` for Note failed: no room in the log']);
});

test('`send` is `prompt`, and a prompt that is none is told', async () => {
  const { agent } = await agentOf([{ respond: 'One.' }, { respond: 'Two.' }]);
  const session = agent.session();
  assert.equal((await session.send('First.').result()).result, 'One.');
  assert.throws(() => session.send(undefined), /a prompt is a text or a list of content blocks/);
  assert.throws(() => session.prompt({}), /a prompt is a text or a list of content blocks/);
  assert.equal((await session.send([{ type: 'text', text: 'Second.' }]).result()).result, 'Two.');
  await session.close();
});
