"""The model's stream as it comes, where it is asked for, and none of it where it is not."""

import anyio

from claude_agent_sdk import StreamEvent, SystemMessage, ThinkingBlock
from engine import ask, blocks, of_type, succeeded, texts


async def main():
    messages = await ask("Think.", include_partial_messages=True)
    assert isinstance(messages[0], SystemMessage) and messages[0].subtype == "init"
    events = of_type(messages, StreamEvent)
    kinds = [event.event["type"] for event in events]
    assert kinds[0] == "message_start" and kinds[-1] == "message_stop", kinds
    assert {"content_block_start", "content_block_delta", "content_block_stop"} <= set(kinds)
    assert all(event.parent_tool_use_id is None and event.uuid for event in events)
    deltas = [event.event.get("delta", {}) for event in events]
    assert "".join(delta.get("thinking", "") for delta in deltas) == "Let me see."
    assert "".join(delta.get("text", "") for delta in deltas) == "A rather long answer, in pieces."
    (thought,) = blocks(messages, ThinkingBlock)
    assert (thought.thinking, thought.signature) == ("Let me see.", "c2lnbmVk")
    succeeded(messages, "A rather long answer, in pieces.")

    messages = await ask("Think again.")
    assert not of_type(messages, StreamEvent)
    assert texts(messages) == ["Without pieces."]


anyio.run(main)
