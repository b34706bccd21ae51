// Prompts may come as a stream, pictures included; more can be streamed into a running query.
import assert from "node:assert/strict";
import { query } from "@anthropic-ai/claude-agent-sdk";
import { options, userMessage } from "./engine.ts";

// One white pixel.
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEAG7buVgAAAABJRU5ErkJggg==";

async function* prompts() {
  yield userMessage("First.");
  yield userMessage([
    { type: "text", text: "Second, with a picture." },
    { type: "image", source: { type: "base64", media_type: "image/png", data: PIXEL } },
  ]);
}

const answers: string[] = [];
for await (const message of query({ prompt: prompts(), options: options() })) {
  if (message.type === "result" && message.subtype === "success") answers.push(message.result);
}
assert.deepEqual(answers, ["One.", "Two."]);
