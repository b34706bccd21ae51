/**
 * Stores of sessions: transcripts, documents and settings over a small database of keys, which is in memory or in the browser.
 *
 * What a store promises is written down at `SessionStore` in `index.d.ts`; `checkStore` of the test kit shows whether one keeps it.
 */
import { isSame, joined } from './bytes.js';
import { DatabasePluginState } from './plugin-state.js';

/** The most characters or bytes of a piece: databases limit what they keep under one key. */
const LONGEST_PIECE = 512 * 1024;

/** A session that cannot be read or written; `kind` says why, as `SessionStore` lists it. */
export class StoreError extends Error {
  constructor(kind, message) {
    super(message);
    this.name = 'StoreError';
    this.kind = kind;
  }
}

/**
 * A store over a database.
 *
 * A database runs `read` and `write` transactions, each as a whole or not at all: a function that gets
 * `{ get(key), entries(prefix), set(key, value), remove(prefix) }`, where keys are arrays of texts and numbers, `entries` are in
 * the order of the keys, and a key that is the prefix itself is removed, too. `locks.acquire(name)` resolves to a function that releases the lock, or to `undefined` if somebody has it.
 */
export class DatabaseStore {
  #database;
  #locks;
  #place;
  /** The leases of this store: by session, `{ epoch, release }`. */
  #leases = new Map();

  /** @protected */
  constructor(database, locks, place) {
    /** What components remember for good, beside the sessions. */
    this.pluginState = new DatabasePluginState(database);
    this.#database = database;
    this.#locks = locks;
    this.#place = place;
  }

  async create(session) {
    return this.#lease(session, (isStored) => {
      if (isStored) throw new StoreError('exists', `Session ID ${session} is already in use.`);
    });
  }

  async open(session) {
    return this.#lease(session, (isStored) => {
      if (!isStored) throw unknown(session);
    });
  }

  /** Takes the lock first, so that what is checked then stays true. */
  async #lease(session, check) {
    const release = await this.#locks.acquire(session);
    if (!release) throw busy(session);
    try {
      const epoch = await this.#database.write(async (tx) => {
        check((await tx.get(['session', session])) !== undefined);
        const epoch = ((await tx.get(['epoch', session])) ?? 0) + 1;
        tx.set(['epoch', session], epoch);
        return epoch;
      });
      this.#leases.set(session, { epoch, release });
      return epoch;
    } catch (error) {
      release();
      throw error;
    }
  }

  release(session, epoch) {
    const lease = this.#leases.get(session);
    if (lease?.epoch !== epoch) return;
    this.#leases.delete(session);
    lease.release();
  }

  async append(session, epoch, agent, lines, snapshot) {
    await this.#written(session, epoch, async (tx) => {
      if (lines.length === 0 && snapshot === undefined) return;
      const log = ['line', session, agent ?? ''];
      if (lines.length > 0) await push(tx, log, lines.map((line) => `${line}\n`).join(''));
      if (snapshot !== undefined) {
        await replace(tx, ['snapshot', session, agent ?? ''], snapshot);
        tx.set(['after', session, agent ?? ''], (await tx.get(['next', ...log])) ?? 0);
      }
      const order = ((await tx.get(['order'])) ?? 0) + 1;
      tx.set(['order'], order);
      tx.set(['session', session], { modified: Date.now(), order });
    });
  }

  async load(session, agent) {
    return this.#database.read(async (tx) => {
      const log = ['line', session, agent ?? ''];
      const pieces = await tx.entries(log);
      if (pieces.length === 0) return undefined;
      const after = await tx.get(['after', session, agent ?? '']);
      const isCurrent = after === (await tx.get(['next', ...log]));
      const snapshot = after === undefined ? [] : await tx.entries(['snapshot', session, agent ?? '']);
      return {
        text: pieces.map(([, piece]) => piece).join(''),
        snapshot: after === undefined ? undefined : { bytes: joined(snapshot.map(([, piece]) => piece)), isCurrent },
      };
    });
  }

  async put(session, epoch, name, document) {
    await this.#written(session, epoch, async (tx) => {
      await replace(tx, ['document', session, name], document);
    });
  }

  async extend(session, epoch, name, bytes) {
    await this.#written(session, epoch, (tx) => push(tx, ['document', session, name], bytes));
  }

  async get(session, name) {
    const pieces = await this.#database.read((tx) => tx.entries(['document', session, name]));
    return pieces.length === 0 ? undefined : joined(pieces.map(([, piece]) => piece));
  }

  async list() {
    const sessions = await this.#database.read((tx) => tx.entries(['session']));
    sessions.sort(([, a], [, b]) => b.order - a.order);
    return sessions.map(([[, id], { modified }]) => ({ id, modified }));
  }

  async delete(session) {
    const release = await this.#locks.acquire(session);
    if (!release) throw busy(session);
    try {
      await this.#database.write(async (tx) => {
        if ((await tx.get(['session', session])) === undefined) throw unknown(session);
        // The epoch stays: a lease of before is never valid again.
        for (const kind of ['session', 'line', 'snapshot', 'after', 'document']) await tx.remove([kind, session]);
        for (const kind of ['line', 'snapshot', 'document']) await tx.remove(['next', kind, session]);
      });
    } finally {
      release();
    }
  }

  place(session, agent) {
    const path = `${this.#place}/${session}`;
    return agent === undefined || agent === null ? path : `${path}/subagents/${agent}`;
  }

  documentPlace(session, name) {
    return `${this.#place}/${session}/${name}`;
  }

  async settings(of) {
    return this.#database.read((tx) => tx.get(['settings', of]));
  }

  async replaceSettings(of, read, settings) {
    // No transaction waits for anything but its database.
    const before = await this.settings(of);
    const digest = before && (await digestOf(before));
    await this.#database.write(async (tx) => {
      const now = await tx.get(['settings', of]);
      if (digest !== (read ?? undefined) || !same(before, now)) {
        throw new StoreError('changed', `${this.settingsPlace(of)} has been changed by somebody else since it was read`);
      }
      tx.set(['settings', of], settings);
    });
  }

  settingsPlace(of) {
    return of === 'session' || of === 'cliArg' ? undefined : `${this.#place}/settings/${of}`;
  }

  /** Releases all leases: of a page that goes on, or of a worker that is about to end. */
  close() {
    for (const [session, { epoch }] of [...this.#leases]) this.release(session, epoch);
  }

  /** Writes under a lease, which is looked at in the same transaction. */
  async #written(session, epoch, write) {
    const stale = () => new StoreError('stale', `the lease of session ${session} has ended: nothing is written under it any more`);
    if (this.#leases.get(session)?.epoch !== epoch) throw stale();
    await this.#database.write(async (tx) => {
      if ((await tx.get(['epoch', session])) !== epoch) throw stale();
      await write(tx);
    });
  }
}

/** Puts bytes in place of what a log has. */
async function replace(tx, log, bytes) {
  await tx.remove(log);
  tx.set(['next', ...log], 0);
  await push(tx, log, bytes);
}

/** Adds a text or bytes to a log. */
async function push(tx, log, added) {
  let next = (await tx.get(['next', ...log])) ?? 0;
  let from = 0;
  do {
    tx.set([...log, next], added.slice(from, from + LONGEST_PIECE));
    next += 1;
    from += LONGEST_PIECE;
  } while (from < added.length);
  tx.set(['next', ...log], next);
}

function same(a, b) {
  return a === b || (a !== undefined && b !== undefined && isSame(a, b));
}

/** As the engine writes it: SHA-256 in hexadecimal digits. */
async function digestOf(bytes) {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function busy(session) {
  return new StoreError('busy', `session ${session} is open elsewhere, perhaps in another tab: end it there, or go on in a fork of it`);
}

function unknown(session) {
  return new StoreError('unknown', `nothing is kept of a session ${session}`);
}
