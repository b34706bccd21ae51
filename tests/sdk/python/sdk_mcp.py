"""Tools defined in the program: offered under their server's name, called with checked input, failing as data."""

import anyio

from claude_agent_sdk import ClaudeSDKClient, create_sdk_mcp_server, tool
from engine import init, options, results, said_by, succeeded, turn

calls = []


@tool("add", "Adds two numbers", {"a": float, "b": float})
async def add(arguments):
    calls.append(arguments)
    return {"content": [{"type": "text", "text": f"{arguments['a'] + arguments['b']:g}"}]}


@tool("divide", "Divides two numbers", {"a": float, "b": float})
async def divide(arguments):
    if arguments["b"] == 0:
        return {"content": [{"type": "text", "text": "Division by zero."}], "is_error": True}
    return {"content": [{"type": "text", "text": f"{arguments['a'] / arguments['b']:g}"}]}


@tool("explode", "Fails", {})
async def explode(arguments):
    raise ValueError("boom")


async def main():
    server = create_sdk_mcp_server("calculator", "2.0.0", tools=[add, divide, explode])
    allowed = ["mcp__calc__add", "mcp__calc__divide", "mcp__calc__explode"]
    given = options(mcp_servers={"calc": server}, allowed_tools=allowed)
    async with ClaudeSDKClient(given) as client:
        messages = await turn(client, "Calculate.")
        status = await client.get_mcp_status()
        (calc,) = status["mcpServers"]
        assert calc["name"] == "calc" and calc["status"] == "connected", calc
    about = init(messages)
    assert {"mcp__calc__add", "mcp__calc__divide"} <= set(about["tools"]), about["tools"]
    assert [(s["name"], s["status"]) for s in about["mcp_servers"]] == [("calc", "connected")]
    succeeded(messages, "42.")
    answers = results(messages)
    assert said_by(answers["toolu_1_1"]) == "42" and not answers["toolu_1_1"].is_error
    assert said_by(answers["toolu_1_2"]) == "Division by zero."
    assert answers["toolu_1_2"].is_error
    assert answers["toolu_1_3"].is_error and "boom" in said_by(answers["toolu_1_3"])
    assert answers["toolu_2_1"].is_error, "the input does not fit"
    assert calls == [{"a": 40, "b": 2}], calls


anyio.run(main)
