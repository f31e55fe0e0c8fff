"""What a provider of identities is asked, and what it answers.

Two kinds: one that the person is sent to (`Redirecting`), and one that is asked with a password (`PasswordProvider`).
Both say for an administrator, step by step, what of them works.

A plug-in is an entry point of the group `carrel.identity`, a `carrel.plugins.Plugin` whose settings are a
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
    """What a provider says of somebody who proved who they are.

    subject: theirs at the provider, never given to another. email: None when the provider says none. email_verified:
    the provider vouches that it is theirs. groups: their keys. second_factor: they proved it by two factors, so that
    no other is asked for. proved_at: when they did, which may be long before they came; None: the provider does not
    say. group_key: the one spelling of a group's name that is in `groups`, for a name as an administrator wrote it.
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
    """One step of a test. sentence: what was found, or why it failed."""

    name: str
    ok: bool
    sentence: str


@dataclass(frozen=True)
class ProviderRedirect:
    """A person on the way to a provider. nonce, verifier: secrets that `arrive` needs again."""

    url: str
    nonce: str
    verifier: str


@dataclass(frozen=True)
class ProviderCallback:
    """What came back with the person. nonce, verifier: as they left. issuer: who says it answered, or ""."""

    code: str
    issuer: str
    nonce: str
    verifier: str


@runtime_checkable
class Redirecting(Protocol):
    """A provider that people are sent to."""

    async def depart(self, *, state: str, redirect_uri: str, max_age: timedelta) -> ProviderRedirect:
        """Where to send somebody, who must prove it once more when that is longer ago than max_age.

        Raises: Unavailable.
        """
        ...

    async def arrive(self, arrival: ProviderCallback, *, redirect_uri: str, now: datetime) -> Claims:
        """Who came back. Raises: Unauthorized when the answer does not hold; Forbidden; Unavailable."""
        ...

    async def test(self) -> list[TestStep]:
        """What works, up to the first step that does not."""
        ...

    def close(self) -> None:
        """Let go of what it holds. Twice: no-op."""
        ...


@runtime_checkable
class PasswordProvider(Protocol):
    """A provider that is asked with what people type."""

    async def prove(self, login: str, password: str) -> Claims | None:
        """Whose name and password these are; None: nobody's. Raises: Unavailable."""
        ...

    async def test(self, login: str | None) -> list[TestStep]:
        """What works, up to the first step that does not. login: somebody to search for."""
        ...

    def close(self) -> None:
        """Let go of what it holds. Twice: no-op."""
        ...


@dataclass(frozen=True)
class ProviderContext:
    """What a provider is made with besides its settings. name: for messages. wants_groups: groups give something."""

    name: str
    wants_groups: bool = True


Connect = Callable[[ProviderContext], Redirecting | PasswordProvider]
"""Makes a provider; touches neither disk nor network."""


def unreachable(name: str, why: str) -> Unavailable:
    """The error for a provider that does not answer."""
    return Unavailable(
        "provider.unreachable",
        f"The identity provider {name} does not answer: {why}.",
        hint="Try again later. An account of this installation signs in without it, by the right password.",
    )


def misconfigured(name: str, why: str) -> Unavailable:
    """The error for a provider that answers, and not as it should."""
    return Unavailable(
        "provider.misconfigured",
        f"The identity provider {name} is not set up rightly: {why}.",
        hint="An administrator can test the provider.",
    )


def untrue(name: str, check: str, why: str) -> Unauthorized:
    """The error for an answer that does not hold. check: which of its properties, one word."""
    return Unauthorized(
        "provider.bad_answer",
        f"The answer of the identity provider {name} does not hold: {why}.",
        hint="Start again from the sign-in page.",
        details={"check": check},
    )


def refused(name: str) -> Forbidden:
    """The error for a provider that did not let the person in, or a person who turned back."""
    return Forbidden(
        "provider.denied", f"{name} did not let you in.", hint="Start again from the sign-in page."
    )


def denied(name: str, error: str) -> CarrelError:
    """What the error that came back with a person means."""
    if error in ("server_error", "temporarily_unavailable"):
        return unreachable(name, "it says that it has a problem")
    if error in ("access_denied", "login_required", "consent_required", "interaction_required"):
        return refused(name)
    return misconfigured(name, f"it answers {error[:100]}")


def challenge_of(verifier: str) -> str:
    """What a PKCE verifier is recognised by (S256)."""
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def trusting(ca: str) -> ssl.SSLContext:
    """TLS that trusts what this machine trusts (SSL_CERT_FILE says otherwise), and these certificates.

    Raises: Invalid.
    """
    context = ssl.create_default_context()
    if ca:
        try:
            context.load_verify_locations(cadata=ca)
        except (ssl.SSLError, ValueError):
            raise Invalid(
                "provider.bad_ca",
                "These are no certificates.",
                hint="Paste the file that begins with -----BEGIN CERTIFICATE-----.",
                field="ca",
            ) from None
    return context


def texts(values: Mapping[str, object], name: str) -> list[str]:
    """A claim that is a text or a list of them, as a list; what else is in it is left out."""
    value = values.get(name)
    several = value if isinstance(value, list | tuple) else [value]
    return [each for each in several if isinstance(each, str) and each]
