"""Turns and money can be limited: the result says which limit it was, and the error carries it."""

import anyio

from claude_agent_sdk import ResultError
from engine import WORK, options, query, result


async def run(prompt, **given):
    messages = []
    try:
        async for message in query(prompt=prompt, options=options(**given)):
            messages.append(message)
    except ResultError as error:
        end = result(messages)
        assert error.subtype == end.subtype and error.errors == end.errors, error
        return end
    raise AssertionError("no error at the limit")


async def main():
    (WORK / "note.txt").write_text("Buy milk.\n")
    end = await run("Read on and on.", max_turns=2)
    assert end.subtype == "error_max_turns" and end.is_error, end
    assert end.terminal_reason == "max_turns" and end.num_turns == 3, end
    assert len(end.errors) == 1 and "2" in end.errors[0], end.errors

    end = await run("Spend.", max_budget_usd=0.01)
    assert end.subtype == "error_max_budget_usd" and end.is_error, end
    assert end.terminal_reason == "budget_exhausted", end
    assert len(end.errors) == 1 and "0.01" in end.errors[0], end.errors
    assert end.total_cost_usd > 0.01


anyio.run(main)
