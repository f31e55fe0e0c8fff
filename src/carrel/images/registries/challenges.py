"""How a registry has its clients sign in: challenges (RFC 9110), and tokens as those of the distribution project."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.request import parse_http_list, parse_keqv_list

from carrel.images.registries.registry_errors import broken

_USUAL_S = 60.0
"""Lifetime of a token that does not tell, by the specification."""
_MARGIN_S = 10.0


@dataclass(frozen=True)
class AuthChallenge:
    """service, scope: "" if the registry names none, as NGC does for its service."""

    scheme: Literal["basic", "bearer"]
    realm: str = ""
    service: str = ""
    scope: str = ""


def challenge_of(headers: Mapping[str, str]) -> AuthChallenge | None:
    """The challenge of a 401 response; None if it has none that we can meet."""
    scheme, _, text = headers.get("WWW-Authenticate", "").partition(" ")
    if scheme.lower() == "basic":
        return AuthChallenge("basic")
    if scheme.lower() != "bearer":
        return None
    parts = [part for part in parse_http_list(text) if "=" in part]
    values = {name.lower(): value for name, value in parse_keqv_list(parts).items()}
    if not values.get("realm"):
        return None
    return AuthChallenge("bearer", values["realm"], values.get("service", ""), values.get("scope", ""))


def token_of(answer: Any, host: str) -> tuple[str, float]:
    """The token and its lifetime in seconds. Raises: RegistryError."""
    if not isinstance(answer, dict):
        raise broken(host, "a token that is no JSON object")
    token, lifetime_s = answer.get("token") or answer.get("access_token"), answer.get("expires_in")
    if not isinstance(token, str) or not token.isascii() or not token.isprintable():
        raise broken(host, "no token")
    return token, float(lifetime_s) if isinstance(lifetime_s, int | float) else _USUAL_S


class TokenCache:
    """Tokens by scope, until shortly before they expire."""

    def __init__(self) -> None:
        self._tokens: dict[str, tuple[str, float]] = {}

    def get(self, scope: str) -> str | None:
        token, until = self._tokens.get(scope, ("", 0.0))
        return token if time.monotonic() < until else None

    def put(self, scope: str, token: str, lifetime_s: float) -> None:
        self._tokens[scope] = token, time.monotonic() + max(lifetime_s - _MARGIN_S, 0)

    def forget(self, scope: str) -> None:
        self._tokens.pop(scope, None)
