/** The inside of a Worker in which one component runs: see `WorkerPlugin`, which starts it and says what it has to do. */
import { readBytes } from './assets.js';
import { runOnFiles } from './call-files.js';
import { withMemoryLimit } from './memory-limit.js';
import { Plugin } from './plugin.js';
import { wasi } from './wasi.js';
import { init } from './wasm.js';
import { WorkerFileSystem } from './worker-files.js';

/** What in a Worker leads to servers, or to others of its origin. */
const WAYS_OUT = [
  'BroadcastChannel', 'EventSource', 'RTCPeerConnection', 'SharedWorker', 'WebSocket', 'WebSocketStream', 'WebTransport', 'Worker',
  'XMLHttpRequest', 'caches', 'cookieStore', 'fetch', 'importScripts', 'indexedDB',
];

/** Questions to the page that have no answer yet. */
const waiting = new Map();
let asked = 0;
let opened;

/** Serves the page that has made this Worker. */
export function serve() {
  addEventListener('message', ({ data }) => {
    if (data.type === 'open') {
      opened = open(data);
      opened.catch(() => {}); // the run that waits for it is told
    }
    if (data.type === 'run') run(data);
    if (data.type === 'forget') opened.then((plugin) => plugin.forget(data.session)).catch(() => {});
    if (data.type === 'answer') {
      waiting.get(data.question)(data.answer);
      waiting.delete(data.question);
    }
  });
}

async function open({ core, code, modules, declaration, grant, memory }) {
  await init(core);
  const load = fetch.bind(globalThis);
  closeWaysOut();
  const { instantiate } = await import(/* @vite-ignore */ /* webpackIgnore: true */ code);
  const bytesOf = (name) => modules?.get(name) ?? readBytes(new URL(name, code), load);
  const module = async (name) => WebAssembly.compile(withMemoryLimit(await bytesOf(name), memory));
  return new Plugin(declaration, instantiate, module, grant, { wasi });
}

/** WebAssembly reaches none of them anyway: this is for the day on which what jco makes of a component is wrong. */
function closeWaysOut() {
  for (let scope = globalThis; scope; scope = Object.getPrototypeOf(scope)) {
    for (const name of WAYS_OUT.filter((name) => scope === globalThis || Object.hasOwn(scope, name))) {
      Object.defineProperty(scope, name, { value: undefined, writable: false, configurable: false });
    }
  }
}

async function run({ kind, given, input, session, state, grant, started, facts, enforcing }) {
  const kept = new Map(state);
  const fileSystem = new WorkerFileSystem((method, argument) => ask({ type: 'ask', method, argument }), facts);
  const host = {
    files: (attempt, requests) => runOnFiles(fileSystem, grant, undefined, attempt, requests),
    send,
    session,
    started,
    state: kept,
    progress: (text) => postMessage({ type: 'progress', text }),
    log: (level, message) => postMessage({ type: 'log', level, message }),
    enforcing,
  };
  try {
    const plugin = await opened;
    postMessage({ type: 'begun' });
    const result = await (kind === 'call' ? plugin.answer(given, input, host) : plugin.hook(given.hook, given.call, input, host));
    postMessage({ type: 'done', result, state: [...kept] });
  } catch (error) {
    postMessage({ type: 'failed', message: error?.message ?? String(error), state: [...kept] });
  }
}

/** The page sends the request: it has the secrets. */
async function send(request, added) {
  const { value, failure } = await ask({ type: 'send', request, added });
  if (failure) throw new Error(failure.message);
  return value;
}

function ask(question) {
  return new Promise((resolve) => {
    asked += 1;
    waiting.set(asked, resolve);
    postMessage({ ...question, question: asked });
  });
}
