/** The view of a tree of files that a call was granted (`windlass:host/filesystem`). Thrown texts are the cases of `error-code`. */
import { absolute, byName, childOf, guestPath, isIn, namesOf, parentOf } from './file-path.js';
import { isDirectory, statOf } from './file-tree.js';
import { HandledFiles } from './handled-files.js';
import { Grant, digest } from './wasm.js';

/** Bytes that one read hands out at most, as in the native host. */
const MAX_READ = 16 * 1024 * 1024;
/** Entries in one page of a listing. */
const PAGE_ENTRIES = 1000;

/**
 * What a call sees: the imports of the interface `windlass:host/filesystem`.
 *
 * @param {object} tree `find(path)` gives a node, `content(path, node)` its bytes and `entries(path, node)` what is in a directory;
 *   `write(path, data)`, `createDirectory(path)` and `remove(path)` change it. All are called only where the view allows it
 * @param {{ cwd: string, roots: { path: string, access: string }[], deny: object[] }} grant
 * @param {() => void} [count] called before everything that is asked of it; may throw
 * @param {{ view?: View }} [lasting] of an instance that is kept: a directory that it has from an earlier call is looked up in what the
 *   present one was granted
 * @param {HandledFiles} [handled] remembers what the call reads and writes
 */
export function filesystemOf(tree, grant, count = () => {}, lasting = {}, handled = new HandledFiles()) {
  const view = new View(tree, grant, count, lasting, handled);
  lasting.view = view;
  return {
    Directory,
    roots: () => view.roots(),
    workingDirectory: () => view.workingDirectory(),
  };
}

/** A grant with its roots in one spelling; one that cannot be enforced as it is written grants nothing. */
export function checkedGrant(grant) {
  const roots = grant.roots.map(({ path, access }) => {
    if (!path.startsWith('/') || namesOf(path).includes('..')) {
      throw new Error(`the granted root \`${path}\` is not an absolute path: grant the real path of a directory or file`);
    }
    return { path: absolute('/', path), access };
  });
  return { ...grant, roots, deny: grant.deny.map(anchored) };
}

/** A pattern that is a name alone means that name everywhere. */
function anchored({ pattern, access }) {
  const body = pattern.replace(/\/+$/, '');
  return { pattern: body.includes('/') ? pattern : `**/${body}`, access };
}

/** The files one call may touch. */
class View {
  #tree;
  #lasting;
  #handled;
  #cwd;
  #rules;
  /** The roots that no pattern closes. */
  #roots;
  /** What the rules said of paths: for one call they stay as they are. */
  #accesses = new Map();

  constructor(tree, given, count, lasting, handled) {
    const grant = checkedGrant(given);
    this.#lasting = lasting;
    this.#handled = handled;
    this.#tree = tree;
    this.#cwd = grant.cwd;
    /** Called before everything that is asked of the view; it may throw. */
    this.count = count;
    this.#rules = new Grant(JSON.stringify(grant));
    this.#roots = grant.roots.filter(({ path }) => this.#rules.access(path));
  }

  workingDirectory() {
    this.count();
    return this.#cwd;
  }

  /** A granted file, or one that does not exist yet, shows as its nearest directory with nothing but it in there. */
  roots() {
    this.count();
    const roots = new Map();
    for (const { path, access } of this.#roots) {
      let directory = path;
      for (let node = this.#node(directory); !node || !isDirectory(node); node = this.#node(directory)) {
        directory = parentOf(directory);
      }
      const known = roots.get(directory);
      if (known && (known.access === 'write' || access === 'read')) continue;
      roots.set(directory, { path: directory, access, directory: new Directory(this.#lasting, directory) });
    }
    return [...roots.values()];
  }

  stat(at) {
    const { kind, size, modified } = statOf(this.#visible(at));
    return { kind, size, modified };
  }

  read(at, offset, max) {
    if (!Number.isSafeInteger(offset) || offset < 0) throw 'invalid';
    const node = this.#visible(at);
    if (isDirectory(node)) throw 'is-directory';
    if (Math.min(max, node.size - offset) > MAX_READ) throw 'too-large';
    // Nothing is read to learn that there is nothing.
    const isNone = max === 0 || offset >= node.size;
    const bytes = isNone ? new Uint8Array() : this.#tree.content(at.path, node).slice(offset, offset + max);
    // To ask for nothing, or for what is behind the end, is not to read. An empty file is read by finding that out.
    if (bytes.length > 0 || (offset === 0 && max > 0)) this.#handled.add(at.path);
    return bytes;
  }

  list(at, cursor = 0, details) {
    const node = this.#visible(at);
    if (!isDirectory(node)) throw 'not-directory';
    const shown = ([name, child]) => this.#shows(childOf(at.path, name), child);
    const all = [...this.#tree.entries(at.path, node)].filter(shown).sort(([a], [b]) => byName(a, b));
    const entries = all.slice(cursor, cursor + PAGE_ENTRIES).map(([name, child]) => {
      const { kind, size, modified } = statOf(child);
      return { name, kind, size: details ? size : 0, modified: details ? modified : 0 };
    });
    const next = cursor + PAGE_ENTRIES;
    return { entries, next: next < all.length ? next : undefined };
  }

  write(at, data, { expectedDigest, createNew, createParents }) {
    const { path, isBase, wantsDirectory } = at;
    if (isBase) throw createNew ? 'invalid' : 'is-directory';
    this.#enter(at, createParents);
    const existing = this.#node(path);
    if (existing && createNew) throw this.#access(path) === 'write' ? 'exists' : this.#refusal(path);
    if (existing && isDirectory(existing)) throw 'is-directory';
    if (wantsDirectory) throw existing ? 'not-directory' : 'not-found';
    if (this.#access(path) !== 'write') throw this.#refusal(path);
    const isExpected = () => existing && digest(this.#tree.content(path, existing)) === expectedDigest;
    if (expectedDigest !== undefined && !isExpected()) throw 'changed';
    this.#tree.write(path, Uint8Array.from(data));
    this.#handled.add(path);
  }

  mayWrite({ path }) {
    if (this.#access(path) !== 'write') throw this.#refusal(path);
  }

  createDirectory(at) {
    const { path, isBase } = at;
    if (isBase) throw 'invalid';
    this.#enter(at, false);
    if (!this.#mayMake(path)) throw this.#refusal(path);
    if (this.#node(path)) throw 'exists';
    this.#tree.createDirectory(path);
  }

  remove(at) {
    const { path, isBase, wantsDirectory } = at;
    if (isBase) throw 'invalid';
    this.#enter(at, false);
    const existing = this.#node(path);
    if (!existing) throw 'not-found';
    if (this.#access(path) !== 'write') throw this.#refusal(path);
    if (wantsDirectory && !isDirectory(existing)) throw 'not-directory';
    if (isDirectory(existing) && this.#tree.entries(path, existing).size > 0) throw 'exists';
    this.#tree.remove(path);
  }

  /** What stands at a path that is granted or on the way there; what else there is is not even looked for. */
  #node(path) {
    return this.#access(path) && this.#tree.find(path);
  }

  /** `read` or `write`; `transit` for a directory on the way to something granted; else nothing. */
  #access(path) {
    if (!this.#accesses.has(path)) {
      const isOnTheWay = () => this.#roots.some((root) => root.path !== path && isIn(root.path, path));
      this.#accesses.set(path, this.#rules.access(path) ?? (isOnTheWay() ? 'transit' : undefined));
    }
    return this.#accesses.get(path);
  }

  /** Whether a name is in a listing. What is on the way to something granted is there as a directory only. */
  #shows(path, node) {
    const access = this.#access(path);
    return access !== undefined && (access !== 'transit' || isDirectory(node));
  }

  /** What stands at a path; denied and missing look alike. */
  #visible({ path, wantsDirectory }) {
    const node = this.#node(path);
    if (node && this.#shows(path, node)) {
      if (wantsDirectory && !isDirectory(node)) throw 'not-directory';
      return node;
    }
    throw this.#isBelowFile(path) ? 'not-directory' : 'not-found';
  }

  #isBelowFile(path) {
    for (let above = parentOf(path); above !== '/'; above = parentOf(above)) {
      const node = this.#node(above);
      if (node) return !isDirectory(node);
    }
    return false;
  }

  /** Goes to where a name is to be changed: to its directory, which is there or may be made. */
  #enter({ path }, createParents) {
    if (!this.#access(path)) throw this.#isBelowFile(path) ? 'not-directory' : 'not-found';
    for (let above = parentOf(path); ; above = parentOf(above)) {
      const node = this.#node(above);
      if (node && isDirectory(node)) return;
      if (node) throw 'not-directory';
      if (!createParents || !this.#mayMake(above)) throw 'not-found';
    }
  }

  /** Whether a directory may be made here: where writing is granted, and on the way to such a place. */
  #mayMake(path) {
    const leadsThere = (root) => isIn(root.path, path) && this.#rules.access(root.path) === 'write';
    return this.#access(path) === 'write' || this.#roots.some(leadsThere);
  }

  /** Why nothing is changed at a path where writing is not granted. */
  #refusal(path) {
    return this.#access(path) === 'read' ? 'read-only' : 'not-found';
  }
}

/** The resource `directory`: a capability to one tree, for one call. */
class Directory {
  #lasting;
  #path;

  constructor(lasting, path) {
    this.#lasting = lasting;
    this.#path = path;
  }

  /** That of the present call. */
  get #view() {
    return this.#lasting.view;
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

  /** Refuses where a file that is there may not be written. It is no function of the interface: WASI asks it. */
  mayWrite(path) {
    this.#view.mayWrite(this.#at(path));
  }

  /** Where a path in this tree, which it must not leave, leads. */
  #at(text) {
    this.#view.count();
    const { names, wantsDirectory } = guestPath(text);
    const path = names.reduce(childOf, this.#path);
    return { path, isBase: names.length === 0, wantsDirectory };
  }
}
