// A guest that uses everything beside files: hooks, requests, a secret, what it remembers, settings and reports.

import {
  ask,
  config,
  deny,
  http,
  judge as judgeHook,
  narrow,
  observer,
  pass,
  plugin,
  progress,
  secrets,
  state,
  tool,
} from "../../plugins/js/windlass-plugin.js";

const SERVER = "http://localhost";

const use = tool({
  name: "Use",
  description: "Uses what the plugin was granted.",
  inputSchema: {
    type: "object",
    properties: { how: { type: "string" }, path: { type: "string" }, url: { type: "string" } },
    required: ["how"],
  },
  paths: [{ field: "path", access: "read" }],
  run({ how, path, url }, { files }) {
    const actions = {
      get: () => shown(http.get(url, { headers: { "x-mine": "1" } })),
      post: () => shown(http.postJson(url, { text: "grün" })),
      put: () => shown(http.send({ method: "PUT", url, body: "x" })),
      secret: () => shown(secrets.send({ url }, secrets.bearer("TOKEN"))),
      basic: () => shown(secrets.send({ method: "POST", url, json: [1] }, secrets.basic("bot", "TOKEN"))),
      long: () => http.get(url).text(10),
      available: () => `${secrets.available("TOKEN")} ${secrets.available("OTHER")}`,
      config: () => `${config.get("CARGO_PKG_NAME")} ${config.get("HOME")}`,
      remember: () => {
        state.setJson("list", [1, "zwei"]);
        state.set("bytes", Uint8Array.of(0, 255));
        state.set("gone", "text");
        state.remove("gone");
        return state.keys().join(" ");
      },
      recall: () => `${JSON.stringify(state.getJson("list"))} ${state.get("bytes")} ${state.get("gone")}`,
      seen: () => state.getJson("seen").join(" "),
      key: () => state.get(""),
      progress: () => {
        progress.report("half", 0.5);
        progress.report("more");
        return "reported";
      },
      read: () => files.readText(path),
      directory: () => `${files.readText(`${config.directory("outside")}/secret.txt`)} ${config.directory("other")}`,
    };
    return actions[how]();
  },
});

function shown(answer) {
  return `${answer.status} ${answer.header("Content-Type")} ${answer.text()}`;
}

const policy = judgeHook({
  name: "Policy",
  on: "PreToolUse",
  matcher: "Use",
  timeoutMs: 10_000,
  run({ tool_input }, { event, toolUseId }) {
    const judgements = {
      denied: () => deny(`denied at ${event}, ${typeof toolUseId}`),
      asked: () => ask("asked by the policy"),
      narrowed: () => narrow({ without: ["secret.txt"], withinMs: 20_000 }),
      nothing: () => undefined,
      truthy: () => ({ tag: "pass" }),
      promised: async () => pass(),
      failing: () => {
        throw new Error("the policy broke");
      },
    };
    return (judgements[tool_input.url] ?? pass)();
  },
});

const audit = observer({
  name: "Audit",
  on: "PostToolUse",
  timeoutMs: 10_000,
  run({ tool_input }) {
    state.setJson("seen", [...(state.getJson("seen") ?? []), tool_input.how]);
  },
});

export const { call, judge, observe, declaration } = plugin({
  name: "connected-js",
  version: "0.1.0",
  tools: [use],
  hooks: [policy, audit],
  grants: {
    filesystem: "read",
    directories: [{ role: "outside", access: "read", description: "where something is to read" }],
    http: [{ origin: SERVER, methods: ["GET", "POST"] }],
    secrets: [{ name: "TOKEN", description: "A token of the server", audience: [SERVER] }],
    env: ["CARGO_PKG_NAME"],
    state: "session",
  },
  limits: { hostCalls: 10_000, logBytes: 10_000, httpBytes: 1 << 20 },
});
