/** The core with what reads settings and project files: loaded once, by the first session that finds some. */
import start, { Session } from './windlass_browser_settings.js';
import { loadOnce } from './load-once.js';

/**
 * Loads it. Sessions do this by themselves; call it where the module comes from somewhere else.
 * @type {(source?: import('./index.js').ModuleSource) => Promise<void>}
 */
export const initSettings = loadOnce(start, () => new URL('./windlass_browser_settings_bg.wasm', import.meta.url));

export { Session as SessionWithSettings };
