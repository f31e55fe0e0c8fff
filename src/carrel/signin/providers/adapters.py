"""The providers as something to talk to, made from their rows and kept while these stay as they are."""

from collections.abc import Mapping
from typing import Any, cast

from carrel import plugins
from carrel.core.errors import Invalid
from carrel.db.encryption import SecretBox
from carrel.identity.port import PasswordProvider, Redirecting
from carrel.signin.providers.schemas import LdapOptions, OidcOptions, ProviderKind, options_of
from carrel.tables.providers import Provider

_Key = tuple[str, Mapping[str, Any], bool, bytes | None]


class Adapters:
    """One for each process."""

    def __init__(self, seal: SecretBox) -> None:
        self._seal = seal
        self._made: dict[str, tuple[_Key, Redirecting | PasswordProvider]] = {}

    def open_id(self, row: Provider) -> Redirecting:
        """The OpenID provider of a row. Raises: Unavailable when its secret does not open."""
        assert row.kind == ProviderKind.OIDC
        return cast(Redirecting, self._kept(row))

    def directory(self, row: Provider) -> PasswordProvider:
        """The directory of a row. Raises: Unavailable when its secret does not open."""
        assert row.kind == ProviderKind.LDAP
        return cast(PasswordProvider, self._kept(row))

    def close(self) -> None:
        """Let go of all of them."""
        for _, adapter in self._made.values():
            adapter.close()
        self._made.clear()

    def _kept(self, row: Provider) -> Redirecting | PasswordProvider:
        key = (row.kind, row.options, bool(row.mapping), row.secret)
        known = self._made.get(row.id)
        if known and known[0] == key:
            return known[1]
        if known:
            known[1].close()
        made = self._make(row)
        self._made[row.id] = (key, made)
        return made

    def _make(self, row: Provider) -> Redirecting | PasswordProvider:
        secret = self._seal.open(row.secret, purpose(row.id)).decode() if row.secret else None
        options = options_of(row.kind, row.options)
        return _adapter(row.kind, options, name=row.name, secret=secret, wants_groups=bool(row.mapping))


def purpose(provider_id: str) -> str:
    """What a provider's secret is sealed for."""
    return f"provider:{provider_id}"


def require_sound(options: OidcOptions | LdapOptions) -> None:
    """Raises: Invalid for settings with which no provider could be talked to."""
    kind = ProviderKind.LDAP if isinstance(options, LdapOptions) else ProviderKind.OIDC
    try:
        _adapter(kind, options, name="", secret=None, wants_groups=False).close()
    except Invalid as error:
        error.field = f"{kind}.{error.field}"
        raise


def _adapter(
    kind: str, options: OidcOptions | LdapOptions, **context: object
) -> Redirecting | PasswordProvider:
    plugin = plugins.find(plugins.Port.IDENTITY, kind)
    return cast(Redirecting | PasswordProvider, plugin.made(**options.model_dump(), **context))
