/** The module of the test kit: loaded once, by whoever needs it first. */
import start, { ScriptedModel, checkStore, replay } from './windlass_browser_testkit.js';
import { loadOnce } from './load-once.js';

/**
 * Loads it. Everything that needs it does this by itself; call it where the module comes from somewhere else.
 * @type {(source?: import('./index.js').ModuleSource) => Promise<void>}
 */
export const initTestkit = loadOnce(start, () => new URL('./windlass_browser_testkit_bg.wasm', import.meta.url));

export { ScriptedModel, checkStore, replay };
