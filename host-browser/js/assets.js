/** Files that belong to the package: fetched, or read where `fetch` does not know `file:` addresses (Node). */

/** @param {typeof globalThis.fetch} [fetch] where it is not to be found by its name any more */
export async function readBytes(url, fetch = globalThis.fetch) {
  return (await unfetched(url)) ?? new Uint8Array(await (await found(url, fetch)).arrayBuffer());
}

/** @returns {Promise<WebAssembly.Module>} */
export async function readModule(url) {
  return WebAssembly.compile(await readBytes(url));
}

/** What a module can be made of: its bytes, or the answer that brings them, which is compiled while it arrives. */
export async function readSource(url) {
  return (await unfetched(url)) ?? found(url, globalThis.fetch);
}

/** The module that somebody gives: compiled, as bytes, as an answer that brings them, or by its address. */
export async function moduleOf(given) {
  const source = await given;
  if (source instanceof WebAssembly.Module) return source;
  if (typeof source === 'string' || source instanceof URL) return readModule(addressOf(source));
  if (typeof Response === 'function' && source instanceof Response) return WebAssembly.compile(await source.arrayBuffer());
  return WebAssembly.compile(source);
}

/** The address of a file of the package; an edge worker has none for its modules. */
export function beside(address) {
  try {
    return address();
  } catch (cause) {
    const what = 'nothing can be loaded from beside the package here: give its modules yourself (`init`, `initSettings` and `fileTools` take them)';
    throw new Error(what, { cause });
  }
}

/** The address that a text means: relative ones are those of the page. */
export function addressOf(text) {
  return new URL(text, globalThis.location?.href);
}

/** The bytes of what is on the disk, or in the address itself, where bundlers put small files: a strict policy forbids to fetch that. */
async function unfetched(url) {
  if (url.protocol === 'data:') {
    const [, base64] = url.pathname.split(';base64,');
    return base64 === undefined ? undefined : Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  }
  if (url.protocol !== 'file:') return undefined;
  // Not imported: a bundler for pages would look for the module, and find none.
  return globalThis.process?.getBuiltinModule?.('node:fs/promises').readFile(url);
}

async function found(url, fetch) {
  // Called as a plain function: some engines refuse a `fetch` that is called as a method.
  const response = await fetch(url);
  if (!response.ok) {
    throw new Error(`cannot load ${url}: ${response.status} ${response.statusText}`);
  }
  // Servers of applications of one page answer so for what is not there.
  if (response.headers.get('content-type')?.startsWith('text/html')) {
    throw new Error(
      `cannot load ${url}: there is a page in its place. A bundler has not copied the file: in Vite before 8 say ` +
        "`optimizeDeps: { exclude: ['windlass'] }`, elsewhere give the module yourself (`init` and `fileTools` take it)",
    );
  }
  return response;
}
