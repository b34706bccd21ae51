// @ts-check
import { plugin, tool } from "./sdk/windlass-plugin.js";

const countLines = tool({
  name: "CountLines",
  description: "Counts the lines of a text file.",
  inputSchema: {
    type: "object",
    properties: { file_path: { type: "string", description: "The text file." } },
    required: ["file_path"],
    additionalProperties: false,
  },
  annotations: { readOnly: true, idempotent: true },
  // Permission rules judge these fields, and a call reaches what they name.
  paths: [{ field: "file_path", access: "read" }],
  retry: "run_again",
  run({ file_path }, { files }) {
    const lines = files.readText(file_path).split("\n");
    // What follows the last line break is a line if there is something.
    if (lines.at(-1) === "") lines.pop();
    return `${lines.length} lines`;
  },
});

export const { call, judge, observe, declaration } = plugin({
  name: "{{name}}",
  version: "0.1.0",
  grants: { filesystem: "read" },
  limits: { memoryBytes: 64 * 1024 * 1024, timeoutMs: 10_000 },
  tools: [countLines],
});
