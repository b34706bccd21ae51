"""Hooks: code that runs at the events of a session. A judge may refuse, ask or narrow, and never allows; an observer sees."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from wit_world.imports import hooks as host
from wit_world.imports.hooks import Judgement


@dataclass(frozen=True)
class HookEvent:
    """What happened."""

    #: The event: `PreToolUse`, `Stop`, …
    event: str
    #: The fields that the Agent SDK reference names for inputs of hooks.
    input: dict[str, Any]
    #: The tool call that the event concerns.
    tool_use_id: str | None


def pass_() -> Judgement:
    """No opinion: rules and mode decide."""
    return host.Judgement_Pass()


def ask(reason: str) -> Judgement:
    """Permission must be asked for, with a reason that the person reads."""
    return host.Judgement_Ask(reason)


def deny(reason: str) -> Judgement:
    """It is refused, with a reason that the model reads."""
    return host.Judgement_Deny(reason)


def narrow(
    *, without: Iterable[str] = (), without_writing: Iterable[str] = (), within_ms: int | None = None
) -> Judgement:
    """The call may run without the files that patterns match, without writing some, and within a time in milliseconds."""
    paths = [host.DeniedPath(pattern, host.DeniedAccess.READ) for pattern in without]
    paths += [host.DeniedPath(pattern, host.DeniedAccess.WRITE) for pattern in without_writing]
    return host.Judgement_Narrow(host.Narrowing(paths, within_ms))


def read_event(event: host.HookEvent) -> HookEvent:
    """The event as a function of the plugin takes it."""
    return HookEvent(event.event, json.loads(event.input), event.tool_use_id)


def is_judgement(returned: object) -> bool:
    """Whether a judge said something."""
    return isinstance(
        returned, (host.Judgement_Pass, host.Judgement_Ask, host.Judgement_Deny, host.Judgement_Narrow)
    )
