"""Environment variables of sessions. They may hold secrets, so values are encrypted at rest."""

import base64
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TypeVar

from carrel.core.errors import Invalid
from carrel.db.encryption import SecretBox
from carrel.sessions.spec import SessionSpec

HIDDEN = "********"
SEALED = "sealed:"
_PURPOSE = "session environment"

Spec = TypeVar("Spec", bound=SessionSpec)


def closed(seal: SecretBox, env: Mapping[str, str]) -> dict[str, str]:
    """The variables with encrypted values, as stored. Raises: Invalid for a NUL, which would end the value."""
    if any("\0" in value for value in env.values()):
        raise Invalid(
            "invalid.text",
            "The request contains a NUL character, which is not allowed in text.",
            hint="Remove it.",
            field="env",
        )
    return {name: _closed(seal, value) for name, value in env.items()}


def _closed(seal: SecretBox, value: str) -> str:
    return SEALED + base64.b64encode(seal.close(value.encode(), _PURPOSE)).decode()


def opened(seal: SecretBox, env: Mapping[str, str]) -> dict[str, str]:
    """The decrypted variables; those stored before encryption was introduced are returned as they are."""
    return {
        name: seal.open(base64.b64decode(value.removeprefix(SEALED)), _PURPOSE).decode()
        if value.startswith(SEALED)
        else value
        for name, value in env.items()
    }


def closed_spec(seal: SecretBox, spec: Spec) -> Spec:
    """The spec with all its variables encrypted, also those of its roles. Raises: Invalid."""
    return _each_env(spec, partial(closed, seal))


def sealed_spec(seal: SecretBox, spec: Spec) -> Spec:
    """The stored spec with variables encrypted that an earlier version stored in plain text."""

    def sealed(env: Mapping[str, str]) -> dict[str, str]:
        return {
            name: value if value.startswith(SEALED) else _closed(seal, value) for name, value in env.items()
        }

    return _each_env(spec, sealed)


def shown(seal: SecretBox, spec: Spec, *, own: bool) -> Spec:
    """The spec with decrypted variables for its owner; for others with masked ones, and a masked bootstrap script."""
    if own:
        return _each_env(spec, partial(opened, seal))
    return replace(_each_env(spec, hidden), bootstrap=HIDDEN if spec.bootstrap else "")


def _each_env(spec: Spec, change: Callable[[Mapping[str, str]], dict[str, str]]) -> Spec:
    roles = tuple([replace(role, env=change(role.env)) for role in spec.roles])
    return replace(spec, env=change(spec.env), roles=roles)


def hidden(env: Mapping[str, str]) -> dict[str, str]:
    """The variables with masked values, for users other than the owner."""
    return dict.fromkeys(env, HIDDEN)
