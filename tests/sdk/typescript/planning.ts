// What shapes a run beside its prompt: plans, aliases, budgets, what is shown of thinking, who is asked, where the place is told.
import assert from "node:assert/strict";
import { createSdkMcpServer, tool } from "@anthropic-ai/claude-agent-sdk";
import { ask, results, succeeded } from "./engine.ts";

const preset = { type: "preset", preset: "claude_code" } as const;
succeeded(
  await ask("A plan, please.", {
    permissionMode: "plan",
    planModeInstructions: "Ask three questions first.",
  }),
  "1",
);
succeeded(await ask("Another plan.", { permissionMode: "plan" }), "2");

const run = tool("run", "Runs it elsewhere", {}, async () => ({
  content: [{ type: "text", text: "ran elsewhere" }],
}));
const messages = await ask("Run it.", {
  mcpServers: { shell: createSdkMcpServer({ name: "shell", version: "1.0.0", tools: [run] }) },
  allowedTools: ["mcp__shell__run"],
  toolAliases: { Bash: "mcp__shell__run" },
  disallowedTools: ["Bash"],
});
succeeded(messages, "4");
assert.equal(results(messages).toolu_3_1.text, "ran elsewhere");

succeeded(await ask("Within a budget.", { taskBudget: { total: 50_000 } }), "5");
const thinking = { type: "adaptive", display: "omitted" } as const;
succeeded(await ask("Silently.", { model: "claude-opus-4-6", thinking }), "6");
succeeded(await ask("Somewhere.", { systemPrompt: { ...preset, excludeDynamicSections: true } }), "7");

const asked: string[] = [];
const denied = await ask("Touch it.", {
  permissionPrompts: "none",
  canUseTool: async (name, input) => {
    asked.push(name);
    return { behavior: "allow", updatedInput: input };
  },
});
const end = succeeded(denied, "9");
assert(results(denied).toolu_8_1.is_error && asked.length === 0);
assert.equal(end.permission_denials.length, 1);
