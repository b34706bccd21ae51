/** Agents: the API that people use. */
import { SystemClock } from './clock.js';
import { Endpoint } from './http.js';
import { Hooks } from './hooks.js';
import { MemoryFileSystem } from './memory-file-system.js';
import { checkOptions, optionsOfSession, signalOf } from './options.js';
import { Session } from './session.js';
import { keep } from './stored-sessions.js';
import { Session as Core, init, version } from './wasm.js';

/** How long a tool may take when nothing else is said: two minutes. */
const TOOL_TIMEOUT_MS = 120_000;

/** What an agent is: made once, used for any number of prompts and sessions. */
export class Agent {
  #options;
  #spec;
  #parts;

  constructor(options = {}) {
    checkOptions(options);
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
      canUseTool: asked(options),
      toolTimeoutMs: options.toolTimeoutMs ?? TOOL_TIMEOUT_MS,
      warn: options.onWarning ?? ((text) => console.warn(`windlass: ${text}`)),
    };
    this.#spec = spec(options, definitions, hooks.registrations, cwd);
    keeping(options); // whatever is wrong with it is told now
  }

  /** The files that the tools of its plugins work on. */
  get files() {
    return this.#parts.files;
  }

  /** Asks in a session of its own; gives the messages as they come. */
  query(prompt, options) {
    const signal = signalOf(options); // before a session is opened for it
    return this.session().only(prompt, { signal });
  }

  /** Asks in a session of its own; gives the result message. */
  run(prompt, options) {
    return this.query(prompt, options).result();
  }

  /**
   * Starts a conversation: prompts that see what came before.
   *
   * @param {{ resume?: string, continue?: boolean, forkSession?: boolean, resumeSessionAt?: string, resumeDropsTurn?: string, sessionId?: string }}
   *   [options] which session goes on, in place of what the options of the agent say
   */
  session(options = {}) {
    const { seed = randomSeed(), sessionId, sessionStore, ...others } = optionsOfSession(this.#options, options);
    const kept = keeping({ sessionStore, ...others });
    const start = async () => {
      await init();
      const environment = { version: version(), ...this.#spec.environment };
      const task = { seed: hex(seed), session_id: sessionId, spec: { ...this.#spec, persist: kept.persist, environment } };
      return new Core(JSON.stringify(task), JSON.stringify(kept));
    };
    return new Session(start(), this.#parts, {
      store: sessionStore,
      isKept: kept.persist,
      begin: (other) => this.session(other),
    });
  }

  /**
   * Goes on from a snapshot: under its id where nothing is kept of it, in a copy where something is, which stays as it is.
   *
   * @param {{ sessionId: string, messageId: string, transcript: string }} snapshot what `snapshot` of a session gave
   * @returns {Promise<Session>}
   */
  async restore({ sessionId, messageId, transcript }) {
    const { sessionStore } = this.#options;
    if (!sessionStore) throw new Error('`restore` needs a `sessionStore`, in which the session goes on: `new MemorySessionStore()` will do');
    const isKept = (await sessionStore.load(sessionId)) !== undefined;
    if (!isKept) await keep(sessionStore, sessionId, transcript.split('\n').filter(Boolean));
    return this.session({ resume: sessionId, resumeSessionAt: messageId, forkSession: isKept });
  }
}

/** Where the session is kept, and which one goes on. */
function keeping({ sessionStore, persistSession = true, resume, continue: latest = false, forkSession = false, ...cut }) {
  if (!sessionStore && (resume !== undefined || latest)) {
    throw new Error('`resume` and `continue` need a `sessionStore` in which the session is');
  }
  const persist = Boolean(sessionStore) && persistSession;
  return { persist, resume, continueLatest: latest, fork: forkSession, resumeAt: cut.resumeSessionAt, dropsTurn: cut.resumeDropsTurn };
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
    fallback_model: options.fallbackModel,
    max_tokens: options.maxTokens,
    system: Array.isArray(options.systemPrompt) ? options.systemPrompt.join('\n\n') : options.systemPrompt,
    tools,
    core_tools: coreTools(options),
    agents: options.agents,
    agent: options.agent,
    tasks: { agent_tool: 'agent', tool_calls_only: options.forwardSubagentText === false },
    tool_aliases: options.toolAliases,
    plan_reminder: options.planModeInstructions && { instructions: options.planModeInstructions },
    output: output(options.outputFormat),
    hooks,
    include_hook_events: options.includeHookEvents,
    thinking: thinking(options),
    task_budget: options.taskBudget?.total,
    effort: options.effort,
    betas: options.betas,
    stream: options.stream,
    partial_messages: options.includePartialMessages,
    prompt_suggestions: options.promptSuggestions,
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
      can_ask: Boolean(asked(options)),
      free_workspace_reads: options.freeWorkspaceReads,
      allow_bypass: options.allowDangerouslySkipPermissions,
    },
    environment: { ...options.environment, cwd, additional_directories: options.additionalDirectories },
    prices: options.prices,
  };
}

/** The tools that the loop runs itself: those that are named, and what starts and stops agents if there are any. */
function coreTools({ coreTools = [], agents }) {
  const ofAgents = agents && Object.keys(agents).length > 0 ? ['Agent', 'TaskOutput', 'TaskStop'] : [];
  const names = new Set([...coreTools, ...ofAgents].map((name) => (name === 'Agent' ? 'Task' : name)));
  return [...names];
}

function output(format) {
  if (!format) return undefined;
  if (format.type !== 'json_schema') throw new Error(`outputFormat: there is no type ${JSON.stringify(format.type)}, only "json_schema"`);
  return { schema: format.schema };
}

/** Who is asked what nothing else decides, if anybody. */
function asked({ canUseTool, permissionPrompts = 'host' }) {
  if (!['host', 'none'].includes(permissionPrompts)) throw new Error('`permissionPrompts` is "host" or "none"');
  return permissionPrompts === 'host' ? canUseTool : undefined;
}

/** `maxThinkingTokens` is the older way to say it. */
function thinking({ thinking: config, maxThinkingTokens: most }) {
  if (!config && most !== undefined) return most === 0 ? 'disabled' : { enabled: { budget_tokens: most } };
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
