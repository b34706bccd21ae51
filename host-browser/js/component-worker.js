/** The inside of a Worker in which one component runs: see `WorkerPlugin`, which starts it and says what it has to do. */
import { readBytes } from './assets.js';
import { runOnFiles } from './call-files.js';
import { withMemoryLimit } from './memory-limit.js';
import { Plugin } from './plugin.js';
import { init } from './wasm.js';
import { WorkerFileSystem } from './worker-files.js';

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
    if (data.type === 'answer') {
      waiting.get(data.question)(data.answer);
      waiting.delete(data.question);
    }
  });
}

async function open({ core, code, declaration, grant, memory }) {
  await init(core);
  const { instantiate } = await import(/* @vite-ignore */ /* webpackIgnore: true */ code);
  const module = async (name) => WebAssembly.compile(withMemoryLimit(await readBytes(new URL(name, code)), memory));
  return new Plugin(declaration, instantiate, module, grant);
}

async function run({ kind, given, input, state, grant, facts, enforcing }) {
  const kept = new Map(state);
  const fileSystem = new WorkerFileSystem(ask, facts);
  const host = {
    files: (attempt) => runOnFiles(fileSystem, grant, undefined, attempt),
    state: kept,
    progress: (text) => postMessage({ type: 'progress', text }),
    log: (level, message) => postMessage({ type: 'log', level, message }),
    enforcing,
  };
  try {
    const plugin = await opened;
    postMessage({ type: 'begun' });
    const result = await (kind === 'call' ? plugin.call(given, input, host) : plugin.hook(given.hook, given.call, input, host));
    postMessage({ type: 'done', result, state: [...kept] });
  } catch (error) {
    postMessage({ type: 'failed', message: error?.message ?? String(error), state: [...kept] });
  }
}

function ask(method, argument) {
  return new Promise((resolve) => {
    asked += 1;
    waiting.set(asked, resolve);
    postMessage({ type: 'ask', question: asked, method, argument });
  });
}
