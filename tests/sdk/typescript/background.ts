// A command in the background: told when it starts, its output read, stopped by its id, told when it has ended.
import assert from "node:assert/strict";
import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import { Conversation, succeeded } from "./engine.ts";

const conversation = new Conversation({ allowedTools: ["Bash"] });
const { query } = conversation;
const messages = await conversation.turn("Wait in the background.");
succeeded(messages, "It waits.");
const started = messages.find((m) => m.type === "system" && m.subtype === "task_started");
assert(started?.type === "system" && started.subtype === "task_started");
await query.stopTask(started.task_id);
let message: SDKMessage;
do {
  const next = await query.next();
  assert(!next.done);
  message = next.value;
} while (message.type !== "system" || message.subtype !== "task_notification");
assert.deepEqual([message.task_id, message.status], [started.task_id, "stopped"]);
await conversation.end();
