// A text prompt gives a stream of messages: what the session is, what the model says, how it ended.
import assert from "node:assert/strict";
import { ask, init, MODEL, spoken, succeeded, texts, WORK } from "./engine.ts";

const messages = await ask("Say hello.");
const about = init(messages);
assert.equal(messages.indexOf(about), 0);
assert.deepEqual([about.model, about.cwd, about.permissionMode], [MODEL, WORK, "default"]);
assert(about.tools.includes("Read") && about.apiKeySource && about.claude_code_version);
assert.deepEqual(texts(messages), ["Hello from the engine."]);
assert.equal(spoken(messages)[0].parent_tool_use_id, null);
const end = succeeded(messages, "Hello from the engine.");
assert.equal(end.session_id, about.session_id);
assert.deepEqual([end.num_turns, end.stop_reason], [1, "end_turn"]);
assert.deepEqual([end.usage.input_tokens, end.usage.output_tokens], [1000, 100]);
// $3 and $15 for a million tokens.
assert(Math.abs(end.total_cost_usd - 0.0045) < 1e-9);
assert.equal(end.modelUsage[MODEL].outputTokens, 100);
assert.deepEqual(end.permission_denials, []);
