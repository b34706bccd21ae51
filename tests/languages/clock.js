// A guest whose JavaScript needs WASI: the time, chance, and what is printed.

import { plugin, tool } from "../../plugins/js/windlass-plugin.js";

const now = tool({
  name: "Now",
  description: "Says what time it is, and rolls two dice.",
  inputSchema: { type: "object", properties: {} },
  paths: [],
  run() {
    console.log("looked at the clock");
    return `${new Date().toISOString()}, ${Math.random() !== Math.random() ? "by chance" : "always the same"}`;
  },
});

export const { call, judge, observe, declaration } = plugin({ name: "clock", version: "0.1.0", tools: [now] });
