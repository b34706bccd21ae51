/** Serves a built package with its page: `node serve.js [PORT]`, from the folder `demo` of the package. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.wasm': 'application/wasm',
};

/**
 * A Worker has the policy that comes with its script, and none of the page's: those of components run nothing but what is here, and
 * reach nothing else.
 */
const WORKER_POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'";

/** The port of the page when nothing else is said. */
const PORT = 8123;

/**
 * Serves the files of a directory on loopback.
 *
 * @param {string} directory the built package
 * @param {number} port 0 takes a free one
 * @returns {Promise<import('node:http').Server>} listening
 */
export function serve(directory, port = 0) {
  const server = createServer(async (request, response) => {
    const path = pathOf(directory, request.url);
    const isFile = path !== undefined && (await stat(path).then((found) => found.isFile(), () => false));
    if (!isFile || !['GET', 'HEAD'].includes(request.method)) {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('There is nothing here. The page is at /demo/\n');
      return;
    }
    const headers = { 'content-type': TYPES[extname(path)] ?? 'application/octet-stream', 'cache-control': 'no-cache' };
    if (extname(path) === '.js') headers['content-security-policy'] = WORKER_POLICY;
    response.writeHead(200, { ...headers, 'x-content-type-options': 'nosniff' });
    createReadStream(path).pipe(response);
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
}

/** The file of an address, if it can be one. */
function pathOf(directory, url) {
  try {
    const path = decodeURIComponent(new URL(url, 'http://localhost').pathname);
    // An absolute path loses its `..` here, so nothing outside the directory has an address.
    return path.includes('\0') ? undefined : join(directory, normalize(path.endsWith('/') ? `${path}index.html` : path));
  } catch {
    return undefined;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const directory = fileURLToPath(new URL('..', import.meta.url));
  const server = await serve(directory, Number(process.argv[2] ?? PORT));
  console.log(`The page is at http://127.0.0.1:${server.address().port}/demo/ until you press Ctrl+C.`);
}
