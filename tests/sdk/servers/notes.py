"""An MCP server on standard input and output, written against the specification alone.

$NOTE is what its tool `read` answers. `crash` ends the process without an answer, `slow` never answers, `fail`
answers with an error of the tool, `whoami` with its process, `grow` adds a tool and says so. $STUBBORN makes it deaf to the end of its input.
"""

import json
import os
import signal
import sys

TOOLS = [
    {
        "name": "read",
        "description": "Reads a note",
        "inputSchema": {
            "type": "object",
            "properties": {"name": {"type": "string"}},
            "required": ["name"],
        },
        "annotations": {"readOnlyHint": True, "title": "Read a note"},
    },
    {"name": "crash", "description": "Ends the server", "inputSchema": {"type": "object"}},
    {"name": "slow", "description": "Never answers", "inputSchema": {"type": "object"}},
    {"name": "fail", "description": "Fails", "inputSchema": {"type": "object"}},
    {"name": "whoami", "description": "Its process", "inputSchema": {"type": "object"}},
    {"name": "grow", "description": "Adds a tool", "inputSchema": {"type": "object"}},
]


def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def text(said, **more):
    return {"content": [{"type": "text", "text": said}], **more}


def call(name, arguments):
    if name == "read":
        return text(f"{os.environ.get('NOTE', 'no note')} ({arguments['name']})")
    if name == "crash":
        os._exit(3)
    if name == "whoami":
        return text(str(os.getpid()))
    if name == "fail":
        return text("There is no paper.", isError=True)
    if name == "grow":
        TOOLS.append({"name": "late", "description": "Came later", "inputSchema": {"type": "object"}})
        send({"method": "notifications/tools/list_changed"})
        return text("grown")
    return None


def answer(request):
    method, parameters = request["method"], request.get("params") or {}
    if method == "initialize":
        return {
            "protocolVersion": parameters["protocolVersion"],
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "notes", "version": "1.2.3"},
        }
    if method == "tools/list":
        # In two pages, because that is allowed.
        half = len(TOOLS) // 2
        if parameters.get("cursor") == "rest":
            return {"tools": TOOLS[half:]}
        return {"tools": TOOLS[:half], "nextCursor": "rest"}
    if method == "tools/call":
        return call(parameters["name"], parameters.get("arguments") or {})
    return {}


if os.environ.get("STUBBORN"):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("notes: ready", file=sys.stderr, flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and "method" in message:
        result = answer(message)
        if result is not None:
            send({"id": message["id"], "result": result})
while os.environ.get("STUBBORN"):
    signal.pause()
