/** Which files a call has read or written: what it may say that it has seen. */

/** Files that are remembered of one call at most; as natively. */
const MOST = 10_000;

/** The files of which a call was handed content, or into which it has written, by their absolute paths. */
export class HandledFiles {
  #paths = new Set();

  /** Remembers a file, if there are not too many. */
  add(path) {
    if (this.#paths.size < MOST) this.#paths.add(path);
  }

  has(path) {
    return this.#paths.has(path);
  }
}
