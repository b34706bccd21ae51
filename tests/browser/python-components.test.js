/** Components in Python, in Node and in Chromium: what they reach by WASI, and how they are ended. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FILES, HOSTS, everywhere, server } from './components/hosts.js';

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
    timeoutMs: 10_000,
  });
  const [grown, looped, after] = outcome.results;
  assert.match(grown, /MemoryError/);
  assert.match(looped, /did not finish within 10000 ms and was stopped/);
  assert.match(after, /^\{\} 0\.0 True$/);
});
