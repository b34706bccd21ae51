/** Random bytes of one run: each attempt gets the same ones, so that it does the same. */
import { joined } from './bytes.js';

/** Bytes of one run. */
const MOST = 16 << 20;

/** Bytes that are made at once: `getRandomValues` gives no more. */
const PIECE = 1 << 16;

export class RecordedRandom {
  #made = new Uint8Array();

  /** For one attempt: a function that gives the next bytes. */
  attempt() {
    let at = 0;
    return (length) => {
      this.#make(at + length);
      at += length;
      return this.#made.slice(at - length, at);
    };
  }

  #make(length) {
    if (length > MOST) throw new Error(`it asked for more than ${MOST} random bytes in one call`);
    const pieces = [this.#made];
    for (let made = this.#made.length; made < length; made += PIECE) pieces.push(crypto.getRandomValues(new Uint8Array(PIECE)));
    if (pieces.length > 1) this.#made = joined(pieces);
  }
}
