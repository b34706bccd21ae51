/** Locks among those who share this object. */
export class LocalLocks {
  #locked = new Set();

  /** Gives a function that releases the lock, or nothing if somebody has it. */
  async acquire(name) {
    if (this.#locked.has(name)) return undefined;
    this.#locked.add(name);
    return () => this.#locked.delete(name);
  }
}
