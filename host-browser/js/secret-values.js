/** The values of a component's secrets: where they come from, which header they become, and how they are found again. */
import { asksForDisguise, checkedName, isFree, isPlain, refused } from './component-request.js';
import { Redactor } from './redactor.js';

/** Bytes of the shortest secret that is used: a shorter one cannot be told from other text in an answer. */
const SHORTEST = 8;

/** Values that are looked for, also those that a secret had before; a component whose secrets change more often sends nothing more. */
const MOST = 256;

/** Secrets in one request, and characters of a prefix and of a user's name. */
const MOST_HEADERS = 8;
const LONGEST = 256;

/** Those of one component, for as long as it is loaded: whatever a server ever got may be in any answer. */
export class KnownSecrets {
  #values = new Set();
  #redactor = new Redactor([]);

  get redactor() {
    return this.#redactor;
  }

  /** Looks for these values from now on. */
  add(values) {
    const all = new Set([...this.#values, ...values]);
    if (all.size > MOST) throw refused('the secrets have changed too often');
    if (all.size > this.#values.size) this.#redactor = new Redactor([...all]);
    this.#values = all;
  }
}

/**
 * The values that all granted secrets have now, by name. All are asked for, used or not: a server may know one from another session.
 *
 * @param {import('./network-grant.js').NetworkGrant} network
 * @param {string} plugin
 * @param {string} origin where the request goes
 * @param {Function} find the embedder's `pluginSecret`
 * @param {(what: string) => void} note
 */
export async function valuesOf(network, plugin, origin, find, note) {
  const found = network.secrets.map(async ([name, audience]) => {
    // It is asked for where it could be sent, and for nothing else.
    const [audienceOrigin] = audience.has(origin) ? [origin] : audience;
    if (audienceOrigin === undefined) return [name, undefined];
    try {
      return [name, usable(await find(name, { plugin, origin: audienceOrigin }))];
    } catch {
      // What it says may have the secret in it.
      note(`the secret \`${name}\` was not to be had: \`pluginSecret\` failed`);
      throw refused(`the secret \`${name}\` was not to be had`);
    }
  });
  return new Map(await Promise.all(found));
}

/**
 * Adds headers with secrets to those of a request.
 *
 * @param {{ origin: string, headers: Headers }} request as it was judged
 * @param {{ header: string, secret: string, prefix: string, user?: string }[]} added
 * @param {Map<string, string | undefined>} values
 * @param {import('./network-grant.js').NetworkGrant} network
 * @param {KnownSecrets} known
 * @param {(what: string) => void} note
 */
export function addSecrets({ origin, headers }, added, values, network, known, note) {
  if (added.length > MOST_HEADERS) throw refused('too many secrets for one request');
  for (const { header, secret, prefix, user } of added) {
    const name = checkedName(header, "the name of a secret's header is none");
    if (!isFree(name) || asksForDisguise(name) || headers.has(name)) {
      throw refused(`the header \`${name}\` cannot have a secret, or is set already`);
    }
    const value = network.audience(secret)?.has(origin) ? values.get(secret) : undefined;
    if (value === undefined) {
      const shown = secret.slice(0, 100);
      note(`the secret \`${shown}\` was not sent to ${origin}: not granted there, or it has no value`);
      throw refused(`there is no secret \`${shown}\` for this origin`);
    }
    headers.set(name, `${checkedPrefix(prefix, user)}${sent(value, user, known)}`);
  }
}

/** The value without white space around it, if it can be used as a secret. */
function usable(value) {
  const text = typeof value === 'string' ? value.trim() : '';
  return new TextEncoder().encode(text).length >= SHORTEST ? text : undefined;
}

function checkedPrefix(prefix, user) {
  const isShort = (text) => text.length <= LONGEST && isPlain(text);
  if (!isShort(prefix) || (user !== undefined && (!isShort(user) || user.includes(':')))) {
    throw refused("the prefix or user's name of a secret's header is none");
  }
  return prefix;
}

/** What stands in the header; it is looked for in answers, too. */
function sent(value, user, known) {
  if (!isPlain(value)) throw refused('the secret has characters that no header has');
  if (user === undefined) return value;
  const pair = btoa(`${user}:${value}`);
  known.add([pair]);
  return pair;
}
