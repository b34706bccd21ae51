"""Write a windlass plugin in Python.

A tool is a function with annotations. Its docstring is what the model reads, and the types of the input class say what the
tool takes:

    from dataclasses import dataclass

    from windlass_plugin import Plugin

    plugin = Plugin("count", "0.1.0", filesystem="read")

    @dataclass
    class CountLines:
        file_path: str
        \"\"\"The text file.\"\"\"

    @plugin.tool(read_only=True, paths={"file_path": "read"})
    def count_lines(input: CountLines) -> str:
        \"\"\"Counts the lines of a file.\"\"\"
        with open(input.file_path, encoding="utf-8") as file:
            return f"{sum(1 for _ in file)} lines"

    WitWorld = plugin.exports()

Files are opened as usual, by `open()`, `os` and `pathlib`: the granted directories are there under their absolute paths, and
relative paths start at the working directory of the session. What was not granted does not exist.

Hooks are functions too (`Plugin.judge`, `Plugin.observer`). `http`, `secrets`, `state`, `config` and `progress` are modules of
this package, and work as far as the plugin declares and was granted what they need.
"""

from windlass_plugin import config, http, progress, secrets, state
from windlass_plugin.config import Directory
from windlass_plugin.error import ToolError
from windlass_plugin.hooks import HookEvent, Judgement, ask, deny, narrow, pass_
from windlass_plugin.http import HttpError, Request, Response
from windlass_plugin.plugin import Image, Observation, Plugin, Result, write_log
from windlass_plugin.secrets import Secret
from windlass_plugin.state import StateError

__all__ = [
    "Directory",
    "HookEvent",
    "HttpError",
    "Image",
    "Judgement",
    "Observation",
    "Plugin",
    "Request",
    "Response",
    "Result",
    "Secret",
    "StateError",
    "ToolError",
    "ask",
    "config",
    "deny",
    "http",
    "narrow",
    "pass_",
    "progress",
    "secrets",
    "state",
    "write_log",
]
