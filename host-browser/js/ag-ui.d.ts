/**
 * The messages of a run as AG-UI events, for user interfaces that speak this protocol (https://docs.ag-ui.com). The types are those of
 * `@ag-ui/core`: install it beside windlass where you use them. Nothing of it is loaded.
 */
import type { Event } from '@ag-ui/core';
import type { Message } from './index.js';

export interface AgUiOptions {
  /** The thread; the id of the session if left out. */
  threadId?: string;
  /** The run; a random id if left out. Where messages go on behind a result, they are a run of their own with a random id. */
  runId?: string;
  /** The run that this one follows. */
  parentRunId?: string;
}

/**
 * The events of the messages of `Agent.query`, `Session.prompt` or `query`, as they come. With `includePartialMessages` texts, thinking and
 * inputs of calls are told while they arrive, without it when they are complete; never twice.
 *
 * | messages | events |
 * |---|---|
 * | the first one | `RUN_STARTED` |
 * | the result | `RUN_FINISHED` with `result`, `outcome` and `usage` per model, or `RUN_ERROR` with the subtype as `code` |
 * | text, thinking, calls | `TEXT_MESSAGE_*`, `REASONING_*`, `TOOL_CALL_START`, `_ARGS`, `_END` |
 * | results of calls | `TOOL_CALL_RESULT`; `metadata.isError`, and `metadata.toolUseResult` for programs |
 * | those of a subagent | the same with its `subagentRunId`, between `SUBAGENT_STARTED` and `SUBAGENT_FINISHED` or `SUBAGENT_ERROR` |
 * | all others | `CUSTOM`: `windlass.system.init`, `windlass.tool_progress`, …, with the message as its `value` |
 *
 * The last event is `RUN_FINISHED` or `RUN_ERROR`, also when the messages throw: an interrupt, an abort without a reason of yours, and
 * messages that end without a result are the outcome `cancelled`. Leaving the loop stops the run.
 */
export function agUiEvents(messages: AsyncIterable<Message>, options?: AgUiOptions): AsyncGenerator<Event, void>;

/**
 * The same as a response of server-sent events, as `HttpAgent` of `@ag-ui/client` reads it; for a worker at the edge or a server. When the
 * client goes, the run is stopped.
 */
export function agUiResponse(messages: AsyncIterable<Message>, options?: AgUiOptions): Response;
