/** Calls of components on files that are waited for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { directoryHandle } from './directory-handle.js';
import { files as fileTools, load, windlass } from './package-under-test.js';
import { PLAIN, WRITE, Waited, bytes, component } from './waited-files.js';

const { runOnFiles } = await load('call-files.js');
const { FileSystemError, MemoryFileSystem, PickedDirectoryFileSystem } = windlass;
const plugin = await fileTools.fileTools();
await windlass.init();

/** Calls a file tool on these files. */
async function call(fileSystem, name, input, { grant = WRITE, observed = [], signal } = {}) {
  const host = { files: (attempt) => runOnFiles(fileSystem, grant, signal, attempt) };
  const result = JSON.parse(await plugin.call({ name, observed }, JSON.stringify(input), host));
  return { ...result, text: result.content.map(({ text }) => text).join('\n') };
}

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

test('a pattern that is a name alone closes that name everywhere', async () => {
  for (const make of [(files) => new MemoryFileSystem({ files }), (files) => new Waited(files)]) {
    const files = make({ '/w/.env': 'KEY=1', '/w/deep/.env': 'KEY=2' });
    const grant = { ...WRITE, deny: [{ pattern: '.env', access: 'read' }] };
    for (const path of ['.env', 'deep/.env']) {
      await assert.rejects(component(files, (directory) => directory.read(path, 0, 9), { grant }), (error) => error === 'not-found');
    }
  }
});

/** Random numbers from a seed: the same everywhere. */
function randomOf(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** What a component that does things at random gets to see: of the same seed it is the same, if the files are. */
function wandering(seed, roots) {
  const random = randomOf(seed);
  const oneOf = (list) => list[random(list.length)];
  const path = () => Array.from({ length: 1 + random(3) }, () => oneOf(['a', 'a', 'b', 'b', 'c', 'd', 'a', 'b', 'c', 'd', '.', '..'])).join('/') + oneOf(['', '', '', '/']);
  const steps = {
    stat: (directory) => ({ ...directory.stat(path()), modified: 0 }),
    read: (directory) => new TextDecoder().decode(directory.read(path(), random(3), random(9))),
    list: (directory) => directory.list(path(), undefined, true).entries.map(({ name, kind, size }) => [name, kind, size]),
    write: (directory) => directory.write(path(), bytes(`${random(99)}`), { createNew: random(3) === 0, createParents: random(2) === 0 }),
    createDirectory: (directory) => directory.createDirectory(path()),
    remove: (directory) => directory.remove(path()),
  };
  return Array.from({ length: 60 }, () => {
    const [step, directory] = [oneOf(Object.keys(steps)), oneOf(roots).directory];
    try {
      return [step, steps[step](directory) ?? 'done'];
    } catch (thrown) {
      if (typeof thrown !== 'string') throw thrown;
      return [step, thrown];
    }
  });
}

test('whatever a component does, it sees and changes the same in files that are waited for', async () => {
  const places = ['/w', '/w/a', '/w/a/b', '/w/b', '/w/c/d', '/w/d/a/b'];
  let done = 0;
  for (let seed = 1; seed <= 400; seed += 1) {
    const random = randomOf(seed);
    const oneOf = (list) => list[random(list.length)];
    const contents = {};
    for (const path of ['/w/a/a', '/w/a/b/c', '/w/b', '/w/c/d/a', '/w/d/a', '/outside']) if (random(3) > 0) contents[path] = `${random(1000)}`;
    const grant = {
      cwd: '/w',
      roots: Array.from({ length: 1 + random(2) }, () => ({ path: oneOf(places), access: oneOf(['read', 'write', 'write']) })),
      deny: Array.from({ length: random(3) }, () => ({ pattern: oneOf([...places, 'c', '/w/**/d', '/w/a/*']), access: oneOf(['read', 'write']) })),
    };
    const direct = new MemoryFileSystem({ files: contents });
    const waited = new Waited(contents);
    const wander = (files) => runOnFiles(files, grant, undefined, ({ filesystem }) => {
      const roots = filesystem().roots();
      return roots.length === 0 ? [] : [roots.map(({ path, access }) => [path, access]), ...wandering(seed, roots)];
    });
    const [here, there] = [await wander(direct), await wander(waited)];
    assert.deepEqual(there, here, `seed ${seed}: ${JSON.stringify(grant)}`);
    const everything = (files) => files.paths().map((path) => [path, files.readText(path)]);
    assert.deepEqual(everything(waited.files), everything(direct), `seed ${seed}`);
    done += here.filter(([, outcome]) => outcome === 'done').length;
  }
  assert.ok(done > 500, `${done} changes were made`);
});
