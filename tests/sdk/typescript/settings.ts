// Settings, agents, commands and instructions come from the sources that are named, and from no others.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { ask, init, results, succeeded } from "./engine.ts";

mkdirSync(".claude/agents", { recursive: true });
mkdirSync(".claude/commands");
writeFileSync(".claude/agents/reviewer.md", "---\nname: reviewer\ndescription: Reviews\n---\nYou review.\n");
writeFileSync(".claude/commands/commit.md", "---\ndescription: Commits\n---\nCommit it.\n");
writeFileSync(".claude/settings.local.json", JSON.stringify({ outputStyle: "pirate" }));
writeFileSync(
  ".claude/settings.json",
  JSON.stringify({ permissions: { deny: ["Read(secret.txt)"] } }),
);
writeFileSync("CLAUDE.md", "Always answer in verse.\n");
writeFileSync("secret.txt", "hidden\n");

let messages = await ask("With.", { settingSources: ["user", "project", "local"] });
succeeded(messages, "In verse.");
let about = init(messages);
assert(about.agents?.includes("reviewer") && about.slash_commands.includes("commit"));
assert.equal(about.output_style, "pirate");
assert(results(messages).toolu_1_1.is_error);

messages = await ask("Without.", { settingSources: [] });
succeeded(messages, "In prose.");
about = init(messages);
assert(!about.agents?.includes("reviewer") && !about.slash_commands.includes("commit"));
assert.equal(about.output_style, "default");
