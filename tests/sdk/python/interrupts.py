"""An interrupt in the middle of the stream and in the middle of a tool: the turn ends, the session goes on."""

import anyio

from claude_agent_sdk import AssistantMessage, ClaudeSDKClient, StreamEvent, ToolUseBlock
from engine import options, result, succeeded, texts, turn


async def interrupted(client, prompt, when):
    """Runs a turn and interrupts it at the first message of which `when` is true."""
    await client.query(prompt)
    messages, done = [], False
    async for message in client.receive_response():
        messages.append(message)
        if not done and when(message):
            done = True
            await client.interrupt()
    assert done, messages
    return messages


def streams(message):
    return isinstance(message, StreamEvent) and message.event["type"] == "content_block_delta"


def calls_a_tool(message):
    if not isinstance(message, AssistantMessage):
        return False
    return any(isinstance(block, ToolUseBlock) for block in message.content)


async def main():
    given = options(include_partial_messages=True, allowed_tools=["Bash"])
    async with ClaudeSDKClient(given) as client:
        messages = await interrupted(client, "Tell me a long story.", streams)
        end = result(messages)
        assert end.subtype == "error_during_execution" and end.is_error, end
        assert end.terminal_reason == "aborted_streaming", end
        # What was said stays said: the model reads it with the next prompt.
        assert texts(messages) == ["Once upon a time"], messages

        messages = await interrupted(client, "Sleep.", calls_a_tool)
        end = result(messages)
        assert end.subtype == "error_during_execution", end
        assert end.terminal_reason == "aborted_tools", end

        succeeded(await turn(client, "Are you there?"), "I am.")


anyio.run(main)
