/** Components that nobody trusts: each in a Worker of its own, which is ended when a run takes too long. */
import { addressOf } from './assets.js';
import { least } from './component-imports.js';
import { encodedResult } from './component-result.js';
import { judgedAgain } from './judgement.js';
import { MOST_MEMORY } from './memory-limit.js';
import { Plugin, replaceAll } from './plugin.js';
import { remembering } from './plugin-state.js';
import { ServedFiles } from './worker-files.js';

/** How long loading and compiling a component may take, in milliseconds. */
const OPENING_MS = 60_000;

/** Runs that did not end by themselves, one after another, after which a component is not run any more. */
const MOST_ENDED = 3;

/**
 * A component that runs in a Worker. The Worker has what the component was granted, and asks the page for files and for answers of
 * servers; the page looks at each question once more, and at the result of each call and hook. No secret is ever in the Worker. It is ended where a run takes longer than it may or is cancelled, and the next run has a new one.
 */
export class WorkerPlugin extends Plugin {
  #opening;
  #makeWorker;
  #worker;
  #tail = Promise.resolve();
  #ended = 0;
  /** The sessions that it has run in, as its Worker knows them. */
  #sessions = new WeakMap();
  #numbered = 0;

  /**
   * @param {object} declaration what {@link declarationOf} reads from the component
   * @param {string | URL} code the address of what jco made of it; its core modules are beside
   * @param {object} [grant] what it may reach: see `PluginGrant` in `plugin.d.ts`
   * @param {{ worker?: () => Worker, core?: WebAssembly.Module, modules?: Map<string, Uint8Array> }} [options] see `worker-plugin.d.ts`
   */
  constructor(declaration, code, grant = {}, { worker = ownWorker, core, modules } = {}) {
    super(declaration, () => Promise.reject(new Error('this component runs in a Worker')), undefined, grant);
    const limits = declaration.limits ?? {};
    this.#makeWorker = worker;
    const memory = least(limits.memory_bytes, MOST_MEMORY);
    this.#opening = { type: 'open', core, code: addressOf(code).href, modules, declaration, grant, memory };
  }

  call({ name, observed, timeout_ms }, input, host) {
    return this.#next(host, { kind: 'call', given: { name, observed }, input }, this.callTimeout({ timeout_ms }));
  }

  async hook({ name, kind, event, timeout_ms }, { input: given, tool_use_id }, input, host) {
    const run = { kind: 'hook', given: { hook: { name, kind, event }, call: { input: given, tool_use_id } }, input, enforcing: host.enforcing };
    const output = await this.#next(host, run, this.hookTimeout({ timeout_ms }));
    return kind === 'observer' ? {} : judgedAgain(output, { event, input: given }, host.enforcing);
  }

  forget(session) {
    if (this.#sessions.has(session)) this.#worker?.postMessage({ type: 'forget', session: this.#numberOf(session) });
  }

  #numberOf(session) {
    if (!this.#sessions.has(session)) this.#sessions.set(session, (this.#numbered += 1));
    return this.#sessions.get(session);
  }

  /** Ends the Worker. */
  close() {
    this.#worker?.terminate();
    this.#worker = undefined;
  }

  #next(host, run, limit) {
    const done = this.#tail.then(() => remembering(host, (host) => this.#run(host, run, limit)));
    this.#tail = done.catch(() => {});
    host.during?.(done);
    return done;
  }

  async #run(host, run, limit) {
    if (this.#ended >= MOST_ENDED) {
      throw new Error(`The component ${this.name} had to be ended ${MOST_ENDED} times in a row, and runs again when it is loaded anew`);
    }
    host.signal?.throwIfAborted();
    const worker = this.#open();
    const files = new ServedFiles(host.fileSystem, host.grant);
    const { grant, started } = host;
    const request = { type: 'run', ...run, session: this.#numberOf(host.session), state: [...host.state], grant, started, facts: files.facts };
    try {
      const { result, state, failure } = await this.#answered(worker, request, files, host, limit);
      replaceAll(host.state, state);
      this.#ended = 0;
      if (failure !== undefined) throw new Error(failure);
      return run.kind === 'call' ? encodedResult(this.accepted(result, files.handled, host.log)) : result;
    } catch (error) {
      if (error instanceof Ended) {
        this.close();
        if (!host.signal?.aborted) this.#ended += 1;
      }
      throw error;
    }
  }

  #open() {
    if (!this.#worker) {
      this.#worker = this.#makeWorker();
      this.#worker.postMessage(this.#opening);
    }
    return this.#worker;
  }

  /** Sends a request, and serves the Worker until it has answered. */
  #answered(worker, request, files, host, limit) {
    const { signal, progress, log } = host;
    return new Promise((resolve, reject) => {
      const over = new AbortController();
      const end = (settle, value) => {
        clearTimeout(timer);
        over.abort();
        settle(value);
      };
      const late = (within) => end(reject, new Ended(`The component ${this.name} did not finish within ${within} ms and was stopped.`));
      let timer = setTimeout(late, OPENING_MS, OPENING_MS);
      const take = ({ data }) => {
        switch (data.type) {
          case 'begun':
            clearTimeout(timer);
            timer = setTimeout(late, limit, limit);
            break;
          case 'ask':
            files.answer(data.method, data.argument).then((answer) => worker.postMessage({ type: 'answer', question: data.question, answer }));
            break;
          case 'send':
            sent(network, data).then((answer) => worker.postMessage({ type: 'answer', question: data.question, answer }));
            break;
          case 'progress':
            progress?.(data.text);
            break;
          case 'log':
            log(data.level, data.message);
            break;
          case 'done':
            end(resolve, { result: data.result, state: data.state });
            break;
          case 'failed':
            end(resolve, { failure: data.message, state: data.state });
            break;
        }
      };
      const broken = (event) => end(reject, new Ended(`The Worker of the component ${this.name} failed: ${event.message ?? 'it cannot be loaded'}`));
      const listening = { signal: over.signal };
      const network = this.networkOf(host, over.signal);
      worker.addEventListener('message', take, listening);
      worker.addEventListener('error', broken, listening);
      signal?.addEventListener('abort', () => end(reject, new Ended(`${this.name} was stopped.`)), listening);
      worker.postMessage(request);
    });
  }
}

/** What became of a request that a Worker asks for. */
async function sent(network, { request, added }) {
  try {
    return { value: await network.send(request, added) };
  } catch (error) {
    return { failure: { message: error?.message ?? String(error) } };
  }
}

/** A run that did not end by itself: its Worker is of no use any more. */
class Ended extends Error {}

function ownWorker() {
  if (typeof Worker !== 'function') throw new Error('there is no Worker here to run the component in: `Plugin` runs it on this thread');
  return new Worker(new URL('./component-worker-script.js', import.meta.url), { type: 'module' });
}
