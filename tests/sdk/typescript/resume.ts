// A session is resumed by its id, continued as the latest, forked, cut at a message, or given an id.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { getSessionMessages } from "@anthropic-ai/claude-agent-sdk";
import { ask, askInVain, result, spoken, succeeded, WORK } from "./engine.ts";

const sessionId = randomUUID();
let messages = await ask("Remember apple.", { sessionId });
assert.equal(succeeded(messages, "Apple it is.").session_id, sessionId);
const anchor = spoken(messages).at(-1)!.uuid;

let end = succeeded(await ask("Which word?", { resume: sessionId }), "Apple.");
assert.equal(end.session_id, sessionId);
end = succeeded(await ask("Which word?", { continue: true }), "Still apple.");
assert.equal(end.session_id, sessionId);
end = succeeded(await ask("And now pear.", { resume: sessionId, forkSession: true }), "Pear.");
assert.notEqual(end.session_id, sessionId);
const cut = { resume: sessionId, resumeSessionAt: anchor, forkSession: true };
assert.notEqual(succeeded(await ask("Which word?", cut), "Only apple.").session_id, sessionId);

// A cut that would drop more than the turn that was meant is refused.
messages = await ask("Remember plum.");
const kept = succeeded(messages, "Plum it is.").session_id;
const resumeSessionAt = spoken(messages).at(-1)!.uuid;
succeeded(await ask("And pear.", { resume: kept }), "Pear, too.");
const prompts = (await getSessionMessages(kept, { dir: WORK })).filter(({ type }) => type === "user");
const turnOf = (nth: number) =>
  ({ resume: kept, resumeSessionAt, forkSession: true, resumeDropsTurn: prompts[nth].uuid });
const rejected = await askInVain("Which word?", turnOf(0));
assert.match(rejected.error.message, /Resume rejected by --resume-drops-turn/);
succeeded(await ask("Which word?", turnOf(1)), "Only plum.");

const nobody = randomUUID();
const { error } = await askInVain("Hello?", { resume: nobody });
assert(error.message.includes(nobody), error.message);

const unkept = result(await ask("Forget this.", { persistSession: false })).session_id;
await askInVain("Hello?", { resume: unkept });
