// Tools that do what they should not, for the tests.

import { plugin, tool } from "../../plugins/js/windlass-plugin.js";

const misbehave = tool({
  name: "Misbehave",
  description: "Does one of the things that a plugin should not do.",
  inputSchema: {
    type: "object",
    properties: { how: { type: "string" }, path: { type: "string" }, reads: { type: "string" }, writes: { type: "string" } },
    required: ["how"],
  },
  // What it really does is done at `path`, which is not declared: a call is granted what the others name.
  paths: [
    { field: "reads", access: "read" },
    { field: "writes", access: "write" },
  ],
  run({ how, path }, { files, log }) {
    switch (how) {
      case "loop":
        for (;;);
      case "grow": {
        const all = [];
        for (;;) all.push(new Uint8Array(1 << 20));
      }
      case "flood":
        return "x".repeat(1 << 20);
      case "log":
        for (let line = 0; line < 10_000; line += 1) log.info("x".repeat(100));
        return "logged";
      case "read":
        return files.readText(path);
      case "write":
        files.writeText(path, "changed", { createParents: true });
        return "written";
      case "promise":
        return Promise.resolve("later");
      default:
        throw new Error(`no way to ${how}`);
    }
  },
});

export const { call, judge, observe, declaration } = plugin({
  name: "misbehaves",
  version: "0.1.0",
  grants: { filesystem: "write" },
  limits: { memoryBytes: 32 << 20, timeoutMs: 2000, outputBytes: 1 << 16 },
  tools: [misbehave],
});
