import type { AgentOptions, ModuleSource } from './index.js';

/** What `edge` needs to make agents. */
export interface EdgeParts {
  /** `windlass/core.wasm`, where the platform imports it; else the file beside the package's own modules. */
  module?: ModuleSource;
  /**
   * Who may do what with sessions: called for every request, before anything else. Nothing lets it in, a `Response` refuses it, and whatever
   * else it gives or throws is refused with 500. Ids of sessions are random, and no secret.
   */
  authorize(request: Request, env: any): Response | void | Promise<Response | void>;
  /**
   * What an agent is made of, for each session. Without `canUseTool` the reader of the stream is asked. Where a question's time was over
   * after its object was gone, the request has the address of the session and nothing else.
   */
  options(env: any, request: Request): AgentOptions | Promise<AgentOptions>;
  /** The binding of the sessions' objects; default `SESSIONS`. */
  namespace?: string;
  /**
   * How often a stream is written to where nothing is said, in milliseconds; default 15,000. A reader that has left is noticed then,
   * and the answer stops.
   */
  heartbeatMs?: number;
  /** After how many milliseconds a question that nobody answers is denied, by an alarm of the object, and the model goes on; never if left out. */
  questionTimeoutMs?: number;
}

/** The object of a session, as the platform of the worker calls it. */
export interface SessionObject {
  fetch(request: Request): Promise<Response>;
  /** For the alarm of the object: the time of a question is over. */
  alarm(): Promise<void>;
  /** Whether it can leave the memory: nothing runs, and nobody is asked. */
  rests(): boolean;
  /** Ends its session, which goes on with the next prompt, here or in another object. */
  close(): Promise<void>;
}

/** The fetch handler of a worker, and the class of its sessions' Durable Objects, which has storage with SQLite. */
export function edge(parts: EdgeParts): {
  handler: { fetch(request: Request, env: any): Promise<Response> };
  SessionObject: new (ctx: any, env: any) => SessionObject;
};

/** A database of SQLite: `DatabaseSync` of `node:sqlite`, in Node and Deno, or what works like it. */
export interface SqliteDatabase {
  exec(sql: string): void;
  prepare(sql: string): { get(...values: any[]): any; all(...values: any[]): any[]; run(...values: any[]): unknown };
}

/**
 * The objects of sessions in one process, in place of Durable Objects: what the handler's `env` has as `SESSIONS`. What they store lies in
 * the database, which one process at a time has, so that sessions and open questions outlive it.
 */
export class LocalObjects {
  constructor(
    Class: new (ctx: any, env: any) => SessionObject,
    options: {
      database: SqliteDatabase;
      /** What the objects get as their environment. */
      env?: unknown;
      /** After how many milliseconds without requests an object leaves the memory; default 60,000. */
      idleMs?: number;
    },
  );
  idFromName(name: string): string;
  get(id: string): { fetch(request: Request): Promise<Response> };
}
