/** The file system of a command: the files of the agent as far as the call was granted them, and what every shell has. */
import { InMemoryFs } from 'just-bash/browser';
import { absolute, byName, childOf, isIn, parentOf } from './file-path.js';
import { limitsOf } from './file-system.js';
import { checkedGrant } from './file-view.js';
import { fault, faultOf } from './shell-fault.js';
import { decoded, encoded } from './shell-text.js';
import { Grant } from './wasm.js';

/**
 * Directories that belong to the shell, whatever lies there in the files of the agent: a file that a model writes must not become the
 * program that a rule is about.
 */
const OWN = ['/bin', '/usr/bin', '/dev', '/proc'];

/** Milliseconds after which others come to their turn, such as whoever interrupts the command. */
const TURN_MS = 10;

/** Files have no modes in a page; so scripts can be run. */
const MODE = 0o755;

/** What `just-bash` takes as its file system. */
export class ShellFiles {
  #files;
  #grant;
  #rules;
  #signal;
  #most;
  #own = new InMemoryFs();
  #turnAt = performance.now() + TURN_MS;

  /**
   * @param {object} files a `FileSystem`
   * @param {{ cwd: string, roots: { path: string, access: string }[], deny: object[] }} given
   * @param {AbortSignal} signal when it has fired, nothing is read or changed any more
   */
  constructor(files, given, signal) {
    const grant = checkedGrant(given);
    const narrow = (root) => (files.access === 'read' ? { ...root, access: 'read' } : root);
    this.#files = files;
    this.#grant = { ...grant, roots: grant.roots.map(narrow) };
    this.#rules = new Grant(JSON.stringify(this.#grant));
    this.#signal = signal;
    this.#most = limitsOf(files).maxBytes;
    // The shell lays out what it has while it is made.
    this.mkdirSync = (...made) => this.#own.mkdirSync(...made);
    this.writeFileSync = (...written) => this.#own.writeFileSync(...written);
  }

  /** The shell is made: from now on only commands ask. */
  seal() {
    this.mkdirSync = undefined;
    this.writeFileSync = undefined;
  }

  /** Makes the working directory if there is none yet, so that a command has somewhere to begin. */
  async begin() {
    const { cwd } = this.#grant;
    if (this.#rules.access(cwd) !== 'write' || (await this.#node(cwd))) return;
    const missing = [];
    for (let path = cwd; path !== '/' && !(await this.#files.stat(path)); path = parentOf(path)) missing.unshift(path);
    await this.#change(missing.map((path) => ({ type: 'createDirectory', path })), 'mkdir', cwd);
  }

  async isDirectory(path) {
    return (await this.#node(absolute('/', path)))?.kind === 'directory';
  }

  /** Whether a later command may begin there. */
  mayWork(directory) {
    return !this.#isOwn(directory) && this.#rules.access(directory) !== undefined;
  }

  async readFile(path, options) {
    return decoded(await this.readFileBuffer(path), typeof options === 'string' ? options : options?.encoding);
  }

  async readFileBytes(path) {
    return decoded(await this.readFileBuffer(path), 'latin1');
  }

  async readFileBuffer(path) {
    const at = await this.#enter(path);
    if (this.#isOwn(at)) return this.#own.readFileBuffer(at);
    return (await this.#file(at, 'open')).content;
  }

  async writeFile(path, content, options) {
    const at = await this.#enter(path);
    const bytes = encoded(content, typeof options === 'string' ? options : options?.encoding);
    if (this.#isOwn(at)) return this.#writeOwn(at, bytes);
    return this.#write(at, bytes, 'open');
  }

  async appendFile(path, content, options) {
    const at = await this.#enter(path);
    const bytes = encoded(content, typeof options === 'string' ? options : options?.encoding);
    if (this.#isOwn(at)) return this.#writeOwn(at, bytes, true);
    const before = (await this.#node(at)) ? (await this.#file(at, 'open')).content : new Uint8Array();
    const joined = new Uint8Array(before.length + bytes.length);
    joined.set(before);
    joined.set(bytes, before.length);
    return this.#write(at, joined, 'open');
  }

  async exists(path) {
    // A name that no file can have is asked for like any other.
    const at = await this.#enter(path).catch(() => undefined);
    if (at === undefined) return false;
    return this.#isOwn(at) ? this.#own.exists(at) : (await this.#node(at)) !== undefined;
  }

  async stat(path) {
    const at = await this.#enter(path);
    if (this.#isOwn(at)) return this.#own.stat(at);
    const { kind, size, modified } = await this.#known(at, 'stat');
    const isDirectory = kind === 'directory';
    return { isFile: !isDirectory, isDirectory, isSymbolicLink: false, mode: MODE, size, mtime: new Date(modified) };
  }

  lstat(path) {
    return this.stat(path);
  }

  async mkdir(path, { recursive = false } = {}) {
    const at = await this.#enter(path);
    const found = await this.#node(at);
    if (found?.kind === 'directory' && recursive) return;
    if (found || this.#isOwn(at)) throw fault('EEXIST', 'mkdir', at);
    const missing = [at];
    for (let above = parentOf(at); !(await this.#node(above)); above = parentOf(above)) {
      if (!recursive) throw fault('ENOENT', 'mkdir', at);
      missing.unshift(above);
    }
    for (const each of missing) this.#mayWrite(each, 'mkdir');
    await this.#change(missing.map((each) => ({ type: 'createDirectory', path: each })), 'mkdir', at);
  }

  async readdir(path) {
    return (await this.readdirWithFileTypes(path)).map(({ name }) => name);
  }

  async readdirWithFileTypes(path) {
    const at = await this.#enter(path);
    if (this.#isOwn(at)) return this.#own.readdirWithFileTypes(at);
    const { kind } = await this.#known(at, 'scandir');
    if (kind !== 'directory') throw fault('ENOTDIR', 'scandir', at);
    const entries = await this.#visible(at);
    return entries.map(({ name, kind }) => ({ name, isFile: kind === 'file', isDirectory: kind === 'directory', isSymbolicLink: false }));
  }

  async rm(path, { recursive = false, force = false } = {}) {
    const at = await this.#enter(path);
    // What the shell made for itself, such as the ends of a process substitution.
    if (this.#isOwn(at)) return isIn(at, '/dev/fd') ? this.#own.rm(at, { recursive, force }) : refuse('rm', at);
    const node = await this.#node(at);
    if (!node && force) return undefined;
    const { kind } = node ?? (await this.#known(at, 'rm'));
    const all = kind === 'directory' ? await this.#all(at, 'rm') : [{ path: at, kind }];
    if (all.length > 1 && !recursive) throw fault('ENOTEMPTY', 'rm', at);
    for (const each of all) this.#mayWrite(each.path, 'rm');
    return this.#change(all.reverse().map((each) => ({ type: 'remove', path: each.path })), 'rm', at);
  }

  async cp(from, to, { recursive = false } = {}) {
    const [source, target] = [await this.#enter(from), await this.#enter(to)];
    const { kind } = await this.#known(source, 'cp');
    if (kind === 'directory' && !recursive) throw fault('EISDIR', 'cp', source);
    await this.#change(await this.#copying(source, target, 'cp'), 'cp', target);
  }

  async mv(from, to) {
    const [source, target] = [await this.#enter(from), await this.#enter(to)];
    await this.#known(source, 'rename');
    if (source === target) return;
    if (isIn(target, source)) throw fault('EINVAL', 'rename', target);
    const copied = await this.#copying(source, target, 'rename');
    const moved = await this.#all(source, 'rename');
    for (const { path } of moved) this.#mayWrite(path, 'rename');
    await this.#change([...copied, ...moved.reverse().map(({ path }) => ({ type: 'remove', path }))], 'rename', target);
  }

  resolvePath(base, path) {
    return absolute('/', path.startsWith('/') ? path : `${base}/${path}`);
  }

  /** Nobody can know them all at once; the shell then looks at each directory. */
  getAllPaths() {
    return [];
  }

  /** There are no modes. */
  async chmod(path) {
    this.#mayWrite(await this.#reached(path, 'chmod'), 'chmod');
  }

  async symlink(target, path) {
    throw fault('EPERM', 'symlink', path);
  }

  async link(existing, path) {
    throw fault('EPERM', 'link', path);
  }

  async readlink(path) {
    throw fault('EINVAL', 'readlink', await this.#reached(path, 'readlink'));
  }

  async realpath(path) {
    return this.#reached(path, 'realpath');
  }

  /** Times cannot be chosen: a file that is touched is written anew. */
  async utimes(path) {
    const at = await this.#reached(path, 'utimes');
    const node = await this.#node(at);
    if (node?.kind === 'file') await this.#write(at, (await this.#file(at, 'utimes')).content, 'utimes');
  }

  /** The absolute form of a path, before something is done there. */
  async #enter(path) {
    this.#signal.throwIfAborted();
    if (performance.now() > this.#turnAt) {
      await new Promise((resolve) => setTimeout(resolve));
      this.#turnAt = performance.now() + TURN_MS;
      this.#signal.throwIfAborted();
    }
    return absolute('/', path);
  }

  /** The same for something that has to be there. */
  async #reached(path, operation) {
    const at = await this.#enter(path);
    if (this.#isOwn(at)) {
      if (!(await this.#own.exists(at))) throw fault('ENOENT', operation, at);
    } else {
      await this.#known(at, operation);
    }
    return at;
  }

  #isOwn(at) {
    return OWN.some((directory) => isIn(at, directory));
  }

  /** What is written to the shell's own files goes nowhere, but for what it reads back itself. */
  async #writeOwn(at, bytes, appends = false) {
    if (at === '/dev/null') return undefined;
    if (!isIn(at, '/dev')) return refuse('open', at);
    return appends ? this.#own.appendFile(at, bytes) : this.#own.writeFile(at, bytes);
  }

  /** What stands at a path; what is closed is not there. A directory on the way to something granted is. */
  async #node(at) {
    if (!this.#isShown(at)) return undefined;
    return at === '/' ? { kind: 'directory', size: 0, modified: 0 } : this.#files.stat(at);
  }

  #isShown(at) {
    return this.#rules.access(at) !== undefined || this.#grant.roots.some(({ path }) => isIn(path, at) && this.#rules.access(path));
  }

  async #known(at, operation) {
    const node = await this.#node(at);
    if (!node) throw fault('ENOENT', operation, at);
    return node;
  }

  async #file(at, operation) {
    const { kind, size } = await this.#known(at, operation);
    if (kind === 'directory') throw fault('EISDIR', operation, at);
    if (size > this.#most) throw fault('EFBIG', operation, at);
    const read = await this.#asked(() => this.#files.read(at), operation, at);
    if (!read) throw fault('ENOENT', operation, at);
    return read;
  }

  async #visible(at) {
    const entries = (await this.#asked(() => this.#files.list(at), 'scandir', at)) ?? [];
    return entries.filter(({ name }) => this.#isShown(childOf(at, name))).sort((a, b) => byName(a.name, b.name));
  }

  /** A tree from its top, with everything in it; one in which something is closed is not moved or removed as a whole. */
  async #all(at, operation) {
    const { kind } = await this.#known(at, operation);
    const found = [{ path: at, kind }];
    if (kind !== 'directory') return found;
    const entries = (await this.#asked(() => this.#files.list(at), operation, at)) ?? [];
    for (const { name } of entries) {
      const path = childOf(at, name);
      if (!this.#isShown(path)) throw fault('EACCES', operation, at);
      found.push(...(await this.#all(path, operation)));
    }
    return found;
  }

  /** The changes that make a copy. */
  async #copying(source, target, operation) {
    this.#mayWrite(target, operation);
    const { kind } = await this.#known(source, operation);
    if (kind !== 'directory') return [{ type: 'write', path: target, content: (await this.#file(source, operation)).content }];
    const changes = [{ type: 'createDirectory', path: target }];
    for (const { name } of await this.#visible(source)) {
      changes.push(...(await this.#copying(childOf(source, name), childOf(target, name), operation)));
    }
    return changes;
  }

  #mayWrite(at, operation) {
    if (this.#isOwn(at)) refuse(operation, at);
    if (this.#rules.access(at) !== 'write') throw fault(this.#isShown(at) ? 'EROFS' : 'EACCES', operation, at);
  }

  async #write(at, content, operation) {
    this.#mayWrite(at, operation);
    const node = await this.#node(at);
    if (node?.kind === 'directory') throw fault('EISDIR', operation, at);
    if (content.length > this.#most) throw fault('EFBIG', operation, at);
    if (!node && (await this.#node(parentOf(at)))?.kind !== 'directory') throw fault('ENOENT', operation, at);
    await this.#change([{ type: 'write', path: at, content }], operation, at);
  }

  #change(changes, operation, at) {
    return this.#asked(() => this.#files.change(changes), operation, at);
  }

  async #asked(run, operation, at) {
    this.#signal.throwIfAborted();
    try {
      return await run();
    } catch (error) {
      throw faultOf(error, operation, at);
    }
  }
}

function refuse(operation, at) {
  throw fault('EACCES', operation, at);
}
