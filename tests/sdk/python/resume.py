"""A session is resumed by its id, continued as the latest, forked, cut at a message, or given an id."""

import uuid

import anyio

from claude_agent_sdk import AssistantMessage, ProcessError, ResultError, get_session_messages
from engine import WORK, ask, of_type, result, succeeded


async def main():
    chosen = str(uuid.uuid4())
    messages = await ask("Remember apple.", session_id=chosen)
    first = succeeded(messages, "Apple it is.")
    assert first.session_id == chosen
    anchor = of_type(messages, AssistantMessage)[-1].uuid

    end = succeeded(await ask("Which word?", resume=chosen), "Apple.")
    assert end.session_id == chosen and end.total_cost_usd > first.total_cost_usd

    end = succeeded(await ask("Which word?", continue_conversation=True), "Still apple.")
    assert end.session_id == chosen

    end = succeeded(await ask("And now pear.", resume=chosen, fork_session=True), "Pear.")
    assert end.session_id != chosen

    # Back to the first answer, in a session of its own.
    cut = await ask("Which word?", resume=chosen, resume_session_at=anchor, fork_session=True)
    assert succeeded(cut, "Only apple.").session_id != chosen

    nobody = str(uuid.uuid4())
    try:
        messages = await ask("Hello?", resume=nobody)
        raise AssertionError(messages)
    except ResultError as error:
        assert nobody in str(error.errors), error.data

    # A cut that would drop more than the turn that was meant is refused.
    messages = await ask("Remember plum.")
    kept = succeeded(messages, "Plum it is.").session_id
    anchor = of_type(messages, AssistantMessage)[-1].uuid
    succeeded(await ask("And pear.", resume=kept), "Pear, too.")
    said = get_session_messages(kept, directory=str(WORK))
    first, second = (m.uuid for m in said if m.type == "user")
    cut = {"resume": kept, "resume_session_at": anchor, "fork_session": True}
    try:
        messages = await ask("Which word?", resume_drops_turn=first, **cut)
        raise AssertionError(messages)
    except ProcessError as error:
        assert "Resume rejected by --resume-drops-turn" in str(error), error
    succeeded(await ask("Which word?", resume_drops_turn=second, **cut), "Only plum.")

    # Without a transcript there is nothing to resume.
    unkept = await ask("Forget this.", extra_args={"no-session-persistence": None})
    try:
        await ask("Hello?", resume=result(unkept).session_id)
        raise AssertionError("it was kept")
    except ResultError:
        pass


anyio.run(main)
