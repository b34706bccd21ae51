/** Text and bytes, in the encodings that commands ask for; `binary` is a text whose characters are bytes. */

/** Characters made at once: a call takes only so many arguments. */
const PIECE = 0x8000;

export function decoded(bytes, encoding = 'utf8') {
  switch (encoding) {
    case 'ascii':
    case 'binary':
    case 'latin1':
      return fromBytes(bytes);
    case 'base64':
      return btoa(fromBytes(bytes));
    case 'hex':
      return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
    default:
      return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  }
}

export function encoded(content, encoding = 'utf8') {
  if (typeof content !== 'string') return Uint8Array.from(content);
  switch (encoding) {
    case 'ascii':
    case 'binary':
    case 'latin1':
      return Uint8Array.from(content, (character) => character.charCodeAt(0));
    case 'base64':
      return Uint8Array.from(atob(content), (character) => character.charCodeAt(0));
    case 'hex':
      return Uint8Array.from(content.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
    default:
      return new TextEncoder().encode(content);
  }
}

function fromBytes(bytes) {
  let text = '';
  for (let start = 0; start < bytes.length; start += PIECE) text += String.fromCharCode(...bytes.subarray(start, start + PIECE));
  return text;
}
