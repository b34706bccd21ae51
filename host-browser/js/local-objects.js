/**
 * Objects of sessions in one process, in place of Durable Objects: for `edge` in Node, Deno and Bun.
 *
 * One process at a time may have a database: the objects know nothing of those of another one.
 */
import { SqliteTable } from './sqlite-table.js';

/** How long an object stays in memory after its last request. */
const IDLE_MS = 60_000;

/** The longest time that timers wait. */
const LONGEST_MS = 2 ** 31 - 1;

/** What `env` has under the name that the handler asks for, where the platform has no Durable Objects. */
export class LocalObjects {
  #Class;
  #env;
  #table;
  #idleMs;
  /** The objects that are in memory, by name: `{ object, requests, idle, left }`, where `left` is the end of one that is leaving. */
  #objects = new Map();
  #alarms = new Map();

  /**
   * @param {Function} Class the `SessionObject` of `edge`
   * @param {object} options
   * @param {object} options.database a `DatabaseSync` of `node:sqlite`, or what works like one
   * @param {object} [options.env] what the objects get as their environment
   * @param {number} [options.idleMs] after how many milliseconds without requests an object leaves the memory; default 60,000
   */
  constructor(Class, { database, env = {}, idleMs = IDLE_MS }) {
    this.#Class = Class;
    this.#env = env;
    this.#idleMs = idleMs;
    this.#table = new SqliteTable(database);
    for (const { object, at } of this.#table.alarms()) this.#ring(object, at);
  }

  idFromName(name) {
    return name;
  }

  get(name) {
    return { fetch: (request) => this.#with(name, (object) => object.fetch(request)) };
  }

  async #with(name, work) {
    while (this.#objects.get(name)?.left) await this.#objects.get(name).left;
    const kept = this.#objects.get(name) ?? { object: new this.#Class({ storage: this.#storageOf(name) }, this.#env), requests: 0 };
    this.#objects.set(name, kept);
    kept.requests += 1;
    clearTimeout(kept.idle);
    try {
      return await work(kept.object);
    } finally {
      kept.requests -= 1;
      this.#leaveLater(name, kept);
    }
  }

  /** An object that has answered a prompt may have more to say: it leaves when it rests. */
  #leaveLater(name, kept) {
    clearTimeout(kept.idle);
    kept.idle = timer(this.#idleMs, async () => {
      if (kept.requests > 0) return;
      if (!kept.object.rests()) return this.#leaveLater(name, kept);
      kept.left = kept.object.close().finally(() => this.#objects.delete(name));
      await kept.left;
    });
  }

  /** The storage of an object, as far as sessions use that of a Durable Object. */
  #storageOf(name) {
    const of = (table) => ({
      get: (key) => table.get(name, key),
      put: (key, value) => table.put(name, key, value),
      list: ({ prefix }) => table.list(name, prefix),
      delete: (keys) => table.remove(name, [keys].flat()),
    });
    return {
      ...of(this.#table),
      deleteAll: async () => {
        this.#silence(name);
        await this.#table.removeAll(name);
      },
      transaction: (work) => this.#table.transaction((table) => work(of(table))),
      setAlarm: async (at) => {
        await this.#table.setAlarm(name, at);
        this.#ring(name, at);
      },
    };
  }

  #ring(name, at) {
    this.#silence(name);
    const wait = Math.min(Math.max(at - Date.now(), 0), LONGEST_MS);
    this.#alarms.set(name, timer(wait, async () => {
      if (at > Date.now()) return this.#ring(name, at);
      this.#alarms.delete(name);
      await this.#table.setAlarm(name, undefined);
      await this.#with(name, (object) => object.alarm());
    }));
  }

  #silence(name) {
    clearTimeout(this.#alarms.get(name));
    this.#alarms.delete(name);
  }
}

/** A timer for which no process stays alive. */
function timer(ms, work) {
  const started = setTimeout(() => work().catch((error) => console.error(`windlass: ${error?.message ?? error}`)), ms);
  started.unref?.();
  return started;
}
