/** Journals of sessions, run once more. */
import { initTestkit, replay } from './testkit-wasm.js';

/**
 * Runs a session with the inputs of a journal, and compares its outputs with the recorded ones, byte for byte. It does not matter
 * where the journal was recorded.
 *
 * @example
 * await replayJournal(await readFile('session.journal', 'utf8'));
 *
 * @param {string} journal lines of JSON, as `windlass --record` writes them
 * @returns {Promise<{ inputs: number, outputs: number }>} how many of them there were; rejects with the first difference and its line
 */
export async function replayJournal(journal) {
  await initTestkit();
  const [inputs, outputs] = replay(journal);
  return { inputs, outputs };
}
