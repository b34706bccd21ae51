/**
 * The contract of `FileSystem` itself: pairs of a promise and a check, which gets an empty file system and a function that opens
 * another one over it.
 */
import { rejected, same } from './check-expectations.js';

const bytes = (text) => new TextEncoder().encode(text);
const write = (path, text, replaces) => ({ type: 'write', path, content: bytes(text), ...(replaces === undefined ? {} : { replaces }) });
const make = (path) => ({ type: 'createDirectory', path });
const remove = (path) => ({ type: 'remove', path });

async function textOf(files, path) {
  const found = await files.read(path);
  return found && new TextDecoder().decode(found.content);
}

async function namesIn(files, path) {
  return (await files.list(path))?.map(({ name }) => name).sort();
}

/** Names that are harmless, although they do not look so. */
const STRANGE_NAMES = [
  ...['a b', '..a', '...', '-rf', '%2e%2e', '{a,b}', '[x]', '~', '$HOME', 'constructor', '__proto__'],
  ...['ä', 'a\u0308', '\u{1f600}', '\uff0e\uff0e'],
];

export const CONTRACT = [
  [
    'an empty place is an empty directory',
    async (files) => {
      same((await files.stat('/'))?.kind, 'directory', 'the root');
      same(await files.list('/'), [], 'its list');
    },
  ],
  [
    'what was written is read, byte for byte, by others too',
    async (files, open) => {
      const all = Uint8Array.from({ length: 70_000 }, (_, index) => index % 256);
      const none = new Uint8Array();
      await files.change([make('/d'), { type: 'write', path: '/d/all', content: all }, { type: 'write', path: '/none', content: none }]);
      for (const reader of [files, await open()]) {
        same([...(await reader.read('/d/all')).content].join(), [...all].join(), 'the content');
        same((await reader.read('/none')).content.length, 0, 'the length of an empty file');
        same(await namesIn(reader, '/'), ['d', 'none'], 'the list');
      }
    },
  ],
  [
    'a content that was given or taken can be changed without changing the file',
    async (files) => {
      const content = bytes('mine');
      await files.change([{ type: 'write', path: '/a', content }]);
      content.fill(0);
      (await files.read('/a')).content.fill(0);
      same(await textOf(files, '/a'), 'mine', 'the content');
    },
  ],
  [
    'stat, list and read say the same of a file',
    async (files) => {
      await files.change([write('/a', 'four')]);
      const { content, ...read } = await files.read('/a');
      const [{ name, ...listed }] = await files.list('/');
      const stat = await files.stat('/a');
      same([name, content.length, stat.kind, stat.size], ['a', 4, 'file', 4], 'name, length, kind and size');
      const keys = ['kind', 'size', 'modified', 'version'];
      for (const said of [read, listed]) same(keys.map((key) => said[key]), keys.map((key) => stat[key]), 'what is said');
      if (typeof stat.version !== 'string' || stat.version === '') throw new Error('the version of a file is no text');
      same((await files.stat('/')).version, '', 'the version of a directory');
    },
  ],
  [
    'what is not there is undefined',
    async (files) => {
      await files.change([write('/file', 'x'), make('/directory')]);
      const missing = ['/no', '/no/x', '/file/x', '/directory/x'];
      for (const path of missing) same([await files.stat(path), await files.list(path), await files.read(path)], [null, null, null], path);
      same([await files.list('/file'), await files.read('/directory')], [null, null], 'the list of a file and the content of a directory');
    },
  ],
  [
    'a path means what it says without . and .. and more slashes, and never what is above /',
    async (files) => {
      await files.change([make('/d'), write('/d/a', 'x')]);
      for (const path of ['/d//a', '/d/./a', '/d/../d/a', '/../d/a', '/d/a/']) same(await textOf(files, path), 'x', path);
      for (const path of ['/d/..', '/../..', '//']) same((await files.stat(path))?.kind, 'directory', path);
      await rejected(files.stat('/a\0b'), 'a NUL character');
    },
  ],
  [
    'the version of a file is another one after each change',
    async (files) => {
      const versions = [];
      for (const text of ['1', '2', '3', '1']) {
        await files.change([write('/a', text)]);
        versions.push((await files.stat('/a')).version);
      }
      for (let i = 1; i < versions.length; i += 1) if (versions[i] === versions[i - 1]) throw new Error(`${versions[i]} is there twice`);
    },
  ],
  [
    'what is not as it was expected is not changed, and nothing beside it',
    async (files) => {
      await files.change([write('/a', 'old', null), write('/b', 'old', null)]);
      const { version } = await files.stat('/a');
      await files.change([write('/a', 'new', version)]);
      await rejected(files.change([write('/b', 'lost'), write('/a', 'lost', version)]), 'a change of what was changed', 'changed');
      await rejected(files.change([write('/a', 'lost', null)]), 'a new file where one is', 'changed');
      await rejected(files.change([write('/c', 'lost', version)]), 'a change of what is not there', 'changed');
      await rejected(files.change([{ ...remove('/a'), replaces: version }]), 'removing what was changed', 'changed');
      same([await textOf(files, '/a'), await textOf(files, '/b'), await files.stat('/c')], ['new', 'old', null], 'the content');
    },
  ],
  [
    'of two changes of one version at the same time one is made',
    async (files, open) => {
      await files.change([write('/a', 'old')]);
      const { version } = await files.stat('/a');
      const others = [files, await open()];
      const done = await Promise.allSettled(others.map((one, index) => one.change([write('/a', `by ${index}`, version)])));
      const winners = done.flatMap(({ status }, index) => (status === 'fulfilled' ? [`by ${index}`] : []));
      same(winners.length, 1, 'the number of those that were made');
      same(await textOf(files, '/a'), winners[0], 'the content');
    },
  ],
  [
    'changes are made in their order, and a path can be changed twice',
    async (files) => {
      await files.change([write('/a', 'file')]);
      const { version: replaces } = await files.stat('/a');
      await files.change([{ ...remove('/a'), replaces }, make('/a'), write('/a/b', '1'), write('/a/b', '2'), make('/a/c'), remove('/a/c')]);
      same(await namesIn(files, '/a'), ['b'], 'the list');
      same(await textOf(files, '/a/b'), '2', 'the content');
    },
  ],
  [
    'what cannot be changed rejects, and what is there stays',
    async (files) => {
      await files.change([make('/d'), write('/d/a', 'x'), write('/f', 'x')]);
      await files.change([make('/d')]);
      for (const [what, change, kind] of [
        ['a file in no directory', write('/no/a', 'x'), 'missing'],
        ['a file below a file', write('/f/a', 'x'), 'missing'],
        ['a file in the place of a directory', write('/d', 'x'), 'exists'],
        ['a file in the place of the root', write('/', 'x')],
        ['a directory in the place of a file', make('/f'), 'exists'],
        ['a directory in no directory', make('/no/d'), 'missing'],
        ['removing what is not there', remove('/no'), 'missing'],
        ['removing a directory that is not empty', remove('/d'), 'not-empty'],
        ['removing the root', remove('/')],
        ['a change of no type', { type: 'rename', path: '/f' }],
      ]) {
        await rejected(files.change([change]), what, kind);
      }
      same([await namesIn(files, '/'), await namesIn(files, '/d'), await textOf(files, '/f')], [['d', 'f'], ['a'], 'x'], 'the files');
    },
  ],
  [
    'who reads during a change sees the old content or the new one',
    async (files, open) => {
      const contents = ['a', 'b'].map((letter) => letter.repeat(300_000));
      await files.change([write('/a', contents[0])]);
      const other = await open();
      let isDone = false;
      const changing = files.change([write('/a', contents[1])]).finally(() => {
        isDone = true;
      });
      while (!isDone) if (!contents.includes(await textOf(other, '/a'))) throw new Error('a part was seen');
      await changing;
      same(await textOf(other, '/a'), contents[1], 'the content in the end');
    },
  ],
  [
    'a name is there as it was written, or refused',
    async (files) => {
      const kept = [];
      for (const name of STRANGE_NAMES) {
        try {
          await files.change([write(`/${name}`, name, null)]);
          kept.push(name);
        } catch (error) {
          if (error.kind !== 'refused' && error.kind !== 'changed') throw error;
        }
      }
      same(await namesIn(files, '/'), [...kept].sort(), 'the list');
      for (const name of kept) same(await textOf(files, `/${name}`), name, `the content of ${name}`);
    },
  ],
  [
    'another spelling of a name is another file, or none',
    async (files) => {
      await files.change([make('/Dir'), write('/Dir/.env', 'closed')]);
      for (const path of ['/Dir/.ENV', '/dir/.env', '/Dir/.env.', '/Dir/.env ']) {
        same(await files.read(path), undefined, path);
        await files.change([write(path, 'other')]).catch(() => {});
        same(await textOf(files, '/Dir/.env'), 'closed', `the content after ${path} was written`);
      }
      await files.change([write('/Dir/one', 'first'), write('/Dir/ONE', 'second')]).catch(() => {});
      same(await textOf(files, '/Dir/one'), 'first', 'the content after two spellings were written at once');
    },
  ],
];
