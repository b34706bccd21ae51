// Every hook event of the SDK can be registered, and those that come about arrive with what they promise.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { HOOK_EVENTS, type HookCallback, type HookInput } from "@anthropic-ai/claude-agent-sdk";
import { ask, succeeded, WORK } from "./engine.ts";

writeFileSync("note.txt", "Buy milk.\n");
writeFileSync("CLAUDE.md", "Be brief.\n");
mkdirSync(".claude/commands", { recursive: true });
writeFileSync(".claude/commands/errands.md", "Read, fail, delegate.\n");
const seen: [HookInput, string | undefined][] = [];
const note: HookCallback = async (input, id) => {
  seen.push([input, id]);
  return {};
};
const hooks = Object.fromEntries(HOOK_EVENTS.map((event) => [event, [{ hooks: [note] }]]));
const agents = { reader: { description: "reads", prompt: "Read.", tools: ["Read"] } };
const options = { hooks, agents, settingSources: ["project" as const], extraArgs: { init: null } };
succeeded(await ask("/errands", options), "All done.");

const names = seen.map(([input]) => input.hook_event_name);
for (const wanted of [
  "UserPromptSubmit",
  "PreToolUse",
  "PostToolUse",
  "PostToolUseFailure",
  "PermissionRequest",
  "SubagentStart",
  "SubagentStop",
  "Stop",
  "PostToolBatch",
  "PermissionDenied",
  "InstructionsLoaded",
  "UserPromptExpansion",
  "Setup",
])
  assert(names.includes(wanted as HookInput["hook_event_name"]), `no ${wanted} in ${names}`);
for (const [input] of seen) {
  assert(input.session_id && input.transcript_path.endsWith(".jsonl"), JSON.stringify(input));
  assert.equal(input.cwd, WORK);
}
const [before, id] = seen.find(([input]) => input.hook_event_name === "PreToolUse")!;
assert.equal(id, "toolu_1_1");
assert(before.hook_event_name === "PreToolUse" && before.tool_name === "Read");
