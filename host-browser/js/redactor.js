/** Takes secrets out of what servers answer: as they are, percent-encoded, escaped as JSON, in base64 and in hexadecimal. */

/** What stands in the place of a secret. */
const REPLACEMENT = '[key]';

/** Characters that are put together at once: a call takes only so many arguments. */
const PIECE = 0x8000;

export class Redactor {
  /** Finds every form of every secret; of two at one place the longer. */
  #pattern;

  /** @param {string[]} secrets */
  constructor(secrets) {
    const forms = [...new Set(secrets.flatMap((secret) => formsOf(binary(new TextEncoder().encode(secret)))))];
    forms.sort((a, b) => b.length - a.length);
    if (forms.length > 0) this.#pattern = new RegExp(forms.map(literal).join('|'), 'g');
  }

  /** @param {Uint8Array} bytes */
  bytes(bytes) {
    if (!this.#pattern) return bytes;
    const text = binary(bytes);
    const clean = text.replace(this.#pattern, REPLACEMENT);
    return clean === text ? bytes : Uint8Array.from(clean, (character) => character.charCodeAt(0));
  }

  text(text) {
    return new TextDecoder().decode(this.bytes(new TextEncoder().encode(text)));
  }

  /** The value of a header as `fetch` gives it, a character for each byte, as text. */
  header(value) {
    return new TextDecoder().decode(this.bytes(Uint8Array.from(value, (character) => character.charCodeAt(0))));
  }
}

/** Each byte as a character. */
function binary(bytes) {
  const pieces = [];
  for (let start = 0; start < bytes.length; start += PIECE) {
    pieces.push(String.fromCharCode(...bytes.subarray(start, start + PIECE)));
  }
  return pieces.join('');
}

/** A secret as it is and in other encodings, with a character for each byte. */
function formsOf(key) {
  const hex = [...key].map((byte) => hexOf(byte)).join('');
  const percent = [...key].map((byte) => (/[A-Za-z0-9_.~-]/.test(byte) ? byte : `%${hexOf(byte)}`)).join('');
  return [
    key,
    JSON.stringify(key).slice(1, -1),
    jsonForPages(key, '/', ''),
    jsonForPages(key, '', "<>&'=+"),
    jsonForPages(key, '/', "<>&'=+"),
    percent,
    percent.replace(/%../g, (code) => code.toUpperCase()),
    hex,
    hex.toUpperCase(),
    ...base64(key),
  ];
}

/** As encoders of JSON write it that escape for HTML: some characters with a backslash, others by their number. */
function jsonForPages(key, escaped, numbered) {
  const written = (byte) => {
    if (numbered.includes(byte)) return `\\u00${hexOf(byte)}`;
    return escaped.includes(byte) || byte === '"' || byte === '\\' ? `\\${byte}` : byte;
  };
  return [...key].map(written).join('');
}

/** Three bytes become four characters, so what stands before it decides how it is written: what is its own in each case. */
function base64(key) {
  return [0, 1, 2].flatMap((before) => {
    const text = btoa('\0'.repeat(before) + key);
    const own = text.slice([0, 2, 3][before], Math.floor(((before + key.length) * 8) / 6));
    return [own, own.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

function hexOf(byte) {
  return byte.charCodeAt(0).toString(16).padStart(2, '0');
}

function literal(text) {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
}
