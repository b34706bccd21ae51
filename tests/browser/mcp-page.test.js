/** MCP servers from a page: another origin, and a strict content security policy. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInPage } from './bundled-page.js';
import { HttpServer, Server } from './mcp/server.js';

test('a page uses a server of another origin, and says why one does not let it in', async () => {
  const server = await Server.start();
  // A server that knows nothing of pages.
  const closed = await HttpServer.start((request, response) => response.end('{}'), {});
  try {
    const { result: seen } = await runInPage('mcp/page.js', { url: server.url, closedUrl: closed.url });
    assert.deepEqual(seen.init.mcp_servers, [
      { name: 'closed', status: 'failed' },
      { name: 'tester', status: 'connected' },
    ]);
    assert.equal(seen.result, 'It is 3.');
    assert.match(seen.status.find(({ name }) => name === 'closed').error, /cannot reach .*CORS/);
    assert.equal(seen.resource.contents[0].text, '<p>chart</p>');
    assert.ok(server.requests.some(({ headers }) => headers['mcp-session-id'] && headers.origin), 'no session of a page');
  } finally {
    await server.stop();
    await closed.stop();
  }
});
