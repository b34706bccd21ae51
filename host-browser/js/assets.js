/** Files that belong to the package: fetched, or read where `fetch` does not know `file:` addresses (Node). */

export async function readBytes(url) {
  if (url.protocol === 'file:') {
    const { readFile } = await import('node:fs/promises');
    return readFile(url);
  }
  return new Uint8Array(await (await found(url)).arrayBuffer());
}

export async function readText(url) {
  return new TextDecoder().decode(await readBytes(url));
}

/** @returns {Promise<WebAssembly.Module>} */
export async function readModule(url) {
  return WebAssembly.compile(await readBytes(url));
}

async function found(url) {
  const response = await fetch(url);
  if (!response.ok) {
    throw new Error(`cannot load ${url}: ${response.status} ${response.statusText}`);
  }
  return response;
}
