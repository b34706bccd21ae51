/** A conversation: an engine that is driven, and the runs that get its messages. */
import { Host } from './host.js';
import { McpConnections } from './mcp-connections.js';
import { checkedPrompt, signalOf } from './options.js';
import { MessageLine } from './unread-messages.js';
import { FOLLOW, READ, Run, STOPPED, TAKE } from './run.js';
import { snapshotOf } from './stored-sessions.js';
import { ToldStore } from './told-store.js';

/** An option of agents whose sessions keep turns in which a person is asked, and no others. */
export const KEEPS_QUESTIONS = Symbol('keepsQuestions');

/** What stops a session that nobody has any more, where nothing can be waited for. */
export const LET_GO = Symbol('letGo');

/** A conversation. Prompts are answered one after another. */
export class Session {
  #core;
  /** The same, once it is there. */
  #begun;
  /** Resolves when the engine has ended. */
  #driven;
  /** Why nothing more is answered. */
  #over;
  /** Whose answer is being given: `{ run, answered, ended, failed }`. */
  #current;
  #tail;
  #opened;
  #isOpened;
  #servers;
  #warn;

  #keeping;

  /**
   * @private
   * @param {Promise<object>} core
   * @param {object} parts
   * @param {{ store?: object, isKept: boolean, begin: (options: object) => Session }} keeping `begin` starts another session of the agent
   */
  constructor(core, parts, keeping) {
    this.#core = core;
    this.#keeping = keeping;
    this.#warn = parts.warn;
    this.#opened = new Promise((resolve, reject) => {
      this.#isOpened = { resolve, reject };
    });
    // Whoever prompts is told what is wrong.
    this.#opened.catch(() => {});
    this.#servers = new McpConnections(parts.mcpServers, parts.clock, {
      toolsChanged: (...changed) => this.#toolsChanged(...changed),
      warn: parts.warn,
    });
    this.#driven = this.#drive(parts, keeping.store);
    this.#tail = core.then(() => {}, () => {});
  }

  /** The session's id, a UUID. */
  id() {
    return this.#opened;
  }

  /**
   * Gives the session a prompt: a text, or content blocks of the Messages API. The work begins at once, and waits
   * when too many messages are not read.
   */
  prompt(prompt, options) {
    const json = JSON.stringify(checkedPrompt(prompt));
    return this.#answer(options, (core) => core.prompt(json));
  }

  /** The same by another name. */
  send(prompt, options) {
    return this.prompt(prompt, options);
  }

  /**
   * Goes on with the turn that was not over when the session was last open, where it was; gives the messages from there. For a
   * session that was just opened.
   */
  continue(options) {
    return this.#answer(options, (core) => core.goOn());
  }

  #answer(options, begin) {
    return this.#run(signalOf(options), async (core, run) => {
      const answered = new Promise((resolve, reject) => {
        this.#current = { run, answered: resolve, ended: () => reject(ended()), failed: reject };
      });
      begin(core);
      await answered;
    });
  }

  /** @private The only prompt: the session ends with its answer. */
  only(prompt, options) {
    return this.#run(signalOf(options), async (core, run) => {
      const over = new Promise((resolve, reject) => {
        // Later answers, to what happens in the background, belong to the run as well.
        this.#current = { run, ended: resolve, failed: reject };
      });
      core.prompt(JSON.stringify(prompt));
      core.end();
      await over;
    });
  }

  /** Stops what is running. The session stays usable. */
  async interrupt() {
    (await this.#core).interrupt();
  }

  /** Changes the permission mode: `default`, `acceptEdits`, `auto`, `plan`, `dontAsk` or `bypassPermissions`. */
  async setPermissionMode(mode) {
    const checked = text('setPermissionMode', mode);
    (await this.#core).setPermissionMode(checked);
  }

  /** Changes the model; without a name it is the one of the agent again. */
  async setModel(model) {
    const checked = model === undefined ? model : text('setModel', model);
    (await this.#core).setModel(checked);
  }

  /** Stops a background task by its id. */
  async stopTask(id) {
    const checked = text('stopTask', id);
    (await this.#core).stopTask(checked);
  }

  /**
   * Another session that goes on from here, or from a message, while this one stays as it is. Waits until the prompts that were
   * given are answered.
   */
  async fork({ upToMessageId } = {}) {
    const { sessionId } = await this.#stored('fork');
    const fork = this.#keeping.begin({ resume: sessionId, resumeSessionAt: upToMessageId, forkSession: true });
    await fork.id(); // it has read what it goes on from
    return fork;
  }

  /** What was said, for `restore` of an agent, here or elsewhere. Waits until the prompts that were given are answered. */
  async snapshot() {
    const { sessionId, text } = await this.#stored('snapshot');
    return snapshotOf(sessionId, text);
  }

  /** What is known of its MCP servers. */
  async mcpServerStatus() {
    await this.#core;
    return this.#servers.status();
  }

  /** Connects anew to one of its MCP servers. */
  async reconnectMcpServer(name) {
    const core = await this.#core;
    if (this.#over) throw this.#over;
    await this.#servers.reconnected(name, () => core.reconnectServer(name));
  }

  /** Reads a resource of an MCP server; gives the server's answer as it is. */
  readMcpResource(server, uri, { signal } = {}) {
    return this.#servers.readResource(server, uri, { signal });
  }

  /** Ends the session when its prompts are answered, and resolves when others may go on with it. */
  async close() {
    await this.#tail;
    (await this.#core).end();
    await this.#driven;
  }

  /** @private Stops it at once. Where objects at the edge end, no promise can be waited for. */
  [LET_GO]() {
    this.#begun?.stop();
  }

  async [Symbol.asyncDispose]() {
    await this.close();
  }

  /** What is kept of the session, once its prompts are answered. */
  async #stored(purpose) {
    const { store, isKept } = this.#keeping;
    if (!isKept) throw new Error(`\`${purpose}\` needs a session that is kept in a \`sessionStore\`: \`new MemorySessionStore()\` will do`);
    await this.#tail;
    const sessionId = await this.id();
    const stored = await store.load(sessionId);
    if (!stored) throw new Error(`\`${purpose}\`: nothing has been said in the session yet`);
    return { sessionId, text: stored.text };
  }

  /** Takes its turn behind the earlier prompts. */
  #run(signal, work) {
    const run = new Run((stopped) => this.#stop(stopped), signal);
    const turn = async () => {
      const core = await this.#core;
      if (run[STOPPED]) return; // before its turn came
      if (this.#over) throw this.#over;
      try {
        await work(core, run);
      } finally {
        this.#current = undefined;
      }
    };
    const done = this.#tail.then(turn);
    this.#tail = done.catch(() => {});
    run[FOLLOW](done);
    return run;
  }

  /** Stops this run, and no other that has its turn now. */
  async #stop(run) {
    if (this.#current?.run === run) await this.interrupt();
  }

  async #drive(parts, kept) {
    const store = kept && new ToldStore(kept);
    const events = {
      message: (line, isResult) => this.#take(line, isResult),
      // Between two answers nobody listens.
      streamEvents: (events) => this.#current?.run[TAKE](events),
      read: () => this.#current?.run[READ](),
      opened: (id) => this.#isOpened.resolve(id),
      fault: (reason) => this.#end(store?.errorOf(reason) ?? new Error(reason)),
    };
    try {
      const core = await this.#core;
      this.#begun = core;
      const denied = { read: core.deniesReading, write: core.deniesWriting };
      const host = new Host({ ...parts, denied }, this.#servers, events);
      await core.drive(host, store).finally(() => host.over());
      this.#over ??= ended();
      this.#isOpened.reject(this.#over);
      this.#servers.over(this.#over);
      this.#current?.ended();
    } catch (error) {
      this.#end(error);
    }
  }

  async #toolsChanged(number, name, tools) {
    try {
      (await this.#core).serverToolsChanged(number, name, tools);
    } catch (error) {
      this.#warn(`the MCP server ${name} has changed its tools to something that cannot be used: ${error.message}`);
    }
  }

  #take(line, isResult) {
    const { run, answered } = this.#current ?? {};
    // Between two answers nobody listens.
    const taken = run?.[TAKE](new MessageLine(line));
    if (isResult) answered?.();
    return taken;
  }

  #end(error) {
    this.#over ??= error;
    this.#isOpened.reject(this.#over);
    this.#servers.over(this.#over);
    this.#current?.failed(this.#over);
  }
}

/** The argument of a method: what the core reads as one could not be anything else. */
function text(method, value) {
  if (typeof value === 'string' && value !== '') return value;
  throw new TypeError(`\`${method}\` takes a text that is not empty, not ${value === '' ? 'an empty one' : typeof value}`);
}

function ended() {
  return new Error('the session has ended: a new one can `resume` it if it is kept');
}
