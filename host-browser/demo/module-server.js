/**
 * A service worker that gives the JavaScript that the page made of a dropped component an address of this origin: the page's content
 * security policy runs scripts from `'self'` alone, and no text and no `blob:`.
 */
const MADE = 'windlass-made';

addEventListener('install', () => skipWaiting());
addEventListener('activate', (event) => event.waitUntil(clients.claim()));
addEventListener('message', (event) => event.waitUntil(clients.claim()));
addEventListener('fetch', (event) => {
  if (!event.request.url.startsWith(new URL('made/', registration.scope).href)) return;
  const gone = () => new Response('not there', { status: 404 });
  event.respondWith(caches.open(MADE).then((made) => made.match(event.request.url)).then((found) => found ?? gone()));
});
