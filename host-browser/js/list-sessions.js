/** The sessions of a store, for lists. */
import { init, summary } from './wasm.js';

/** How many sessions are listed when nothing else is said. */
const LISTED = 100;

/**
 * Lists sessions, those that were written to last first.
 *
 * @param {{ sessionStore: object, limit?: number, offset?: number }} options
 */
export async function listSessions({ sessionStore, limit = LISTED, offset = 0 }) {
  await init();
  const kept = (await sessionStore.list()).slice(offset, offset + limit);
  const listed = kept.map(async ({ id, modified }) => {
    const { text } = (await sessionStore.load(id)) ?? { text: '' };
    return { sessionId: id, lastModified: modified, ...JSON.parse(summary(text)) };
  });
  return Promise.all(listed);
}
