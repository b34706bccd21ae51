/** Bounds the memory of WebAssembly: a memory grows up to the maximum that its module declares. */

const PAGE = 64 << 10;

/** The section of a module's memories. */
const MEMORIES = 5;

/** Bits of a memory's kind: whether it has a maximum, and whether its addresses have 64 bits. */
const HAS_MAXIMUM = 1;
const IS_64 = 4;

/**
 * The module with no memory of its own that can be larger.
 *
 * @param {Uint8Array} module
 * @param {number} most bytes
 * @throws where the module needs more from the beginning
 */
export function withMemoryLimit(module, most) {
  const pages = Math.floor(most / PAGE);
  for (let at = 8; at < module.length; ) {
    const [size, start] = numberAt(module, at + 1);
    if (module[at] === MEMORIES) {
      const section = limited(module, start, pages);
      return joined([module.subarray(0, at), [MEMORIES], number(section.length), section, module.subarray(start + size)]);
    }
    at = start + size;
  }
  return module;
}

/** The content of the section that begins there, with maxima. */
function limited(module, start, pages) {
  let [left, at] = numberAt(module, start);
  const parts = [number(left)];
  for (; left > 0; left -= 1) {
    const kind = module[at];
    if (kind & IS_64) throw new Error('it has a memory with addresses of 64 bits, which is not bounded here');
    const [minimum, behind] = numberAt(module, at + 1);
    if (minimum > pages) throw new Error(`it needs ${minimum * PAGE} bytes of memory, the limit is ${pages * PAGE}`);
    const [maximum, end] = kind & HAS_MAXIMUM ? numberAt(module, behind) : [pages, behind];
    parts.push([kind | HAS_MAXIMUM], number(minimum), number(Math.min(maximum, pages)));
    at = end;
  }
  return joined(parts);
}

/** An unsigned number (LEB128) and the place behind it. */
function numberAt(bytes, at) {
  let value = 0;
  for (let i = 0; i < 5 && at + i < bytes.length; i += 1) {
    const byte = bytes[at + i];
    value += (byte & 0x7f) * 2 ** (7 * i);
    if (byte < 0x80) return [value, at + i + 1];
  }
  throw new Error(`damaged WebAssembly: no number at byte ${at}`);
}

function number(value) {
  const bytes = [];
  for (; value >= 0x80; value = Math.floor(value / 0x80)) bytes.push((value % 0x80) | 0x80);
  return [...bytes, value];
}

function joined(parts) {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
