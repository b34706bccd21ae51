// An external MCP server: reached by pipe, its tools called, its status told, switched off and on, exchanged.
import assert from "node:assert/strict";
import { join } from "node:path";
import { Conversation, init, results, succeeded, TESTS } from "./engine.ts";

const notes = {
  command: "python3",
  args: [join(TESTS, "servers/notes.py")],
  env: { NOTE: "from ${HOME:-nowhere}" },
};
const conversation = new Conversation({
  mcpServers: { notes, absent: { type: "stdio", command: "/nowhere/server" } },
  allowedTools: ["mcp__notes"],
});
const { query } = conversation;
const server = async (name: string) =>
  (await query.mcpServerStatus()).find((status) => status.name === name);

let messages = await conversation.turn("Look at the note.");
succeeded(messages, "Seen.");
assert.deepEqual(
  Object.fromEntries(init(messages).mcp_servers.map(({ name, status }) => [name, status])),
  { notes: "connected", absent: "failed" },
);
assert(results(messages).toolu_1_1.text.startsWith("from /"));
assert.equal((await server("notes"))?.serverInfo?.name, "notes");
const read = (await server("notes"))?.tools?.find((tool) => tool.name === "read");
assert.equal(read?.annotations?.readOnly, true);
assert((await server("absent"))?.error);

await query.toggleMcpServer("notes", false);
assert.equal((await server("notes"))?.status, "disabled");
messages = await conversation.turn("And now?");
succeeded(messages, "Gone.");
assert(!init(messages).tools.includes("mcp__notes__read"));

await query.toggleMcpServer("notes", true);
messages = await conversation.turn("Break it.");
succeeded(messages, "Broken.");
assert(results(messages).toolu_4_1.is_error);
await query.reconnectMcpServer("notes");
messages = await conversation.turn("Once more.");
succeeded(messages, "Seen again.");
assert(!results(messages).toolu_6_1.is_error);
await conversation.end();
