// Write a windlass plugin in JavaScript: a few tools, and the two exports that a component of the world
// `windlass:plugin/authored-tools` has.
//
//     export const { call, declaration } = plugin({ name: "count", version: "0.1.0", tools: [tool({ … })] });

import { log as write } from "windlass:host/log@0.1.0";

import { Files } from "./windlass-files.js";

export { FileError, Files } from "./windlass-files.js";

/** The version of the interfaces that this file is written for. */
const WIT = "0.1.0";

/** The keys of a tool, and what the declaration calls them. */
const TOOL_KEYS = {
  name: "name",
  description: "description",
  inputSchema: "input_schema",
  annotations: "annotations",
  paths: "paths",
  retry: "retry",
  timeoutMs: "timeout_ms",
};

/** The keys of the limits, and what the declaration calls them. */
const LIMIT_KEYS = { memoryBytes: "memory_bytes", timeoutMs: "timeout_ms", outputBytes: "output_bytes" };

/** Log lines for the host; `debug` is for the author of the plugin. */
export const log = {
  debug: (message) => write("debug", String(message)),
  info: (message) => write("info", String(message)),
  warn: (message) => write("warn", String(message)),
  error: (message) => write("error", String(message)),
};

/** A tool. Its description and the schema of its input are what the model goes by. */
export function tool(definition) {
  if (typeof definition.run !== "function") throw new TypeError(`the tool ${definition.name} has no function \`run\``);
  return definition;
}

/** The exports of a plugin. Hosts check the declaration; a key that they do not know is refused when the plugin is built. */
export function plugin({ name, version, tools, grants = {}, limits = {}, ...unknown }) {
  refuseUnknown("the plugin", unknown);
  const declared = {
    name,
    version,
    wit: WIT,
    tools: tools.map(({ run, ...tool }) => renamed(`the tool ${tool.name}`, tool, TOOL_KEYS)),
    grants,
    limits: renamed("`limits`", limits, LIMIT_KEYS),
  };
  const text = JSON.stringify(declared);
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  return {
    declaration: () => text,
    call: (call) => {
      const called = byName.get(call.name);
      if (called === undefined) return failed(`There is no tool ${call.name} in this plugin.`);
      try {
        const context = { files: new Files(), log, observed: call.observed };
        return result(called.run(JSON.parse(call.input), context));
      } catch (error) {
        // The model reads the message; where it happened is for the author.
        if (error?.stack) log.debug(error.stack);
        return failed(error instanceof Error ? error.message : String(error));
      }
    },
  };
}

/** What a tool returned, as the host takes it. */
function result(returned) {
  if (typeof returned === "string") return success([returned]);
  if (typeof returned?.then === "function") {
    throw new TypeError("The tool returned a promise: tools of plugins run to their end at once, without `async`.");
  }
  if (!Array.isArray(returned?.content)) {
    throw new TypeError("The tool returned neither a text nor an object with `content`, a list of texts and images.");
  }
  return success(returned.content, returned);
}

function success(content, { isError = false, structured, observed = [] } = {}) {
  return {
    content: content.map((block) => (typeof block === "string" ? { tag: "text", val: block } : { tag: "image", val: block })),
    isError,
    structured: structured === undefined ? null : JSON.stringify(structured),
    observed,
  };
}

function failed(message) {
  return success([message], { isError: true });
}

function renamed(what, value, keys) {
  const out = {};
  for (const [key, own] of Object.entries(value)) {
    if (!(key in keys)) refuseUnknown(what, { [key]: own });
    if (own !== undefined) out[keys[key]] = own;
  }
  return out;
}

function refuseUnknown(what, unknown) {
  const [key] = Object.keys(unknown);
  if (key !== undefined) throw new TypeError(`${what} has a key \`${key}\`, which means nothing`);
}
