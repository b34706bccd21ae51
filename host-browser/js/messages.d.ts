/** The messages of a run: the types of the TypeScript Agent SDK. */
import type { HookEvent } from './hook-events.js';
import type { PermissionMode, Prompt } from './index.js';
import type { McpServerStatus } from './mcp-server.js';

/** A message of the stream. Later versions may have further kinds: pass over those that you do not know. */
export type Message =
  | SystemMessage
  | AssistantMessage
  | UserMessage
  | StreamEventMessage
  | ToolProgressMessage
  | PromptSuggestionMessage
  | RateLimitMessage
  | ResultMessage;

/** What all messages have. */
interface Common {
  /** The message's id. */
  uuid: string;
  session_id: string;
}

/** What is no part of the conversation, told apart by its `subtype`. */
export type SystemMessage =
  | InitMessage
  | ApiRetryMessage
  | ModelFallbackMessage
  | StatusMessage
  | CompactBoundaryMessage
  | TaskStartedMessage
  | TaskProgressMessage
  | TaskNotificationMessage
  | HookStartedMessage
  | HookResponseMessage
  | InformationalMessage;

/** The first message of a run: what it works with. */
export interface InitMessage extends Common {
  type: 'system';
  subtype: 'init';
  cwd: string;
  tools: string[];
  model: string;
  permissionMode: PermissionMode;
  /** The MCP servers, each with its status; `mcpServerStatus` of the session has the reasons. */
  mcp_servers: { name: string; status: McpServerStatus['status'] | 'disabled' }[];
  slash_commands: string[];
  apiKeySource: string;
  claude_code_version: string;
  output_style: string;
  agents: string[];
  skills: string[];
  plugins: { name: string; path: string }[];
  betas?: string[];
}

/** A model call failed and is made again after `retry_delay_ms` milliseconds. */
export interface ApiRetryMessage extends Common {
  type: 'system';
  subtype: 'api_retry';
  attempt: number;
  max_retries: number;
  retry_delay_ms: number;
  /** The status of HTTP; `null` if there was no answer. */
  error_status: number | null;
  error: string;
  message: string;
}

/** Another model is asked from here on. */
export interface ModelFallbackMessage extends Common {
  type: 'system';
  subtype: 'model_fallback';
  from: string;
  to: string;
  error: string;
  message: string;
}

/** What the session does beside answering, or a change of its mode. */
export interface StatusMessage extends Common {
  type: 'system';
  subtype: 'status';
  status: 'compacting' | null;
  permissionMode?: PermissionMode;
  compact_result?: string;
  compact_error?: string;
}

/** What was said before stands in a summary from here on. */
export interface CompactBoundaryMessage extends Common {
  type: 'system';
  subtype: 'compact_boundary';
  compact_metadata: { trigger: 'manual' | 'auto'; pre_tokens: number; post_tokens?: number; duration_ms?: number };
}

/** An agent, or a call that goes on in the background, has started. */
export interface TaskStartedMessage extends Common {
  type: 'system';
  subtype: 'task_started';
  task_id: string;
  tool_use_id?: string;
  description: string;
  task_type?: 'local_agent' | 'local_bash' | 'local_tool';
  subagent_type?: string;
  prompt?: string;
  is_backgrounded?: boolean;
}

/** What a task has used so far. */
export interface TaskUsage {
  total_tokens: number;
  tool_uses: number;
  duration_ms: number;
}

/** A task goes on. */
export interface TaskProgressMessage extends Common {
  type: 'system';
  subtype: 'task_progress';
  task_id: string;
  tool_use_id?: string;
  description: string;
  usage: TaskUsage;
  last_tool_name?: string;
}

/** A task has ended. */
export interface TaskNotificationMessage extends Common {
  type: 'system';
  subtype: 'task_notification';
  task_id: string;
  tool_use_id?: string;
  status: 'completed' | 'failed' | 'stopped';
  output_file: string;
  summary: string;
  usage?: TaskUsage;
}

/** A hook runs; with `includeHookEvents: false` there are none of these. */
export interface HookStartedMessage extends Common {
  type: 'system';
  subtype: 'hook_started';
  hook_id: string;
  /** The event with its subject: `PreToolUse:Write`. */
  hook_name: string;
  hook_event: HookEvent;
}

/** A hook has ended. */
export interface HookResponseMessage extends Common {
  type: 'system';
  subtype: 'hook_response';
  hook_id: string;
  hook_name: string;
  hook_event: HookEvent;
  output: string;
  stdout: string;
  /** Why it gave no answer. */
  stderr: string;
  exit_code?: number;
  outcome: 'success' | 'error' | 'cancelled';
}

/** A notice for the person: of a hook, or about one that failed. */
export interface InformationalMessage extends Common {
  type: 'system';
  subtype: 'informational';
  content: string;
  level: 'notice' | 'warning';
}

/** What the model said in a response, or a part of it. */
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
  /** The call of the subagent that says it; `null` for the agent itself. */
  parent_tool_use_id: string | null;
  error?: string;
}

/** What the model was told: results of its calls. */
export interface UserMessage extends Common {
  type: 'user';
  message: { role: 'user'; content: ContentBlock[] };
  parent_tool_use_id: string | null;
  /**
   * What the tool gave for programs. For a tool of an MCP server that is its `structuredContent`; where the tool or its result has a
   * `_meta` (MCP Apps), the whole `CallToolResult` as the server gave it.
   */
  tool_use_result?: unknown;
  isSynthetic?: boolean;
}

/** A prompt of a stream of prompts. What else it has is passed over. */
export interface PromptMessage {
  type: 'user';
  message: { role: 'user'; content: Prompt };
  parent_tool_use_id?: string | null;
  session_id?: string;
  uuid?: string;
}

/** An event of the model's stream as it came; only with `includePartialMessages`. */
export interface StreamEventMessage extends Common {
  type: 'stream_event';
  event: { type: string; [field: string]: any };
  parent_tool_use_id: string | null;
}

/** A call is still running. */
export interface ToolProgressMessage extends Common {
  type: 'tool_progress';
  tool_use_id: string;
  tool_name: string;
  parent_tool_use_id: string | null;
  elapsed_time_seconds: number;
  task_id?: string;
}

/** What the person might say next; only with `promptSuggestions`. */
export interface PromptSuggestionMessage extends Common {
  type: 'prompt_suggestion';
  suggestion: string;
}

/** The limit of the model's server that is nearest to its end. */
export interface RateLimitMessage extends Common {
  type: 'rate_limit_event';
  rate_limit_info: {
    status: 'allowed' | 'allowed_warning' | 'rejected';
    /** Seconds since 1970. */
    resetsAt?: number;
    /** The used part of it, from 0 to 1. */
    utilization?: number;
  };
}

/** The last message of a run. */
export type ResultMessage = ResultSuccess | ResultError;

/** What results have in common. */
interface Ended extends Common {
  type: 'result';
  is_error: boolean;
  duration_ms: number;
  /** Of it, what the model took. */
  duration_api_ms: number;
  num_turns: number;
  stop_reason: string | null;
  total_cost_usd: number;
  usage: Usage;
  modelUsage: Record<string, ModelUsage>;
  permission_denials: PermissionDenial[];
}

/** A run that ended with a text. */
export interface ResultSuccess extends Ended {
  subtype: 'success';
  /** The final text. */
  result: string;
  /** The value that fits the schema of `outputFormat`. */
  structured_output?: unknown;
  errors?: undefined;
}

/** A run that reached a limit or failed. */
export interface ResultError extends Ended {
  subtype: 'error_max_turns' | 'error_max_budget_usd' | 'error_max_structured_output_retries' | 'error_during_execution';
  /** What went wrong. */
  errors: string[];
  result?: undefined;
  structured_output?: undefined;
}

/** A call that was not allowed. */
export interface PermissionDenial {
  tool_name: string;
  tool_use_id: string;
  tool_input: Record<string, unknown>;
}

/** A block of the Messages API. Servers may send further kinds, which are kept as they are. */
export type ContentBlock =
  | { type: 'text'; text: string; [field: string]: unknown }
  | { type: 'thinking'; thinking: string; signature?: string }
  | { type: 'redacted_thinking'; data: string }
  | { type: 'tool_use'; id: string; name: string; input: Record<string, any> }
  | { type: 'tool_result'; tool_use_id: string; content?: string | ContentBlock[]; is_error?: boolean }
  | { type: 'image'; source: { type: string; [field: string]: unknown } }
  | { type: 'document'; source: { type: string; [field: string]: unknown }; [field: string]: unknown }
  | ServerBlock;

/** A block of what the model's server did itself, such as a web search. */
export interface ServerBlock {
  type: 'server_tool_use' | 'web_search_tool_result' | 'web_fetch_tool_result' | 'mcp_tool_use' | 'mcp_tool_result' | 'container_upload';
  [field: string]: unknown;
}

/** The tokens of a response, or of all together. */
export interface Usage {
  input_tokens: number;
  output_tokens: number;
  cache_creation_input_tokens: number;
  cache_read_input_tokens: number;
  server_tool_use: { web_search_requests: number; web_fetch_requests: number };
}

/** The tokens and the cost of a model (Agent SDK reference, `ModelUsage`). */
export interface ModelUsage {
  inputTokens: number;
  outputTokens: number;
  cacheReadInputTokens: number;
  cacheCreationInputTokens: number;
  webSearchRequests: number;
  costUSD: number;
  /** In tokens; 0 if it is not known. */
  contextWindow: number;
  maxOutputTokens: number;
}

// What has no `export` is not to be had from outside.
export {};
