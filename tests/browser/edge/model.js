/** A model server on loopback: answers with what it is given, and keeps what it was asked. */
import { createServer } from 'node:http';

export class Model {
  #server;
  #answers = [];
  requests = [];

  static async start() {
    const model = new Model();
    model.#server = createServer((request, response) => model.#handle(request, response));
    await new Promise((resolve) => model.#server.listen(0, '127.0.0.1', resolve));
    return model;
  }

  get url() {
    return `http://127.0.0.1:${this.#server.address().port}`;
  }

  /** The next answer: a text, `{ call: { name, input } }`, or `{ begins: text, begun: () => {} }`, which never ends. */
  answer(...answers) {
    this.#answers.push(...answers);
  }

  async #handle(request, response) {
    let body = '';
    for await (const piece of request) body += piece;
    this.requests.push({ headers: request.headers, body: JSON.parse(body) });
    const answer = this.#answers.shift();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const event = (data) => response.write(`event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`);
    const usage = { input_tokens: 10, output_tokens: 5 };
    event({ type: 'message_start', message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, stop_sequence: null, usage } });
    const text = typeof answer === 'string' ? answer : answer.begins;
    if (text === undefined) {
      const { name, input } = answer.call;
      event({ type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: `toolu_${this.requests.length}`, name, input: {} } });
      event({ type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: JSON.stringify(input) } });
    } else {
      event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } });
      event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } });
    }
    if (answer.begun) {
      answer.begun();
      return; // until whoever asked is gone
    }
    event({ type: 'content_block_stop', index: 0 });
    event({ type: 'message_delta', delta: { stop_reason: text === undefined ? 'tool_use' : 'end_turn', stop_sequence: null }, usage });
    event({ type: 'message_stop' });
    response.end();
  }

  async stop() {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
