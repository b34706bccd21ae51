/** A server on loopback that other origins may read; it remembers every request that it was sent. */
import { createServer } from 'node:http';
import { brotliCompressSync, gzipSync } from 'node:zlib';

const OPEN = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers': 'authorization, content-type, x-mine, x-key',
  'access-control-allow-methods': 'GET, POST, PUT, DELETE',
  'access-control-expose-headers': '*',
};

/** How a server may repeat what it was sent. */
const FORMS = {
  plain: (text) => text,
  base64: (text) => Buffer.from(text).toString('base64'),
  base64url: (text) => Buffer.from(`x${text}`).toString('base64url'),
  hex: (text) => Buffer.from(text).toString('hex'),
  HEX: (text) => Buffer.from(text).toString('hex').toUpperCase(),
  percent: (text) => encodeURIComponent(text),
  json: (text) => JSON.stringify({ text }),
};

const ENCODERS = { gzip: gzipSync, br: brotliCompressSync, 'x-none': Buffer.from };

const ROUTES = {
  '/echo': (request, response, url, body) => {
    const { method, headers } = request;
    response.end(JSON.stringify({ method, path: url.pathname + url.search, headers, body }));
  },
  '/body': (request, response, url, body) => response.end(body),
  '/redirect': (request, response, url) => response.writeHead(302, { ...OPEN, location: url.searchParams.get('to') }).end(),
  '/large': (request, response, url) => response.end('x'.repeat(Number(url.searchParams.get('bytes')))),
  '/endless': (request, response) => {
    const more = () => {
      while (response.writable && response.write('x'.repeat(1 << 16)));
    };
    response.on('drain', more);
    more();
  },
  // Until somebody lets it go on.
  '/silent': (request, response, url, body, silent) => silent.resolve(response),
  '/broken': (request, response) => {
    response.writeHead(200, { ...OPEN, 'content-length': '100' });
    response.write('half', () => response.destroy());
  },
  '/repeat': (request, response, url) => {
    const form = FORMS[url.searchParams.get('as')];
    const sent = form(request.headers.authorization ?? url.searchParams.get('text'));
    response.setHeader('x-repeated', sent.replace(/[^\x20-\x7e]/g, ''));
    response.end(`it said ${sent}, and so on`);
  },
  '/compressed': (request, response, url) => {
    const encoding = url.searchParams.get('as');
    response.setHeader('content-encoding', encoding);
    response.end(ENCODERS[encoding](`it said ${request.headers.authorization}`));
  },
  '/part': (request, response) => response.writeHead(206, OPEN).end('a part'),
  '/closed': (request, response) => {
    for (const name of Object.keys(OPEN)) response.removeHeader(name);
    response.end('not for other origins');
  },
};

/** @returns {Promise<{ origin: string, port: number, seen: string[], asked: Promise<void>, endSilence: () => Promise<void>, close: () => Promise<void> }>} */
export async function openServer() {
  const seen = [];
  const silent = {};
  silent.asked = new Promise((resolve) => (silent.resolve = resolve));
  const server = createServer(async (request, response) => {
    const url = new URL(request.url, 'http://localhost');
    for (const [name, value] of Object.entries(OPEN)) response.setHeader(name, value);
    response.setHeader('content-type', 'text/plain');
    if (request.method === 'OPTIONS') {
      response.writeHead(204).end();
      return;
    }
    let body = '';
    for await (const piece of request) body += piece;
    seen.push(`${request.method} ${request.url}`);
    const answer = ROUTES[url.pathname];
    if (answer) answer(request, response, url, body, silent);
    else response.writeHead(404).end('not there');
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A component may take its time between two requests.
  server.keepAliveTimeout = 0;
  const { port } = server.address();
  return {
    origin: `http://127.0.0.1:${port}`,
    port,
    seen,
    /** Resolves when there is a request for silence. */
    asked: silent.asked.then(() => {}),
    /** Answers the first request for silence, once it is there. */
    async endSilence() {
      (await silent.asked).end('at last');
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
