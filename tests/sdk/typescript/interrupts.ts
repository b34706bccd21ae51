// An interrupt in the middle of the stream and in the middle of a tool: the turn ends, the session goes on.
import assert from "node:assert/strict";
import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import { Conversation, result, succeeded } from "./engine.ts";

const conversation = new Conversation({ includePartialMessages: true, allowedTools: ["Bash"] });

async function interrupted(prompt: string, when: (message: SDKMessage) => boolean) {
  let done: Promise<unknown> | undefined;
  conversation.say(prompt);
  const messages = await conversation.answer((message) => {
    // Not awaited here: its answer comes by the stream that is being read.
    if (!done && when(message)) done = conversation.query.interrupt();
  });
  await done;
  return messages;
}

let end = result(
  await interrupted(
    "Tell me a long story.",
    (m) => m.type === "stream_event" && m.event.type === "content_block_delta",
  ),
);
assert.equal(end.subtype, "error_during_execution");
assert.equal(end.terminal_reason, "aborted_streaming");

end = result(
  await interrupted(
    "Sleep.",
    (m) => m.type === "assistant" && m.message.content.some((block) => block.type === "tool_use"),
  ),
);
assert.equal(end.subtype, "error_during_execution");
assert.equal(end.terminal_reason, "aborted_tools");

succeeded(await conversation.turn("Are you there?"), "I am.");
await conversation.end();
