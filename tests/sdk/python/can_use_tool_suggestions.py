"""Suggestions that are handed back keep the same question from being asked again."""

import anyio

from claude_agent_sdk import ClaudeSDKClient, PermissionResultAllow, PermissionUpdate
from engine import WORK, options, succeeded, turn

asked = []


async def always(name, tool_input, context):
    asked.append(tool_input["command"])
    session = [
        PermissionUpdate(
            type=update.type,
            rules=update.rules,
            behavior=update.behavior,
            destination="session",
        )
        for update in context.suggestions
        if update.type == "addRules"
    ]
    assert session, context.suggestions
    return PermissionResultAllow(updated_permissions=session)


async def main():
    async with ClaudeSDKClient(options(can_use_tool=always)) as client:
        succeeded(await turn(client, "Touch it."), "Touched.")
        (WORK / "made.txt").unlink()
        succeeded(await turn(client, "Again."), "Touched again.")
    assert (WORK / "made.txt").exists()
    assert asked == ["touch made.txt"], asked


anyio.run(main)
