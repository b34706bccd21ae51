/** Components from an address or a file: jco makes JavaScript of them where they are loaded. Several megabytes, which nobody else needs. */
import { $init, generate } from '@bytecodealliance/jco-transpile/component';
import { addressOf, readBytes } from './assets.js';
import { least } from './component-imports.js';
import { declarationOf } from './declaration.js';
import { MOST_MEMORY, withMemoryLimit } from './memory-limit.js';
import { Plugin } from './plugin.js';
import { wasi } from './wasi.js';
import { WorkerPlugin } from './worker-plugin.js';

/** The largest component that is looked at, in bytes, as natively. */
const LARGEST = 128 << 20;

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

/** The file whose address a plugin takes; the others are its core modules. */
const CODE = `${OPTIONS.name}.js`;

/** Interfaces that are handed out: those of windlass, and the parts of WASI of which `windlass/wasi` has something. */
const KNOWN = /^(windlass:(host|plugin)|wasi:(cli|clocks|filesystem|io|random|sockets))\//;

/**
 * Makes JavaScript and core modules of a component.
 *
 * @param {Uint8Array} component
 * @returns {Promise<{ declaration: object, code: string, files: Map<string, Uint8Array> }>} `code` is the name of the file that asks for the others
 */
export async function transpileComponent(component) {
  const declaration = declarationOf(component);
  await $init;
  const { files, imports } = made(component);
  const unknown = imports.find((name) => !KNOWN.test(name));
  if (unknown !== undefined) throw new Error(`the component ${declaration.name} imports \`${unknown}\`, which is not handed out here`);
  return { declaration, code: CODE, files: new Map(files) };
}

function made(component) {
  try {
    return generate(component, OPTIONS);
  } catch (error) {
    throw new Error(`the component cannot be turned into JavaScript: ${error?.message ?? error}`, { cause: error });
  }
}

/**
 * Loads a component with what it is granted: in a Worker of its own, unless it is to run on this thread.
 *
 * @param {URL | string | Uint8Array | ArrayBuffer | Blob | Response} source
 * @param {object} [grant] see `PluginGrant` in `plugin.d.ts`
 * @param {{ inWorker?: boolean, worker?: () => Worker, core?: WebAssembly.Module }} [options] see `components.d.ts`
 */
export async function loadComponent(source, grant = {}, { inWorker = true, worker, core } = {}) {
  const { declaration, code, files } = await transpileComponent(await bytesOf(source));
  const url = addressOfText(files.get(code));
  if (inWorker) return new WorkerPlugin(declaration, url, grant, { worker, core, modules: files });
  const { instantiate } = await import(/* @vite-ignore */ /* webpackIgnore: true */ url);
  const memory = least(declaration.limits?.memory_bytes, MOST_MEMORY);
  const module = async (name) => WebAssembly.compile(withMemoryLimit(files.get(name), memory));
  return new Plugin(declaration, instantiate, module, grant, { wasi });
}

async function bytesOf(source) {
  if (typeof source === 'string' || source instanceof URL) return small(await readBytes(addressOf(source)));
  if (source instanceof Uint8Array) return small(source);
  if (source instanceof ArrayBuffer) return small(new Uint8Array(source));
  if (source instanceof Blob) return new Uint8Array(await small(source).arrayBuffer());
  if (source instanceof Response && source.ok) return small(new Uint8Array(await source.arrayBuffer()));
  if (source instanceof Response) throw new Error(`the component cannot be loaded: the server answered ${source.status} ${source.statusText}`);
  throw new TypeError('a component is loaded from an address, a Response, a File, or its bytes');
}

function small(bytes) {
  const size = bytes.size ?? bytes.length;
  if (size > LARGEST) throw new Error(`the component has ${size} bytes, and the limit is ${LARGEST}`);
  return bytes;
}

/** An address under which this code can be imported. Node has no `blob:` for modules. */
function addressOfText(bytes) {
  if (typeof document !== 'undefined' || typeof WorkerGlobalScope !== 'undefined') {
    return URL.createObjectURL(new Blob([bytes], { type: 'text/javascript' }));
  }
  return `data:text/javascript,${encodeURIComponent(new TextDecoder().decode(bytes))}`;
}
