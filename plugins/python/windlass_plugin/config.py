"""Settings of the environment, by names that the plugin declares (`env`)."""

from wit_world.imports import config as host


def get(name: str) -> str | None:
    """The value of a variable; none if it is not set, or was not granted."""
    return host.get(name)
