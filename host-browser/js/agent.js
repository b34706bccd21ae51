/** Agents: the API that people use. */
import { SystemClock } from './clock.js';
import { Endpoint } from './http.js';
import { Hooks } from './hooks.js';
import { platformFetch } from './judged-fetch.js';
import { checkedServers } from './mcp-connections.js';
import { MemoryFileSystem } from './memory-file-system.js';
import { checkOptions, checkedPrompt, optionsOfSession, signalOf } from './options.js';
import { hasProjectFiles, wantedSettings, withProjectFiles } from './project-files.js';
import { KEEPS_QUESTIONS, Session } from './session.js';
import { askerOf, specOf } from './spec.js';
import { checkedSnapshot, keep } from './stored-sessions.js';
import { Session as Core, init, version } from './wasm.js';

/** How long a tool may take when nothing else is said: two minutes. */
const TOOL_TIMEOUT_MS = 120_000;

/** What an agent is: made once, used for any number of prompts and sessions. */
export class Agent {
  #options;
  #spec;
  #settings;
  #parts;

  constructor(options = {}) {
    const doubts = checkOptions(options);
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
    const usesFiles = plugins.length > 0 || (options.tools ?? []).some((tool) => tool.usesFiles);
    const cwd = options.cwd ?? '/';
    this.#options = options;
    this.#parts = {
      clock,
      cwd,
      tools,
      endpoint: new Endpoint(options),
      files: options.files ?? (usesFiles ? new MemoryFileSystem({ clock }) : undefined),
      hooks,
      log: options.pluginLog,
      allowed: options.onAllowed,
      network: networkOf(options, plugins),
      pluginState: pluginStateOf(options, plugins),
      canUseTool: askerOf(options),
      mcpServers: checkedServers(options.mcpServers),
      toolTimeoutMs: options.toolTimeoutMs ?? TOOL_TIMEOUT_MS,
      warn: options.onWarning ?? ((text) => console.warn(`windlass: ${text}`)),
    };
    this.#settings = wantedSettings(options);
    this.#spec = specOf(options, definitions, hooks.registrations, cwd);
    keeping(options); // whatever is wrong with it is told now
    for (const text of doubts) this.#parts.warn(text);
  }

  /** The files that the tools of its plugins work on. */
  get files() {
    return this.#parts.files;
  }

  /** Asks in a session of its own; gives the messages as they come. */
  query(prompt, options) {
    const checked = checkedPrompt(prompt); // before a session is opened for it
    const signal = signalOf(options);
    return this.session().only(checked, { signal });
  }

  /** Asks in a session of its own; gives the result message. */
  async run(prompt, options) {
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
    return new Session(this.#begun(seed, sessionId, kept), this.#parts, {
      store: sessionStore,
      isKept: kept.persist,
      begin: (other) => this.session(other),
    });
  }

  /** The core of a session. */
  async #begun(seed, sessionId, kept) {
    await init();
    const { mcpServers, files, clock, cwd } = this.#parts;
    const environment = { version: version(), ...this.#spec.environment };
    const spec = { ...this.#spec, persist: kept.persist, environment };
    const task = (spec) => JSON.stringify({ seed: hex(seed), session_id: sessionId, spec });
    const others = [JSON.stringify(kept), Object.keys(mcpServers)];
    const tree = files ?? new MemoryFileSystem({ clock });
    if (!this.#settings || !(await hasProjectFiles(tree, cwd, this.#settings))) return new Core(task(spec), ...others);
    // Most agents have none: what reads them is another module.
    const { SessionWithSettings, initSettings } = await import('./settings-wasm.js');
    await initSettings();
    // The agent that it runs as may be one of the files.
    const begin = (...read) => SessionWithSettings.withSettings(task({ ...spec, agent: undefined }), ...others, ...read);
    return withProjectFiles(tree, cwd, this.#settings, begin);
  }

  /**
   * Goes on from a snapshot: under its id where nothing is kept of it, in a copy where something is, which stays as it is.
   *
   * @param {{ sessionId: string, messageId: string, transcript: string }} snapshot what `snapshot` of a session gave
   * @returns {Promise<Session>}
   */
  async restore(snapshot) {
    const { sessionStore } = this.#options;
    if (!sessionStore) throw new Error('`restore` needs a `sessionStore`, in which the session goes on: `new MemorySessionStore()` will do');
    const { sessionId, messageId, lines } = checkedSnapshot(snapshot); // before anything is written
    const isKept = (await sessionStore.load(sessionId)) !== undefined;
    if (!isKept) await keep(sessionStore, sessionId, lines);
    return this.session({ resume: sessionId, resumeSessionAt: messageId, forkSession: isKept });
  }
}

/** Where the session is kept, and which one goes on. */
function keeping({ sessionStore, persistSession = true, resume, continue: latest = false, forkSession = false, ...cut }) {
  if (!sessionStore && (resume !== undefined || latest)) {
    throw new Error('`resume` and `continue` need a `sessionStore` in which the session is');
  }
  const persist = Boolean(sessionStore) && persistSession;
  const { resumeSessionAt: resumeAt, resumeDropsTurn: dropsTurn, [KEEPS_QUESTIONS]: keepsQuestions = false } = cut;
  const keepsTurns = cut.keepUnfinishedTurns ?? !keepsQuestions;
  return { persist, resume, continueLatest: latest, fork: forkSession, resumeAt, dropsTurn, keepsQuestions, keepsTurns };
}

/** What sends the requests of components. */
function networkOf({ pluginFetch, pluginSecret }, plugins) {
  const without = pluginSecret ? undefined : plugins.find(({ usesSecrets }) => usesSecrets);
  if (without) throw new Error(`the component ${without.name} was granted secrets: give their values by the option \`pluginSecret\``);
  return { fetch: pluginFetch ?? platformFetch(), secret: pluginSecret };
}

/** Where components remember for good. */
function pluginStateOf({ pluginState, sessionStore }, plugins) {
  const store = pluginState ?? sessionStore?.pluginState;
  const without = store ? undefined : plugins.find(({ stateId }) => stateId !== undefined);
  if (without) {
    throw new Error(`the component ${without.name} was granted durable state: say where it is kept by \`pluginState\`, or give a \`sessionStore\` of this package`);
  }
  return store;
}

function randomSeed() {
  return crypto.getRandomValues(new Uint8Array(32));
}

function hex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
