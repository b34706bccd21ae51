// What the session began with can be asked: commands, models, agents, styles, the account, the context.
import assert from "node:assert/strict";
import { Conversation, succeeded } from "./engine.ts";

const agents = { reader: { description: "Reads notes", prompt: "You read." } };
const conversation = new Conversation({ agents });
const { query } = conversation;
const about = await query.initializationResult();
assert(Array.isArray(about.commands) && about.models.length > 0);
assert(about.output_style === "default" && about.available_output_styles.includes("default"));
for (const command of await query.supportedCommands())
  assert(command.name && typeof command.description === "string" && "argumentHint" in command);
for (const model of await query.supportedModels())
  assert(model.value && model.displayName && model.description, JSON.stringify(model));
const reader = (await query.supportedAgents()).find((agent) => agent.name === "reader");
assert.equal(reader?.description, "Reads notes");
const account = await query.accountInfo();
assert(account.apiKeySource, JSON.stringify(account));

succeeded(await conversation.turn("Hello."), "Hello.");
const usage = await query.getContextUsage();
assert(usage.totalTokens > 0 && usage.maxTokens > usage.totalTokens, JSON.stringify(usage));
await conversation.end();
