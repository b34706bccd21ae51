"""A store of the program's own gets every line of the transcript, and a session is resumed from it."""

import anyio

from claude_agent_sdk import (
    InMemorySessionStore,
    get_session_messages_from_store,
    list_sessions_from_store,
)
from engine import WORK, ask, succeeded


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


anyio.run(main)
