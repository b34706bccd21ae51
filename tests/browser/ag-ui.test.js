/** Runs as AG-UI events: held against the protocol's own schemas, its rules of order, and its client. */
import './npm-packages.js';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { HttpAgent, verifyEvents } from '@ag-ui/client';
import { EventSchemas } from '@ag-ui/core/schemas';
import { from, lastValueFrom, toArray } from 'rxjs';
import { load, testkit, windlass } from './package-under-test.js';

const { agUiEvents, agUiResponse } = await load('ag-ui.js');
const { Agent, tool } = windlass;

const say = tool('Say', 'Says.', { type: 'object' }, ({ text }) => {
  if (text === 'fail') throw new Error('no luck');
  if (text !== 'image') return `said ${text}`;
  return { content: [{ type: 'text', text: 'seen' }, { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } }] };
});
const tools = { tools: [say], allowedTools: ['Say', 'Task'] };

const call = (name, input) => ({ type: 'tool_use', name, input });
const rich = {
  respond: { content: [{ type: 'thinking', thinking: 'hm', signature: 'x' }, { type: 'text', text: 'I say.' }, call('Say', { text: 'a' }), call('Say', { text: 'fail' })] },
};

async function agentOf(exchanges, options = {}) {
  const clock = new testkit.VirtualClock();
  const model = await testkit.ScriptedModel.load({ exchanges }, { clock });
  return new Agent({ fetch: model.fetch, clock, seed: new Uint8Array(32), ...tools, ...options });
}

/** All events of a run, each of which the schemas take as it is, in an order that the client takes. */
async function eventsOf(messages, options = { runId: 'run' }) {
  const events = [];
  for await (const event of agUiEvents(messages, options)) events.push(event);
  for (const event of events) assert.deepEqual(EventSchemas.parse(event), event);
  await lastValueFrom(from(events).pipe(verifyEvents(), toArray()));
  return events;
}

const short = (events) => events.filter(({ type }) => type !== 'CUSTOM').map(({ type, delta, toolCallName }) => [type, delta ?? toolCallName].filter(Boolean).join(' '));

const TOLD = [
  'RUN_STARTED',
  'REASONING_START',
  'REASONING_MESSAGE_START',
  'REASONING_MESSAGE_CONTENT hm',
  'REASONING_MESSAGE_END',
  'REASONING_END',
  'TEXT_MESSAGE_START',
  'TEXT_MESSAGE_CONTENT I say.',
  'TEXT_MESSAGE_END',
  'TOOL_CALL_START Say',
  'TOOL_CALL_ARGS {"text":"a"}',
  'TOOL_CALL_END',
  'TOOL_CALL_START Say',
  'TOOL_CALL_ARGS {"text":"fail"}',
  'TOOL_CALL_END',
  'TOOL_CALL_RESULT',
  'TOOL_CALL_RESULT',
  'TEXT_MESSAGE_START',
  'TEXT_MESSAGE_CONTENT Done.',
  'TEXT_MESSAGE_END',
  'RUN_FINISHED',
];

for (const includePartialMessages of [false, true]) {
  test(`a run with thinking, text and calls is told once, ${includePartialMessages ? 'while it arrives' : 'when it has arrived'}`, async () => {
    const agent = await agentOf([rich, { respond: 'Done.' }], { includePartialMessages });
    const events = await eventsOf(agent.query('Go.'));
    assert.deepEqual(short(events), TOLD);
    const [started] = events;
    assert.match(started.threadId, /^[0-9a-f-]{36}$/);
    assert.equal(started.runId, 'run');
    const [said, failed] = events.filter(({ type }) => type === 'TOOL_CALL_RESULT');
    assert.equal(said.content, 'said a');
    assert.deepEqual([failed.content, failed.metadata.isError], ['no luck', true]);
    const finished = events.at(-1);
    assert.deepEqual([finished.result, finished.outcome], ['Done.', { type: 'success' }]);
    assert.ok(finished.usage[0].inputTokens > 0 && finished.usage[0].model);
  });

  test(`what a subagent does belongs to it, ${includePartialMessages ? 'while it arrives' : 'when it has arrived'}`, async () => {
    const agents = { helper: { description: 'helps', prompt: 'You help.' } };
    const task = call('Task', { subagent_type: 'helper', description: 'Help me', prompt: 'Do it' });
    const exchanges = [
      { respond: { content: [task] } },
      { respond: { content: [call('Say', { text: 'sub' })] } },
      { respond: 'Sub done.' },
      { respond: 'All done.' },
    ];
    const events = await eventsOf((await agentOf(exchanges, { agents, includePartialMessages })).query('Go.'));
    const started = events.find(({ type }) => type === 'SUBAGENT_STARTED');
    assert.deepEqual([started.name, started.description, started.parentToolCallId], ['helper', 'Help me', started.subagentRunId]);
    const own = events.filter((event) => event.subagentRunId === started.subagentRunId).map(({ type }) => type);
    assert.deepEqual(own.filter((type) => type !== 'CUSTOM'), [
      'SUBAGENT_STARTED',
      'TOOL_CALL_START',
      'TOOL_CALL_ARGS',
      'TOOL_CALL_END',
      'TOOL_CALL_RESULT',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_END',
      'SUBAGENT_FINISHED',
    ]);
  });
}

test('images in a result are parts', async () => {
  const events = await eventsOf((await agentOf([{ respond: { content: [call('Say', { text: 'image' })] } }, { respond: 'Done.' }])).query('Go.'));
  assert.deepEqual(events.find(({ type }) => type === 'TOOL_CALL_RESULT').content, [
    { type: 'text', text: 'seen' },
    { type: 'image', source: { type: 'data', value: 'aGk=', mimeType: 'image/png' } },
  ]);
});

test('a response that breaks off is closed, and what comes in its place is another message', async () => {
  const exchanges = [
    { respond: { text: 'Broken off here and there.', faults: [{ after_events: 4, cut: true }] } },
    { respond: { content: [call('Say', { text: 'a' })], faults: [{ after_events: 3, cut: true }] } },
    { respond: 'Again.' },
  ];
  const events = await eventsOf((await agentOf(exchanges, { includePartialMessages: true })).query('Go.'));
  const texts = events.filter(({ type }) => type === 'TEXT_MESSAGE_START').map(({ messageId }) => messageId);
  assert.equal(new Set(texts).size, 2);
  assert.match(events.find(({ type }) => type === 'TOOL_CALL_RESULT').content, /was not made/);
  assert.ok(events.some(({ type, name }) => type === 'CUSTOM' && name === 'windlass.system.api_retry'));
  assert.equal(events.at(-1).result, 'Again.');
});

test('a run that fails ends with the reason', async () => {
  const limited = await eventsOf((await agentOf([rich, rich], { maxTurns: 1 })).query('Go.'));
  assert.deepEqual([limited.at(-1).type, limited.at(-1).code], ['RUN_ERROR', 'error_max_turns']);
  const refused = { respond: { status: 400, error: { type: 'invalid_request_error', message: 'not like that' } } };
  const failed = await eventsOf((await agentOf([refused])).query('Go.'));
  assert.equal(failed.at(-1).type, 'RUN_ERROR');
  assert.match(failed.at(-1).message, /not like that/);
});

test('an interrupt cancels the run, with everything closed', async () => {
  let run;
  const waits = tool('Wait', '', { type: 'object' }, () => new Promise(() => run.interrupt()));
  const agent = await agentOf([{ respond: { content: [call('Wait', {})] } }], { tools: [waits], allowedTools: ['Wait'], includePartialMessages: true });
  run = agent.query('Go.');
  const events = await eventsOf(run);
  assert.deepEqual(events.at(-1).outcome, { type: 'cancelled' });
});

test('an abort cancels the run, and another error is one', async () => {
  const controller = new AbortController();
  const agent = await agentOf([{ respond: 'Never.' }]);
  const run = agent.query('Go.', { signal: controller.signal });
  controller.abort();
  assert.equal((await eventsOf(run)).at(-1).outcome?.type, 'cancelled');
  async function* broken() {
    throw new Error('lost');
  }
  assert.deepEqual((await eventsOf(broken())).map(({ type }) => type), ['RUN_STARTED', 'RUN_ERROR']);
});

test('every prompt of a conversation is a run of its own', async () => {
  const agent = await agentOf([{ respond: 'One.' }, { respond: 'Two.' }]);
  async function* prompts() {
    yield { type: 'user', message: { role: 'user', content: '1' } };
    yield { type: 'user', message: { role: 'user', content: '2' } };
  }
  const session = agent.session();
  async function* both() {
    for await (const { message } of prompts()) yield* session.prompt(message.content);
  }
  const events = await eventsOf(both());
  const [first, second] = events.filter(({ type }) => type === 'RUN_STARTED');
  assert.equal(first.threadId, second.threadId);
  assert.equal(second.parentRunId, first.runId);
  assert.deepEqual(events.filter(({ type }) => type === 'RUN_FINISHED').map(({ result }) => result), ['One.', 'Two.']);
  await session.close();
});

test('the client of the protocol reads the response', async () => {
  const agent = await agentOf([rich, { respond: 'Done.' }], { includePartialMessages: true });
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const piece of request) text += piece;
    const { threadId, runId, messages } = JSON.parse(text);
    const { headers, body } = agUiResponse(agent.query(messages.at(-1).content), { threadId, runId });
    response.writeHead(200, Object.fromEntries(headers));
    for await (const piece of body) response.write(piece);
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const client = new HttpAgent({ url: `http://127.0.0.1:${server.address().port}/` });
    client.addMessage({ id: 'prompt', role: 'user', content: 'Go.' });
    const { result, newMessages } = await client.runAgent();
    assert.equal(result, 'Done.');
    assert.deepEqual(newMessages.map(({ role, content }) => [role, content]), [
      ['reasoning', 'hm'],
      ['assistant', 'I say.'],
      ['tool', 'said a'],
      ['tool', 'no luck'],
      ['assistant', 'Done.'],
    ]);
    assert.deepEqual(newMessages[1].toolCalls.map(({ function: { arguments: input } }) => JSON.parse(input)), [{ text: 'a' }, { text: 'fail' }]);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test('a client that goes stops the run', async () => {
  const stopped = {};
  stopped.promise = new Promise((resolve) => {
    stopped.resolve = resolve;
  });
  const waits = tool('Wait', '', { type: 'object' }, (input, { signal }) => new Promise(() => signal.addEventListener('abort', stopped.resolve)));
  const agent = await agentOf([{ respond: { content: [call('Wait', {})] } }], { tools: [waits], allowedTools: ['Wait'] });
  const reader = agUiResponse(agent.query('Go.')).body.getReader();
  let text = '';
  while (!text.includes('TOOL_CALL_END')) text += new TextDecoder().decode((await reader.read()).value);
  await reader.cancel();
  await stopped.promise;
});
