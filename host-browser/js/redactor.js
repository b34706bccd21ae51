/**
 * Takes secrets out of what servers answer: as they are, percent-encoded and as JSON writes them, whichever of their bytes are
 * escaped, in base64 and in hexadecimal, also in lines. The time is proportional to the text, whatever is in it: every way to read
 * it is one pass over it. `host-native/src/redact` does the same.
 */
import { joined } from './bytes.js';

/** What stands in the place of a secret. */
const REPLACEMENT = new TextEncoder().encode('[key]');

/** Bytes of the shortest form that a secret has by its own percent codes: a shorter one may be a word. */
const SHORTEST_DECODED = 8;

/** The most characters of line ends in a row that do not end a secret in base64 or hexadecimal. */
const MOST_SKIPPED = 4;

const [LF, CR, SPACE, PERCENT, PLUS, MINUS, SLASH, BACKSLASH, UNDERSCORE] = [...'\n\r %+-/\\_'].map((character) => character.charCodeAt(0));

/** What JSON writes by a character behind a backslash. */
const ESCAPES = new Map([...'"\\/bfnrt'].map((character, i) => [character.charCodeAt(0), '"\\/\b\f\n\r\t'.charCodeAt(i)]));

/** What is made of a decoded byte; -1 if it is passed over, after so many that were. */
const asIs = (byte) => byte;
const words = (byte) => (byte === SPACE ? PLUS : byte);
const inLines = (byte, skipped) => ((byte === LF || byte === CR) && skipped < MOST_SKIPPED ? -1 : byte);
const base64Digit = (byte, skipped) => (byte === MINUS ? PLUS : byte === UNDERSCORE ? SLASH : inLines(byte, skipped));
const hexDigit = (byte, skipped) => (byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : inLines(byte, skipped));

/** How texts are read: a server may write any byte as an escape, so texts are decoded instead of guessing which it does. */
const NOTATIONS = [
  { formsOf: plain, ways: [{ percent: false, json: false, made: asIs, needs: [] }] },
  {
    formsOf: decoded,
    ways: [
      { percent: false, json: true, made: words, needs: [[BACKSLASH]] },
      { percent: true, json: false, made: words, needs: [[PERCENT, PLUS]] },
      { percent: true, json: true, made: words, needs: [[BACKSLASH], [PERCENT, PLUS]] },
    ],
  },
  { formsOf: base64, ways: [{ percent: true, json: true, made: base64Digit, needs: [[BACKSLASH, PERCENT, CR, LF]] }] },
  { formsOf: (key) => [hex(key)], ways: [{ percent: true, json: true, made: hexDigit, needs: [] }] },
];

export class Redactor {
  /** What is looked for in each notation. */
  #searches = [];

  /** @param {string[]} secrets of at least eight bytes */
  constructor(secrets) {
    if (secrets.length === 0) return;
    const keys = secrets.map(binary);
    this.#searches = NOTATIONS.map(({ formsOf, ways }) => ({ forms: new Forms(new Set(keys.flatMap(formsOf))), ways }));
  }

  /** @param {Uint8Array} bytes */
  bytes(bytes) {
    const applies = ({ needs }) => needs.every((some) => some.some((byte) => bytes.includes(byte)));
    const found = this.#searches.flatMap(({ forms, ways }) => ways.filter(applies).flatMap((way) => forms.placesIn(bytes, way)));
    const places = [];
    for (const [start, end] of found.sort((a, b) => a[0] - b[0])) add(places, start, end);
    const pieces = [];
    let kept = 0;
    for (const [start, end] of places) {
      pieces.push(bytes.subarray(kept, start), REPLACEMENT);
      kept = end;
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
}

/** Texts to search for, as an automaton: a state for each beginning of one. */
class Forms {
  /** The states that follow by a byte, where the next beginning goes on if none does, and the length of the form that ends there. */
  #next = [new Map()];
  #otherwise = [0];
  #length = [0];
  /** The bytes that forms begin with: most others are passed by a look at this. */
  #first = new Int32Array(256);
  #longest = 0;

  constructor(forms) {
    for (const form of forms) {
      const end = [...bytesOf(form)].reduce((state, byte) => this.#grown(state, byte), 0);
      this.#length[end] = form.length;
      this.#longest = Math.max(this.#longest, form.length);
    }
    for (const [byte, state] of this.#next[0]) this.#first[byte] = state;
    // In the order of their lengths, since the next beginning is a shorter one.
    const states = [...this.#next[0].values()];
    for (let i = 0; i < states.length; i += 1) {
      for (const [byte, state] of this.#next[states[i]]) {
        this.#otherwise[state] = this.#step(this.#otherwise[states[i]], byte);
        this.#length[state] ||= this.#length[this.#otherwise[state]];
        states.push(state);
      }
    }
  }

  #grown(state, byte) {
    const next = this.#next[state];
    if (!next.has(byte)) {
      next.set(byte, this.#next.push(new Map()) - 1);
      this.#otherwise.push(0);
      this.#length.push(0);
    }
    return next.get(byte);
  }

  #step(from, byte) {
    for (let state = from; state !== 0; state = this.#otherwise[state]) {
      const next = this.#next[state].get(byte);
      if (next !== undefined) return next;
    }
    return this.#first[byte];
  }

  /** Where forms are in a text that is read in some way, in order and apart. */
  placesIn(bytes, { percent, json, made }) {
    const places = [];
    // Where the last decoded bytes begin in the text.
    const starts = new Int32Array(this.#longest);
    let [state, count, skipped] = [0, 0, 0];
    const take = (written, at, end) => {
      const byte = made(written, skipped);
      if (byte < 0) {
        skipped += 1;
        return;
      }
      skipped = 0;
      starts[count % starts.length] = at;
      count += 1;
      state = state === 0 ? this.#first[byte] : this.#step(state, byte);
      const length = this.#length[state];
      if (length > 0) add(places, starts[(count - length) % starts.length], end);
    };
    for (let at = 0; at < bytes.length; ) {
      const byte = bytes[at];
      const escape = (percent && byte === PERCENT && percentCode(bytes, at)) || (json && byte === BACKSLASH && jsonEscape(bytes, at));
      const length = escape ? escape.length : 1;
      if (!escape) take(byte, at, at + 1);
      else for (const written of escape.bytes) take(written, at, at + length);
      at += length;
    }
    return places;
  }
}

/** Adds a place to those before it: two that overlap are one. */
function add(places, start, end) {
  const place = [start, end];
  for (let last = places.at(-1); last !== undefined && last[1] > place[0]; last = places.at(-1)) {
    places.pop();
    place[0] = Math.min(place[0], last[0]);
    place[1] = Math.max(place[1], last[1]);
  }
  places.push(place);
}

/** `%2B` */
function percentCode(bytes, at) {
  const code = numberAt(bytes, at + 1, 2);
  return code < 0 ? undefined : { bytes: [code], length: 3 };
}

/** `\/`, `\n` or `\u002b`, also as one of two that are one character. */
function jsonEscape(bytes, at) {
  const byte = ESCAPES.get(bytes[at + 1]);
  if (byte !== undefined) return { bytes: [byte], length: 2 };
  const code = codeUnit(bytes, at);
  if (code < 0) return undefined;
  const second = code >= 0xd800 && code < 0xdc00 ? codeUnit(bytes, at + 6) : -1;
  const isPair = second >= 0xdc00 && second < 0xe000;
  const text = isPair ? String.fromCharCode(code, second) : String.fromCharCode(code);
  return { bytes: new TextEncoder().encode(text), length: isPair ? 12 : 6 };
}

function codeUnit(bytes, at) {
  return bytes[at] === BACKSLASH && bytes[at + 1] === 0x75 ? numberAt(bytes, at + 2, 4) : -1;
}

/** The number of so many hexadecimal digits at a position; -1 if there is none. */
function numberAt(bytes, at, digits) {
  let number = 0;
  for (let i = at; i < at + digits; i += 1) {
    const digit = bytes[i] === undefined ? Number.NaN : Number.parseInt(String.fromCharCode(bytes[i]), 16);
    if (Number.isNaN(digit)) return -1;
    number = number * 16 + digit;
  }
  return number;
}

/** A text as UTF-8, with a character for each byte. */
function binary(text) {
  return [...new TextEncoder().encode(text)].map((byte) => String.fromCharCode(byte)).join('');
}

function bytesOf(binary) {
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

/** A secret in texts that are not decoded, with a character for each byte. */
function plain(key) {
  // Here the percent sign before a code may belong to something else.
  const percent = [...key].map((byte) => (/[A-Za-z0-9_.~-]/.test(byte) ? byte : `%${hex(byte)}`)).join('');
  const forUrls = (text) => text.replaceAll('+', '-').replaceAll('/', '_');
  return [key, ...decoded(key), percent, percent.replace(/%../g, (code) => code.toUpperCase()), ...base64(key), ...base64(key).map(forUrls)];
}

/** A secret in decoded texts. One with percent signs may stand undecoded in a text that is decoded. */
function decoded(key) {
  const codes = key.replace(/%([0-9a-f]{2})/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));
  return [key, codes].filter((form) => form === key || form.length >= SHORTEST_DECODED).map((form) => form.replaceAll(' ', '+'));
}

function hex(key) {
  return [...key].map((byte) => byte.charCodeAt(0).toString(16).padStart(2, '0')).join('');
}

/** Three bytes become four characters, so what stands before it decides how it is written: what is its own in each case. */
function base64(key) {
  return [0, 1, 2].map((before) => {
    return btoa('\0'.repeat(before) + key).slice([0, 2, 3][before], Math.floor(((before + key.length) * 8) / 6));
  });
}
