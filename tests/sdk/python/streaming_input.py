"""Prompts may come as a stream; each is answered by a turn of its own, text blocks and images alike."""

import anyio

from claude_agent_sdk import ResultMessage
from engine import ask, of_type, texts

# One white pixel.
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEAG7buVgAAAABJRU5ErkJggg=="
)


async def prompts():
    yield {
        "type": "user",
        "message": {"role": "user", "content": "First."},
        "parent_tool_use_id": None,
        "session_id": "",
    }
    picture = {"type": "base64", "media_type": "image/png", "data": PIXEL}
    content = [
        {"type": "text", "text": "Second, with a picture."},
        {"type": "image", "source": picture},
    ]
    yield {
        "type": "user",
        "message": {"role": "user", "content": content},
        "parent_tool_use_id": None,
        "session_id": "",
    }


async def main():
    messages = await ask(prompts())
    assert texts(messages) == ["One.", "Two."], messages
    ends = of_type(messages, ResultMessage)
    assert [end.result for end in ends] == ["One.", "Two."], ends
    assert len({end.session_id for end in ends}) == 1


anyio.run(main)
