/** What hooks are told and what they give: the types of the TypeScript Agent SDK (`HookInput`, `HookJSONOutput`). */
import type { PermissionMode, PermissionUpdate } from './index.js';

/** What each event says, by its name. */
export interface HookEvents {
  /** Before a call runs, and before permissions are asked. */
  PreToolUse: ToolCallInput & { tool_use_id: string };
  /** A call has run. */
  PostToolUse: ToolCallInput & { tool_use_id: string; tool_response: unknown; duration_ms?: number };
  /** A call has failed or was cancelled. */
  PostToolUseFailure: ToolCallInput & { tool_use_id: string; error: string; is_interrupt?: boolean; duration_ms?: number };
  /** All calls of a response have ended. */
  PostToolBatch: { tool_calls: (ToolCallInput & { tool_use_id: string; tool_response?: unknown })[] };
  /** A person is asked about a call. */
  PermissionRequest: ToolCallInput & { permission_suggestions?: PermissionUpdate[] };
  /** A call was denied. */
  PermissionDenied: ToolCallInput & { tool_use_id: string; reason: string };
  Notification: { message: string; title?: string; notification_type: string };
  UserPromptSubmit: { prompt: string };
  /** A prompt that is a command has become its text. */
  UserPromptExpansion: {
    expansion_type: 'slash_command' | 'mcp_prompt';
    command_name: string;
    command_args: string;
    command_source?: string;
    prompt: string;
  };
  SessionStart: { source: 'startup' | 'resume' | 'clear' | 'compact'; agent_type?: string; model?: string };
  SessionEnd: { reason: string };
  /** The agent would stop. */
  Stop: { stop_hook_active: boolean; last_assistant_message?: string };
  /** An answer ended because the model could not be asked. */
  StopFailure: { error: string; error_details?: string; last_assistant_message?: string };
  SubagentStart: { agent_id: string; agent_type: string };
  SubagentStop: {
    stop_hook_active: boolean;
    agent_id: string;
    agent_transcript_path: string;
    agent_type: string;
    last_assistant_message?: string;
  };
  PreCompact: { trigger: 'manual' | 'auto'; custom_instructions: string | null };
  PostCompact: { trigger: 'manual' | 'auto'; compact_summary: string };
  InstructionsLoaded: {
    file_path: string;
    memory_type: 'User' | 'Project' | 'Local' | 'Managed';
    load_reason: 'session_start' | 'nested_traversal' | 'path_glob_match' | 'include' | 'compact';
    globs?: string[];
    trigger_file_path?: string;
    parent_file_path?: string;
  };
  /** A command of the shell has left the directory in which the next one begins. */
  CwdChanged: { old_cwd: string; new_cwd: string };
}

interface ToolCallInput {
  tool_name: string;
  /** As the model wrote it; of what form it is, the tool says. */
  tool_input: any;
}

/** An event of a session at which hooks run (Agent SDK reference, `HookEvent`). */
export type HookEvent = keyof HookEvents;

/** What every hook is told. */
export interface BaseHookInput {
  session_id: string;
  transcript_path: string;
  cwd: string;
  permission_mode?: PermissionMode;
  /** The subagent in which it happens. */
  agent_id?: string;
  agent_type?: string;
}

/** What a hook of an event is told. */
export type HookInputOf<Event extends HookEvent> = Event extends HookEvent
  ? BaseHookInput & { hook_event_name: Event } & HookEvents[Event]
  : never;

/** What a hook is told; `hook_event_name` tells the events apart. */
export type HookInput = HookInputOf<HookEvent>;

/** What a hook gives. An output with a field that its event does not have is a failure of the hook. */
export type HookJSONOutput = AsyncHookJSONOutput | SyncHookJSONOutput;

/** The session does not wait for the hook. */
export interface AsyncHookJSONOutput {
  async: true;
  /** How long it may go on, in milliseconds. */
  asyncTimeout?: number;
}

/** What a hook decides. */
export interface SyncHookJSONOutput {
  /** `false` ends the run. */
  continue?: boolean;
  /** Why, for the person. */
  stopReason?: string;
  suppressOutput?: boolean;
  decision?: 'approve' | 'block';
  /** Why, for the model. */
  reason?: string;
  /** A notice for the person. */
  systemMessage?: string;
  hookSpecificOutput?: HookSpecificOutput;
}

/** What only hooks of one event can give. */
export type HookSpecificOutput =
  | {
      hookEventName: 'PreToolUse';
      permissionDecision?: 'allow' | 'deny' | 'ask' | 'defer';
      permissionDecisionReason?: string;
      updatedInput?: Record<string, unknown>;
      additionalContext?: string;
    }
  | { hookEventName: 'PostToolUse'; additionalContext?: string; updatedMCPToolOutput?: unknown }
  | {
      hookEventName: 'PermissionRequest';
      decision:
        | { behavior: 'allow'; updatedInput?: Record<string, unknown>; updatedPermissions?: PermissionUpdate[] }
        | { behavior: 'deny'; message?: string; interrupt?: boolean };
    }
  | { hookEventName: 'PermissionDenied'; retry?: boolean }
  | {
      hookEventName: Exclude<HookEvent, 'PreToolUse' | 'PostToolUse' | 'PermissionRequest' | 'PermissionDenied'>;
      additionalContext?: string;
    };

/** Gives the output of a hook (Agent SDK reference, `HookCallback`); nothing means no opinion. */
export type HookCallback<Event extends HookEvent = HookEvent> = (
  input: HookInputOf<Event>,
  toolUseID: string | undefined,
  /** `effectId` is the same when the hook is run again after a crash, so that it can serve as an idempotency key. */
  context: { signal: AbortSignal; effectId: string },
) => HookJSONOutput | void | Promise<HookJSONOutput | void>;

/** Hooks of one event (Agent SDK reference, `HookCallbackMatcher`). */
export interface HookCallbackMatcher<Event extends HookEvent = HookEvent> {
  /** The tools that they run for, or what else the event is about; everything if left out. */
  matcher?: string;
  /** What runs then. A callback that takes the input of every event can stand at any. */
  hooks: HookCallback<Event>[];
  /** How long each may take, in seconds; default 60. */
  timeout?: number;
}

// What has no `export` is not to be had from outside.
export {};
