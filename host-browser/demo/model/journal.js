/**
 * The journal of a session: everything that happened, entry by entry, and the page that comes of it. What is shown is always made
 * from entries, so the timeline shows any moment by leaving out what came later.
 *
 * An entry has `at` (milliseconds since 1970) and a `kind`: `opened`, `prompt`, `message` (of the agent),
 * `partial` (text that was cut off), `question` and `answer` (permissions), `allowed` (the decision that a call may run, with its
 * reason), `log` (of a component), `failure`.
 */

import { endedExplained } from './failures.js';

/** What is on the page after these entries. */
export function replay(entries) {
  const view = new View();
  for (const entry of entries) view.take(entry);
  return view;
}

/** Whether the last answer ends before its end: it waits for the model, or for a tool. */
export function isCutOff(entries) {
  const said = ['assistant', 'user', 'result'];
  const last = entries.findLast(({ kind, message }) => kind === 'prompt' || kind === 'failure' || said.includes(message?.type));
  if (!last?.message) return last?.kind === 'prompt';
  const { type, message } = last.message;
  return type === 'user' || (type === 'assistant' && message.content.some((block) => block.type === 'tool_use'));
}

/** What a transcript tells, where there is no journal: what was said, without decisions. */
export function entriesOf(transcript) {
  const lines = transcript.split('\n').filter(Boolean).map((line) => JSON.parse(line));
  return lines.flatMap(({ type, uuid, timestamp, message, isSidechain, isMeta, toolUseResult }) => {
    if (isSidechain || isMeta || (type !== 'user' && type !== 'assistant')) return [];
    const at = Date.parse(timestamp);
    if (type === 'user' && !isResult(message)) return [{ at, kind: 'prompt', text: textOf(message.content) }];
    return [{ at, kind: 'message', message: { type, uuid, message, tool_use_result: toolUseResult } }];
  });
}

function isResult({ content }) {
  return typeof content !== 'string' && content.some(({ type }) => type === 'tool_result');
}

class View {
  /** What is shown, in its order: `{ type: 'prompt' | 'text' | 'thinking' | 'call' | 'note' | 'end', … }`. */
  items = [];
  usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  cost = 0;
  #calls = new Map();
  /** The message whose usage was counted last. */
  #counted;

  take(entry) {
    switch (entry.kind) {
      case 'opened':
        if (entry.from) this.#note('info', `A fork of session ${entry.from.slice(0, 8)}`);
        break;
      case 'prompt':
        this.#counted = undefined;
        this.items.push({ type: 'prompt', text: entry.text });
        break;
      case 'partial':
        this.items.push({ type: 'text', text: entry.text, isCutOff: true });
        break;
      case 'question':
        this.#onCall(entry.id, { question: entry });
        break;
      case 'answer':
        this.#onCall(entry.id, { answer: entry });
        break;
      case 'failure':
        this.#note('bad', entry.text);
        break;
      case 'message':
        this.#message(entry.message, entry.explained);
        break;
    }
  }

  #message(message, explained) {
    if (message.type === 'assistant') this.#assistant(message);
    if (message.type === 'user') this.#results(message);
    if (message.type === 'system') this.#system(message);
    if (message.type === 'result') this.#result(message, explained);
  }

  #assistant({ message, error }) {
    // What the loop says of a failure stands in the result as well.
    if (error) return;
    for (const block of message.content) {
      if (block.type === 'text') this.items.push({ type: 'text', text: block.text });
      if (block.type === 'thinking') this.items.push({ type: 'thinking', text: block.thinking });
      if (block.type === 'tool_use') this.#call(block);
    }
    // A transcript has a line for each block, all with the usage of the whole message.
    if (message.id === this.#counted) return;
    this.#counted = message.id;
    const { usage } = message;
    this.usage.input += usage.input_tokens;
    this.usage.output += usage.output_tokens;
    this.usage.cacheRead += usage.cache_read_input_tokens;
    this.usage.cacheWrite += usage.cache_creation_input_tokens;
  }

  #call({ id, name, input }) {
    const call = { type: 'call', id, name, input };
    this.#calls.set(id, call);
    this.items.push(call);
  }

  #onCall(id, more) {
    const call = this.#calls.get(id);
    if (call) Object.assign(call, more);
  }

  #results({ message: { content }, tool_use_result: structured }) {
    if (typeof content === 'string') return;
    for (const block of content) {
      if (block.type === 'tool_result') {
        const result = textOf(block.content);
        this.#onCall(block.tool_use_id, { result, isError: Boolean(block.is_error), structured });
        const ended = block.is_error && endedExplained(result);
        if (ended) this.#note('bad', ended);
      }
    }
  }

  #system(message) {
    if (message.subtype === 'api_retry') {
      const { attempt, max_retries: most, retry_delay_ms: wait, message: why } = message;
      this.#note('info', `Asked again in ${wait} ms (${attempt} of ${most}): ${why}`);
    }
  }

  #result(message, explained) {
    this.cost = message.total_cost_usd;
    const interrupted = message.errors?.length === 1 && message.errors[0] === 'interrupted';
    if (interrupted) this.#note('info', 'You stopped it here.');
    else if (message.is_error) this.#note('bad', explained ?? message.subtype);
    for (const call of this.#calls.values()) call.isOver = true;
    this.items.push({ type: 'end', message });
  }

  #note(tone, text) {
    this.items.push({ type: 'note', tone, text });
  }
}

/** The text of a result's content. */
export function textOf(content) {
  if (typeof content === 'string') return content;
  return (content ?? []).map((block) => block.text ?? `[${block.type}]`).join('\n');
}
