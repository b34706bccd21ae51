// A subagent defined by option: named at the start, run by the Agent tool, its frames marked as its own.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { ask, init, results, spoken, succeeded } from "./engine.ts";

writeFileSync("note.txt", "Buy milk.\n");
const agents = {
  reader: {
    description: "Reads notes",
    prompt: "You read notes.",
    tools: ["Read"],
    model: "haiku" as const,
  },
};
let messages = await ask("Have it read.", { agents });
assert(init(messages).agents?.includes("reader"));
succeeded(messages, "Milk.");
assert(results(messages).toolu_1_1.text.includes("It says: buy milk."));
assert.equal(spoken(messages).filter((m) => m.parent_tool_use_id === "toolu_1_1").length, 1);
const started = messages.find((m) => m.type === "system" && m.subtype === "task_started");
const ended = messages.find((m) => m.type === "system" && m.subtype === "task_notification");
assert(started && ended, "no task messages");

messages = await ask("Have it read.", { agents, forwardSubagentText: true });
const own = spoken(messages).filter((m) => m.parent_tool_use_id);
const said = own.flatMap((m) => m.message.content.flatMap((b) => (b.type === "text" ? [b.text] : [])));
assert.deepEqual(said, ["It says: buy milk."]);
