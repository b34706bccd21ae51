/**
 * What the page itself keeps in the browser: the files of the workspace and the journals of its sessions. The sessions are in a
 * database of their own (`IndexedDbSessionStore`).
 *
 * Without storage everything lasts as long as the tab.
 */
const NAME = 'windlass-demo';

export class Database {
  #connection;
  /** Where things are when there is no storage. */
  #memory = { files: new Map(), journals: new Map() };

  /** @private */
  constructor(connection) {
    this.#connection = connection;
  }

  static async open() {
    try {
      const request = indexedDB.open(NAME, 1);
      request.onupgradeneeded = () => {
        request.result.createObjectStore('files');
        request.result.createObjectStore('journals');
      };
      return new Database(await answered(request));
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

  async deleteJournal(session) {
    if (!this.#connection) this.#memory.journals.delete(session);
    else await answered(this.#table('journals', 'readwrite').delete(ofSession(session)));
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
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error('the browser gave no reason'));
  });
}
