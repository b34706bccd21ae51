// What a query is begun with, by options that say little: an agent of its own, settings, skills, a title, words taken as they are,
// a tool that decides, a session's id.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { createSdkMcpServer, tool } from "@anthropic-ai/claude-agent-sdk";
import { z } from "zod";
import { ask, askInVain, init, results, succeeded, WORK } from "./engine.ts";

const agents = { poet: { description: "Writes", prompt: "You write verse.", model: "haiku", tools: [] } };
let messages = await ask("As an agent.", { agents, agent: "poet" });
succeeded(messages, "1");

mkdirSync(".claude/skills/knots", { recursive: true });
mkdirSync(".claude/skills/sails", { recursive: true });
mkdirSync(".claude/commands", { recursive: true });
for (const name of ["knots", "sails"])
  writeFileSync(`.claude/skills/${name}/SKILL.md`, `---\nname: ${name}\ndescription: About ${name}\n---\nDo it.\n`);
writeFileSync(".claude/commands/greet.md", "Greet warmly.\n");
messages = await ask("With skills.", { skills: ["knots"] });
succeeded(messages, "2");
assert.deepEqual(init(messages).skills, ["knots"]);
succeeded(await ask("/greet", { verbatimPrompts: true }), "3");
succeeded(await ask("/greet"), "4");

messages = await ask("By settings.", {
  settings: { model: "claude-haiku-4-5", permissions: { allow: ["Bash(touch:*)"] } },
  managedSettings: { permissions: { deny: ["Bash(touch secret.txt)"] } },
  model: undefined,
});
succeeded(messages, "6");
const ran = results(messages);
assert(!ran.toolu_5_1.is_error && ran.toolu_5_2.is_error, JSON.stringify(ran));

mkdirSync("checkout/.claude", { recursive: true });
mkdirSync("branch/.claude", { recursive: true });
writeFileSync("checkout/.claude/settings.json", JSON.stringify({ outputStyle: "trusted" }));
writeFileSync("branch/.claude/settings.json", JSON.stringify({ outputStyle: "untrusted" }));
messages = await ask("In a branch.", { cwd: `${WORK}/branch`, projectConfigRoot: `${WORK}/checkout` });
succeeded(messages, "7");
assert.equal(init(messages).output_style, "trusted");

const asked: unknown[] = [];
const decide = tool("decide", "Decides", { tool_name: z.string(), input: z.any() }, async ({ tool_name, input }) => {
  asked.push(tool_name);
  return { content: [{ type: "text", text: JSON.stringify({ behavior: "allow", updatedInput: input }) }] };
});
messages = await ask("Who decides?", {
  mcpServers: { judge: createSdkMcpServer({ name: "judge", tools: [decide] }) },
  permissionPromptToolName: "mcp__judge__decide",
});
succeeded(messages, "9");
assert(!results(messages).toolu_8_1.is_error && asked.length === 1, JSON.stringify(results(messages)));

messages = await ask("Without asking.", {
  permissionMode: "bypassPermissions",
  allowDangerouslySkipPermissions: true,
  env: { ...process.env, IS_SANDBOX: "1" },
});
succeeded(messages, "11");
assert(!results(messages).toolu_10_1.is_error);

const sessionId = randomUUID();
messages = await ask("With an id.", { sessionId });
assert.equal(succeeded(messages, "12").session_id, sessionId);
const { error } = await askInVain("With the same id.", { sessionId });
assert.match(error.message, /already in use/);
