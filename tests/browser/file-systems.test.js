/** File systems whose answers are waited for: their contract, and calls of components on them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { directoryHandle } from './directory-handle.js';
import { files as fileTools, load, testkit, windlass } from './package-under-test.js';

const { runOnFiles } = await load('call-files.js');
const { FileSystemError, MemoryFileSystem, PickedDirectoryFileSystem } = windlass;
const plugin = await fileTools.fileTools();
await windlass.init();

/** Files in memory that are waited for, as those of an embedder. It counts what it is asked. */
class Waited {
  asked = { stat: 0, list: 0, read: [], change: 0 };

  constructor(files, { access, limits } = {}) {
    this.files = files instanceof MemoryFileSystem ? files : new MemoryFileSystem({ files });
    this.access = access;
    this.limits = limits;
  }

  async stat(path) {
    this.asked.stat += 1;
    return this.files.stat(path);
  }

  async list(path) {
    this.asked.list += 1;
    return this.files.list(path);
  }

  async read(path) {
    this.asked.read.push(path);
    return this.files.read(path);
  }

  async change(changes) {
    this.asked.change += 1;
    await this.files.change(changes);
  }
}

const WRITE = { cwd: '/w', roots: [{ path: '/w', access: 'write' }], deny: [] };

/** Calls a file tool on these files. */
async function call(fileSystem, name, input, { grant = WRITE, observed = [], signal } = {}) {
  const host = { files: (attempt) => runOnFiles(fileSystem, grant, signal, attempt) };
  const result = JSON.parse(await plugin.call({ name, observed }, JSON.stringify(input), host));
  return { ...result, text: result.content.map(({ text }) => text).join('\n') };
}

/** Runs a function in the place of a component. */
function component(fileSystem, run, { grant = WRITE, signal } = {}) {
  return runOnFiles(fileSystem, grant, signal, ({ filesystem }) => run(filesystem().roots()[0].directory));
}

const bytes = (text) => new TextEncoder().encode(text);
const PLAIN = { createNew: false, createParents: false };

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

test('the file tools work on files that are waited for, and read what they need', async () => {
  const files = new Waited({ '/w/a.txt': 'alpha\n', '/w/b.txt': 'beta\n', '/elsewhere/c.txt': 'gamma\n' });
  const one = { ...WRITE, roots: [{ path: '/w/a.txt', access: 'write' }] };
  const { observed, text } = await call(files, 'Read', { file_path: '/w/a.txt' }, { grant: one });
  assert.match(text, /1\talpha/);
  const edited = await call(files, 'Edit', { file_path: '/w/a.txt', old_string: 'alpha', new_string: 'omega' }, { grant: one, observed });
  assert.equal(edited.is_error, false, edited.text);
  assert.equal(files.files.readText('/w/a.txt'), 'omega\n');
  assert.deepEqual(files.asked, { stat: 2, list: 0, read: ['/w/a.txt'], change: 1 }, 'nothing else is looked at');
  const found = await call(files, 'Glob', { pattern: '*.txt' });
  assert.match(found.text, /a\.txt[^]*b\.txt|b\.txt[^]*a\.txt/);
  assert.deepEqual(files.asked.read, ['/w/a.txt'], 'names are found without contents');
  assert.match((await call(files, 'Grep', { pattern: 'a$', output_mode: 'content' })).text, /omega|beta/);
  assert.deepEqual(files.asked.read.sort(), ['/w/a.txt', '/w/a.txt', '/w/b.txt'], 'what was changed is read anew');
  assert.doesNotMatch(JSON.stringify(files.asked), /elsewhere/);
});

test('a search through many files begins a few times anew, and a file is read once until it changes', async () => {
  const many = Object.fromEntries(Array.from({ length: 2000 }, (_, n) => [`/w/${n % 40}/${n}.txt`, n === 1234 ? 'needle' : `hay ${n}`]));
  const files = new Waited(many);
  let attempts = 0;
  const search = () => {
    const host = {
      files: (attempt) => runOnFiles(files, WRITE, undefined, (given) => {
        attempts += 1;
        return attempt(given);
      }),
    };
    return plugin.call({ name: 'Grep', observed: [] }, JSON.stringify({ pattern: 'needle' }), host);
  };
  assert.match(await search(), /1234\.txt/);
  assert.equal(files.asked.read.length, 2000);
  assert.ok(attempts <= 9, `${attempts} attempts`);
  files.files.writeFile('/w/7/7.txt', 'needle');
  assert.match(await search(), /7\.txt/);
  assert.equal(files.asked.read.length, 2001);
});

test('a call that makes many files, or looks for many, begins a few times anew', async () => {
  const files = new Waited(Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`/w/deep/there-${n}`, `${n}`])));
  const made = async (run) => {
    let attempts = 0;
    await component(files, (directory) => {
      attempts += 1;
      for (let n = 0; n < 300; n += 1) run(directory, n);
    });
    return attempts;
  };
  const writing = await made((directory, n) => directory.write(`deep/new-${n}`, bytes('x'), { createNew: true, createParents: true }));
  const apart = await made((directory, n) => directory.write(`made/${n}/file`, bytes('x'), { createNew: true, createParents: true }));
  const looking = await made((directory, n) => {
    try {
      directory.stat(`deep/there-${n}`);
    } catch (thrown) {
      if (thrown !== 'not-found') throw thrown;
    }
  });
  const coming = await made((directory, n) => {
    directory.write('gone', bytes('x'), PLAIN);
    directory.remove('gone');
    if (n < 50) directory.read(`deep/there-${n}`, 0, 9);
  });
  for (const attempts of [writing, apart, looking, coming]) assert.ok(attempts <= 12, `${[writing, apart, looking, coming]} attempts`);
  assert.equal(files.files.paths().length, 650);
});

test('a component that is run again has told, remembered and changed everything once', async () => {
  const files = new Waited({ '/w/a': '1', '/w/b': '2' });
  const told = [];
  const state = new Map();
  const work = (imports) => {
    const [{ directory }] = imports['windlass:host/filesystem'].roots();
    const text = (path) => new TextDecoder().decode(directory.read(path, 0, 9));
    imports['windlass:host/log'].log('info', 'begins');
    imports['windlass:host/progress'].report('begins');
    const runs = imports['windlass:host/state'];
    runs.set('runs', bytes(`${new TextDecoder().decode(runs.get('runs') ?? bytes(''))}x`));
    directory.write('out', bytes('half'), PLAIN);
    const both = `${text('a')}${text('b')}`;
    imports['windlass:host/progress'].report('ends');
    directory.write('out', bytes(both), PLAIN);
    return { content: [{ tag: 'text', val: text('out') }], isError: false, observed: [] };
  };
  const declaration = {
    name: 'works',
    version: '0.1.0',
    wit: '0.1.0',
    grants: { filesystem: 'write', state: 'session' },
    tools: [{ name: 'Work', description: 'Works.', input_schema: { type: 'object' } }],
  };
  const instantiate = async (_, imports) => ({ call: () => work(imports) });
  const works = new windlass.Plugin(declaration, instantiate, async () => undefined, { workspace: 'write', state: true });
  const host = {
    files: (attempt) => runOnFiles(files, WRITE, undefined, attempt),
    state,
    progress: (text) => told.push(text),
    log: (_, text) => told.push(text),
  };
  const result = JSON.parse(await works.call({ name: 'Work', observed: [] }, '{}', host));
  assert.equal(result.content[0].text, '12');
  assert.deepEqual(told, ['begins', 'begins', 'ends']);
  assert.equal(new TextDecoder().decode(state.get('runs')), 'x');
  assert.equal(files.files.readText('/w/out'), '12');
  assert.equal(files.asked.change, 1);
});

test('a component that swallows the end of an attempt is run again all the same', async () => {
  const files = new Waited({ '/w/a': 'there' });
  const swallow = (directory) => {
    try {
      return new TextDecoder().decode(directory.read('a', 0, 9));
    } catch {
      directory.write('a', bytes('lost'), PLAIN);
      return 'nothing';
    }
  };
  assert.equal(await component(files, swallow), 'there');
  assert.equal(files.files.readText('/w/a'), 'there');
});

test('a file that somebody else changes during a call is not overwritten, and nothing else of the call is written', async () => {
  const files = new Waited({ '/w/a.txt': 'mine\n', '/w/b.txt': 'b' });
  const { observed } = await call(files, 'Read', { file_path: '/w/a.txt' });
  const change = files.change.bind(files);
  files.change = async (changes) => {
    files.files.writeFile('/w/a.txt', 'theirs\n');
    await change(changes);
  };
  const edit = { file_path: '/w/a.txt', old_string: 'mine', new_string: 'ours' };
  await assert.rejects(call(files, 'Edit', edit, { observed }), (error) => {
    assert.equal(error.kind, 'changed');
    assert.match(error.message, /\/w\/a\.txt is not what it was .* somebody else changed it meanwhile, and nothing of this call was written\. Read it again/);
    return true;
  });
  const both = (directory) => {
    directory.write('b.txt', bytes('ours'), PLAIN);
    directory.write('a.txt', bytes('ours'), PLAIN);
  };
  await assert.rejects(component(files, both), FileSystemError);
  assert.deepEqual([files.files.readText('/w/a.txt'), files.files.readText('/w/b.txt')], ['theirs\n', 'b']);
});

test('calls on the same files see what the calls before them changed', async () => {
  const files = new Waited({ '/w/count': '0' });
  const increment = (directory) => {
    const count = Number(new TextDecoder().decode(directory.read('count', 0, 9)));
    directory.write('count', bytes(`${count + 1}`), PLAIN);
  };
  await Promise.all(Array.from({ length: 20 }, () => component(files, increment)));
  assert.equal(files.files.readText('/w/count'), '20');
});

test('what was interrupted changes nothing', async () => {
  const files = new Waited({ '/w/a': '1' });
  const stop = new AbortController();
  const interrupted = component(files, (directory) => {
    directory.read('a', 0, 1);
    directory.write('a', bytes('2'), PLAIN);
    stop.abort(new Error('stopped'));
  }, { signal: stop.signal });
  await assert.rejects(interrupted, /stopped/);
  await assert.rejects(component(files, () => assert.fail('it ran'), { signal: stop.signal }), /stopped/);
  await assert.rejects(component(files, (directory) => {
    directory.write('a', bytes('2'), PLAIN);
    throw new Error('it trapped');
  }), /it trapped/);
  assert.equal(files.files.readText('/w/a'), '1');
  assert.equal(files.asked.change, 0);
});

test('limits are kept, and named with what to do', async () => {
  const files = { '/w/a': 'x'.repeat(60), '/w/b': 'y'.repeat(60), '/w/c': 'z'.repeat(200) };
  const limited = (limits) => new Waited(files, { limits });
  const read = (...names) => (directory) => names.map((name) => directory.read(name, 0, 999).length);
  const bytesSaid = /more than 100 bytes together \(at \/w\/[abc]\).* raise the limit `maxBytes` of the file system/;
  const small = limited({ maxBytes: 100 });
  assert.deepEqual(await component(small, read('a')), [60]);
  assert.deepEqual(await component(small, read('b')), [60], 'what another call has read makes room');
  await assert.rejects(component(small, read('a', 'b')), bytesSaid);
  await assert.rejects(component(small, read('c')), bytesSaid);
  assert.ok(!small.asked.read.includes('/w/c'), 'what is too large is not read first');
  await assert.rejects(component(small, (directory) => directory.write('d', new Uint8Array(101), PLAIN)), /`maxBytes`/);
  assert.deepEqual(await component(limited({ maxBytes: 120 }), read('a', 'b')), [60, 60]);
  await assert.rejects(component(limited({ maxEntries: 2 }), (directory) => directory.list('')), /more than 2 files and directories .*`exclude`.*`maxEntries`/);
  await assert.rejects(component(limited({ maxbytes: 2 }), read('a')), /no limit `maxbytes`/);
  for (const maxBytes of [-1, NaN, '64 MiB', null]) await assert.rejects(component(limited({ maxBytes }), read('a')), /`maxBytes` .* has to be a number/);
  for (const exclude of ['.git', ['a/b'], [''], [1]]) {
    await assert.rejects(PickedDirectoryFileSystem.open(directoryHandle(), { limits: { exclude } }), /`exclude` .* list of names/);
  }
});

test('what is left out is not looked through, and there for calls that are about it', async () => {
  const files = new Waited({ '/w/a.txt': 'x', '/w/node_modules/m/b.txt': 'x', '/w/deep/.git/c.txt': 'x', '/w/[x]/d.txt': 'x' }, {
    limits: { exclude: ['.git', 'node_modules', '[x]'] },
  });
  const found = await call(files, 'Glob', { pattern: '**/*.txt' });
  assert.match(found.text, /a\.txt/);
  assert.doesNotMatch(found.text, /[bcd]\.txt/);
  assert.equal(files.asked.list, 2, 'only / and /deep are listed');
  const inside = { ...WRITE, roots: [{ path: '/w/node_modules/m', access: 'read' }] };
  assert.match((await call(files, 'Read', { file_path: '/w/node_modules/m/b.txt' }, { grant: inside })).text, /1\tx/);
  await assert.rejects(component(files, (directory) => directory.write('node_modules/new', bytes('x'), PLAIN)), (error) => error === 'not-found');
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
    ['QuotaExceededError', 'full', /\/w\/b: the storage .* is full.* \(changed before it: \/w\/a\)/],
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

test('a pattern that is a name alone closes that name everywhere', async () => {
  for (const make of [(files) => new MemoryFileSystem({ files }), (files) => new Waited(files)]) {
    const files = make({ '/w/.env': 'KEY=1', '/w/deep/.env': 'KEY=2' });
    const grant = { ...WRITE, deny: [{ pattern: '.env', access: 'read' }] };
    for (const path of ['.env', 'deep/.env']) {
      await assert.rejects(component(files, (directory) => directory.read(path, 0, 9), { grant }), (error) => error === 'not-found');
    }
  }
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
