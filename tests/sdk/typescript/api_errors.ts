// What a model server can do wrong: what passes is tried again, what does not ends in a result that says so.
import assert from "node:assert/strict";
import { ask, askInVain, result, spoken, succeeded } from "./engine.ts";

const env = (retries: number) => ({ ...process.env, CLAUDE_CODE_MAX_RETRIES: `${retries}` });

async function fails(prompt: string, status: number, kind: string, text: string) {
  const { messages } = await askInVain(prompt, { env: env(0) });
  const end = result(messages);
  assert(end.subtype === "success" && end.is_error, JSON.stringify(end));
  assert.deepEqual([end.terminal_reason, end.api_error_status], ["api_error", status]);
  assert(end.result.includes(text), end.result);
  assert.equal(spoken(messages).at(-1)!.error, kind);
}

await fails("Unauthorised.", 401, "authentication_failed", "bad key");
await fails("Too many.", 429, "rate_limit", "slow down");
await fails("Overloaded.", 529, "server_error", "Overloaded");

const messages = await ask("Overloaded for a moment.", { env: env(2) });
succeeded(messages, "Recovered.");
const retries = messages.flatMap((m) => (m.type === "system" && m.subtype === "api_retry" ? [m] : []));
assert.deepEqual(
  retries.map((m) => [m.attempt, m.max_retries, m.error_status, m.error]),
  [[1, 2, 529, "overloaded"]],
);
succeeded(await ask("Cut off.", { env: env(2) }));
