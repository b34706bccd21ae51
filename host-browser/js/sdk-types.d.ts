/** Types by the names that they have in the TypeScript Agent SDK, for programs that were written for it. */
import type { HookInputOf } from './hook-events.js';
import type { AgentOptions } from './index.js';
import type * as messages from './messages.js';
import type { SessionInfo } from './stored-sessions.js';

export type Options = AgentOptions & { abortController?: AbortController };
export type SDKSessionInfo = SessionInfo;

export type SDKMessage = messages.Message;
export type SDKAssistantMessage = messages.AssistantMessage;
export type SDKUserMessage = messages.PromptMessage;
export type SDKUserMessageReplay = messages.UserMessage;
export type SDKResultMessage = messages.ResultMessage;
export type SDKResultSuccess = messages.ResultSuccess;
export type SDKResultError = messages.ResultError;
export type SDKSystemMessage = messages.InitMessage;
export type SDKPartialAssistantMessage = messages.StreamEventMessage;
export type SDKCompactBoundaryMessage = messages.CompactBoundaryMessage;
export type SDKPermissionDenial = messages.PermissionDenial;

export type PreToolUseHookInput = HookInputOf<'PreToolUse'>;
export type PostToolUseHookInput = HookInputOf<'PostToolUse'>;
export type PostToolUseFailureHookInput = HookInputOf<'PostToolUseFailure'>;
export type NotificationHookInput = HookInputOf<'Notification'>;
export type UserPromptSubmitHookInput = HookInputOf<'UserPromptSubmit'>;
export type SessionStartHookInput = HookInputOf<'SessionStart'>;
export type SessionEndHookInput = HookInputOf<'SessionEnd'>;
export type StopHookInput = HookInputOf<'Stop'>;
export type SubagentStartHookInput = HookInputOf<'SubagentStart'>;
export type SubagentStopHookInput = HookInputOf<'SubagentStop'>;
export type PreCompactHookInput = HookInputOf<'PreCompact'>;
export type PermissionRequestHookInput = HookInputOf<'PermissionRequest'>;

// What has no `export` is not to be had from outside.
export {};
