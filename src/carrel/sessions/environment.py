"""Environment variables of sessions: people put secrets there, so that their values are sealed at rest."""

import base64
from collections.abc import Mapping

from carrel.core.errors import Invalid
from carrel.db.encryption import SecretBox

HIDDEN = "********"
_SEALED = "sealed:"
_PURPOSE = "session environment"


def closed(seal: SecretBox, env: Mapping[str, str]) -> dict[str, str]:
    """The variables with sealed values, as they are stored. Raises: Invalid for a NUL, which ends a variable."""
    if any("\0" in value for value in env.values()):
        raise Invalid(
            "invalid.text",
            "The request holds a NUL character, which no text here can have.",
            hint="Leave it out.",
            field="env",
        )
    return {
        name: _SEALED + base64.b64encode(seal.close(value.encode(), _PURPOSE)).decode()
        for name, value in env.items()
    }


def opened(seal: SecretBox, env: Mapping[str, str]) -> dict[str, str]:
    """The variables as they were given; those that were stored before sealing began are as they are."""
    return {
        name: seal.open(base64.b64decode(value.removeprefix(_SEALED)), _PURPOSE).decode()
        if value.startswith(_SEALED)
        else value
        for name, value in env.items()
    }


def hidden(env: Mapping[str, str]) -> dict[str, str]:
    """The names alone: what others than the owner see."""
    return dict.fromkeys(env, HIDDEN)
