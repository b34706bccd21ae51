/** What people write with the package, against a scripted model. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { files, testkit, windlass } from './package-under-test.js';

const { Agent, tool } = windlass;
const OBJECT = { type: 'object' };

/** An agent whose model follows these exchanges, in virtual time. */
async function agentOf(exchanges, options = {}) {
  const clock = new testkit.VirtualClock();
  const model = await testkit.ScriptedModel.load({ exchanges }, { clock });
  const agent = new Agent({ fetch: model.fetch, clock, seed: new Uint8Array(32), ...options });
  return { agent, model, clock };
}

const callOf = (name, input = {}) => ({ respond: { content: [{ type: 'tool_use', name, input }] } });

async function all(run) {
  const messages = [];
  for await (const message of run) messages.push(message);
  return messages;
}

test('a closure is a tool, and its text is what the model reads', async () => {
  const add = tool('Add', 'Adds.', OBJECT, ({ a, b }) => `${a + b}`);
  const { agent, model } = await agentOf(
    [callOf('Add', { a: 1, b: 2 }), { expect: { last_user_contains: '3' }, respond: 'It is 3.' }],
    { tools: [add], allowedTools: ['Add'] },
  );
  const result = await agent.run('1 + 2?');
  assert.equal(result.result, 'It is 3.');
  assert.equal(result.num_turns, 2);
  model.verify();
});

test('a tool that throws has failed, and the model reads why', async () => {
  const broken = tool('Broken', '', OBJECT, () => {
    throw new Error('no such luck');
  });
  const { agent, model } = await agentOf(
    [callOf('Broken'), { expect: { tool_results: [{ is_error: true, contains: 'no such luck' }] }, respond: 'Oh.' }],
    { tools: [broken], allowedTools: ['Broken'] },
  );
  await agent.run('Try.');
  model.verify();
});

test('a tool gives blocks, an error flag and a structured output', async () => {
  const rich = tool('Rich', '', OBJECT, async () => ({
    content: [{ type: 'text', text: 'seen' }],
    isError: true,
    structured: { code: 7 },
  }));
  const { agent } = await agentOf([callOf('Rich'), { respond: 'So.' }], { tools: [rich], allowedTools: ['Rich'] });
  const results = (await all(agent.query('Try.'))).filter((message) => message.type === 'user');
  assert.equal(results[0].message.content[0].is_error, true);
  assert.deepEqual(results[0].tool_use_result, { code: 7 });
});

test('a tool that takes too long is stopped, and hears of it', async () => {
  let heard = false;
  const slow = tool(
    'Slow',
    '',
    OBJECT,
    (input, { signal }) =>
      new Promise(() => {
        signal.addEventListener('abort', () => {
          heard = true;
        });
      }),
    { timeoutMs: 500 },
  );
  const { agent, model, clock } = await agentOf(
    [callOf('Slow'), { expect: { tool_results: [{ is_error: true, contains: '500 ms' }] }, respond: 'Late.' }],
    { tools: [slow], allowedTools: ['Slow'] },
  );
  await agent.run('Wait.');
  model.verify();
  assert.equal(heard, true);
  assert.equal(clock.mono(), 500);
});

test('progress of a tool is a message', async () => {
  const chatty = tool('Chatty', '', OBJECT, async (input, { progress }) => {
    progress('half way');
    await Promise.resolve();
    return 'done';
  });
  const { agent } = await agentOf([callOf('Chatty'), { respond: 'So.' }], { tools: [chatty], allowedTools: ['Chatty'] });
  const types = (await all(agent.query('Go.'))).map((message) => message.type);
  assert.ok(types.includes('tool_progress'), types.join());
});

test('whoever is asked decides: yes, yes with another input, no', async () => {
  const said = [];
  const say = tool('Say', '', OBJECT, ({ text }) => {
    said.push(text);
    return 'said';
  });
  const canUseTool = async (name, input, { toolUseID }) => {
    assert.equal(name, 'Say');
    assert.match(toolUseID, /^toolu_/);
    if (input.text === 'a') return { behavior: 'allow' };
    if (input.text === 'b') return { behavior: 'allow', updatedInput: { text: 'B' } };
    return { behavior: 'deny', message: 'not that one' };
  };
  const { agent, model } = await agentOf(
    [
      callOf('Say', { text: 'a' }),
      callOf('Say', { text: 'b' }),
      callOf('Say', { text: 'c' }),
      { expect: { tool_results: [{ is_error: true, contains: 'not that one' }] }, respond: 'So.' },
    ],
    { tools: [say], canUseTool },
  );
  const result = await agent.run('Say it.');
  model.verify();
  assert.deepEqual(said, ['a', 'B']);
  assert.equal(result.permission_denials.length, 1);
});

test('a callback that throws allows nothing', async () => {
  const never = tool('Never', '', OBJECT, () => assert.fail('it ran'));
  const canUseTool = () => Promise.reject(new Error('the dialog broke'));
  const { agent, model } = await agentOf(
    [callOf('Never'), { expect: { tool_results: [{ is_error: true, contains: 'the dialog broke' }] }, respond: 'So.' }],
    { tools: [never], canUseTool },
  );
  await agent.run('Try.');
  model.verify();
});

test('a session remembers, and changes its model and mode', async () => {
  const { agent, model } = await agentOf([
    { respond: 'Hello.' },
    { expect: { messages: 3, model: 'claude-haiku-4-5' }, respond: 'Still here.' },
  ]);
  const session = agent.session();
  await session.prompt('Hi.').result();
  await session.setModel('claude-haiku-4-5');
  await session.setPermissionMode('plan');
  const messages = await all(session.prompt('And?'));
  assert.equal(messages[0].permissionMode, 'plan');
  assert.equal(messages.at(-1).result, 'Still here.');
  assert.equal(messages[0].session_id, await session.id());
  await assert.rejects(session.setPermissionMode('bypassPermissions'), /allowDangerouslySkipPermissions/);
  await assert.rejects(session.setPermissionMode('yolo'), /acceptEdits/);
  model.verify();
});

test('prompts of a session are answered one after another', async () => {
  const { agent, model } = await agentOf([{ respond: 'One.' }, { expect: { messages: 3 }, respond: 'Two.' }]);
  const session = agent.session();
  const [one, two] = [session.prompt('1'), session.prompt('2')];
  assert.equal((await two.result()).result, 'Two.');
  assert.equal((await one.result()).result, 'One.');
  model.verify();
});

test('an interrupt ends the run with a result, and the session goes on', async () => {
  const { agent } = await agentOf([{ respond: { text: 'Never.', faults: [{ after_events: 2, hang: true }] } }, { respond: 'Again.' }]);
  const session = agent.session();
  const run = session.prompt('Hang.');
  await run.next();
  await run.interrupt();
  assert.equal((await run.result()).subtype, 'error_during_execution');
  assert.equal((await session.prompt('And now?').result()).result, 'Again.');
});

test('an aborted query throws the reason, and closes its connection', async () => {
  let closed = false;
  const hanging = (url, { signal }) =>
    new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => {
        closed = true;
        reject(signal.reason);
      });
    });
  const agent = new Agent({ fetch: hanging });
  const controller = new AbortController();
  const run = agent.query('Hang.', { signal: controller.signal });
  await run.next();
  controller.abort(new Error('enough'));
  await assert.rejects(run.next(), /enough/);
  await run.return();
  assert.equal(closed, true);
  await assert.rejects(agent.run('Too late.', { signal: AbortSignal.abort(new Error('before it began')) }), /before it began/);
});

test('a query that is aborted before its turn disturbs no other', async () => {
  const { agent, model } = await agentOf([{ respond: 'One.' }, { expect: { messages: 3 }, respond: 'Three.' }]);
  const session = agent.session();
  const controller = new AbortController();
  const one = session.prompt('1');
  const two = session.prompt('2', { signal: controller.signal });
  const three = session.prompt('3');
  controller.abort(new Error('not that one'));
  assert.equal((await one.result()).result, 'One.');
  await assert.rejects(two.result(), /not that one/);
  assert.equal((await three.result()).result, 'Three.');
  model.verify();
});

test('messages asked for at once come in order', async () => {
  const { agent } = await agentOf([{ respond: 'Hello.' }]);
  const run = agent.query('Hi.');
  const types = await Promise.all([run.next(), run.next(), run.next(), run.next()]);
  assert.deepEqual(
    types.map(({ value }) => value?.type),
    ['system', 'assistant', 'result', undefined],
  );
});

test('leaving the loop stops the run', async () => {
  const { agent } = await agentOf([{ respond: { text: 'Never.', faults: [{ after_events: 2, hang: true }] } }, { respond: 'Again.' }]);
  const session = agent.session();
  for await (const message of session.prompt('Hang.')) {
    assert.equal(message.subtype, 'init');
    break;
  }
  assert.equal((await session.prompt('And now?').result()).result, 'Again.');
});

test('messages that nobody reads hold the run up, not the memory', async () => {
  const { agent } = await agentOf([{ respond: { text: 'word '.repeat(400), stream: { delta_chars: 5 } } }], {
    includePartialMessages: true,
  });
  const messages = await all(agent.query('Talk.'));
  assert.ok(messages.length > 400);
  assert.equal(messages.at(-1).result.length, 2000);
});

test('a failed request is asked again, and what stays failed is a result', async () => {
  const { agent, clock, model } = await agentOf([
    { respond: { error: { type: 'overloaded_error', message: 'Overloaded' } } },
    { respond: { cut: true } },
    { respond: 'At last.' },
  ]);
  const messages = await all(agent.query('Go.'));
  assert.deepEqual(messages.filter((m) => m.subtype === 'api_retry').map((m) => m.error_status), [529, null]);
  assert.equal(messages.at(-1).result, 'At last.');
  assert.ok(clock.mono() >= 1500);
  model.verify();
  const unreachable = new Agent({
    fetch: () => Promise.reject(new TypeError('fetch failed')),
    clock: new testkit.VirtualClock(),
    retry: { maxRetries: 1 },
  });
  const result = await unreachable.run('Go.');
  assert.equal(result.is_error, true);
  assert.match(result.errors[0], /cannot reach the model server at https:\/\/api\.anthropic\.com: fetch failed/);
});

test('a request carries the key, the path and the headers of the agent', async () => {
  let seen;
  const fetch = async (url, request) => {
    seen = { url, headers: request.headers, body: JSON.parse(new TextDecoder().decode(request.body)) };
    return new Response('{"type":"error","error":{"type":"authentication_error","message":"no"}}', { status: 401 });
  };
  const agent = new Agent({ fetch, apiKey: 'secret', baseUrl: 'https://proxy.example/api/', headers: { 'x-team': 'blue' } });
  const result = await agent.run('Hi.');
  assert.equal(seen.url, 'https://proxy.example/api/v1/messages');
  assert.equal(seen.headers.get('x-api-key'), 'secret');
  assert.equal(seen.headers.get('x-team'), 'blue');
  assert.equal(seen.body.messages[0].role, 'user');
  assert.equal(result.is_error, true);
});

test('options that make no sense are refused, and say why', async () => {
  const twice = tool('Same', '', OBJECT, () => '');
  assert.throws(() => new Agent({ tools: [twice, twice] }), /two tools are called Same/);
  assert.throws(() => new Agent({ permissionMode: 'bypassPermissions' }), /needs `allowDangerouslySkipPermissions: true`/);
  await assert.rejects(new Agent({ allowedTools: ['Read('] }).run('Hi.'), /parenthesis/);
  await assert.rejects(new Agent({}).run(7), /a prompt is a text or a list of content blocks, not 7/);
});

test('limits hold: rounds of tools, and money', async () => {
  const again = tool('Again', '', OBJECT, () => 'once more');
  const options = { tools: [again], allowedTools: ['Again'] };
  const rounds = await agentOf([{ ...callOf('Again'), repeat: 2 }], { ...options, maxTurns: 2 });
  assert.equal((await rounds.agent.run('Go.')).subtype, 'error_max_turns');
  const usage = { input_tokens: 1_000_000, output_tokens: 0 };
  const dear = { respond: { content: [{ type: 'tool_use', name: 'Again', input: {} }], usage } };
  const money = await agentOf([dear], { ...options, maxBudgetUsd: 0.000001 });
  assert.equal((await money.agent.run('Go.')).subtype, 'error_max_budget_usd');
});

test('the file tools work on the files of the agent', async () => {
  const plugin = await files.fileTools();
  const { agent, model } = await agentOf(
    [
      callOf('Write', { file_path: '/notes/a.txt', content: 'one\n' }),
      callOf('Read', { file_path: 'a.txt' }),
      { expect: { last_user_contains: 'one' }, respond: 'It says one.' },
    ],
    { plugins: [plugin], cwd: '/notes', permissionMode: 'acceptEdits', freeWorkspaceReads: true },
  );
  const result = await agent.run('Write and read.');
  model.verify();
  assert.equal(result.result, 'It says one.');
  assert.equal(agent.files.readText('/notes/a.txt'), 'one\n');
});

test('what is changed in a session is a text', async () => {
  const { agent } = await agentOf([{ respond: 'Done.' }]);
  const session = agent.session();
  await assert.rejects(session.setModel(5), /`setModel` takes a text that is not empty, not number/);
  await assert.rejects(session.setModel(''), /not an empty one/);
  await assert.rejects(session.setPermissionMode(null), /`setPermissionMode` takes a text/);
  await assert.rejects(session.stopTask(undefined), /`stopTask` takes a text/);
  assert.equal((await session.prompt('Go.').result()).result, 'Done.');
  await session.close();
});
