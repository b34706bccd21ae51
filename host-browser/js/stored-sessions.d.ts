/** Where sessions are kept, and what is done with those that are. */
import type { PluginStateStore } from './plugin.js';

/**
 * Where sessions are kept: transcripts (lines of JSON, one transcript for each session and one for each of its subagents), documents
 * by name, and settings. {@link MemorySessionStore} and {@link IndexedDbSessionStore} are stores; for one of your own, such as a
 * database behind a server, `checkStore` of `windlass/testkit` shows whether it keeps this contract:
 *
 * - Lines are kept in the order in which they were appended. When `append` resolves, its lines are safe; when it rejects, none of
 *   them counts.
 * - A session has one writer at a time, who has its lease: `create` and `open` give the epoch of a lease, each later one of a
 *   session a higher number, and the leases of a page or process end with it. Readers need none.
 * - What cannot be done rejects. A `kind` of the error says why, where the session is to be told apart: `busy` (somebody else has
 *   the lease), `stale` (the lease has ended), `exists` (a new session that has lines), `unknown` (nothing is kept under this id),
 *   `changed` (settings that are not what was read). {@link StoreError} has one.
 */
export interface SessionStore {
  /** A lease for a new session. Nothing need be kept before its first line. */
  create(session: string): Promise<number>;
  /** A lease for a session that has lines. */
  open(session: string): Promise<number>;
  /** Ends a lease. One that has ended is passed over. */
  release(session: string, epoch: number): void;
  /** Appends lines without line ends, all or none. No lines and no snapshot: nothing is kept. */
  append(session: string, epoch: number, agent: string | undefined, lines: string[], snapshot?: Uint8Array): Promise<void>;
  /** The transcript of a session or of one of its subagents, each line with its end; `undefined` if it has no line. */
  load(
    session: string,
    agent?: string,
  ): Promise<{ text: string; snapshot?: { bytes: Uint8Array; isCurrent: boolean } } | undefined>;
  /** Keeps a document, in place of the one of its name. */
  put(session: string, epoch: number, name: string, document: Uint8Array): Promise<void>;
  /** Adds bytes to a document, which begins with them if there is none. */
  extend(session: string, epoch: number, name: string, bytes: Uint8Array): Promise<void>;
  get(session: string, name: string): Promise<Uint8Array | undefined>;
  /** The sessions that have lines, those that were appended to last first; `modified` in milliseconds since 1970. */
  list(): Promise<{ id: string; modified: number }[]>;
  /** Deletes a session that has no writer, with all that is kept for it. */
  delete(session: string): Promise<void>;
  /** Where a person finds a transcript, in the store's own terms. */
  place(session: string, agent?: string): string;
  documentPlace(session: string, name: string): string;
  /** The settings of a destination (`userSettings`, `projectSettings`, `localSettings`), a text of JSON. */
  settings(of: string): Promise<Uint8Array | undefined>;
  /** Replaces settings if they are what was read: `read` is the SHA-256 of that in hexadecimal digits. */
  replaceSettings(of: string, read: string | undefined, settings: Uint8Array): Promise<void>;
  /** Where a person finds settings; `undefined` for those that are not kept. */
  settingsPlace(of: string): string | undefined;
  /** Ends all leases. */
  close(): void;
  /** Where components remember for good, unless the option `pluginState` of the agent says otherwise. */
  readonly pluginState?: PluginStateStore;
}

/** A session that cannot be read or written. */
export class StoreError extends Error {
  constructor(kind: 'busy' | 'stale' | 'exists' | 'unknown' | 'changed', message: string);
  readonly kind: 'busy' | 'stale' | 'exists' | 'unknown' | 'changed';
}

/** Keeps sessions as long as the page or process lives. */
export class MemorySessionStore implements SessionStore {
  constructor();
  /** Another store over the same sessions, as another tab would have. */
  again(): MemorySessionStore;
}
export interface MemorySessionStore extends SessionStore {}

/** Keeps sessions in the storage of a Durable Object, which has SQLite. */
export class DurableObjectSessionStore implements SessionStore {
  /** @param storage `ctx.storage` */
  constructor(storage: object);
}
export interface DurableObjectSessionStore extends SessionStore {}

/**
 * Keeps sessions in the browser, beyond the page (IndexedDB). A session is written to by one tab at a time (Web Locks), so the page
 * has to come from `https:` or from this machine.
 */
export class IndexedDbSessionStore implements SessionStore {
  private constructor();
  /** Opens the sessions under a name, which other pages of the same origin can open as well; default `windlass`. */
  static open(name?: string): Promise<IndexedDbSessionStore>;
}
export interface IndexedDbSessionStore extends SessionStore {}

/** Says in which store the sessions are: there are no folders of projects here. */
export interface InStore {
  sessionStore: SessionStore;
}

/** Which part of a list is given. */
export interface Page {
  /** How many at most. */
  limit?: number;
  /** How many are passed over first; default 0. */
  offset?: number;
}

/** What a list shows of a session (Agent SDK reference, `SDKSessionInfo`). */
export interface SessionInfo {
  sessionId: string;
  /** Its title, or its first prompt. */
  summary: string;
  /** The title that somebody gave it. */
  customTitle?: string;
  firstPrompt?: string;
  /** The tag that somebody gave it. */
  tag?: string;
  /** The working directory. */
  cwd?: string;
  /** Milliseconds since 1970. */
  createdAt?: number;
  /** Milliseconds since 1970. */
  lastModified: number;
}

/** A message as it is kept (Agent SDK reference, `SessionMessage`). */
export interface SessionMessage {
  type: 'user' | 'assistant' | 'system';
  uuid: string;
  session_id: string;
  /** A message of the Messages API: `{ role, content }`; of a system message its text. */
  message: unknown;
  parent_tool_use_id: string | null;
  parent_agent_id: string | null;
}

/** Lists the sessions of a store, those that were written to last first; 100 if no limit is given. */
export function listSessions(options: InStore & Page): Promise<SessionInfo[]>;

/** What a list shows of one session; `undefined` if nothing is kept of it. */
export function getSessionInfo(sessionId: string, options: InStore): Promise<SessionInfo | undefined>;

/**
 * The messages of a session in their order: its conversation as it goes on, without what was left by going on before its end. None if
 * nothing is kept of it.
 */
export function getSessionMessages(
  sessionId: string,
  options: InStore & Page & { /** Notices and borders of summaries, too; default no. */ includeSystemMessages?: boolean },
): Promise<SessionMessage[]>;

/** The messages of a subagent, by the id that the result of its call has in `agentId`. */
export function getSubagentMessages(sessionId: string, agentId: string, options: InStore & Page): Promise<SessionMessage[]>;

/** A turn that was not over when its session was last open. */
export interface UnfinishedTurn {
  /** What was asked: a text, or content blocks of the Messages API. */
  prompt: unknown;
  /** The id of the prompt. */
  uuid: string;
  /** When it was asked, in milliseconds since 1970. */
  askedAt: number;
}

/**
 * The turn in which a session was when its page was closed or its process ended; `undefined` if all was answered, or if something was
 * written to the session since. `Session.continue` goes on with it, a prompt goes on without it. While a page still has the session open,
 * this is the turn that runs there.
 */
export function unfinishedTurn(sessionId: string, options: InStore): Promise<UnfinishedTurn | undefined>;

/** Gives a session a title. Rejects with a {@link StoreError} of the kind `busy` while somebody has it open, also this page. */
export function renameSession(sessionId: string, title: string, options: InStore): Promise<void>;

/** Gives a session a tag, or takes it away (`null`). Rejects as {@link renameSession} does. */
export function tagSession(sessionId: string, tag: string | null, options: InStore): Promise<void>;

/** Deletes a session with all that is kept for it. Rejects as {@link renameSession} does. */
export function deleteSession(sessionId: string, options: InStore): Promise<void>;

/**
 * Copies the conversation of a session to a new one, which goes on by `resume`. The messages keep their ids.
 *
 * Rejects with a {@link StoreError} of the kind `unknown` if nothing is kept of it.
 */
export function forkSession(
  sessionId: string,
  options: InStore & {
    /** The last message of the copy, by its id; all of them if left out. */
    upToMessageId?: string;
    /** Its title; if left out that of the session with ` (fork)` behind it. */
    title?: string;
  },
): Promise<{ sessionId: string }>;

/** What was said in a session until a moment: plain data, which can be stored and sent as JSON. */
export interface SessionSnapshot {
  sessionId: string;
  /** The last message of the conversation. */
  messageId?: string;
  /** Lines of JSON. Those of subagents are not among them. */
  transcript: string;
}

// What has no `export` is not to be had from outside.
export {};
