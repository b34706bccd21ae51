// What goes wrong between an editor and `windlass acp`: `node wrong.mjs DIRECTORY PROGRAM [ARGUMENT ...]`.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const [cwd, program, ...args] = process.argv.slice(2);

/** An agent to which lines are written as they are. */
function start(env = process.env) {
  const agent = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"], env });
  const lines = createInterface({ input: agent.stdout })[Symbol.asyncIterator]();
  return {
    /** Writes a line and gives the next message that is an answer. */
    async ask(line) {
      agent.stdin.write(`${typeof line === "string" ? line : JSON.stringify(line)}\n`);
      for (;;) {
        const message = JSON.parse((await lines.next()).value);
        if ("id" in message && !("method" in message)) return message;
      }
    },
    end() {
      agent.stdin.end();
      return new Promise((done) => agent.once("exit", done));
    },
  };
}

const call = (id, method, params = {}) => ({ jsonrpc: "2.0", id, method, params });

const agent = start();
for (const [line, code, words] of [
  ["no message", -32700, /expected/],
  ["[]", -32600, /./],
  [call(2, "session/forget"), -32601, /session\/forget/],
  [call(3, "session/new", {}), -32602, /cwd/],
  [call(4, "session/new", { cwd: "/no/such/directory", mcpServers: [] }), -32602, /no such directory|is no directory/],
  [call(5, "session/prompt", { sessionId: "x", prompt: [] }), -32002, /no open session x/],
  [call(6, "session/load", { sessionId: "x", cwd, mcpServers: [] }), -32002, /no session x/],
]) {
  const { error } = await agent.ask(line);
  assert.equal(error?.code, code, JSON.stringify(line));
  assert.match(error.message, words);
}
// After all of this a session begins.
const { result } = await agent.ask(call(7, "session/new", { cwd, mcpServers: [] }));
const { sessionId } = result;
const audio = { type: "audio", data: "", mimeType: "audio/wav" };
const refused = await agent.ask(call(8, "session/prompt", { sessionId, prompt: [audio] }));
assert.equal(refused.error.code, -32602);
assert.match(refused.error.message, /audio/);
const listed = await agent.ask(call(9, "session/list", { cwd }));
assert.deepEqual(listed.result.sessions, []);
assert.deepEqual((await agent.ask(call(10, "session/close", { sessionId }))).result, {});
assert.equal((await agent.ask(call(11, "session/close", { sessionId }))).error.code, -32002);
assert.equal(await agent.end(), 0);

// Without a key it says which variable is missing.
const { ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL, ...without } = process.env;
const keyless = start(without);
const { error } = await keyless.ask(call(1, "session/new", { cwd, mcpServers: [] }));
assert.equal(error.code, -32000);
assert.match(error.message, /ANTHROPIC_API_KEY/);
assert.equal(await keyless.end(), 0);
