"""A plugin: what it declares, and the exports of its component."""

import contextlib
import json
import os
import traceback
from dataclasses import asdict, dataclass, field
from typing import Any, Callable, get_type_hints

from componentize_py_types import Err
from wit_world.imports import filesystem, log
from wit_world.imports.windlass_plugin_types import (
    Content_Image,
    Content_Text,
    Image,
    Observation,
    ToolResult,
)

from windlass_plugin.config import Directory
from windlass_plugin.error import ToolError
from windlass_plugin.hooks import HookEvent, Judgement, is_judgement, read_event
from windlass_plugin.schema import read_input, schema_of
from windlass_plugin.secrets import Secret

#: The version of the interfaces that this file is written for.
WIT = "0.1.0"

_LEVELS = {level.name.lower(): level for level in log.Level}


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
    """A plugin: what it is called, what it asks for, its tools and its hooks."""

    def __init__(
        self,
        name: str,
        version: str,
        *,
        filesystem: str = "none",
        directories: list[Directory] | None = None,
        http: list[str | dict[str, Any]] | None = None,
        secrets: list[Secret] | None = None,
        env: list[str] | None = None,
        state: str = "none",
        memory_bytes: int | None = None,
        timeout_ms: int | None = None,
        output_bytes: int | None = None,
        log_bytes: int | None = None,
        host_calls: int | None = None,
        http_bytes: int | None = None,
        instance: str = "call",
    ):
        """What the plugin asks for at most, and what a call needs at most.

        `filesystem` is `none`, `read` or `write` and is about files of the workspace; `directories` has those that it needs for
        something (`config.directory` says where they are); `http` has origins, alone (for `GET`) or as
        `{"origin": "https://api.example.com", "methods": ["GET", "POST"]}`; `env` has names of variables, and `state` is
        `none`, `session` or `durable`. With `session` as `instance`, what the tools keep in variables lasts from call to call of
        a session, at most; otherwise each call begins anew.
        """
        limits = {
            "memory_bytes": memory_bytes,
            "timeout_ms": timeout_ms,
            "output_bytes": output_bytes,
            "log_bytes": log_bytes,
            "host_calls": host_calls,
            "http_bytes": http_bytes,
        }
        grants = {
            "filesystem": filesystem,
            "directories": [asdict(directory) for directory in directories or []],
            "http": http or [],
            "secrets": [asdict(secret) for secret in secrets or []],
            "env": env or [],
            "state": state,
        }
        self._declared = {
            "name": name,
            "version": version,
            "wit": WIT,
            "tools": [],
            "hooks": [],
            "grants": grants,
            "limits": {key: value for key, value in limits.items() if value is not None},
        }
        if instance != "call":
            self._declared["instance"] = instance
        self._tools: dict[str, tuple[Callable[[Any], Any], type]] = {}
        self._hooks: dict[tuple[str, str], Callable[[HookEvent], Judgement | None]] = {}

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
            tool_name = name or _title(function)
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

    def judge(
        self, *, on: str, matcher: str | None = None, name: str | None = None, timeout_ms: int | None = None
    ) -> Callable[[Callable[[HookEvent], Judgement]], Callable[[HookEvent], Judgement]]:
        """Makes a function a judge: a hook that may refuse. One that fails, or returns no judgement, has refused.

        `on` is the event, `matcher` what it runs for (`Write|Edit`). The function takes a `HookEvent`, and returns what `pass_`,
        `ask`, `deny` or `narrow` made.
        """
        return self._hook("judge", on, matcher, name, timeout_ms)

    def observer(
        self, *, on: str, matcher: str | None = None, name: str | None = None, timeout_ms: int | None = None
    ) -> Callable[[Callable[[HookEvent], None]], Callable[[HookEvent], None]]:
        """Makes a function an observer: a hook that sees and changes nothing. It is written as a judge, and returns nothing."""
        return self._hook("observer", on, matcher, name, timeout_ms)

    def _hook(
        self, kind: str, on: str, matcher: str | None, name: str | None, timeout_ms: int | None
    ) -> Callable[[Callable[[HookEvent], Any]], Callable[[HookEvent], Any]]:
        def register(function: Callable[[HookEvent], Any]) -> Callable[[HookEvent], Any]:
            hook_name = name or _title(function)
            declared = {"name": hook_name, "kind": kind, "event": on, "matcher": matcher, "timeout_ms": timeout_ms}
            self._declared["hooks"].append({key: value for key, value in declared.items() if value is not None})
            self._hooks[kind, hook_name] = function
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

            def judge(self, event: Any) -> Judgement:
                judgement = plugin._run_hook("judge", event)
                if not is_judgement(judgement):
                    raise Err(f"the judge {event.hook} returned no judgement: pass_(), ask(), deny() or narrow()")
                return judgement

            def observe(self, event: Any) -> None:
                plugin._run_hook("observer", event)

        return WitWorld

    def _call(self, call: Any) -> ToolResult:
        """Answers a call. Nothing may leave this function: an exception that does would end the component."""
        try:
            _enter_working_directory()
            function, shape = self._tools[call.name]
            return _result(function(read_input(shape, json.loads(call.input))))
        except ToolError as error:
            return _failed(str(error))
        except OSError as error:
            return _failed(_explained(error))
        except Exception as error:
            write_log(traceback.format_exc(), "debug")
            return _failed(f"{type(error).__name__}: {error}")


    def _run_hook(self, kind: str, event: Any) -> Any:
        """Runs a hook. What it raises is an error for the host: any other exception would end the component."""
        try:
            _enter_working_directory()
            return self._hooks[kind, event.hook](read_event(event))
        except Exception as error:
            write_log(traceback.format_exc(), "debug")
            raise Err(f"{type(error).__name__}: {error}") from None


def _enter_working_directory() -> None:
    # Where nothing was granted, there is no such directory.
    with contextlib.suppress(OSError):
        os.chdir(filesystem.working_directory())


def _title(function: Callable[..., Any]) -> str:
    return "".join(word.capitalize() for word in function.__name__.split("_"))


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
