/** A server of files on loopback, as one that serves a built page. */
import { createReadStream, statSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import { extname, join, normalize } from 'node:path';

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.wasm': 'application/wasm',
};

/**
 * @param {{ folders: Record<string, string>, headers?: Record<string, string>, forward?: Record<string, string> }} parts `folders` by the
 *   start of their paths, which ends with a slash, the first that fits; `forward`: the servers that answer what begins with a path
 * @returns {Promise<{ url: string, close: () => Promise<void> }>}
 */
export async function serve({ folders, headers = {}, forward = {} }) {
  const server = createServer((request, response) => {
    const path = normalize(new URL(request.url, 'http://here').pathname);
    const starts = ([start]) => path.startsWith(start);
    const [forwarded, to] = Object.entries(forward).find(starts) ?? [];
    if (to) {
      pass(request, response, new URL(request.url.slice(forwarded.length), to));
      return;
    }
    const [start, folder] = Object.entries(folders).find(starts) ?? [];
    const rest = folder && path.slice(start.length);
    const file = folder && join(folder, rest === '' || rest.endsWith('/') ? `${rest}index.html` : rest);
    if (!file || !statSync(file, { throwIfNoEntry: false })?.isFile()) {
      response.writeHead(404, headers).end();
      return;
    }
    response.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream', ...headers });
    createReadStream(file).pipe(response);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

function pass(request, response, url) {
  const { method, headers } = request;
  const passed = httpRequest(url, { method, headers: { ...headers, host: url.host } }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  passed.on('error', (error) => response.destroy(error));
  request.pipe(passed);
}
