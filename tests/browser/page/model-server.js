/** A server of a model at another origin than the page, which behaves as it is told. */
import { createServer } from 'node:http';

/** What a server says that lets pages of all origins ask it. */
const ALLOWED = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*', 'access-control-allow-methods': 'POST' };

/** The key that it takes. */
export const KEY = 'sk-right';

/**
 * @param {'answers' | 'refuses-pages' | 'breaks'} manner `refuses-pages`: says nothing of other origins; `breaks`: closes the
 *   connection in the middle of each answer
 * @param {string | { name: string, input: object }} [content] a text, or a call of a tool
 * @returns {Promise<{ url: string, requests: object[], close: () => Promise<void> }>}
 */
export async function modelServer(manner, content = 'Good morning from the server.') {
  const requests = [];
  const server = createServer((request, response) => {
    const cors = manner === 'refuses-pages' ? {} : ALLOWED;
    if (request.method === 'OPTIONS') {
      response.writeHead(204, cors).end();
      return;
    }
    requests.push({ url: request.url, headers: request.headers });
    request.body = '';
    request.setEncoding('utf8').on('data', (piece) => { request.body += piece; });
    request.on('end', () => answer(manner, content, request, response, cors));
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

function answer(manner, content, request, response, cors) {
  if (request.headers['x-api-key'] !== KEY) {
    const error = { type: 'error', error: { type: 'authentication_error', message: 'invalid x-api-key' } };
    response.writeHead(401, { ...cors, 'content-type': 'application/json' }).end(JSON.stringify(error));
    return;
  }
  response.writeHead(200, { ...cors, 'content-type': 'text/event-stream' });
  if (typeof content !== 'string') {
    // A call; its result ends the answer.
    const isResult = (request.body ?? '').includes('tool_result');
    response.end(isResult ? events('That is all.').join('') : callEvents(content));
    return;
  }
  const [beginning, end] = events(content);
  if (manner === 'breaks') response.write(beginning, () => response.socket.end());
  else response.end(beginning + end);
}

const USAGE = { input_tokens: 10, output_tokens: 1, cache_read_input_tokens: 30, cache_creation_input_tokens: 0 };

function started() {
  const head = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-sonnet-4-6' };
  return { type: 'message_start', message: { ...head, content: [], stop_reason: null, stop_sequence: null, usage: USAGE } };
}

function ended(reason) {
  return [
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: 8 } },
    { type: 'message_stop' },
  ];
}

function lines(events) {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}

/** The events of a text: up to its middle, and the rest. */
function events(text) {
  const delta = (piece) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: piece } });
  const begun = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } };
  return [lines([started(), begun, delta(text.slice(0, 12))]), lines([delta(text.slice(12)), ...ended('end_turn')])];
}

function callEvents({ name, input }) {
  return lines([
    started(),
    { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 'toolu_1', name, input: {} } },
    { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: JSON.stringify(input) } },
    ...ended('tool_use'),
  ]);
}
