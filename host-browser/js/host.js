/** What a session is driven with: the object behind `WasmHost` of the core. */
import { runOnFiles } from './call-files.js';
import { absolute } from './file-path.js';
import { StreamEvents } from './unread-messages.js';
import { wrongDecision } from './permission-answer.js';

export class Host {
  #parts;
  #events;
  /** What each plugin remembers of the session. */
  #states = new Map();
  #servers;

  /**
   * @param {object} parts
   * @param {object} parts.clock
   * @param {import('./http.js').Endpoint} parts.endpoint
   * @param {object} [parts.files] a `FileSystem`
   * @param {string} parts.cwd
   * @param {Map<string, object>} parts.tools by name: `{ plugin }` or what `tool` makes
   * @param {import('./hooks.js').Hooks} parts.hooks
   * @param {{ read: boolean, write: boolean }} parts.denied whether rules deny plugins all reading or all writing
   * @param {(plugin: string, level: string, message: string) => void} [parts.log] takes what components log
   * @param {{ fetch: typeof fetch, secret?: Function }} parts.network sends what components were granted to send
   * @param {object} [parts.pluginState] a `PluginStateStore`
   * @param {Function} [parts.canUseTool]
   * @param {Function} [parts.allowed] is told of each call that may run
   * @param {number} parts.toolTimeoutMs
   * @param {(text: string) => void} parts.warn
   * @param {import('./mcp-connections.js').McpConnections} servers
   * @param {{ message: Function, streamEvents: Function, read: Function, opened: Function, fault: Function }} events whom the session tells what happens
   */
  constructor(parts, servers, events) {
    this.#servers = servers;
    this.#parts = parts;
    this.#events = events;
  }

  mono() {
    return this.#parts.clock.mono();
  }

  wall() {
    return this.#parts.clock.wall();
  }

  sleep(ms, signal) {
    return this.#parts.clock.sleep(ms, signal);
  }

  send(path, headers, body, signal) {
    return this.#parts.endpoint.send(path, headers, body, signal);
  }

  resolve(path) {
    return absolute(this.#parts.cwd, path);
  }

  async callTool(effectId, callJson, input, judgedLine, signal, progress) {
    const call = JSON.parse(callJson);
    const found = this.#parts.tools.get(call.name);
    if (!found) throw new Error(`There is no tool ${call.name} here.`);
    if (found.plugin) {
      const { readOnly } = found.plugin.tools.find(({ name }) => name === call.name).annotations ?? {};
      const grant = found.plugin.roles.added(call.grant, Boolean(readOnly), this.#parts.denied);
      return found.plugin.call(call, input, this.#offered(found.plugin, grant, signal, progress));
    }
    const limit = call.timeout_ms ?? this.#parts.toolTimeoutMs;
    return JSON.stringify(await this.#within(limit, call.name, signal, (signal) => {
      const { files } = this.#parts;
      const called = found.call(call, { signal, progress: whileRunning(signal, progress), effectId, judgedLine, files });
      return found.usesFiles ? this.#during(called) : called;
    }));
  }

  connectServer(connection, name) {
    return this.#servers.connect(connection, name);
  }

  callServerTool(connection, tool, callJson, signal, progress) {
    const call = JSON.parse(callJson);
    const limit = call.timeout_ms ?? this.#parts.toolTimeoutMs;
    return this.#within(limit, call.name, signal, (signal) => {
      return this.#during(this.#servers.call(connection, tool, call, { signal, progress: whileRunning(signal, progress) }));
    });
  }

  disconnect(connection) {
    this.#servers.disconnect(connection);
  }

  runHook(effectId, callJson, signal) {
    // It has the directories that were granted by their names or for a role, and not the workspace: rules decide about the workspace, and there
    // is no call here that they could decide about.
    const { cwd } = this.#parts;
    const host = (plugin, deny = []) => {
      const roots = plugin.directories;
      return this.#offered(plugin, plugin.roles.added({ cwd, roots, deny }, false, {}), signal);
    };
    return this.#parts.hooks.run(callJson, { signal, effectId, host });
  }

  /** Work that waits for something else than the clock. */
  #during(work) {
    this.#parts.clock.during?.(work);
    return work;
  }

  /** What a run of a component may use. */
  #offered(plugin, grant, signal, progress = () => {}) {
    const { clock, files, network, log = () => {}, pluginState } = this.#parts;
    const { stateId } = plugin;
    if (!this.#states.has(plugin)) this.#states.set(plugin, new Map());
    return {
      files: (attempt, requests) => runOnFiles(files, grant, signal, attempt, requests),
      // For a component that does not run on this thread.
      fileSystem: files,
      grant,
      session: this,
      signal,
      network,
      started: clock.wall(),
      sleep: (ms, signal) => clock.sleep(ms, signal),
      state: this.#states.get(plugin),
      durable: stateId === undefined ? undefined : { store: pluginState, stateId },
      progress,
      during: (work) => clock.during?.(work),
      log: (level, message) => log(plugin.name, level, message),
    };
  }

  /** Runs work that may take so many milliseconds; its signal fires when it is cancelled, late or done. */
  async #within(limit, name, cancelled, work) {
    const over = new AbortController();
    const stop = () => over.abort(cancelled.reason);
    cancelled.addEventListener('abort', stop, { once: true });
    try {
      const late = this.#parts.clock.sleep(limit, over.signal).then(() => {
        throw new Error(`${name} did not finish within ${limit} ms and was stopped.`);
      });
      return await Promise.race([work(over.signal), late]);
    } finally {
      cancelled.removeEventListener('abort', stop);
      over.abort();
    }
  }

  async askPermission(requestJson, signal) {
    const request = JSON.parse(requestJson);
    const { canUseTool, warn } = this.#parts;
    const decision = await canUseTool(request.tool_name, request.input, {
      signal,
      toolUseID: request.tool_use_id,
      blockedPath: request.blocked_path ?? undefined,
      decisionReason: request.decision_reason,
      suggestions: request.suggestions,
      agentID: request.agent_id ?? undefined,
    });
    for (const fault of wrongDecision(decision)) warn(`\`canUseTool\` for ${request.tool_name}: ${fault}`);
    return JSON.stringify(decision);
  }

  /** Takes a message: whoever reads the messages has its turn before anything is asked that follows on it. */
  async message(line, isResult) {
    await this.#events.message(line, isResult);
    await this.#events.read();
  }

  /** Takes events of a stream; gives a promise where there is no room for more. */
  streamEvents(envelope, events, uuids, count) {
    return this.#events.streamEvents(new StreamEvents(envelope, events, uuids, count));
  }

  /** The session has ended: components keep nothing of it. */
  over() {
    for (const plugin of this.#states.keys()) plugin.forget(this);
  }

  /** A call may run; nothing that is thrown there holds it up. */
  allowed(effectId, toolUseID, parentToolUseID, toolName, reason) {
    const { allowed, warn } = this.#parts;
    if (!allowed) return;
    const told = async () => allowed({ effectId, toolUseID, parentToolUseID: parentToolUseID ?? null, toolName, reason });
    told().catch((error) => warn(`\`onAllowed\` for ${toolName} failed: ${error?.message ?? error}`));
  }

  opened(id) {
    this.#events.opened(id);
  }

  fault(reason) {
    this.#events.fault(reason);
  }

  warning(text) {
    this.#parts.warn(text);
  }
}

/** Takes reports of a call; afterwards nobody listens: the core has its result. */
function whileRunning(signal, progress) {
  return (text) => {
    if (!signal.aborted) progress(String(text));
  };
}
