import type { ModuleSource, Plugin } from './index.js';

/**
 * The built-in file tools: Read, Write, Edit, NotebookEdit, Glob and Grep. Loaded once; every call runs in a fresh instance.
 *
 * Give `modules` where the core modules of the component cannot be loaded from beside the package's JavaScript: at the edge, and
 * with bundlers that do not copy what `new URL(…, import.meta.url)` names. They are imported from `windlass/files/files.core.wasm`,
 * `files.core2.wasm` and `files.core3.wasm`, and given by these names.
 */
export function fileTools(options?: { modules?: Record<string, ModuleSource> }): Promise<Plugin>;
