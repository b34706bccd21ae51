/** Takes secrets out of what servers answer: as they are, percent-encoded, escaped as JSON, in base64 and in hexadecimal. */
import { joined } from './bytes.js';

/** What stands in the place of a secret. */
const REPLACEMENT = new TextEncoder().encode('[key]');

/** Bytes at the beginning of a form by which it is looked for; no form is shorter. */
const BEGINNING = 4;

/** How many kinds of beginnings are told apart before forms are compared: a power of two. */
const KINDS = 1 << 16;

export class Redactor {
  /** The forms of all secrets by how they begin, of two with one beginning the longer one first. */
  #forms = new Map();
  /** Which kinds of beginnings there are: most places of an answer are passed by a look at this. */
  #begins = new Uint8Array(KINDS);

  /** @param {string[]} secrets of at least eight bytes */
  constructor(secrets) {
    const forms = new Set(secrets.flatMap((secret) => formsOf(binary(secret))));
    for (const form of [...forms].sort((a, b) => b.length - a.length).map(bytesOf)) {
      const beginning = beginningAt(form, 0);
      this.#forms.set(beginning, [...(this.#forms.get(beginning) ?? []), form]);
      this.#begins[kindOf(beginning)] = 1;
    }
  }

  /** @param {Uint8Array} bytes */
  bytes(bytes) {
    const pieces = [];
    let kept = 0;
    for (let at = this.#next(bytes, 0); at >= 0; at = this.#next(bytes, kept)) {
      pieces.push(bytes.subarray(kept, at), REPLACEMENT);
      kept = at + this.#formAt(bytes, at).length;
    }
    return kept === 0 ? bytes : joined([...pieces, bytes.subarray(kept)]);
  }

  text(text) {
    return new TextDecoder().decode(this.bytes(new TextEncoder().encode(text)));
  }

  /** The value of a header as `fetch` gives it, a character for each byte, as text. */
  header(value) {
    return new TextDecoder().decode(this.bytes(bytesOf(value)));
  }

  /** Where the next form is, from a position on. */
  #next(bytes, from) {
    if (this.#forms.size === 0) return -1;
    let beginning = from + BEGINNING <= bytes.length ? beginningAt(bytes, from) : 0;
    for (let at = from; at + BEGINNING <= bytes.length; at += 1) {
      if (this.#begins[kindOf(beginning)] === 1 && this.#formAt(bytes, at)) return at;
      beginning = ((beginning << 8) | bytes[at + BEGINNING]) >>> 0;
    }
    return -1;
  }

  #formAt(bytes, at) {
    const isThere = (form) => form.length <= bytes.length - at && form.every((byte, i) => byte === bytes[at + i]);
    return this.#forms.get(beginningAt(bytes, at))?.find(isThere);
  }
}

/** The first bytes from a position on, as a number. */
function beginningAt(bytes, at) {
  return ((bytes[at] << 24) | (bytes[at + 1] << 16) | (bytes[at + 2] << 8) | bytes[at + 3]) >>> 0;
}

function kindOf(beginning) {
  // Multiplied so that texts, which use few bytes, are told apart.
  return Math.imul(beginning, 0x9e3779b1) >>> 16;
}

/** A text as UTF-8, with a character for each byte. */
function binary(text) {
  return [...new TextEncoder().encode(text)].map((byte) => String.fromCharCode(byte)).join('');
}

function bytesOf(binary) {
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
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
