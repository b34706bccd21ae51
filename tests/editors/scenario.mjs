// What a person does in an editor, with any agent that speaks ACP: `node scenario.mjs DIRECTORY PROGRAM [ARGUMENT ...]`.
// The model of `scenario.json` answers.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { choose, Editor } from "./editor.mjs";

const [cwd, ...agent] = process.argv.slice(2);
const greeting = join(cwd, "greeting.txt");

const editor = await Editor.start(agent);
assert.equal(editor.initialized.protocolVersion, 1);
assert.equal(editor.initialized.agentCapabilities.loadSession, true);
const session = await editor.request("session/new", { cwd, mcpServers: [] });
const { sessionId } = session;

await modesAndModels();
await anEditWithAQuestion();
await aRejectedCommand();
await aPromptWithMore();
await aCancelledPrompt();
assert.equal(await editor.end(), 0);
await theSessionGoesOn();

/** Modes and models can be chosen, and the agent says so. */
async function modesAndModels() {
  const modes = session.modes.availableModes.map((mode) => mode.id);
  for (const mode of ["default", "acceptEdits", "plan"]) assert.ok(modes.includes(mode), `${modes}`);
  await editor.request("session/set_mode", { sessionId, modeId: "plan" });
  await editor.request("session/set_mode", { sessionId, modeId: "default" });
  await assert.rejects(editor.request("session/set_mode", { sessionId, modeId: "nonsense" }));

  const option = session.configOptions.find((option) => option.category === "model");
  const other = option.options.find((model) => model.value !== option.currentValue);
  const set = (value) => editor.request("session/set_config_option", { sessionId, configId: option.id, value });
  const { configOptions } = await set(other.value);
  assert.equal(configOptions.find(({ id }) => id === option.id).currentValue, other.value);
  await set(option.currentValue);
  await assert.rejects(set("nonsense"));
}

/** An edit is asked about with its diff, and a plan is shown. */
async function anEditWithAQuestion() {
  writeFileSync(greeting, "Helo, world\n");
  const asked = [];
  editor.onQuestion = (question) => {
    asked.push(question);
    assert.equal(readFileSync(greeting, "utf8"), "Helo, world\n", "nothing is written before the answer");
    return choose(question, "allow_once");
  };
  const { stopReason } = await editor.prompt(sessionId, "Mend the greeting.");
  assert.equal(stopReason, "end_turn");
  assert.match(editor.text(), /I look first\.[^]*Mended\./);
  assert.equal(readFileSync(greeting, "utf8"), "Hello, world\n");

  assert.equal(asked.length, 1);
  const id = asked[0].toolCall.toolCallId;
  const diffs = [asked[0].toolCall, ...editor.updates.filter((update) => update.toolCallId === id)]
    .flatMap((call) => call.content ?? [])
    .filter((content) => content.type === "diff");
  const diff = diffs.find(({ oldText, newText }) => /Helo/.test(oldText) && /Hello/.test(newText));
  assert.ok(diff !== undefined && diff.path === greeting, JSON.stringify(diffs));
  const call = editor.call(id);
  assert.equal(call.status, "completed");
  assert.equal(call.kind, "edit");
  assert.equal(call.locations[0].path, greeting);

  const plan = editor.of("plan").at(-1);
  assert.deepEqual(
    plan.entries.map(({ status }) => status),
    ["completed", "in_progress"],
  );
  assert.match(plan.entries[1].content, /Mend(ing)? the file/);
}

/** What the person rejects does not run, and the agent goes on. */
async function aRejectedCommand() {
  editor.forget();
  editor.onQuestion = (question) => choose(question, "reject_once");
  await editor.prompt(sessionId, "Run the tests.");
  assert.equal(editor.questions.length, 1);
  const { toolCall } = editor.questions[0];
  assert.match(JSON.stringify(toolCall), /make test/);
  assert.equal(editor.call(toolCall.toolCallId).status, "failed");
}

/** A prompt may have images and links to files. */
async function aPromptWithMore() {
  editor.forget();
  const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  await editor.prompt(
    sessionId,
    "What is this?",
    { type: "image", mimeType: "image/png", data: dot },
    { type: "resource_link", name: "notes.md", uri: `file://${join(cwd, "notes.md")}` },
  );
  assert.match(editor.text(), /A dot\./);
}

/** A prompt that is cancelled says so, and the session is usable. */
async function aCancelledPrompt() {
  editor.forget();
  const prompt = editor.prompt(sessionId, "Tell a long story.");
  await editor.until((update) => update.sessionUpdate === "agent_message_chunk");
  await editor.notify("session/cancel", { sessionId });
  assert.equal((await prompt).stopReason, "cancelled");
  assert.doesNotMatch(editor.text(), /had enough/);
}

/** Another process takes the session up, and tells what was said. */
async function theSessionGoesOn() {
  const later = await Editor.start(agent);
  await assert.rejects(
    later.request("session/load", { sessionId: "6c1b2f5e-5d0c-4b8f-9d3e-3a1f6f0e9a11", cwd, mcpServers: [] }),
  );
  await later.request("session/load", { sessionId, cwd, mcpServers: [] });
  const said = later.of("user_message_chunk").map((update) => update.content.text);
  assert.ok(said.some((text) => /Mend the greeting\./.test(text)), `${said}`);
  assert.match(later.text(), /Mended\./);
  const edit = later.updates.find((update) => update.sessionUpdate === "tool_call" && update.kind === "edit");
  assert.equal(later.call(edit.toolCallId).status, "completed");
  later.forget();
  const { stopReason } = await later.prompt(sessionId, "What did you do?");
  assert.equal(stopReason, "end_turn");
  assert.match(later.text(), /I mended the greeting\./);
  assert.equal(await later.end(), 0);
}
