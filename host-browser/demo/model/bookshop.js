/** The project of the demonstration, in the memory of the tab; what changes is kept by the page. */
import { MemoryFileSystem } from 'windlass';
import { Workspace } from './workspace.js';

/** Kept in the place of a file that is gone. */
const REMOVED = null;

export class Bookshop extends Workspace {
  #database;
  #original;
  /** What is kept, by path: whatever differs was changed, and what is `undefined` is gone. */
  #kept = new Map();

  /** @private */
  constructor(database, { cwd, files }) {
    super({ id: 'memory', name: 'The bookshop', cwd, files: new MemoryFileSystem() });
    this.#database = database;
    this.#original = files;
  }

  static async open(database, bundle) {
    const workspace = new Bookshop(database, bundle);
    const kept = await database.files();
    for (const { path, text, modified } of workspace.#original) {
      const full = workspace.at(path);
      if (!kept.has(full)) workspace.#put(full, text, { modified });
    }
    for (const [path, bytes] of kept) {
      if (bytes !== REMOVED) workspace.#put(path, bytes);
    }
    return workspace;
  }

  get hasBookshop() {
    return true;
  }

  async keepChanges() {
    const paths = new Set([...this.files.paths(), ...this.#kept.keys()]);
    const changed = [...paths].filter((path) => !same(this.files.readFile(path), this.#kept.get(path)));
    if (changed.length === 0) return;
    for (const path of changed) this.#kept.set(path, this.files.readFile(path));
    try {
      for (const path of changed) {
        await this.#database.putFile(path, this.#kept.get(path) ?? REMOVED);
        this.tellOthers(path);
      }
      this.problem = undefined;
    } catch (error) {
      this.problem = `The browser did not keep the last changes, which last as long as this tab: ${error.message}`;
    }
    this.refresh();
  }

  /** Makes the files of the demonstration what they were; files that were added stay. */
  async reset() {
    await this.#database.clearFiles();
    for (const { path, text } of this.#original) this.files.writeFile(this.at(path), text);
    await this.keepChanges();
  }

  async changedElsewhere(path) {
    const bytes = await this.#database.file(path);
    // What it has removed is gone here when the page is loaded again.
    if (bytes === undefined || bytes === REMOVED || same(bytes, this.files.readFile(path))) return;
    this.#put(path, bytes);
    this.refresh();
  }

  /** A file as it is kept. */
  #put(path, content, options) {
    this.files.writeFile(path, content, options);
    this.#kept.set(path, this.files.readFile(path));
  }
}

function same(a, b) {
  return a === b || (a !== undefined && a.length === b?.length && a.every((byte, index) => byte === b[index]));
}
