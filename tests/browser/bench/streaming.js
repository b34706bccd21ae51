/**
 * What a stream of 10,000 deltas costs: read by an agent for the whole answer, by one whose events are messages, and by a loop of
 * `fetch` and `JSON.parse`.
 *
 * `node streaming.js PACKAGE`; the last line is JSON, milliseconds in the median.
 */
import { pathToFileURL } from 'node:url';
import { resolve } from 'node:path';
import { Worker } from 'node:worker_threads';

const DELTAS = 10_000;
const ROUNDS = 9;

const { Agent } = await import(pathToFileURL(resolve(process.argv[2], 'index.js')));

/** A server on another thread, whose work is not measured: every answer is the same stream. */
const server = new Worker(
  `const { createServer } = require('node:http');
   const { parentPort, workerData } = require('node:worker_threads');
   const server = createServer((request, response) => {
     request.resume().on('end', () => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(workerData));
   });
   server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));`,
  { eval: true, workerData: stream() },
);
const port = await new Promise((listening) => server.once('message', listening));
const baseUrl = `http://127.0.0.1:${port}`;

function stream() {
  const usage = { input_tokens: 10, output_tokens: 5 };
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, stop_sequence: null, usage };
  const events = [{ type: 'message_start', message }, { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }];
  for (let delta = 0; delta < DELTAS; delta += 1) {
    events.push({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: `word ${delta} ` } });
  }
  events.push({ type: 'content_block_stop', index: 0 });
  events.push({ type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage });
  events.push({ type: 'message_stop' });
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}

/** The deltas that an agent has read: those in the text of its answer, or those that came as messages. */
async function ours(includePartialMessages) {
  const agent = new Agent({ baseUrl, apiKey: 'bench', includePartialMessages });
  let deltas = 0;
  for await (const message of agent.query('Go on.')) {
    if (includePartialMessages && message.event?.type === 'content_block_delta') deltas += 1;
    if (!includePartialMessages && message.type === 'result') deltas = message.result.match(/word/g).length;
  }
  return deltas;
}

async function byHand() {
  const body = JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'Go on.' }] });
  const response = await fetch(`${baseUrl}/v1/messages`, { method: 'POST', body });
  let deltas = 0;
  let text = '';
  for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
    const lines = (text + piece).split('\n');
    text = lines.pop();
    for (const line of lines) {
      if (line.startsWith('data: ') && JSON.parse(line.slice(6)).type === 'content_block_delta') deltas += 1;
    }
  }
  return deltas;
}

async function milliseconds(run) {
  const start = performance.now();
  const deltas = await run();
  if (deltas !== DELTAS) throw new Error(`${deltas} deltas arrived`);
  return performance.now() - start;
}

const times = { whole: [], messages: [], baseline: [] };
for (let round = 0; round <= ROUNDS; round += 1) {
  const took = {
    whole: await milliseconds(() => ours(false)),
    messages: await milliseconds(() => ours(true)),
    baseline: await milliseconds(byHand),
  };
  if (round === 0) continue; // compiles
  for (const [name, ms] of Object.entries(took)) times[name].push(ms);
}
const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];
await server.terminate();
console.log(JSON.stringify(Object.fromEntries(Object.entries(times).map(([name, values]) => [name, median(values)]))));
