/** MCP servers over HTTP: real ones on loopback, and some that misbehave. */
import './npm-packages.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load, testkit, windlass } from './package-under-test.js';
import { HttpServer, PIXEL, Server, tools } from './mcp/server.js';

const { httpServers } = await load('mcp.js');

const callOf = (name, input = {}) => ({ respond: { content: [{ type: 'tool_use', name, input }] } });

/** A session whose model follows these exchanges. */
async function sessionOf(exchanges, mcpServers, options = {}) {
  const warnings = [];
  const model = await testkit.ScriptedModel.load({ exchanges });
  const agent = new windlass.Agent({ fetch: model.fetch, mcpServers, onWarning: (text) => warnings.push(text), ...options });
  return { session: agent.session(), model, warnings };
}

async function all(run) {
  const messages = [];
  for await (const message of run) messages.push(message);
  return messages;
}

const http = (url, more = {}) => ({ type: 'http', url, ...more });
const initOf = (messages) => messages.find(({ subtype }) => subtype === 'init');
const resultsOf = (messages) => messages.filter(({ type }) => type === 'user').map(({ message }) => message.content[0]);

/** Runs a prompt in a session of its own, beside a server; gives what there was to see. */
async function ask(server, exchanges, { configuration = {}, ...options } = {}) {
  const servers = httpServers({ tester: http(server.url, configuration) });
  const { session, model, warnings } = await sessionOf(exchanges, servers, { allowedTools: ['mcp__tester'], ...options });
  const messages = await all(session.prompt('Go.'));
  const status = await session.mcpServerStatus();
  await session.close();
  return { messages, model, warnings, status: status[0], init: initOf(messages) };
}

/** Runs a test beside a server, which is ended whatever happens. */
const beside = async (starting, run) => {
  const server = await starting;
  try {
    await run(server);
  } finally {
    await server.stop();
  }
};

test('the tools of a server are tools of the agent, and its session is ended with that of the agent', () =>
  beside(Server.start(), async (server) => {
    const { messages, init, status } = await ask(server, [
      callOf('mcp__tester__add', { a: 1, b: 2 }),
      { expect: { last_user_contains: '3' }, respond: 'It is 3.' },
    ], { configuration: { headers: { 'x-who': 'me' } } });
    assert.deepEqual(init.mcp_servers, [{ name: 'tester', status: 'connected' }]);
    assert.ok(init.tools.includes('mcp__tester__add'), init.tools.join());
    assert.equal(messages.at(-1).result, 'It is 3.');
    assert.deepEqual(messages.find(({ type }) => type === 'user').tool_use_result, { sum: 3 });
    assert.deepEqual(status.serverInfo, { name: 'tester', version: '1.2.3' });
    assert.ok(server.requests.every(({ headers }) => headers['x-who'] === 'me'));
    await waitFor(() => server.requests.some(({ method }) => method === 'DELETE'));
  }));

test('every kind of content reaches the model as on the other hosts', () =>
  beside(Server.start(), async (server) => {
    const { messages } = await ask(server, [callOf('mcp__tester__all'), { respond: 'Seen.' }]);
    const text = (text) => ({ type: 'text', text });
    assert.deepEqual(resultsOf(messages)[0].content, [
      text('hello'),
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } },
      text('[sound of audio/wav: left out, the model cannot be shown it]'),
      text('[file:///a.txt]\ninside'),
      text('[page: https://example.com (more)]'),
    ]);
  }));

test('a tool that fails, and one that the server refuses, are errors for the model', () =>
  beside(Server.start(), async (server) => {
    const { messages } = await ask(server, [callOf('mcp__tester__fail'), callOf('mcp__tester__add', { a: 1, b: 'x' }), { respond: 'Oh.' }]);
    const [failed, refused] = resultsOf(messages);
    assert.equal(failed.is_error, true);
    assert.match(JSON.stringify(failed.content), /no luck/);
    assert.equal(refused.is_error, true);
  }));

test('a result that is nested too deep is an error for the model', () =>
  beside(
    Server.start((server) => {
      const deep = Array.from({ length: 200 }).reduce((inner) => ({ inner }), 1);
      server.registerTool('deep', {}, () => ({ content: [], structuredContent: { deep } }));
    }),
    async (server) => {
      const { messages } = await ask(server, [callOf('mcp__tester__deep'), { respond: 'Oh.' }]);
      const [result] = resultsOf(messages);
      assert.equal(result.is_error, true);
      assert.match(JSON.stringify(result.content), /nested/);
    },
  ));

test('progress of a call is a message', () =>
  beside(Server.start(), async (server) => {
    const { messages } = await ask(server, [callOf('mcp__tester__steps'), { respond: 'So.' }]);
    const progress = messages.filter(({ type }) => type === 'tool_progress');
    assert.equal(progress[0]?.tool_name, 'mcp__tester__steps');
  }));

test('what MCP Apps need passes untouched: the definition, the result and the resource', () =>
  beside(Server.start(), async (server) => {
    const servers = httpServers({ tester: http(server.url) });
    const { session } = await sessionOf([callOf('mcp__tester__chart'), { respond: 'Shown.' }], servers, { allowedTools: ['mcp__tester'] });
    const messages = await all(session.prompt('Go.'));
    const [{ tools: listed }] = await session.mcpServerStatus();
    const { resourceUri } = listed.find(({ name }) => name === 'chart')._meta.ui;
    assert.equal(resourceUri, 'ui://tester/chart');
    assert.deepEqual(messages.find(({ type }) => type === 'user').tool_use_result, {
      content: [{ type: 'text', text: 'a chart' }],
      structuredContent: { points: [1, 2] },
      _meta: { ui: { theme: 'dark' }, 'example.com/x': 1 },
    });
    const { contents } = await session.readMcpResource('tester', resourceUri);
    assert.equal(contents[0].text, '<p>chart</p>');
    assert.deepEqual(contents[0]._meta, { ui: { csp: {} } });
    await session.close();
  }));

test('a tool whose name no model can call is left out, and told', () =>
  beside(
    Server.start((server) => {
      server.registerTool('fine', {}, () => ({ content: [] }));
      server.registerTool('a.b/c', {}, () => ({ content: [] }));
    }),
    async (server) => {
      const { init, warnings } = await ask(server, [{ respond: 'So.' }]);
      assert.deepEqual(init.tools, ['mcp__tester__fine']);
      assert.match(warnings.join(), /names \(.*\): "a\.b\/c"/);
    },
  ));

test('rules decide about the tools of servers, and nobody to ask means no', () =>
  beside(Server.start(), async (server) => {
    const add = callOf('mcp__tester__add', { a: 1, b: 2 });
    for (const [rules, runs] of [
      [{ allowedTools: ['mcp__tester__add'] }, true],
      [{ allowedTools: ['mcp__tester__*'] }, true],
      [{ allowedTools: ['mcp__other'] }, false],
      [{ allowedTools: ['mcp__tester'], disallowedTools: ['mcp__tester__add'] }, false],
    ]) {
      const { messages } = await ask(server, [add, { respond: 'So.' }], rules);
      assert.equal(!resultsOf(messages)[0].is_error, runs, JSON.stringify(rules));
    }
  }));

test('an interrupt cancels the call at the server', () => {
  const cancelled = {};
  cancelled.promise = new Promise((resolve) => {
    cancelled.resolve = resolve;
  });
  return beside(
    Server.start((server) => {
      server.registerTool('wait', {}, ({ signal, sendNotification, _meta: { progressToken } }) => {
        sendNotification({ method: 'notifications/progress', params: { progressToken, progress: 1 } });
        return new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            cancelled.resolve();
            resolve({ content: [] });
          });
        });
      });
    }),
    async (server) => {
      const servers = httpServers({ tester: http(server.url) });
      const { session } = await sessionOf([callOf('mcp__tester__wait'), { respond: 'Never.' }], servers, { allowedTools: ['mcp__tester'] });
      const run = session.prompt('Go.');
      for await (const message of { [Symbol.asyncIterator]: () => ({ next: () => run.next() }) }) {
        if (message.type === 'tool_progress') await run.interrupt();
      }
      await cancelled.promise;
      await session.close();
    },
  );
});

test('tools that come later are there with the next prompt, and run only by a rule or a person', () =>
  beside(Server.start(), async (server) => {
    const exchanges = [{ respond: 'One.' }, callOf('mcp__tester__more'), { respond: 'Two.' }];
    const { session } = await sessionOf(exchanges, httpServers({ tester: http(server.url) }), { allowedTools: ['mcp__tester__add'] });
    await session.prompt('Go.').result();
    server.servers[0].registerTool('more', {}, () => ({ content: [{ type: 'text', text: 'did it' }] }));
    const known = async () => (await session.mcpServerStatus())[0].tools.some(({ name }) => name === 'more');
    await waitFor(known);
    const messages = await all(session.prompt('Go on.'));
    assert.ok(initOf(messages).tools.includes('mcp__tester__more'));
    assert.equal(resultsOf(messages)[0].is_error, true);
    assert.doesNotMatch(JSON.stringify(messages), /did it/);
    await session.close();
  }));

test('a server that no longer knows the session is connected to anew, once for a call', () =>
  beside(Server.start(), async (server) => {
    const add = callOf('mcp__tester__add', { a: 2, b: 2 });
    const exchanges = [{ respond: 'One.' }, add, { respond: 'Two.' }];
    const { session } = await sessionOf(exchanges, httpServers({ tester: http(server.url) }), { allowedTools: ['mcp__tester'] });
    await session.prompt('Go.').result();
    server.forget();
    const [result] = resultsOf(await all(session.prompt('Go on.')));
      assert.match(JSON.stringify(result.content), /4/);
    await session.close();
  }));

test('a server that asks for authorization is told apart, and let in with its header', () =>
  beside(Server.start(tools, { authorization: 'Bearer me' }), async (server) => {
    const { init, status, warnings } = await ask(server, [{ respond: 'Without.' }]);
    assert.deepEqual(init.mcp_servers, [{ name: 'tester', status: 'needs-auth' }]);
    assert.match(status.error, /401.*headers/);
    assert.match(warnings.join(), /tester is not connected: .*401/);
    const { init: second } = await ask(server, [{ respond: 'With.' }], { configuration: { headers: { authorization: 'Bearer me' } } });
    assert.equal(second.mcp_servers[0].status, 'connected');
  }));

test('a server is connected anew when somebody has signed in, and its tools are there with the next prompt', () =>
  beside(Server.start(tools, { authorization: 'Bearer me' }), async (server) => {
    const headers = {};
    const send = (url, init) => fetch(url, { ...init, headers: { ...Object.fromEntries(init.headers), ...headers } });
    const add = callOf('mcp__tester__add', { a: 1, b: 2 });
    const { session } = await sessionOf([{ respond: 'Without.' }, add, { respond: 'With.' }], httpServers({ tester: http(server.url, { fetch: send }) }), {
      allowedTools: ['mcp__tester'],
    });
    await session.prompt('Go.').result();
    await assert.rejects(session.reconnectMcpServer('tester'), /401/);
    headers.authorization = 'Bearer me';
    await session.reconnectMcpServer('tester');
    assert.equal((await session.mcpServerStatus())[0].status, 'connected');
    const messages = await all(session.prompt('Go on.'));
    assert.deepEqual(initOf(messages).mcp_servers, [{ name: 'tester', status: 'connected' }]);
    assert.match(JSON.stringify(resultsOf(messages)[0].content), /3/);
    await assert.rejects(session.reconnectMcpServer('nobody'), /no MCP server nobody/);
    await session.close();
    await assert.rejects(session.reconnectMcpServer('tester'), /has ended/);
  }));

/** Servers that are none, and what is said of them. */
const BROKEN = {
  'is a website': [(request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>hello'), /text\/html/],
  'has no such page': [(request, response) => response.writeHead(404).end(`<p>\n${'x'.repeat(9_000)}`), /does not speak.*\(404\)/],
  'speaks JSON of another kind': [(request, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"a":1}'), /no message of the protocol/],
  'hangs up': [(request) => request.socket.destroy(), /cannot reach/],
  'ends its stream before the answer': [
    (request, response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(': nothing\n\n'),
    /ended its answer before the result/,
  ],
  'answers with an endless line': [
    (request, response) => flood(response, 'application/json', '['.repeat(1 << 16)),
    /longer than 16 MiB/,
  ],
  'answers with an endless event': [
    (request, response) => flood(response, 'text/event-stream', `data: ${'x'.repeat(1 << 16)}\n`),
    /longer than 16 MiB/,
  ],
  'says nothing for ever': [() => {}, /no answer within 300 ms/],
};

/** Sends without end, as fast as it is read. */
function flood(response, type, piece) {
  response.writeHead(200, { 'content-type': type });
  const send = () => {
    while (!response.destroyed && response.write(piece));
  };
  response.on('drain', send);
  send();
}

for (const [what, [answer, said]] of Object.entries(BROKEN)) {
  test(`a server that ${what} has failed, with the reason, and the session goes on`, () =>
    beside(HttpServer.start(answer), async (server) => {
      const connectTimeoutMs = what.includes('for ever') ? 300 : undefined;
      const { init, status, messages } = await ask(server, [{ respond: 'Without.' }], { configuration: { connectTimeoutMs } });
      assert.deepEqual(init.mcp_servers, [{ name: 'tester', status: 'failed' }]);
      assert.equal(messages.at(-1).result, 'Without.');
      assert.match(status.error, said);
      assert.ok(status.error.length < 1_000, status.error);
    }));
}

test('a server that dies fails its calls, with the reason', async () => {
  const server = await Server.start();
  const exchanges = [{ respond: 'One.' }, callOf('mcp__tester__add', { a: 1, b: 2 }), { respond: 'Two.' }];
  const { session } = await sessionOf(exchanges, httpServers({ tester: http(server.url) }), { allowedTools: ['mcp__tester'] });
  await session.prompt('Go.').result();
  await server.stop();
  const [result] = resultsOf(await all(session.prompt('Go on.')));
  assert.equal(result.is_error, true);
  assert.match(JSON.stringify(result.content), /The MCP server tester failed: cannot reach/);
  await session.close();
});

test('a server that dies in the middle of a call fails it, with the reason', async () => {
  const dying = Server.start((server) => {
    server.registerTool('die', {}, async () => {
      await (await dying).stop();
      return new Promise(() => {});
    });
  });
  const { messages } = await ask(await dying, [callOf('mcp__tester__die'), { respond: 'So.' }]);
  const [result] = resultsOf(messages);
  assert.equal(result.is_error, true);
  assert.match(JSON.stringify(result.content), /The MCP server tester failed/);
});

test('a flood of progress is no flood of messages', () =>
  beside(
    Server.start((server) => {
      server.registerTool('chatty', {}, async ({ sendNotification, _meta: { progressToken } }) => {
        for (let progress = 1; progress <= 3_000; progress += 1) {
          await sendNotification({ method: 'notifications/progress', params: { progressToken, progress } });
        }
        return { content: [{ type: 'text', text: 'there' }] };
      });
    }),
    async (server) => {
      const { messages } = await ask(server, [callOf('mcp__tester__chatty'), { respond: 'So.' }]);
      assert.match(JSON.stringify(resultsOf(messages)[0].content), /there/);
      const told = messages.filter(({ type }) => type === 'tool_progress').length;
      assert.ok(told > 0 && told < 1_000, `${told} messages`);
    },
  ));

test('a call that takes too long is stopped', () =>
  beside(Server.start((server) => server.registerTool('wait', {}, () => new Promise(() => {}))), async (server) => {
    const { messages } = await ask(server, [callOf('mcp__tester__wait'), { respond: 'So.' }], { toolTimeoutMs: 200 });
    assert.match(JSON.stringify(resultsOf(messages)[0].content), /did not finish within 200 ms/);
  }));

test('a list without end is cut off, and one in a circle', async () => {
  const many = Array.from({ length: 2_000 }, (_, number) => ({ name: `t${number}`, inputSchema: {} }));
  for (const [tools, cursor, said] of [[[], () => 'again', /circle/], [many, (page) => `${page}`, /more than 10000 entries/]]) {
    let page = 0;
    const answers = {
      initialize: () => ({ protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } }),
      'tools/list': () => ({ tools, nextCursor: cursor((page += 1)) }),
    };
    const server = await HttpServer.start(async (request, response) => {
      let text = '';
      for await (const piece of request) text += piece;
      const { id, method } = text ? JSON.parse(text) : {};
      if (id === undefined) return response.writeHead(request.method === 'POST' ? 202 : 405).end();
      response.writeHead(200, { 'content-type': 'application/json' });
      return response.end(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method]() }));
    });
    await beside(server, async () => {
      const { status } = await ask(server, [{ respond: 'Without.' }]);
      assert.match(status.error, said);
    });
  }
});

test('a configuration that cannot be meant is refused at once', () => {
  const { Agent } = windlass;
  assert.throws(() => httpServers({ a: { type: 'stdio', command: 'x' } }), /a has a key `command`/);
  assert.throws(() => httpServers({ a: { type: 'sse', url: 'https://x' } }), /only "http"/);
  assert.throws(() => httpServers({ a: { type: 'http', url: 'nowhere' } }), /no URL/);
  assert.throws(() => httpServers({ a: { type: 'http', url: 'file:///x' } }), /neither http: nor https:/);
  assert.throws(() => new Agent({ mcpServers: { a: http('https://x') } }), /httpServers.*windlass\/mcp/);
  const two = httpServers({ 'a b': http('https://x'), a_b: http('https://x') });
  assert.throws(() => new Agent({ mcpServers: two }), /the same names/);
});

/** Waits for what nobody announces. A test that waits in vain ends by its own limit. */
async function waitFor(condition) {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5));
}
