/** What components remember beyond a session (`windlass:host/state`, durable). */
import { isSame } from './bytes.js';

/** Bytes and number of all values under one id. */
export const MOST_BYTES = 16 << 20;
export const MOST_VALUES = 1_000;

/** How much a value is of {@link MOST_BYTES}: its key counts, too. */
export const sizeOf = ([name, value]) => name.length + value.length;

/** A `PluginStateStore` over the database of a store of sessions. */
export class DatabasePluginState {
  #database;

  /** @param {{ read: Function, write: Function }} database see `DatabaseStore` */
  constructor(database) {
    this.#database = database;
  }

  load(stateId) {
    return this.#database.read((tx) => valuesOf(tx, stateId));
  }

  async change(stateId, changes) {
    await this.#database.write(async (tx) => {
      const values = await valuesOf(tx, stateId);
      for (const [name, value] of changes) {
        if (value === undefined) values.delete(name);
        else values.set(name, value);
      }
      // Others may have added to it since it was read.
      const bytes = [...values].reduce((sum, entry) => sum + sizeOf(entry), 0);
      if (bytes > MOST_BYTES || values.size > MOST_VALUES) throw new Error('there is no room for it: sessions beside this one have filled it');
      for (const [name, value] of changes) {
        if (value === undefined) await tx.remove([...keyOf(stateId), name]);
        else tx.set([...keyOf(stateId), name], value);
      }
    });
  }

  async delete(stateId) {
    await this.#database.write((tx) => tx.remove(keyOf(stateId)));
  }
}

/**
 * Runs a component with what it remembers: everything is read before, and what it has changed is kept before its result counts.
 *
 * @template T
 * @param {object} host of one run; with `durable`, `{ store, stateId }`, if its state lasts, and else with `state`
 * @param {(host: object) => Promise<T>} run gets the host with `state`
 * @returns {Promise<T>}
 */
export async function remembering(host, run) {
  const { durable } = host;
  if (!durable) return run(host);
  const before = await durable.store.load(durable.stateId);
  const state = new Map(before);
  try {
    return await run({ ...host, state });
  } finally {
    const changes = changesOf(before, state);
    if (changes.size > 0) await kept(durable, changes);
  }
}

async function kept({ store, stateId }, changes) {
  try {
    await store.change(stateId, changes);
  } catch (cause) {
    throw new Error(`it has run, but what it remembers could not be kept: ${cause?.message ?? cause}`, { cause });
  }
}

/** What is new, and without a value what is gone. */
function changesOf(before, after) {
  const gone = [...before.keys()].filter((name) => !after.has(name)).map((name) => [name, undefined]);
  const isNew = ([name, value]) => !before.has(name) || !isSame(before.get(name), value);
  const set = [...after].filter(isNew);
  return new Map([...gone, ...set]);
}

async function valuesOf(tx, stateId) {
  const entries = await tx.entries(keyOf(stateId));
  return new Map(entries.map(([key, value]) => [key.at(-1), value]));
}

function keyOf(stateId) {
  return ['plugin-state', stateId];
}
