/** The built-in file tools: Read, Write, Edit, Glob and Grep, as one component. */
import { instantiate } from './files/files.js';
import { Plugin, TRUSTED } from './plugin.js';
import { readModule, readText } from './assets.js';

let loaded;

/**
 * The file tools. Loaded once; every call runs in a fresh instance.
 * @returns {Promise<Plugin>}
 */
export function fileTools() {
  loaded ??= load();
  return loaded;
}

async function load() {
  const directory = new URL('./files/', import.meta.url);
  const declaration = JSON.parse(await readText(new URL('declaration.json', directory)));
  return new Plugin(declaration, instantiate, (path) => readModule(new URL(path, directory)), TRUSTED);
}
