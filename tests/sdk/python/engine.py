"""What the programs share: the engine under test, and reading what it says."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

from claude_agent_sdk import (
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    Message,
    ResultMessage,
    SystemMessage,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
    UserMessage,
    query,
)

ENGINE = os.environ["WINDLASS"]
MODEL = "claude-sonnet-4-5"
WORK = Path.cwd()
TESTS = Path(os.environ["WINDLASS_SDK_TESTS"])


def options(**given) -> ClaudeAgentOptions:
    """The one option that users change, the model of the scripts, and what is given."""
    return ClaudeAgentOptions(**{"cli_path": ENGINE, "model": MODEL, **given})


async def ask(prompt: str | AsyncIterator, **given) -> list[Message]:
    """All messages of a query."""
    return [message async for message in query(prompt=prompt, options=options(**given))]


async def turn(client: ClaudeSDKClient, prompt: str) -> list[Message]:
    """All messages of a turn of a client."""
    await client.query(prompt)
    return [message async for message in client.receive_response()]


def of_type(messages, kind):
    return [message for message in messages if isinstance(message, kind)]


def init(messages) -> dict:
    """What the first `system/init` says."""
    frames = [m for m in of_type(messages, SystemMessage) if m.subtype == "init"]
    assert frames, messages
    return frames[0].data


def result(messages) -> ResultMessage:
    """The one result."""
    results = of_type(messages, ResultMessage)
    assert len(results) == 1, messages
    return results[0]


def succeeded(messages, text: str | None = None) -> ResultMessage:
    """The one result, which is a success, with this text."""
    end = result(messages)
    assert end.subtype == "success" and not end.is_error, end
    assert text is None or end.result == text, end
    return end


def blocks(messages, kind):
    """The blocks of a kind that the assistant, or the user, has said."""
    said = of_type(messages, AssistantMessage) + of_type(messages, UserMessage)
    return [
        block
        for message in said
        if isinstance(message.content, list)
        for block in message.content
        if isinstance(block, kind)
    ]


def texts(messages) -> list[str]:
    return [
        block.text
        for message in of_type(messages, AssistantMessage)
        for block in message.content
        if isinstance(block, TextBlock)
    ]


def calls(messages) -> list[str]:
    return [block.name for block in blocks(messages, ToolUseBlock)]


def results(messages) -> dict[str, ToolResultBlock]:
    """Tool results by the id of their call."""
    return {block.tool_use_id: block for block in blocks(messages, ToolResultBlock)}


def said_by(block: ToolResultBlock) -> str:
    """The text of a tool result, whichever form it has."""
    if isinstance(block.content, str):
        return block.content
    return "".join(part.get("text", "") for part in block.content or [])
