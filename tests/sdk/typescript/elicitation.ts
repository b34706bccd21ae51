// An MCP server asks the person, and the program answers for them.
import assert from "node:assert/strict";
import { join } from "node:path";
import { Conversation, results, succeeded, TESTS } from "./engine.ts";

const asking = { command: "python3", args: [join(TESTS, "servers/asking.py")] };
const asked: unknown[] = [];
const conversation = new Conversation({
  mcpServers: { asking },
  allowedTools: ["mcp__asking"],
  onElicitation: async ({ serverName, message, requestedSchema }) => {
    asked.push([serverName, message, requestedSchema?.required]);
    return { action: "accept", content: { name: "Ada" } };
  },
});
const messages = await conversation.turn("Ask who I am.");
succeeded(messages, "Ada, then.");
assert.deepEqual(asked, [["asking", "Who are you?", ["name"]]]);
assert(results(messages).toolu_1_1.text.includes('"name": "Ada"'));
await conversation.end();
