// The SDK's functions for sessions work on what the engine writes: list, read, rename, tag, fork, delete.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import {
  deleteSession,
  forkSession,
  getSessionInfo,
  getSessionMessages,
  listSessions,
  renameSession,
  tagSession,
} from "@anthropic-ai/claude-agent-sdk";
import { ask, succeeded, WORK } from "./engine.ts";

writeFileSync("note.txt", "Buy milk.\n");
const here = { dir: WORK };
const one = succeeded(await ask("What is in the note?"), "Milk.").session_id;
const two = succeeded(await ask("A second session."), "Indeed.").session_id;

const listed = await listSessions(here);
assert.deepEqual(listed.map((session) => session.sessionId).sort(), [one, two].sort());
assert.deepEqual((await listSessions({ ...here, limit: 1 })).map((s) => s.sessionId), [two]);
let info = listed.find((session) => session.sessionId === one)!;
assert.equal(info.summary, "What is in the note?");
assert(info.firstPrompt === info.summary && info.cwd === WORK && info.lastModified > 0);

const messages = await getSessionMessages(one, here);
assert.deepEqual(messages.map((m) => m.type), ["user", "assistant", "user", "assistant"]);

await renameSession(one, "Groceries", here);
await tagSession(one, "errand", here);
info = (await getSessionInfo(one, here))!;
assert.deepEqual([info.customTitle, info.summary, info.tag], ["Groceries", "Groceries", "errand"]);

const { sessionId: copy } = await forkSession(one, here);
assert.equal(succeeded(await ask("Still milk?", { resume: copy }), "Still.").session_id, copy);
await deleteSession(two, here);
assert.deepEqual((await listSessions(here)).map((s) => s.sessionId).sort(), [one, copy].sort());
