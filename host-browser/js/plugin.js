/** Components: their tools and hooks, each run in a fresh instance, unless a component keeps one for its tools. */
import { least } from './component-imports.js';
import { ComponentNetwork, HTTP_BYTES, noting } from './component-network.js';
import { checkedResult, encodedResult } from './component-result.js';
import { checked } from './declaration.js';
import { HandledFiles } from './handled-files.js';
import { judged } from './judgement.js';
import { Instance, KeptInstances } from './kept-instances.js';
import { TRUSTED, granted } from './plugin-grant.js';
import { remembering } from './plugin-state.js';
import { RecordedRandom } from './recorded-random.js';
import { RecordedRequests } from './recorded-requests.js';
import { KnownSecrets } from './secret-values.js';

export { declarationOf } from './declaration.js';
export { TRUSTED } from './plugin-grant.js';

/** Traps, one run after another, after which a component is not run any more. */
const MOST_TRAPS = 3;

/** How long a call, and a run of a hook, may take when its component declares nothing, in milliseconds; as natively. */
const CALL_TIMEOUT_MS = 120_000;
const HOOK_TIMEOUT_MS = 5_000;

/**
 * A component that `jco transpile --instantiation async` turned into JavaScript.
 *
 * A run sees what it was granted and nothing else: the file system view of its grant, the origins of its grant, no clock.
 */
export class Plugin {
  #instantiate;
  #module;
  #modules = new Map();
  #tail = Promise.resolve();
  #traps = 0;
  #may;
  /** Those of its tools, if it keeps its memory from call to call. */
  #instances;
  #known = new KnownSecrets();

  /**
   * @param {object} declaration what {@link declarationOf} reads from the component
   * @param {Function} instantiate what the transpiled module exports
   * @param {(path: string) => Promise<WebAssembly.Module>} module loads a core module that belongs to it
   * @param {object} [grant] what it may reach of what it declares to need: see `PluginGrant` in `plugin.d.ts`
   * @param {{ wasi?: Function }} [options] `wasi` of `windlass/wasi`, for a component that imports it
   */
  constructor(declaration, instantiate, module, grant = {}, { wasi } = {}) {
    const { name, tools, hooks, grants, network, limits, keepsInstance } = checked(declaration);
    this.name = name;
    this.hooks = hooks;
    this.#instantiate = instantiate;
    this.#module = module;
    this.#instances = keepsInstance ? new KeptInstances() : undefined;
    this.#may = { grant: granted(name, { ...grants, network }, grant), limits, wasi };
    const roots = grant === TRUSTED ? undefined : this.#may.grant.roots;
    /** The directories that were granted by their paths. */
    this.directories = this.#may.grant.roots.filter(({ path }) => path !== '');
    /** Those that were granted for a role. */
    this.roles = this.#may.grant.roles;
    const all = roots && [...roots, ...this.roles.roots];
    this.tools = tools.map((tool) => (roots ? { ...tool, annotations: annotations(tool, grants), grant: all } : tool));
  }

  /** Under what it remembers for good; `undefined` if it does not. */
  get stateId() {
    return this.#may.grant.stateId;
  }

  /** Whether it was granted secrets, whose values somebody has to give. */
  get usesSecrets() {
    return this.#may.grant.network.hasSecrets;
  }

  /**
   * Answers a call; gives the result as JSON. One at a time: a component runs on this very thread, so calls that
   * run beside each other would only finish in an order that nobody can foretell.
   *
   * @param {{ name: string, observed: object[], timeout_ms?: number }} call
   * @param {string} input the input as the model spelled it
   * @param {object} host what the call may use: see `importsOf`; its `files` runs the component on them, as `runOnFiles` does
   */
  async call(call, input, host) {
    return encodedResult(await this.answer(call, input, host));
  }

  /** Answers a call; gives the result as the component gave it, as far as it counts. A Worker hands it to its page in this form. */
  answer(call, input, host) {
    const { name, observed } = call;
    return this.#next(host, async (host) => {
      const enter = (exports) => exports.call({ name, input, observed });
      const { result, instance, handled } = await this.#run(host, this.callTimeout(call), enter, this.#instances?.take(host.session));
      const answer = this.accepted(result, handled, host.log);
      // Now the call has ended well.
      this.#instances?.put(host.session, instance);
      return answer;
    });
  }

  /** What counts of the result of a call that has handled these files; throws where it cannot be used. */
  accepted(result, handled, log) {
    return checkedResult(result, this.#may.limits, handled, noting(log));
  }

  /** A session has ended: nothing of it is kept. */
  forget(session) {
    this.#instances?.take(session);
  }

  /**
   * Runs a hook; gives its output as the core reads it.
   *
   * @param {{ name: string, kind: string, event: string }} hook as declared
   * @param {{ input: object, tool_use_id?: string }} call
   * @param {string} input its input as JSON
   * @param {object} host what the run may use, and `enforcing`: see `judged`
   */
  hook(hook, call, input, host) {
    const { name, kind, event } = hook;
    const limit = this.hookTimeout(hook);
    const occurred = { hook: name, event, input, toolUseId: call.tool_use_id ?? undefined };
    return this.#next(host, async (host) => {
      if (kind === 'observer') {
        await this.#run(host, limit, (exports) => exports.observe(occurred));
        return {}; // whatever it did, its answer is the one that says nothing
      }
      const { result } = await this.#run(host, limit, (exports) => exports.judge(occurred));
      return judged(result, { event, input: call.input }, host.enforcing);
    });
  }

  /** The limit of a call in milliseconds. */
  callTimeout({ timeout_ms: own }) {
    return least(this.#may.limits.timeout_ms, own ?? CALL_TIMEOUT_MS);
  }

  /** The limit of a hook in milliseconds. */
  hookTimeout({ timeout_ms: own }) {
    return least(this.#may.limits.timeout_ms, own ?? HOOK_TIMEOUT_MS);
  }

  /**
   * What sends the requests of one run.
   *
   * @param {object} host
   * @param {{ fetch: typeof fetch, secret?: Function }} host.network
   * @param {(level: string, message: string) => void} host.log
   * @param {AbortSignal} signal the run may not go on when it has fired
   */
  networkOf({ network, log }, signal) {
    const { grant, limits } = this.#may;
    const limit = least(limits.http_bytes, HTTP_BYTES);
    return new ComponentNetwork({ plugin: this.name, grant: grant.network, known: this.#known, ...network, log, signal, limit });
  }

  #next(host, run) {
    const done = this.#tail.then(() => remembering(host, run));
    this.#tail = done.catch(() => {});
    host.during?.(done);
    return done;
  }

  /**
   * Runs it, first in the instance that was kept, if there is one. An attempt that was not complete has left something in its memory: the
   * next one begins anew.
   */
  async #run(host, limit, enter, kept) {
    if (this.#traps >= MOST_TRAPS) {
      throw new Error(
        `The component ${this.name} trapped ${MOST_TRAPS} times in a row, and runs again when it is loaded anew`,
      );
    }
    const told = { progress: onceTold(host.progress), log: onceTold(host.log) };
    const chance = new RecordedRandom();
    const started = host.started ?? Date.now();
    const attempting = (requests) => {
      const ofAttempt = () => ({ progress: told.progress(), log: told.log(), random: chance.attempt(), started, requests });
      let instance = kept;
      const attempt = (files) => {
        const first = instance;
        instance = undefined;
        return this.#attempt({ ...host, ...ofAttempt() }, files, enter, first ?? new Instance(this.#may));
      };
      return host.files(attempt, requests);
    };
    const { result, failure, instance, handled } = await (this.#may.grant.network.isOpen ? this.#connected(host, limit, attempting) : attempting());
    if (failure !== undefined) throw new Error(failure);
    return { result, instance, handled };
  }

  /** Runs what may send requests, which is over in time: waiting for them can be stopped. */
  async #connected(host, limit, attempting) {
    // Somebody else sends them and looks at the time.
    if (host.send) return attempting(new RecordedRequests(host.send));
    const over = new AbortController();
    const stop = () => over.abort(host.signal.reason);
    host.signal?.addEventListener('abort', stop, { once: true });
    try {
      const late = () => over.abort(new Error(`The component ${this.name} did not finish within ${limit} ms and was stopped.`));
      host.sleep(limit, over.signal).then(late, () => {});
      const network = this.networkOf(host, over.signal);
      return await attempting(new RecordedRequests((request, added) => network.send(request, added)));
    } finally {
      host.signal?.removeEventListener('abort', stop);
      over.abort();
    }
  }

  /** Runs it on files and answers that may be incomplete; nothing of it counts then. */
  async #attempt(host, files, enter, instance) {
    const { requests } = host;
    const isComplete = () => files.isComplete() && (requests?.isComplete() ?? true);
    const state = new Map(host.state);
    const handled = new HandledFiles();
    const filesystem = (count, lasting) => files.filesystem(count, lasting, handled);
    requests?.begin();
    const instantiate = (imports) => this.#instantiate((path) => this.#compiled(path), imports);
    const { exports, finish } = await instance.begin({ ...host, files: filesystem, state }, instantiate);
    try {
      const result = enter(exports);
      finish();
      requests?.check();
      this.#traps = 0;
      return { result, instance, handled };
    } catch (cause) {
      if (!isComplete()) return {};
      // What a function with an error in its type returned: the component works.
      if (cause?.payload !== undefined) return { failure: String(cause.payload).slice(0, 16 << 10) };
      this.#traps += 1;
      throw new Error(`The component ${this.name} stopped in the middle of the call: ${cause?.message ?? cause}`, { cause });
    } finally {
      if (isComplete()) replaceAll(host.state, state);
    }
  }

  /** Compiled once; instances are what is fresh. */
  #compiled(path) {
    if (!this.#modules.has(path)) {
      const compiled = Promise.resolve(this.#module(path));
      this.#modules.set(path, compiled);
      // The network may be back next time.
      compiled.catch(() => this.#modules.delete(path));
    }
    return this.#modules.get(path);
  }
}

/** For what is told from the beginning in each attempt: a function for each of them that passes on what is new. */
function onceTold(tell) {
  let most = 0;
  return () => {
    let count = 0;
    return (...told) => {
      count += 1;
      if (count <= most) return;
      most = count;
      tell(...told);
    };
  };
}

/** Gives a map these entries in place of its own. */
export function replaceAll(entries, others) {
  entries?.clear();
  for (const [key, value] of others) entries.set(key, value);
}

/** What writes files changes something, and what asks for the network may send away what it has read, whatever it says of itself. */
function annotations({ annotations = {}, paths = [] }, { http = [] }) {
  const says = (...spellings) => spellings.some((name) => Boolean(annotations[name]));
  const writes = paths.some((path) => path.access === 'write');
  return {
    // In each spelling that the core reads.
    readOnly: says('readOnly', 'readOnlyHint', 'read_only') && !writes,
    destructive: says('destructive', 'destructiveHint'),
    idempotent: says('idempotent', 'idempotentHint'),
    openWorld: says('openWorld', 'openWorldHint') || http.length > 0,
  };
}
