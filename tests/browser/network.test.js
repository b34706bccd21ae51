/** Requests and secrets of components: the same attacks in Node and workerd, on this thread, and in Chromium, in a Worker of a page. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { inPage, openBrowser } from './chromium-page.js';
import * as component from './network/probe.js';
import { runProbe } from './network/run-probe.js';
import { openServer } from './network/server.js';
import { openWorkerd } from './network/workerd.js';
import { testkit, windlass } from './package-under-test.js';

const SECRET = 'sk-"live"/a+b=c-0123456789';

let browser;
let page;
let workerd;
/** The server whose origin is granted, and one whose origin is not. */
let api;
let other;
before(async () => {
  [api, other, browser] = await Promise.all([openServer(), openServer(), openBrowser()]);
  if (atEdge) workerd = await openWorkerd();
  page = await browser.newPage();
});
after(async () => {
  await browser?.close();
  await workerd?.close();
  await api?.close();
  await other?.close();
});

/** Whether npm has the edge runtime for this platform; where it has, a test without it would show nothing. */
const atEdge = ['linux', 'darwin'].includes(process.platform);

const HOSTS = {
  'in Node': (inputs, options) => {
    const plugin = (declaration, grant) => new windlass.Plugin(declaration, component.instantiate, undefined, grant);
    return runProbe({ windlass, testkit, plugin }, inputs, options);
  },
  'in a Worker of a page': (inputs, options) => inPage(page, 'network/in-page.js', 'probe', inputs, options),
  ...(atEdge && { 'in workerd': (inputs, options) => workerd.run(inputs, options) }),
};

/** Where `fetch` tells of redirects and reads answers of all origins. */
const isPage = (host) => host === 'in a Worker of a page';

/** What is declared and granted: the first server, to read and to post. */
function granting(more = {}) {
  const http = [{ origin: api.origin, methods: ['GET', 'POST'] }];
  return { asked: { http, ...more.asked }, grant: { http, ...more.grant }, ...more.others };
}

/** The same with secrets. */
function withSecrets(values, more = {}) {
  const secrets = Object.keys(values).map((name) => ({ name, description: 'A key', audience: [api.origin] }));
  const http = [{ origin: api.origin, methods: ['GET', 'POST'] }, ...(more.http ?? [])];
  return { asked: { http, secrets: more.asked ?? secrets }, grant: { http, secrets: Object.keys(values) }, values, ...more.others };
}

const bearer = (secret, header = 'authorization', prefix = 'Bearer ') => [{ header, secret, prefix, user: undefined }];

/** A test in each host; `sent` gives what the servers got meanwhile. */
function everywhere(name, work) {
  for (const [host, run] of Object.entries(HOSTS)) {
    test(`${name}, ${host}`, async () => {
      api.seen.length = 0;
      other.seen.length = 0;
      await work(run, host);
    });
  }
}

everywhere('a request is answered as it was granted, and sent once', async (run) => {
  const { results, told, files } = await run(
    [
      {
        do: 'send',
        steps: [
          { url: `${api.origin}/echo?a=1`, headers: { 'x-mine': 'yes' } },
          { method: 'POST', url: `${api.origin}/echo`, headers: { 'content-type': 'text/plain' }, body: 'grün' },
          { url: `${api.origin}/nowhere` },
        ],
      },
      { do: 'writeAndSend', url: `${api.origin}/echo` },
    ],
    granting(),
  );
  const [[first, second, third], written] = results;
  const echoed = JSON.parse(first.body);
  assert.deepEqual([first.status, echoed.method, echoed.path, echoed.headers['x-mine']], [200, 'GET', '/echo?a=1', 'yes']);
  assert.equal(echoed.headers.cookie, undefined);
  assert.equal(echoed.headers.referer, undefined);
  assert.equal(JSON.parse(second.body).body, 'grün');
  assert.deepEqual([third.status, third.body], [404, 'not there']);
  assert.equal(first.headers['content-length'], undefined);
  // What it did before its requests has happened once.
  assert.deepEqual(written, { before: ['.keep'], answers: [200, 200], count: 1 });
  assert.deepEqual(files, ['/w/.keep', '/w/made-1.txt']);
  assert.deepEqual(told, ['info written']);
  assert.deepEqual(api.seen, ['GET /echo?a=1', 'POST /echo', 'GET /nowhere', 'GET /echo', 'GET /echo']);
});

everywhere('no URL leads anywhere but to a granted origin', async (run) => {
  const { host, port } = { host: '127.0.0.1', port: api.port };
  const urls = [
    `${other.origin}/echo`,
    `http://localhost:${port}/echo`,
    `http://[::1]:${port}/echo`,
    `https://${host}:${port}/echo`,
    `http://${host}/echo`,
    `http://user@${host}:${port}/echo`,
    `http://user:word@${host}:${port}/echo`,
    `http://${host}:${port}@127.0.0.1:${other.port}/echo`,
    `http://${host}:${port}.evil.test/echo`,
    `http://${host}.:${port}.evil.test/echo`,
    `http://${host}%2f@127.0.0.1:${other.port}/echo`,
    `http://evil.test\\@${host}:${port}/echo`,
    `http:\\\\${host}:${port}\\echo`,
    `\thttp://${host}:${port}/echo`,
    `http://${host}:${port}/ec\nho`,
    `http://${host}:${port}/a b`,
    `//${host}:${port}/echo`,
    '/echo',
    '',
    'file:///etc/passwd',
    'data:text/plain,x',
    'blob:http://127.0.0.1/1',
    `ws://${host}:${port}/echo`,
    `http://${host}:${port}/${'x'.repeat(9000)}`,
  ];
  const { results, told } = await run([{ do: 'send', steps: urls.map((url) => ({ url })) }], granting());
  results[0].forEach(({ failure }, i) => assert.equal(failure, 'refused', urls[i]));
  assert.deepEqual([...api.seen, ...other.seen], []);
  assert.ok(told.includes(`info refused a request to ${other.origin}: not granted`), told.join('\n'));
  // Other ways to write the very same origin lead there, and `..` stays in it.
  const same = [`http://0x7f.1:${port}/echo`, `http://2130706433:${port}/x/../../../echo`, `HTTP://127.0.0.1:${port}/%2e%2e/echo`];
  const reached = await run([{ do: 'send', steps: same.map((url) => ({ url })) }], granting());
  assert.deepEqual(reached.results[0].map(({ status }) => status), [200, 200, 200]);
});

everywhere('methods and headers are those that were granted', async (run) => {
  const url = `${api.origin}/echo`;
  const methods = ['PUT', 'DELETE', 'get', 'CONNECT', 'TRACE', 'GET\r\n', ''].map((method) => ({ method, url }));
  const names = [
    'Host', 'cookie', 'Cookie2', 'origin', 'Referer', 'content-length', 'transfer-encoding', 'connection', 'upgrade', 'te', 'expect',
    'proxy-authorization', 'Proxy-Anything', 'sec-fetch-site', 'http2-settings', 'bad name', 'bad:name', '',
  ];
  const headers = [
    ...names.map((name) => ({ url, pairs: [[name, 'x']] })),
    ...['a\r\nhost: evil.test', 'a\nb', 'a\0b', 'grün', '\u{1f600}'].map((value) => ({ url, headers: { 'x-mine': value } })),
    { url, pairs: Array.from({ length: 101 }, () => ['x-mine', 'y']) },
    { url, headers: { 'x-mine': 'y'.repeat(33 << 10) } },
    { url, body: 'a body' },
  ];
  const { results } = await run([{ do: 'send', steps: [...methods, ...headers] }], granting());
  results[0].forEach(({ failure }, i) => assert.equal(failure, 'refused', JSON.stringify([...methods, ...headers][i])));
  assert.deepEqual(api.seen, []);
});

everywhere('an answer leads a request nowhere', async (run, host) => {
  const to = (url) => ({ url: `${api.origin}/redirect?to=${encodeURIComponent(url)}` });
  const { results } = await run([{ do: 'send', steps: [to(`${other.origin}/echo`), to('/echo')] }], granting());
  for (const { failure, why, status, headers } of results[0]) {
    if (!isPage(host)) assert.deepEqual([status, headers.location !== undefined], [302, true]);
    else assert.deepEqual([failure, /a redirect, which is not followed/.test(why)], ['refused', true]);
  }
  assert.deepEqual(other.seen, []);
  assert.equal(api.seen.filter((seen) => seen.startsWith('GET /echo')).length, 0);
});

everywhere('what is not there, breaks off or is too large is a failure, and what came counts', async (run, host) => {
  const closed = await openServer();
  await closed.close();
  const http = [api.origin, closed.origin];
  const limits = { http_bytes: 100_000 };
  const steps = [
    { url: `${closed.origin}/echo` },
    { url: `${api.origin}/broken` },
    { url: `${api.origin}/large?bytes=60000` },
    { url: `${api.origin}/large?bytes=60000` },
    { url: `${api.origin}/large?bytes=1` },
  ];
  const options = { asked: { http }, grant: { http }, limits };
  const { results } = await run([{ do: 'send', steps }, { do: 'send', steps: [{ url: `${api.origin}/endless` }] }], options);
  const [unreachable, broken, ...sized] = results[0];
  assert.deepEqual(unreachable, { failure: 'connect', why: `${closed.origin} could not be reached` });
  assert.equal(broken.failure, 'interrupted');
  assert.deepEqual(sized.map(({ status, failure }) => status ?? failure), [200, 'too-large', 'too-large']);
  assert.match(sized[1].why, /longer than the \d+ bytes that are left/);
  assert.equal(results[1][0].failure, 'too-large');
  const body = await run([{ do: 'send', steps: [{ method: 'POST', url: `${api.origin}/echo`, body: 'x'.repeat(100_001) }] }], granting({ others: { limits } }));
  assert.match(body.results[0][0].why, /longer than what is left/);
  if (!isPage(host)) return;
  const unread = await run([{ do: 'send', steps: [{ url: `${api.origin}/closed` }] }], granting());
  assert.equal(unread.results[0][0].failure, 'connect');
  assert.match(unread.told.join(), /does not let this page read its answers/);
});

everywhere('floods of requests and of calls end', async (run) => {
  const flood = [{ do: 'flood', url: `${api.origin}/echo` }];
  const many = await run(flood, granting());
  assert.match(many.results[0].error, /more than 128 requests/);
  assert.equal(api.seen.length, 128);
  const few = await run(flood, granting({ others: { limits: { host_calls: 10 } } }));
  assert.match(few.results[0].error, /more than 10 times/);
  const refused = await run([{ do: 'flood', url: `${other.origin}/echo` }], granting({ others: { limits: { host_calls: 1000 } } }));
  assert.match(refused.results[0].error, /more than 1000 times/);
  assert.ok(refused.told.length <= 100, `${refused.told.length}`);
  assert.deepEqual(other.seen, []);
});

everywhere('a request that differs from that of the attempt before gets no answer', async (run) => {
  const { results } = await run([{ do: 'differ', url: `${api.origin}/echo` }], granting());
  assert.match(results[0].error, /sent another request when it was run again/);
  assert.equal(api.seen.length, 1);
});

everywhere('a component that catches what stops it sends nothing twice', async (run) => {
  const urls = ['/echo?1', '/echo?2'].map((path) => api.origin + path);
  const { results } = await run([{ do: 'swallow', urls }], granting());
  assert.equal(results[0], 'swallowed');
  assert.deepEqual(api.seen, ['GET /echo?1', 'GET /echo?2']);
});

everywhere('a call that waits for a server ends in time and when it is interrupted', async (run) => {
  const silent = [{ do: 'send', steps: [{ url: `${api.origin}/silent` }] }];
  const late = await run(silent, granting({ others: { limits: { timeout_ms: 300 } } }));
  assert.match(late.results[0].error, /did not finish within 300 ms/);
  const stopped = await run(silent, granting({ others: { interruptAt: 0 } }));
  assert.doesNotMatch(JSON.stringify(stopped.results), /did not finish/);
});

everywhere('a secret is sent and never seen', async (run) => {
  const steps = ['plain', 'base64', 'base64url', 'hex', 'HEX', 'percent', 'json'].map((form) => {
    return { url: `${api.origin}/repeat?as=${form}`, secrets: bearer('TOKEN') };
  });
  const user = { url: `${api.origin}/repeat?as=plain`, secrets: [{ header: 'authorization', secret: 'TOKEN', prefix: 'Basic ', user: 'bot' }] };
  const { results, wanted, told } = await run(
    [
      { do: 'available', names: ['TOKEN', 'LATER', 'OTHER'] },
      { do: 'send', steps: [...steps, user, { url: `${api.origin}/echo`, secrets: bearer('LATER', 'x-key', '') }] },
      // One that a server kept, in a request that uses none.
      { do: 'send', steps: [{ url: `${api.origin}/repeat?as=plain&text=${encodeURIComponent(SECRET)}` }] },
    ],
    withSecrets({ TOKEN: SECRET, LATER: 'a-later-secret' }),
  );
  assert.deepEqual(results[0], [true, true, false]);
  const text = JSON.stringify([results, told]);
  for (const [i, { status, headers, body }] of results[1].slice(0, 8).entries()) {
    assert.equal(status, 200, `${i}`);
    assert.match(body, /\[key\]/, `${i}: ${body}`);
    assert.match(headers['x-repeated'], /\[key\]/, `${i}`);
  }
  const forms = [SECRET, JSON.stringify(SECRET).slice(1, -1), encodeURIComponent(SECRET), Buffer.from(SECRET).toString('hex'), Buffer.from(SECRET).toString('base64').slice(0, 24)];
  for (const form of forms) assert.ok(!text.includes(form) && !text.includes(form.toUpperCase()), form);
  assert.ok(!text.includes('a-later-secret') && !text.includes(Buffer.from(`bot:${SECRET}`).toString('base64')));
  assert.equal(JSON.parse(results[1][8].body).headers['x-key'], '[key]');
  assert.match(results[2][0].body, /^it said \[key\], and so on$/);
  // `available` asks nobody, and each request asks for all of them, where they may be sent.
  assert.equal(wanted.length, 2 * 10);
  assert.deepEqual([...new Set(wanted.map(String))].sort(), [`LATER,probe,${api.origin}`, `TOKEN,probe,${api.origin}`]);
});

everywhere('a secret goes to its audience and nowhere else, in one header that is free', async (run) => {
  const more = { http: [other.origin] };
  const url = `${api.origin}/echo`;
  const steps = [
    { url: `${other.origin}/echo`, secrets: bearer('TOKEN') },
    { url, secrets: bearer('OTHER') },
    { url, secrets: bearer('SHORT') },
    { url, secrets: bearer('TOKEN'), headers: { Authorization: 'mine' } },
    { url, secrets: [...bearer('TOKEN'), ...bearer('TOKEN')] },
    ...['host', 'cookie', 'proxy-authorization', 'range', 'accept-encoding', 'a b'].map((header) => ({ url, secrets: bearer('TOKEN', header) })),
    { url, secrets: bearer('TOKEN', 'x-key', 'a\r\nhost: evil.test') },
    { url, secrets: [{ header: 'authorization', secret: 'TOKEN', prefix: '', user: 'a:b' }] },
    { url, secrets: Array.from({ length: 9 }, (_, n) => ({ header: `x-${n}`, secret: 'TOKEN', prefix: '' })) },
    ...['accept-encoding', 'range', 'if-range', 'accept-charset', 'a-im'].map((header) => ({ url, headers: { [header]: 'x' } })),
  ];
  const { results } = await run([{ do: 'send', steps }], withSecrets({ TOKEN: SECRET, SHORT: 'short' }, more));
  results[0].forEach(({ failure }, i) => assert.equal(failure, 'refused', JSON.stringify(steps[i])));
  assert.deepEqual([...api.seen, ...other.seen], []);
  // Not in any answer of another origin either, and no part of an answer.
  const outside = [{ url: `${other.origin}/repeat?as=hex&text=${encodeURIComponent(SECRET)}` }, { url: `${api.origin}/part` }];
  const { results: [[repeated, part]] } = await run([{ do: 'send', steps: outside }], withSecrets({ TOKEN: SECRET }, more));
  assert.equal(repeated.body, 'it said [key], and so on');
  assert.equal(part.failure, 'refused');
});

everywhere('no secret hides in an answer that is compressed', async (run, host) => {
  const steps = ['gzip', 'br', 'x-none'].map((encoding) => ({ url: `${api.origin}/compressed?as=${encoding}`, secrets: bearer('TOKEN') }));
  const { results: [[gzip, br, unknown]] } = await run([{ do: 'send', steps }], withSecrets({ TOKEN: SECRET }));
  assert.equal(unknown.failure, 'refused');
  for (const answer of [gzip, br]) {
    // A page cannot ask for anything else, and undoes it.
    if (isPage(host)) assert.equal(answer.body, 'it said Bearer [key]');
    else assert.match(answer.why, /compressed/);
  }
});

everywhere('a callback that fails sends nothing and tells nothing', async (run) => {
  const { results, told } = await run([{ do: 'send', steps: [{ url: `${api.origin}/echo` }] }], withSecrets({ TOKEN: 'fails' }));
  assert.deepEqual(results[0], [{ failure: 'refused', why: 'the secret `TOKEN` was not to be had' }]);
  assert.doesNotMatch(JSON.stringify([results, told]), /hunter2/);
  assert.deepEqual(api.seen, []);
});

test('nothing in the Worker of a component leads to a server', async () => {
  const names = ['fetch', 'XMLHttpRequest', 'WebSocket', 'EventSource', 'WebTransport', 'importScripts', 'Worker', 'BroadcastChannel', 'indexedDB', 'caches'];
  const { results } = await HOSTS['in a Worker of a page']([{ do: 'global', names }], granting());
  assert.deepEqual(results[0], names.map(() => 'undefined'));
});
