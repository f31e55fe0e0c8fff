"""The providers as something to talk to, made from their rows and kept while these stay as they are."""

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
    """One for each process."""

    def __init__(self, seal: SecretBox) -> None:
        self._seal = seal
        self._made: dict[str, tuple[_Key, Redirecting | PasswordProvider]] = {}

    def redirecting(self, row: Provider) -> Redirecting:
        """The provider of a row that `redirects`. Raises: Unavailable when its secrets do not open."""
        return cast(Redirecting, self._kept(row))

    def password(self, row: Provider) -> PasswordProvider:
        """The provider of a row that `takes_passwords`. Raises: Unavailable when its secrets do not open."""
        return cast(PasswordProvider, self._kept(row))

    def close(self) -> None:
        """Let go of all of them."""
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
    """Whether people are sent to providers of this kind; False too while it is not installed."""
    return _makes(kind, Redirecting)


def takes_passwords(kind: str) -> bool:
    """Whether providers of this kind are asked with passwords; False too while it is not installed."""
    return _makes(kind, PasswordProvider)


def _makes(kind: str, port: type) -> bool:
    try:
        made = plugins.find(Port.IDENTITY, kind).makes
    except Unavailable:
        return False
    return made is not None and issubclass(made, port)
