/** Real components in JavaScript, Python and Rust, in Node and in Chromium: requests, secrets, state, settings, files. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { everywhere, server } from './components/hosts.js';

const SECRET = 'a-token-of-the-server';

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

test('the library for JavaScript reads and writes text as TextDecoder and TextEncoder do', async () => {
  const { decode, encode } = await import('../../plugins/js/windlass-text.js');
  const [decoder, encoder] = [new TextDecoder(), new TextEncoder()];
  let seed = 1;
  const below = (most) => {
    seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
    return (seed >> 8) % most;
  };
  const list = (length, one) => Array.from({ length: below(length) }, one);
  // Beginnings of characters, what may follow them and what may not.
  const telling = [0xef, 0xbb, 0xbf, 0x41, 0xf0, 0x90, 0x80, 0xed, 0xa0, 0xe2, 0x82, 0xac, 0xc1, 0xf5];
  const kinds = [() => below(256), () => 0x80 + below(128), () => telling[below(telling.length)], () => below(128)];
  for (let round = 0; round < 20_000; round += 1) {
    const bytes = list(24, kinds[below(kinds.length)]);
    assert.equal(decode(bytes), decoder.decode(Uint8Array.from(bytes)), `${bytes}`);
    const units = list(12, () => [below(128), 0xd800 + below(0x800), below(0x10000), 0x7ff + below(3)][below(4)]);
    const text = String.fromCharCode(...units);
    assert.deepEqual(encode(text), encoder.encode(text), JSON.stringify(text));
  }
  // Pieces that are put together.
  for (const length of [4095, 4096, 4097, 9000]) {
    const text = 'a'.repeat(length) + '\u00e9\u20ac\u{1f600}'.repeat(length);
    assert.equal(decode(encode(text)), text);
  }
});

everywhere('weather sends its request with the secret', async (run) => {
  const grant = { http: ['https://api.tomorrow.io'], secrets: ['TOMORROW_API_KEY'] };
  const { results: [refused] } = await run('weather', [{ place: 'Oslo' }], { grant: {} });
  assert.match(refused, /needs a key of tomorrow.io/);
  const { results: [none] } = await run('weather', [{ place: 'Oslo' }], { grant, values: {} });
  assert.match(none, /there is no secret `TOMORROW_API_KEY` for this origin/);
});
