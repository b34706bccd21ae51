/** The contract of file systems, as checks. */
import { CONTRACT } from './file-system-contract.js';
import { ATTACKS } from './file-system-attacks.js';
import { init } from './wasm.js';

/**
 * Checks whether a file system keeps the contract that is written down at `FileSystem`, and whether components reach in it what they
 * were granted and nothing else; gives what is broken, each a sentence.
 *
 * @example
 * const place = () => {
 *   const files = new MemoryFileSystem();
 *   return { fileSystem: () => files };
 * };
 * assert.deepEqual(await checkFileSystem(place), []);
 *
 * @param {() => { fileSystem(): object | Promise<object> }} place gives a new, empty place for each check; `fileSystem()` opens a
 *   file system over it, as another tab or process would, and is called several times
 * @returns {Promise<string[]>}
 */
export async function checkFileSystem(place) {
  await init();
  const broken = [];
  for (const [promise, check] of [...CONTRACT, ...ATTACKS]) {
    try {
      const opened = place();
      await check(await opened.fileSystem(), () => opened.fileSystem());
    } catch (error) {
      broken.push(`${promise}: ${error?.message ?? error}`);
    }
  }
  return broken;
}
