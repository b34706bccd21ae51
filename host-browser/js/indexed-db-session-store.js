/** A store of sessions in the browser's IndexedDB. */
import { DatabaseStore } from './session-store.js';

/** The only object store of the database: keys are arrays, values are what is kept under them. */
const TABLE = 'kept';

/**
 * Keeps sessions in the browser, beyond the page: closing and opening it again loses nothing. A session is written to by one tab
 * at a time (Web Locks).
 */
export class IndexedDbSessionStore extends DatabaseStore {
  #connection;

  /** @private */
  constructor(connection, name) {
    super(new Transactions(connection), new TabLocks(name), `indexeddb:${name}`);
    this.#connection = connection;
  }

  /** Opens the sessions under a name, which other pages of the same origin can open as well. */
  static async open(name = 'windlass') {
    const database = storage();
    if (database === undefined) throw new Error('there is no IndexedDB here: use a MemorySessionStore, or a store of your own');
    if (!globalThis.navigator?.locks) {
      throw new Error('there are no Web Locks here, without which two tabs would write to one session: pages have them when served by https or from localhost');
    }
    const connection = new Connection(database, name);
    await connection.opened(); // whatever is wrong with it is told now
    return new IndexedDbSessionStore(connection, name);
  }

  close() {
    super.close();
    this.#connection.close();
  }
}

/** The connection to a database. Where it is closed because the site's data are deleted, the next transaction opens it anew. */
class Connection {
  #database;
  #name;
  #opening;
  #isClosed = false;

  constructor(database, name) {
    this.#database = database;
    this.#name = name;
  }

  opened() {
    if (this.#isClosed) return Promise.reject(new Error('the store of the sessions was closed'));
    this.#opening ??= this.#open();
    return this.#opening;
  }

  close() {
    this.#isClosed = true;
    this.#opening?.then((connection) => connection.close(), () => {});
  }

  async #open() {
    try {
      const request = opening(this.#database, this.#name);
      request.onupgradeneeded = () => request.result.createObjectStore(TABLE);
      const connection = await answered(request, `the browser does not open its storage (${this.#name})`);
      const forget = () => {
        this.#opening = undefined;
      };
      connection.onclose = forget;
      // A page that deletes the database must not wait for this one.
      connection.onversionchange = () => {
        forget();
        connection.close();
      };
      return connection;
    } catch (error) {
      this.#opening = undefined;
      throw error;
    }
  }
}

/** A page whose storage is blocked may be refused already when it looks for it. */
function storage() {
  try {
    return globalThis.indexedDB;
  } catch (error) {
    throw blocked(error);
  }
}

function opening(database, name) {
  try {
    return database.open(name, 1);
  } catch (error) {
    throw blocked(error);
  }
}

function blocked(error) {
  return new Error(`the browser gives this page no storage (${error.message}): allow it for this page, or use a MemorySessionStore`, { cause: error });
}

/** The transactions of a connection. */
class Transactions {
  #connection;

  constructor(connection) {
    this.#connection = connection;
  }

  read(work) {
    return this.#run('readonly', work);
  }

  write(work) {
    return this.#run('readwrite', work);
  }

  async #run(mode, work) {
    const connection = await this.#connection.opened();
    const transaction = connection.transaction(TABLE, mode, { durability: 'strict' });
    const table = transaction.objectStore(TABLE);
    const over = new Promise((resolve, reject) => {
      transaction.oncomplete = resolve;
      transaction.onabort = () => reject(said(transaction.error, 'the browser did not keep it'));
    });
    over.catch(() => {});
    const below = (prefix) => IDBKeyRange.bound(prefix, [...prefix, []]);
    let result;
    try {
      result = await work({
        get: (key) => answered(table.get(key)),
        entries: async (prefix) => {
          const [keys, values] = await Promise.all([
            answered(table.getAllKeys(below(prefix))),
            answered(table.getAll(below(prefix))),
          ]);
          return keys.map((key, index) => [key, values[index]]);
        },
        set: (key, value) => {
          // A failure aborts the transaction, which tells it.
          table.put(value, key);
        },
        remove: (prefix) => answered(table.delete(below(prefix))),
      });
    } catch (error) {
      try {
        transaction.abort();
      } catch {
        // It has ended by itself, and says why.
        await over;
      }
      throw error instanceof DOMException ? said(error) : error;
    }
    await over;
    return result;
  }
}

/** One lock for each session, across all tabs of the origin. It ends with its tab. */
class TabLocks {
  #name;
  /** Locks of this page that are being released, by name. */
  static #ending = new Map();

  constructor(name) {
    this.#name = name;
  }

  async acquire(session) {
    const name = `windlass:${this.#name}:${session}`;
    await TabLocks.#ending.get(name);
    return new Promise((resolve, reject) => {
      let release;
      const held = new Promise((resolve) => {
        release = resolve;
      });
      const locked = navigator.locks.request(name, { ifAvailable: true }, async (lock) => {
        if (!lock) {
          resolve(undefined);
          return;
        }
        resolve(() => {
          TabLocks.#ending.set(name, locked);
          release();
        });
        await held;
      });
      locked.then(() => {
        if (TabLocks.#ending.get(name) === locked) TabLocks.#ending.delete(name);
      }, reject);
    });
  }
}

/** The answer of a request. */
function answered(request, doing) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(said(request.error, doing));
  });
}

function said(error, doing) {
  if (error?.name === 'QuotaExceededError') {
    return new Error('the storage that the browser has for this page is full: delete sessions that you do not need any more');
  }
  const reason = error?.message ?? 'no reason was given';
  return new Error(doing ? `${doing}: ${reason}` : reason);
}
