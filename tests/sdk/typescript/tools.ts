// Tools read, write and run; what is allowed by name runs unasked, what is not is denied where nobody can be asked.
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { ask, init, results, succeeded } from "./engine.ts";

writeFileSync("note.txt", "Buy milk.\n");
const messages = await ask("Work.", {
  allowedTools: ["Write", "Bash(touch made.txt)"],
  disallowedTools: ["Glob"],
  tools: ["Read", "Write", "Bash", "Glob"],
});
const about = init(messages);
assert(about.tools.includes("Read") && !about.tools.includes("Glob") && !about.tools.includes("Grep"));
const answers = results(messages);
assert(answers.toolu_1_1.text.includes("Buy milk."));
assert.equal(readFileSync("new.txt", "utf8"), "new\n");
assert(existsSync("made.txt") && !existsSync("other.txt"));
assert(answers.toolu_3_2.is_error);
const end = succeeded(messages, "Done.");
assert.equal(end.num_turns, 5);
assert.deepEqual(
  end.permission_denials.map((denial) => [denial.tool_name, denial.tool_use_id]),
  [["Bash", "toolu_3_2"]],
);
