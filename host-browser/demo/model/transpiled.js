/** Components as JavaScript and core modules, made in the page by jco. */
import { $init, generate } from '@bytecodealliance/jco-transpile/component';
import { imported } from './made-modules.js';

/** As the package's own components are made. */
const OPTIONS = {
  name: 'component',
  map: [],
  instantiation: { tag: 'async' },
  noNodejsCompat: true,
  noTypescript: true,
  noComponentErrorWrapping: true,
  base64Cutoff: 0,
};

/** Interfaces that hosts of windlass hand out. */
const KNOWN = /^windlass:(host|plugin)\//;

/**
 * @param {Uint8Array} component
 * @returns {Promise<{ instantiate: Function, module: (path: string) => Promise<WebAssembly.Module> }>} what `Plugin` takes
 */
export async function transpiled(component) {
  await $init;
  const { files, imports } = made(component);
  const unknown = imports.find((name) => !KNOWN.test(name));
  if (unknown !== undefined) throw new Error(`The component imports \`${unknown}\`, which a page does not hand out.`);
  const found = new Map(files);
  const { instantiate } = await imported(component, new TextDecoder().decode(found.get('component.js')));
  return { instantiate, module: (path) => WebAssembly.compile(found.get(path)) };
}

function made(component) {
  try {
    return generate(component, OPTIONS);
  } catch (error) {
    throw new Error(`The component cannot be turned into JavaScript: ${error.message ?? error}`, { cause: error });
  }
}
