/** File systems: their contract, and platforms that no headless browser shows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { directoryHandle } from './directory-handle.js';
import { load, testkit, windlass } from './package-under-test.js';
import { PLAIN, WRITE, Waited, bytes, component } from './waited-files.js';

const { MemoryFileSystem, PickedDirectoryFileSystem } = windlass;
await windlass.init();

test('files in memory keep the contract, worked on directly and waited for', async () => {
  for (const make of [(files) => files, (files) => new Waited(files)]) {
    const place = () => {
      const files = new MemoryFileSystem();
      return { fileSystem: () => make(files) };
    };
    assert.deepEqual(await testkit.checkFileSystem(place), []);
  }
});

test('a picked directory keeps the contract, on platforms with one spelling of a name and with several', async () => {
  const spellings = [undefined, (name) => name.normalize('NFC').toLowerCase(), (name) => name.toUpperCase().replace(/[. ]+$/, '')];
  for (const spelled of spellings) {
    const place = () => {
      const directory = directoryHandle({ spelled });
      return { fileSystem: () => PickedDirectoryFileSystem.open(directory) };
    };
    assert.deepEqual(await testkit.checkFileSystem(place), []);
  }
});

test('the checks find what is broken', async () => {
  const broken = async (breaks) => {
    const place = () => {
      const files = new MemoryFileSystem();
      return { fileSystem: () => Object.assign(new Waited(files), breaks(files)) };
    };
    return (await testkit.checkFileSystem(place)).map((sentence) => sentence.slice(0, sentence.indexOf(':')));
  };
  const unconditional = (changes) => changes.map(({ replaces, ...change }) => change);
  assert.deepEqual(await broken((files) => ({ change: (changes) => files.change(unconditional(changes)) })), [
    'what is not as it was expected is not changed, and nothing beside it',
    'of two changes of one version at the same time one is made',
  ]);
  assert.ok((await broken((files) => ({ list: async (path) => (await files.list(path))?.slice(0, 1) }))).includes('listings come sorted, in pages'));
  assert.ok((await broken((files) => ({ stat: async (path) => (await files.stat(path)) ?? { kind: 'file', size: 0, modified: 0, version: '1' } }))).includes('what is not there is undefined'));
  const upper = (path) => path.toLowerCase();
  const careless = (files) => ({
    stat: (path) => files.stat(upper(path)),
    read: (path) => files.read(upper(path)),
    change: (changes) => files.change(changes.map((change) => ({ ...change, path: upper(change.path) }))),
  });
  assert.ok((await broken(careless)).includes('another spelling of a name is another file, or none'));
});

test('files that may only be read are not written, whatever was granted', async () => {
  const files = new Waited({ '/w/a': '1' }, { access: 'read' });
  await assert.rejects(component(files, (directory) => directory.write('a', bytes('2'), PLAIN)), (error) => error === 'read-only');
  const directory = directoryHandle();
  await (await PickedDirectoryFileSystem.open(directory)).change([{ type: 'write', path: '/a', content: bytes('1') }]);
  const read = await PickedDirectoryFileSystem.open(directory, { access: 'read' });
  await assert.rejects(read.change([{ type: 'write', path: '/a', content: bytes('2') }]), /files of directory:project may only be read/);
});

test('a closed file is closed under the other spellings that the platform knows', async () => {
  const directory = directoryHandle({ spelled: (name) => name.toLowerCase() });
  const files = await PickedDirectoryFileSystem.open(directory);
  await files.change([
    { type: 'createDirectory', path: '/w' },
    { type: 'write', path: '/w/.env', content: bytes('KEY=1') },
  ]);
  const grant = { ...WRITE, deny: [{ pattern: '/w/.env', access: 'read' }] };
  await assert.rejects(component(files, (directory) => directory.read('.ENV', 0, 9), { grant }), (error) => error === 'not-found');
  const write = component(files, (directory) => directory.write('.ENV', bytes('EVIL'), PLAIN), { grant });
  await assert.rejects(write, (error) => error.kind === 'changed' || error.kind === 'refused');
  assert.equal(new TextDecoder().decode((await files.read('/w/.env')).content), 'KEY=1');
});

test('a link that the browser does not show is neither read nor replaced', async () => {
  const files = await PickedDirectoryFileSystem.open(directoryHandle({ links: ['link'] }));
  assert.deepEqual([await files.stat('/link'), await files.read('/link'), await files.list('/')], [undefined, undefined, []]);
  await assert.rejects(files.change([{ type: 'write', path: '/link', content: bytes('x') }]), (error) => error.kind === 'refused' && /is a link/.test(error.message));
  await assert.rejects(files.change([{ type: 'remove', path: '/link' }]), (error) => error.kind === 'missing');
});

test('a browser that writes in Workers only says so, and leaves no empty file', async () => {
  const files = await PickedDirectoryFileSystem.open(directoryHandle({ writes: false }));
  const write = files.change([{ type: 'write', path: '/a', content: bytes('x') }]);
  await assert.rejects(write, (error) => error.kind === 'not-allowed' && /run the agent in a Worker/.test(error.message));
  assert.deepEqual(await files.list('/'), []);
});

test('the person is asked for a directory, and says no or yes', async () => {
  const open = (platform, options) => PickedDirectoryFileSystem.open(directoryHandle(platform), options);
  const no = (error) => error.kind === 'not-allowed' && /does not let the page (change files in|read) project/.test(error.message);
  await assert.rejects(open({ permission: 'prompt', asked: () => 'denied' }), no);
  await assert.rejects(open({ permission: 'denied', asked: () => 'denied' }, { access: 'read' }), no);
  const unclicked = () => {
    throw new DOMException('User activation is required', 'SecurityError');
  };
  await assert.rejects(open({ permission: 'prompt', asked: unclicked }), no);
  assert.ok(await open({ permission: 'prompt', asked: () => 'granted' }));
  await assert.rejects(open({}, { access: 'all' }), /no access "all"/);
});

test('a write that the platform does not make is the error of the call, says what was written, and loses nothing', async () => {
  const failing = { name: undefined };
  const directory = directoryHandle({ fails: (name) => (name === 'b' ? failing.name : undefined) });
  const files = await PickedDirectoryFileSystem.open(directory);
  await files.change([{ type: 'createDirectory', path: '/w' }, { type: 'write', path: '/w/b', content: bytes('old') }]);
  const both = (directory) => {
    directory.write('a', bytes('new'), PLAIN);
    directory.write('b', bytes('new'), PLAIN);
  };
  for (const [name, kind, said] of [
    ['QuotaExceededError', 'full', /\/w\/b: the storage .* is full.* \(changed all the same: \/w\/a\)/],
    ['NotAllowedError', 'not-allowed', /ask the person for directory:project again/],
    ['NoModificationAllowedError', 'locked', /being written by somebody else/],
  ]) {
    failing.name = name;
    await assert.rejects(component(files, both), (error) => error.kind === kind && said.test(error.message), name);
    assert.equal(new TextDecoder().decode((await files.read('/w/b')).content), 'old');
  }
  failing.name = undefined;
  await assert.rejects(component(files, (directory) => directory.write('a:b', bytes('x'), PLAIN)), (error) => error.kind === 'refused' && /refuses the name/.test(error.message));
  await component(files, both);
  assert.equal(new TextDecoder().decode((await files.read('/w/b')).content), 'new');
});

test('a path that cannot exist is refused before it is judged', async () => {
  const { absolute } = await load('file-path.js');
  assert.equal(absolute('/w', './sub/../ok'), '/w/ok');
  assert.equal(absolute('/w', '/../..'), '/');
  for (const [path, why] of [
    ['', 'it is empty'],
    ['a\0b', 'NUL'],
    ['a/'.repeat(500_000), 'longer than 4096 bytes'],
    ['x'.repeat(256), 'longer than 255 bytes'],
    ['a/'.repeat(257), 'more than 256 names'],
  ]) {
    assert.throws(() => absolute('/w', path), (error) => error.message.includes(why) && error.message.length < 1000);
  }
});
