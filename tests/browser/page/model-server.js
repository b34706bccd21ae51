/** A server of a model at another origin than the page, which behaves as it is told. */
import { createServer } from 'node:http';

/** What a server says that lets pages of all origins ask it. */
const ALLOWED = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*', 'access-control-allow-methods': 'POST' };

/** The key that it takes. */
export const KEY = 'sk-right';

/**
 * @param {'answers' | 'refuses-pages' | 'breaks'} manner `refuses-pages`: says nothing of other origins; `breaks`: closes the
 *   connection in the middle of each answer
 * @returns {Promise<{ url: string, requests: object[], close: () => Promise<void> }>}
 */
export async function modelServer(manner) {
  const requests = [];
  const server = createServer((request, response) => {
    const cors = manner === 'refuses-pages' ? {} : ALLOWED;
    if (request.method === 'OPTIONS') {
      response.writeHead(204, cors).end();
      return;
    }
    requests.push({ url: request.url, headers: request.headers });
    request.resume().on('end', () => answer(manner, request, response, cors));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    requests,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function answer(manner, request, response, cors) {
  if (request.headers['x-api-key'] !== KEY) {
    const error = { type: 'error', error: { type: 'authentication_error', message: 'invalid x-api-key' } };
    response.writeHead(401, { ...cors, 'content-type': 'application/json' }).end(JSON.stringify(error));
    return;
  }
  response.writeHead(200, { ...cors, 'content-type': 'text/event-stream' });
  const [beginning, end] = events('Good morning from the server.');
  if (manner === 'breaks') response.write(beginning, () => response.socket.end());
  else response.end(beginning + end);
}

/** The events of an answer: up to the middle of its text, and the rest. */
function events(text) {
  const usage = { input_tokens: 10, output_tokens: 1, cache_read_input_tokens: 30, cache_creation_input_tokens: 0 };
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-sonnet-4-6', content: [], stop_reason: null, stop_sequence: null, usage };
  const delta = (piece) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: piece } });
  const lines = (list) => list.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
  return [
    lines([{ type: 'message_start', message }, { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }, delta(text.slice(0, 12))]),
    lines([
      delta(text.slice(12)),
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 8 } },
      { type: 'message_stop' },
    ]),
  ];
}
