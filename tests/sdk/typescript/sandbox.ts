// Commands are confined by the operating system: unasked in the workspace, and not beyond it.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { ask, results, succeeded } from "./engine.ts";

const said: string[] = [];
const messages = await ask("Work.", {
  sandbox: { enabled: true },
  stderr: (line) => said.push(line),
});
if (said.some((line) => line.includes("commands are not confined here"))) {
  console.log("not tried:", said);
} else {
  const answers = results(messages);
  assert(answers.toolu_1_1.text.includes("within"));
  assert.equal(readFileSync("inside.txt", "utf8"), "within\n");
  assert(answers.toolu_1_2.is_error);
  assert(!existsSync("../outside.txt"));
  assert.deepEqual(succeeded(messages, "Done.").permission_denials, []);
}
