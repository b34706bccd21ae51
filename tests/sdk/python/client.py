"""A client keeps the conversation over several turns, and knows what it is connected to."""

import anyio

from claude_agent_sdk import ClaudeSDKClient
from engine import options, succeeded, turn


async def main():
    async with ClaudeSDKClient(options()) as client:
        about = await client.get_server_info()
        assert about and isinstance(about["commands"], list), about
        first = succeeded(await turn(client, "My name is Ada."), "Hello Ada.")
        second = succeeded(await turn(client, "What is my name?"), "Ada.")
        third = succeeded(await turn(client, "Thank you."), "You are welcome.")
        assert first.session_id == second.session_id == third.session_id
        assert third.total_cost_usd > second.total_cost_usd > first.total_cost_usd
        usage = await client.get_context_usage()
        assert usage["totalTokens"] > 0 and usage["maxTokens"] > usage["totalTokens"], usage
        assert {"categories", "model", "percentage"} <= usage.keys(), usage


anyio.run(main)
