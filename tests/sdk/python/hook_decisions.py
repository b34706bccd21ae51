"""A hook before a tool denies it, allows it unasked or changes its input; matchers choose the tools."""

import anyio

from claude_agent_sdk import ClaudeSDKClient, HookMatcher
from engine import WORK, options, results, said_by, succeeded, turn

seen = []


def decision(**what):
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **what}}


async def judge(hook_input, tool_use_id, context):
    command = hook_input["tool_input"]["command"]
    seen.append(command)
    if "denied" in command:
        return decision(permissionDecision="deny", permissionDecisionReason="House rules.")
    if "before" in command:
        return decision(
            permissionDecision="allow",
            updatedInput={**hook_input["tool_input"], "command": "touch after.txt"},
        )
    return decision(permissionDecision="allow")


async def main():
    (WORK / "note.txt").write_text("Buy milk.\n")
    hooks = {"PreToolUse": [HookMatcher(matcher="Bash|Write", hooks=[judge])]}
    async with ClaudeSDKClient(options(hooks=hooks)) as client:
        messages = await turn(client, "Work.")
    succeeded(messages, "Finished.")
    answers = results(messages)
    assert seen == ["touch denied.txt", "touch allowed.txt", "touch before.txt"], seen
    assert answers["toolu_1_1"].is_error and "House rules." in said_by(answers["toolu_1_1"])
    assert not (WORK / "denied.txt").exists()
    assert (WORK / "allowed.txt").exists()
    assert (WORK / "after.txt").exists() and not (WORK / "before.txt").exists()
    assert not answers["toolu_4_1"].is_error


anyio.run(main)
