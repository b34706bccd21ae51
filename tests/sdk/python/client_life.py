"""A client's life: refused before connecting, one session while connected, a fresh one after disconnecting."""

import anyio

from claude_agent_sdk import ClaudeSDKClient, CLIConnectionError, ResultMessage
from engine import options, succeeded, texts, turn


async def refused(operation):
    try:
        await operation
    except CLIConnectionError as error:
        assert "Not connected" in str(error), error
        return
    raise AssertionError("it went on without a connection")


async def main():
    client = ClaudeSDKClient(options())
    await refused(client.query("too early"))
    await refused(client.interrupt())

    await client.connect()
    first = succeeded(await turn(client, "Remember the word apple."), "Remembered.")
    # Interrupting where nothing runs changes nothing.
    await client.interrupt()
    await client.set_permission_mode("plan")
    await client.set_permission_mode("default")
    await client.query("Which word?")
    messages = []
    # This stream does not end with a result.
    async for message in client.receive_messages():
        messages.append(message)
        if isinstance(message, ResultMessage):
            break
    assert texts(messages) == ["Apple."], messages
    await client.disconnect()
    await client.disconnect()
    await refused(client.query("too late"))

    await client.connect()
    second = succeeded(await turn(client, "Which word?"), "I know of none.")
    assert second.session_id != first.session_id
    await client.disconnect()

    # A prompt may be given with the connection.
    async def prompt():
        yield {"type": "user", "message": {"role": "user", "content": "Hello."}}

    async with ClaudeSDKClient(options()) as other:
        await other.query(prompt())
        end = succeeded([m async for m in other.receive_response()], "Hello to you.")
        assert end.session_id not in (first.session_id, second.session_id)


anyio.run(main)
