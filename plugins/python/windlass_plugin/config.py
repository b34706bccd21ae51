"""Settings of the environment (`env`), and where the directories of roles are (`directories`)."""

from dataclasses import dataclass

from wit_world.imports import config as host


@dataclass(frozen=True)
class Directory:
    """A directory that the plugin asks for: what it needs it for, `read` or `write`, and what is expected there."""

    role: str
    access: str
    description: str


def get(name: str) -> str | None:
    """The value of a variable; none if it is not set, or was not granted."""
    return host.get(name)


def directory(role: str) -> str | None:
    """The absolute path of the directory of a role; none if it was not granted."""
    return host.get(f"directory:{role}")
