/** The files of one call, for file systems whose answers have to be waited for. */
import { childOf, isIn, namesOf, parentOf } from './file-path.js';
import { FileSystemError } from './file-system.js';
import { FileTree, isDirectory, newDirectory } from './file-tree.js';

/** Ends an attempt that asked for a content that is not in memory; the next one finds it. */
class NotRead extends Error {}

/** So many times more files are read ahead before each further attempt. */
const AHEAD = 8;

/**
 * A tree in memory that a component works on, which does not wait: with what the file system has listed before, and contents as
 * far as they were read. The component is run until it finds everything that it asks for; what it has changed then is changed in
 * the file system.
 */
export class CallTree {
  #fileSystem;
  #contents;
  #isOpen;
  #tree = new FileTree(0);
  /** Of this attempt: changes as `FileSystem.change` takes them, what takes them back in the tree, and bytes that are written. */
  #changes = [];
  #undo = [];
  #written = 0;
  /** The first file that this attempt asked for in vain. */
  #missed;
  /** Files that are read before the next attempt. */
  #atOnce = 1;

  /**
   * @param {object} fileSystem
   * @param {import('./file-contents.js').FileContents} contents
   * @param {(path: string) => boolean} isOpen whether something may be read at a path
   */
  constructor(fileSystem, contents, isOpen) {
    this.#fileSystem = fileSystem;
    this.#contents = contents;
    this.#isOpen = isOpen;
  }

  /** Lists what is at and below these paths, at most so many entries. */
  async fill(roots, maxEntries) {
    let left = maxEntries;
    const add = (path, stat) => {
      left -= 1;
      if (left < 0) throw tooMany(path, maxEntries);
      this.#add(path, stat);
    };
    const listed = [];
    for (const root of [...roots].sort((a, b) => a.length - b.length)) {
      if (listed.some((other) => isIn(root, other))) continue;
      const { path, stat } = await this.#nearest(root);
      for (const above of this.#tree.missingAbove(path)) this.#tree.set(above, newDirectory(0), 0);
      if (!this.#tree.find(path)) add(path, stat);
      if (path !== root || stat.kind !== 'directory') continue;
      await this.#list(root, add);
      listed.push(root);
    }
  }

  find(path) {
    return this.#tree.find(path);
  }

  content(path, node) {
    const data = node.data ?? this.#contents.ask(path, node.version);
    if (data) return data;
    this.#missed ??= { path, node };
    throw new NotRead(`${path} is read first`);
  }

  write(path, data) {
    this.#written += data.length;
    this.#contents.checkRoom(path, this.#written);
    for (const directory of this.#tree.missingAbove(path)) this.createDirectory(directory);
    const last = this.#changes.findLastIndex((change) => change.path === path);
    // Only the last content is written, in the place of what the first one was to replace.
    if (this.#changes[last]?.type === 'write') this.#changes[last] = { ...this.#changes[last], content: data };
    else this.#changes.push({ type: 'write', path, content: data, ...this.#replaced(path) });
    this.#set(path, { data, size: data.length, modified: Date.now(), version: '' });
  }

  createDirectory(path) {
    this.#changes.push({ type: 'createDirectory', path });
    this.#set(path, newDirectory(Date.now()));
  }

  remove(path) {
    this.#changes.push({ type: 'remove', path, ...this.#replaced(path) });
    this.#set(path, undefined);
  }

  /** Whether the attempt has found everything that it asked for. If not, nothing of it counts. */
  isComplete() {
    return this.#missed === undefined;
  }

  /** Before another attempt: reads what was missing, and what is likely to be asked for next. */
  async readMissing() {
    const { path, node } = this.#missed;
    for (const takeBack of this.#undo.splice(0).reverse()) takeBack();
    this.#changes = [];
    this.#written = 0;
    this.#missed = undefined;
    this.#contents.checkRoom(path, node.size);
    await this.#read(path, node);
    const ahead = this.#ahead(path, this.#atOnce - 1);
    // Whoever asks for a file that could not be read is told then.
    await Promise.all(ahead.map(([path, node]) => this.#read(path, node).catch(() => {})));
    this.#atOnce *= AHEAD;
  }

  /** Makes the changes in the file system. */
  async keep() {
    if (this.#changes.length === 0) return;
    try {
      await this.#fileSystem.change(this.#changes);
    } catch (error) {
      if (error?.kind !== 'changed') throw error;
      const what = 'somebody else changed it meanwhile, and nothing of this call was written. Read it again, then repeat the call.';
      throw new FileSystemError('changed', `${error.message}: ${what}`, { cause: error });
    }
  }

  #set(path, node) {
    this.#undo.push(this.#tree.set(path, node, Date.now()));
  }

  /** What the first change at a path replaces: the version that stands there before the call, or nothing. */
  #replaced(path) {
    if (this.#changes.some((change) => change.path === path)) return {};
    const node = this.#tree.find(path);
    return { replaces: node ? (node.version ?? '') : null };
  }

  #add(path, { kind, size, modified, version }) {
    this.#tree.set(path, kind === 'directory' ? newDirectory(modified) : { size, modified, version }, 0);
  }

  /** The deepest place on the way to a path that is there. */
  async #nearest(root) {
    for (let path = root; path !== '/'; path = parentOf(path)) {
      const stat = await this.#fileSystem.stat(path);
      if (stat) return { path, stat };
    }
    return { path: '/', stat: { kind: 'directory' } };
  }

  /** All that is below a directory, level by level. */
  async #list(root, add) {
    for (let level = [root]; level.length > 0; ) {
      const lists = await Promise.all(level.map(async (path) => [path, (await this.#fileSystem.list(path)) ?? []]));
      level = [];
      for (const [directory, entries] of lists) {
        for (const { name, ...stat } of entries) {
          const path = childOf(directory, name);
          add(path, stat);
          if (stat.kind === 'directory' && this.#isOpen(path)) level.push(path);
        }
      }
    }
  }

  async #read(path, node) {
    const found = await this.#fileSystem.read(path);
    if (!found) {
      this.#tree.set(path, undefined, 0);
      return;
    }
    const { content, size, modified, version } = found;
    this.#contents.keep(path, version, content);
    Object.assign(node, { size, modified, version });
  }

  /** The files behind this one that are not in memory, those with the same ending first, as far as there is room. */
  #ahead(path, count) {
    if (count === 0) return [];
    const files = [];
    this.#tree.eachFile((other, node) => {
      if (other > path && this.#isOpen(other) && !this.#contents.has(other, node.version)) files.push([other, node]);
    });
    files.sort(([a], [b]) => (a < b ? -1 : 1));
    const isAlike = ([other]) => endingOf(other) === endingOf(path);
    let { room } = this.#contents;
    const fits = ([, { size }]) => {
      room -= size;
      return room >= 0;
    };
    const ordered = [...files.filter(isAlike), ...files.filter((file) => !isAlike(file))];
    return ordered.slice(0, count).filter(fits);
  }
}

function endingOf(path) {
  const name = namesOf(path).at(-1);
  return name.slice(name.lastIndexOf('.'));
}

function tooMany(path, maxEntries) {
  return new FileSystemError(
    'limit',
    `there are more than ${maxEntries} files and directories to look through (at ${path}): name a smaller directory, leave some out by \`exclude\`, or raise the limit \`maxEntries\` of the file system`,
  );
}
