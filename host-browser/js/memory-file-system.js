/** Files in memory, as long as the page or process lives. */
import { absolute, byName, parentOf } from './file-path.js';
import { FileSystemError } from './file-system.js';
import { unknownFields } from './known-fields.js';
import { FileTree, TREE, isDirectory, newDirectory, statOf } from './file-tree.js';

/** A directory tree in memory. */
export class MemoryFileSystem {
  #tree;
  #clock;
  #versions = 0;

  /**
   * @param {{ files?: Record<string, string | Uint8Array>, clock?: { wall(): number } }} [options]
   *   `files`: contents by absolute path
   */
  constructor(options = {}) {
    const faults = unknownFields('a `MemoryFileSystem`', options, ['files', 'clock']);
    if (faults.length > 0) throw new TypeError(`${faults.join('; ')}: contents stand by their paths in \`files\``);
    const { files = {}, clock = { wall: () => Date.now() } } = options;
    this.#clock = clock;
    this.#tree = new FileTree(clock.wall());
    for (const [path, content] of Object.entries(files)) this.writeFile(path, content);
  }

  /**
   * Puts a file in place, with the directories it needs.
   * @param {string} path absolute
   * @param {string | Uint8Array} content
   * @param {{ modified?: number }} [options] milliseconds since 1970; now, if left out
   */
  writeFile(path, content, { modified = this.#clock.wall() } = {}) {
    const at = absolute('/', path);
    const existing = this.#tree.find(at);
    if (existing && isDirectory(existing)) throw new FileSystemError('exists', `${path} is a directory`);
    const data = typeof content === 'string' ? new TextEncoder().encode(content) : Uint8Array.from(content);
    for (const missing of this.#tree.missingAbove(at)) this.#tree.set(missing, newDirectory(modified), modified);
    this.#set(at, this.#file(data, modified), modified);
  }

  /** The content of a file; `undefined` when there is none. */
  readFile(path) {
    const node = this.#tree.find(absolute('/', path));
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
    this.#tree.eachFile((path) => found.push(path));
    return found.sort(byName);
  }

  async stat(path) {
    const node = this.#tree.find(absolute('/', path));
    return node && statOf(node);
  }

  async list(path) {
    const node = this.#tree.find(absolute('/', path));
    if (!node || !isDirectory(node)) return undefined;
    return [...node.entries].map(([name, child]) => ({ name, ...statOf(child) }));
  }

  async read(path) {
    const node = this.#tree.find(absolute('/', path));
    return node && !isDirectory(node) ? { ...statOf(node), content: node.data.slice() } : undefined;
  }

  /** All or none. */
  async change(changes) {
    const at = changes.map((change) => ({ ...change, path: absolute('/', change.path) }));
    for (const { path, replaces } of at) this.#expect(path, replaces);
    const undo = [];
    try {
      for (const change of at) undo.push(this.#changed(change));
    } catch (error) {
      for (const step of undo.reverse()) step();
      throw error;
    }
  }

  /** @private What calls work on: everything is there at once. */
  get [TREE]() {
    return {
      find: (path) => this.#tree.find(path),
      content: (_, node) => node.data,
      entries: (_, node) => node.entries,
      write: (path, data) => {
        for (const missing of this.#tree.missingAbove(path)) this.#set(missing, newDirectory(this.#clock.wall()));
        this.#set(path, this.#file(data));
      },
      createDirectory: (path) => this.#set(path, newDirectory(this.#clock.wall())),
      remove: (path) => this.#set(path, undefined),
    };
  }

  #file(data, modified = this.#clock.wall()) {
    this.#versions += 1;
    return { data, size: data.length, modified, version: `${this.#versions}` };
  }

  #set(path, node, modified = this.#clock.wall()) {
    return this.#tree.set(path, node, modified);
  }

  #expect(path, replaces) {
    const node = this.#tree.find(path);
    const now = node ? statOf(node).version : null;
    if (replaces !== undefined && replaces !== now) throw new FileSystemError('changed', `${path} is not what it was when it was read`);
  }

  /** Makes one change; gives what takes it back. */
  #changed({ type, path, content }) {
    const node = this.#tree.find(path);
    const parent = this.#tree.find(parentOf(path));
    if (!parent || !isDirectory(parent)) throw new FileSystemError('missing', `there is no directory ${parentOf(path)}`);
    switch (type) {
      case 'write':
        if (path === '/' || (node && isDirectory(node))) throw new FileSystemError('exists', `${path} is a directory`);
        return this.#set(path, this.#file(Uint8Array.from(content)));
      case 'createDirectory':
        if (node && !isDirectory(node)) throw new FileSystemError('exists', `${path} is a file`);
        return node ? () => {} : this.#set(path, newDirectory(this.#clock.wall()));
      case 'remove':
        if (!node) throw new FileSystemError('missing', `there is no ${path}`);
        if (path === '/' || (isDirectory(node) && node.entries.size > 0)) throw new FileSystemError('not-empty', `${path} is not empty`);
        return this.#set(path, undefined);
      default:
        throw new TypeError(`there is no change of the type ${JSON.stringify(type)}`);
    }
  }
}
