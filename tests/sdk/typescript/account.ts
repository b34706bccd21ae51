// The account, as far as there is one: where the key or the token comes from. Nobody has logged in, so there is no address, no
// organisation and no subscription to tell.
import assert from "node:assert/strict";
import { Conversation, init, succeeded } from "./engine.ts";

const { ANTHROPIC_API_KEY, ...rest } = process.env;
const apiProvider = "firstParty";
for (const [env, account] of [
  [{ ...rest, ANTHROPIC_API_KEY }, { apiKeySource: "ANTHROPIC_API_KEY", tokenSource: "none", apiProvider }],
  [
    { ...rest, ANTHROPIC_AUTH_TOKEN: "test-token" },
    { apiKeySource: "none", tokenSource: "ANTHROPIC_AUTH_TOKEN", apiProvider },
  ],
  [rest, { apiKeySource: "none", tokenSource: "none", apiProvider }],
] as const) {
  const conversation = new Conversation({ env });
  assert.deepEqual(await conversation.query.accountInfo(), account);
  const messages = await conversation.turn("Hello.");
  succeeded(messages, "Hello.");
  assert.equal(init(messages).apiKeySource, account.apiKeySource);
  await conversation.end();
}
