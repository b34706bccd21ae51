"""What a model server can do wrong: what passes is tried again, what does not ends in a result that says so."""

import anyio

from claude_agent_sdk import AssistantMessage, ResultError, SystemMessage
from engine import of_type, options, query, result, succeeded


async def run(prompt, retries):
    messages, error = [], None
    env = {"CLAUDE_CODE_MAX_RETRIES": str(retries)}
    try:
        async for message in query(prompt=prompt, options=options(env=env)):
            messages.append(message)
    except ResultError as caught:
        error = caught
    return messages, error


async def fails(prompt, status, kind, text):
    messages, error = await run(prompt, retries=0)
    assert error is not None and error.exit_code == 1, messages
    end = result(messages)
    assert end.subtype == "success" and end.is_error, end
    assert end.terminal_reason == "api_error" and end.api_error_status == status, end
    assert text in end.result, end.result
    assert of_type(messages, AssistantMessage)[-1].error == kind, messages


async def main():
    await fails("Unauthorised.", 401, "authentication_failed", "bad key")
    await fails("Too many.", 429, "rate_limit", "slow down")
    await fails("Overloaded.", 529, "server_error", "Overloaded")

    messages, error = await run("Overloaded for a moment.", retries=2)
    assert error is None
    succeeded(messages, "Recovered.")
    (retry,) = [m for m in of_type(messages, SystemMessage) if m.subtype == "api_retry"]
    assert retry.data["attempt"] == 1 and retry.data["max_retries"] == 2, retry.data
    assert retry.data["error_status"] == 529 and retry.data["error"] == "overloaded", retry.data

    messages, error = await run("Cut off.", retries=2)
    assert error is None, error
    succeeded(messages)


anyio.run(main)
