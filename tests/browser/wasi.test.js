/** What WASI gives a component in JavaScript, and what it does not. The component is one in JavaScript, as jco would hand it over. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load, testkit, windlass } from './package-under-test.js';
import { Waited } from './waited-files.js';

const { Agent, MemoryFileSystem, Plugin } = windlass;
const { wasi } = await load('wasi.js');
await windlass.init();

const encode = (text) => new TextEncoder().encode(text);
const decode = (bytes) => new TextDecoder().decode(bytes);
const FILES = { '/w/a.txt': 'alpha', '/w/.env': 'KEY=1', '/w/sub/b.txt': 'beta', '/other/c.txt': 'gamma' };
const STORES = { 'in memory': (files) => files, 'that are waited for': (files) => new Waited(files) };

/** Runs `deed` with the imports of a component, once for each call; gives results, what was logged, and the files afterwards. */
async function run(deed, { grant = { workspace: 'write' }, limits, calls = 1, options = { wasi }, store = (files) => files, ...more } = {}) {
  const tool = { name: 'Probe', description: 'Probes.', input_schema: { type: 'object' }, paths: [{ field: 'root', access: grant.workspace ?? 'read' }] };
  const declaration = { name: 'probe', version: '0.1.0', wit: '0.1.0', tools: [tool], grants: { filesystem: 'write' }, limits };
  let imports;
  const instantiate = async (module, given) => {
    imports = given;
    return { call: () => ({ content: [{ tag: 'text', val: JSON.stringify(deed(imports)) ?? '' }], isError: false, observed: [] }) };
  };
  const call = { respond: { content: [{ type: 'tool_use', name: 'Probe', input: { root: '/w' } }] } };
  const model = await testkit.ScriptedModel.load({ exchanges: [...Array.from({ length: calls }, () => call), { respond: 'Done.' }] });
  const logged = [];
  const tree = new MemoryFileSystem({ files: FILES });
  const agent = new Agent({
    fetch: model.fetch,
    cwd: '/w',
    files: store(tree),
    plugins: [new Plugin(declaration, instantiate, undefined, grant, options)],
    allowedTools: ['Probe'],
    pluginLog: (name, level, message) => logged.push(`${level} ${message}`),
    ...more,
  });
  const results = [];
  for await (const message of agent.query('Go.')) {
    if (message.type !== 'user') continue;
    for (const { content, is_error } of message.message.content) {
      const text = content.map?.((block) => block.text).join() ?? content;
      results.push(is_error ? { error: text } : JSON.parse(text || 'null'));
    }
  }
  return { results, logged, files: Object.fromEntries(tree.paths().map((path) => [path, tree.readText(path)])) };
}

/** What a function gives, or the code that it throws; what ends an attempt goes on. */
function outcome(work) {
  try {
    return work() ?? 'done';
  } catch (code) {
    if (code instanceof Error) throw code;
    return code.tag ?? code;
  }
}

const root = (imports) => imports['wasi:filesystem/preopens'].getDirectories()[0][0];
const open = (directory, path, how = {}, flags = { read: true }) => directory.openAt({ symlinkFollow: true }, path, how, flags);
const content = (directory, path) => decode(open(directory, path).read(100n, 0n)[0]);
const drop = (handle) => handle[Symbol.dispose ?? Symbol.for('dispose')]();

for (const [stored, store] of Object.entries(STORES)) {
  test(`the granted directory is there and nothing else, in files ${stored}`, async () => {
    const deed = (imports) => {
      const directory = root(imports);
      const paths = ['a.txt', 'sub/../a.txt', './sub//b.txt', '../other/c.txt', '/w/a.txt', 'sub/../../other/c.txt', '.env', 'none', 'a.txt/', 'a.txt/x', '', 'x'.repeat(5000)];
      const listed = [];
      const listing = directory.readDirectory();
      for (let entry = listing.readDirectoryEntry(); entry; entry = listing.readDirectoryEntry()) listed.push(`${entry.type} ${entry.name}`);
      return {
        roots: imports['wasi:filesystem/preopens'].getDirectories().map(([, path]) => path),
        read: paths.map((path) => outcome(() => content(directory, path))),
        listed,
        stat: outcome(() => `${directory.statAt({}, 'a.txt').type} ${directory.statAt({}, 'a.txt').size}`),
      };
    };
    const { results } = await run(deed, { store, disallowedTools: ['Read(.env)'] });
    const missing = 'no-entry';
    assert.deepEqual(results[0], {
      roots: ['/w'],
      read: ['alpha', 'alpha', 'beta', missing, missing, missing, missing, missing, 'not-directory', 'not-directory', missing, 'name-too-long'],
      listed: ['regular-file a.txt', 'directory sub'],
      stat: 'regular-file 5',
    });
    const none = await run((imports) => imports['wasi:filesystem/preopens'].getDirectories().length, { store, grant: {}, allowedTools: ['Probe'] });
    assert.match(none.results[0].error, /in no directory that the tool's plugin was granted/);
  });

  test(`what may only be read is not changed, in files ${stored}`, async () => {
    const deed = (imports) => {
      const directory = root(imports);
      const reading = open(directory, 'a.txt');
      return [
        () => open(directory, 'a.txt', {}, { write: true }),
        () => open(directory, 'a.txt', { truncate: true }),
        () => open(directory, 'new.txt', { create: true }, { write: true }),
        () => directory.createDirectoryAt('made'),
        () => directory.unlinkFileAt('a.txt'),
        () => directory.removeDirectoryAt('sub'),
        () => directory.renameAt('a.txt', directory, 'z.txt'),
        () => reading.write(encode('x'), 0n),
        () => reading.setSize(0n),
        () => reading.writeViaStream(0n),
        () => directory.linkAt({}, 'a.txt', directory, 'b.txt'),
        () => directory.symlinkAt('/etc/passwd', 'link'),
        () => directory.readlinkAt('a.txt'),
        () => directory.setTimesAt(),
      ].map(outcome);
    };
    const { results, files } = await run(deed, { store, grant: { workspace: 'read' } });
    const readOnly = 'read-only';
    assert.deepEqual(results[0], [
      readOnly, readOnly, readOnly, readOnly, readOnly, 'read-only', readOnly,
      'bad-descriptor', 'bad-descriptor', 'bad-descriptor', 'not-permitted', 'not-permitted', 'not-permitted', 'unsupported',
    ]);
    assert.deepEqual(files, FILES);
  });

  test(`files are written whole, moved and removed, in files ${stored}`, async () => {
    const deed = (imports) => {
      const directory = root(imports);
      const made = open(directory, 'new.txt', { create: true, exclusive: true }, { read: true, write: true });
      const stream = made.writeViaStream(0n);
      stream.write(encode('one '));
      stream.blockingWriteAndFlush(encode('two'));
      made.write(encode('ONE'), 0n);
      drop(stream);
      const held = [decode(made.read(100n, 0n)[0]), Number(made.stat().size)];
      drop(made);
      const again = [outcome(() => open(directory, 'new.txt', { create: true, exclusive: true })), content(directory, 'new.txt')];
      const cut = open(directory, 'a.txt', { truncate: true }, { write: true });
      cut.appendViaStream().write(encode('cut'));
      directory.createDirectoryAt('made');
      directory.renameAt('new.txt', directory, 'made/moved.txt');
      const full = outcome(() => directory.removeDirectoryAt('made'));
      directory.unlinkFileAt('sub/b.txt');
      directory.removeDirectoryAt('sub');
      const end = open(directory, 'made/moved.txt', {}, { read: true, write: true });
      end.setSize(3n);
      // It is closed by nobody: the end of the call keeps it.
      const large = outcome(() => end.setSize(65n << 20n));
      const far = outcome(() => end.write(encode('x'), 1n << 40n));
      return { held, again, full, large, far, moved: outcome(() => directory.renameAt('made', directory, 'other')) };
    };
    const { results, files } = await run(deed, { store });
    assert.deepEqual(results[0], {
      held: ['ONE two', 7],
      again: ['exist', 'ONE two'],
      full: 'not-empty',
      large: 'file-too-large',
      far: 'file-too-large',
      moved: 'cross-device',
    });
    assert.deepEqual(files, { '/w/a.txt': 'cut', '/w/.env': 'KEY=1', '/w/made/moved.txt': 'ONE', '/other/c.txt': 'gamma' });
  });

  test(`a call that fails keeps nothing that it has not closed, in files ${stored}`, async () => {
    const deed = (imports) => {
      open(root(imports), 'a.txt', {}, { write: true }).write(encode('lost'), 0n);
      throw new WebAssembly.RuntimeError('unreachable');
    };
    assert.deepEqual((await run(deed, { store })).files, FILES);
  });

  test(`clocks stand still, and random bytes are the same in each attempt, in files ${stored}`, async () => {
    const drawn = [];
    const deed = (imports) => {
      const { now } = imports['wasi:clocks/monotonic-clock'];
      const { getRandomBytes, getRandomU64 } = imports['wasi:random/random'];
      const random = `${getRandomBytes(8n)} ${getRandomU64()}`;
      drawn.push(random);
      const times = [now(), now(), imports['wasi:clocks/wall-clock'].now().seconds].map(Number);
      return [content(root(imports), 'a.txt'), times, random];
    };
    const { results } = await run(deed, { store, calls: 2 });
    const [[, [first, second, seconds], one], [, , other]] = results;
    assert.deepEqual([first, second], [1e9, 1e9]);
    assert.ok(Math.abs(seconds - Date.now() / 1000) < 600);
    assert.notEqual(one, other);
    assert.deepEqual([...new Set(drawn)], [one, other]);
  });
}

test('what is printed goes to the log, by lines and as far as it goes', async () => {
  const deed = (imports) => {
    const out = imports['wasi:cli/stdout'].getStdout();
    const error = imports['wasi:cli/stderr'].getStderr();
    out.write(encode('one\ntw'));
    out.write(encode('o\n'));
    error.write(encode('wrong'));
    drop(error);
    out.write(encode('x'.repeat(5000)));
    return outcome(() => imports['wasi:cli/stdin'].getStdin().read(10n));
  };
  const { results, logged } = await run(deed);
  assert.equal(results[0], 'closed');
  assert.deepEqual(logged, ['info one', 'info two', 'warn wrong', `info ${'x'.repeat(4096)}`]);
  const flood = await run((imports) => imports['wasi:cli/stdout'].getStdout().write(encode('line\n'.repeat(1000))), { limits: { log_bytes: 20 } });
  assert.equal(flood.logged.map((line) => line.slice('info '.length)).join(''), 'line'.repeat(5));
});

test('there is no environment, no argument, no terminal and no socket', async () => {
  const deed = (imports) => {
    const { getEnvironment, getArguments, initialCwd } = imports['wasi:cli/environment'];
    const network = imports['wasi:sockets/instance-network'].instanceNetwork();
    return [
      getEnvironment(),
      getArguments(),
      initialCwd(),
      String(imports['wasi:cli/terminal-stdin'].getTerminalStdin()),
      outcome(() => imports['wasi:sockets/tcp-create-socket'].createTcpSocket('ipv4')),
      outcome(() => imports['wasi:sockets/udp-create-socket'].createUdpSocket('ipv4')),
      outcome(() => imports['wasi:sockets/ip-name-lookup'].resolveAddresses(network, 'example.com')),
    ];
  };
  const { results } = await run(deed);
  assert.deepEqual(results[0], [[], [], '/w', 'undefined', 'access-denied', 'access-denied', 'access-denied']);
});

test('what goes too far ends the call', async () => {
  const ends = async (deed, said, more) => assert.match((await run(deed, more)).results[0].error, said);
  await ends((imports) => imports['wasi:cli/exit'].exit({ tag: 'ok' }), /ended itself by `exit`/);
  await ends((imports) => imports['wasi:io/poll'].poll([]), /waited for nothing/);
  await ends((imports) => imports['wasi:random/random'].getRandomBytes(2n << 20n), /random bytes at once/);
  await ends((imports) => {
    for (;;) imports['wasi:random/random'].getRandomBytes(1n << 20n);
  }, /random bytes in one call/);
  await ends((imports) => {
    for (;;) open(root(imports), 'a.txt');
  }, /more than 1024 handles/);
  await ends((imports) => {
    const directory = root(imports);
    for (;;) directory.getFlags();
  }, /more than 50 times/, { limits: { host_calls: 50 } });
  for (const write of ['write', 'blockingWriteAndFlush']) {
    await ends((imports) => imports['wasi:cli/stdout'].getStdout()[write](new Uint8Array((1 << 20) + 1)), /bytes to a stream at once/);
  }
  // Handles that are dropped are not held.
  const { results } = await run((imports) => {
    const directory = root(imports);
    for (let n = 0; n < 3000; n += 1) drop(open(directory, 'a.txt'));
    return 'well';
  });
  assert.equal(results[0], 'well');
});

test('a component that imports WASI and was not given it is told what it needs', async () => {
  const { results } = await run((imports) => imports['wasi:io/streams'], { options: {} });
  assert.match(results[0].error, /imports `wasi:io\/streams`, which this host does not hand out: give the plugin `wasi` of `windlass\/wasi`/);
  const unknown = await run((imports) => imports['wasi:http/types']);
  assert.match(unknown.results[0].error, /imports `wasi:http\/types`, which this host does not hand out$/);
});
