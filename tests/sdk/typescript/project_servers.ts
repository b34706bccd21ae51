// The servers of a project's `.mcp.json`: started where the project is a source, their variables expanded, their tools named
// after them; left out where the caller's servers are to be the only ones, or settings switch them off.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ask, Conversation, init, results, succeeded, TESTS } from "./engine.ts";

const script = join(TESTS, "servers/notes.py");
const server = {
  command: "${PYTHON:-python3}",
  args: [script],
  env: { NOTE: "${WHO} writes ${WHAT:-nothing}" },
};
writeFileSync(".mcp.json", JSON.stringify({ mcpServers: { notes: server, "over there": server, off: server } }));
mkdirSync(".claude");
writeFileSync(".claude/settings.json", JSON.stringify({ disabledMcpjsonServers: ["off"] }));
const env = { ...process.env, WHO: "Ada" };
const conversation = new Conversation({ env, allowedTools: ["mcp__notes", "mcp__over_there__read"] });
const messages = await conversation.turn("Read the notes.");
succeeded(messages, "Read.");
assert.deepEqual(init(messages).mcp_servers.map(({ name, status }) => `${name}: ${status}`).sort(), [
  "notes: connected",
  "over there: connected",
]);
assert.match(results(messages).toolu_1_1.text, /^Ada writes nothing/);
assert.match(results(messages).toolu_1_2.text, /^Ada writes nothing/);
const [notes] = await conversation.query.mcpServerStatus();
assert.equal(notes.scope, "project");
await conversation.end();

const own = { mine: { command: "python3", args: [script] } };
let about = init(await ask("Mine alone.", { env, strictMcpConfig: true, mcpServers: own }));
assert.deepEqual(about.mcp_servers.map(({ name }) => name), ["mine"]);
about = init(await ask("Without a word.", { env, mcpServers: own, mcpServersDelivery: "initialize", settingSources: [] }));
assert.deepEqual(about.mcp_servers.map(({ name }) => name), ["mine"]);
