// Where a query works, what it has there, what it says of itself: cwd, further directories, variables, standard error.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { ask, init, results, succeeded, WORK } from "./engine.ts";

mkdirSync("project/.claude", { recursive: true });
mkdirSync("library");
writeFileSync("library/book.txt", "Chapter one.\n");
writeFileSync("project/note.txt", "Buy milk.\n");
writeFileSync("project/.claude/settings.json", JSON.stringify({ env: { FEATURE_FLAG: "yes" } }));
const said: string[] = [];
const messages = await ask("Look around.", {
  cwd: `${WORK}/project`,
  additionalDirectories: [`${WORK}/library`],
  allowedTools: ["Bash"],
  env: { ...process.env, FROM_OPTIONS: "too", CLAUDE_AGENT_SDK_CLIENT_APP: "tests/1.0" },
  stderr: (text) => said.push(text),
});
succeeded(messages, "Seen.");
assert.equal(init(messages).cwd, realpathSync("project"));
const seen = results(messages);
assert.match(seen.toolu_1_1.text, /Buy milk/);
assert.match(seen.toolu_1_2.text, /Chapter one/);
assert.match(seen.toolu_1_3.text, /yes too/);
assert.equal(said.length, 0, said.join(""));

succeeded(await ask("Louder.", { debug: true, stderr: (text) => said.push(text) }), "Louder.");
assert(said.length > 0, "debug is told on standard error");
said.length = 0;
const debugFile = `${WORK}/debug.log`;
succeeded(await ask("Into a file.", { debugFile, stderr: (text) => said.push(text) }), "Filed.");
assert(readFileSync(debugFile, "utf8").length > 0 && said.length === 0);
