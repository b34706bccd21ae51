/**
 * What the page itself keeps in the browser: the files of the bookshop, the journals of its sessions and which workspace each of them
 * has, and the directories that were picked. The sessions are in a database of their own (`IndexedDbSessionStore`).
 *
 * Without storage everything lasts as long as the tab.
 */
const NAME = 'windlass-demo';
const VERSION = 2;
const TABLES = ['files', 'journals', 'workspaces', 'directories'];

export class Database {
  #connection;
  /** Where things are when there is no storage. */
  #memory = { files: new Map(), journals: new Map(), workspaces: new Map() };

  /** @private */
  constructor(connection) {
    this.#connection = connection;
  }

  static async open() {
    try {
      const request = indexedDB.open(NAME, VERSION);
      request.onupgradeneeded = () => {
        const { result: connection } = request;
        for (const table of TABLES) if (!connection.objectStoreNames.contains(table)) connection.createObjectStore(table);
      };
      const connection = await answered(request);
      // A tab of a later version of the page does not wait for this one.
      connection.onversionchange = () => connection.close();
      return new Database(connection);
    } catch {
      // The store of the sessions fails for the same reason, and the page tells it.
      return new Database();
    }
  }

  /** @returns {Promise<Map<string, Uint8Array | null>>} contents by their paths; `null` of a file that is gone */
  async files() {
    if (!this.#connection) return new Map(this.#memory.files);
    const table = this.#table('files', 'readonly');
    const [paths, contents] = await Promise.all([answered(table.getAllKeys()), answered(table.getAll())]);
    return new Map(paths.map((path, index) => [path, contents[index]]));
  }

  async file(path) {
    if (!this.#connection) return this.#memory.files.get(path);
    return answered(this.#table('files', 'readonly').get(path));
  }

  async putFile(path, bytes) {
    if (!this.#connection) this.#memory.files.set(path, bytes);
    else await answered(this.#table('files', 'readwrite').put(bytes, path));
  }

  async clearFiles() {
    if (!this.#connection) this.#memory.files.clear();
    else await answered(this.#table('files', 'readwrite').clear());
  }

  /** @returns {Promise<object[]>} the entries of a session in their order */
  async journal(session) {
    if (!this.#connection) return [...(this.#memory.journals.get(session) ?? [])];
    return answered(this.#table('journals', 'readonly').getAll(ofSession(session)));
  }

  /** Keeps the entry with this number. */
  async putEntry(session, number, entry) {
    if (this.#connection) {
      await answered(this.#table('journals', 'readwrite').put(entry, [session, number]));
      return;
    }
    const entries = this.#memory.journals.get(session) ?? [];
    entries[number] = entry;
    this.#memory.journals.set(session, entries);
  }

  /** @returns {Promise<string | undefined>} the id of the workspace that a session works on */
  async workspace(session) {
    if (!this.#connection) return this.#memory.workspaces.get(session);
    return answered(this.#table('workspaces', 'readonly').get(session));
  }

  async putWorkspace(session, id) {
    if (!this.#connection) this.#memory.workspaces.set(session, id);
    else await answered(this.#table('workspaces', 'readwrite').put(id, session));
  }

  /** Keeps nothing more of a session. */
  async deleteSession(session) {
    if (!this.#connection) {
      this.#memory.journals.delete(session);
      this.#memory.workspaces.delete(session);
      return;
    }
    await answered(this.#table('journals', 'readwrite').delete(ofSession(session)));
    await answered(this.#table('workspaces', 'readwrite').delete(session));
  }

  /** @returns {Promise<{ id: string, name: string, handle: FileSystemDirectoryHandle }[]>} the directories that were picked */
  async directories() {
    return this.#connection ? answered(this.#table('directories', 'readonly').getAll()) : [];
  }

  async putDirectory(directory) {
    if (this.#connection) await answered(this.#table('directories', 'readwrite').put(directory, directory.id));
  }

  async deleteDirectory(id) {
    if (this.#connection) await answered(this.#table('directories', 'readwrite').delete(id));
  }

  #table(name, mode) {
    return this.#connection.transaction(name, mode).objectStore(name);
  }
}

/** The keys of a journal. */
function ofSession(session) {
  return IDBKeyRange.bound([session], [session, []]);
}

function answered(request) {
  return new Promise((resolve, reject) => {
    // A tab with an earlier version of the page holds it.
    request.onblocked = () => reject(new Error('another tab holds the database'));
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error('the browser gave no reason'));
  });
}
