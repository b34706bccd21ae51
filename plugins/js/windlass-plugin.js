// Write a windlass plugin in JavaScript: tools and hooks, and the exports that a component of the world
// `windlass:plugin/authored` has.
//
//     export const { call, judge, observe, declaration } = plugin({ name: "count", version: "0.1.0", tools: [tool({ … })] });

import { Files } from "./windlass-files.js";
import { hookExports } from "./windlass-hooks.js";
import { log } from "./windlass-host.js";

export { FileError, Files } from "./windlass-files.js";
export { ask, deny, judge, narrow, observer, pass } from "./windlass-hooks.js";
export { config, log, progress } from "./windlass-host.js";
export { HttpError, Response, http, secrets } from "./windlass-http.js";
export { StateError, state } from "./windlass-state.js";

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

/** The keys of a hook, and what the declaration calls them. */
const HOOK_KEYS = { name: "name", kind: "kind", on: "event", matcher: "matcher", timeoutMs: "timeout_ms" };

/** The keys of the limits, and what the declaration calls them. */
const LIMIT_KEYS = {
  memoryBytes: "memory_bytes",
  timeoutMs: "timeout_ms",
  outputBytes: "output_bytes",
  logBytes: "log_bytes",
  hostCalls: "host_calls",
  httpBytes: "http_bytes",
};

/** A tool. Its description and the schema of its input are what the model goes by. */
export function tool(definition) {
  if (typeof definition.run !== "function") throw new TypeError(`the tool ${definition.name} has no function \`run\``);
  return definition;
}

/** The exports of a plugin. Hosts check the declaration; a key that they do not know is refused when the plugin is built. */
export function plugin({ name, version, tools = [], hooks = [], grants = {}, limits = {}, instance, ...unknown }) {
  refuseUnknown("the plugin", unknown);
  const declared = {
    name,
    version,
    wit: WIT,
    tools: tools.map(({ run, ...tool }) => renamed(`the tool ${tool.name}`, tool, TOOL_KEYS)),
    hooks: hooks.map(({ run, ...hook }) => renamed(`the hook ${hook.name}`, hook, HOOK_KEYS)),
    grants,
    limits: renamed("`limits`", limits, LIMIT_KEYS),
    // Left out of the text where nothing is said.
    instance,
  };
  const text = JSON.stringify(declared);
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  return {
    declaration: () => text,
    ...hookExports(hooks),
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

function success(content, { isError = false, structured = undefined, observed = [] } = {}) {
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
