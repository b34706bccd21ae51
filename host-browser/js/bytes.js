/** Bytes. */

/** One array of all pieces, each an array of bytes. */
export function joined(pieces) {
  const bytes = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

/** Whether two arrays have the same bytes. */
export function isSame(a, b) {
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}
