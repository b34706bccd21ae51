// Effort, thinking, betas and the fallback reach the model server as its API spells them.
import assert from "node:assert/strict";
import { ask, succeeded } from "./engine.ts";

succeeded(await ask("Effort.", { model: "claude-opus-4-6", effort: "low" }), "1");
succeeded(await ask("Budget.", { thinking: { type: "enabled", budgetTokens: 2048 } }), "2");
succeeded(await ask("None.", { thinking: { type: "disabled" } }), "3");
succeeded(await ask("Old limit.", { maxThinkingTokens: 3000 }), "4");
succeeded(await ask("Adaptive.", { model: "claude-opus-4-6", thinking: { type: "adaptive" } }), "5");
succeeded(await ask("Beta.", { betas: ["context-1m-2025-08-07"] }), "6");
const env = { ...process.env, CLAUDE_CODE_MAX_RETRIES: "0" };
const end = succeeded(await ask("Fall back.", { fallbackModel: "claude-haiku-4-5", env }), "8");
assert("claude-haiku-4-5" in end.modelUsage);
