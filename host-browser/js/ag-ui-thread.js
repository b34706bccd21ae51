/** What a model says on one thread, the main one or that of a subagent, as AG-UI events. */

/** Blocks that are calls of tools, of this agent or of the model's server. */
const CALLS = ['tool_use', 'server_tool_use', 'mcp_tool_use'];

/** What a call comes to whose response broke off. */
const NOT_MADE = 'The response broke off before this call was complete, so it was not made.';

export class AgUiThread {
  #owner;
  /** The response that arrives: its id, and the blocks of it that are open, by their number. */
  #responseId;
  #open = new Map();
  #hasText = false;
  /** Of the last response, how many blocks were told while they arrived, and how many of the complete one were seen. */
  #told = { id: undefined, blocks: 0 };
  #seen = { id: undefined, blocks: 0 };

  /** @param {string | undefined} subagent the call that started it */
  constructor(subagent) {
    this.#owner = subagent === undefined ? {} : { subagentRunId: subagent };
  }

  /** An event of a response that arrives. */
  *event(event) {
    switch (event.type) {
      case 'message_start':
        yield* this.close();
        this.#begin(event.message.id);
        this.#told = { id: event.message.id, blocks: 0 };
        break;
      case 'content_block_start':
        yield* this.#start(event.index, event.content_block);
        break;
      case 'content_block_delta':
        yield* this.#more(event.index, event.delta);
        break;
      case 'content_block_stop':
        yield* this.#stop(event.index);
        this.#told.blocks += 1;
        break;
      default:
    }
  }

  /** A complete response, or a part of one: what was not told while it arrived. */
  *response({ id, content }) {
    if (this.#responseId !== id) {
      yield* this.close();
      this.#begin(id);
    }
    if (this.#seen.id !== id) this.#seen = { id, blocks: 0 };
    for (const block of content) {
      const number = this.#seen.blocks;
      this.#seen.blocks += 1;
      if (this.#told.id === id && number < this.#told.blocks) continue;
      yield* this.#whole(number, block);
    }
  }

  /** The results of calls, in a message of the user. */
  *results({ uuid, tool_use_result: structured }, results) {
    for (const [number, { tool_use_id: toolCallId, content, is_error: isError }] of results.entries()) {
      const metadata = {};
      if (isError) metadata.isError = true;
      if (structured !== undefined) metadata.toolUseResult = structured;
      yield this.#of({
        type: 'TOOL_CALL_RESULT',
        messageId: number === 0 ? uuid : `${uuid}:${number}`,
        toolCallId,
        content: parts(content),
        role: 'tool',
        ...(Object.keys(metadata).length > 0 ? { metadata } : {}),
      });
    }
  }

  /** Ends what is open: the response has broken off. */
  *close() {
    for (const [number, block] of [...this.#open]) {
      yield* this.#stop(number);
      if (block.kind !== 'call') continue;
      const { id: toolCallId } = block;
      yield this.#of({ type: 'TOOL_CALL_RESULT', messageId: `${toolCallId}:broken-off`, toolCallId, content: NOT_MADE, role: 'tool' });
    }
  }

  #begin(id) {
    this.#responseId = id;
    this.#hasText = false;
  }

  *#whole(number, block) {
    yield* this.#start(number, block);
    if (CALLS.includes(block.type)) yield* this.#more(number, { partial_json: JSON.stringify(block.input ?? {}) });
    else if (isResult(block)) {
      const { tool_use_id: toolCallId, content } = block;
      const messageId = `${this.#responseId}:${number}`;
      yield this.#of({ type: 'TOOL_CALL_RESULT', messageId, toolCallId, content: JSON.stringify(content ?? null), role: 'tool' });
    }
    yield* this.#stop(number);
  }

  *#start(number, block) {
    if (block.type === 'text') {
      // A response is a message, to which its calls belong.
      const id = this.#hasText ? `${this.#responseId}:${number}` : this.#responseId;
      this.#hasText = true;
      this.#open.set(number, { kind: 'text', id });
      yield this.#of({ type: 'TEXT_MESSAGE_START', messageId: id, role: 'assistant' });
      yield* this.#more(number, { text: block.text });
    } else if (block.type === 'thinking') {
      const id = `${this.#responseId}:${number}`;
      this.#open.set(number, { kind: 'reasoning', id });
      yield this.#of({ type: 'REASONING_START', messageId: id });
      yield this.#of({ type: 'REASONING_MESSAGE_START', messageId: id, role: 'reasoning' });
      yield* this.#more(number, { thinking: block.thinking });
    } else if (CALLS.includes(block.type)) {
      this.#open.set(number, { kind: 'call', id: block.id });
      const { id: toolCallId, name: toolCallName } = block;
      yield this.#of({ type: 'TOOL_CALL_START', toolCallId, toolCallName, parentMessageId: this.#responseId });
    }
  }

  *#more(number, { text, thinking, partial_json: json }) {
    const block = this.#open.get(number);
    // Signatures are the server's own, and an event without content says nothing.
    const delta = { text, reasoning: thinking, call: json }[block?.kind];
    if (!delta) return;
    const { id } = block;
    if (block.kind === 'text') yield this.#of({ type: 'TEXT_MESSAGE_CONTENT', messageId: id, delta });
    else if (block.kind === 'reasoning') yield this.#of({ type: 'REASONING_MESSAGE_CONTENT', messageId: id, delta });
    else yield this.#of({ type: 'TOOL_CALL_ARGS', toolCallId: id, delta });
  }

  *#stop(number) {
    const block = this.#open.get(number);
    if (!block) return;
    this.#open.delete(number);
    const { kind, id } = block;
    if (kind === 'text') {
      yield this.#of({ type: 'TEXT_MESSAGE_END', messageId: id });
    } else if (kind === 'reasoning') {
      yield this.#of({ type: 'REASONING_MESSAGE_END', messageId: id });
      yield this.#of({ type: 'REASONING_END', messageId: id });
    } else {
      yield this.#of({ type: 'TOOL_CALL_END', toolCallId: id });
    }
  }

  #of(event) {
    return { ...event, ...this.#owner };
  }
}

/** The result of a tool that the model's server ran, in the response itself. */
function isResult({ type, tool_use_id: id }) {
  return type.endsWith('_tool_result') && id !== undefined;
}

/** The content of a result: a text, or parts if there is more in it. */
function parts(content) {
  if (typeof content === 'string') return content;
  const all = (content ?? []).map(part);
  return all.every(({ type }) => type === 'text') ? all.map(({ text }) => text).join('\n') : all;
}

function part(block) {
  if (block.type === 'text') return { type: 'text', text: block.text };
  if (block.type === 'image' && block.source?.type === 'base64') {
    return { type: 'image', source: { type: 'data', value: block.source.data, mimeType: block.source.media_type } };
  }
  if (block.type === 'image' && block.source?.type === 'url') return { type: 'image', source: { type: 'url', value: block.source.url } };
  return { type: 'text', text: JSON.stringify(block) };
}
