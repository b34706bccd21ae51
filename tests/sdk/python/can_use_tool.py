"""A callback decides what the rules do not: it allows, changes the input, denies with a reason."""

import anyio

from claude_agent_sdk import (
    ClaudeSDKClient,
    PermissionResultAllow,
    PermissionResultDeny,
    ToolPermissionContext,
)
from engine import WORK, options, results, said_by, succeeded, turn

asked = []


async def decide(name, tool_input, context: ToolPermissionContext):
    asked.append((name, tool_input, context))
    command = tool_input.get("command", "")
    if command == "touch allowed.txt":
        return PermissionResultAllow()
    if command == "touch changed.txt":
        return PermissionResultAllow(updated_input={**tool_input, "command": "touch instead.txt"})
    return PermissionResultDeny(message="Not on a Sunday.")


async def main():
    async with ClaudeSDKClient(options(can_use_tool=decide)) as client:
        messages = await turn(client, "Make files.")
    assert [name for name, _, _ in asked] == ["Bash", "Bash", "Bash"], asked
    _, first, context = asked[0]
    assert first["command"] == "touch allowed.txt"
    assert context.tool_use_id == "toolu_1_1" and context.suggestions, context
    answers = results(messages)
    assert (WORK / "allowed.txt").exists() and not answers["toolu_1_1"].is_error
    assert (WORK / "instead.txt").exists() and not (WORK / "changed.txt").exists()
    assert answers["toolu_3_1"].is_error and not (WORK / "denied.txt").exists()
    assert "Not on a Sunday." in said_by(answers["toolu_3_1"])
    end = succeeded(messages, "Made some.")
    assert [denial["tool_use_id"] for denial in end.permission_denials] == ["toolu_3_1"]


anyio.run(main)
