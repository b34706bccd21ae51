// Files go back to what they were at a prompt, after a look at what that would change; without checkpoints it is refused.
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { Conversation, succeeded } from "./engine.ts";

writeFileSync("poem.txt", "Roses are red.\n");
const conversation = new Conversation({
  enableFileCheckpointing: true,
  permissionMode: "acceptEdits",
  extraArgs: { "replay-user-messages": null },
});
const messages = await conversation.turn("Improve the poem.");
succeeded(messages, "Improved.");
assert.equal(readFileSync("poem.txt", "utf8"), "Violets are blue.\n");
const prompt = messages.find(
  (m) => m.type === "user" && JSON.stringify(m.message.content).includes("Improve the poem."),
);
const { uuid } = prompt as { uuid: string };

const preview = await conversation.query.rewindFiles(uuid, { dryRun: true });
assert(preview.canRewind && preview.filesChanged?.length === 2, JSON.stringify(preview));
assert(preview.insertions! > 0 || preview.deletions! > 0, JSON.stringify(preview));
assert.equal(readFileSync("poem.txt", "utf8"), "Violets are blue.\n");

const done = await conversation.query.rewindFiles(uuid);
assert(done.canRewind, JSON.stringify(done));
assert.equal(readFileSync("poem.txt", "utf8"), "Roses are red.\n");
assert(!existsSync("new.txt"));
await conversation.end();

const without = new Conversation();
succeeded(await without.turn("Hello."), "Hello.");
const refused = await without.query.rewindFiles(uuid).then(
  (answer) => (answer.canRewind ? "rewound" : answer.error!),
  (error: Error) => error.message,
);
assert(refused.includes("not enabled"), refused);
await without.end();
