"""An MCP server on standard input and output whose tool `ask` asks the person for a name, and says what came of it."""

import json
import sys


def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def ask():
    """Asks, and waits for the answer."""
    schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    question = {"message": "Who are you?", "requestedSchema": schema}
    send({"id": "question", "method": "elicitation/create", "params": question})
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("id") == "question":
            return json.dumps(message.get("result") or message.get("error"), sort_keys=True)
    return "nobody answered"


capabilities = {}
for line in sys.stdin:
    request = json.loads(line)
    method = request.get("method")
    if "id" not in request:
        continue
    result = {}
    if method == "initialize":
        capabilities = request["params"]["capabilities"]
        result = {
            "protocolVersion": request["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "asking", "version": "1.0.0"},
        }
    elif method == "tools/list":
        result = {"tools": [{"name": "ask", "description": "Asks", "inputSchema": {"type": "object"}}]}
    elif method == "tools/call":
        said = ask() if "elicitation" in capabilities else "nobody may be asked"
        result = {"content": [{"type": "text", "text": said}]}
    send({"id": request["id"], "result": result})
