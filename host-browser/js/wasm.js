/** The core and the engine: loaded once, by whoever needs them first. */
import start, { Session, Grant, digest, forked, summary, version } from './windlass_browser.js';
import { loadOnce } from './load-once.js';

/**
 * Loads them. Everything that needs them does this by itself; call it to load early, or where the module
 * comes from somewhere else (an edge worker, a bundler).
 * @type {(source?: import('./index.js').ModuleSource) => Promise<void>}
 */
export const init = loadOnce(start, () => new URL('./windlass_browser_bg.wasm', import.meta.url));

export { Session, Grant, digest, forked, summary, version };
