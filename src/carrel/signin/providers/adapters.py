"""Provider clients, created from their rows and cached until these change."""

from collections.abc import Mapping
from typing import Any, cast

from carrel import plugins
from carrel.core.errors import Unavailable
from carrel.db.encryption import SecretBox
from carrel.identity.port import Connect, PasswordProvider, ProviderContext, Redirecting
from carrel.plugins import Port
from carrel.signin.providers.setup import opened
from carrel.tables.providers import Provider

_Key = tuple[str, Mapping[str, Any], bool, Mapping[str, str]]


class Adapters:
    """The provider clients of a process."""

    def __init__(self, seal: SecretBox) -> None:
        self._seal = seal
        self._made: dict[str, tuple[_Key, Redirecting | PasswordProvider]] = {}

    def redirecting(self, row: Provider) -> Redirecting:
        """The client of a provider that `redirects`. Raises: Unavailable when its secrets cannot be decrypted."""
        return cast(Redirecting, self._kept(row))

    def password(self, row: Provider) -> PasswordProvider:
        """The client of a provider that `takes_passwords`. Raises: Unavailable when its secrets cannot be decrypted."""
        return cast(PasswordProvider, self._kept(row))

    def close(self) -> None:
        """Close all clients."""
        for _, adapter in self._made.values():
            adapter.close()
        self._made.clear()

    def _kept(self, row: Provider) -> Redirecting | PasswordProvider:
        key = (row.kind, row.settings, bool(row.mapping), row.secrets)
        known = self._made.get(row.id)
        if known and known[0] == key:
            return known[1]
        if known:
            known[1].close()
        made = self._make(row)
        self._made[row.id] = (key, made)
        return made

    def _make(self, row: Provider) -> Redirecting | PasswordProvider:
        secrets = opened(self._seal, row, row.secrets)
        connect = cast(Connect, plugins.find(Port.IDENTITY, row.kind).made(**row.settings, **secrets))
        return connect(ProviderContext(row.name, wants_groups=bool(row.mapping)))


def redirects(kind: str) -> bool:
    """True if this kind redirects browsers to the provider; False also if the plug-in is not installed."""
    return _makes(kind, Redirecting)


def takes_passwords(kind: str) -> bool:
    """True if this kind verifies passwords; False also if the plug-in is not installed."""
    return _makes(kind, PasswordProvider)


def _makes(kind: str, port: type) -> bool:
    try:
        made = plugins.find(Port.IDENTITY, kind).makes
    except Unavailable:
        return False
    return made is not None and issubclass(made, port)
