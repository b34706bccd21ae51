// The most frequent words of a file.

import { plugin, tool } from "../js/windlass-plugin.js";

/** Letters and digits of any script, with an apostrophe inside: `don't` is one word. */
const WORD = /[\p{L}\p{N}]+(?:['’][\p{L}\p{N}]+)*/gu;

/** How many words are told if the call does not say. */
const TOP = 10;

const countWords = tool({
  name: "CountWords",
  description:
    "Counts how often each word occurs in a text file, and lists the most frequent ones. Case does not matter.",
  inputSchema: {
    type: "object",
    properties: {
      file_path: { type: "string", description: "The text file." },
      top: { type: "integer", minimum: 1, maximum: 1000, description: `How many words to list; ${TOP} if left out.` },
    },
    required: ["file_path"],
    additionalProperties: false,
  },
  annotations: { readOnly: true, idempotent: true },
  paths: [{ field: "file_path", access: "read" }],
  retry: "run_again",
  run({ file_path, top = TOP }, { files }) {
    const counts = new Map();
    for (const [word] of files.readText(file_path).toLowerCase().matchAll(WORD)) {
      counts.set(word, (counts.get(word) ?? 0) + 1);
    }
    const words = [...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));
    const most = words.slice(0, top);
    const lines = most.map(([word, count]) => `${count} ${word}`);
    const total = words.reduce((sum, [, count]) => sum + count, 0);
    return {
      content: [[`${total} words, ${words.length} different`, ...lines].join("\n")],
      structured: { total, different: words.length, words: Object.fromEntries(most) },
    };
  },
});

export const { call, judge, observe, declaration } = plugin({
  name: "words",
  version: "0.1.0",
  grants: { filesystem: "read" },
  limits: { memoryBytes: 64 << 20, timeoutMs: 10_000, outputBytes: 1 << 20 },
  tools: [countWords],
});
