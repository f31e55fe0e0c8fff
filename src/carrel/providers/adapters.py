"""The providers as something to talk to, made from their rows and kept while these stay as they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from carrel.core.errors import Invalid
from carrel.db.seal import Seal
from carrel.identity.port import Redirecting
from carrel.providers.model import Provider
from carrel.providers.schemas import LdapOptions, LdapTls, OidcOptions, ProviderKind, options_of

if TYPE_CHECKING:
    # Each is loaded with the first provider of its kind: every start would take longer and weigh more.
    from carrel.identity.ldap import Directory, LdapAccount
    from carrel.identity.oidc import OidcAccount

_PORTS = {LdapTls.NONE: 389, LdapTls.STARTTLS: 389, LdapTls.TLS: 636}
_Key = tuple[str, Mapping[str, Any], bool, bytes | None]


class Adapters:
    """One for each process; lives in `app.state.providers`."""

    def __init__(self, seal: Seal) -> None:
        self._seal = seal
        self._made: dict[str, tuple[_Key, Redirecting | Directory]] = {}

    def open_id(self, row: Provider) -> Redirecting:
        """The OpenID provider of a row. Raises: Unavailable when its secret does not open."""
        assert row.kind == ProviderKind.OIDC
        return cast(Redirecting, self._kept(row))

    def directory(self, row: Provider) -> Directory:
        """The directory of a row. Raises: Unavailable when its secret does not open."""
        assert row.kind == ProviderKind.LDAP
        return cast("Directory", self._kept(row))

    def close(self) -> None:
        """Let go of all of them."""
        for _, adapter in self._made.values():
            adapter.close()
        self._made.clear()

    def _kept(self, row: Provider) -> Redirecting | Directory:
        key = (row.kind, row.options, bool(row.mapping), row.secret)
        known = self._made.get(row.id)
        if known and known[0] == key:
            return known[1]
        if known:
            known[1].close()
        made = self._make(row)
        self._made[row.id] = (key, made)
        return made

    def _make(self, row: Provider) -> Redirecting | Directory:
        secret = self._seal.open(row.secret, purpose(row.id)).decode() if row.secret else None
        options = options_of(row.kind, row.options)
        if isinstance(options, OidcOptions):
            from carrel.identity.oidc import OpenIdProvider

            return OpenIdProvider(_oidc_account(row, options, secret))
        from carrel.identity.ldap import Directory

        return Directory(_ldap_account(row.name, options, secret))


def purpose(provider_id: str) -> str:
    """What a provider's secret is sealed for."""
    return f"provider:{provider_id}"


def require_sound(options: OidcOptions | LdapOptions) -> None:
    """Raises: Invalid for settings with which no provider could be talked to."""
    field = "ldap" if isinstance(options, LdapOptions) else "oidc"
    if isinstance(options, LdapOptions):
        _require_sound_filters(options)
    try:
        if isinstance(options, LdapOptions):
            from carrel.identity.ldap import Directory

            Directory(_ldap_account("", options, None)).close()
        else:
            from carrel.identity.oidc import OpenIdProvider

            OpenIdProvider(_oidc_account(None, options, None))
    except Invalid as error:
        error.field = f"{field}.{error.field}"
        raise


def _require_sound_filters(options: LdapOptions) -> None:
    from carrel.identity.ldap import require_filter

    require_filter(options.user_filter, "ldap.user_filter", "{login}")
    if options.group_base:
        require_filter(options.group_filter, "ldap.group_filter", "{dn}")


def _oidc_account(row: Provider | None, options: OidcOptions, secret: str | None) -> OidcAccount:
    from carrel.identity.oidc import OidcAccount

    return OidcAccount(
        name=row.name if row else "",
        issuer=options.issuer,
        client_id=options.client_id,
        secret=secret,
        scopes=tuple(options.scopes),
        email_claim=options.email_claim,
        name_claim=options.name_claim,
        groups_claim=options.groups_claim,
        wants_groups=bool(row and row.mapping),
        ca=options.ca,
    )


def _ldap_account(name: str, options: LdapOptions, secret: str | None) -> LdapAccount:
    from carrel.identity.ldap import LdapAccount

    return LdapAccount(
        name=name,
        host=options.host,
        port=options.port or _PORTS[options.tls],
        tls=options.tls,
        bind_dn=options.bind_dn,
        secret=secret,
        user_base=options.user_base,
        user_filter=options.user_filter,
        subject_attribute=options.subject_attribute,
        email_attribute=options.email_attribute,
        name_attribute=options.name_attribute,
        groups_attribute=options.groups_attribute,
        group_base=options.group_base,
        group_filter=options.group_filter,
        ca=options.ca,
    )
