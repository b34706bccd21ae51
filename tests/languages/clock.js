// A guest that was built with WASI, and has the time by it.

import { plugin, tool } from "../../plugins/js/windlass-plugin.js";

const now = tool({
  name: "Now",
  description: "Says what time it is.",
  inputSchema: { type: "object", properties: {} },
  paths: [],
  run() {
    return new Date().toISOString();
  },
});

export const { call, judge, observe, declaration } = plugin({ name: "clock", version: "0.1.0", tools: [now] });
