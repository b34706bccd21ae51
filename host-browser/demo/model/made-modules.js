/** Modules that the page makes itself. Its policy runs no text, so a service worker gives them an address (`module-server.js`). */
const MADE = 'windlass-made';

/**
 * Imports a module from its text.
 *
 * @param {Uint8Array} origin what it was made of, by whose digest it is called
 * @param {string} text
 */
export async function imported(origin, text) {
  const url = new URL(`made/${await digestOf(origin)}.js`, document.baseURI).href;
  await served();
  const made = await caches.open(MADE);
  await made.put(url, new Response(text, { headers: { 'content-type': 'text/javascript' } }));
  try {
    return await import(url);
  } finally {
    await made.delete(url);
  }
}

/** Resolves when the service worker answers this page's requests. */
async function served() {
  const { serviceWorker } = navigator;
  if (!serviceWorker) {
    throw new Error(
      'The browser has no service workers here, without which no component can be loaded: serve the page by https or from this ' +
        'machine, outside a private window.',
    );
  }
  await serviceWorker.register('module-server.js');
  const { active } = await serviceWorker.ready;
  if (serviceWorker.controller) return;
  // A page that was loaded anew by force has no controller, until the worker claims it again.
  const controlled = new Promise((resolve) => serviceWorker.addEventListener('controllerchange', resolve, { once: true }));
  active.postMessage('claim');
  await controlled;
}

async function digestOf(bytes) {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
