/** A model server on loopback: answers with what it is given, and keeps what it was asked. */
import { createServer } from 'node:http';

export class Model {
  #server;
  #answers = [];
  #onRun = () => {};
  #onRequest = () => {};
  requests = [];
  /** What tools have asked for: they run in an isolate that keeps no count. */
  ran = [];

  static async start() {
    const model = new Model();
    model.#server = createServer((request, response) => model.#handle(request, response));
    await new Promise((resolve) => model.#server.listen(0, '127.0.0.1', resolve));
    return model;
  }

  get url() {
    return `http://127.0.0.1:${this.#server.address().port}`;
  }

  /** The next answer: a text, `{ call: { name, input } }`, several `{ calls: […] }`, or `{ begins: text, begun: () => {} }`, which never ends. */
  answer(...answers) {
    this.#answers.push(...answers);
  }

  /** Waits until tools have asked so often. */
  async hasRun(count) {
    while (this.ran.length < count) {
      await new Promise((resolve) => {
        this.#onRun = resolve;
      });
    }
  }

  /** Waits until it was asked so often. */
  async wasAsked(count) {
    while (this.requests.length < count) {
      await new Promise((resolve) => {
        this.#onRequest = resolve;
      });
    }
  }

  /** Takes back the answers that nobody has asked for. */
  forget() {
    this.#answers = [];
  }

  async #handle(request, response) {
    if (request.method === 'GET') {
      const [name] = request.url.split('?');
      response.end(this.ran.some((ran) => ran.split('?')[0] === name) ? 'again' : 'first');
      this.ran.push(request.url);
      this.#onRun();
      return;
    }
    const body = await bodyOf(request);
    if (body === undefined) return; // whoever asked was ended in the middle of it
    this.requests.push({ headers: request.headers, body: JSON.parse(body) });
    this.#onRequest();
    const answer = this.#answers.shift();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const event = (data) => response.write(`event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`);
    const usage = { input_tokens: 10, output_tokens: 5 };
    event({ type: 'message_start', message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, stop_sequence: null, usage } });
    const text = typeof answer === 'string' ? answer : answer.begins;
    const calls = answer.calls ?? (answer.call ? [answer.call] : []);
    if (text !== undefined) {
      event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } });
      event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } });
    }
    for (const [index, { name, input }] of calls.entries()) {
      const id = `toolu_${this.requests.length}${index > 0 ? `_${index}` : ''}`;
      if (index > 0) event({ type: 'content_block_stop', index: index - 1 });
      event({ type: 'content_block_start', index, content_block: { type: 'tool_use', id, name, input: {} } });
      event({ type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: JSON.stringify(input) } });
    }
    if (answer.begun) {
      answer.begun();
      return; // until whoever asked is gone
    }
    event({ type: 'content_block_stop', index: Math.max(0, calls.length - 1) });
    event({ type: 'message_delta', delta: { stop_reason: text === undefined ? 'tool_use' : 'end_turn', stop_sequence: null }, usage });
    event({ type: 'message_stop' });
    response.end();
  }

  async stop() {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

async function bodyOf(request) {
  let body = '';
  try {
    for await (const piece of request) body += piece;
    return body;
  } catch {
    return undefined;
  }
}
