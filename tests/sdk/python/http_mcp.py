"""MCP servers over HTTP: both transports, one that lets nobody in, and one that is not there."""

import subprocess
import sys

import anyio

from claude_agent_sdk import ClaudeSDKClient
from engine import TESTS, init, options, results, said_by, succeeded, turn


async def main():
    script = str(TESTS / "servers/http_notes.py")
    with subprocess.Popen([sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        origin = server.stdout.readline().strip()
        headers = {"Authorization": "Bearer ${NOBODY_SET_THIS:-let-me-in-please}"}
        servers = {
            "notes": {"type": "http", "url": f"{origin}/mcp", "headers": headers},
            "old": {"type": "sse", "url": f"{origin}/sse", "headers": headers},
            "locked": {"type": "http", "url": f"{origin}/mcp"},
            "absent": {"type": "http", "url": "http://127.0.0.1:9/mcp"},
        }
        given = options(mcp_servers=servers, allowed_tools=["mcp__notes", "mcp__old"])
        async with ClaudeSDKClient(given) as client:
            messages = await turn(client, "Look at the notes.")
            succeeded(messages, "Seen.")
            found = {s["name"]: s["status"] for s in init(messages)["mcp_servers"]}
            assert found == {"notes": "connected", "old": "connected", "locked": "needs-auth", "absent": "failed"}, found
            answers = results(messages)
            assert said_by(answers["toolu_1_1"]) == "buy milk (today)", answers
            assert said_by(answers["toolu_1_2"]) == "buy milk (yesterday)", answers
            status = {s["name"]: s for s in (await client.get_mcp_status())["mcpServers"]}
            assert status["notes"]["serverInfo"]["name"] == "notes", status
            assert "(401)" in status["locked"]["error"], status
            assert "cannot reach" in status["absent"]["error"], status
        server.stdin.close()


anyio.run(main)
