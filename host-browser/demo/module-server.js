/**
 * The page's service worker. It gives the JavaScript that the page made of a dropped component an address of this origin: the page's
 * content security policy runs scripts from `'self'` alone, and no text and no `blob:`. And it keeps the files of the page, so that the
 * page is there without a network. All else, requests to other origins above all, it leaves to the browser.
 */
const MADE = 'windlass-made';

/** What all caches of this page's files are called, before the version of the build; another page of the origin has its own. */
const KEPT = `windlass-page:${registration.scope} `;

/** The build puts in what it has made: addresses beside this script, each with the digest of its bytes; the page itself is the last. */
const { version, files } = BUILT;
const cacheName = KEPT + version;
const addressOf = (path) => new URL(path, registration.scope).href;
/** The package around the page. */
const ROOT = addressOf('..');

let keeping;

addEventListener('install', () => skipWaiting());
addEventListener('activate', (event) => event.waitUntil(clients.claim()));
addEventListener('message', (event) => {
  if (event.data === 'keep') event.waitUntil(answered(event.ports[0]));
  else event.waitUntil(clients.claim());
});
addEventListener('fetch', (event) => {
  const { request } = event;
  if (request.url.startsWith(addressOf('made/'))) event.respondWith(made(request));
  else if (request.method === 'GET' && request.url.startsWith(ROOT)) event.respondWith(fileOfThePage(request));
});

async function made({ url }) {
  const found = await (await caches.open(MADE)).match(url);
  return found ?? new Response('not there', { status: 404 });
}

/**
 * The network goes first: who builds anew sees the new build. Without it, what is kept of any build: the one that is complete may be an
 * older one than this script.
 */
async function fileOfThePage(request) {
  try {
    return await fetch(request);
  } catch (error) {
    // Of several builds the first one made is complete: it goes when the next one is.
    for (const name of await buildsKept()) {
      const found = await (await caches.open(name)).match(addressOfFile(request.url));
      if (found) return found;
    }
    throw error;
  }
}

/** The address of a file without what is asked of it, such as `?fast`; the page has one of its two. */
function addressOfFile(url) {
  const { origin, pathname } = new URL(url);
  const address = origin + pathname;
  return address === addressOf('index.html') ? addressOf('./') : address;
}

/** Tells the page of which build all files are kept, or why none. */
async function answered(port) {
  keeping ??= keep().finally(() => {
    keeping = undefined;
  });
  await keeping.then(
    () => port.postMessage({ build: version }),
    ({ message }) => port.postMessage({ problem: message }),
  );
}

/** The caches of builds of this page, in the order in which they were made. */
async function buildsKept() {
  return (await caches.keys()).filter((name) => name.startsWith(KEPT));
}

/** Keeps the files of this build, and those of others no longer. What was kept before it was interrupted is not loaded again. */
async function keep() {
  const cache = await caches.open(cacheName);
  for (const { path, integrity } of files) {
    const url = addressOf(path);
    if (await cache.match(url)) continue;
    // A file of another build, which may have come meanwhile, has another digest.
    const answer = await fetch(url, { integrity, cache: 'no-cache' }).catch(({ message }) => {
      throw new Error(`${path} is not there as this build has it (${message})`);
    });
    if (!answer.ok) throw new Error(`${path} is not there (${answer.status})`);
    await cache.put(url, answer);
  }
  const others = (await buildsKept()).filter((name) => name !== cacheName);
  for (const name of others) await caches.delete(name);
}
