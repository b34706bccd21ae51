/** windlass in JavaScript: an agent inside a page, a Node program or an edge worker. */

/** What an agent is made of. The names and meanings are those of the TypeScript Agent SDK where it has them. */
export interface AgentOptions {
  /** The model, exactly as the server knows it. */
  model?: string;
  /** The model that is asked when this one is overloaded. */
  fallbackModel?: string;
  /** The system prompt: a text, to which nothing is added, or the preset. */
  systemPrompt?: string | { type: 'preset'; preset: 'claude_code'; append?: string };
  /** Agents that the model can start, by name; with some, the tools that start and stop them are there too. */
  agents?: Record<string, AgentDefinition>;
  /** The agent that the session runs as. */
  agent?: string;
  /** Tools of the loop itself, by name: `TodoWrite`, `AskUserQuestion`, `ExitPlanMode`, … */
  coreTools?: string[];
  /** The answer is a value of this JSON Schema, in the result's `structured_output`. */
  outputFormat?: { type: 'json_schema'; schema: Record<string, unknown> };
  /** Closures as tools: see {@link tool}. */
  tools?: Tool[];
  /** Components with tools: see {@link Plugin} and `windlass/files`. */
  plugins?: Plugin[];
  /** Takes what components log: the plugin's name, the level and the message. */
  pluginLog?: (plugin: string, level: 'debug' | 'info' | 'warn' | 'error', message: string) => void;
  /** Callbacks at events, as in the TypeScript Agent SDK. What a callback throws is reported, and the run goes on. */
  hooks?: Partial<Record<HookEvent, HookCallbackMatcher[]>>;
  /** Whether runs of hooks are messages (`hook_started`, `hook_response`); default yes. */
  includeHookEvents?: boolean;
  /** The files that the tools of plugins work on; an empty tree if left out. */
  files?: MemoryFileSystem;
  /** The working directory: absolute. */
  cwd?: string;

  /** Where the model server is; default `https://api.anthropic.com`. A server of yours that adds the key is best. */
  baseUrl?: string;
  /** Sent as `x-api-key`. Refused in a page unless `dangerouslyAllowBrowser` says otherwise. */
  apiKey?: string;
  /** The key in the page is the visitor's own. */
  dangerouslyAllowBrowser?: boolean;
  /** Further headers of every request. */
  headers?: Record<string, string>;
  /** In place of the platform's `fetch`. */
  fetch?: typeof fetch;

  /** Rules of what runs unasked: `Read`, `Bash(npm test:*)`, `Edit(src/**)`. */
  allowedTools?: string[];
  /** Rules of what is always asked about. */
  askTools?: string[];
  /** Rules of what never runs. */
  disallowedTools?: string[];
  permissionMode?: PermissionMode;
  /** Whether reading tools run unasked inside the working directory. */
  freeWorkspaceReads?: boolean;
  /** Needed before the mode can be `bypassPermissions`. */
  allowDangerouslySkipPermissions?: boolean;
  /** Decides what nothing else decided. Without it, that is denied. */
  canUseTool?: CanUseTool;

  /** Tool rounds for one prompt. */
  maxTurns?: number;
  /** What a session may cost, in US dollars. */
  maxBudgetUsd?: number;
  /** The most tokens a response may hold. */
  maxTokens?: number;
  thinking?: { type: 'adaptive' } | { type: 'enabled'; budgetTokens?: number } | { type: 'disabled' };
  effort?: 'low' | 'medium' | 'high' | 'max';
  betas?: string[];
  /** Whether responses are streamed; default yes. */
  stream?: boolean;
  /** Whether the raw events of the stream are messages too. */
  includePartialMessages?: boolean;
  /** After how many milliseconds, again and again, a running call is reported; 0 never does; default ten seconds. */
  progressIntervalMs?: number;
  /** How long a closure tool may take, in milliseconds; default two minutes. */
  toolTimeoutMs?: number;
  retry?: RetryPolicy;
  /** A price file, for models that this version does not know. */
  prices?: object;

  /** Where sessions are kept. Without one, nothing is, and no session can go on later. */
  sessionStore?: SessionStore;
  /** Whether sessions are written to the store; default yes. */
  persistSession?: boolean;
  /** The session that goes on, by its id. */
  resume?: string;
  /** Whether the session that was written to last goes on. */
  continue?: boolean;
  /** Whether what goes on does so in a copy, under a new id. */
  forkSession?: boolean;
  /** The message up to which the session goes on, by its id. */
  resumeSessionAt?: string;
  /** Takes what a person should know, such as a store that does not write; by default it is a warning on the console. */
  onWarning?: (text: string) => void;

  /** 32 random bytes that the ids come from; fresh ones if left out. */
  seed?: Uint8Array;
  /** The session's id, a UUID. */
  sessionId?: string;
  clock?: Clock;
  /** Further facts that the first message of a run reports. */
  environment?: Record<string, unknown>;
}

/** An agent that the model can start (Agent SDK reference, `AgentDefinition`). */
export interface AgentDefinition {
  /** When to use it, for the model. */
  description: string;
  prompt: string;
  tools?: string[];
  disallowedTools?: string[];
  model?: string;
  maxTurns?: number;
  permissionMode?: PermissionMode;
}

export type PermissionMode = 'default' | 'acceptEdits' | 'plan' | 'dontAsk' | 'bypassPermissions';

/** When a failed model call is asked again. */
export interface RetryPolicy {
  /** Default 10. */
  maxRetries?: number;
  /** Milliseconds before the first retry, doubled for each further one; default 500. */
  baseMs?: number;
  /** The longest wait in milliseconds; default 32,000. */
  maxMs?: number;
  /** Up to so many percent are added at random; default 25. */
  jitterPercent?: number;
  /** Retry rate limits only. */
  onlyRateLimits?: boolean;
  /** Wait as long as the server asks for; default yes. */
  honourRetryAfter?: boolean;
}

/** An event of a session: `PreToolUse`, `PostToolUse`, `UserPromptSubmit`, `Stop`, … */
export type HookEvent = string;

/** Hooks of one event (Agent SDK reference, `HookCallbackMatcher`). */
export interface HookCallbackMatcher {
  /** The tools that they run for, or what else the event is about; everything if left out. */
  matcher?: string;
  hooks: HookCallback[];
  /** How long each may take, in seconds; default 60. */
  timeout?: number;
}

/** Gives the output of a hook (Agent SDK reference, `HookJSONOutput`); nothing means no opinion. */
export type HookCallback = (
  input: Record<string, unknown> & { hook_event_name: string; session_id: string; cwd: string },
  toolUseID: string | undefined,
  context: { signal: AbortSignal },
) => Record<string, unknown> | void | Promise<Record<string, unknown> | void>;

export type CanUseTool = (
  toolName: string,
  input: Record<string, unknown>,
  context: {
    /** Fires when nobody waits for the decision any more. */
    signal: AbortSignal;
    toolUseID: string;
    /** The path outside the working directory that made it ask. */
    blockedPath?: string;
    decisionReason: string;
    /** Changes of the permissions of which each lets such calls run unasked; hand back those you accept. */
    suggestions: PermissionUpdate[];
    /** The subagent that calls. */
    agentID?: string;
  },
) => PermissionResult | Promise<PermissionResult>;

/** A change of the permissions (Agent SDK reference, `PermissionUpdate`); here all of them hold for the session. */
export type PermissionUpdate = (
  | {
      type: 'addRules' | 'replaceRules' | 'removeRules';
      rules: { toolName: string; ruleContent?: string }[];
      behavior: 'allow' | 'deny' | 'ask';
    }
  | { type: 'setMode'; mode: 'default' | 'acceptEdits' | 'plan' | 'dontAsk' | 'bypassPermissions' }
  | { type: 'addDirectories' | 'removeDirectories'; directories: string[] }
) & { destination: 'userSettings' | 'projectSettings' | 'localSettings' | 'session' | 'cliArg' };

export type PermissionResult =
  | { behavior: 'allow'; updatedInput?: Record<string, unknown>; updatedPermissions?: PermissionUpdate[] }
  | { behavior: 'deny'; message: string; interrupt?: boolean };

/** Time, in whole milliseconds. */
export interface Clock {
  /** Since any moment; never goes back. */
  mono(): number;
  /** Since 1970. */
  wall(): number;
  /** Resolves after so many milliseconds; when the signal fires, it need not resolve at all. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Told of work that does not wait for this clock: a clock that is not real stands still until it is done. */
  during?(work: Promise<unknown>): void;
}

/** The time of the platform. */
export class SystemClock implements Clock {
  mono(): number;
  wall(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** A text, or content blocks of the Messages API. */
export type Prompt = string | Array<Record<string, unknown> & { type: string }>;

/** What an agent is: made once, used for any number of prompts and sessions. */
export class Agent {
  constructor(options?: AgentOptions);
  /** The files that the tools of its plugins work on. */
  readonly files: MemoryFileSystem | undefined;
  /** Asks in a session of its own; gives the messages as they come. */
  query(prompt: Prompt, options?: { signal?: AbortSignal }): Run;
  /** Asks in a session of its own; gives the result message. A run that failed has a result too. */
  run(prompt: Prompt, options?: { signal?: AbortSignal }): Promise<ResultMessage>;
  /** Starts a conversation: prompts that see what came before. */
  session(): Session;
}

/**
 * Asks in a session of its own, as `query` of the TypeScript Agent SDK: a prompt, or a stream of user messages, each answered in its
 * turn. Options are those of {@link Agent}; `tools` are functions here (see {@link tool}), and there are no files of settings, no
 * programs and no servers of MCP in a page.
 */
export function query(asked: {
  prompt: Prompt | AsyncIterable<{ type: 'user'; message: { role: 'user'; content: Prompt } }>;
  options?: AgentOptions & { abortController?: AbortController };
}): Query;

/** The messages of a query, with what can be done meanwhile. */
export interface Query extends AsyncIterableIterator<Message> {
  interrupt(): Promise<void>;
  setPermissionMode(mode: PermissionMode): Promise<void>;
  setModel(model?: string): Promise<void>;
  stopTask(id: string): Promise<void>;
}

/** A conversation. Prompts are answered one after another. */
export interface Session {
  /** The session's id, a UUID. */
  id(): Promise<string>;
  /** The work begins at once, and waits when too many messages are not read. */
  prompt(prompt: Prompt, options?: { signal?: AbortSignal }): Run;
  /** Stops what is running. The session stays usable. */
  interrupt(): Promise<void>;
  setPermissionMode(mode: PermissionMode): Promise<void>;
  /** Without a name it is the model of the agent again. */
  setModel(model?: string): Promise<void>;
  /** Stops a background task by its id. */
  stopTask(id: string): Promise<void>;
  /** Ends the session when its prompts are answered, and resolves when others may go on with it. */
  close(): Promise<void>;
  /** The same, at the end of an `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

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
}

/** What a list shows of a session (Agent SDK reference, `SDKSessionInfo`). */
export interface SessionInfo {
  sessionId: string;
  /** Its title, or its first prompt. */
  summary: string;
  customTitle?: string;
  firstPrompt?: string;
  /** Milliseconds since 1970. */
  lastModified: number;
}

/** Lists the sessions of a store, those that were written to last first; 100 if no limit is given. */
export function listSessions(options: {
  sessionStore: SessionStore;
  limit?: number;
  offset?: number;
}): Promise<SessionInfo[]>;

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

/**
 * The messages of an answer. Leaving the loop stops the run; when the signal of the query fires, it is stopped and the
 * loop throws the signal's reason.
 */
export interface Run extends AsyncIterableIterator<Message> {
  next(): Promise<IteratorResult<Message>>;
  return(): Promise<IteratorResult<Message>>;
  /** Stops it: what remains are the messages of the interruption and the result. */
  interrupt(): Promise<void>;
  /** Reads everything and gives the result message. */
  result(): Promise<ResultMessage>;
  /** The messages as lines of JSON, byte for byte as the core wrote them. */
  lines(): AsyncGenerator<string, void>;
}

/** A message of the stream: the types of the TypeScript Agent SDK. */
export type Message =
  | SystemMessage
  | AssistantMessage
  | UserMessage
  | StreamEventMessage
  | ToolProgressMessage
  | ResultMessage;

interface Common {
  uuid: string;
  session_id: string;
}

export type SystemMessage = InitMessage | ApiRetryMessage;

export interface InitMessage extends Common {
  type: 'system';
  subtype: 'init';
  cwd: string;
  tools: string[];
  model: string;
  permissionMode: PermissionMode;
  mcp_servers: { name: string; status: string }[];
  slash_commands: string[];
  apiKeySource: string;
  claude_code_version: string;
  output_style: string;
  agents: string[];
  skills: string[];
  plugins: { name: string; path: string }[];
  betas?: string[];
}

export interface ApiRetryMessage extends Common {
  type: 'system';
  subtype: 'api_retry';
  attempt: number;
  max_retries: number;
  retry_delay_ms: number;
  error_status: number | null;
  error: string;
  message: string;
}

export interface AssistantMessage extends Common {
  type: 'assistant';
  message: {
    id: string;
    type: 'message';
    role: 'assistant';
    model: string;
    content: ContentBlock[];
    stop_reason: string | null;
    stop_sequence: string | null;
    usage: Usage;
  };
  parent_tool_use_id: string | null;
  error?: string;
}

export interface UserMessage extends Common {
  type: 'user';
  message: { role: 'user'; content: ContentBlock[] };
  parent_tool_use_id: string | null;
  tool_use_result?: unknown;
  isSynthetic?: boolean;
}

export interface StreamEventMessage extends Common {
  type: 'stream_event';
  event: Record<string, unknown> & { type: string };
  parent_tool_use_id: string | null;
}

export interface ToolProgressMessage extends Common {
  type: 'tool_progress';
  tool_use_id: string;
  tool_name: string;
  parent_tool_use_id: string | null;
  elapsed_time_seconds: number;
}

export interface ResultMessage extends Common {
  type: 'result';
  subtype: 'success' | 'error_max_turns' | 'error_max_budget_usd' | 'error_during_execution';
  is_error: boolean;
  duration_ms: number;
  duration_api_ms: number;
  num_turns: number;
  /** The final text; only on success. */
  result?: string;
  /** What went wrong; only on an error. */
  errors?: string[];
  stop_reason: string | null;
  total_cost_usd: number;
  usage: Usage;
  modelUsage: Record<string, Record<string, number>>;
  permission_denials: { tool_name: string; tool_use_id: string; tool_input: Record<string, unknown> }[];
}

/** A block of the Messages API; kinds that this version does not know are kept as they are. */
export type ContentBlock = Record<string, unknown> & { type: string };

export interface Usage {
  input_tokens: number;
  output_tokens: number;
  cache_creation_input_tokens: number;
  cache_read_input_tokens: number;
  server_tool_use: { web_search_requests: number; web_fetch_requests: number };
}

/** A tool of the embedder. */
export interface Tool {
  readonly definition: ToolDefinition;
}

/** A tool as the core reads it. */
export interface ToolDefinition {
  name: string;
  description: string;
  input_schema: object;
  [field: string]: unknown;
}

export interface ToolContext {
  /** Fires when the call is cancelled or out of time. */
  signal: AbortSignal;
  /** Says that the tool is alive. */
  progress(text: string): void;
  /** The same for a call that is made again: an idempotency key. */
  effectId: string;
}

/** What a tool gives: a text, or this. */
export interface ToolOutput {
  content: string | ContentBlock[];
  isError?: boolean;
  /** The output for programs, in the message's `tool_use_result`. */
  structured?: unknown;
}

export interface ToolExtras {
  /** `readOnly` tools may run beside each other. */
  annotations?: { readOnly?: boolean; destructive?: boolean; idempotent?: boolean; openWorld?: boolean };
  /** Input fields that are file paths: rules for paths then hold for this tool. */
  paths?: { field: string; access: 'read' | 'write'; defaultCwd?: boolean }[];
  /** The input field that is a shell command: rules for commands then hold for it. */
  commandParam?: string;
  /** What may be done about a call whose outcome was lost. */
  retry?: 'never' | 'run_again' | 'run_again_with_key';
  timeoutMs?: number;
}

/** Makes a tool of a function. What the function throws is a failure that the model reads. */
export function tool<Input = any>(
  name: string,
  description: string,
  inputSchema: object,
  handler: (input: Input, context: ToolContext) => string | ToolOutput | Promise<string | ToolOutput>,
  extras?: ToolExtras,
): Tool;

/** A directory tree in memory. */
export class MemoryFileSystem {
  constructor(options?: { files?: Record<string, string | Uint8Array>; clock?: Pick<Clock, 'wall'> });
  /** Puts a file in place, with the directories it needs. */
  writeFile(path: string, content: string | Uint8Array, options?: { modified?: number }): void;
  readFile(path: string): Uint8Array | undefined;
  readText(path: string): string | undefined;
  /** The absolute paths of all files, sorted. */
  paths(): string[];
}

/** What a component says of itself. */
export interface Declaration {
  name: string;
  tools?: ToolDefinition[];
  hooks?: DeclaredHook[];
  [field: string]: unknown;
}

/** A hook of a component: a judge may refuse, ask or narrow; an observer only sees. */
export interface DeclaredHook {
  name: string;
  event: HookEvent;
  kind: 'judge' | 'observer';
  matcher?: string;
  timeout_ms?: number;
}

/** What a component may reach, as far as it declares to need it. What is left out it does not get. */
export interface PluginGrant {
  /** The working directory of the session: for tools, where rules let them. */
  workspace?: 'read' | 'write';
  /** Directories by their absolute paths: for tools and hooks. */
  directories?: Record<string, 'read' | 'write'>;
  /**
   * Directories for roles that it declares: every call that runs and every hook reaches them, and in one to read it writes
   * nothing. The paths are absolute.
   */
  roles?: Record<string, { path: string; access: 'read' | 'write' }>;
  /** The values of variables that it reads with `config`. */
  env?: Record<string, string>;
  /** Whether it may remember something until the session ends. */
  state?: boolean;
}

/**
 * A component that `jco transpile --instantiation async` turned into JavaScript: its tools and hooks.
 *
 * Each run has a fresh instance, which sees what was granted and nothing else. It runs on the thread of the agent: no browser
 * can stop WebAssembly in the middle of a call or bound its memory, so run agents with components that you do not trust in a
 * Worker. There is no network, no secret and no WASI here; a component that imports WASI is not run.
 */
export class Plugin {
  /** Throws where the declaration has what nothing here enforces, or where something is granted for which it does not ask. */
  constructor(
    declaration: Declaration,
    instantiate: (getCoreModule: (path: string) => Promise<WebAssembly.Module>, imports: any) => Promise<any>,
    module: (path: string) => Promise<WebAssembly.Module>,
    grant?: PluginGrant,
  );
  readonly name: string;
  readonly tools: ToolDefinition[];
  readonly hooks: DeclaredHook[];
}

/** The declaration that a component carries in its custom section `windlass:plugin`. */
export function declarationOf(component: Uint8Array): Declaration;

/** A module of WebAssembly: compiled, its bytes, an answer that brings them, or its address; relative ones are those of the page. */
export type ModuleSource = OneModule | Promise<OneModule>;
type OneModule = WebAssembly.Module | BufferSource | Response | URL | string;

/**
 * Loads the core early, or from somewhere else than beside this module: `windlass/core.wasm` as the platform or the bundler
 * gives it. Everything that needs the core loads it by itself. When it cannot be loaded, the next call tries again.
 */
export function init(source?: ModuleSource): Promise<void>;
