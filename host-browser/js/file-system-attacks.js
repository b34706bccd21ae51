/**
 * What components reach in a file system: pairs of a promise and a check, as in `file-system-contract.js`. These are the attacks on
 * the native host (`host-native/tests/resolver.rs`), as far as there are no links, pipes and modes of files in these file systems.
 */
import { runOnFiles } from './call-files.js';
import { rejected, same } from './check-expectations.js';
import { LOOK_ALIKES, SPELLINGS } from './disguised-paths.js';
import { digest } from './wasm.js';

const bytes = (text) => new TextEncoder().encode(text);
const NEW = { createNew: true, createParents: false };
const OVER = { createNew: false, createParents: false };
const DEEP = { createNew: false, createParents: true };

/** `/w` is granted in most checks, `/outside` is not. */
async function filled(files, more = {}) {
  const contents = { '/w/ok': 'inside', '/w/sub/deep': 'deep', '/outside/secret': 'SECRET', ...more };
  const directories = new Set();
  for (const path of Object.keys(contents)) {
    const names = path.split('/').slice(1, -1);
    names.forEach((_, index) => directories.add(`/${names.slice(0, index + 1).join('/')}`));
  }
  await files.change([
    ...[...directories].map((path) => ({ type: 'createDirectory', path })),
    ...Object.entries(contents).map(([path, text]) => ({ type: 'write', path, content: bytes(text) })),
  ]);
}

async function textOf(files, path) {
  const found = await files.read(path);
  return found && new TextDecoder().decode(found.content);
}

/** Runs something as a component that was granted this: it gets the roots. */
function granted(files, roots, deny, run) {
  const grant = {
    cwd: '/w',
    roots: Object.entries(roots).map(([path, access]) => ({ path, access })),
    deny: Object.entries(deny).map(([pattern, access]) => ({ pattern, access })),
  };
  return runOnFiles(files, grant, undefined, ({ filesystem }) => run(filesystem().roots().map(usable)));
}

/** A root whose functions give the case of an error as a text in `error: …`. What is no such case ends the attempt. */
function usable({ path, access, directory }) {
  const told = (work) => {
    try {
      return work() ?? 'done';
    } catch (error) {
      if (typeof error !== 'string') throw error;
      return `error: ${error}`;
    }
  };
  return {
    path,
    access,
    read: (at, offset = 0, max = 1 << 20) => told(() => new TextDecoder().decode(directory.read(at, offset, max))),
    length: (at, offset, max) => told(() => directory.read(at, offset, max).length),
    stat: (at) => told(() => directory.stat(at).kind),
    names: (at) => told(() => directory.list(at, undefined, false).entries.map(({ name }) => name)),
    page: (at, cursor) => told(() => directory.list(at, cursor, true)),
    write: (at, options = OVER, text = 'EVIL') => told(() => directory.write(at, bytes(text), options)),
    make: (at) => told(() => directory.createDirectory(at)),
    remove: (at) => told(() => directory.remove(at)),
  };
}

/** Does what a file system may refuse, because it cannot have files of such names. */
async function tried(work) {
  try {
    await work();
  } catch (error) {
    if (error.kind !== 'refused' && error.kind !== 'changed') throw error;
  }
}

/** Everything that can be tried at a path. */
function everything(root, at) {
  return {
    read: root.read(at),
    list: root.names(at),
    stat: root.stat(at),
    write: root.write(at),
    'write anew': root.write(at, NEW),
    'write below': root.write(`${at}/made/here`, DEEP),
    'make a directory': root.make(at),
    remove: root.remove(at),
  };
}

function isError(said) {
  return typeof said === 'string' && said.startsWith('error: ');
}

const W = { '/w': 'write' };

export const ATTACKS = [
  [
    'what was granted can be used',
    async (files) => {
      await filled(files);
      await granted(files, W, {}, ([w]) => {
        same([w.read('ok'), w.read('./sub//deep'), w.names(''), w.names('.')], ['inside', 'deep', ['ok', 'sub'], ['ok', 'sub']], 'what is there');
        same([w.make('new/'), w.write('new/file'), w.read('new/file')], ['done', 'done', 'EVIL'], 'what is made');
        same([w.write('gone'), w.remove('gone'), w.make('none'), w.remove('none')], ['done', 'done', 'done', 'done'], 'what is removed');
        same([w.write('a/b/c', DEEP), w.write('ok', OVER, ''), w.names('')], ['done', 'done', ['a', 'new', 'ok', 'sub']], 'what is there then');
      });
      same([await textOf(files, '/w/new/file'), await textOf(files, '/w/a/b/c'), await textOf(files, '/w/ok')], ['EVIL', 'EVIL', ''], 'the files');
      same([await files.stat('/w/gone'), await files.stat('/w/none')], [null, null], 'what was removed');
    },
  ],
  [
    'what a call changed is what it sees from then on',
    async (files) => {
      await filled(files);
      await granted(files, W, {}, ([w]) => {
        same([w.remove('ok'), w.read('ok'), w.stat('ok'), w.names('')], ['done', 'error: not-found', 'error: not-found', ['sub']], 'what was removed');
        same([w.write('ok', NEW, 'again'), w.write('ok', OVER, 'twice'), w.read('ok')], ['done', 'done', 'twice'], 'what was made again');
        same([w.remove('sub/deep'), w.remove('sub'), w.write('sub'), w.read('sub')], ['done', 'done', 'done', 'EVIL'], 'a file in the place of a directory');
        same([w.remove('sub'), w.write('sub/a', DEEP), w.names('sub')], ['done', 'done', ['a']], 'and a directory again');
      });
      same([await textOf(files, '/w/ok'), await textOf(files, '/w/sub/a'), await files.stat('/w/sub/deep')], ['twice', 'EVIL', null], 'the files');
    },
  ],
  [
    'no path leads out of a root',
    async (files) => {
      await filled(files);
      const up = ['..', '../outside/secret', 'sub/../../outside/secret', './../outside/secret', 'sub/..', '../w/ok', 'sub/../ok'];
      const absolute = ['/', '/outside/secret', '/w/ok', '//outside/secret', '/../outside/secret'];
      for (const path of [...up, ...absolute]) {
        await granted(files, W, {}, ([w]) => {
          for (const [what, said] of Object.entries(everything(w, path))) same(said, 'error: not-found', `${what} ${path}`);
        });
      }
      for (const path of LOOK_ALIKES) {
        await granted(files, W, {}, ([w]) => same([w.read(path), w.names(path), w.stat(path)].every(isError), true, path));
        await tried(() => granted(files, W, {}, ([w]) => w.write(path, DEEP)));
      }
      same([await textOf(files, '/outside/secret'), (await files.list('/outside')).length], ['SECRET', 1], 'what is outside');
      same((await files.list('/')).map(({ name }) => name).sort(), ['outside', 'w'], 'what is beside it');
    },
  ],
  [
    'what leads out looks like what is missing',
    async (files) => {
      await filled(files);
      await granted(files, { '/w': 'read' }, { '/w/ok': 'read' }, ([w]) => {
        for (const path of ['ok', 'missing', '../outside/secret', '/outside/secret']) same(w.read(path), 'error: not-found', path);
      });
    },
  ],
  [
    'a root to be read refuses every form of writing',
    async (files) => {
      await filled(files);
      await files.change([{ type: 'createDirectory', path: '/w/empty' }]);
      await granted(files, { '/w': 'read' }, {}, ([w]) => {
        for (const path of ['ok', 'new', 'sub/new', 'sub/deep']) {
          same([w.write(path), w.write(path, OVER, '')], ['error: read-only', 'error: read-only'], path);
          same([w.write(path, NEW), w.write(path, DEEP), w.make(path)].every(isError), true, path);
        }
        for (const path of ['ok', 'empty', 'sub/deep']) same(w.remove(path), 'error: read-only', path);
        same(w.write('a/b/c', DEEP), 'error: not-found', 'making directories');
        same(w.names(''), ['empty', 'ok', 'sub'], 'the list');
      });
      same(await textOf(files, '/w/ok'), 'inside', 'the content');
    },
  ],
  [
    'a root to be read stays so beside one to be written',
    async (files) => {
      await filled(files, { '/rw/file': 'mine' });
      await granted(files, { '/w': 'read', '/rw': 'write' }, {}, ([w, rw]) => {
        same([w.path, w.access, rw.path, rw.access], ['/w', 'read', '/rw', 'write'], 'the roots');
        same([w.write('ok'), rw.write('../w/ok'), rw.write('../w/new', DEEP)], ['error: read-only', 'error: not-found', 'error: not-found'], 'writing across');
        same(rw.write('file', OVER, 'yours'), 'done', 'writing what may be written');
      });
      same([await textOf(files, '/w/ok'), await textOf(files, '/rw/file')], ['inside', 'yours'], 'the files');
    },
  ],
  [
    'a root to be written in one to be read is the only place to write',
    async (files) => {
      await filled(files);
      await granted(files, { '/w': 'read', '/w/sub': 'write' }, {}, ([w, sub]) => {
        same([w.remove(''), sub.remove(''), sub.make('')], ['error: invalid', 'error: invalid', 'error: invalid'], 'changing a root itself');
        same([w.write('ok'), w.remove('ok')], ['error: read-only', 'error: read-only'], 'writing beside it');
        same([w.write('sub/deep', OVER, 'x'), sub.write('deep', OVER, 'y')], ['done', 'done'], 'writing in it');
      });
      same(await textOf(files, '/w/sub/deep'), 'y', 'the content');
    },
  ],
  [
    'what a rule closes is hidden and out of reach',
    async (files) => {
      await filled(files, { '/w/.env': 'KEY=1', '/w/sub/.env': 'KEY=2', '/w/secrets/deep/key': 'KEY=3', '/w/server.pem': 'KEY=4' });
      const closed = { '/w/**/.env': 'read', '/w/secrets': 'read', '*.pem': 'read' };
      await granted(files, W, closed, ([w]) => {
        for (const path of ['.env', 'sub/.env', 'secrets', 'secrets/deep/key', './.env', '.env/', 'server.pem', 'secrets/new']) {
          for (const [what, said] of Object.entries(everything(w, path))) same(isError(said), true, `${what} ${path}`);
          same([w.read(path), w.stat(path)], ['error: not-found', 'error: not-found'], path);
        }
        same([w.remove('.env'), w.make('x/.env'), w.names(''), w.names('sub')], ['error: not-found', 'error: not-found', ['ok', 'sub'], ['deep']], 'the rest');
      });
      same([await textOf(files, '/w/.env'), await textOf(files, '/w/secrets/deep/key')], ['KEY=1', 'KEY=3'], 'what is closed');
    },
  ],
  [
    'no spelling of a closed name reaches the closed file',
    async (files) => {
      await filled(files, { '/w/.env': 'KEY=1' });
      for (const path of SPELLINGS) {
        await granted(files, W, { '/w/**/.env': 'read' }, ([w]) => {
          same([w.read(path), w.names(path), w.stat(path)].every(isError), true, path);
        });
        // It may be made or not, what is closed stays as it is.
        await tried(() => granted(files, W, { '/w/**/.env': 'read' }, ([w]) => [w.write(path), w.remove(path)]));
        same(await textOf(files, '/w/.env'), 'KEY=1', path);
      }
    },
  ],
  [
    'twenty thousand rules hold',
    async (files) => {
      await filled(files, { '/w/a19999': 'x', '/w/b19999x': 'x' });
      const rules = Array.from({ length: 20_000 }, (_, n) => [n % 2 === 0 ? `/w/b${n + 1}*` : `/w/a${n}`, 'read']);
      await granted(files, W, Object.fromEntries(rules), ([w]) => {
        same([w.read('ok'), w.read('a19999'), w.read('b19999x')], ['inside', 'error: not-found', 'error: not-found'], 'the files');
      });
    },
  ],
  [
    'a rule against writing leaves reading',
    async (files) => {
      await filled(files);
      await granted(files, W, { '/w/sub': 'write', '/w/*.lock': 'write' }, ([w]) => {
        same(w.read('sub/deep'), 'deep', 'the content');
        for (const path of ['sub/deep', 'sub/new', 'Cargo.lock']) same(w.write(path), 'error: read-only', path);
        same([w.remove('sub/deep'), w.make('sub/x'), w.write('ok')], ['error: read-only', 'error: read-only', 'done'], 'the rest');
      });
    },
  ],
  [
    'a closed directory stays closed when a root lies in it',
    async (files) => {
      await filled(files);
      await granted(files, { '/w/sub': 'write' }, { '/w': 'read' }, (roots) => same(roots.length, 0, 'the number of roots'));
      await granted(files, { '/w/sub': 'write' }, { '/w': 'write' }, ([sub]) => {
        same([sub.read('deep'), sub.write('deep')], ['deep', 'error: read-only'], 'reading and writing');
      });
    },
  ],
  [
    'a root is granted however its slashes are written, and one that is no absolute path grants nothing',
    async (files) => {
      await filled(files);
      for (const root of ['/w/', '/w//', '/./w', '/w/.']) {
        await granted(files, { [root]: 'write' }, {}, ([w]) => same([w.read('ok'), w.write('sub/deep')], ['inside', 'done'], root));
      }
      for (const root of ['', 'w', '/w/../outside']) {
        await rejected((async () => granted(files, { [root]: 'write' }, {}, () => {}))(), `the root ${JSON.stringify(root)}`);
      }
    },
  ],
  [
    'a granted file is alone in its directory',
    async (files) => {
      await filled(files, { '/outside/other': 'no' });
      await granted(files, { '/outside/secret': 'read' }, {}, ([outside]) => {
        same([outside.path, outside.names(''), outside.read('secret')], ['/outside', ['secret'], 'SECRET'], 'the file');
        same([outside.read('other'), outside.stat('other'), outside.write('secret')], ['error: not-found', 'error: not-found', 'error: read-only'], 'the rest');
        same([outside.write('new'), outside.make('new'), outside.remove('other')].every(isError), true, 'changes beside it');
      });
    },
  ],
  [
    'a granted file that is not there can be made, and nothing else',
    async (files) => {
      await filled(files);
      await granted(files, { '/outside/a/b/new': 'write' }, {}, ([outside]) => {
        for (const path of ['other', 'a', 'a/b', 'a/other', 'a/b/other', 'secret']) same(isError(outside.write(path, DEEP)), true, path);
        same([outside.write('a/b/new', DEEP, 'made'), outside.names(''), isError(outside.remove('a'))], ['done', ['a'], true], 'the file');
      });
      same([await textOf(files, '/outside/a/b/new'), await textOf(files, '/outside/secret')], ['made', 'SECRET'], 'the files');
    },
  ],
  [
    'what is on the way to a granted file is there as a directory only',
    async (files) => {
      await filled(files);
      await granted(files, { '/w/ok/below': 'write' }, {}, ([w]) => {
        same([w.path, w.names(''), w.read('ok'), w.stat('ok')], ['/w', [], 'error: not-found', 'error: not-found'], 'a file on the way');
        same([w.write('ok'), w.write('ok/below', DEEP), w.remove('ok')].every(isError), true, 'changing it');
      });
      same(await textOf(files, '/w/ok'), 'inside', 'the content');
    },
  ],
  [
    'a file to be written in a directory to be read is made with its directories, and nothing else',
    async (files) => {
      await filled(files);
      await granted(files, { '/w': 'read', '/w/a/b/new': 'write' }, {}, ([w]) => {
        same([w.write('a/other', DEEP), w.write('a/b', DEEP), w.make('sub/x'), w.make('b')], Array(4).fill('error: read-only'), 'the rest');
        same([w.write('a/b/new', DEEP), w.remove('a/b'), w.remove('a/b/new')], ['done', 'error: read-only', 'done'], 'the file');
      });
      await granted(files, { '/w': 'read', '/w/frozen/a/new': 'write' }, { '/w/frozen': 'write' }, ([w]) => {
        same(isError(w.write('frozen/a/new', DEEP)) && isError(w.make('frozen')), true, 'where a rule forbids it');
      });
      same((await files.list('/w')).map(({ name }) => name).sort(), ['a', 'ok', 'sub'], 'the directories');
    },
  ],
  [
    'malformed paths are refused',
    async (files) => {
      await filled(files);
      const invalid = ['a\0b', 'ok\0', 'x'.repeat(256), 'ä'.repeat(128), 'x/'.repeat(3000), 'x/'.repeat(257), `${'x'.repeat(200)}/`.repeat(21)];
      await granted(files, W, {}, ([w]) => {
        for (const path of invalid) {
          for (const [what, said] of Object.entries(everything(w, path))) same(said, 'error: invalid', `${what} ${JSON.stringify(path.slice(0, 9))}`);
        }
        same([w.read(''), w.write(''), w.read('sub'), w.write('sub')], Array(4).fill('error: is-directory'), 'directories');
        same([w.read('ok/'), w.read('ok/x'), w.names('ok'), w.stat('ok/.'), w.remove('ok/')], Array(5).fill('error: not-directory'), 'files as directories');
        same([w.write('ok/x'), w.write('ok/x/y', DEEP), w.make('ok/x')].every(isError), true, 'below a file');
        same([w.remove('sub'), w.make('sub'), w.make('ok')], ['error: exists', 'error: exists', 'error: exists'], 'what is there');
        same([w.remove('no'), w.write('no/x'), w.make('no/x')], ['error: not-found', 'error: not-found', 'error: not-found'], 'what is not there');
      });
    },
  ],
  [
    'a write keeps to its conditions',
    async (files) => {
      await filled(files);
      const expecting = (text) => ({ ...OVER, expectedDigest: digest(bytes(text)) });
      await granted(files, W, {}, ([w]) => {
        same([w.write('ok', expecting('other')), w.write('missing', expecting(''))], ['error: changed', 'error: changed'], 'another content');
        same([w.write('ok', NEW), w.write('sub', NEW), w.write('fresh', NEW)], ['error: exists', 'error: exists', 'done'], 'new files');
        same([w.write('ok', expecting('inside'), 'new'), w.read('ok')], ['done', 'new'], 'the content that was expected');
      });
      same([await textOf(files, '/w/ok'), await textOf(files, '/w/fresh')], ['new', 'EVIL'], 'the files');
    },
  ],
  [
    'files are read in parts, and no part is too large',
    async (files) => {
      await filled(files, { '/w/parts': '0123456789', '/w/large': 'x'.repeat((16 << 20) + 1) });
      await granted(files, W, {}, ([w]) => {
        same([w.read('parts', 0, 4), w.read('parts', 4, 99), w.read('parts', 10, 4), w.read('parts', 99, 4)], ['0123', '456789', '', ''], 'the parts');
        same([w.read('parts', -1, 4), w.read('parts', 0.5, 4), w.read('parts', 2 ** 53, 4)], Array(3).fill('error: invalid'), 'numbers that are no offset');
        same([w.length('large', 0, 2 ** 32 - 1), w.length('large', 0, 16 << 20), w.length('large', 16 << 20, 9)], ['error: too-large', 16 << 20, 1], 'a large file');
      });
    },
  ],
  [
    'listings come sorted, in pages',
    async (files) => {
      const names = ['\uff5a', '\u{1f600}', ...Array.from({ length: 1100 }, (_, n) => `${n}`)];
      await filled(files, Object.fromEntries(names.map((name) => [`/w/many/${name}`, 'x'])));
      await granted(files, W, {}, ([w]) => {
        const first = w.page('many', undefined);
        const second = w.page('many', first.next);
        const all = [...first.entries, ...second.entries];
        same([all.length, first.entries.length, second.next], [1102, 1000, undefined], 'the numbers of entries');
        same(all.slice(-2).map(({ name }) => name), ['\uff5a', '\u{1f600}'], 'the last ones, by code points');
        same(all.every(({ size, kind }) => size === 1 && kind === 'file'), true, 'the details');
        same(w.page('many', 99_999), { entries: [] }, 'a page behind the end');
      });
    },
  ],
];
