// The set of MCP servers is exchanged while the session runs, with an account of what changed.
import assert from "node:assert/strict";
import { join } from "node:path";
import { Conversation, init, results, succeeded, TESTS } from "./engine.ts";

const notes = { command: "python3", args: [join(TESTS, "servers/notes.py")], env: { NOTE: "late" } };
const conversation = new Conversation({ allowedTools: ["mcp__notes"] });
let messages = await conversation.turn("Is there a note?");
succeeded(messages, "No.");

let changed = await conversation.query.setMcpServers({
  notes,
  absent: { command: "/nowhere/server" },
});
assert(changed.added.includes("notes"), JSON.stringify(changed));
assert(changed.errors.absent, JSON.stringify(changed));
messages = await conversation.turn("And now?");
succeeded(messages, "Now there is.");
assert(init(messages).tools.includes("mcp__notes__read"));
assert(results(messages).toolu_2_1.text.startsWith("late"));

changed = await conversation.query.setMcpServers({});
assert(changed.removed.includes("notes"), JSON.stringify(changed));
messages = await conversation.turn("Still?");
succeeded(messages, "No more.");
await conversation.end();
