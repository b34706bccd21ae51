// A hook before a tool denies it, allows it unasked or changes its input; matchers choose the tools.
import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import type { HookCallback } from "@anthropic-ai/claude-agent-sdk";
import { ask, results, succeeded } from "./engine.ts";

writeFileSync("note.txt", "Buy milk.\n");
const seen: [string, string | undefined][] = [];
const judge: HookCallback = async (input, id) => {
  assert(input.hook_event_name === "PreToolUse");
  const given = input.tool_input as { command: string };
  seen.push([given.command, id]);
  const hookEventName = "PreToolUse" as const;
  if (given.command.includes("denied"))
    return {
      hookSpecificOutput: {
        hookEventName,
        permissionDecision: "deny",
        permissionDecisionReason: "House rules.",
      },
    };
  const command = given.command.replace("before", "after");
  return {
    hookSpecificOutput: {
      hookEventName,
      permissionDecision: "allow",
      updatedInput: { ...given, command },
    },
  };
};
const hooks = { PreToolUse: [{ matcher: "Bash|Write", hooks: [judge] }] };
const messages = await ask("Work.", { hooks });
succeeded(messages, "Finished.");
assert.deepEqual(seen, [
  ["touch denied.txt", "toolu_1_1"],
  ["touch allowed.txt", "toolu_2_1"],
  ["touch before.txt", "toolu_3_1"],
]);
assert(results(messages).toolu_1_1.text.includes("House rules."));
assert(existsSync("allowed.txt") && existsSync("after.txt"));
assert(!existsSync("denied.txt") && !existsSync("before.txt"));
