"""What a long call is doing, for whoever waits for it."""

from wit_world.imports import progress as host


def report(message: object, fraction: float | None = None) -> None:
    """Reports what the call is doing and, if it is known, how much of it is done, between 0 and 1."""
    host.report(str(message), fraction)
