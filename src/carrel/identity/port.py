"""The port to identity providers.

Two kinds: the user is redirected to the provider (`Redirecting`), or the provider checks a password
(`PasswordProvider`). Both have a step-by-step test for administrators.

A plug-in is an entry point of the group `carrel.identity`: a `carrel.plugins.Plugin` whose settings are a
`carrel.identity.settings.ProviderSettings`, that makes a `Connect`, and that names the class of its providers.
"""

import base64
import hashlib
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol, runtime_checkable

from carrel.core.errors import CarrelError, Forbidden, Invalid, Unauthorized, Unavailable

TIMEOUT_S = 10.0


@dataclass(frozen=True)
class Claims:
    """Claims of a provider about an authenticated user.

    subject: unique at the provider, never reused. email: None if the provider supplies none. email_verified: confirmed
    by the provider. groups: their keys. second_factor: the provider used two factors, so no other is required.
    proved_at: time of authentication, which may be long ago; None if unknown. group_key: normalizes a group name, as
    typed by an administrator, to the form in `groups`.
    """

    subject: str
    email: str | None
    email_verified: bool
    name: str
    groups: frozenset[str]
    second_factor: bool = False
    proved_at: datetime | None = None
    group_key: Callable[[str], str] = str


@dataclass(frozen=True)
class TestStep:
    """A step of a test. sentence: the result, or the reason of the failure."""

    name: str
    ok: bool
    sentence: str


@dataclass(frozen=True)
class ProviderRedirect:
    """A redirect to the provider. nonce, verifier: secrets that `arrive` needs."""

    url: str
    nonce: str
    verifier: str


@dataclass(frozen=True)
class ProviderCallback:
    """The parameters of the callback. nonce, verifier: from the redirect. issuer: issuer of the response, or ""."""

    code: str
    issuer: str
    nonce: str
    verifier: str


@runtime_checkable
class Redirecting(Protocol):
    """A provider with redirects."""

    async def depart(self, *, state: str, redirect_uri: str, max_age: timedelta) -> ProviderRedirect:
        """The redirect to the provider; the user must authenticate again if their sign-in is older than max_age.

        Raises: Unavailable.
        """
        ...

    async def arrive(self, arrival: ProviderCallback, *, redirect_uri: str, now: datetime) -> Claims:
        """The claims of the returning user. Raises: Unauthorized if the response is invalid; Forbidden; Unavailable."""
        ...

    async def test(self) -> list[TestStep]:
        """Test the provider, up to the first failing step."""
        ...

    def close(self) -> None:
        """Release resources. Twice: no-op."""
        ...


@runtime_checkable
class PasswordProvider(Protocol):
    """A provider that checks passwords."""

    async def prove(self, login: str, password: str) -> Claims | None:
        """The claims of the user with this login and password; None if they are wrong. Raises: Unavailable."""
        ...

    async def test(self, login: str | None) -> list[TestStep]:
        """Test the provider, up to the first failing step. login: a user to search for."""
        ...

    def close(self) -> None:
        """Release resources. Twice: no-op."""
        ...


@dataclass(frozen=True)
class ProviderContext:
    """Arguments of a provider besides its settings. name: for messages. wants_groups: groups grant permissions or
    roles.
    """

    name: str
    wants_groups: bool = True


Connect = Callable[[ProviderContext], Redirecting | PasswordProvider]
"""Creates a provider without disk or network access."""


def unreachable(name: str, why: str) -> Unavailable:
    """The error for a provider that does not respond."""
    return Unavailable(
        "provider.unreachable",
        f"The identity provider {name} does not respond: {why}.",
        hint="Try again later. Accounts with a local password can still sign in.",
    )


def misconfigured(name: str, why: str) -> Unavailable:
    """The error for a provider with an invalid response due to its configuration."""
    return Unavailable(
        "provider.misconfigured",
        f"The identity provider {name} is misconfigured: {why}.",
        hint="An administrator can test the provider.",
    )


def untrue(name: str, check: str, why: str) -> Unauthorized:
    """The error for an invalid response. check: the failed check, one word."""
    return Unauthorized(
        "provider.bad_answer",
        f"The answer of the identity provider {name} is invalid: {why}.",
        hint="Start again from the sign-in page.",
        details={"check": check},
    )


def refused(name: str) -> Forbidden:
    """The error for a user who was rejected by the provider or cancelled."""
    return Forbidden(
        "provider.denied", f"{name} denied the sign-in.", hint="Start again from the sign-in page."
    )


def denied(name: str, error: str) -> CarrelError:
    """The exception for an error in the callback."""
    if error in ("server_error", "temporarily_unavailable"):
        return unreachable(name, "it reports an error")
    if error in ("access_denied", "login_required", "consent_required", "interaction_required"):
        return refused(name)
    return misconfigured(name, f"it answers {error[:100]}")


def challenge_of(verifier: str) -> str:
    """The PKCE challenge of a verifier (S256)."""
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def trusting(ca: str) -> ssl.SSLContext:
    """TLS that trusts this machine's authorities (or SSL_CERT_FILE) and these certificates.

    Raises: Invalid.
    """
    context = ssl.create_default_context()
    if ca:
        try:
            context.load_verify_locations(cadata=ca)
        except (ssl.SSLError, ValueError):
            raise Invalid(
                "provider.bad_ca",
                "These are not valid certificates.",
                hint="Paste the file that begins with -----BEGIN CERTIFICATE-----.",
                field="ca",
            ) from None
    return context


def texts(values: Mapping[str, object], name: str) -> list[str]:
    """A claim with a string or a list of strings, as a list; other values are dropped."""
    value = values.get(name)
    several = value if isinstance(value, list | tuple) else [value]
    return [each for each in several if isinstance(each, str) and each]
