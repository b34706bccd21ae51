/** The core: loaded once, by whoever needs it first. */
import start, { Session, Grant, digest, version } from './windlass_browser.js';
import * as all from './windlass_browser.js';
import { readBytes } from './assets.js';

let starting;

/**
 * Loads the core. Everything that needs it does this by itself; call it to load early, or where the module
 * comes from somewhere else (an edge worker, a bundler).
 * @param {WebAssembly.Module | BufferSource | Promise<BufferSource>} [source]
 * @returns {Promise<void>}
 */
export function init(source) {
  starting ??= load(source);
  return starting;
}

async function load(source) {
  const url = new URL('./windlass_browser_bg.wasm', import.meta.url);
  await start({ module_or_path: (await source) ?? (await readBytes(url)) });
}

/** A class or function that only builds with the test kit have. */
export function ofTestkit(name) {
  const found = all[name];
  if (!found) {
    throw new Error('this build of windlass has no test kit: build it with the feature `testkit`');
  }
  return found;
}

export { Session, Grant, digest, version };
