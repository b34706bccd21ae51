"""What one engine has begun the other takes up: this one and the original, each way round and back again."""

import os

import anyio

from claude_agent_sdk import ClaudeSDKClient, StreamEvent, get_session_messages, list_sessions
from engine import ENGINE, WORK, ask, calls, options, result, succeeded, texts

ORIGINAL = os.environ["WINDLASS_ORIGINAL_ENGINE"]
MARKER = "[Request interrupted by user]"


def engine(program, **given):
    """The options for an engine: the same for both."""
    return {
        "cli_path": program,
        "allowed_tools": ["Read"],
        "setting_sources": [],
        # The original engine would also call home.
        "env": {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"},
        **given,
    }


async def interrupted(program, **given):
    """A turn that is interrupted as soon as the model has said a word."""
    given = engine(program, include_partial_messages=True, **given)
    messages = []
    async with ClaudeSDKClient(options(**given)) as client:
        await client.query("Tell me a long story.")
        done = False
        async for message in client.receive_response():
            messages.append(message)
            is_word = isinstance(message, StreamEvent) and message.event["type"] == "content_block_delta"
            if is_word and not done:
                done = True
                await client.interrupt()
    return messages


async def goes_over(first, second):
    """A session that `first` begins, `second` goes on with, and `first` comes back to."""
    begun = await ask("What does note.txt say?", **engine(first))
    assert calls(begun) == ["Read"], begun
    end = succeeded(begun, "It says: buy milk.")
    session = end.session_id

    taken_up = succeeded(await ask("Which file was it?", **engine(second, resume=session)), "It was note.txt.")
    assert taken_up.session_id == session
    assert taken_up.total_cost_usd > end.total_cost_usd, (taken_up, end)

    cut = await interrupted(second, resume=session)
    assert result(cut).terminal_reason == "aborted_streaming", cut
    assert texts(cut) == ["Once upon a time"], cut

    back = succeeded(await ask("How did it begin?", **engine(first, resume=session)), "Once upon a time.")
    assert back.session_id == session
    assert back.total_cost_usd > taken_up.total_cost_usd, (back, taken_up)

    # The SDK reads one conversation, whoever wrote which part of it.
    assert [known.session_id for known in list_sessions(directory=str(WORK))][0] == session
    words = str([message.message for message in get_session_messages(session, directory=str(WORK))])
    said = [
        "What does note.txt say?",
        "It says: buy milk.",
        "Which file was it?",
        "It was note.txt.",
        "Tell me a long story.",
        "Once upon a time",
        MARKER,
        "How did it begin?",
        "Once upon a time.",
    ]
    places = [words.find(text) for text in said]
    assert -1 not in places and places == sorted(places), words


async def main():
    (WORK / "note.txt").write_text("Buy milk.\n")
    await goes_over(ENGINE, ORIGINAL)
    await goes_over(ORIGINAL, ENGINE)


anyio.run(main)
