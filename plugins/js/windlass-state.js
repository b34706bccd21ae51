// What the plugin remembers between its calls (`grants.state` of the declaration): for a session or for good, as granted.

import * as host from "windlass:host/state@0.1.0";

import { decode, encode } from "./windlass-text.js";

/** What a failed operation of the host means. */
const EXPLANATIONS = {
  "not-granted": "The plugin may not remember anything: it was granted no state.",
  invalid: "A key of the plugin's state is empty, too long or has control characters.",
  full: "The plugin's state is full.",
  io: "The plugin's state cannot be read or written.",
};

/** State that is not given or not taken: `code` is that of the host. */
export class StateError extends Error {
  constructor(code) {
    super(EXPLANATIONS[code]);
    this.name = "StateError";
    this.code = code;
  }
}

export const state = {
  /** The value of a key; `undefined` if there is none. */
  get: (key) => {
    const value = answered(() => host.get(key)) ?? undefined;
    return value === undefined ? undefined : Uint8Array.from(value);
  },
  /** Adds or replaces a value: bytes, or a text as UTF-8. */
  set: (key, value) => answered(() => host.set(key, typeof value === "string" ? encode(value) : value)),
  /** Removes a value, if there is one. */
  remove: (key) => answered(() => host.remove(key)),
  /** The keys that begin with this text, sorted. */
  keys: (prefix = "") => answered(() => host.keys(prefix)),
  /** The value of a key as it was given to `setJson`; `undefined` if there is none. */
  getJson: (key) => {
    const value = state.get(key);
    return value === undefined ? undefined : JSON.parse(decode(value));
  },
  /** Adds or replaces a value, as JSON. */
  setJson: (key, value) => {
    const text = JSON.stringify(value);
    if (text === undefined) throw new TypeError(`the value of ${key} has no JSON form`);
    state.set(key, text);
  },
};

function answered(ask) {
  try {
    return ask();
  } catch (error) {
    const code = error?.payload ?? error?.message ?? error;
    throw typeof code === "string" && code in EXPLANATIONS ? new StateError(code) : error;
  }
}
