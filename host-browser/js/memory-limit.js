/** Bounds the memory of WebAssembly: a memory grows up to the maximum that its module declares. */
import { joined } from './bytes.js';
import { leb128, sections } from './wasm-binary.js';

/** How large a memory of a component may be where it declares nothing less, in bytes; as natively. */
export const MOST_MEMORY = 256 << 20;

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
  for (const { id, at, start, end } of sections(module)) {
    if (id !== MEMORIES) continue;
    const section = limited(module, start, pages);
    return joined([module.subarray(0, at), [MEMORIES], number(section.length), section, module.subarray(end)]);
  }
  return module;
}

/** The content of the section that begins there, with maxima. */
function limited(module, start, pages) {
  let [left, at] = leb128(module, start);
  const parts = [number(left)];
  for (; left > 0; left -= 1) {
    const kind = module[at];
    if (kind & IS_64) throw new Error('it has a memory with addresses of 64 bits, which is not bounded here');
    const [minimum, behind] = leb128(module, at + 1);
    if (minimum > pages) throw new Error(`it needs ${minimum * PAGE} bytes of memory, the limit is ${pages * PAGE}`);
    const [maximum, end] = kind & HAS_MAXIMUM ? leb128(module, behind) : [pages, behind];
    parts.push([kind | HAS_MAXIMUM], number(minimum), number(Math.min(maximum, pages)));
    at = end;
  }
  return joined(parts);
}

/** The bytes of an unsigned number (LEB128). */
function number(value) {
  const bytes = [];
  for (; value >= 0x80; value = Math.floor(value / 0x80)) bytes.push((value % 0x80) | 0x80);
  return [...bytes, value];
}
