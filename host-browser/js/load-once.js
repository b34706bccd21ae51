/** Modules of WebAssembly, each loaded once. */
import { readBytes } from './assets.js';

/**
 * The function that loads a module: at its first call, from its argument, or else from the file at `address`.
 *
 * @param {(options: { module_or_path: unknown }) => Promise<unknown>} start what wasm-bindgen makes
 * @param {() => URL} address asked only where no module is given: an edge worker has no address that a file could be beside
 */
export function loadOnce(start, address) {
  let starting;
  const load = async (source) => {
    const module = await source;
    await start({ module_or_path: module ?? (await readBytes(address())) });
  };
  return (source) => {
    starting ??= load(source);
    return starting;
  };
}
