// A store of the program's own gets every line of the transcript, and a session is resumed from it.
import assert from "node:assert/strict";
import { getSessionMessages, InMemorySessionStore, listSessions } from "@anthropic-ai/claude-agent-sdk";
import { ask, askInVain, succeeded, WORK } from "./engine.ts";

const sessionStore = new InMemorySessionStore();
const here = { dir: WORK, sessionStore };
const given = { sessionStore, sessionStoreFlush: "eager", loadTimeoutMs: 10_000 } as const;
const first = succeeded(await ask("Remember apple.", given), "Apple it is.").session_id;
assert.deepEqual((await listSessions(here)).map((session) => session.sessionId), [first]);
const types = async () => (await getSessionMessages(first, here)).map((message) => message.type);
assert.deepEqual(await types(), ["user", "assistant"]);
const again = succeeded(await ask("Which word?", { ...given, resume: first }), "Apple.");
assert.equal(again.session_id, first);
assert.deepEqual(await types(), ["user", "assistant", "user", "assistant"]);

// Line by line, or all of a turn at once.
class Counted extends InMemorySessionStore {
  appended = 0;
  override append(...given: Parameters<InMemorySessionStore["append"]>) {
    this.appended += 1;
    return super.append(...given);
  }
}
const [batched, eager] = [new Counted(), new Counted()];
succeeded(await ask("Hello.", { sessionStore: batched }), "Hello.");
succeeded(await ask("Hello.", { sessionStore: eager, sessionStoreFlush: "eager" }), "Hello.");
assert(eager.appended > batched.appended && batched.appended > 0, `${eager.appended} ${batched.appended}`);

class Stuck extends InMemorySessionStore {
  override load(): Promise<never> {
    return new Promise(() => {});
  }
}
await askInVain("Which word?", { sessionStore: new Stuck(), resume: first, loadTimeoutMs: 50 });
