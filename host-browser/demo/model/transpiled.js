/** Components as JavaScript and core modules, made in the page by jco. */
import { $init, generate } from '@bytecodealliance/jco-transpile/component';

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

/** Interfaces that are handed out in a Worker: those of windlass, and the parts of WASI of which `windlass/wasi` has something. */
const KNOWN = /^(windlass:(host|plugin)|wasi:(cli|clocks|filesystem|io|random|sockets))\//;

/** What `WorkerPlugin` takes the address of. */
export const CODE = `${OPTIONS.name}.js`;

/**
 * @param {Uint8Array} component
 * @returns {Promise<Map<string, Uint8Array>>} files by their names; one is `CODE`, which asks for the others
 */
export async function transpiled(component) {
  await $init;
  const { files, imports } = made(component);
  const unknown = imports.find((name) => !KNOWN.test(name));
  if (unknown !== undefined) throw new Error(`The component imports \`${unknown}\`, which a page does not hand out.`);
  return new Map(files);
}

function made(component) {
  try {
    return generate(component, OPTIONS);
  } catch (error) {
    throw new Error(`The component cannot be turned into JavaScript: ${error.message ?? error}`, { cause: error });
  }
}
