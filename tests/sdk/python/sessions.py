"""The SDK's functions for sessions work on what the engine writes: list, read, rename, tag, fork, delete."""

import anyio

from claude_agent_sdk import (
    delete_session,
    fork_session,
    get_session_info,
    get_session_messages,
    list_sessions,
    rename_session,
    tag_session,
)
from engine import WORK, ask, result, succeeded


async def main():
    (WORK / "note.txt").write_text("Buy milk.\n")
    here = str(WORK)
    one = succeeded(await ask("What is in the note?"), "Milk.").session_id
    two = succeeded(await ask("A second session."), "Indeed.").session_id

    listed = {session.session_id: session for session in list_sessions(directory=here)}
    assert set(listed) == {one, two}, listed
    info = listed[one]
    assert info.summary == info.first_prompt == "What is in the note?", info
    assert info.cwd == here and info.file_size > 0 and info.last_modified > 0, info
    assert [s.session_id for s in list_sessions(directory=here, limit=1)] == [two]

    messages = get_session_messages(one, directory=here)
    assert [m.type for m in messages] == ["user", "assistant", "user", "assistant"], messages
    assert messages[0].message["content"] == "What is in the note?", messages[0]
    assert messages[-1].message["content"][0]["text"] == "Milk.", messages[-1]

    rename_session(one, "Groceries", directory=here)
    tag_session(one, "errand", directory=here)
    info = get_session_info(one, directory=here)
    assert (info.custom_title, info.summary, info.tag) == ("Groceries", "Groceries", "errand")

    copy = fork_session(one, directory=here).session_id
    end = result(await ask("Still milk?", resume=copy))
    assert end.session_id == copy and end.result == "Still."

    delete_session(two, directory=here)
    assert {s.session_id for s in list_sessions(directory=here)} == {one, copy}


anyio.run(main)
