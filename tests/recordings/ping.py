"""An MCP server on standard input and output with one tool, `ping`, which says `pong`."""

import json
import sys

TOOL = {"name": "ping", "description": "Says pong", "inputSchema": {"type": "object"}}


def answer(request):
    match request["method"]:
        case "initialize":
            return {
                "protocolVersion": request["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "ping", "version": "1.0.0"},
            }
        case "tools/list":
            return {"tools": [TOOL]}
        case "tools/call":
            return {"content": [{"type": "text", "text": "pong"}]}
        case _:
            return {}


for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        said = {"jsonrpc": "2.0", "id": request["id"], "result": answer(request)}
        print(json.dumps(said), flush=True)
