/** The service worker of the page (`module-server.js`). */

/** Resolves when it answers the requests of this page. */
export async function served() {
  const { serviceWorker } = navigator;
  if (!serviceWorker) {
    throw new Error('The browser has no service workers here: serve the page by https or from this machine, outside a private window.');
  }
  await serviceWorker.register('module-server.js');
  const { active } = await serviceWorker.ready;
  if (serviceWorker.controller) return;
  // A page that was loaded anew by force has no controller, until the worker claims it again.
  const controlled = new Promise((resolve) => serviceWorker.addEventListener('controllerchange', resolve, { once: true }));
  active.postMessage('claim');
  await controlled;
}
