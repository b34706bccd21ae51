"""Requests to the origins that the plugin declares (`http`) and was granted. The host follows no redirect."""

import json
from dataclasses import dataclass, field
from typing import Any, Callable, Mapping

from componentize_py_types import Err
from wit_world.imports import http as host

from windlass_plugin.error import ToolError

#: How much of an answer is asked of the host at once, in bytes.
PIECE = 64 << 10

#: The most bytes of an answer that are taken if the plugin does not say.
LIMIT = 1 << 20


class HttpError(ToolError):
    """A request without an answer; the message is for the model."""

    def __init__(self, kind: str, reason: str):
        super().__init__(f"The request failed: {reason}.")
        #: `connect`, `interrupted`, `refused` or `too-large`.
        self.kind = kind


@dataclass
class Request:
    """A request; the method is in capital letters."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | str | None = None

    def lowered(self) -> host.Request:
        """The request as the host takes it."""
        headers = [host.Header(name, value) for name, value in self.headers.items()]
        body = self.body.encode() if isinstance(self.body, str) else self.body
        return host.Request(self.method, self.url, headers, [] if body is None else [body])


class Response:
    """An answer, whatever its status."""

    def __init__(self, answer: host.Response):
        self.status: int = answer.status
        #: Pairs of name and value, in the order of the answer.
        self.headers: list[tuple[str, str]] = [(header.name, header.value) for header in answer.headers]
        self._body = answer.body

    def header(self, name: str) -> str | None:
        """The first header of this name, in whatever letters."""
        return next((value for own, value in self.headers if own.lower() == name.lower()), None)

    def read(self, limit: int = LIMIT) -> bytes:
        """The body, which can be read once. Raises `HttpError` if it has more than `limit` bytes."""
        body = bytearray()
        while piece := answered(lambda: self._body.read(PIECE)):
            body += piece
            if len(body) > limit:
                raise HttpError("too-large", f"the answer has more than {limit} bytes")
        return bytes(body)

    def text(self, limit: int = LIMIT) -> str:
        """The body as text; what is not UTF-8 becomes U+FFFD."""
        return self.read(limit).decode(errors="replace")

    def json(self, limit: int = LIMIT) -> Any:
        """The body read as JSON."""
        return json.loads(self.read(limit))


def send(request: Request) -> Response:
    """Sends a request and waits for the answer."""
    return Response(answered(lambda: host.send(request.lowered())))


def get(url: str, headers: Mapping[str, str] | None = None) -> Response:
    """Sends a `GET` request."""
    return send(Request("GET", url, headers or {}))


def post_json(url: str, value: Any, headers: Mapping[str, str] | None = None) -> Response:
    """Sends a `POST` request with a JSON body."""
    return send(Request("POST", url, {**(headers or {}), "content-type": "application/json"}, json.dumps(value)))


def answered(ask: Callable[[], Any]) -> Any:
    """What the host answers; raises its failure as `HttpError`."""
    try:
        return ask()
    except Err as error:
        failure = error.value
        raise HttpError(_KINDS[type(failure)], failure.value) from None


_KINDS = {
    host.Failure_Connect: "connect",
    host.Failure_Interrupted: "interrupted",
    host.Failure_Refused: "refused",
    host.Failure_TooLarge: "too-large",
}
