/** The workspaces that a person can choose, and the one that is shown. */
import { Bookshop } from './bookshop.js';
import { BrowserStorage } from './browser-storage.js';
import { Changing } from './changes.js';
import { PickedDirectory } from './picked-directory.js';

/** Whether the browser lets pages work on a directory that a person picks: those of Chromium's family do. */
export const canPick = () => typeof globalThis.showDirectoryPicker === 'function';

export class Workspaces extends Changing {
  /** The one that is shown, and that a new session works on. */
  current;
  /** Why the one that was used last cannot be. */
  problem;
  /** The directories that were picked: `{ id, name, handle }`. */
  directories = [];
  #parts;
  /** Those that were opened, by their ids. */
  #opened = new Map();

  /** @private */
  constructor(parts) {
    super();
    this.#parts = parts;
  }

  /**
   * @param {object} parts
   * @param {import('./database.js').Database} parts.database
   * @param {import('./settings.js').Settings} parts.settings
   * @param {object} parts.bundle what the demonstration is made of
   */
  static async open(parts) {
    const workspaces = new Workspaces(parts);
    // Nobody looks at them before the page is there.
    const take = (found) => {
      workspaces.directories = found;
      workspaces.changed();
    };
    parts.database.directories().then(take, () => {}); // without storage there are none
    try {
      await workspaces.use(parts.settings.workspace);
    } catch (error) {
      await workspaces.use('memory');
      workspaces.problem = error.message;
    }
    return workspaces;
  }

  /** Shows another one. Rejects where it cannot be opened, and then the one that is shown stays. */
  async use(id) {
    const chosen = await this.#open(id);
    this.problem = undefined;
    if (chosen === this.current) return;
    this.current = chosen;
    const { settings } = this.#parts;
    if (settings.workspace !== id) settings.set({ workspace: id });
    this.changed();
  }

  /**
   * Lets the person pick a directory: call it in the handler of a click.
   *
   * @returns {Promise<string | undefined>} its id; nothing if they picked none
   */
  async pick() {
    if (!canPick()) throw new Error('This browser does not let pages work on a directory of the disk.');
    let handle;
    try {
      handle = await showDirectoryPicker({ mode: 'readwrite', id: 'windlass-demo' });
    } catch (error) {
      if (error.name === 'AbortError') return undefined;
      throw error;
    }
    for (const { id, handle: other } of this.directories) {
      if (await handle.isSameEntry(other)) return id;
    }
    const directory = { id: `directory:${crypto.randomUUID()}`, name: handle.name, handle };
    this.directories = [...this.directories, directory];
    // Where there is no storage, it lasts as long as the tab.
    await this.#parts.database.putDirectory(directory).catch(() => {});
    this.changed();
    return directory.id;
  }

  /** Does not offer a directory any more, which stays as it is. */
  async forget(id) {
    this.directories = this.directories.filter((directory) => directory.id !== id);
    this.#opened.delete(id);
    this.#parts.settings.forgetWorkspace(id);
    await this.#parts.database.deleteDirectory(id);
    this.changed();
  }

  async #open(id) {
    if (!this.#opened.has(id)) {
      const opened = await this.#made(id);
      opened.addEventListener('change', () => this.changed());
      this.#opened.set(id, opened);
    }
    return this.#opened.get(id);
  }

  async #made(id) {
    const { database, bundle } = this.#parts;
    if (id === 'memory') return Bookshop.open(database, bundle);
    if (id === 'browser') return BrowserStorage.open(bundle);
    const isIt = (picked) => picked.id === id;
    // Another tab may have picked it.
    if (!this.directories.some(isIt)) this.directories = await database.directories();
    const directory = this.directories.find(isIt);
    if (!directory) throw new Error('The page does not know the directory any more: pick it again, and begin a new session.');
    return PickedDirectory.open(id, directory.handle);
  }
}
