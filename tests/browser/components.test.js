/** Real components in JavaScript, Python and Rust, in Node and in Chromium: files, WASI, requests, secrets, state and settings. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { inPage, openBrowser } from './chromium-page.js';
import { runComponent } from './components/run.js';
import { openServer } from './network/server.js';
import { load, testkit, windlass } from './package-under-test.js';

const SECRET = 'a-token-of-the-server';
const folder = process.env.WINDLASS_TRANSPILED;
assert.ok(folder, '$WINDLASS_TRANSPILED names the folder of what jco made of the components');
const [assets, { wasi }] = await Promise.all(['assets.js', 'wasi.js'].map(load));

let browser;
let page;
let server;
before(async () => {
  [server, browser] = await Promise.all([openServer(), openBrowser()]);
  page = await browser.newPage();
});
after(async () => {
  await browser?.close();
  await server?.close();
});

const FILES = {
  '/w/notes.txt': 'notes',
  '/w/table.csv': 'city,rain\nOslo,3\nBergen,9\nOslo,5\n',
  '/data/secret.txt': 'from outside',
};

const HOSTS = {
  'in Node': (name, inputs, options) => {
    const plugin = async (declaration, code, grant) => {
      const { instantiate } = await import(code);
      return new windlass.Plugin(declaration, instantiate, (path) => assets.readModule(new URL(path, code)), grant, { wasi });
    };
    return runComponent({ windlass, testkit, plugin }, new URL(`${name}/`, pathToFileURL(`${folder}/`)), name, inputs, options);
  },
  'in a page': (...given) => inPage(page, 'components/in-page.js', 'component', ...given),
  'in a Worker of a page': (name, inputs, options) => inPage(page, 'components/in-page.js', 'component', name, inputs, { ...options, inWorker: true }),
};

function everywhere(name, work) {
  for (const [host, run] of Object.entries(HOSTS)) {
    test(`${name}, ${host}`, () => work((component, inputs, options) => run(component, inputs, { files: FILES, server: server.origin, ...options })));
  }
}

const at = (path) => `http://localhost${path}`;

for (const component of ['connected-js', 'connected-python']) {
  everywhere(`${component} uses what it was granted`, async (run) => {
    server.seen.length = 0;
    const grant = {
      workspace: 'read',
      roles: { outside: { path: '/data', access: 'read' } },
      http: [{ origin: 'http://localhost', methods: ['GET', 'POST'] }],
      secrets: ['TOKEN'],
      env: { CARGO_PKG_NAME: 'windlass' },
      state: true,
    };
    const { results } = await run(
      component,
      [
        { how: 'get', url: at('/large?bytes=5') },
        { how: 'post', url: at('/body') },
        { how: 'put', url: at('/body') },
        { how: 'get', url: 'http://localhost:8080/body' },
        { how: 'long', url: at('/large?bytes=11') },
        { how: 'available' },
        { how: 'secret', url: at('/repeat?as=plain') },
        { how: 'basic', url: at('/repeat?as=base64') },
        { how: 'config' },
        { how: 'remember' },
        { how: 'recall' },
        { how: 'read', path: '/w/notes.txt' },
        { how: 'directory' },
      ],
      { grant, values: { TOKEN: SECRET } },
    );
    const [got, posted, put, elsewhere, long, available, secret, basic, config, remembered, recalled, read, directory] = results;
    assert.equal(got, '200 text/plain xxxxx');
    assert.deepEqual(JSON.parse(posted.replace('200 text/plain ', '')), { text: 'grün' });
    assert.match(put, /not granted this origin with this method/);
    assert.match(elsewhere, /not granted this origin with this method/);
    assert.match(long, /10/);
    assert.equal(available, 'true false');
    assert.equal(secret, '200 text/plain it said Bearer [key], and so on');
    assert.match(basic, /^200 text\/plain it said .*\[key\].*, and so on$/);
    assert.match(config, /^windlass (undefined|None)$/);
    // Its hook remembers, too.
    assert.equal(remembered, 'bytes list seen');
    assert.match(recalled, /zwei/);
    assert.equal(read, 'notes');
    assert.match(directory, /^from outside (undefined|None)$/);
    assert.doesNotMatch(results.join(), new RegExp(`${SECRET}|${Buffer.from(`bot:${SECRET}`).toString('base64')}`));
    const sent = ['GET /large?bytes=5', 'POST /body', 'GET /large?bytes=11', 'GET /repeat?as=plain', 'POST /repeat?as=base64'];
    assert.deepEqual(server.seen, sent);
  });

  everywhere(`${component} has nothing that it was not granted`, async (run) => {
    server.seen.length = 0;
    const inputs = [{ how: 'get', url: at('/body') }, { how: 'available' }, { how: 'secret', url: at('/body') }, { how: 'config' }, { how: 'remember' }, { how: 'directory' }];
    const { results: [got, available, secret, config, remembered, directory] } = await run(component, inputs, { grant: {} });
    assert.match(got, /granted no network/);
    assert.equal(available, 'false false');
    assert.match(secret, /granted no network/);
    assert.match(config, /^(undefined undefined|None None)$/);
    assert.doesNotMatch(remembered, /list/);
    assert.doesNotMatch(directory, /from outside/);
    assert.deepEqual(server.seen, []);
  });
}

test('the library for JavaScript writes UTF-8', async () => {
  const { decode, encode } = await import('../../plugins/js/windlass-text.js');
  for (const text of ['a', 'grün', '€', '\u{1f600}', 'a\ud800b', '\u07ff\u0800\uffff\u{10000}\u{10ffff}']) {
    assert.deepEqual([...encode(text)], [...new TextEncoder().encode(text)], JSON.stringify(text));
    assert.equal(decode(encode(text)), new TextDecoder().decode(new TextEncoder().encode(text)));
  }
});

everywhere('csv-python opens the granted files and no others', async (run) => {
  const query = (file_path) => ({ file_path, column: 'rain', operation: 'sum', group_by: 'city' });
  const { results: granted } = await run('csv-python', [query('/w/table.csv'), query('/data/secret.txt')], { grant: { workspace: 'read' } });
  assert.equal(granted[0], 'Bergen: 9\nOslo: 8');
  assert.match(granted[1], /in no directory that the tool's plugin was granted/);
});

everywhere("Python's own functions reach what was granted as it was granted", async (run) => {
  const files = { '/w/note.txt': 'a note', '/w/own.txt': 'mine', '/data/read.txt': 'data', '/outside/secret.txt': 'the secret' };
  const writes = (how, path) => ({ how, path, writes: '.' });
  const reads = (how, path) => ({ how, path: `/data/${path}`, reads: '/data/read.txt' });
  const calls = [
    [writes('read', 'note.txt'), /^a note$/],
    [writes('append', 'note.txt'), /^a note and more$/],
    [writes('save', 'note.txt'), /^saved$/],
    [writes('truncate', 'own.txt'), /^cut$/],
    [writes('list', '.'), /^\.\/note\.txt\n\.\/own\.txt$/],
    [writes('remove', 'own.txt'), /^removed$/],
    [reads('read', 'read.txt'), /^data$/],
    ...['write', 'append', 'truncate', 'save', 'remove'].map((how) => [reads(how, 'read.txt'), /Read-only/]),
    [reads('read', '../outside/secret.txt'), /does not exist/],
    [writes('write', '../outside/secret.txt'), /does not exist/],
    [writes('read', '/etc/passwd'), /does not exist/],
    [writes('link', 'link.txt'), /not permitted/],
    [{ how: 'socket' }, /Error/],
    [{ how: 'system' }, /^\{\} 0\.0 True$/],
    [{ how: 'flood' }, /the limit is 65536/],
    [{ how: 'log' }, /^logged$/],
    [{ how: 'exit' }, /exit/],
  ];
  const grant = { workspace: 'write', directories: { '/data': 'read' } };
  const outcome = await run('misbehaves-python', calls.map(([input]) => input), { grant, files, timeoutMs: 60_000 });
  calls.forEach(([input, expected], i) => assert.match(outcome.results[i], expected, JSON.stringify(input)));
  assert.deepEqual(outcome.files, { '/w/note.txt': 'saved', '/data/read.txt': 'data', '/outside/secret.txt': 'the secret' });
  assert.ok(outcome.logged >= 50_000 && outcome.logged <= 2 * (64 << 10), `${outcome.logged} characters of log`);
});

test('Python that does not end or grows is ended in its Worker', async () => {
  const outcome = await HOSTS['in a Worker of a page']('misbehaves-python', [{ how: 'grow' }, { how: 'loop' }, { how: 'system' }], {
    grant: {},
    files: FILES,
    server: server.origin,
    timeoutMs: 20_000,
  });
  const [grown, looped, after] = outcome.results;
  assert.match(grown, /MemoryError/);
  assert.match(looped, /did not finish within 20000 ms and was stopped/);
  assert.match(after, /^\{\} 0\.0 True$/);
});

everywhere('weather sends its request with the secret', async (run) => {
  const grant = { http: ['https://api.tomorrow.io'], secrets: ['TOMORROW_API_KEY'] };
  const { results: [refused] } = await run('weather', [{ place: 'Oslo' }], { grant: {} });
  assert.match(refused, /needs a key of tomorrow.io/);
  const { results: [none] } = await run('weather', [{ place: 'Oslo' }], { grant, values: {} });
  assert.match(none, /there is no secret `TOMORROW_API_KEY` for this origin/);
});
