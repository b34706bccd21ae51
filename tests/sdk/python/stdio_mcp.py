"""An external MCP server: reached by pipe, its tools called, its status told, switched off and on again."""

import sys

import anyio

from claude_agent_sdk import ClaudeSDKClient
from engine import TESTS, init, options, results, said_by, succeeded, turn


async def main():
    servers = {
        "notes": {
            "command": sys.executable,
            "args": [str(TESTS / "servers/notes.py")],
            "env": {"NOTE": "from ${HOME:-nowhere}"},
        },
        "absent": {"type": "stdio", "command": "/nowhere/server"},
    }
    given = options(mcp_servers=servers, allowed_tools=["mcp__notes"])
    async with ClaudeSDKClient(given) as client:
        messages = await turn(client, "Look at the note.")
        succeeded(messages, "Seen.")
        found = {s["name"]: s["status"] for s in init(messages)["mcp_servers"]}
        assert found == {"notes": "connected", "absent": "failed"}, found
        answer = results(messages)["toolu_1_1"]
        assert said_by(answer).startswith("from /") and not answer.is_error, answer

        status = {s["name"]: s for s in (await client.get_mcp_status())["mcpServers"]}
        assert status["notes"]["serverInfo"]["name"] == "notes", status
        tools = {t["name"]: t for t in status["notes"]["tools"]}
        assert tools["read"]["annotations"]["readOnly"] is True, tools
        assert status["absent"]["error"], status

        await client.toggle_mcp_server("notes", enabled=False)
        status = {s["name"]: s for s in (await client.get_mcp_status())["mcpServers"]}
        assert status["notes"]["status"] == "disabled", status
        messages = await turn(client, "And now?")
        succeeded(messages, "Gone.")
        assert "mcp__notes__read" not in init(messages)["tools"]

        await client.toggle_mcp_server("notes", enabled=True)
        # The server dies in the middle of this one.
        messages = await turn(client, "Break it.")
        succeeded(messages, "Broken.")
        assert results(messages)["toolu_4_1"].is_error
        await client.reconnect_mcp_server("notes")
        messages = await turn(client, "Once more.")
        succeeded(messages, "Seen again.")
        assert not results(messages)["toolu_6_1"].is_error


anyio.run(main)
