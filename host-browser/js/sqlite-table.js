/** Keys and values of objects in a database of SQLite, and when the objects want to be called. */

const TABLES = `
CREATE TABLE IF NOT EXISTS windlass_value (object TEXT NOT NULL, key TEXT NOT NULL, value NOT NULL, PRIMARY KEY (object, key)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS windlass_alarm (object TEXT PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID;
`;

/** One thing after the other: what is done beside a transaction waits for its end. */
export class SqliteTable {
  #database;
  #rows;
  #last = Promise.resolve();

  /** @param {object} database a `DatabaseSync` of `node:sqlite`, or what works like one: `exec`, and `prepare` with `get`, `all`, `run` */
  constructor(database) {
    database.exec(TABLES);
    this.#database = database;
    this.#rows = new Rows(database);
  }

  get(object, key) {
    return this.#next((rows) => rows.get(object, key));
  }

  put(object, key, value) {
    return this.#next((rows) => rows.put(object, key, value));
  }

  list(object, prefix) {
    return this.#next((rows) => rows.list(object, prefix));
  }

  remove(object, keys) {
    return this.#next((rows) => rows.remove(object, keys));
  }

  removeAll(object) {
    return this.#next((rows) => rows.removeAll(object));
  }

  /** Runs work as a whole or not at all. It waits for nothing but what it is given. */
  transaction(work) {
    return this.#next(async (rows) => {
      this.#database.exec('BEGIN IMMEDIATE');
      try {
        const result = await work(rows);
        this.#database.exec('COMMIT');
        return result;
      } catch (error) {
        this.#database.exec('ROLLBACK');
        throw error;
      }
    });
  }

  alarms() {
    return this.#database.prepare('SELECT object, at FROM windlass_alarm').all();
  }

  setAlarm(object, at) {
    return this.#next((rows) => rows.setAlarm(object, at));
  }

  #next(work) {
    const done = this.#last.then(() => work(this.#rows));
    this.#last = done.then(() => {}, () => {});
    return done;
  }
}

/** At once, in the transaction that runs. */
class Rows {
  #get;
  #put;
  #list;
  #remove;
  #removeAll;
  #alarm;
  #noAlarm;

  constructor(database) {
    const sql = (text) => database.prepare(text);
    this.#get = sql('SELECT value FROM windlass_value WHERE object = ? AND key = ?');
    this.#put = sql('INSERT OR REPLACE INTO windlass_value (object, key, value) VALUES (?, ?, ?)');
    // Texts in the order of their bytes; none that begins with the prefix is behind the prefix and the last character that there is.
    this.#list = sql('SELECT key, value FROM windlass_value WHERE object = ? AND key >= ? AND key < ? ORDER BY key');
    this.#remove = sql('DELETE FROM windlass_value WHERE object = ? AND key = ?');
    this.#removeAll = sql('DELETE FROM windlass_value WHERE object = ?');
    this.#alarm = sql('INSERT OR REPLACE INTO windlass_alarm (object, at) VALUES (?, ?)');
    this.#noAlarm = sql('DELETE FROM windlass_alarm WHERE object = ?');
  }

  get(object, key) {
    const row = this.#get.get(object, key);
    return row ? decoded(row.value) : undefined;
  }

  put(object, key, value) {
    this.#put.run(object, key, encoded(value));
  }

  list(object, prefix) {
    const rows = this.#list.all(object, prefix, `${prefix}\u{10ffff}`);
    return new Map(rows.map(({ key, value }) => [key, decoded(value)]));
  }

  remove(object, keys) {
    for (const key of keys) this.#remove.run(object, key);
  }

  removeAll(object) {
    this.#removeAll.run(object);
    this.#noAlarm.run(object);
  }

  setAlarm(object, at) {
    if (at === undefined) this.#noAlarm.run(object);
    else this.#alarm.run(object, at);
  }
}

/** Bytes stay bytes; everything else that sessions keep is JSON. */
function encoded(value) {
  return value instanceof Uint8Array ? value : JSON.stringify(value);
}

function decoded(value) {
  return typeof value === 'string' ? JSON.parse(value) : value;
}
