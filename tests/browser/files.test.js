/** What a component sees of the files of an agent. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { files, load, windlass } from './package-under-test.js';

const { runOnFiles } = await load('call-files.js');

const plugin = await files.fileTools();
await windlass.init();

const project = () =>
  new windlass.MemoryFileSystem({
    files: {
      '/w/a.txt': 'alpha\n',
      '/w/deep/b.txt': 'beta\n',
      '/w/.env': 'SECRET=1\n',
      '/w/generated/c.txt': 'gamma\n',
      '/elsewhere/d.txt': 'delta\n',
    },
  });

const GRANT = {
  cwd: '/w',
  roots: [{ path: '/w', access: 'write' }],
  deny: [
    { pattern: '/w/**/.env', access: 'read' },
    { pattern: '/w/generated', access: 'write' },
  ],
};

/** What a component that was granted this holds. */
async function directoryOf(fileSystem, grant = GRANT) {
  return runOnFiles(fileSystem, grant, undefined, ({ filesystem }) => filesystem().roots()[0].directory);
}

/** Calls a tool of the component as the core would. */
async function call(fileSystem, name, input, { grant = GRANT, observed = [] } = {}) {
  const request = { name, observed };
  const host = { files: (attempt) => runOnFiles(fileSystem, grant, undefined, attempt) };
  const result = JSON.parse(await plugin.call(request, JSON.stringify(input), host));
  const text = result.content.map((block) => block.text).join('\n');
  return { ...result, text };
}

test('a file in the grant is read, found and edited', async () => {
  const fs = project();
  const read = await call(fs, 'Read', { file_path: '/w/a.txt' });
  assert.equal(read.is_error, false);
  assert.match(read.text, /1\talpha/);
  const edited = await call(
    fs,
    'Edit',
    { file_path: '/w/a.txt', old_string: 'alpha', new_string: 'omega' },
    { observed: read.observed },
  );
  assert.equal(edited.is_error, false, edited.text);
  assert.equal(fs.readText('/w/a.txt'), 'omega\n');
});

test('a file that changed since it was read is not edited', async () => {
  const fs = project();
  const { observed } = await call(fs, 'Read', { file_path: '/w/a.txt' });
  fs.writeFile('/w/a.txt', 'alpha, changed\n');
  const input = { file_path: '/w/a.txt', old_string: 'alpha', new_string: 'omega' };
  const edited = await call(fs, 'Edit', input, { observed });
  assert.equal(edited.is_error, true);
  assert.equal(fs.readText('/w/a.txt'), 'alpha, changed\n');
});

test('what a deny rule closes does not exist for the component', async () => {
  const fs = project();
  const read = await call(fs, 'Read', { file_path: '/w/.env' });
  assert.equal(read.is_error, true);
  assert.doesNotMatch(read.text, /SECRET/);
  const found = await call(fs, 'Grep', { pattern: 'SECRET', path: '/w' });
  assert.doesNotMatch(found.text, /\.env/);
  const written = await call(fs, 'Write', { file_path: '/w/.env', content: 'mine' });
  assert.equal(written.is_error, true);
  assert.equal(fs.readText('/w/.env'), 'SECRET=1\n');
});

test('what lies outside every root is out of reach, by whatever spelling', async () => {
  const fs = project();
  for (const path of ['/elsewhere/d.txt', '/w/../elsewhere/d.txt', '../elsewhere/d.txt', '/w/deep/../../elsewhere/d.txt']) {
    const read = await call(fs, 'Read', { file_path: path });
    assert.equal(read.is_error, true, path);
    assert.doesNotMatch(read.text, /delta/, path);
    const written = await call(fs, 'Write', { file_path: path, content: 'mine' });
    assert.equal(written.is_error, true, path);
  }
  assert.equal(fs.readText('/elsewhere/d.txt'), 'delta\n');
});

test('where writing is not granted, it is refused and reading works', async () => {
  const fs = project();
  const seen = await call(fs, 'Read', { file_path: '/w/generated/c.txt' });
  assert.match(seen.text, /gamma/);
  const overwritten = await call(
    fs,
    'Write',
    { file_path: '/w/generated/c.txt', content: 'mine' },
    { observed: seen.observed },
  );
  assert.equal(overwritten.is_error, true);
  assert.equal(fs.readText('/w/generated/c.txt'), 'gamma\n');
  const readOnly = { ...GRANT, roots: [{ path: '/w', access: 'read' }] };
  const created = await call(fs, 'Write', { file_path: '/w/new.txt', content: 'x' }, { grant: readOnly });
  assert.equal(created.is_error, true);
  assert.equal(fs.readFile('/w/new.txt'), undefined);
});

test('a grant of one file shows that file and nothing beside it', async () => {
  const fs = project();
  const grant = { cwd: '/w', roots: [{ path: '/elsewhere/d.txt', access: 'write' }], deny: [] };
  const read = await call(fs, 'Read', { file_path: '/elsewhere/d.txt' }, { grant });
  assert.match(read.text, /delta/);
  const beside = await call(fs, 'Write', { file_path: '/elsewhere/e.txt', content: 'x' }, { grant });
  assert.equal(beside.is_error, true);
  const fresh = { cwd: '/w', roots: [{ path: '/new/deep/file.txt', access: 'write' }], deny: [] };
  const created = await call(fs, 'Write', { file_path: '/new/deep/file.txt', content: 'x' }, { grant: fresh });
  assert.equal(created.is_error, false, created.text);
  assert.equal(fs.readText('/new/deep/file.txt'), 'x');
});

test('the component itself is refused by the directory it holds', async () => {
  const directory = await directoryOf(project());
  for (const path of ['..', '../elsewhere', '/w/a.txt', 'deep/../../elsewhere/d.txt']) {
    assert.throws(() => directory.read(path, 0, 9), (thrown) => thrown === 'not-found', path);
  }
  assert.throws(() => directory.read('a\0b', 0, 9), (thrown) => thrown === 'invalid');
  assert.throws(() => directory.read('a.txt', -1, 9), (thrown) => thrown === 'invalid');
  assert.throws(() => directory.read('a.txt', 0.5, 9), (thrown) => thrown === 'invalid');
  assert.throws(() => directory.read('a.txt/x', 0, 9), (thrown) => thrown === 'not-directory');
  assert.throws(() => directory.list('a.txt', undefined, false), (thrown) => thrown === 'not-directory');
  assert.throws(() => directory.write('deep', new Uint8Array(), {}), (thrown) => thrown === 'is-directory');
  assert.throws(() => directory.remove('deep'), (thrown) => thrown === 'exists');
});

test('a write keeps to its conditions', async () => {
  const fs = project();
  const directory = await directoryOf(fs);
  const bytes = new TextEncoder().encode('new');
  assert.throws(() => directory.write('a.txt', bytes, { createNew: true }), (thrown) => thrown === 'exists');
  assert.throws(
    () => directory.write('a.txt', bytes, { expectedDigest: 'sha256:00' }),
    (thrown) => thrown === 'changed',
  );
  assert.throws(() => directory.write('x/y.txt', bytes, {}), (thrown) => thrown === 'not-found');
  directory.write('x/y.txt', bytes, { createParents: true });
  assert.equal(fs.readText('/w/x/y.txt'), 'new');
});

test('a listing is sorted by name, in pages, and leaves out what is denied', async () => {
  const many = Object.fromEntries(Array.from({ length: 2500 }, (_, i) => [`/w/many/${i}.txt`, '']));
  const fs = new windlass.MemoryFileSystem({ files: { ...many, '/w/\u{1f600}': '', '/w/\uff5a': '', '/w/.env': '' } });
  const directory = await directoryOf(fs);
  const names = directory.list('', undefined, false).entries.map((entry) => entry.name);
  assert.deepEqual(names, ['many', '\uff5a', '\u{1f600}']);
  let count = 0;
  let pages = 0;
  for (let cursor; ; pages += 1) {
    const page = directory.list('many', cursor, true);
    count += page.entries.length;
    cursor = page.next;
    if (cursor === undefined) break;
  }
  assert.deepEqual([count, pages], [2500, 2]);
});

test('a declaration is read from a component, and what is none is refused', () => {
  const section = (content) => {
    const name = new TextEncoder().encode('windlass:plugin');
    const body = [name.length, ...name, ...new TextEncoder().encode(content)];
    return [0, body.length, ...body];
  };
  const head = [0, 0x61, 0x73, 0x6d, 13, 0, 1, 0];
  const component = (...sections) => Uint8Array.from([...head, ...sections.flat()]);
  assert.deepEqual(windlass.declarationOf(component(section('{"name":"x"}'))), { name: 'x' });
  assert.throws(() => windlass.declarationOf(component()), /0 custom sections/);
  assert.throws(() => windlass.declarationOf(component(section('{}'), section('{}'))), /2 custom sections/);
  assert.throws(() => windlass.declarationOf(Uint8Array.from([1, 2, 3])), /not WebAssembly/);
  const whole = component(section('{}'));
  for (let length = 9; length < whole.length; length += 1) {
    assert.throws(() => windlass.declarationOf(whole.subarray(0, length)), /damaged|0 custom/);
  }
});
