"""An MCP server over HTTP, written against the specification alone: Streamable HTTP at /mcp, and the transport of 2024 at /sse.

It prints its origin, and ends with its standard input. Whoever does not say the header `authorization: Bearer let-me-in-please` is
not let in.
"""

import json
import queue
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOOLS = [
    {
        "name": "read",
        "description": "Reads a note",
        "inputSchema": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
        "annotations": {"readOnlyHint": True},
    }
]
STREAM = queue.Queue()


def answer(message):
    method, parameters = message["method"], message.get("params") or {}
    if method == "initialize":
        return {
            "protocolVersion": parameters["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "notes", "version": "1.2.3"},
        }
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": f"buy milk ({parameters['arguments']['name']})"}]}
    return None


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def respond(self, status, body=b"", kind="application/json"):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def is_let_in(self):
        if self.headers.get("authorization") == "Bearer let-me-in-please":
            return True
        self.respond(401)
        return False

    def do_GET(self):
        if not self.is_let_in():
            return
        if self.path != "/sse":
            self.respond(405)
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        self.wfile.write(b"event: endpoint\ndata: /messages\n\n")
        while True:
            self.wfile.write(f"event: message\ndata: {STREAM.get()}\n\n".encode())
            self.wfile.flush()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        if not self.is_let_in():
            return
        message = json.loads(body)
        if "id" not in message:
            self.respond(202)
            return
        result = answer(message)
        reply = {"jsonrpc": "2.0", "id": message["id"]}
        reply |= {"result": result} if result else {"error": {"code": -32601, "message": "no such method"}}
        if self.path == "/messages":
            STREAM.put(json.dumps(reply))
            self.respond(202)
        else:
            self.respond(200, json.dumps(reply).encode())


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
sys.stdin.read()
