// The mode and the model can be changed between turns, and hold from then on.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { Conversation, init, MODEL, results, succeeded } from "./engine.ts";

const conversation = new Conversation();
let messages = await conversation.turn("Write one.");
succeeded(messages, "Refused.");
assert(results(messages).toolu_1_1.is_error && !existsSync("one.txt"));

await conversation.query.setPermissionMode("acceptEdits");
messages = await conversation.turn("Write two.");
succeeded(messages, "Written.");
assert.equal(init(messages).permissionMode, "acceptEdits");
assert.equal(readFileSync("two.txt", "utf8"), "2\n");

await conversation.query.setModel("claude-haiku-4-5");
messages = await conversation.turn("Who are you?");
assert.equal(init(messages).model, "claude-haiku-4-5");
const end = succeeded(messages, "Haiku.");
assert.deepEqual(Object.keys(end.modelUsage).sort(), ["claude-haiku-4-5", MODEL]);
await conversation.end();
