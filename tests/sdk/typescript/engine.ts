// What the programs share: the engine under test, and reading what it says.
import {
  query,
  type Options,
  type Query,
  type SDKAssistantMessage,
  type SDKMessage,
  type SDKResultMessage,
  type SDKSystemMessage,
  type SDKUserMessage,
} from "@anthropic-ai/claude-agent-sdk";
import assert from "node:assert/strict";

export const ENGINE = process.env.WINDLASS!;
export const MODEL = "claude-sonnet-4-5";
export const WORK = process.cwd();
export const TESTS = process.env.WINDLASS_SDK_TESTS!;

/** The one option that users change, the model of the scripts, and what is given. */
export function options(given: Options = {}): Options {
  return { pathToClaudeCodeExecutable: ENGINE, model: MODEL, ...given };
}

/** All messages of a query. */
export async function ask(prompt: string, given: Options = {}): Promise<SDKMessage[]> {
  const messages: SDKMessage[] = [];
  for await (const message of query({ prompt, options: options(given) })) messages.push(message);
  return messages;
}

/** As `ask`, for runs that end in an error: the messages before it, and the error. */
export async function askInVain(prompt: string, given: Options = {}) {
  const messages: SDKMessage[] = [];
  try {
    for await (const message of query({ prompt, options: options(given) })) messages.push(message);
  } catch (error) {
    return { messages, error: error as Error };
  }
  throw new Error("no error was thrown");
}

export function userMessage(content: SDKUserMessage["message"]["content"]): SDKUserMessage {
  return { type: "user", message: { role: "user", content }, parent_tool_use_id: null };
}

/** A query whose prompts come one after another. */
export class Conversation {
  readonly query: Query;
  #prompts: SDKUserMessage[] = [];
  #wake: () => void = () => {};
  #ended = false;

  constructor(given: Options = {}) {
    this.query = query({ prompt: this.#stream(), options: options(given) });
  }

  async *#stream() {
    while (!this.#ended) {
      const next = this.#prompts.shift();
      if (next) yield next;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  say(prompt: SDKUserMessage["message"]["content"]) {
    this.#prompts.push(userMessage(prompt));
    this.#wake();
  }

  /** The messages up to and with the next result; `each` sees them as they come. */
  async answer(each: (message: SDKMessage) => unknown = () => {}): Promise<SDKMessage[]> {
    const messages: SDKMessage[] = [];
    for (;;) {
      const { value, done } = await this.query.next();
      assert(!done, `the stream ended: ${JSON.stringify(messages)}`);
      messages.push(value);
      await each(value);
      if (value.type === "result") return messages;
    }
  }

  async turn(prompt: SDKUserMessage["message"]["content"]): Promise<SDKMessage[]> {
    this.say(prompt);
    return this.answer();
  }

  /** Ends the input and waits for the end of the stream. */
  async end(): Promise<void> {
    this.#ended = true;
    this.#wake();
    for await (const _ of this.query);
  }
}

export function init(messages: SDKMessage[]): SDKSystemMessage {
  const found = messages.find((m) => m.type === "system" && m.subtype === "init");
  assert(found, JSON.stringify(messages));
  return found as SDKSystemMessage;
}

export function result(messages: SDKMessage[]): SDKResultMessage {
  const found = messages.filter((m): m is SDKResultMessage => m.type === "result");
  assert.equal(found.length, 1, JSON.stringify(messages));
  return found[0];
}

export function succeeded(messages: SDKMessage[], text?: string) {
  const end = result(messages);
  assert(end.subtype === "success" && !end.is_error, JSON.stringify(end));
  if (text !== undefined) assert.equal(end.result, text);
  return end;
}

export function spoken(messages: SDKMessage[]): SDKAssistantMessage[] {
  return messages.filter((m): m is SDKAssistantMessage => m.type === "assistant");
}

export function texts(messages: SDKMessage[]): string[] {
  return spoken(messages).flatMap((m) =>
    m.message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])),
  );
}

export interface ToolResult {
  tool_use_id: string;
  is_error?: boolean;
  text: string;
}

/** Tool results by the id of their call. */
export function results(messages: SDKMessage[]): Record<string, ToolResult> {
  const found: Record<string, ToolResult> = {};
  for (const message of messages) {
    if (message.type !== "user" || typeof message.message.content === "string") continue;
    for (const block of message.message.content) {
      if (block.type !== "tool_result") continue;
      const content = block.content ?? "";
      const text =
        typeof content === "string"
          ? content
          : content.map((part) => (part.type === "text" ? part.text : "")).join("");
      found[block.tool_use_id] = { tool_use_id: block.tool_use_id, is_error: block.is_error, text };
    }
  }
  return found;
}
