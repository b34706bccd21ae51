// A plugin whose module keeps its variables from call to call of a session.

import { plugin, tool } from "../../plugins/js/windlass-plugin.js";

let calls = 0;

const count = tool({
  name: "Count",
  description: "Says the how many-th call this is.",
  inputSchema: { type: "object", properties: {} },
  run: () => `call ${(calls += 1)}`,
});

export const { call, judge, observe, declaration } = plugin({
  name: "kept",
  version: "0.1.0",
  instance: "session",
  tools: [count],
});
