// A callback that denies and interrupts ends the turn; the session goes on with the next prompt.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { Conversation, result, results, succeeded } from "./engine.ts";

const conversation = new Conversation({
  canUseTool: async () => ({ behavior: "deny", message: "Stop all of it.", interrupt: true }),
});
const messages = await conversation.turn("Make a file.");
const end = result(messages);
assert.equal(end.subtype, "error_during_execution");
assert(results(messages).toolu_1_1.is_error && !existsSync("made.txt"));
succeeded(await conversation.turn("Go on without it."), "As you like.");
await conversation.end();
