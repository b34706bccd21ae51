/** A store of sessions in memory. */
import { DatabaseStore } from './session-store.js';

/** Keeps sessions as long as the page or process lives. */
export class MemorySessionStore extends DatabaseStore {
  #database;

  constructor(database = new MemoryDatabase()) {
    super(database, database, 'memory:');
    this.#database = database;
  }

  /** Another store over the same sessions, as another tab would have. */
  again() {
    return new MemorySessionStore(this.#database);
  }
}

/** Keys and values, in the order of the keys' insertion below each kind and session; and locks. */
class MemoryDatabase {
  /** By the first two parts of keys, then by the whole key. */
  #groups = new Map();
  #last = Promise.resolve();
  #locked = new Set();

  async acquire(name) {
    if (this.#locked.has(name)) return undefined;
    this.#locked.add(name);
    return () => this.#locked.delete(name);
  }

  read(work) {
    return this.write(work);
  }

  /** One after the other; what a transaction that fails has set is forgotten. */
  write(work) {
    const run = this.#last.then(async () => {
      const changes = [];
      const result = await work({
        get: async (key) => this.#group(key)?.get(JSON.stringify(key)),
        entries: async (prefix) => this.#entries(prefix),
        set: (key, value) => changes.push(() => this.#set(key, value)),
        remove: async (prefix) => changes.push(() => this.#remove(prefix)),
      });
      for (const change of changes) change();
      return result;
    });
    this.#last = run.catch(() => {});
    return run;
  }

  #group(key) {
    return this.#groups.get(groupOf(key));
  }

  #set(key, value) {
    const group = groupOf(key);
    if (!this.#groups.has(group)) this.#groups.set(group, new Map());
    this.#groups.get(group).set(JSON.stringify(key), value);
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

  #remove(prefix) {
    for (const [key] of this.#entries(prefix)) {
      const group = groupOf(key);
      this.#groups.get(group)?.delete(JSON.stringify(key));
      if (this.#groups.get(group)?.size === 0) this.#groups.delete(group);
    }
  }
}

function groupOf(key) {
  return JSON.stringify(key.slice(0, 2));
}
