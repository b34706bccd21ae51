// What the plugin tells the host, and what the host tells of itself.

import { get } from "windlass:host/config@0.1.0";
import { log as write } from "windlass:host/log@0.1.0";
import { report } from "windlass:host/progress@0.1.0";

/** Log lines for the host; `debug` is for the author of the plugin. */
export const log = {
  debug: (message) => write("debug", String(message)),
  info: (message) => write("info", String(message)),
  warn: (message) => write("warn", String(message)),
  error: (message) => write("error", String(message)),
};

/** What a long call is doing, for whoever waits for it. */
export const progress = {
  /** Reports what the call is doing and, if it is known, how much of it is done, between 0 and 1. */
  report: (message, fraction) => report(String(message), fraction ?? null),
};

/** Settings of the environment (`grants.env`), and where the directories of roles are (`grants.directories`). */
export const config = {
  /** The value of a variable; `undefined` if it is not set, or was not granted. */
  get: (name) => get(name) ?? undefined,
  /** The absolute path of the directory of a role; `undefined` if it was not granted. */
  directory: (role) => get(`directory:${role}`) ?? undefined,
};
