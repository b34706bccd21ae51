/**
 * The memory of 1,000 sessions in one process, each with an answer: what the process has beyond an empty one, the package included.
 *
 * `node --expose-gc sessions.js PACKAGE`; the last line is JSON, MiB.
 */
import { pathToFileURL } from 'node:url';
import { resolve } from 'node:path';

const SESSIONS = 1_000;

const before = mebibytes();
const at = (file) => import(pathToFileURL(resolve(process.argv[2], file)));
const { Agent, init, MemorySessionStore } = await at('index.js');
await init();

/** A model whose every answer is the same. */
const answer = JSON.stringify({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text: 'It is as you say. '.repeat(50) }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 10, output_tokens: 5 },
});
const fetch = async () => new Response(answer, { headers: { 'content-type': 'application/json' } });
const agent = new Agent({ fetch, stream: false, sessionStore: new MemorySessionStore() });

async function begun() {
  const session = agent.session();
  await session.prompt('Is it as I say?').result();
  return session;
}

function mebibytes() {
  globalThis.gc();
  return process.memoryUsage().rss / 2 ** 20;
}

const sessions = [];
while (sessions.length < SESSIONS) sessions.push(await begun());
console.log(JSON.stringify({ sessions: mebibytes() - before }));
process.exit(sessions.length === SESSIONS ? 0 : 1);
