/** What of requests and secrets is the same wherever components run: declarations, grants, hooks, and how a secret is found. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import * as component from './network/probe.js';
import { runProbe } from './network/run-probe.js';
import { openServer } from './network/server.js';
import { load, testkit, windlass } from './package-under-test.js';

let server;
before(async () => {
  server = await openServer();
});
after(() => server?.close());

function run(inputs, options) {
  const plugin = (declaration, grant) => new windlass.Plugin(declaration, component.instantiate, undefined, grant);
  return runProbe({ windlass, testkit, plugin }, inputs, options);
}

test('what is declared and not granted is not there, and what nobody asks for cannot be granted', async () => {
  const none = await run([{ do: 'send', steps: [{ url: `${server.origin}/echo` }] }], { asked: { http: [server.origin] }, grant: {} });
  assert.deepEqual(none.results[0], [{ failure: 'refused', why: 'this component was granted no network' }]);
  const asked = { http: [{ origin: 'https://a.example', methods: ['GET', 'POST'] }], secrets: [{ name: 'KEY', description: 'A key', audience: ['https://a.example'] }] };
  const make = (grant, grants = asked) => () => new windlass.Plugin({ name: 'probe', version: '0.1.0', wit: '0.1.0', grants }, undefined, undefined, grant);
  assert.doesNotThrow(make({ http: ['https://a.example'], secrets: ['KEY'] }));
  assert.throws(make({ http: ['https://b.example'] }), /requests to https:\/\/b.example, for which it does not ask/);
  assert.throws(make({ http: [{ origin: 'https://a.example', methods: ['PUT'] }] }), /PUT to https:\/\/a.example, for which it does not ask/);
  assert.throws(make({ secrets: ['OTHER'] }), /the secret `OTHER`, for which it does not ask/);
  assert.throws(make({ secrets: { KEY: 'value' } }), /a list of names/);
  const withoutValues = () => new windlass.Agent({ plugins: [make({ http: ['https://a.example'], secrets: ['KEY'] })()] });
  assert.throws(withoutValues, /give their values by the option `pluginSecret`/);
  const declare = (grants) => make({}, grants);
  for (const origin of [
    '', 'a.example', 'https://', 'https://a.example/', 'https://a.example/v1', 'https://a.example?x', 'https://a.example:443', 'https://A.example',
    'https://a.example.', 'https://user@a.example', 'https:a.example', ' https://a.example', 'https://*.example', '*', 'https://bücher.example',
    'https://0x7f.1', 'http://a.example', 'http://192.168.1.5', 'http://localhost.', 'ftp://a.example', 'file:///etc/passwd', 'data:text/plain,x', 7, null,
  ]) {
    assert.throws(declare({ http: [origin] }), /cannot be loaded/, String(origin));
  }
  for (const origin of ['https://a.example:8443', 'https://192.168.1.5', 'http://localhost:8080', 'http://127.0.0.1:8080', 'http://[::1]:8080']) {
    assert.doesNotThrow(declare({ http: [origin] }), origin);
  }
  assert.throws(declare({ http: ['https://a.example', 'https://a.example'] }), /twice/);
  assert.throws(declare({ http: [{ origin: 'https://a.example', methods: ['get'] }] }), /cannot be loaded/);
  assert.throws(declare({ ...asked, secrets: [{ ...asked.secrets[0], audience: ['https://b.example'] }] }), /not among `grants.http`/);
  assert.throws(declare({ ...asked, secrets: [{ ...asked.secrets[0], audience: [] }] }), /without an `audience`/);
  assert.throws(declare({ ...asked, secrets: [{ ...asked.secrets[0], name: '1x' }] }), /no name of a secret/);
});

test('a redirect that `pluginFetch` has followed is refused', async () => {
  const http = [server.origin];
  const { results } = await run([{ do: 'send', steps: [{ url: `${server.origin}/redirect?to=/echo` }] }], { asked: { http }, grant: { http }, follows: true });
  assert.match(results[0][0].why, /came by a redirect/);
});

test('a hook sends requests as granted, and a call that waits for a server holds up no other plugin', async () => {
  const silent = { do: 'send', steps: [{ url: `${server.origin}/silent` }] };
  const sent = [];
  const tool = { description: 'Probes.', input_schema: { type: 'object' }, annotations: { readOnly: true } };
  const http = [server.origin];
  const base = { version: '0.1.0', wit: '0.1.0', grants: { http } };
  const said = { content: [{ tag: 'text', val: 'answered' }], isError: false, observed: [] };
  const observe = async (module, imports) => ({
    observe: () => sent.push(imports['windlass:host/http'].send({ method: 'GET', url: `${server.origin}/body`, headers: [], body: [] }).status),
  });
  const observer = { ...base, name: 'observer', hooks: [{ name: 'Tell', kind: 'observer', event: 'PostToolUse' }] };
  const slow = { ...base, name: 'slow', tools: [{ ...tool, name: 'Slow' }] };
  const quick = { ...base, name: 'quick', tools: [{ ...tool, name: 'Quick' }], grants: {} };
  const content = [{ type: 'tool_use', name: 'Slow', input: silent }, { type: 'tool_use', name: 'Quick', input: {} }];
  const model = await testkit.ScriptedModel.load({ exchanges: [{ respond: { content } }, { respond: 'Done.' }] });
  const order = [];
  const ended = async ({ tool_name }) => {
    order.push(tool_name);
    // What the other one waits for.
    if (tool_name === 'Quick') await server.endSilence();
  };
  const agent = new windlass.Agent({
    fetch: model.fetch,
    plugins: [
      new windlass.Plugin(slow, component.instantiate, undefined, { http }),
      new windlass.Plugin(quick, async () => ({ call: () => said }), undefined, {}),
      new windlass.Plugin(observer, observe, undefined, { http }),
    ],
    allowedTools: ['Slow', 'Quick'],
    hooks: { PostToolUse: [{ hooks: [ended] }] },
  });
  await agent.run('Go.');
  assert.deepEqual(order, ['Quick', 'Slow']);
  assert.deepEqual(sent, [200, 200]);
});

test('what somebody changes while a component waits for a server is not overwritten', async () => {
  const waiting = await openServer();
  const files = new windlass.MemoryFileSystem({ files: { '/w/a.txt': 'alpha' } });
  const content = (text) => new TextEncoder().encode(text);
  const call = (imports) => () => {
    const [{ directory }] = imports['windlass:host/filesystem'].roots();
    directory.read('a.txt', 0, 100);
    directory.write('b.txt', content('too'), { createNew: false, createParents: false });
    imports['windlass:host/http'].send({ method: 'GET', url: `${waiting.origin}/silent`, headers: [], body: [] });
    directory.write('a.txt', content('of the component'), { createNew: false, createParents: false });
    return { content: [{ tag: 'text', val: 'written' }], isError: false, observed: [] };
  };
  const tool = { name: 'Rewrite', description: 'Edits.', input_schema: { type: 'object' }, paths: [{ field: 'root', access: 'write' }] };
  const declaration = { name: 'editor', version: '0.1.0', wit: '0.1.0', tools: [tool], grants: { filesystem: 'write', http: [waiting.origin] } };
  const grant = { workspace: 'write', http: [waiting.origin] };
  const plugin = new windlass.Plugin(declaration, async (module, imports) => ({ call: call(imports) }), undefined, grant);
  const model = await testkit.ScriptedModel.load({ exchanges: [{ respond: { content: [{ type: 'tool_use', name: 'Rewrite', input: { root: '/w' } }] } }, { respond: 'Done.' }] });
  const agent = new windlass.Agent({ fetch: model.fetch, cwd: '/w', files, plugins: [plugin], allowedTools: ['Rewrite'] });
  const said = [];
  const reading = (async () => {
    for await (const message of agent.query('Go.')) if (message.type === 'user') said.push(JSON.stringify(message.message.content));
  })();
  await waiting.asked;
  await files.change([{ type: 'write', path: '/w/a.txt', content: content('of a person') }]);
  await waiting.endSilence();
  await reading;
  await waiting.close();
  assert.match(said[0], /somebody else changed it meanwhile, and nothing of this call was written/);
  assert.equal(files.readText('/w/a.txt'), 'of a person');
  assert.deepEqual(files.paths(), ['/w/a.txt']);
});

test('a secret is found in every notation, wherever it stands', async () => {
  const { Redactor } = await load('redactor.js');
  const key = 'sk-ant-api03-a/b+c"d-sk-ant-0123456789';
  const redactor = new Redactor([key]);
  const notations = [
    key,
    JSON.stringify(key),
    'sk-ant-api03-a%2Fb%2Bc%22d-sk-ant-0123456789',
    'sk-ant-api03-a%2fb%2bc%22d-sk-ant-0123456789',
    String.raw`sk-ant-api03-a\/b+c\"d-sk-ant-0123456789`,
    String.raw`sk-ant-api03-a/b\u002bc\"d-sk-ant-0123456789`,
    String.raw`sk-ant-api03-a\/b\u002bc\"d-sk-ant-0123456789`,
    Buffer.from(key).toString('hex'),
    ...['', 'x', 'xy', 'user:'].flatMap((before) => ['base64', 'base64url'].flatMap((encoding) => {
      return ['', ' and more'].map((after) => Buffer.from(before + key + after).toString(encoding).replace(/=+$/, ''));
    })),
  ];
  for (const notation of notations) {
    const clean = redactor.text(`the key ${notation} is wrong`);
    assert.ok(clean.includes('[key]'), `${notation}: ${clean}`);
    // At most the characters that the key shares with its neighbours are left.
    assert.ok(clean.length < 'the key  is wrong'.length + 30, clean);
  }
  assert.equal(redactor.text(`${key}${key}, ${key}`), '[key][key], [key]');
  assert.equal(redactor.text(`sk-ant-sk-ant-api03-${key} grün`), 'sk-ant-sk-ant-api03-[key] grün');
  assert.equal(redactor.text('sk-ant-api03-'), 'sk-ant-api03-');
});

const SECRET = 'SE~cr/t+5=%41\\x"y-ü 0123456789';

/** The secret with every byte that a function names percent-encoded. */
function percent(isUpper, isCode) {
  const written = [...Buffer.from(SECRET)].map((byte, at) => {
    if (byte < 0x80 && !isCode(at, String.fromCharCode(byte))) return String.fromCharCode(byte);
    const code = byte.toString(16).padStart(2, '0');
    return `%${isUpper(at) ? code.toUpperCase() : code}`;
  });
  return written.join('');
}

/** How encoders write the secret. */
function notationsOfSecret() {
  const searchParams = new URLSearchParams({ of: SECRET }).toString().slice('of='.length);
  const python = percent(() => true, (_, byte) => /[^\w/.~-]/.test(byte));
  const every = percent(() => false, () => true);
  const hex = Buffer.from(SECRET).toString('hex');
  const lines = (text, width, end) => text.match(new RegExp(`.{1,${width}}`, 'g')).join(end);
  const based = ['', 'x', 'xy', 'user:'].flatMap((before) => ['base64', 'base64url'].map((encoding) => Buffer.from(before + SECRET).toString(encoding).replace(/=+$/, '')));
  return [
    searchParams,
    searchParams.replaceAll('+', '%20'),
    encodeURIComponent(SECRET),
    python,
    python.replaceAll('/', String.raw`\/`),
    every,
    every.toUpperCase(),
    percent((at) => at % 2 === 0, () => true),
    percent((at) => at % 3 === 0, (at, byte) => at % 2 === 0 || byte === '%'),
    // Who encodes takes the percent sign for a part of a code.
    percent(() => true, (_, byte) => /[^\w%]/.test(byte)),
    JSON.stringify(SECRET).slice(1, -1),
    [...SECRET].map((character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
    lines(hex, 60, '\n'),
    hex.replace(/(.)(..)/g, (_, first, rest) => first.toUpperCase() + rest),
    ...based.flatMap((text) => [
      ...['\n', '\r\n', '\r\n\r\n', '\\n', '\\r\\n', '%0D%0A'].flatMap((end) => [1, 7, 64, 76].map((width) => lines(text, width, end))),
      text.replaceAll('+', '%2b').replaceAll('/', '%2F'),
      text.replaceAll('/', String.raw`\/`),
    ]),
  ];
}

test('a secret is found however its bytes are written', async () => {
  const { Redactor } = await load('redactor.js');
  const redactor = new Redactor([SECRET]);
  for (const notation of notationsOfSecret()) {
    const clean = redactor.text(`it is ${notation} today`);
    assert.ok(clean.includes('[key]'), `${notation}: ${clean}`);
    // At most what the secret shares with its neighbours in base64 is left, with line ends.
    assert.ok(clean.length < 80, `${notation}: ${clean}`);
  }
});

test('what is no secret is left as it is', async () => {
  const { Redactor } = await load('redactor.js');
  const redactor = new Redactor([SECRET]);
  const texts = [
    String.raw`100% of 50%, %4, %zz and %25, C:\new\u00 \ud83d\ude00 \ud83d`, 'SE~cr/t+5=%41', 'SE%7Ecr/t%2B5', 'U0V+Y3IvdCs1PSU0\n\n\n', '%', '\\', '\\u00',
  ];
  for (const text of texts) assert.equal(redactor.text(text), text);
});

test('a secret that begins like another is found as the longer one', async () => {
  const { Redactor } = await load('redactor.js');
  const redactor = new Redactor(['abcdefgh', 'abcdefgh12345678', 'efghijkl']);
  assert.equal(redactor.text('abcdefgh1234, abcdefgh12345678, abcdefghijkl, abcdefgh'), '[key]1234, [key], [key], [key]');
  assert.equal(redactor.text('abcdefgh'.repeat(500_000)), '[key]'.repeat(500_000));
});

// Each of these would take hours if what may begin a secret was read once more for every byte.
test('no text takes longer to search than another', async () => {
  const { Redactor } = await load('redactor.js');
  const redactor = new Redactor([SECRET, `${'a'.repeat(4096)}b`]);
  const begun = SECRET.slice(0, -1);
  const base64 = [...Buffer.from(begun).toString('base64')].join('\n');
  for (const unit of ['%', '%6', '%61', 'a', '\\', '\\u006', '\n', begun, base64]) {
    const text = unit.repeat((4 << 20) / Buffer.from(unit).length);
    assert.equal(redactor.text(text) === text, true, unit);
  }
});
