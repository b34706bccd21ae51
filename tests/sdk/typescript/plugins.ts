// A plugin's folder brings commands and agents under its name, given at the start or added to a session.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { Conversation, WORK, ask, init, succeeded } from "./engine.ts";

function plugin(name: string): string {
  const folder = `${WORK}/plugins/${name}`;
  for (const part of [".claude-plugin", "commands", "agents"]) mkdirSync(`${folder}/${part}`, { recursive: true });
  writeFileSync(`${folder}/.claude-plugin/plugin.json`, JSON.stringify({ name }));
  writeFileSync(`${folder}/commands/greet.md`, "---\ndescription: Greets\n---\nSay hello to $ARGUMENTS.\n");
  writeFileSync(`${folder}/agents/writer.md`, "---\nname: writer\ndescription: Writes\n---\nYou write.\n");
  return folder;
}

const notes = plugin("notes");
const messages = await ask("/notes:greet Ada", { plugins: [{ type: "local", path: notes }] });
succeeded(messages, "Hello.");
const about = init(messages);
assert.deepEqual(about.plugins, [{ name: "notes", path: notes }]);
assert(about.slash_commands.includes("notes:greet") && about.agents?.includes("notes:writer"));

const conversation = new Conversation({
  plugins: [{ type: "local", path: notes }],
  pluginDelivery: "initialize",
});
const more = { type: "local" as const, path: plugin("more") };
const reloaded = await conversation.query.reloadPlugins({ addPlugins: [more] });
assert.deepEqual(reloaded.plugins.map((it) => it.name), ["notes", "more"]);
assert(reloaded.commands.some((it) => it.name === "more:greet"));
assert.equal(reloaded.error_count, 0);
await conversation.end();
