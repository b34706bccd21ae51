// Commands of a settings file are hooks: they deny a call, hear of another, add context and keep the loop going.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import { ask, results, succeeded } from "./engine.ts";

const command = (line: string) => ({ type: "command", command: line, timeout: 30 });
const hooks = {
  SessionStart: [{ hooks: [command("echo It is spring.")] }],
  PreToolUse: [
    { matcher: "Read", hooks: [command("grep -q secret && { echo Not that file. >&2; exit 2; }; exit 0")] },
  ],
  PostToolUse: [{ hooks: [command('touch "$CLAUDE_PROJECT_DIR/was-read"')] }],
  Stop: [
    { hooks: [command("test -e stopped && exit 0; touch stopped; echo Say goodbye too. >&2; exit 2")] },
  ],
};
mkdirSync(".claude");
writeFileSync(".claude/settings.json", JSON.stringify({ hooks }));
writeFileSync("secret.txt", "hidden\n");
writeFileSync("poem.txt", "Roses are red.\n");

const told = (messages: SDKMessage[]) =>
  messages.flatMap((m) =>
    m.type === "system" && (m.subtype === "hook_started" || m.subtype === "hook_response")
      ? [`${m.subtype} ${m.hook_event}`]
      : [],
  );
let messages = await ask("Read them.", { settingSources: ["project"], includeHookEvents: true });
succeeded(messages, "Goodbye.");
const events = told(messages);
assert(events.includes("hook_started PreToolUse") && events.includes("hook_response Stop"), `${events}`);
assert(results(messages).toolu_1_1.text.includes("Not that file."));
assert(existsSync("was-read"));

messages = await ask("Read it.", { settingSources: [] });
succeeded(messages, "Freely read.");

// Where nobody wants to know, hooks run without a word.
messages = await ask("Read another.", { settingSources: ["project"] });
assert.deepEqual(told(messages), []);
assert(results(messages).toolu_7_1.text.includes("Not that file."));
