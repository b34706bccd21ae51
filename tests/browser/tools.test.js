/** Tools whose input a schema of a library describes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import * as zod3 from 'zod/v3';
import { windlass } from './package-under-test.js';
import { agentOf, callOf } from './scripted-agent.js';

const { tool } = windlass;

/** What a handler got of inputs, and what the model read. */
async function called(schema, inputs, handler = (input) => JSON.stringify(input)) {
  const got = [];
  const probe = tool('Probe', 'Looks.', schema, (input, context) => {
    got.push(input);
    return handler(input, context);
  });
  const read = [];
  const exchanges = [...inputs.map((input) => callOf('Probe', input)), { respond: 'Done.' }];
  const { agent, model } = await agentOf(exchanges, { tools: [probe], allowedTools: ['Probe'] });
  for await (const message of agent.query('Go.')) {
    if (message.type === 'user') read.push(...message.message.content);
  }
  model.verify();
  return { got, read, probe };
}

test('an object of Zod describes and parses an input', async () => {
  const schema = z.object({ city: z.string().describe('Where.'), days: z.number().default(3), at: z.string().transform(Number).optional() });
  const { got, probe } = await called(schema, [{ city: 'Bergen', at: '7' }]);
  assert.deepEqual(got, [{ city: 'Bergen', days: 3, at: 7 }]);
  assert.deepEqual(probe.definition.input_schema, {
    type: 'object',
    properties: {
      city: { type: 'string', description: 'Where.' },
      days: { type: 'number', default: 3 },
      at: { type: 'string' },
    },
    required: ['city'],
  });
});

test('an object with a schema for each field is as good', async () => {
  const shape = { city: z.string(), days: z.number().default(3), at: z.string().optional() };
  const { got, probe } = await called(shape, [{ city: 'Bergen', more: 1 }]);
  assert.deepEqual(got, [{ city: 'Bergen', days: 3 }]);
  assert.deepEqual(probe.definition.input_schema.required, ['city']);
  const inherited = await called({ constructor: z.string().optional() }, [{}]);
  assert.deepEqual(inherited.got, [{}]);
  const nothing = await called({}, [{}]);
  assert.deepEqual(nothing.got, [{}]);
  assert.deepEqual(nothing.probe.definition.input_schema, { type: 'object', properties: {} });
});

test('what does not fit never gets to the handler, and the model reads why', async () => {
  const even = z.number().refine((value) => value % 2 === 0, 'must be even');
  const { got, read } = await called({ count: even, list: z.array(z.object({ name: z.string() })) }, [
    { count: 'two', list: [] },
    { count: 3, list: [] },
    { list: [{ name: 7 }] },
    { count: 2, list: [{ name: 'a' }] },
  ]);
  assert.deepEqual(got, [{ count: 2, list: [{ name: 'a' }] }]);
  assert.deepEqual(read.map(({ is_error: failed = false }) => failed), [true, true, true, false]);
  // What JSON Schema says is checked before anybody is asked, what only the library knows when the call runs.
  assert.match(read[0].content, /The input of Probe is not valid: .*count/);
  assert.match(read[1].content, /The input of Probe is not valid: count: must be even/);
  assert.match(read[2].content, /The input of Probe is not valid: .*count/);
});

test('refinements that wait are waited for', async () => {
  const free = z.string().refine(async (name) => name !== 'taken', 'is taken');
  const { got, read } = await called(z.object({ name: free }), [{ name: 'taken' }, { name: 'mine' }]);
  assert.deepEqual(got, [{ name: 'mine' }]);
  assert.match(read[0].content, /name: is taken/);
});

test('rules and people see what the model wrote', async () => {
  const asked = [];
  const probe = tool('Probe', '', { days: z.string().transform(Number) }, ({ days }) => `${days + 1}`);
  const canUseTool = (name, input) => {
    asked.push(input);
    return { behavior: 'allow', updatedInput: { days: '8' } };
  };
  const { agent, model } = await agentOf(
    [callOf('Probe', { days: '7' }), { expect: { last_user_contains: '9' }, respond: 'Done.' }],
    { tools: [probe], canUseTool },
  );
  await agent.run('Go.');
  model.verify();
  assert.deepEqual(asked, [{ days: '7' }]);
});

test('a result of MCP is a result', async () => {
  const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' };
  const result = { content: [{ type: 'text', text: 'seen' }, image], structuredContent: { n: 1 }, isError: false };
  const { read } = await called({}, [{}], () => result);
  assert.deepEqual(read[0].content, [
    { type: 'text', text: 'seen' },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
  ]);
});

test('schemas that cannot be told are refused, and say why', () => {
  const of = (schema) => () => tool('Probe', '', schema, () => '');
  assert.throws(of(z.object({ at: z.date() })), /the input schema of the tool Probe cannot be told as JSON Schema: Date/);
  assert.throws(of(z.string()), /is for "string", and inputs are objects/);
  assert.throws(of({ properties: {} }), /is for no type/);
  assert.throws(of(zod3.z.object({})), /comes from zod, and does not give its JSON Schema/);
  const Tree = z.object({ name: z.string(), get below() { return z.array(Tree); } });
  assert.throws(of({ tree: Tree }), /give all of it as one object/);
  of(z.object({ tree: Tree }))();
  assert.throws(of('text'), /is JSON Schema, or a schema of a library/);
  assert.throws(of(undefined), /is JSON Schema, or a schema of a library/);
});

test('what a handler gives is a result, or a failure that says what it gave', async () => {
  const read = async (given) => (await called({}, [{}], () => given)).read[0];
  const textOf = ({ content }) => (typeof content === 'string' ? content : content.map(({ text }) => text).join(''));
  for (const given of [undefined, null, {}, 'so', { content: 'so' }, { content: [{ type: 'text', text: 'so' }] }, { structured: { a: 1 } }]) {
    assert.ok(!(await read(given)).is_error, JSON.stringify(given));
  }
  for (const [given, words] of [
    [5, /gave a number in place of a result/], [true, /a boolean/], [{ a: 1 }, /an object with a in place/], [[], /a list/], [new Date(0), /an object/],
    [{ content: 5 }, /an object with content/], [{ content: [5] }, /an object with content/],
  ]) {
    const result = await read(given);
    assert.ok(result.is_error, JSON.stringify(given));
    assert.match(textOf(result), words);
  }
});

test('a tool that no model could call, and one without a handler, is told', () => {
  for (const name of ['', 'a b', 'x'.repeat(129), undefined]) assert.throws(() => tool(name, 'Looks.', {}, () => ''), /a tool cannot be called/);
  assert.throws(() => tool('Look', 'Looks.', {}), /the tool Look has no handler/);
});
