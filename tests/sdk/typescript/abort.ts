// An aborted query stops the model and the running tool, and tells the caller by an error of its own.
import assert from "node:assert/strict";
import { AbortError, query } from "@anthropic-ai/claude-agent-sdk";
import { options } from "./engine.ts";

const abortController = new AbortController();
const running = query({
  prompt: "Sleep.",
  options: options({ abortController, allowedTools: ["Bash"] }),
});
await assert.rejects(async () => {
  for await (const message of running) {
    const calls =
      message.type === "assistant" && message.message.content.some((b) => b.type === "tool_use");
    if (calls) abortController.abort();
  }
}, AbortError);
