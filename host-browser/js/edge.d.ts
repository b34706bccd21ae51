import type { AgentOptions } from './index.js';

/** What `edge` needs to make agents. */
export interface EdgeParts {
  /** `windlass/core.wasm`, as the platform imports it. */
  module: WebAssembly.Module;
  /**
   * Who may do what with sessions: called for every request, before anything else; a `Response` refuses it. Ids of sessions are
   * random, and no secret.
   */
  authorize(request: Request, env: any): Response | void | Promise<Response | void>;
  /** What an agent is made of, for each session. Without `canUseTool` the reader of the stream is asked. */
  options(env: any, request: Request): AgentOptions | Promise<AgentOptions>;
  /** The binding of the sessions' objects; default `SESSIONS`. */
  namespace?: string;
  /**
   * How often a stream is written to where nothing is said, in milliseconds; default 15,000. A reader that has left is noticed then,
   * and the answer stops.
   */
  heartbeatMs?: number;
  /** After how many milliseconds a question that nobody answers is denied, by an alarm of the object; never if left out. */
  questionTimeoutMs?: number;
}

/** The fetch handler of a worker, and the class of its sessions' Durable Objects, which has storage with SQLite. */
export function edge(parts: EdgeParts): {
  handler: { fetch(request: Request, env: any): Promise<Response> };
  SessionObject: new (ctx: any, env: any) => { fetch(request: Request): Promise<Response>; alarm(): Promise<void> };
}
