// What can be changed under a query that runs: settings, files it was begun with, what the model has read.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { Conversation, init, results, succeeded } from "./engine.ts";

writeFileSync("note.txt", "Buy milk.\n");
writeFileSync("seen.txt", "one\n");
writeFileSync("late.txt", "one\n");
const conversation = new Conversation({
  permissionMode: "acceptEdits",
  allowedTools: ["Bash"],
  systemPrompt: { type: "preset", preset: "claude_code" },
});
const { query } = conversation;
succeeded(await conversation.turn("Hello."), "1");

// All of it, or nothing and the reason.
await assert.rejects(
  query.applyFlagSettings({ model: "claude-haiku-4-5", cleanupPeriodDays: 3 }),
  /cleanupPeriodDays/,
);
await assert.rejects(query.applyFlagSettings({ effortLevel: "huge" as "high" }), /huge/);
succeeded(await conversation.turn("Nothing has changed."), "2");
await query.applyFlagSettings({
  model: "haiku",
  permissions: { deny: ["Read(note.txt)"] },
  env: { GREETING: "moin" },
});
let messages = await conversation.turn("Now it has.");
succeeded(messages, "5");
assert.equal(init(messages).model, "claude-haiku-5-5");
assert(results(messages).toolu_3_1.is_error);
assert.match(results(messages).toolu_4_1.text, /moin/);
await query.applyFlagSettings({ model: null, permissions: null });
messages = await conversation.turn("And back.");
succeeded(messages, "7");
assert(!results(messages).toolu_6_1.is_error, JSON.stringify(results(messages)));

// Files that were written after the query began.
mkdirSync(".claude/commands", { recursive: true });
mkdirSync(".claude/skills/knots", { recursive: true });
mkdirSync(".claude/output-styles");
writeFileSync(".claude/commands/greet.md", "---\nmodel: opus\n---\nGreet $0 warmly.\n");
writeFileSync(".claude/skills/knots/SKILL.md", "---\nname: knots\ndescription: Ties\n---\nTie it.\n");
writeFileSync(".claude/output-styles/terse.md", "---\nname: terse\ndescription: Short\n---\nOne word.\n");
const { skills } = await query.reloadSkills();
assert.deepEqual(skills.map((skill) => skill.name), ["knots"]);
messages = await conversation.turn("/greet Ada");
succeeded(messages, "8");
assert(init(messages).slash_commands.includes("greet"));
succeeded(await conversation.turn("The command's model was for the command."), "9");
assert((await query.reloadOutputStyles()).available_output_styles.includes("terse"));
await query.updateSettings("localSettings", { outputStyle: "terse" });
assert.equal(JSON.parse(readFileSync(".claude/settings.local.json", "utf8")).outputStyle, "terse");
await assert.rejects(query.updateSettings("localSettings", { model: "m" }), /model/);
messages = await conversation.turn("In few words.");
succeeded(messages, "10");
assert.equal(init(messages).output_style, "terse");
const reloaded = await query.reloadPlugins();
assert(reloaded.commands.some((command) => command.name === "greet") && reloaded.error_count === 0);
const gone = await query.reloadPlugins({ addPlugins: [{ type: "local", path: "/p" }] });
assert.deepEqual([gone.plugins, gone.error_count], [[], 1]);

// What the model saw elsewhere counts, unless the file has changed.
await query.seedReadState("seen.txt", Math.floor(statSync("seen.txt").mtimeMs));
await query.seedReadState("late.txt", 1);
messages = await conversation.turn("Edit both.");
succeeded(messages, "12");
assert(!results(messages).toolu_11_1.is_error, results(messages).toolu_11_1.text);
assert(results(messages).toolu_11_2.is_error);
assert.equal(readFileSync("seen.txt", "utf8"), "two\n");

assert.equal(await query.backgroundTasks("toolu_nobody"), false);
const { warning } = await query.setMcpPermissionModeOverride("nobody", "default");
assert.match(warning!, /nobody/);
await assert.rejects(query.readMcpResource("nobody", "ui://page"), /nobody/);
await conversation.end();
