/** The contract of session stores, as checks. */
import { checkStore as check, initTestkit } from './testkit-wasm.js';

/** After so long, every clock has gone on. */
const PAUSE_MS = 20;

/**
 * Checks whether a store keeps the contract that is written down at `SessionStore`; gives what is broken, each a sentence.
 *
 * @example
 * const place = () => {
 *   const first = new MemorySessionStore();
 *   return { store: () => first.again() };
 * };
 * assert.deepEqual(await checkStore(place), []);
 *
 * @param {() => { store(): object | Promise<object> }} place gives a new, empty place for each check; `store()` opens a store
 *   over it, as another tab or process would, and is called several times
 * @returns {Promise<string[]>}
 */
export async function checkStore(place) {
  await initTestkit();
  const pause = () => new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  return check(() => {
    const opened = place();
    return { store: () => opened.store(), pause };
  });
}
