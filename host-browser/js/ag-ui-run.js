/** The life of runs and subagents as AG-UI events. */
import { AgUiThread } from './ag-ui-thread.js';

/** The version of the protocol. */
const PROTOCOL = '1.0';

/** The tools that start subagents. */
const STARTS_AGENTS = ['Task', 'Agent'];

/** Turns messages into events, in their order. */
export class AgUiRun {
  #threadId;
  #runId;
  #parentRunId;
  #isRunning = false;
  #hasRun = false;
  /** By the call that started each, `undefined` for the main thread. */
  #threads = new Map();
  /** The calls of subagents: `{ name, description, isInBackground, owner, messageId }`. */
  #calls = new Map();
  /** The subagents that run, in the order in which they were started. */
  #subagents = new Set();

  constructor({ threadId, runId, parentRunId }) {
    this.#threadId = threadId;
    this.#runId = runId ?? crypto.randomUUID();
    this.#parentRunId = parentRunId;
  }

  *message(message) {
    if (!this.#isRunning) yield* this.#start(message.session_id);
    switch (message.type) {
      case 'stream_event':
        return yield* (yield* this.#thread(message.parent_tool_use_id)).event(message.event);
      case 'assistant':
        this.#remember(message);
        return yield* (yield* this.#thread(message.parent_tool_use_id)).response(message.message);
      case 'user':
        return yield* this.#user(message);
      case 'result':
        return yield* this.#result(message);
      default:
        return yield* this.#custom(message);
    }
  }

  /** There are no more messages: a run that is still open was left. */
  *ended() {
    if (!this.#isRunning && this.#hasRun) return;
    if (!this.#isRunning) yield* this.#start();
    yield* this.#closeAll('the run was left');
    yield this.#finished({ outcome: { type: 'cancelled' } });
  }

  /** The messages threw. */
  *failed(error) {
    if (!this.#isRunning) yield* this.#start();
    if (error?.name === 'AbortError') return yield* this.ended();
    yield* this.#closeAll('the run failed');
    yield this.#error(String(error?.message ?? error));
  }

  *#start(sessionId) {
    if (this.#hasRun) {
      // What comes after a result, such as the answer to something in the background, is a run of its own.
      this.#parentRunId = this.#runId;
      this.#runId = crypto.randomUUID();
    }
    this.#threadId ??= sessionId ?? crypto.randomUUID();
    this.#isRunning = true;
    this.#hasRun = true;
    const of = this.#parentRunId === undefined ? {} : { parentRunId: this.#parentRunId };
    yield { type: 'RUN_STARTED', threadId: this.#threadId, runId: this.#runId, protocolVersion: PROTOCOL, ...of };
  }

  /** The thread of a message; that of a subagent begins with its first one. */
  *#thread(call) {
    const id = call ?? undefined;
    if (id !== undefined && !this.#subagents.has(id)) yield this.#subagentStarted(id);
    if (!this.#threads.has(id)) this.#threads.set(id, new AgUiThread(id));
    return this.#threads.get(id);
  }

  #subagentStarted(id) {
    this.#subagents.add(id);
    const { name = 'agent', description, owner, messageId } = this.#calls.get(id) ?? {};
    const event = { type: 'SUBAGENT_STARTED', subagentRunId: id, name, parentToolCallId: id };
    if (description !== undefined) event.description = description;
    if (messageId !== undefined) event.parentMessageId = messageId;
    if (this.#subagents.has(owner)) event.parentSubagentRunId = owner;
    return event;
  }

  /** What the calls say of the subagents that they start. */
  #remember({ message, parent_tool_use_id: owner }) {
    for (const { type, id, name, input } of message.content) {
      if (type !== 'tool_use' || !STARTS_AGENTS.includes(name)) continue;
      const { subagent_type: agent, description, run_in_background: isInBackground = false } = input ?? {};
      const named = typeof agent === 'string' ? agent : name;
      const about = typeof description === 'string' ? description : undefined;
      this.#calls.set(id, { name: named, description: about, isInBackground, owner: owner ?? undefined, messageId: message.id });
    }
  }

  *#user(message) {
    const results = Array.isArray(message.message.content) ? message.message.content.filter(({ type }) => type === 'tool_result') : [];
    if (results.length === 0) return yield* this.#custom(message);
    for (const result of results) yield* this.#subagentEnded(result);
    yield* (yield* this.#thread(message.parent_tool_use_id)).results(message, results);
  }

  /** A subagent that its call waited for has ended with the result of the call. */
  *#subagentEnded({ tool_use_id: id, is_error: isError, content }) {
    if (!this.#subagents.has(id) || this.#calls.get(id)?.isInBackground) return;
    yield* this.#closeThread(id);
    this.#subagents.delete(id);
    const text = typeof content === 'string' ? content : (content ?? []).map((block) => block.text ?? '').join('\n');
    yield isError ? { type: 'SUBAGENT_ERROR', subagentRunId: id, message: text } : { type: 'SUBAGENT_FINISHED', subagentRunId: id };
  }

  *#result(message) {
    yield* this.#closeAll(message.is_error ? 'the run failed' : undefined);
    if (isInterrupted(message)) {
      yield this.#finished({ outcome: { type: 'cancelled' }, usage: usage(message) });
    } else if (message.is_error) {
      yield this.#error((message.errors ?? [message.result ?? message.subtype]).join('\n'), message);
    } else {
      const result = message.structured_output ?? message.result;
      yield this.#finished({ result, outcome: { type: 'success' }, usage: usage(message) });
    }
  }

  /** What the protocol has no event for, as it is. */
  *#custom(message) {
    const { type, subtype, parent_tool_use_id: call } = message;
    const name = ['windlass', type, subtype].filter(Boolean).join('.');
    const owner = this.#subagents.has(call) ? { subagentRunId: call } : {};
    yield { type: 'CUSTOM', name, value: message, ...owner };
  }

  *#closeAll(why) {
    for (const id of [...this.#threads.keys()]) yield* this.#closeThread(id);
    for (const id of [...this.#subagents].reverse()) {
      yield why ? { type: 'SUBAGENT_ERROR', subagentRunId: id, message: why } : { type: 'SUBAGENT_FINISHED', subagentRunId: id };
    }
    this.#threads.clear();
    this.#subagents.clear();
  }

  *#closeThread(id) {
    const thread = this.#threads.get(id);
    this.#threads.delete(id);
    if (thread) yield* thread.close();
  }

  #finished(how) {
    this.#isRunning = false;
    return { type: 'RUN_FINISHED', threadId: this.#threadId, runId: this.#runId, ...how };
  }

  #error(text, message) {
    this.#isRunning = false;
    const of = message ? { code: message.subtype, usage: usage(message) } : {};
    return { type: 'RUN_ERROR', message: text, ...of };
  }
}

function isInterrupted({ subtype, errors = [] }) {
  return subtype === 'error_during_execution' && errors.includes('interrupted');
}

/** What the models have used; the protocol counts what was read from and written to a cache as a part of the input. */
function usage({ modelUsage = {} }) {
  return Object.entries(modelUsage).map(([model, used]) => {
    const { inputTokens = 0, outputTokens = 0, cacheReadInputTokens = 0, cacheCreationInputTokens = 0 } = used;
    const input = inputTokens + cacheReadInputTokens + cacheCreationInputTokens;
    return {
      model,
      inputTokens: input,
      outputTokens,
      totalTokens: input + outputTokens,
      cachedInputTokens: cacheReadInputTokens,
      cacheWriteInputTokens: cacheCreationInputTokens,
    };
  });
}
