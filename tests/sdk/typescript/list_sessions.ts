// Listings of what the engine writes: of a directory with the git worktrees of its repository, of all projects, up to a limit; what
// stands for a session is its title, or else what was said first.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { listSessions } from "@anthropic-ai/claude-agent-sdk";
import { ask, Conversation, succeeded, WORK } from "./engine.ts";

const git = (...args: string[]) =>
  execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], { cwd: `${WORK}/tree` });
for (const folder of ["tree", "elsewhere"]) mkdirSync(folder);
git("init", "--quiet", "--initial-branch=main");
git("commit", "--quiet", "--allow-empty", "-m", "begin");
git("worktree", "add", "--quiet", "-b", "side", "../side");

const say = async (prompt: string, folder: string) =>
  succeeded(await ask(prompt, { cwd: `${WORK}/${folder}` })).session_id;
const main = await say("In the tree.", "tree");
const side = await say("In the side tree.", "side");
const other = await say("Elsewhere.", "elsewhere");
const titled = new Conversation({ cwd: `${WORK}/tree`, title: "Roses" });
const rose = succeeded(await titled.turn("What is red?")).session_id;
await titled.end();

const ids = async (options: Parameters<typeof listSessions>[0]) =>
  (await listSessions(options)).map((session) => session.sessionId).sort();
const dir = `${WORK}/tree`;
assert.deepEqual(await ids({ dir }), [main, side, rose].sort());
assert.deepEqual(await ids({ dir, includeWorktrees: false }), [main, rose].sort());
assert.deepEqual(await ids({}), [main, side, other, rose].sort());
assert.deepEqual(await ids({ limit: 1 }), [rose]);

const all = new Map((await listSessions()).map((session) => [session.sessionId, session]));
const about = (id: string) => all.get(id)!;
assert.equal(about(main).summary, "In the tree.");
assert.deepEqual([about(main).gitBranch, about(side).gitBranch], ["main", "side"]);
assert.equal(about(side).cwd, `${WORK}/side`);
assert.deepEqual([about(rose).summary, about(rose).customTitle], ["Roses", "Roses"]);
assert.equal(about(rose).firstPrompt, "What is red?");
assert(about(main).lastModified > 0 && (about(main).fileSize ?? 0) > 0);
