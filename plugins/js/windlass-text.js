// Text as UTF-8 and back. QuickJS, which runs plugins, has neither TextEncoder nor TextDecoder.

const REPLACEMENT = 0xfffd;
/** How many code units are put together at once: `String.fromCharCode` takes them as arguments. */
const PIECE = 4096;

/**
 * The text of UTF-8 bytes. What is not UTF-8 becomes U+FFFD, as in browsers; a byte order mark is left out.
 *
 * @param {ArrayLike<number>} given
 * @returns {string}
 */
export function decode(given) {
  const bytes = given instanceof Uint8Array ? given : new Uint8Array(given);
  let text = "";
  let at = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  while (at < bytes.length) {
    // What is ASCII is text as it stands. An interpreter runs this: what is done for each byte is what counts.
    const begin = at;
    const end = Math.min(begin + PIECE, bytes.length);
    while (at < end && bytes[at] < 0x80) at += 1;
    if (at > begin) {
      text += String.fromCharCode.apply(null, bytes.subarray(begin, at));
      continue;
    }
    const units = [];
    while (at < bytes.length && bytes[at] >= 0x80 && units.length < PIECE) {
      const read = codePoint(bytes, at);
      const point = read >> 3;
      at += read & 7;
      if (point > 0xffff) {
        units.push(0xd800 + ((point - 0x10000) >> 10), 0xdc00 + ((point - 0x10000) & 0x3ff));
      } else {
        units.push(point);
      }
    }
    text += String.fromCharCode.apply(null, units);
  }
  return text;
}

/** The code point at a position beyond ASCII, times eight, and how many bytes it takes. */
function codePoint(bytes, at) {
  const first = bytes[at];
  const more = first >= 0xf0 && first < 0xf5 ? 3 : first >= 0xe0 ? 2 : 1;
  if (first < 0xc2 || first > 0xf4) return (REPLACEMENT << 3) | 1;
  let point = first & (0x3f >> more);
  for (let index = 1; index <= more; index += 1) {
    const byte = bytes[at + index];
    const [low, high] = index === 1 ? second(first) : [0x80, 0xbf];
    if (!(byte >= low && byte <= high)) return (REPLACEMENT << 3) | index;
    point = (point << 6) | (byte & 0x3f);
  }
  return (point << 3) | (more + 1);
}

/** What may follow a first byte: no overlong forms, no surrogates, nothing beyond U+10FFFF. */
function second(first) {
  switch (first) {
    case 0xe0:
      return [0xa0, 0xbf];
    case 0xed:
      return [0x80, 0x9f];
    case 0xf0:
      return [0x90, 0xbf];
    case 0xf4:
      return [0x80, 0x8f];
    default:
      return [0x80, 0xbf];
  }
}

/**
 * The UTF-8 bytes of a text. Half of a surrogate pair becomes U+FFFD.
 *
 * @param {string} text
 * @returns {Uint8Array}
 */
export function encode(text) {
  // No code unit takes more than three bytes.
  const bytes = new Uint8Array(text.length * 3);
  let length = 0;
  for (let index = 0; index < text.length; index += 1) {
    let point = text.charCodeAt(index);
    if (point < 0x80) {
      bytes[length++] = point;
      continue;
    }
    point = text.codePointAt(index);
    if (point > 0xffff) index += 1;
    else if (point >= 0xd800 && point <= 0xdfff) point = REPLACEMENT;
    const more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    bytes[length++] = ((0xf00 >> (more + 1)) & 0xff) | (point >> (6 * more));
    for (let rest = more - 1; rest >= 0; rest -= 1) {
      bytes[length++] = 0x80 | ((point >> (6 * rest)) & 0x3f);
    }
  }
  return bytes.slice(0, length);
}
