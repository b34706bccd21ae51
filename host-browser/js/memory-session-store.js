/** A store of sessions in memory. */
import { LocalLocks } from './local-locks.js';
import { DatabaseStore } from './session-store.js';

/** Keeps sessions as long as the page or process lives. */
export class MemorySessionStore extends DatabaseStore {
  #database;

  constructor(database = new MemoryDatabase()) {
    super(database, database.locks, 'memory:');
    this.#database = database;
  }

  /** Another store over the same sessions, as another tab would have. */
  again() {
    return new MemorySessionStore(this.#database);
  }
}

/** Keys and values, in the order of the keys' insertion below each kind and session. */
class MemoryDatabase {
  /** By the first two parts of keys, then by the whole key. */
  #groups = new Map();
  #last = Promise.resolve();
  /** Who writes to which session, for all stores over it. */
  locks = new LocalLocks();

  read(work) {
    return this.write(work);
  }

  /** One after the other; what a transaction that fails has changed is put back. */
  write(work) {
    const run = this.#last.then(async () => {
      const undo = [];
      try {
        return await work({
          get: async (key) => this.#get(key),
          entries: async (prefix) => this.#entries(prefix),
          set: (key, value) => {
            const before = this.#get(key);
            undo.push(() => this.#set(key, before));
            this.#set(key, value);
          },
          remove: async (prefix) => {
            for (const [key, value] of this.#entries(prefix)) {
              undo.push(() => this.#set(key, value));
              this.#set(key, undefined);
            }
          },
        });
      } catch (error) {
        for (const step of undo.reverse()) step();
        throw error;
      }
    });
    this.#last = run.catch(() => {});
    return run;
  }

  #get(key) {
    return this.#group(key)?.get(JSON.stringify(key));
  }

  #group(key) {
    return this.#groups.get(groupOf(key));
  }

  /** Sets a value; `undefined` takes it away. */
  #set(key, value) {
    const name = groupOf(key);
    const group = this.#groups.get(name) ?? new Map();
    if (value === undefined) group.delete(JSON.stringify(key));
    else group.set(JSON.stringify(key), value);
    if (group.size === 0) this.#groups.delete(name);
    else this.#groups.set(name, group);
  }

  #entries(prefix) {
    const below = JSON.stringify(prefix).slice(0, -1);
    const groups = prefix.length >= 2 ? [this.#group(prefix) ?? new Map()] : this.#below(below);
    const entries = groups.flatMap((group) => [...group]).map(([key, value]) => [JSON.parse(key), value]);
    return entries.filter(([key]) => prefix.every((part, index) => key[index] === part));
  }

  #below(start) {
    return [...this.#groups].filter(([name]) => name.startsWith(start)).map(([, group]) => group);
  }
}

function groupOf(key) {
  return JSON.stringify(key.slice(0, 2));
}
