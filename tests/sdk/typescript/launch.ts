// Every way in which the SDK starts an engine: by path, by a function of the caller's, with further flags, through a
// script that an interpreter runs.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { ask, ENGINE, init, succeeded } from "./engine.ts";

const started: string[] = [];
let messages = await ask("By a function.", {
  spawnClaudeCodeProcess: ({ command, args, cwd, env, signal }) => {
    started.push(command, ...args);
    return spawn(command, args, { cwd, env, signal, stdio: ["pipe", "pipe", "inherit"] });
  },
  extraArgs: { "replay-user-messages": null, "max-turns": "7" },
});
succeeded(messages, "1");
assert(started[0] === ENGINE && started.includes("--replay-user-messages"), `${started}`);
assert(messages.some((m) => m.type === "user" && "isReplay" in m && m.isReplay));

const script = `
import { spawn } from "node:child_process";
const engine = spawn(process.env.WINDLASS, process.argv.slice(2), { stdio: "inherit" });
engine.on("exit", (code) => process.exit(code ?? 1));
`;
writeFileSync("engine.mjs", script);
messages = await ask("By an interpreter.", {
  pathToClaudeCodeExecutable: "engine.mjs",
  executable: "node",
  executableArgs: ["--no-warnings"],
});
succeeded(messages, "2");
assert(init(messages).session_id);
