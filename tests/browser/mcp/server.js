/** An MCP server on loopback, made with the SDK that servers are made with, and servers that are none. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

/** What pages of another origin need. */
const CORS = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, POST, DELETE, OPTIONS',
  'access-control-allow-headers': '*, authorization, content-type, mcp-session-id, mcp-protocol-version, last-event-id',
  'access-control-expose-headers': 'mcp-session-id',
};

/** Serves HTTP on a free port of this machine. */
export class HttpServer {
  /** The requests that came in: method and headers. */
  requests = [];
  #server;

  static async start(answer, headers = CORS) {
    const server = new HttpServer();
    server.#server = createServer((request, response) => {
      server.requests.push({ method: request.method, headers: request.headers });
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
      if (request.method === 'OPTIONS') response.writeHead(204).end();
      else answer(request, response);
    });
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    server.url = `http://127.0.0.1:${server.#server.address().port}/mcp`;
    return server;
  }

  /** Ends it, and every connection that is open. */
  async stop() {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}

/** An MCP server with sessions; `define` gives each its tools. */
export class Server {
  #sessions = new Map();
  #http;

  static async start(define = tools, { authorization } = {}) {
    const server = new Server();
    server.#http = await HttpServer.start((request, response) => {
      if (authorization && request.headers.authorization !== authorization) {
        response.writeHead(401, { 'www-authenticate': 'Bearer' }).end('who are you?');
        return;
      }
      server.#answer(define, request, response);
    });
    return server;
  }

  get url() {
    return this.#http.url;
  }

  get requests() {
    return this.#http.requests;
  }

  /** The servers of the sessions that there are. */
  get servers() {
    return [...this.#sessions.values()].map(({ server }) => server);
  }

  /** Knows no session any more, as after a restart. */
  forget() {
    this.#sessions.clear();
  }

  stop() {
    return this.#http.stop();
  }

  async #answer(define, request, response) {
    const id = request.headers['mcp-session-id'];
    if (id !== undefined && !this.#sessions.has(id)) {
      response.writeHead(404, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', error: { code: -32001, message: 'Session not found' }, id: null }));
      return;
    }
    const session = id === undefined ? await this.#begin(define) : this.#sessions.get(id);
    await session.transport.handleRequest(request, response);
  }

  async #begin(define) {
    const server = new McpServer({ name: 'tester', version: '1.2.3' });
    define(server);
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => this.#sessions.set(id, { server, transport }),
      onsessionclosed: (id) => this.#sessions.delete(id),
    });
    await server.connect(transport);
    return { server, transport };
  }
}

/** An image of one pixel. */
export const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** The tools of the server. */
export function tools(server) {
  const object = z.object({});
  server.registerTool(
    'add',
    { description: 'Adds.', inputSchema: { a: z.number(), b: z.number() }, annotations: { readOnlyHint: true } },
    ({ a, b }) => ({ content: [{ type: 'text', text: `${a + b}` }], structuredContent: { sum: a + b } }),
  );
  server.registerTool('all', { description: 'Every kind of content.', inputSchema: object }, () => ({
    content: [
      { type: 'text', text: 'hello' },
      { type: 'image', data: PIXEL, mimeType: 'image/png' },
      { type: 'audio', data: 'aGk=', mimeType: 'audio/wav' },
      { type: 'resource', resource: { uri: 'file:///a.txt', text: 'inside' } },
      { type: 'resource_link', uri: 'https://example.com', name: 'page', description: 'more' },
    ],
  }));
  server.registerTool('fail', { inputSchema: object }, () => ({ isError: true, content: [{ type: 'text', text: 'no luck' }] }));
  server.registerTool('steps', { inputSchema: object }, async (input, { sendNotification, _meta }) => {
    const { progressToken } = _meta;
    await sendNotification({ method: 'notifications/progress', params: { progressToken, progress: 1, total: 2, message: 'half way' } });
    return { content: [{ type: 'text', text: 'there' }] };
  });
  server.registerTool(
    'chart',
    { description: 'Shows a chart.', inputSchema: object, _meta: { ui: { resourceUri: 'ui://tester/chart' } } },
    () => ({
      content: [{ type: 'text', text: 'a chart' }],
      structuredContent: { points: [1, 2] },
      _meta: { ui: { theme: 'dark' }, 'example.com/x': 1 },
    }),
  );
  server.registerResource('chart', 'ui://tester/chart', { mimeType: 'text/html;profile=mcp-app' }, (uri) => ({
    contents: [{ uri: uri.href, mimeType: 'text/html;profile=mcp-app', text: '<p>chart</p>', _meta: { ui: { csp: {} } } }],
  }));
}
