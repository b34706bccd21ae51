/** A tree of files and directories in memory. */
import { childOf, namesOf, parentOf } from './file-path.js';

/** Way in to the tree of a file system that has everything in memory: calls work on it directly. */
export const TREE = Symbol('tree');

/** Of an entry of a list: reads it as `FileSystem.read` does, without looking for it again. */
export const READ = Symbol('read');

/**
 * A node is a file (`{ data, size, modified, version }`) or a directory (`{ entries, modified }`).
 * @typedef {{ data?: Uint8Array, size: number, modified: number, version: string } | { entries: Map, modified: number }} Node
 */
export const isDirectory = (node) => node.entries !== undefined;

export const newDirectory = (modified) => ({ entries: new Map(), modified });

/** The metadata of a node as `FileStat` has it. */
export function statOf(node) {
  return isDirectory(node)
    ? { kind: 'directory', size: 0, modified: node.modified, version: '' }
    : { kind: 'file', size: node.size, modified: node.modified, version: node.version };
}

export class FileTree {
  #root;

  constructor(modified) {
    this.#root = newDirectory(modified);
  }

  get root() {
    return this.#root;
  }

  /** The node at an absolute path. */
  find(path) {
    let node = this.#root;
    for (const name of namesOf(path)) {
      if (!isDirectory(node)) return undefined;
      node = node.entries.get(name);
      if (!node) return undefined;
    }
    return node;
  }

  /**
   * Puts a node in place; without one, what is there is taken away. Its directory must be there.
   * @returns {() => void} takes the change back
   */
  set(path, node, modified) {
    const directory = this.find(parentOf(path));
    const { entries, modified: time } = directory;
    const name = namesOf(path).at(-1);
    const before = entries.get(name);
    const put = (child, now) => {
      if (child) entries.set(name, child);
      else entries.delete(name);
      directory.modified = now;
    };
    put(node, modified);
    return () => put(before, time);
  }

  /** The directories above a path that are not there, the outermost first. */
  missingAbove(path) {
    const missing = [];
    for (let above = parentOf(path); ; above = parentOf(above)) {
      const node = this.find(above);
      if (node && isDirectory(node)) return missing;
      if (node) throw new Error(`${above} is a file, so there is no ${path}`);
      missing.unshift(above);
    }
  }

  /** Calls a function with the path and the node of each file. */
  eachFile(visit, path = '/', node = this.#root) {
    for (const [name, child] of node.entries) {
      if (isDirectory(child)) this.eachFile(visit, childOf(path, name), child);
      else visit(childOf(path, name), child);
    }
  }
}
