/** Modules of WebAssembly, each loaded once. */
import { addressOf, beside, readSource } from './assets.js';

/**
 * The function that loads a module: at its first call, from its argument, or else from the file at `address`.
 *
 * @param {(options: { module_or_path: unknown }) => Promise<unknown>} start what wasm-bindgen makes
 * @param {() => URL} address asked only where no module is given
 */
export function loadOnce(start, address) {
  let starting;
  const load = async (given) => {
    const source = (await given) ?? beside(address);
    const isAddress = typeof source === 'string' || source instanceof URL;
    await start({ module_or_path: isAddress ? await readSource(addressOf(source)) : source });
  };
  return (source) => {
    starting ??= load(source).catch((error) => {
      // The network may be back next time.
      starting = undefined;
      throw error;
    });
    return starting;
  };
}
