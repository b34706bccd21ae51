// A query that is closed ends at once, whatever runs; nothing of it is left.
import assert from "node:assert/strict";
import { query } from "@anthropic-ai/claude-agent-sdk";
import { options } from "./engine.ts";

const running = query({ prompt: "Sleep.", options: options({ allowedTools: ["Bash"] }) });
let closed = false;
try {
  for await (const message of running) {
    const calls =
      message.type === "assistant" && message.message.content.some((b) => b.type === "tool_use");
    if (!calls) continue;
    closed = true;
    running.close();
  }
} catch {
  // Whether the stream ends or breaks is the SDK's affair.
}
assert(closed);
