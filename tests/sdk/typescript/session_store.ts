// A store of the program's own gets every line of the transcript, and a session is resumed from it.
import assert from "node:assert/strict";
import { getSessionMessages, InMemorySessionStore, listSessions } from "@anthropic-ai/claude-agent-sdk";
import { ask, succeeded, WORK } from "./engine.ts";

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
