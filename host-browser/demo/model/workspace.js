/** The files that the agent works on: in memory for its tools, and kept in the browser. All tabs of the page share them. */
import { MemoryFileSystem } from 'windlass';
import { Changing } from './changes.js';

/** Kept in the place of a file that is gone. */
const REMOVED = null;

export class Workspace extends Changing {
  #database;
  #original;
  #channel = new BroadcastChannel('windlass-demo-files');
  /** What is kept, by path: whatever differs was changed, and what is `undefined` is gone. */
  #kept = new Map();
  /** Why changes last only as long as the tab. */
  problem;

  /** @private */
  constructor(database, { cwd, files }) {
    super();
    this.#database = database;
    this.#original = files;
    this.cwd = cwd;
    this.files = new MemoryFileSystem();
  }

  static async open(database, bundle) {
    const workspace = new Workspace(database, bundle);
    const kept = await database.files();
    for (const { path, text, modified } of workspace.#original) {
      const full = `${bundle.cwd}/${path}`;
      if (!kept.has(full)) workspace.#put(full, text, { modified });
    }
    for (const [path, bytes] of kept) {
      if (bytes !== REMOVED) workspace.#put(path, bytes);
    }
    workspace.#channel.onmessage = ({ data: path }) => workspace.#take(path);
    return workspace;
  }

  /** The paths, relative to the working directory. */
  paths() {
    const within = `${this.cwd}/`;
    return this.files.paths().filter((path) => path.startsWith(within)).map((path) => path.slice(within.length));
  }

  /** The text of a file; `undefined` if there is none, or if it is no text. */
  text(path) {
    const bytes = this.files.readFile(`${this.cwd}/${path}`);
    try {
      return bytes && new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
      return undefined;
    }
  }

  has(path) {
    return this.files.readFile(`${this.cwd}/${path}`) !== undefined;
  }

  /** What the person wrote. */
  async write(path, text) {
    this.files.writeFile(`${this.cwd}/${path}`, text);
    await this.keepChanges();
  }

  /** Keeps what was changed since, by tools or the person. */
  async keepChanges() {
    const paths = new Set([...this.files.paths(), ...this.#kept.keys()]);
    const changed = [...paths].filter((path) => !same(this.files.readFile(path), this.#kept.get(path)));
    if (changed.length === 0) return;
    for (const path of changed) this.#kept.set(path, this.files.readFile(path));
    try {
      for (const path of changed) {
        await this.#database.putFile(path, this.#kept.get(path) ?? REMOVED);
        this.#channel.postMessage(path);
      }
      this.problem = undefined;
    } catch (error) {
      this.problem = `The browser did not keep the last changes, which last as long as this tab: ${error.message}`;
    }
    this.changed();
  }

  /** Makes the files of the demonstration what they were; files that were added stay. */
  async reset() {
    await this.#database.clearFiles();
    for (const { path, text } of this.#original) this.files.writeFile(`${this.cwd}/${path}`, text);
    await this.keepChanges();
  }

  /** Another tab has changed a file. */
  async #take(path) {
    const bytes = await this.#database.file(path);
    // What it has removed is gone here when the page is loaded again.
    if (bytes === undefined || bytes === REMOVED || same(bytes, this.files.readFile(path))) return;
    this.#put(path, bytes);
    this.changed();
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
