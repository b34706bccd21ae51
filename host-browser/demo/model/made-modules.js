/** Modules that the page makes itself. Its policy runs no text, so a service worker gives them addresses (`module-server.js`). */
import { served } from './service-worker.js';

const MADE = 'windlass-made';

/** This tab, in the addresses and in the name of a lock that it holds as long as it lives. */
const TAB = crypto.randomUUID();
const lockOf = (tab) => `windlass-made:${tab}`;

const TYPES = { js: 'text/javascript', wasm: 'application/wasm' };

let serving;
let count = 0;

/**
 * Gives files addresses beside each other, until they are removed or the tab is gone.
 *
 * @param {Map<string, Uint8Array>} files by their names
 * @returns {Promise<{ url: (name: string) => string, remove: () => Promise<void> }>}
 */
export async function published(files) {
  serving ??= begin().catch((error) => {
    serving = undefined;
    throw error;
  });
  const made = await serving;
  count += 1;
  const folder = new URL(`made/${TAB}/${count}/`, document.baseURI);
  const url = (name) => new URL(name, folder).href;
  for (const [name, bytes] of files) {
    await made.put(url(name), new Response(bytes, { headers: { 'content-type': TYPES[name.split('.').at(-1)] } }));
  }
  const remove = async () => {
    for (const name of files.keys()) await made.delete(url(name));
  };
  return { url, remove };
}

/** Everything is ready to give files addresses, and what tabs have left that are gone is removed. */
async function begin() {
  await served().catch(({ message }) => {
    throw new Error(`Without a service worker no component can be loaded. ${message}`);
  });
  const made = await caches.open(MADE);
  await new Promise((resolve) => {
    navigator.locks.request(lockOf(TAB), () => {
      resolve();
      return new Promise(() => {});
    });
  });
  const { held } = await navigator.locks.query();
  const alive = new Set(held.map(({ name }) => name));
  for (const { url } of await made.keys()) {
    const [, tab] = url.split('/made/')[1].match(/^([^/]*)/);
    if (!alive.has(lockOf(tab))) await made.delete(url);
  }
  return made;
}
