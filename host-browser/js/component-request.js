/** What a request of a component must be to be sent. */
import { originOf, urlOf } from './network-grant.js';

/**
 * Headers of the connection, those that decide where a request leads, and those that a browser sets itself or leaves out without a
 * word (https://fetch.spec.whatwg.org/#forbidden-request-header): a component that believes it has sent one has not.
 */
const OF_THE_HOST = [
  'access-control-request-headers', 'access-control-request-local-network', 'access-control-request-method',
  'access-control-request-private-network', 'connection', 'content-length', 'cookie', 'cookie2', 'date', 'dnt', 'expect', 'host',
  'http2-settings', 'keep-alive', 'origin', 'referer', 'set-cookie', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'via',
];
const PREFIXES_OF_THE_HOST = ['proxy-', 'sec-'];

/** Headers that ask for an answer in another form or in parts: in such a one a secret would not be found. */
const ASKING_FOR_DISGUISE = ['accept-encoding', 'accept-charset', 'range', 'if-range', 'a-im'];

/** Headers of a request at most, bytes of all of them, and characters of a URL; as natively. */
const MOST_HEADERS = 100;
const MOST_HEADER_BYTES = 32 << 10;
const LONGEST_URL = 8 << 10;

/** Characters that parsers leave out or turn, which nobody who reads a URL expects. */
const ODD = /[\p{Cc} \\]/u;

/** Why something is not sent, as `windlass:host/http` has it. */
export function refused(reason) {
  return { tag: 'refused', val: reason };
}

/**
 * The request, if it may be sent: its origin and method are granted, and its headers are its own.
 *
 * @param {{ method: string, url: string, headers: { name: string, value: string }[], body: Uint8Array[] }} request
 * @param {import('./network-grant.js').NetworkGrant} network
 * @param {(what: string) => void} note tells the log of the host what the component does not learn
 * @returns {{ origin: string, url: string, method: string, headers: Headers, body: Uint8Array[], size: number }}
 * @throws a `failure` of `windlass:host/http`
 */
export function judged({ method, url: text, headers, body }, network, note) {
  if (!network.isOpen) {
    note('refused a request: no network is granted');
    throw refused('this component was granted no network');
  }
  if (text.length > LONGEST_URL) throw refused('the URL is too long');
  const url = ODD.test(text) ? undefined : urlOf(text);
  if (!url) throw refused('the URL is none: it must be absolute');
  const origin = originOf(url);
  if (origin === undefined || !network.lets(origin, method)) {
    note(`refused a request to ${url.origin.slice(0, 200)}: not granted`);
    throw refused('this component was not granted this origin with this method');
  }
  const size = body.reduce((sum, piece) => sum + piece.length, 0);
  if (size > 0 && (method === 'GET' || method === 'HEAD')) throw refused(`a request with the method ${method} has no body here`);
  return { origin, url: url.href, method, headers: checkedHeaders(headers, network), body, size };
}

function checkedHeaders(given, network) {
  const bytes = given.reduce((sum, { name, value }) => sum + name.length + value.length, 0);
  if (given.length > MOST_HEADERS || bytes > MOST_HEADER_BYTES) throw refused('the headers are too many or too long');
  const headers = new Headers();
  for (const { name, value } of given) {
    const lower = checkedName(name, 'the name of a header is none');
    if (!isPlain(value, '\t')) throw refused(`the value of the header \`${lower}\` is none`);
    if (!isFree(lower)) throw refused(`the header \`${lower}\` is set by the host`);
    if (network.hasSecrets && asksForDisguise(lower)) throw refused(`a component with secrets cannot set the header \`${lower}\``);
    headers.append(lower, value);
  }
  return headers;
}

/** The name of a header in small letters. */
export function checkedName(name, fault) {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) throw refused(fault);
  return name.toLowerCase();
}

/** Whether a text is visible ASCII and spaces. */
export function isPlain(text, further = '') {
  return [...text].every((character) => (character >= ' ' && character <= '~') || further.includes(character));
}

/** Whether a component, or the header of a secret, may set this header. */
export function isFree(name) {
  return !OF_THE_HOST.includes(name) && !PREFIXES_OF_THE_HOST.some((prefix) => name.startsWith(prefix));
}

export function asksForDisguise(name) {
  return ASKING_FOR_DISGUISE.includes(name);
}
