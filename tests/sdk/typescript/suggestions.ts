// After a result the engine says what the person might say next, where the option asks for it; not after the first, which
// costs no call of the model.
import assert from "node:assert/strict";
import { ask, Conversation, succeeded } from "./engine.ts";

const conversation = new Conversation({ promptSuggestions: true });
succeeded(await conversation.turn("Mend the test."), "Mended.");
succeeded(await conversation.turn("And the other."), "Mended, too.");
for (;;) {
  const { value, done } = await conversation.query.next();
  assert(!done, "no suggestion came");
  if (value.type !== "prompt_suggestion") continue;
  assert.equal(value.suggestion, "Run all of them.");
  break;
}
await conversation.end();

const messages = await ask("Quietly.");
succeeded(messages, "Quiet.");
assert(messages.every(({ type }) => type !== "prompt_suggestion"));
