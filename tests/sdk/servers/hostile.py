"""An MCP server that keeps to the protocol until one of its tools is called, or as $LISTS says.

$LISTS: `endless` gives a list whose pages never end, `circle` one that comes back to where it was, `long` one of very many
entries. The tools: `big` answers with $SIZE bytes, `late` with the same and its id at the end, `deep` with $SIZE levels, `half` with a
character that is none, `endless` with a line that does not end, `storm` sends $SIZE notifications first, `asks` sends $SIZE requests
and reads none of the answers before it has sent them all, then tells how many it got, `changes` says $SIZE times that its tools have changed, `count` tells how
often they were asked for.
"""

import json
import os
import sys

SIZE = int(os.environ.get("SIZE", "0"))
LISTS = os.environ.get("LISTS", "")
NAMES = ["big", "late", "deep", "half", "endless", "storm", "asks", "changes", "count", "plain"]
asked = 0


def write(text):
    sys.stdout.write(text)
    sys.stdout.flush()


def send(message):
    write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")


def result(id, text):
    send({"id": id, "result": {"content": [{"type": "text", "text": text}]}})


def tool(name):
    return {"name": name, "description": name, "inputSchema": {"type": "object"}}


def tools(cursor):
    if LISTS == "endless":
        return {"tools": [tool(f"t{cursor}")], "nextCursor": str(int(cursor or 0) + 1)}
    if LISTS == "circle":
        return {"tools": [tool("t")], "nextCursor": {"a": "b", "b": "a"}.get(cursor, "a")}
    if LISTS == "long":
        return {"tools": [tool(f"t{cursor}-{n}") for n in range(2000)], "nextCursor": str(int(cursor or 0) + 1)}
    return {"tools": [tool(name) for name in NAMES]}


def call(id, name):
    content = '"content":[{"type":"text","text":"'
    if name == "big":
        write(f'{{"jsonrpc":"2.0","id":{id},"result":{{{content}')
        for _ in range(SIZE >> 16):
            sys.stdout.write("x" * (1 << 16))
        write('"}]}}\n')
    elif name == "late":
        write(f'{{"result":{{{content}{"x" * SIZE}"}}]}},"id":{id},"jsonrpc":"2.0"}}\n')
    elif name == "deep":
        nested = "[" * SIZE + "]" * SIZE
        write(f'{{"jsonrpc":"2.0","id":{id},"result":{{"content":[],"structuredContent":{{"a":{nested}}}}}}}\n')
    elif name == "half":
        write(f'{{"jsonrpc":"2.0","id":{id},"result":{{{content}\\ud800"}}]}}}}\n')
    elif name == "endless":
        try:
            while True:
                sys.stdout.write("x" * (1 << 20))
        except BrokenPipeError:
            os._exit(0)
    elif name == "storm":
        for n in range(SIZE):
            send({"method": "notifications/progress", "params": {"progressToken": n, "progress": n}})
            send({"method": "notifications/message", "params": {"level": "info", "data": "x" * 100}})
        result(id, "calm")
    elif name == "asks":
        for n in range(SIZE):
            send({"id": f"server-{n}", "method": "ping"})
        result(id, str(sum("result" in json.loads(sys.stdin.readline()) for _ in range(SIZE))))
    elif name == "changes":
        for _ in range(SIZE):
            send({"method": "notifications/tools/list_changed"})
        result(id, "changed")
    elif name == "count":
        result(id, str(asked))
    else:
        result(id, "plain")


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message or "method" not in message:
        continue
    id, method, parameters = message["id"], message["method"], message.get("params") or {}
    if method == "initialize":
        version = parameters["protocolVersion"]
        info = {"name": "hostile", "version": "1"}
        send({"id": id, "result": {"protocolVersion": version, "capabilities": {"tools": {"listChanged": True}}, "serverInfo": info}})
    elif method == "tools/list":
        asked += 1
        send({"id": id, "result": tools(parameters.get("cursor"))})
    elif method == "tools/call":
        call(id, parameters["name"])
    else:
        send({"id": id, "result": {}})
