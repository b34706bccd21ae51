// MCP servers over HTTP: both transports, one that lets nobody in, and one that is not there.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Conversation, init, results, succeeded, TESTS } from "./engine.ts";

const server = spawn("python3", [join(TESTS, "servers/http_notes.py")], {
  stdio: ["pipe", "pipe", "inherit"],
});
const [origin] = await once(createInterface(server.stdout), "line");
const headers = { Authorization: "Bearer ${NOBODY_SET_THIS:-let-me-in-please}" };
const conversation = new Conversation({
  mcpServers: {
    notes: { type: "http", url: `${origin}/mcp`, headers },
    old: { type: "sse", url: `${origin}/sse`, headers },
    locked: { type: "http", url: `${origin}/mcp` },
    absent: { type: "http", url: "http://127.0.0.1:9/mcp" },
  },
  allowedTools: ["mcp__notes", "mcp__old"],
});
const messages = await conversation.turn("Look at the notes.");
succeeded(messages, "Seen.");
assert.deepEqual(
  Object.fromEntries(init(messages).mcp_servers.map(({ name, status }) => [name, status])),
  { notes: "connected", old: "connected", locked: "needs-auth", absent: "failed" },
);
assert.equal(results(messages).toolu_1_1.text, "buy milk (today)");
assert.equal(results(messages).toolu_1_2.text, "buy milk (yesterday)");
const status = new Map(
  (await conversation.query.mcpServerStatus()).map((server) => [server.name, server]),
);
assert.equal(status.get("notes")?.serverInfo?.name, "notes");
assert.match(status.get("locked")?.error ?? "", /\(401\)/);
assert.match(status.get("absent")?.error ?? "", /cannot reach/);
await conversation.end();
server.stdin.end();
