"""Each kind of error that the SDK has can be met, with what its documentation promises."""

import os
import signal

import anyio

from claude_agent_sdk import (
    ClaudeSDKClient,
    ClaudeSDKError,
    CLIConnectionError,
    CLIJSONDecodeError,
    CLINotFoundError,
    ProcessError,
    ResultError,
)
from engine import ask, options


async def failure(kind, prompt="Hello.", **given):
    try:
        await ask(prompt, **given)
    except ClaudeSDKError as error:
        assert type(error) is kind, repr(error)
        return error
    raise AssertionError(f"no {kind.__name__}")


async def main():
    error = await failure(CLINotFoundError, cli_path="/nowhere/windlass")
    assert "/nowhere/windlass" in str(error)
    assert isinstance(error, CLIConnectionError)

    error = await failure(CLIConnectionError, cwd="/nowhere/at/all")
    assert "/nowhere/at/all" in str(error)

    try:
        await ClaudeSDKClient(options()).query("unconnected")
        raise AssertionError("no error")
    except CLIConnectionError:
        pass

    # An engine that cannot start says why on standard error. Whether the SDK sees first that it has ended, or that
    # it cannot be written to, is a race.
    said = []
    try:
        await ask("Hello.", permission_mode="sideways", stderr=said.append)
        raise AssertionError("it started")
    except (ProcessError, CLIConnectionError):
        assert "sideways" in "".join(said), said

    # An engine that is killed.
    client = ClaudeSDKClient(options())
    await client.connect()
    os.kill((await client.get_server_info())["pid"], signal.SIGKILL)
    try:
        async for message in client.receive_messages():
            raise AssertionError(message)
        raise AssertionError("no error")
    except ProcessError as error:
        assert error.exit_code == -signal.SIGKILL, error
        assert error.stderr and error.stderr in str(error), error
    await client.disconnect()

    # The model cannot be reached: the result comes first, then the error that carries it.
    error = await failure(ResultError, env={"CLAUDE_CODE_MAX_RETRIES": "0"})
    assert isinstance(error, ProcessError) and error.exit_code == 1
    assert error.terminal_reason == "api_error" and error.api_error_status == 400, error.data
    assert error.session_id and "does not like this" in error.result, error.data

    # No engine writes lines that are not JSON, but a reader may take less than a line.
    error = await failure(CLIJSONDecodeError, max_buffer_size=64)
    assert error.original_error is not None and isinstance(error.line, str)


anyio.run(main)
