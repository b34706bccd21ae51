/** windlass in JavaScript: an agent inside a page, a Node program or an edge worker. */
import type { FileSystem } from './file-system.js';
import type { HookCallbackMatcher, HookEvent } from './hook-events.js';
import type { McpResult, McpServer, McpServerStatus } from './mcp-server.js';
import type { Message, PromptMessage, ResultMessage } from './messages.js';
import type { AllowedCall, CanUseTool, PermissionMode } from './permissions.js';
import type { Plugin, PluginStateStore } from './plugin.js';
import type { SettingsOptions } from './settings.js';
import type { SessionSnapshot, SessionStore, StoreError } from './stored-sessions.js';
import type { Tool } from './tool.js';

export * from './file-system.js';
export * from './hook-events.js';
export * from './mcp-server.js';
export * from './messages.js';
export * from './permissions.js';
export * from './plugin.js';
export * from './sdk-types.js';
export type { SettingSource, SettingsOptions } from './settings.js';
export * from './stored-sessions.js';
export * from './tool.js';

/** What an agent is made of. The names and meanings are those of the TypeScript Agent SDK where it has them. */
export interface AgentOptions extends SettingsOptions {
  /** The model, exactly as the server knows it. */
  model?: string;
  /** The model that is asked when this one is overloaded. */
  fallbackModel?: string;
  /** The system prompt: a text, or several, to which nothing is added, or the preset. */
  systemPrompt?:
    | string
    | string[]
    | { type: 'custom'; prompt: string | string[] }
    | {
        type: 'preset';
        preset: 'claude_code';
        append?: string;
        /** Whether what differs from one session to another, such as the date, stands in the first prompt instead; default no. */
        excludeDynamicSections?: boolean;
      };
  /** Agents that the model can start, by name; with some, the tools that start and stop them are there too. */
  agents?: Record<string, AgentDefinition>;
  /** The agent that the session runs as. */
  agent?: string;
  /** Tools of the loop itself, by name: `TodoWrite`, `AskUserQuestion`, `ExitPlanMode`, `ToolSearch`, `Skill`, `Config`, `Agent`, `TaskOutput`, `TaskStop`. */
  coreTools?: string[];
  /** Names under which the model knows tools, and the tools that run then. */
  toolAliases?: Record<string, string>;
  /** How the model arrives at a plan in the mode `plan`, in place of the usual words. */
  planModeInstructions?: string;
  /** The answer is a value of this JSON Schema, in the result's `structured_output`. */
  outputFormat?: { type: 'json_schema'; schema: Record<string, unknown> };
  /** Closures as tools: see `tool`. */
  tools?: Tool[];
  /** Components with tools: see {@link Plugin} and `windlass/files`. */
  plugins?: Plugin[];
  /**
   * MCP servers by their names, made by `httpServers` of `windlass/mcp`; each session connects to them. Rules for their tools:
   * `mcp__NAME`, `mcp__NAME__TOOL`.
   */
  mcpServers?: Record<string, McpServer>;
  /** Takes what components log: the plugin's name, the level and the message. */
  pluginLog?: (plugin: string, level: 'debug' | 'info' | 'warn' | 'error', message: string) => void;
  /**
   * Sends the requests of components, of those that were granted any; default the `fetch` of the platform, and in Node one that judges to
   * which address a name leads: a public one, or this machine for `localhost`. It must not follow redirects.
   */
  pluginFetch?: typeof fetch;
  /**
   * Gives the value of a secret that a component was granted. It is asked for all of them before each request of the component, used or
   * not, because each is looked for in the answer; `origin` is where the value may be sent. No value, and one of fewer than 8 bytes: the
   * component does not have it. Where this throws, the request is not sent, and nobody is told what was thrown.
   */
  pluginSecret?: (name: string, use: { plugin: string; origin: string }) => string | undefined | Promise<string | undefined>;
  /** Where components keep durable state, of those that were granted it; default that of the `sessionStore`. */
  pluginState?: PluginStateStore;
  /** Callbacks at events, as in the TypeScript Agent SDK. What a callback throws is reported, and the run goes on. */
  hooks?: { [Event in HookEvent]?: HookCallbackMatcher<Event>[] };
  /** Whether runs of hooks are messages (`hook_started`, `hook_response`); default yes. */
  includeHookEvents?: boolean;
  /** The files that the tools of plugins, and the shell of `windlass/shell`, work on; an empty tree in memory if left out. */
  files?: FileSystem;
  /** The working directory: absolute; default `/`. */
  cwd?: string;
  /** Further directories that count as the working directory does: absolute. */
  additionalDirectories?: string[];

  /**
   * Where the model server is; default `https://api.anthropic.com`. Without the `/v1/messages` that is added to it. A server of yours that
   * adds the key is best.
   */
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
  /** The mode that a session begins in; default `default`. */
  permissionMode?: PermissionMode;
  /** Whether reading tools run unasked inside the working directory. */
  freeWorkspaceReads?: boolean;
  /** Needed before the mode can be `bypassPermissions`. */
  allowDangerouslySkipPermissions?: boolean;
  /** Decides what nothing else decided. Without it, that is denied. */
  canUseTool?: CanUseTool;
  /** With `none` nobody is asked, and `canUseTool` is never called; default `host`. */
  permissionPrompts?: 'host' | 'none';

  /** Tool rounds for one prompt. */
  maxTurns?: number;
  /** What a session may cost, in US dollars. */
  maxBudgetUsd?: number;
  /** The most tokens a response may hold. */
  maxTokens?: number;
  /** The most tokens that the model is told it may spend on the whole task. */
  taskBudget?: { total: number };
  /** The older way to say `thinking`: 0 is `disabled`. */
  maxThinkingTokens?: number;
  /** Whether the model thinks before it answers, and how many tokens it may take for that. */
  thinking?:
    | { type: 'adaptive'; display?: 'summarized' | 'omitted' }
    | { type: 'enabled'; budgetTokens?: number; display?: 'summarized' | 'omitted' }
    | { type: 'disabled' };
  /** How much the model does for an answer. */
  effort?: 'low' | 'medium' | 'high' | 'xhigh' | 'max';
  /** Names of features that the server is asked for (`anthropic-beta`). */
  betas?: string[];
  /** Whether responses are streamed; default yes. */
  stream?: boolean;
  /** Whether the raw events of the stream are messages too. */
  includePartialMessages?: boolean;
  /** Whether what subagents say is messages, too, and not only their calls; default yes. */
  forwardSubagentText?: boolean;
  /** Whether the model is asked what the person might say next, which is a message behind the result; default no. */
  promptSuggestions?: boolean;
  /** After how many milliseconds, again and again, a running call is reported; 0 never does; default ten seconds. */
  progressIntervalMs?: number;
  /** How long a closure tool may take, in milliseconds; default two minutes. */
  toolTimeoutMs?: number;
  /** When a model call that failed is made again. */
  retry?: RetryPolicy;
  /** How long a response may be silent and take, and how large it may be. */
  responseLimits?: ResponseLimits;
  /** A price file, for models that this version does not know. */
  prices?: object;

  /**
   * Where sessions are kept. Without one, nothing is, and no session can go on later. What the store refuses ends a session with an error that
   * has the `kind` of its {@link StoreError}: `busy` where another tab has it open.
   */
  sessionStore?: SessionStore;
  /** Whether sessions are written to the store; default yes. */
  persistSession?: boolean;
  /**
   * Whether the state of a session is kept while it waits for a model, a tool or a person, so that its turn goes on where it was after the
   * page was closed: see `unfinishedTurn` and `Session.continue`. Each time the whole conversation is written. Default yes, with a store.
   */
  keepUnfinishedTurns?: boolean;
  /** The session that goes on, by its id. */
  resume?: string;
  /** Whether the session that was written to last goes on. */
  continue?: boolean;
  /** Whether what goes on does so in a copy, under a new id. */
  forkSession?: boolean;
  /** The message up to which the session goes on, by its id. */
  resumeSessionAt?: string;
  /** The prompt whose turn is all that may be left out by it, by its id; whatever else would be is an error. */
  resumeDropsTurn?: string;
  /**
   * Takes what a person should know, such as a store that does not write, or a rule for a tool that there is not; by default it is a
   * warning on the console.
   */
  onWarning?: (text: string) => void;
  /**
   * Learns of each call that may run, with the reason: for a log of decisions. Refusals are messages. It is called before the call runs,
   * and before the message that has the call where nobody is asked. Nobody waits for it; where it fails, `onWarning` is told.
   */
  onAllowed?: (call: AllowedCall) => void | Promise<void>;

  /** 32 random bytes that the ids come from; fresh ones if left out. */
  seed?: Uint8Array;
  /** The session's id, a UUID. */
  sessionId?: string;
  /** The time; default that of the platform. */
  clock?: Clock;
  /** Further facts that the first message of a run reports. */
  environment?: Record<string, unknown>;
}

/** An agent that the model can start (Agent SDK reference, `AgentDefinition`). */
export interface AgentDefinition {
  /** When to use it, for the model. */
  description: string;
  /** Its system prompt. */
  prompt: string;
  /** The names of its tools; all of its parent's if left out. */
  tools?: string[];
  /** Tools that it does not get, or rules of calls that it may not make. */
  disallowedTools?: string[];
  /** Its model; that of its parent if left out. */
  model?: string;
  /** Tool rounds for its task. */
  maxTurns?: number;
  /** Its mode, if that lets no more run than the mode of its parent. */
  permissionMode?: PermissionMode;
}

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

/** Limits of a response of the model; 0 is none. One that is late is asked for again, as `retry` says. */
export interface ResponseLimits {
  /** Milliseconds without anything new: until it begins, and between its pieces; default five minutes. */
  idleMs?: number;
  /** Milliseconds from the request to the end. */
  totalMs?: number;
  /** Bytes of the whole response. */
  maxBytes?: number;
}

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
  readonly files: FileSystem | undefined;
  /** Asks in a session of its own; gives the messages as they come. */
  query(prompt: Prompt, options?: { signal?: AbortSignal }): Run;
  /** Asks in a session of its own; gives the result message. A run that failed has a result too. */
  run(prompt: Prompt, options?: { signal?: AbortSignal }): Promise<ResultMessage>;
  /** Starts a conversation: prompts that see what came before. */
  session(options?: SessionOptions): Session;
  /**
   * Goes on from a snapshot, in the `sessionStore` of the agent: under its id where nothing is kept of it there, else in a copy. What goes
   * on from one snapshot in several stores is one session to them: its effects have the same ids.
   */
  restore(snapshot: SessionSnapshot): Promise<Session>;
}

/** Which session goes on, in place of what the agent's options say: see there. */
export type SessionOptions = Pick<
  AgentOptions,
  'resume' | 'continue' | 'forkSession' | 'resumeSessionAt' | 'resumeDropsTurn' | 'sessionId'
>;

/**
 * Asks in a session of its own, as `query` of the TypeScript Agent SDK: a prompt, or a stream of user messages, each answered in its
 * turn. Options are those of {@link Agent}; `tools` are functions here (see `tool`), `mcpServers` are those that are reached by HTTP. An option that means nothing here is an
 * error that names it.
 */
export function query(asked: {
  prompt: Prompt | AsyncIterable<PromptMessage>;
  options?: AgentOptions & { abortController?: AbortController };
}): Query;

/** The messages of a query, with what can be done meanwhile. */
export interface Query extends AsyncIterableIterator<Message> {
  /** Stops what is running; the messages end with those of the interruption. A query over a stream of prompts goes on with the next. */
  interrupt(): Promise<void>;
  /** Ends the query at once: there are no further messages, and nothing is thrown. */
  close(): Promise<void>;
  /** The same, at the end of an `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
  setPermissionMode(mode: PermissionMode): Promise<void>;
  setModel(model?: string): Promise<void>;
  stopTask(id: string): Promise<void>;
  /** What is known of the MCP servers. */
  mcpServerStatus(): Promise<McpServerStatus[]>;
  /**
   * Connects anew to an MCP server, for example when the person has signed in; the next prompt has its tools. Rejects when it is not
   * connected.
   */
  reconnectMcpServer(name: string): Promise<void>;
  /** Reads a resource of an MCP server, such as the `ui://` page of a tool; gives the server's answer (`ReadResourceResult`). */
  readMcpResource(server: string, uri: string, options?: { signal?: AbortSignal }): Promise<McpResult>;
}

/** A conversation. Prompts are answered one after another. */
export interface Session {
  /** The session's id, a UUID. */
  id(): Promise<string>;
  /** The work begins at once, and waits when too many messages are not read. */
  prompt(prompt: Prompt, options?: { signal?: AbortSignal }): Run;
  /** The same by another name. */
  send(prompt: Prompt, options?: { signal?: AbortSignal }): Run;
  /**
   * Goes on with the turn that was not over when the session was last open (`unfinishedTurn` tells whether there is one), in place of a
   * first prompt. An answer of the model that had not arrived is asked for once more, a person is asked again, and calls have the
   * results that they had. A call that was running ended without one: its tool says by `retry` whether it runs again, and else the model
   * is told that the outcome is unknown. The run rejects where there is nothing to go on with.
   */
  continue(options?: { signal?: AbortSignal }): Run;
  /** Stops what is running. The session stays usable. */
  interrupt(): Promise<void>;
  setPermissionMode(mode: PermissionMode): Promise<void>;
  /** Without a name it is the model of the agent again. */
  setModel(model?: string): Promise<void>;
  /** Stops a background task by its id. */
  stopTask(id: string): Promise<void>;
  /**
   * Another session of the agent that goes on from here, or from a message, while this one stays as it is. Needs a `sessionStore`, and
   * waits until the prompts that were given are answered.
   */
  fork(options?: { upToMessageId?: string }): Promise<Session>;
  /** What was said, for `restore` of an agent, here or elsewhere. Needs and waits for the same. */
  snapshot(): Promise<SessionSnapshot>;
  /** What is known of the MCP servers. */
  mcpServerStatus(): Promise<McpServerStatus[]>;
  /**
   * Connects anew to an MCP server, for example when the person has signed in; the next prompt has its tools. Rejects when it is not
   * connected.
   */
  reconnectMcpServer(name: string): Promise<void>;
  /**
   * Reads a resource of an MCP server, such as the `ui://` page of a tool; gives the server's answer (`ReadResourceResult`) as it is.
   * Rejects when the server is not connected or refuses.
   */
  readMcpResource(server: string, uri: string, options?: { signal?: AbortSignal }): Promise<McpResult>;
  /** Ends the session when its prompts are answered, and resolves when others may go on with it. */
  close(): Promise<void>;
  /** The same, at the end of an `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

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

/** A module of WebAssembly: compiled, its bytes, an answer that brings them, or its address; relative ones are those of the page. */
export type ModuleSource = OneModule | Promise<OneModule>;
type OneModule = WebAssembly.Module | BufferSource | Response | URL | string;

/**
 * Loads the core early, or from somewhere else than beside this module: `windlass/core.wasm` as the platform or the bundler
 * gives it. Everything that needs the core loads it by itself. When it cannot be loaded, the next call tries again.
 */
export function init(source?: ModuleSource): Promise<void>;

// What has no `export` is not to be had from outside.
export {};
