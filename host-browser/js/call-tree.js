/** The files of one call, for file systems whose answers have to be waited for. */
import { childOf, namesOf, parentOf } from './file-path.js';
import { FileSystemError } from './file-system.js';
import { FileTree, READ, isDirectory, newDirectory } from './file-tree.js';

/** Ends an attempt that asked for what is not in memory; the next one finds it. */
class NotRead extends Error {}

/** So many times more is read ahead before each further attempt. */
const AHEAD = 8;

/** After so many paths that were looked for one by one, the directories that they are in are listed. */
const FEW = 4;

/** A file of up to so many bytes that is looked for is read at once: it will be asked for. */
const SMALL = 1 << 20;

/**
 * A tree in memory that a component works on, which does not wait. It has what the call asked the file system for until now; the
 * component is run until it finds everything that it asks for, and what it has changed then is changed in the file system.
 *
 * Directories of the tree have `isListed` where all of their entries are known, and else the names that are `absent`.
 */
export class CallTree {
  #fileSystem;
  #contents;
  #isOpen;
  #tree = new FileTree(0);
  /** How many entries may be listed further. */
  #left;
  #maxEntries;
  /** Of this attempt: changes as `FileSystem.change` takes them, what takes them back in the tree, and bytes that are written. */
  #changes = [];
  #undo = [];
  #written = 0;
  /** Reads what this attempt first asked for in vain. */
  #missing;
  /** How much is read before the next attempt, and how many paths were looked for one by one. */
  #atOnce = 1;
  #looked = 0;

  /**
   * @param {object} fileSystem
   * @param {import('./file-contents.js').FileContents} contents
   * @param {(path: string) => boolean} isOpen whether something may be read at a path
   * @param {number} maxEntries how many entries are listed at most
   */
  constructor(fileSystem, contents, isOpen, maxEntries) {
    this.#fileSystem = fileSystem;
    this.#contents = contents;
    this.#isOpen = isOpen;
    this.#left = maxEntries;
    this.#maxEntries = maxEntries;
  }

  /** Finds out what is at a path, and reads a small file. */
  async look(path) {
    if (path === '/') return;
    const stat = await this.#fileSystem.stat(path);
    if (!stat) {
      await this.#lookAbove(path);
      return;
    }
    for (const above of this.#tree.missingAbove(path)) this.#add(above, { kind: 'directory', modified: 0 });
    if (!this.#tree.find(path)) this.#add(path, stat);
    const node = this.#tree.find(path);
    const isSmall = !isDirectory(node) && node.size <= Math.min(SMALL, this.#contents.room);
    if (isSmall && this.#isOpen(path)) await this.#read(path, node);
  }

  async #lookAhead(path) {
    await this.look(path);
    this.#looked += 1;
    if (this.#looked <= FEW) return;
    const names = namesOf(path).slice(0, -1);
    for (let at = '/', node = this.#tree.root; node && isDirectory(node); node = this.#tree.find(at)) {
      // One that is too large stays as it is: what is looked for in it is found, if slowly.
      if (!node.isListed && this.#isOpen(at)) await this.#list(at, node).catch(() => leave(node));
      if (names.length === 0) return;
      at = childOf(at, names.shift());
    }
  }

  /** Finds out how far the way to a path leads that is not there. */
  async #lookAbove(path) {
    let node = this.#tree.root;
    let at = '/';
    for (const name of namesOf(path)) {
      if (!isDirectory(node) || isKnownAbsent(node, name)) return;
      at = childOf(at, name);
      const stat = node.entries.has(name) || (at !== path && (await this.#fileSystem.stat(at)));
      if (!stat) {
        absentOf(node).add(name);
        return;
      }
      if (!node.entries.has(name)) this.#add(at, stat);
      node = node.entries.get(name);
    }
  }

  find(path) {
    let node = this.#tree.root;
    for (const name of namesOf(path)) {
      if (!isDirectory(node)) return undefined;
      const child = node.entries.get(name);
      if (!child && !isKnownAbsent(node, name)) this.#miss(() => this.#lookAhead(path));
      if (!child) return undefined;
      node = child;
    }
    return node;
  }

  entries(path, node) {
    if (!node.isListed) this.#miss(() => this.#listAhead(path, node));
    return node.entries;
  }

  content(path, node) {
    const data = node.data ?? this.#contents.ask(path, node.version);
    if (!data) this.#miss(() => this.#readAhead(path, node));
    return data;
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
    this.#set(path, { ...newDirectory(Date.now()), isListed: true });
  }

  remove(path) {
    this.#changes.push({ type: 'remove', path, ...this.#replaced(path) });
    this.#set(path, undefined);
  }

  /** Whether the attempt has found everything that it asked for. If not, nothing of it counts. */
  isComplete() {
    return this.#missing === undefined;
  }

  /** Before another attempt: reads what was missing, and what is likely to be asked for next. */
  async readMissing() {
    const read = this.#missing;
    this.#missing = undefined;
    this.takeBack();
    await read();
  }

  /** Before another attempt: takes back what this one has changed. */
  takeBack() {
    for (const takeBack of this.#undo.splice(0).reverse()) takeBack();
    this.#changes = [];
    this.#written = 0;
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

  #miss(read) {
    this.#missing ??= read;
    throw new NotRead('something is read first');
  }

  /** Changes an entry for this attempt. */
  #set(path, node) {
    const directory = this.#tree.find(parentOf(path));
    const name = namesOf(path).at(-1);
    const isKnown = isKnownAbsent(directory, name);
    if (!node && !isKnown) absentOf(directory).add(name);
    const takeBack = this.#tree.set(path, node, Date.now());
    this.#undo.push(() => {
      takeBack();
      if (!node && !isKnown) directory.absent.delete(name);
    });
  }

  /** What the first change at a path replaces: the version that stands there before the call, or nothing. */
  #replaced(path) {
    if (this.#changes.some((change) => change.path === path)) return {};
    const node = this.#tree.find(path);
    return { replaces: node ? (node.version ?? '') : null };
  }

  #add(path, { kind, size, modified, version, [READ]: read }) {
    this.#tree.set(path, kind === 'directory' ? newDirectory(modified) : { size, modified, version, read }, 0);
  }

  async #listAhead(path, node) {
    await this.#list(path, node);
    for (let left = this.#takeAhead(); left > 0; ) {
      const next = this.#unlisted().slice(0, left);
      if (next.length === 0) return;
      left -= next.length;
      await Promise.all(next.map(([path, node]) => this.#list(path, node).catch(() => leave(node))));
    }
  }

  async #list(path, node) {
    const entries = (await this.#fileSystem.list(path)) ?? [];
    if (entries.length > this.#left) throw tooMany(path, this.#maxEntries);
    this.#left -= entries.length;
    for (const { name, ...stat } of entries) {
      if (!node.entries.has(name)) this.#add(childOf(path, name), stat);
    }
    node.isListed = true;
  }

  /** The directories that are known to be granted and were not listed. */
  #unlisted() {
    const found = [];
    const visit = (path, node) => {
      for (const [name, child] of node.entries) {
        const at = childOf(path, name);
        if (!isDirectory(child)) continue;
        if (!child.isListed && !child.isLeft && this.#isOpen(at)) found.push([at, child]);
        else visit(at, child);
      }
    };
    visit('/', this.#tree.root);
    return found;
  }

  async #readAhead(path, node) {
    this.#contents.checkRoom(path, node.size);
    await this.#read(path, node);
    const ahead = this.#filesAfter(path, this.#takeAhead());
    // What fails ahead is told when it is asked for.
    await Promise.all(ahead.map(([path, node]) => this.#read(path, node).catch(() => {})));
  }

  /** How much is read ahead now; next time it is more. */
  #takeAhead() {
    const ahead = this.#atOnce - 1;
    this.#atOnce *= AHEAD;
    return ahead;
  }

  async #read(path, node) {
    if (this.#contents.has(path, node.version)) return;
    const found = await (node.read ? node.read() : this.#fileSystem.read(path));
    if (!found) {
      this.#tree.set(path, undefined, 0);
      absentOf(this.#tree.find(parentOf(path))).add(namesOf(path).at(-1));
      return;
    }
    const { content, size, modified, version } = found;
    this.#contents.keep(path, version, content);
    Object.assign(node, { size, modified, version });
  }

  /** The files behind this one that are known and not in memory, those with the same ending first, as far as there is room. */
  #filesAfter(path, count) {
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

function isKnownAbsent({ isListed, absent }, name) {
  return Boolean(isListed || absent?.has(name));
}

function absentOf(directory) {
  directory.absent ??= new Set();
  return directory.absent;
}

/** A directory that cannot be listed ahead is listed when it is asked for. */
function leave(directory) {
  directory.isLeft = true;
}

function endingOf(path) {
  const name = namesOf(path).at(-1);
  return name.slice(name.lastIndexOf('.'));
}

function tooMany(path, maxEntries) {
  return new FileSystemError(
    'limit',
    `there are more than ${maxEntries} files and directories to look through (at ${path}): name a smaller directory, leave ` +
      'some out by `exclude`, or raise the limit `maxEntries` of the file system',
  );
}
