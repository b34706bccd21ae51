// The model's stream as it comes, where it is asked for, and none of it where it is not.
import assert from "node:assert/strict";
import { ask, succeeded, texts } from "./engine.ts";

let messages = await ask("Think.", { includePartialMessages: true });
const events = messages.flatMap((m) => (m.type === "stream_event" ? [m] : []));
assert.equal(events.at(0)?.event.type, "message_start");
assert.equal(events.at(-1)?.event.type, "message_stop");
assert(events.every((event) => event.parent_tool_use_id === null && event.uuid));
let [thought, said] = ["", ""];
for (const { event } of events) {
  if (event.type !== "content_block_delta") continue;
  if (event.delta.type === "thinking_delta") thought += event.delta.thinking;
  if (event.delta.type === "text_delta") said += event.delta.text;
}
assert.deepEqual([thought, said], ["Let me see.", "A rather long answer, in pieces."]);
succeeded(messages, "A rather long answer, in pieces.");

messages = await ask("Think again.");
assert(!messages.some((m) => m.type === "stream_event"));
assert.deepEqual(texts(messages), ["Without pieces."]);
