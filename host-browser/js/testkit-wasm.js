/** The module of the test kit: loaded once, by whoever needs it first. */
import start, { ScriptedModel, checkStore } from './windlass_browser_testkit.js';
import { readBytes } from './assets.js';

let starting;

/**
 * Loads it. Everything that needs it does this by itself; call it where the module comes from somewhere else.
 * @param {WebAssembly.Module | BufferSource | Promise<BufferSource>} [source]
 * @returns {Promise<void>}
 */
export function initTestkit(source) {
  starting ??= load(source);
  return starting;
}

async function load(source) {
  const module = await source;
  await start({ module_or_path: module ?? (await readBytes(new URL('./windlass_browser_testkit_bg.wasm', import.meta.url))) });
}

export { ScriptedModel, checkStore };
