"""A callback that denies and interrupts ends the turn; the session goes on with the next prompt."""

import anyio

from claude_agent_sdk import ClaudeSDKClient, PermissionResultDeny
from engine import WORK, options, result, results, succeeded, turn


async def refuse(name, tool_input, context):
    return PermissionResultDeny(message="Stop all of it.", interrupt=True)


async def main():
    async with ClaudeSDKClient(options(can_use_tool=refuse)) as client:
        messages = await turn(client, "Make a file.")
        end = result(messages)
        assert end.subtype == "error_during_execution" and end.is_error, end
        assert results(messages)["toolu_1_1"].is_error
        assert not (WORK / "made.txt").exists()
        succeeded(await turn(client, "Go on without it."), "As you like.")


anyio.run(main)
