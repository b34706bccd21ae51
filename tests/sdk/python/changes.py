"""The mode and the model can be changed between turns, and hold from then on."""

import anyio

from claude_agent_sdk import ClaudeSDKClient
from engine import MODEL, WORK, init, options, results, succeeded, turn


async def main():
    async with ClaudeSDKClient(options()) as client:
        messages = await turn(client, "Write one.")
        succeeded(messages, "Refused.")
        assert results(messages)["toolu_1_1"].is_error and not (WORK / "one.txt").exists()

        await client.set_permission_mode("acceptEdits")
        messages = await turn(client, "Write two.")
        succeeded(messages, "Written.")
        assert init(messages)["permissionMode"] == "acceptEdits"
        assert (WORK / "two.txt").read_text() == "2\n"

        await client.set_model("claude-haiku-4-5")
        messages = await turn(client, "Who are you?")
        assert init(messages)["model"] == "claude-haiku-4-5"
        end = succeeded(messages, "Haiku.")
        assert set(end.model_usage) == {MODEL, "claude-haiku-4-5"}, end.model_usage


anyio.run(main)
