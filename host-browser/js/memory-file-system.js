/** A directory tree in memory, and the view of it that a tool call was granted (`windlass:host/filesystem`). */
import { absolute } from './host.js';
import { Grant, digest } from './wasm.js';

/** Bytes that one read hands out at most, as in the native host. */
const MAX_READ = 16 * 1024 * 1024;
/** Entries in one page of a listing. */
const PAGE_ENTRIES = 1000;

/** Ways in for the view of a call, closed to everybody else. */
const FIND = Symbol('find');
const PUT = Symbol('put');
const MAKE_DIRECTORY = Symbol('makeDirectory');
const REMOVE = Symbol('remove');

/** A node is a file (`{ data, modified }`) or a directory (`{ entries, modified }`). */
const isDirectory = (node) => node.entries !== undefined;

export class MemoryFileSystem {
  #root;
  #clock;

  /**
   * @param {{ files?: Record<string, string | Uint8Array>, clock?: { wall(): number } }} [options]
   *   `files`: contents by absolute path
   */
  constructor({ files = {}, clock = { wall: () => Date.now() } } = {}) {
    this.#clock = clock;
    this.#root = { entries: new Map(), modified: clock.wall() };
    for (const [path, content] of Object.entries(files)) this.writeFile(path, content);
  }

  /**
   * Puts a file in place, with the directories it needs.
   * @param {string} path absolute
   * @param {string | Uint8Array} content
   * @param {{ modified?: number }} [options] milliseconds since 1970; now, if left out
   */
  writeFile(path, content, { modified = this.#clock.wall() } = {}) {
    const { parent, name } = this.#makeParents(absolute('/', path), modified);
    const existing = parent.entries.get(name);
    if (name === '' || (existing && isDirectory(existing))) throw new Error(`${path} is a directory`);
    const data = typeof content === 'string' ? new TextEncoder().encode(content) : Uint8Array.from(content);
    parent.entries.set(name, { data, modified });
  }

  /** The content of a file; `undefined` when there is none. */
  readFile(path) {
    const node = this.#find(absolute('/', path));
    return node && !isDirectory(node) ? node.data.slice() : undefined;
  }

  /** The content of a file as text; `undefined` when there is none. */
  readText(path) {
    const data = this.readFile(path);
    return data && new TextDecoder().decode(data);
  }

  /** The absolute paths of all files, sorted. */
  paths() {
    const found = [];
    const walk = (node, path) => {
      for (const [name, child] of node.entries) {
        if (isDirectory(child)) walk(child, `${path}/${name}`);
        else found.push(`${path}/${name}`);
      }
    };
    walk(this.#root, '');
    return found.sort(byName);
  }

  /**
   * What a call sees: the imports of the interface `windlass:host/filesystem`.
   * @param {{ cwd: string, roots: { path: string, access: string }[], deny: object[] }} grant
   * @param {() => void} [count] called before everything that is asked of it; may throw
   */
  granted(grant, count = () => {}) {
    const view = new View(this, grant, count);
    return {
      Directory,
      roots: () => view.roots(),
      workingDirectory: () => view.workingDirectory(),
    };
  }

  /** @private */
  [FIND](path) {
    return this.#find(path);
  }

  /** @private */
  [PUT](path, data) {
    const { parent, name } = this.#makeParents(path, this.#clock.wall());
    parent.entries.set(name, { data, modified: this.#clock.wall() });
    parent.modified = this.#clock.wall();
  }

  /** @private */
  [MAKE_DIRECTORY](path) {
    const { parent, name } = this.#makeParents(path, this.#clock.wall());
    parent.entries.set(name, { entries: new Map(), modified: this.#clock.wall() });
  }

  /** @private */
  [REMOVE](path) {
    const { parent, name } = this.#makeParents(path, this.#clock.wall());
    parent.entries.delete(name);
    parent.modified = this.#clock.wall();
  }

  #find(path) {
    let node = this.#root;
    for (const name of namesOf(path)) {
      if (!isDirectory(node)) return undefined;
      node = node.entries.get(name);
      if (!node) return undefined;
    }
    return node;
  }

  #makeParents(path, modified) {
    const names = namesOf(path);
    const name = names.pop() ?? '';
    let parent = this.#root;
    for (const step of names) {
      let next = parent.entries.get(step);
      if (!next) {
        next = { entries: new Map(), modified };
        parent.entries.set(step, next);
      }
      if (!isDirectory(next)) throw new Error(`a part of ${path} is a file`);
      parent = next;
    }
    return { parent, name };
  }
}

/** The files one call may touch. Thrown strings are the cases of `error-code`. */
class View {
  #files;
  #grant;
  #rules;

  constructor(files, grant, count) {
    this.#files = files;
    this.#grant = grant;
    /** Called before everything that is asked of the view; it may throw. */
    this.count = count;
    this.#rules = new Grant(JSON.stringify(grant));
  }

  workingDirectory() {
    this.count();
    return this.#grant.cwd;
  }

  /** A granted file, or one that does not exist yet, shows as its nearest directory with nothing but it in there. */
  roots() {
    this.count();
    const roots = new Map();
    for (const { path, access } of this.#grant.roots) {
      let directory = absolute('/', path);
      for (let node = this.#node(directory); !node || !isDirectory(node); node = this.#node(directory)) {
        directory = parentOf(directory);
      }
      const known = roots.get(directory);
      if (known && (known.access === 'write' || access === 'read')) continue;
      roots.set(directory, { path: directory, access, directory: new Directory(this, directory) });
    }
    return [...roots.values()];
  }

  stat(path) {
    const node = this.#visible(path);
    return {
      kind: isDirectory(node) ? 'directory' : 'file',
      size: isDirectory(node) ? 0 : node.data.length,
      modified: node.modified,
    };
  }

  read(path, offset, max) {
    if (!Number.isSafeInteger(offset) || offset < 0) throw 'invalid';
    if (max > MAX_READ) throw 'too-large';
    const node = this.#visible(path);
    if (isDirectory(node)) throw 'is-directory';
    return node.data.slice(offset, offset + max);
  }

  list(path, cursor = 0, details) {
    const node = this.#visible(path);
    if (!isDirectory(node)) throw 'not-directory';
    const base = path === '/' ? '' : path;
    const names = [...node.entries.keys()].filter((name) => this.#access(`${base}/${name}`)).sort(byName);
    const entries = names.slice(cursor, cursor + PAGE_ENTRIES).map((name) => {
      const { kind, size, modified } = this.stat(`${base}/${name}`);
      return { name, kind, size: details ? size : 0, modified: details ? modified : 0 };
    });
    const next = cursor + PAGE_ENTRIES;
    return { entries, next: next < names.length ? next : undefined };
  }

  write(path, data, { expectedDigest, createNew, createParents }) {
    const existing = this.#node(path);
    this.#mayWrite(path, existing);
    if (existing && isDirectory(existing)) throw 'is-directory';
    if (existing && createNew) throw 'exists';
    const changed = () => !existing || digest(existing.data) !== expectedDigest;
    if (expectedDigest !== undefined && changed()) throw 'changed';
    if (!existing) this.#mayCreateIn(parentOf(path), createParents);
    this.#files[PUT](path, Uint8Array.from(data));
  }

  createDirectory(path) {
    const existing = this.#node(path);
    this.#mayWrite(path, existing);
    if (existing) throw 'exists';
    this.#mayCreateIn(parentOf(path), false);
    this.#files[MAKE_DIRECTORY](path);
  }

  remove(path) {
    const existing = this.#node(path);
    this.#mayWrite(path, existing);
    if (!existing) throw 'not-found';
    if (isDirectory(existing) && existing.entries.size > 0) throw 'exists';
    this.#files[REMOVE](path);
  }

  #node(path) {
    return this.#files[FIND](path);
  }

  /** `read` or `write`; `transit` for a directory on the way to something granted; else nothing. */
  #access(path) {
    const below = path === '/' ? '/' : `${path}/`;
    const transit = () => (this.#grant.roots.some((root) => root.path.startsWith(below)) ? 'transit' : undefined);
    return this.#rules.access(path) ?? transit();
  }

  /** What stands at a path; denied and missing look alike. */
  #visible(path) {
    const node = this.#access(path) && this.#node(path);
    if (node) return node;
    throw this.#isBelowFile(path) ? 'not-directory' : 'not-found';
  }

  #isBelowFile(path) {
    for (let above = parentOf(path); above !== '/'; above = parentOf(above)) {
      const node = this.#access(above) && this.#node(above);
      if (node) return !isDirectory(node);
    }
    return false;
  }

  #mayWrite(path, existing) {
    const access = this.#access(path);
    if (access === 'write') return;
    if (access === 'read') throw 'read-only';
    throw access === 'transit' && existing ? 'is-directory' : 'not-found';
  }

  #mayCreateIn(parent, createParents) {
    const node = this.#node(parent);
    if (node && !isDirectory(node)) throw 'not-directory';
    if (this.#isBelowFile(parent)) throw 'not-directory';
    if (!node && !createParents) throw 'not-found';
  }
}

/** The resource `directory`: a capability to one tree, for one call. */
class Directory {
  #view;
  #path;

  constructor(view, path) {
    this.#view = view;
    this.#path = path;
  }

  stat(path) {
    return this.#view.stat(this.#at(path));
  }

  read(path, offset, max) {
    return this.#view.read(this.#at(path), offset, max);
  }

  list(path, cursor, details) {
    return this.#view.list(this.#at(path), cursor, details);
  }

  write(path, data, options) {
    this.#view.write(this.#at(path), data, options);
  }

  createDirectory(path) {
    this.#view.createDirectory(this.#at(path));
  }

  remove(path) {
    this.#view.remove(this.#at(path));
  }

  /** The absolute form of a path in this tree, which it must not leave. */
  #at(path) {
    this.#view.count();
    if (path.includes('\0')) throw 'invalid';
    if (path.startsWith('/') || path.split('/').includes('..')) throw 'not-found';
    return absolute(this.#path, path);
  }
}

function namesOf(path) {
  return path.split('/').filter((name) => name !== '');
}

function parentOf(path) {
  return path.slice(0, path.lastIndexOf('/')) || '/';
}

/** By code points, which is the order of the UTF-8 bytes; JavaScript itself compares UTF-16. */
function byName(a, b) {
  const [left, right] = [[...a], [...b]];
  for (let i = 0; i < left.length && i < right.length; i += 1) {
    const difference = left[i].codePointAt(0) - right[i].codePointAt(0);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}
