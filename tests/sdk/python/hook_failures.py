"""A callback that fails blocks the call where it was registered so, and counts as no answer elsewhere."""

import anyio

from claude_agent_sdk import ClaudeSDKClient, HookMatcher
from engine import WORK, options, results, succeeded, turn


async def broken(hook_input, tool_use_id, context):
    raise RuntimeError("out of order")


async def main():
    (WORK / "note.txt").write_text("Buy milk.\n")
    tolerant = {"PreToolUse": [HookMatcher(hooks=[broken])]}
    async with ClaudeSDKClient(options(hooks=tolerant)) as client:
        messages = await turn(client, "Read it.")
        succeeded(messages, "Read.")
        assert not results(messages)["toolu_1_1"].is_error
    strict = {"PreToolUse": [HookMatcher(hooks=[broken], on_failure="block")]}
    async with ClaudeSDKClient(options(hooks=strict)) as client:
        messages = await turn(client, "Read it again.")
        succeeded(messages, "Not read.")
        assert results(messages)["toolu_3_1"].is_error


anyio.run(main)
