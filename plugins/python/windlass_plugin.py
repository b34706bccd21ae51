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
"""

import contextlib
import json
import os
import traceback
from dataclasses import dataclass, field
from typing import Any, Callable, get_type_hints

from windlass_schema import read_input, schema_of
from wit_world.imports import filesystem, log
from wit_world.imports.windlass_plugin_types import (
    Content_Image,
    Content_Text,
    Image,
    Observation,
    ToolResult,
)

#: The version of the interfaces that this file is written for.
WIT = "0.1.0"

_LEVELS = {level.name.lower(): level for level in log.Level}


class ToolError(Exception):
    """A failure whose message the model reads."""


@dataclass
class Result:
    """What a tool found: texts and images for the model, and a value for programs, which has to have a JSON form."""

    content: list[str | Image]
    structured: Any = None
    is_error: bool = False
    observed: list[Observation] = field(default_factory=list)


def write_log(message: object, level: str = "info") -> None:
    """Tells the host's log something, at the level `debug`, `info`, `warn` or `error`."""
    log.log(_LEVELS[level], str(message))


class Plugin:
    """A plugin: what it is called, what it asks for, and its tools."""

    def __init__(
        self,
        name: str,
        version: str,
        *,
        filesystem: str = "none",
        memory_bytes: int | None = None,
        timeout_ms: int | None = None,
        output_bytes: int | None = None,
    ):
        """`filesystem` (`none`, `read` or `write`) is the most that the plugin asks for, the rest what a call needs at most."""
        limits = {"memory_bytes": memory_bytes, "timeout_ms": timeout_ms, "output_bytes": output_bytes}
        self._declared = {
            "name": name,
            "version": version,
            "wit": WIT,
            "tools": [],
            "grants": {"filesystem": filesystem},
            "limits": {key: value for key, value in limits.items() if value is not None},
        }
        self._tools: dict[str, tuple[Callable[[Any], Any], type]] = {}

    def tool(
        self,
        name: str | None = None,
        *,
        read_only: bool = False,
        destructive: bool = False,
        idempotent: bool = False,
        open_world: bool = False,
        paths: dict[str, str] | None = None,
        retry: str = "never",
        timeout_ms: int | None = None,
    ) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
        """Makes a tool of a function with one parameter, a dataclass or `TypedDict`.

        The tool is called as the function, in the words of its name put together (`count_lines` is `CountLines`), unless `name`
        says otherwise. `paths` names the fields of the input that are file paths, with `read` or `write`.
        """

        def register(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
            tool_name = name or "".join(word.capitalize() for word in function.__name__.split("_"))
            hints = get_type_hints(function)
            hints.pop("return", None)
            if len(hints) != 1:
                raise TypeError(f"{function.__name__} needs one parameter with a type: its input")
            (shape,) = hints.values()
            declared = {
                "name": tool_name,
                "description": _dedented(function.__doc__),
                "input_schema": schema_of(shape),
                "annotations": {
                    "readOnly": read_only,
                    "destructive": destructive,
                    "idempotent": idempotent,
                    "openWorld": open_world,
                },
                "paths": [{"field": key, "access": access} for key, access in (paths or {}).items()],
                "retry": retry,
            }
            if timeout_ms is not None:
                declared["timeout_ms"] = timeout_ms
            self._declared["tools"].append(declared)
            self._tools[tool_name] = (function, shape)
            return function

        return register

    def exports(self) -> type:
        """The class that the component exports: `WitWorld = plugin.exports()`."""
        plugin = self

        class WitWorld:
            def declaration(self) -> str:
                return json.dumps(plugin._declared)

            def call(self, call: Any) -> ToolResult:
                return plugin._call(call)

        return WitWorld

    def _call(self, call: Any) -> ToolResult:
        """Answers a call. Nothing may leave this function: an exception that does would end the component."""
        try:
            # Where nothing was granted, there is no such directory.
            with contextlib.suppress(OSError):
                os.chdir(filesystem.working_directory())
            function, shape = self._tools[call.name]
            return _result(function(read_input(shape, json.loads(call.input))))
        except ToolError as error:
            return _failed(str(error))
        except OSError as error:
            return _failed(_explained(error))
        except Exception as error:
            write_log(traceback.format_exc(), "debug")
            return _failed(f"{type(error).__name__}: {error}")


def _result(returned: Any) -> ToolResult:
    if isinstance(returned, str):
        returned = Result([returned])
    if not isinstance(returned, Result):
        raise TypeError(f"the tool returned {type(returned).__name__}, which is neither a text nor a Result")
    content = [
        Content_Text(block) if isinstance(block, str) else Content_Image(block) for block in returned.content
    ]
    structured = None if returned.structured is None else json.dumps(returned.structured)
    return ToolResult(content, returned.is_error, structured, returned.observed)


def _failed(message: str) -> ToolResult:
    return ToolResult([Content_Text(message)], True, None, [])


def _explained(error: OSError) -> str:
    if isinstance(error, FileNotFoundError) and error.filename:
        return f"{error.filename} does not exist."
    return str(error)


def _dedented(doc: str | None) -> str:
    lines = [line.strip() for line in (doc or "").strip().splitlines()]
    return "\n".join(lines)
