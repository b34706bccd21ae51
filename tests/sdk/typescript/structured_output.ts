// A schema for the answer: what does not fit is sent back, what fits is the result as data.
import assert from "node:assert/strict";
import { ask, succeeded } from "./engine.ts";

const schema = {
  type: "object",
  properties: { name: { type: "string" }, legs: { type: "integer" } },
  required: ["name", "legs"],
  additionalProperties: false,
};
const messages = await ask("Describe a spider.", { outputFormat: { type: "json_schema", schema } });
const end = succeeded(messages);
assert.deepEqual(end.structured_output, { name: "spider", legs: 8 });
assert.deepEqual(JSON.parse(end.result), end.structured_output);
