/** The core and the engine: loaded once, by whoever needs them first. */
import start, { Session, Grant, digest, summary, version } from './windlass_browser.js';
import { readBytes } from './assets.js';

let starting;

/**
 * Loads them. Everything that needs them does this by itself; call it to load early, or where the module
 * comes from somewhere else (an edge worker, a bundler).
 * @param {WebAssembly.Module | BufferSource | Promise<BufferSource>} [source]
 * @returns {Promise<void>}
 */
export function init(source) {
  starting ??= load(source);
  return starting;
}

async function load(source) {
  const module = await source;
  // Only where none is given: an edge worker has no address that a file could be beside.
  await start({ module_or_path: module ?? (await readBytes(new URL('./windlass_browser_bg.wasm', import.meta.url))) });
}

export { Session, Grant, digest, summary, version };
