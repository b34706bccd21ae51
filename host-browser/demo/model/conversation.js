/** The session that the page shows: it asks, keeps the journal, and puts questions of permission to the person. */
import { unfinishedTurn } from 'windlass';
import { GO_ON } from '../page-script.js';
import { agentOf, fingerprintOf } from './agent.js';
import { Changing } from './changes.js';
import { endExplained, explained, isBusy } from './failures.js';
import { entriesOf, isCutOff } from './journal.js';
import { changeLine, ruleText } from './tool-input.js';

/** How often a session is tried that another tab has: of a tab that is being closed or loaded again, the browser ends the lock late. */
const OPENING_TRIES = 6;
const OPENING_PAUSE_MS = 200;

export class Conversation extends Changing {
  /** What has happened: see `journal.js`. */
  entries = [];
  /** Calls that may run, of which the journal has no message yet. */
  #decisions = [];
  /** What is arriving and not complete: `{ type: 'text' | 'thinking', text }`. */
  partial;
  /** What waits for an answer of the person: `{ entry, suggestions, resolve }`. */
  questions = [];
  isRunning = false;
  /** Whether another session is being opened. */
  isOpening = false;
  /** The session's id, once there is one. */
  id;
  /** Why nothing can be said here: one message. */
  problem;

  #parts;
  #session;
  #madeOf;
  /** Which session goes on, as an agent is told it. */
  #going = {};
  /** Whether it goes on in the middle of a turn. */
  #isUnfinished = false;
  #running = Promise.resolve();
  #opening = Promise.resolve();
  /** Entries of the journal that are kept, and whether they are: a session is kept from its first prompt on. */
  #kept = 0;
  #isKept = false;
  #keeping = Promise.resolve();

  /**
   * @param {object} parts
   * @param {import('./settings.js').Settings} parts.settings
   * @param {import('./workspaces.js').Workspaces} parts.workspaces
   * @param {import('./database.js').Database} parts.database
   * @param {import('./components.js').Components} parts.components
   * @param {import('./servers.js').Servers} parts.servers
   * @param {object} parts.sessionStore
   * @param {object} parts.bundle what the demonstration is made of
   * @param {boolean} parts.fast whether the scripted model answers without pauses
   */
  constructor(parts) {
    super();
    this.#parts = parts;
  }

  /** Whether the last answer is not complete, and nobody is at it. */
  get isCutOff() {
    return !this.isRunning && !this.isOpening && isCutOff(this.entries);
  }

  /** A session that has not begun. */
  begin() {
    return this.#change(() => this.#show(undefined, []));
  }

  /** Works on other files from now on: in a new session, if this one has begun. */
  useWorkspace(id) {
    return this.#change(async () => {
      await this.#parts.workspaces.use(id);
      this.#show(undefined, []);
    });
  }

  /** Goes on with a session that is kept. */
  open(id) {
    return this.#change(async () => {
      const { entries, kept } = await this.#journal(id);
      this.#show(id, entries);
      this.#isKept = true;
      this.#kept = kept;
      await this.#start({ resume: id });
      this.#isUnfinished = !this.problem && Boolean(await unfinishedTurn(id, { sessionStore: this.#parts.sessionStore }));
    });
  }

  /** Goes on in a copy: of a whole session, or of what came until one of its messages. */
  fork(id, { entries, message } = {}) {
    return this.#change(async () => {
      this.#show(id, entries ?? (await this.#journal(id)).entries);
      await this.#start({ resume: id, forkSession: true, resumeSessionAt: message });
      if (this.problem) return;
      this.#record({ kind: 'opened', from: id, why: message ? 'Forked at a step of the timeline.' : 'Forked by you.' });
    });
  }

  /** Asks; resolves when everything is answered. */
  prompt(text) {
    return this.#run((session) => {
      this.#record({ kind: 'prompt', text });
      return session.prompt(text);
    });
  }

  /** Goes on with an answer that was cut off: where it was, if its state was kept, and else behind what was said. */
  goOn() {
    return this.#isUnfinished ? this.#run((session) => session.continue()) : this.prompt(GO_ON);
  }

  async #run(begin) {
    if (this.isRunning || this.isOpening) return;
    this.isRunning = true;
    this.changed();
    this.#running = this.#answer(begin);
    await this.#running;
  }

  /** Stops what is running. */
  async interrupt() {
    await this.#session?.interrupt();
  }

  /** Connects the session anew to an MCP server, if it has it; gives whether it does. */
  async reconnect(name) {
    if (!this.#session || this.#madeOf !== fingerprintOf(this.#parts)) return false;
    await this.#session.reconnectMcpServer(name);
    return true;
  }

  /**
   * Answers a question.
   *
   * @param {{ behavior: 'allow' | 'deny', change?: object, reason?: string }} decision `change`: the suggestion that makes it last
   */
  answer(question, { behavior, change, reason }) {
    this.questions = this.questions.filter((other) => other !== question);
    const changes = change ? [changeLine(change)] : [];
    this.#record({ kind: 'answer', id: question.entry.id, behavior, changes, reason });
    if (behavior === 'deny') {
      question.resolve({ behavior, message: reason || 'The person denied this call.' });
      return;
    }
    const isCurrent = this.#madeOf === fingerprintOf(this.#parts);
    const { settings, workspaces } = this.#parts;
    const { id } = workspaces.current;
    if (change?.type === 'addRules') for (const rule of change.rules) settings.allowAlways(id, ruleText(rule));
    // The session has it by this very answer; the settings give it to the agents to come.
    if (change?.type === 'setMode') settings.setMode(id, change.mode);
    if (isCurrent) this.#madeOf = fingerprintOf(this.#parts);
    question.resolve({ behavior, updatedPermissions: change ? [change] : [] });
  }

  /** Takes another session, when the one before has stopped and is free for others. */
  #change(work) {
    this.isOpening = true;
    this.changed();
    const change = async () => {
      await this.interrupt().catch(() => {});
      await this.#running;
      await this.#leave();
      await work();
    };
    const done = this.#opening.then(change);
    const last = done.catch(() => {}).then(() => {
      // Another change may have come meanwhile.
      if (this.#opening !== last) return;
      this.isOpening = false;
      this.changed();
    });
    this.#opening = last;
    return done;
  }

  async #answer(begin) {
    try {
      await this.#ready();
      if (this.problem) return;
      this.#isKept = true;
      this.#isUnfinished = false;
      this.#keepWorkspace();
      for await (const message of begin(this.#session)) await this.#take(message);
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#cutOff();
      await this.#parts.workspaces.current.keepChanges();
      this.isRunning = false;
      this.changed();
    }
  }

  /** What is kept of a session: its journal, or what its transcript tells if another page began it. */
  async #journal(id) {
    const { database, sessionStore } = this.#parts;
    const entries = await database.journal(id);
    if (entries.length > 0) return { entries, kept: entries.length };
    return { entries: entriesOf((await sessionStore.load(id))?.text ?? ''), kept: 0 };
  }

  #show(id, entries) {
    this.id = id;
    this.entries = [...entries];
    this.problem = undefined;
    this.partial = undefined;
    this.questions = [];
    this.#kept = 0;
    this.#isKept = false;
    this.#isUnfinished = false;
    this.#going = {};
    this.changed();
  }

  /** Ends the session, so that others can have it. */
  async #leave() {
    const session = this.#session;
    this.#session = undefined;
    // A session that could not be opened has nothing to end.
    await session?.close().catch(() => {});
    await this.#keeping;
  }

  /** There is a session, made of what the settings say now. */
  async #ready() {
    if (this.#session && this.#madeOf === fingerprintOf(this.#parts)) return;
    await this.#leave();
    this.problem = undefined;
    await this.#start(this.#isKept && this.id ? { resume: this.id } : this.#going);
  }

  async #start(going) {
    this.#going = going;
    try {
      // A session goes on with the files that it has worked on.
      if (going.resume) await this.#parts.workspaces.use((await this.#parts.database.workspace(going.resume)) ?? 'memory');
      await this.#opened(going);
    } catch (error) {
      this.problem = explained(error.message, this.#parts.settings);
    }
    this.changed();
  }

  async #opened(going) {
    for (let tries = 1; ; tries += 1) {
      const agent = await agentOf(this.#parts, {
        going,
        ask: (tool, input, context) => this.#ask(tool, input, context),
        record: (entry) => this.#record(entry),
        allowed: (call) => this.#allowed(call),
      });
      this.#madeOf = fingerprintOf(this.#parts);
      this.#session = agent.session();
      try {
        this.id = await this.#session.id();
        return;
      } catch (error) {
        this.#session = undefined;
        if (!isBusy(error.message) || tries === OPENING_TRIES) throw error;
        await new Promise((resolve) => setTimeout(resolve, OPENING_PAUSE_MS));
      }
    }
  }

  #ask(tool, input, { signal, toolUseID: id, decisionReason: reason, blockedPath, suggestions }) {
    const entry = this.#record({ kind: 'question', id, tool, input, reason, blockedPath });
    return new Promise((resolve) => {
      const question = { entry, suggestions, resolve };
      this.questions = [...this.questions, question];
      signal.addEventListener('abort', () => {
        if (!this.questions.includes(question)) return;
        this.questions = this.questions.filter((other) => other !== question);
        this.#record({ kind: 'answer', id, behavior: 'deny', reason: 'The run was stopped before you answered.' });
      });
      this.changed();
    });
  }

  async #take(message) {
    if (message.type === 'stream_event') {
      this.#stream(message.event);
      return;
    }
    if (message.type === 'tool_progress' || message.subtype === 'hook_started') return;
    if (message.type === 'assistant') this.partial = undefined;
    if (message.type === 'result') this.#cutOff();
    this.#record({ kind: 'message', message, ...this.#explanation(message) });
    if (this.#decisions.length > 0) this.#recordDecisions();
    if (message.type === 'user') await this.#parts.workspaces.current.keepChanges();
  }

  /** Text appears while it arrives. */
  #stream(event) {
    if (event.type === 'message_start') this.partial = undefined;
    if (event.type === 'content_block_start') {
      this.#complete();
      const { type } = event.content_block;
      this.partial = { before: this.partial?.before ?? [], type, text: '' };
    }
    const piece = event.delta?.text ?? event.delta?.thinking;
    if (event.type === 'content_block_delta' && piece && this.partial) this.partial.text += piece;
    this.changed();
  }

  /** Blocks that are complete stay where they are until their message has come. */
  #complete() {
    if (this.partial?.text) this.partial.before.push({ type: this.partial.type, text: this.partial.text });
  }

  /** Text of a message that never became complete. */
  #cutOff() {
    if (!this.partial) return;
    this.#complete();
    const text = this.partial.before.filter(({ type }) => type === 'text').map((block) => block.text).join('\n\n');
    this.partial = undefined;
    if (text) this.#record({ kind: 'partial', text });
  }

  #explanation(message) {
    const { type, is_error: isError, errors } = message;
    if (type !== 'result' || !isError || errors?.[0] === 'interrupted') return {};
    return { explained: endExplained(message, this.#parts.settings) };
  }

  #fail(error) {
    this.#record({ kind: 'failure', text: explained(error.message, this.#parts.settings) });
  }

  /** What the person answered is an entry already. */
  #allowed({ toolUseID: id, toolName: tool, reason }) {
    if (this.entries.some((entry) => entry.kind === 'answer' && entry.id === id)) return;
    this.#decisions.push({ kind: 'allowed', id, tool, reason });
    this.#recordDecisions();
  }

  /** A decision can come before the message that has its call. */
  #recordDecisions() {
    const calls = new Set(this.entries.flatMap(({ message }) => (message?.type === 'assistant' ? message.message.content.map(({ id }) => id) : [])));
    const decisions = this.#decisions;
    this.#decisions = decisions.filter(({ id }) => !calls.has(id));
    for (const decision of decisions.filter(({ id }) => calls.has(id))) this.#record(decision);
  }

  #record(entry) {
    const dated = { at: Date.now(), ...entry };
    this.entries = [...this.entries, dated];
    if (this.#isKept) this.#keep();
    this.changed();
    return dated;
  }

  #keepWorkspace() {
    const { id } = this;
    const { database, workspaces } = this.#parts;
    const workspace = workspaces.current.id;
    this.#keeping = this.#keeping.then(() => database.putWorkspace(id, workspace)).catch(() => {});
  }

  /** Keeps what is not kept yet, in its order. */
  #keep() {
    const { id, entries } = this;
    const from = this.#kept;
    this.#kept = entries.length;
    const keep = async () => {
      for (let number = from; number < entries.length; number += 1) {
        await this.#parts.database.putEntry(id, number, entries[number]);
      }
    };
    // Where there is no room, the session's own store says so.
    this.#keeping = this.#keeping.then(keep).catch(() => {});
  }
}
