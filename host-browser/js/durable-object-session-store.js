/** A store of sessions in the storage of a Durable Object. */
import { DatabaseStore } from './session-store.js';
import { LocalLocks } from './local-locks.js';

/** Between the parts of a key; no part contains it. */
const SEPARATOR = '\n';

/** The most keys that the storage deletes at once. */
const KEYS_AT_ONCE = 128;

/**
 * Keeps sessions in the storage of a Durable Object (`ctx.storage`), which writes transactions as a whole. One object runs at a time,
 * so that its sessions have one writer.
 */
export class DurableObjectSessionStore extends DatabaseStore {
  /** Who writes to which session, for all stores over a storage. */
  static #locks = new WeakMap();

  /** @param {{ get: Function, list: Function, transaction: Function }} storage `ctx.storage` */
  constructor(storage) {
    const isStorage = ['get', 'list', 'transaction'].every((method) => typeof storage?.[method] === 'function');
    if (!isStorage) throw new TypeError('`new DurableObjectSessionStore` takes the storage of a Durable Object: `ctx.storage`');
    const locks = DurableObjectSessionStore.#locks.get(storage) ?? new LocalLocks();
    DurableObjectSessionStore.#locks.set(storage, locks);
    super(new Transactions(storage), locks, 'durable-object:');
  }
}

/** The transactions of a storage. */
class Transactions {
  #storage;

  constructor(storage) {
    this.#storage = storage;
  }

  read(work) {
    return work(view(this.#storage));
  }

  write(work) {
    return this.#storage.transaction((transaction) => work(view(transaction)));
  }
}

/** Keys of the storage are texts, in whose order it lists them. */
function view(storage) {
  return {
    get: (key) => storage.get(textOf(key)),
    entries: async (prefix) => {
      const listed = await storage.list({ prefix: textOf(prefix) + SEPARATOR });
      return [...listed].map(([key, value]) => [key.split(SEPARATOR), value]);
    },
    set: (key, value) => {
      // A failure fails the transaction.
      storage.put(textOf(key), value);
    },
    remove: async (prefix) => {
      const listed = await storage.list({ prefix: textOf(prefix) + SEPARATOR });
      const keys = [textOf(prefix), ...listed.keys()];
      for (let from = 0; from < keys.length; from += KEYS_AT_ONCE) {
        await storage.delete(keys.slice(from, from + KEYS_AT_ONCE));
      }
    },
  };
}

function textOf(key) {
  return key.map((part) => (typeof part === 'number' ? String(part).padStart(16, '0') : part)).join(SEPARATOR);
}
