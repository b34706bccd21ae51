"""A store of the program's own gets every line of the transcript, and a session is resumed from it."""

import anyio

from claude_agent_sdk import (
    InMemorySessionStore,
    get_session_messages_from_store,
    list_sessions_from_store,
)
from engine import WORK, ask, succeeded


class Counted(InMemorySessionStore):
    """How often it was written to."""

    appended = 0

    async def append(self, key, entries):
        self.appended += 1
        return await super().append(key, entries)


class Stuck(InMemorySessionStore):
    """It never has anything to show."""

    async def load(self, key):
        await anyio.sleep_forever()


async def main():
    store = InMemorySessionStore()
    first = succeeded(await ask("Remember apple.", session_store=store), "Apple it is.")
    here = str(WORK)
    listed = await list_sessions_from_store(store, directory=here)
    assert [session.session_id for session in listed] == [first.session_id], listed
    messages = await get_session_messages_from_store(store, first.session_id, directory=here)
    assert [m.type for m in messages] == ["user", "assistant"], messages
    end = succeeded(await ask("Which word?", session_store=store, resume=first.session_id), "Apple.")
    assert end.session_id == first.session_id
    messages = await get_session_messages_from_store(store, first.session_id, directory=here)
    assert [m.type for m in messages] == ["user", "assistant"] * 2, messages

    # Line by line, or all of a turn at once.
    batched, eager = Counted(), Counted()
    succeeded(await ask("Hello.", session_store=batched), "Hello.")
    succeeded(await ask("Hello.", session_store=eager, session_store_flush="eager"), "Hello.")
    assert eager.appended > batched.appended > 0, (eager.appended, batched.appended)

    try:
        given = {"session_store": Stuck(), "resume": first.session_id, "load_timeout_ms": 50}
        messages = await ask("Which word?", **given)
        raise AssertionError(messages)
    except RuntimeError:
        pass


anyio.run(main)
