/** The files that the agent works on: in memory for its tools, and kept in the browser. All tabs of the page share them. */
import { MemoryFileSystem } from 'windlass';
import { Changing } from './changes.js';

export class Workspace extends Changing {
  #database;
  #original;
  #channel = new BroadcastChannel('windlass-demo-files');
  /** What is kept, by path: whatever differs was changed. */
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
      workspace.files.writeFile(full, text, { modified });
      workspace.#kept.set(full, text);
    }
    for (const [path, text] of kept) {
      workspace.files.writeFile(path, text);
      workspace.#kept.set(path, text);
    }
    workspace.#channel.onmessage = ({ data: path }) => workspace.#take(path);
    return workspace;
  }

  /** The paths, relative to the working directory. */
  paths() {
    const within = `${this.cwd}/`;
    return this.files.paths().filter((path) => path.startsWith(within)).map((path) => path.slice(within.length));
  }

  text(path) {
    return this.files.readText(`${this.cwd}/${path}`);
  }

  /** What the person wrote. */
  async write(path, text) {
    this.files.writeFile(`${this.cwd}/${path}`, text);
    await this.keepChanges();
  }

  /** Keeps what was changed since, by tools or the person. */
  async keepChanges() {
    const changed = this.files.paths().filter((path) => this.files.readText(path) !== this.#kept.get(path));
    if (changed.length === 0) return;
    for (const path of changed) this.#kept.set(path, this.files.readText(path));
    try {
      for (const path of changed) {
        await this.#database.putFile(path, this.#kept.get(path));
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
    const text = await this.#database.file(path);
    if (text === undefined || text === this.files.readText(path)) return;
    this.#kept.set(path, text);
    this.files.writeFile(path, text);
    this.changed();
  }
}
