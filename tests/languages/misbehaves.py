"""Tools that do what they should not, for the tests."""

import os
import pathlib
import time
from dataclasses import dataclass

from windlass_plugin import Plugin

plugin = Plugin("misbehaves", "0.1.0", filesystem="write", memory_bytes=96 << 20, timeout_ms=5000, output_bytes=1 << 16)


@dataclass
class Misbehave:
    how: str
    path: str = ""
    reads: str | None = None
    writes: str | None = None


# What it really does is done at `path`, which is not declared: a call is granted what the others name.
@plugin.tool(paths={"reads": "read", "writes": "write"})
def misbehave(input: Misbehave) -> str:
    """Does one of the things that a plugin should not do."""
    path = pathlib.Path(input.path)
    match input.how:
        case "loop":
            while True:
                pass
        case "grow":
            held = []
            while True:
                held.append(bytearray(1 << 20))
        case "flood":
            return "x" * (1 << 20)
        case "log":
            for _ in range(10_000):
                print("x" * 100)
            return "logged"
        case "read":
            return path.read_text(encoding="utf-8")
        case "write":
            path.write_text("changed", encoding="utf-8")
            return "written"
        case "append":
            with open(path, "a", encoding="utf-8") as file:
                file.write(" and more")
            return path.read_text(encoding="utf-8")
        case "truncate":
            os.truncate(path, 0)
            return "cut"
        case "list":
            names = ((folder, names) for folder, _, names in os.walk(path))
            return "\n".join(f"{folder}/{name}" for folder, found in names for name in sorted(found))
        case "save":
            draft = path.with_suffix(".new")
            draft.write_text("saved", encoding="utf-8")
            os.replace(draft, path)
            return path.read_text(encoding="utf-8")
        case "link":
            path.symlink_to("/etc/passwd")
            return "linked"
        case "remove":
            path.unlink()
            return "removed"
        case "system":
            begun = time.monotonic()
            time.sleep(3600)
            return f"{dict(os.environ)} {time.monotonic() - begun} {os.urandom(8) != os.urandom(8)}"
        case "socket":
            import socket

            return str(socket.create_connection(("127.0.0.1", 80)))
        case "exit":
            os._exit(3)
    raise ValueError(f"no way to {input.how}")


WitWorld = plugin.exports()
