/** Requests of components in Node go to addresses that were judged, and to the one that was. */
import assert from 'node:assert/strict';
import dns from 'node:dns';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { directory, windlass } from './package-under-test.js';
import { agentOf, all, callOf } from './scripted-agent.js';

const { Plugin } = windlass;
await windlass.init();

/** What a component is told that asks for this address, and what the host's log says. */
async function asked(url) {
  const origin = new URL(url).origin;
  const declaration = {
    name: 'asks', version: '0.1.0', wit: '0.1.0', grants: { http: [{ origin, methods: ['GET'] }] },
    tools: [{ name: 'Ask', description: 'Asks.', input_schema: { type: 'object' } }],
  };
  const answered = (http) => {
    try {
      const { status, headers, body } = http.send({ method: 'GET', url, headers: [], body: [] });
      const location = headers.find(({ name }) => name === 'location')?.value ?? '';
      return `${status} ${location}${new TextDecoder().decode(body.read(1000))}`;
    } catch (fault) {
      if (fault.tag === undefined) throw fault;
      return `${fault.tag}: ${fault.val}`;
    }
  };
  const instantiate = async (module, imports) => ({
    call: () => ({ content: [{ tag: 'text', val: answered(imports['windlass:host/http']) }], isError: false, observed: [] }),
  });
  const log = [];
  const { agent } = await agentOf([callOf('Ask'), { respond: 'Done.' }], {
    plugins: [new Plugin(declaration, instantiate, undefined, { http: [origin] })],
    allowedTools: ['Ask'],
    pluginLog: (plugin, level, message) => log.push(message),
  });
  const messages = await all(agent.query('Ask.'));
  const [result] = messages.filter(({ type }) => type === 'user').flatMap(({ message }) => message.content);
  return { told: result.content.map?.(({ text }) => text).join() ?? result.content, log: log.join('\n') };
}

/** A server on this machine that counts who connects. */
async function listening(t, server) {
  let connections = 0;
  server.on('connection', () => (connections += 1));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return { port: server.address().port, connections: () => connections };
}

const { lookup } = dns;

/** Names lead to these addresses while a test runs; gives which were looked up. */
function named(t, addresses) {
  const seen = [];
  dns.lookup = (host, options, found) => {
    seen.push(host);
    found(null, addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })));
  };
  t.after(() => (dns.lookup = lookup));
  return seen;
}

test('card_5_a_name_that_leads_into_a_network_of_ones_own_is_a_server_that_is_not_there', async (t) => {
  const { port, connections } = await listening(t, createTcpServer((socket) => socket.destroy()));
  for (const addresses of [['127.0.0.1'], ['::1'], ['10.0.0.1'], ['169.254.169.254'], ['93.184.216.34', '127.0.0.1'], ['::ffff:127.0.0.1']]) {
    const seen = named(t, addresses);
    const { told, log } = await asked(`https://inner.example:${port}/`);
    assert.equal(told, `connect: https://inner.example:${port} could not be reached`, addresses.join());
    assert.match(log, /inner\.example is .*, which is no public address/);
    assert.deepEqual(seen, ['inner.example']);
  }
  assert.equal(connections(), 0);
});

test('card_5_this_machine_is_reached_by_its_name_and_nothing_is_followed', async (t) => {
  const server = createServer((request, response) => {
    if (request.url === '/moved') return response.writeHead(302, { location: '/there' }).end();
    if (request.url === '/none') return response.writeHead(204).end();
    return response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(`hello, ${request.headers['user-agent']}`));
  });
  const { port } = await listening(t, server);
  for (const host of ['localhost', '127.0.0.1']) {
    assert.equal((await asked(`http://${host}:${port}/`)).told, '200 hello, windlass');
    assert.equal((await asked(`http://${host}:${port}/moved`)).told, '302 /there');
    assert.equal((await asked(`http://${host}:${port}/none`)).told, '204 ');
  }
  // The name of this machine is no way out of it.
  named(t, ['10.0.0.1']);
  assert.match((await asked(`http://localhost:${port}/`)).told, /could not be reached/);
});

test('card_5_addresses_are_judged_as_natively', async () => {
  const { isPublic } = await import(pathToFileURL(join(directory, 'public-address.js')));
  const native = readFileSync(new URL('../../host-native/src/net/address.rs', import.meta.url), 'utf8');
  const table = [...native.matchAll(/\("([0-9a-f:.]+)", (None|Some\(\w+\))\)/g)];
  assert.ok(table.length >= 50);
  for (const [, address, refusal] of table) assert.equal(isPublic(address), refusal === 'None', address);
  for (const address of ['', 'name', '1:2', '::1::', '1.2.3']) assert.equal(isPublic(address), false, address);
});
