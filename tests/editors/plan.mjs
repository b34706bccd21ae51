// A plan that is approved, and what is allowed for the rest of a session: `node plan.mjs DIRECTORY PROGRAM [ARGUMENT ...]`.
// The model of `plan.json` answers.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { choose, Editor } from "./editor.mjs";

const [cwd, ...agent] = process.argv.slice(2);
const editor = await Editor.start(agent);
const { sessionId } = await editor.request("session/new", { cwd, mcpServers: [] });
await editor.request("session/set_mode", { sessionId, modeId: "plan" });
editor.onQuestion = (question) => choose(question, "allow_always");
const { stopReason } = await editor.prompt(sessionId, "Plan it.");
assert.equal(stopReason, "end_turn");
assert.match(editor.text(), /It is done\./);

// The plan is asked about, then the command once; the write runs because the plan was approved with its edits.
const kinds = editor.questions.map(({ toolCall }) => toolCall.kind);
assert.deepEqual(kinds, ["switch_mode", "execute"]);
assert.match(JSON.stringify(editor.questions[0].toolCall.content), /Write the file\./);
const modes = editor.of("current_mode_update").map((update) => update.currentModeId);
assert.deepEqual(modes, ["plan", "acceptEdits"]);
assert.equal(readFileSync(join(cwd, "done.txt"), "utf8"), "Done.\n");
assert.equal(await editor.end(), 0);
