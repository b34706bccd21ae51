/** The built-in file tools: Read, Write, Edit, NotebookEdit, Glob and Grep, as one component. */
import { declaration } from './files/declaration.js';
import { instantiate } from './files/files.js';
import { beside, moduleOf } from './assets.js';
import { Plugin, TRUSTED } from './plugin.js';

/** Where the core modules of the component are. Each address is literal: it is how bundlers find the files that they have to copy. */
const MODULES = {
  'files.core.wasm': () => new URL('./files/files.core.wasm', import.meta.url),
  'files.core2.wasm': () => new URL('./files/files.core2.wasm', import.meta.url),
  'files.core3.wasm': () => new URL('./files/files.core3.wasm', import.meta.url),
};

let loaded;

/**
 * The file tools. Loaded once; every call runs in a fresh instance.
 *
 * @param {{ modules?: Record<string, import('./index.js').ModuleSource> }} [options] `modules`: the core modules by the names of their
 *   files, where they come from somewhere else than beside this module (an edge worker, some bundlers)
 * @returns {Promise<Plugin>}
 */
export async function fileTools({ modules = {} } = {}) {
  const unknown = Object.keys(modules).find((name) => !(name in MODULES));
  if (unknown !== undefined) {
    throw new Error(`fileTools: there is no module ${JSON.stringify(unknown)}, only ${Object.keys(MODULES).join(', ')}`);
  }
  loaded ??= new Plugin(declaration, instantiate, (name) => moduleOf(modules[name] ?? beside(MODULES[name])), TRUSTED);
  return loaded;
}
