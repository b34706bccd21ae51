/** `query` with a stream of prompts, and its end. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { windlass } from './package-under-test.js';
import { all, callOf, scripted } from './scripted-agent.js';

const { MemorySessionStore, query } = windlass;

const said = (content) => ({ type: 'user', message: { role: 'user', content } });
const never = () => new Promise(() => {});

test('an abort ends a query that waits for its next prompt', async () => {
  const { options } = await scripted([{ respond: 'One.' }]);
  const abortController = new AbortController();
  async function* prompts() {
    yield said('First.');
    await never();
  }
  const messages = query({ prompt: prompts(), options: { ...options, abortController } });
  const read = [];
  await assert.rejects(async () => {
    for await (const message of messages) {
      read.push(message.type);
      if (message.type === 'result') queueMicrotask(() => abortController.abort(new Error('enough')));
    }
  }, /enough/);
  assert.deepEqual(read, ['system', 'assistant', 'result']);
});

test('a query that is closed ends without an error, whatever it waits for', async () => {
  for (const isStream of [true, false]) {
    const { options } = await scripted([{ respond: 'One.' }]);
    async function* prompts() {
      yield said('First.');
      await never();
    }
    const asking = new Promise((resolve) => {
      options.fetch = isStream ? options.fetch : () => (resolve(), never());
    });
    const messages = query({ prompt: isStream ? prompts() : 'First.', options });
    const read = [];
    const reading = (async () => {
      for await (const message of messages) {
        read.push(message.type);
        if (message.type === 'result') queueMicrotask(() => messages.close());
      }
    })();
    if (!isStream) await asking.then(() => messages.close());
    await reading;
    assert.deepEqual(read, isStream ? ['system', 'assistant', 'result'] : ['system']);
    await messages.close();
  }
});

test('a query that nobody begins to read leaves its session to others', async () => {
  const sessionStore = new MemorySessionStore();
  const { options } = await scripted([{ respond: 'One.' }, { respond: 'Two.' }]);
  const { session_id: resume } = await new windlass.Agent({ ...options, sessionStore }).run('First.');
  async function* prompts() {
    yield said('Never.');
  }
  await query({ prompt: prompts(), options: { ...options, sessionStore, resume } }).return();
  assert.equal((await all(query({ prompt: 'Second.', options: { ...options, sessionStore, resume } }))).at(-1).result, 'Two.');
});

test('a query that has ended leaves its session to others', async () => {
  const sessionStore = new MemorySessionStore();
  const { options } = await scripted([{ respond: 'One.' }, { respond: 'Two.' }]);
  async function* prompts() {
    yield said('First.');
    throw new Error('the person has gone');
  }
  let id;
  await assert.rejects(async () => {
    for await (const message of query({ prompt: prompts(), options: { ...options, sessionStore } })) id = message.session_id;
  }, /the person has gone/);
  const messages = await all(query({ prompt: 'Second.', options: { ...options, sessionStore, resume: id } }));
  assert.equal(messages.at(-1).result, 'Two.');
});

test('a stream of something else is told what it should give', async () => {
  const { options } = await scripted([{ respond: 'Never.' }]);
  async function* texts() {
    yield 'First.';
  }
  await assert.rejects(all(query({ prompt: texts(), options })), /a stream of prompts gives user messages: `\{ type: 'user'/);
});

test('what is wrong with a prompt opens no session', async () => {
  const sessionStore = new MemorySessionStore();
  const { options } = await scripted([{ respond: 'One.' }, { respond: 'Two.' }]);
  const first = new windlass.Agent({ ...options, sessionStore });
  const { session_id: id } = await first.run('First.');
  const agent = new windlass.Agent({ ...options, sessionStore, resume: id });
  assert.throws(() => agent.query('Second.', { signal: 'soon' }), /`signal` is no AbortSignal/);
  assert.equal((await agent.run('Second.')).result, 'Two.');
});

test('an answer of a schema is in the result, and one that does not fit is asked for again', async () => {
  const schema = { type: 'object', properties: { city: { type: 'string' }, days: { type: 'integer' } }, required: ['city', 'days'] };
  const { model, options } = await scripted([
    callOf('StructuredOutput', { city: 'Bergen', days: 'two' }),
    { expect: { tool_results: [{ is_error: true, contains: 'days' }] }, ...callOf('StructuredOutput', { city: 'Bergen', days: 2 }) },
  ]);
  const messages = await all(query({ prompt: 'Where, and for how long?', options: { ...options, outputFormat: { type: 'json_schema', schema } } }));
  model.verify();
  assert.equal(messages.at(-1).subtype, 'success');
  assert.deepEqual(messages.at(-1).structured_output, { city: 'Bergen', days: 2 });
});
