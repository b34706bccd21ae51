// An editor for tests: starts an ACP agent, speaks to it by the SDK of ACP, and keeps what it was told.

import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";

import * as acp from "@agentclientprotocol/sdk";

/** An editor that is connected to an agent. */
export class Editor {
  /** Every update of every session, in the order of arrival. */
  updates = [];
  /** Every question about a call. */
  questions = [];
  /** Answers a question about a call; refuses unless a test says something else. */
  onQuestion = (question) => choose(question, "reject_once");

  #agent;
  #connection;
  #waiting = [];

  /** Starts the agent and agrees with it on the protocol. `capabilities` are the editor's. */
  static async start([program, ...args], { capabilities = {}, env = process.env, cwd } = {}) {
    const editor = new Editor();
    editor.#agent = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"], env, cwd });
    const stream = acp.ndJsonStream(Writable.toWeb(editor.#agent.stdin), Readable.toWeb(editor.#agent.stdout));
    editor.#connection = acp
      .client({ name: "test-editor" })
      .onRequest(acp.methods.client.session.requestPermission, ({ params }) => editor.#ask(params))
      .onNotification(acp.methods.client.session.update, ({ params }) => editor.#told(params))
      .onNotification("*", () => {})
      .connect(stream);
    editor.initialized = await editor.request(acp.methods.agent.initialize, {
      protocolVersion: acp.PROTOCOL_VERSION,
      clientCapabilities: capabilities,
      clientInfo: { name: "test-editor", version: "1" },
    });
    return editor;
  }

  /** Sends a request to the agent. */
  request(method, params) {
    return this.#connection.agent.request(method, params);
  }

  /** Sends a notification to the agent. */
  notify(method, params) {
    return this.#connection.agent.notify(method, params);
  }

  /** Sends a prompt and waits for the end of the turn. */
  prompt(sessionId, ...blocks) {
    const prompt = blocks.map((block) => (typeof block === "string" ? { type: "text", text: block } : block));
    return this.request(acp.methods.agent.session.prompt, { sessionId, prompt });
  }

  /** The updates of one kind. */
  of(kind) {
    return this.updates.filter((update) => update.sessionUpdate === kind);
  }

  /** The text of the agent so far. */
  text() {
    return this.of("agent_message_chunk").map((update) => update.content.text).join("");
  }

  /** Waits for an update of which `holds` is true, among those that have come as well. */
  async until(holds) {
    while (!this.updates.some(holds)) await new Promise((wake) => this.#waiting.push(wake));
    return this.updates.find(holds);
  }

  /** Everything about a tool call, later fields in the place of earlier ones. */
  call(id) {
    const told = this.updates.filter((update) => update.toolCallId === id);
    return Object.assign({}, ...told);
  }

  /** Forgets what was told so far. */
  forget() {
    this.updates = [];
    this.questions = [];
  }

  /** Closes the agent's input and waits for its end; gives its exit code. */
  async end() {
    const ended = new Promise((done) => this.#agent.once("exit", done));
    // It is listened to until then: it may have something to say at its end.
    this.#agent.stdin.end();
    const code = await ended;
    this.#connection.close();
    return code;
  }

  #ask(question) {
    this.questions.push(question);
    return this.onQuestion(question);
  }

  #told({ update }) {
    this.updates.push(update);
    for (const wake of this.#waiting.splice(0)) wake();
  }
}

/** The answer to a question that chooses the first option of a kind. */
export function choose(question, kind) {
  const option = question.options.find((option) => option.kind === kind);
  if (option === undefined) throw new Error(`no option of kind ${kind}: ${JSON.stringify(question.options)}`);
  return { outcome: { outcome: "selected", optionId: option.optionId } };
}
