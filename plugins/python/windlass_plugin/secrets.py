"""Keys that the host adds to requests (`secrets` of the declaration). The plugin never sees their values."""

from dataclasses import dataclass

from wit_world.imports import secrets as host
from wit_world.imports.secrets import SecretHeader

from windlass_plugin.http import Request, Response, answered


@dataclass(frozen=True)
class Secret:
    """A key that the plugin asks for: what it is for, and the declared origins that it is sent to."""

    name: str
    description: str
    audience: list[str]


def available(name: str) -> bool:
    """Whether a secret can be used: it is declared, granted and there."""
    return host.available(name)


def bearer(secret: str) -> SecretHeader:
    """The header `authorization: Bearer …`."""
    return SecretHeader("authorization", secret, "Bearer ", None)


def basic(user: str, secret: str) -> SecretHeader:
    """The header `authorization: Basic …` with this user's name; the secret is the password."""
    return SecretHeader("authorization", secret, "Basic ", user)


def header(name: str, secret: str) -> SecretHeader:
    """A header whose value is the secret alone."""
    return SecretHeader(name, secret, "", None)


def send(request: Request, *headers: SecretHeader) -> Response:
    """Sends a request with secrets, to an origin that each is meant for. Raises `HttpError`."""
    return Response(answered(lambda: host.send(request.lowered(), list(headers))))
