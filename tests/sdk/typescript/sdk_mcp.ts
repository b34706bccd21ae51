// Tools defined in the program: offered under their server's name, called with checked input, failing as data.
import assert from "node:assert/strict";
import { createSdkMcpServer, tool } from "@anthropic-ai/claude-agent-sdk";
import { z } from "zod";
import { Conversation, init, results, succeeded } from "./engine.ts";

const numbers = { a: z.number(), b: z.number() };
const calls: unknown[] = [];
const add = tool("add", "Adds two numbers", numbers, async (given) => {
  calls.push(given);
  return { content: [{ type: "text", text: `${given.a + given.b}` }] };
});
const divide = tool("divide", "Divides two numbers", numbers, async ({ a, b }) =>
  b === 0
    ? { content: [{ type: "text", text: "Division by zero." }], isError: true }
    : { content: [{ type: "text", text: `${a / b}` }] },
);
const explode = tool("explode", "Fails", {}, async () => {
  throw new Error("boom");
});
const conversation = new Conversation({
  mcpServers: { calc: createSdkMcpServer({ name: "calculator", tools: [add, divide, explode] }) },
  allowedTools: ["mcp__calc__add", "mcp__calc__divide", "mcp__calc__explode"],
});
const messages = await conversation.turn("Calculate.");
const [status] = await conversation.query.mcpServerStatus();
assert.deepEqual([status.name, status.status], ["calc", "connected"]);
await conversation.end();
assert(init(messages).tools.includes("mcp__calc__add"));
succeeded(messages, "42.");
const answers = results(messages);
assert.equal(answers.toolu_1_1.text, "42");
assert(answers.toolu_1_2.is_error && answers.toolu_1_2.text === "Division by zero.");
assert(answers.toolu_1_3.is_error && answers.toolu_1_3.text.includes("boom"));
assert(answers.toolu_2_1.is_error, "the input does not fit");
assert.deepEqual(calls, [{ a: 40, b: 2 }]);
