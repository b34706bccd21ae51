/** Agents, their conversations, and runs: the API that people use. */
import { SystemClock } from './clock.js';
import { Endpoint } from './http.js';
import { Hooks } from './hooks.js';
import { Host } from './host.js';
import { MemoryFileSystem } from './memory-file-system.js';
import { Session as Core, init, version } from './wasm.js';

/** Messages that may wait to be read before the loop waits too. */
const MESSAGES_AHEAD = 64;

/** How long a tool may take when nothing else is said: two minutes. */
const TOOL_TIMEOUT_MS = 120_000;

/** What an agent is: made once, used for any number of prompts and sessions. */
export class Agent {
  #options;
  #spec;
  #parts;

  constructor(options = {}) {
    const tools = new Map();
    const definitions = [];
    const add = (definition, answers) => {
      if (tools.has(definition.name)) throw new Error(`two tools are called ${definition.name}`);
      tools.set(definition.name, answers);
      definitions.push(definition);
    };
    const plugins = options.plugins ?? [];
    for (const plugin of plugins) {
      for (const definition of plugin.tools) add(definition, { plugin });
    }
    // Of these the host resolves the files, and no closure's.
    const hooks = new Hooks(options.hooks ?? {}, plugins, new Set(tools.keys()));
    for (const tool of options.tools ?? []) add(tool.definition, tool);
    const clock = options.clock ?? new SystemClock();
    const cwd = options.cwd ?? '/';
    this.#options = options;
    this.#parts = {
      clock,
      cwd,
      tools,
      endpoint: new Endpoint(options),
      files: options.files ?? (plugins.length ? new MemoryFileSystem({ clock }) : undefined),
      hooks,
      denied: denied(options.disallowedTools ?? []),
      log: options.pluginLog,
      canUseTool: options.canUseTool,
      toolTimeoutMs: options.toolTimeoutMs ?? TOOL_TIMEOUT_MS,
    };
    this.#spec = spec(options, definitions, hooks.registrations, cwd);
  }

  /** The files that the tools of its plugins work on. */
  get files() {
    return this.#parts.files;
  }

  /** Asks in a session of its own; gives the messages as they come. */
  query(prompt, { signal } = {}) {
    return this.session().prompt(prompt, { signal });
  }

  /** Asks in a session of its own; gives the result message. */
  run(prompt, { signal } = {}) {
    return this.query(prompt, { signal }).result();
  }

  /** Starts a conversation: prompts that see what came before. */
  session() {
    const { seed = randomSeed(), sessionId } = this.#options;
    const start = async () => {
      await init();
      const environment = { version: version(), ...this.#spec.environment };
      const task = { seed: hex(seed), session_id: sessionId, spec: { ...this.#spec, environment } };
      return new Core(JSON.stringify(task));
    };
    return new Session(start(), this.#parts);
  }
}

/** A conversation. Prompts are answered one after another. */
export class Session {
  #core;
  #parts;
  #running;
  #tail;
  /** What each plugin remembers of this session. */
  #states = new Map();

  /** @private */
  constructor(core, parts) {
    this.#core = core;
    this.#parts = parts;
    // What is wrong with the options is told to whoever prompts.
    this.#tail = core.then(() => {}, () => {});
  }

  /** The session's id, a UUID. */
  async id() {
    return (await this.#core).id;
  }

  /**
   * Gives the session a prompt: a text, or content blocks of the Messages API. The work begins at once, and waits
   * when too many messages are not read.
   */
  prompt(prompt, { signal } = {}) {
    const run = new Run((stopped) => this.#stop(stopped), signal);
    const turn = async () => {
      const core = await this.#core;
      if (run[STOPPED]) return; // before its turn came
      core.prompt(JSON.stringify(prompt));
      this.#running = run;
      try {
        await core.drive(new Host(this.#parts, this.#states, (line) => run[TAKE](line)));
      } finally {
        this.#running = undefined;
      }
    };
    const done = this.#tail.then(turn);
    this.#tail = done.catch(() => {});
    run[FOLLOW](done);
    return run;
  }

  /** Stops what is running. The session stays usable. */
  async interrupt() {
    (await this.#core).interrupt();
  }

  /** Stops this run, and no other that has its turn now. */
  async #stop(run) {
    if (this.#running === run) await this.interrupt();
  }

  /** Changes the permission mode: `default`, `acceptEdits`, `plan`, `dontAsk` or `bypassPermissions`. */
  async setPermissionMode(mode) {
    (await this.#core).setPermissionMode(mode);
  }

  /** Changes the model; without a name it is the one of the agent again. */
  async setModel(model) {
    (await this.#core).setModel(model);
  }
}

const TAKE = Symbol('take');
const FOLLOW = Symbol('follow');
const STOPPED = Symbol('stopped');

/** The messages of an answer, an async iterable. Leaving the loop stops the run. */
export class Run {
  #stop;
  #lines = [];
  /** Those who wait for a message: `{ resolve, reject }`. */
  #readers = [];
  /** Who waits for room. */
  #writer;
  /** `{ error }` or `{}` once there will be no more. */
  #over;
  #stopped = false;
  #abandoned = false;
  #done;

  /** @private */
  constructor(stop, signal) {
    this.#stop = stop;
    const abort = () => this.#abandon({ error: signal.reason });
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort, { once: true });
  }

  /** Stops it: what remains are the messages of the interruption. */
  interrupt() {
    this.#stopped = true;
    return this.#stop(this);
  }

  /** Reads everything and gives the result message. */
  async result() {
    let last;
    for await (const message of this) last = message;
    if (last?.type !== 'result') throw new Error('the run ended without a result');
    return last;
  }

  /** The messages as lines of JSON, byte for byte as the core wrote them. */
  async *lines() {
    try {
      for (let line = await this.#next(); line !== undefined; line = await this.#next()) yield line;
    } finally {
      await this.return();
    }
  }

  async next() {
    const line = await this.#next();
    return line === undefined ? { done: true, value: undefined } : { done: false, value: JSON.parse(line) };
  }

  async return() {
    if (!this.#over) this.#abandon({});
    await this.#done.catch(() => {});
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator]() {
    return this;
  }

  /** @private */
  [FOLLOW](done) {
    this.#done = done;
    done.then(() => this.#end({}), (error) => this.#end({ error }));
  }

  /** @private Takes a line; resolves when there is room for the next. */
  [TAKE](line) {
    if (this.#abandoned) return Promise.resolve();
    const reader = this.#readers.shift();
    if (reader) {
      reader.resolve(line);
      return Promise.resolve();
    }
    this.#lines.push(line);
    if (this.#lines.length < MESSAGES_AHEAD) return Promise.resolve();
    return new Promise((resolve) => {
      this.#writer = resolve;
    });
  }

  #next() {
    if (this.#lines.length > 0) {
      const line = this.#lines.shift();
      this.#makeRoom();
      return Promise.resolve(line);
    }
    if (this.#over) return this.#ended();
    return new Promise((resolve, reject) => {
      this.#readers.push({ resolve, reject });
    });
  }

  #ended() {
    const { error } = this.#over;
    this.#over = {}; // an error is told once
    return error === undefined ? Promise.resolve(undefined) : Promise.reject(error);
  }

  #end(over) {
    this.#over ??= over;
    for (const { resolve, reject } of this.#readers.splice(0)) this.#ended().then(resolve, reject);
  }

  /** Nobody reads any further: stops the work and drops its messages. */
  #abandon(over) {
    if (this.#over) return;
    this.#abandoned = true;
    this.#lines = [];
    this.#makeRoom();
    this.#end(over);
    this.interrupt().catch(() => {});
  }

  /** @private Whether nobody wants it any more. */
  get [STOPPED]() {
    return this.#stopped;
  }

  #makeRoom() {
    this.#writer?.();
    this.#writer = undefined;
  }
}

/** Whether rules deny all reading or all writing: for plugins, too, in directories that no call has to name. */
function denied(rules) {
  const bare = rules.map((rule) => rule.replace(/\(\s*\*\s*\)$/, '').trim());
  return { read: bare.includes('Read') || bare.includes('*'), write: bare.includes('Edit') || bare.includes('*') };
}

/** The options as the core reads them (`windlass_core::task`). */
function spec(options, tools, hooks, cwd) {
  return {
    model: options.model,
    max_tokens: options.maxTokens,
    system: options.systemPrompt,
    tools,
    hooks,
    include_hook_events: options.includeHookEvents,
    thinking: thinking(options.thinking),
    effort: options.effort,
    betas: options.betas,
    stream: options.stream,
    partial_messages: options.includePartialMessages,
    progress_interval_ms: options.progressIntervalMs,
    limits: {
      max_turns: options.maxTurns,
      // A decimal number, whatever JavaScript would make of a small one (1e-7).
      max_budget: options.maxBudgetUsd?.toFixed(9),
    },
    retry: retry(options.retry),
    permissions: {
      mode: options.permissionMode,
      allow: options.allowedTools,
      ask: options.askTools,
      deny: options.disallowedTools,
      can_ask: Boolean(options.canUseTool),
      free_workspace_reads: options.freeWorkspaceReads,
      allow_bypass: options.allowDangerouslySkipPermissions,
    },
    environment: { ...options.environment, cwd },
    prices: options.prices,
  };
}

function thinking(config) {
  if (!config) return undefined;
  if (config.type === 'enabled') return { enabled: { budget_tokens: config.budgetTokens } };
  return config.type;
}

function retry(policy) {
  if (!policy) return undefined;
  return {
    max_retries: policy.maxRetries ?? 10,
    base_ms: policy.baseMs ?? 500,
    max_ms: policy.maxMs ?? 32_000,
    jitter_percent: policy.jitterPercent ?? 25,
    only_rate_limits: policy.onlyRateLimits ?? false,
    honour_retry_after: policy.honourRetryAfter ?? true,
  };
}

function randomSeed() {
  return crypto.getRandomValues(new Uint8Array(32));
}

function hex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
