/** The binary format of WebAssembly, as far as it has to be read here. */

/** Where the sections begin, behind the magic number and the version. */
const HEADER = 8;

/**
 * The sections at the top level: the id of each, where it begins, and where its content does and ends.
 * @param {Uint8Array} bytes
 */
export function* sections(bytes) {
  for (let at = HEADER; at < bytes.length; ) {
    const [size, start] = leb128(bytes, at + 1);
    const end = start + size;
    if (end > bytes.length) throw new Error(`damaged WebAssembly: the section at byte ${at} does not fit the file`);
    yield { id: bytes[at], at, start, end };
    at = end;
  }
}

/** An unsigned number of at most 32 bits at a place, and the place after it. */
export function leb128(bytes, at) {
  let value = 0;
  for (let i = 0; i < 5 && at + i < bytes.length; i += 1) {
    const byte = bytes[at + i];
    value += (byte & 0x7f) * 2 ** (7 * i);
    if (byte < 0x80) return [value, at + i + 1];
  }
  throw new Error(`damaged WebAssembly: no number at byte ${at}`);
}
