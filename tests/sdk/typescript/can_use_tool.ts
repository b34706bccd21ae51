// A callback decides what the rules do not: it allows, changes the input, denies with a reason.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import type { PermissionResult } from "@anthropic-ai/claude-agent-sdk";
import { Conversation, results, succeeded } from "./engine.ts";

const asked: [string, unknown, string, number][] = [];
const conversation = new Conversation({
  canUseTool: async (name, input, context): Promise<PermissionResult> => {
    asked.push([name, input.command, context.toolUseID, context.suggestions?.length ?? 0]);
    if (input.command === "touch allowed.txt") return { behavior: "allow", updatedInput: input };
    if (input.command === "touch changed.txt")
      return { behavior: "allow", updatedInput: { ...input, command: "touch instead.txt" } };
    return { behavior: "deny", message: "Not on a Sunday." };
  },
});
const messages = await conversation.turn("Make files.");
await conversation.end();
assert.deepEqual(
  asked.map(([name, command, id]) => [name, command, id]),
  [
    ["Bash", "touch allowed.txt", "toolu_1_1"],
    ["Bash", "touch changed.txt", "toolu_2_1"],
    ["Bash", "touch denied.txt", "toolu_3_1"],
  ],
);
assert(asked[0][3] > 0, "no suggestions");
assert(existsSync("allowed.txt") && existsSync("instead.txt"));
assert(!existsSync("changed.txt") && !existsSync("denied.txt"));
assert(results(messages).toolu_3_1.is_error);
assert(results(messages).toolu_3_1.text.includes("Not on a Sunday."));
assert.deepEqual(
  succeeded(messages, "Made some.").permission_denials.map((denial) => denial.tool_use_id),
  ["toolu_3_1"],
);
