"""What the plugin remembers between its calls (`state` of the declaration): for a session or for good, as granted."""

import json
from typing import Any, Callable

from componentize_py_types import Err
from wit_world.imports import state as host

from windlass_plugin.error import ToolError

_EXPLANATIONS = {
    host.StateError.NOT_GRANTED: "The plugin may not remember anything: it was granted no state.",
    host.StateError.INVALID: "A key of the plugin's state is empty, too long or has control characters.",
    host.StateError.FULL: "The plugin's state is full.",
    host.StateError.IO: "The plugin's state cannot be read or written.",
}


class StateError(ToolError):
    """State that is not given or not taken."""

    def __init__(self, code: host.StateError):
        super().__init__(_EXPLANATIONS[code])
        #: `not-granted`, `invalid`, `full` or `io`.
        self.code = code.name.lower().replace("_", "-")


def get(key: str) -> bytes | None:
    """The value of a key, if there is one."""
    return _answered(lambda: host.get(key))


def set(key: str, value: bytes) -> None:
    """Adds or replaces a value. A key has 1 to 120 bytes and no control characters."""
    _answered(lambda: host.set(key, value))


def remove(key: str) -> None:
    """Removes a value, if there is one."""
    _answered(lambda: host.remove(key))


def keys(prefix: str = "") -> list[str]:
    """The keys that begin with this text, sorted."""
    return _answered(lambda: host.keys(prefix))


def get_json(key: str) -> Any:
    """The value of a key as it was given to `set_json`; `None` if there is none."""
    value = get(key)
    return None if value is None else json.loads(value)


def set_json(key: str, value: Any) -> None:
    """Adds or replaces a value, as JSON."""
    set(key, json.dumps(value).encode())


def _answered(ask: Callable[[], Any]) -> Any:
    try:
        return ask()
    except Err as error:
        raise StateError(error.value) from None
