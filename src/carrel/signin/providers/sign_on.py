"""Sign-in by a provider: browser redirects, waiting command lines, and directories."""

import asyncio
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

import orjson
from sqlalchemy import delete, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.clock import Clock
from carrel.core.errors import CarrelError, Unauthorized, Unavailable
from carrel.db.database import Database
from carrel.db.encryption import SecretBox
from carrel.http.auth import CONFIRMED_FOR
from carrel.identity.port import Claims, ProviderCallback, challenge_of, denied
from carrel.signin.keypairs.service import digest
from carrel.signin.logins import service as logins
from carrel.signin.logins.service import Client, ProvedIdentity, WhyNot
from carrel.signin.providers import account_mapping
from carrel.signin.providers.adapters import Adapters, redirects, takes_passwords
from carrel.signin.providers.queries import redirect_uri
from carrel.signin.providers.schemas import CallbackQuery, StartQuery
from carrel.signin.providers.service import not_found
from carrel.signin.providers.setup import shared_of
from carrel.tables.logins import Challenge
from carrel.tables.providers import ExternalIdentity, Provider
from carrel.tables.tenancy import User

_LONG = timedelta(days=30)
STATE_LIFETIME = timedelta(minutes=10)
"""Time limit at the provider."""
_NEVER = datetime.fromtimestamp(0, UTC)
LEAST_S = 0.5
"""Minimum duration of a rejection by a directory."""
REMEMBERED_S = 300.0
"""Window in which every rejection takes as long as the slowest one."""
_WRONG = "wrong password"
_HANDOVER = timedelta(minutes=2)
_LEAVE, _HAND_OVER = "sso", "sso-handover"


@dataclass(frozen=True)
class SignOnServices:
    """Services for sign-in by a provider."""

    database: Database
    clock: Clock
    seal: SecretBox
    adapters: Adapters
    public_url: str


@dataclass(frozen=True)
class WaitingCommandLine:
    """A command line that waits on the user's machine. challenge: to be met by its verifier."""

    port: int
    challenge: str


@dataclass(frozen=True)
class SignOnState:
    """The stored state of a sign-in by redirect. browser: digest of the browser's cookie."""

    provider_id: str
    nonce: str
    verifier: str
    browser: str
    return_to: str
    waiting: WaitingCommandLine | None


@dataclass(frozen=True)
class AuthorizationRedirect:
    """url: redirect target. state: returned by the provider."""

    url: str
    state: str


async def start(
    services: SignOnServices, name: str, query: StartQuery, *, browser: str
) -> AuthorizationRedirect:
    """The redirect to the provider. browser: value of the cookie to set.

    Raises: NotFound; Unavailable when the provider does not respond.
    """
    async with services.database.transaction() as tx:
        provider = await _in_use(tx, name)
    state = secrets.token_urlsafe(32)
    departure = await services.adapters.redirecting(provider).depart(
        state=state,
        redirect_uri=redirect_uri(services.public_url, provider.name),
        # A command line immediately requests a keypair, which requires a recent authentication.
        max_age=CONFIRMED_FOR if query.fresh or query.port else _LONG,
    )
    content = {
        "provider_id": provider.id,
        "nonce": departure.nonce,
        "verifier": departure.verifier,
        "browser": digest(browser).hex(),
        "return_to": own_path(query.return_to),
        "waiting": [query.port, query.challenge] if query.port and query.challenge else None,
    }
    async with services.database.transaction() as tx:
        _keep(tx, services, state, _LEAVE, content, STATE_LIFETIME)
    return AuthorizationRedirect(departure.url, state)


async def sign_on_state_of(services: SignOnServices, state: str, *, browser: str) -> SignOnState:
    """The stored state for this parameter; consumed by the call.

    Raises: Unauthorized when it is expired, used, or belongs to another browser.
    """
    content = await _spend(services, state, _LEAVE)
    if not secrets.compare_digest(content["browser"], digest(browser).hex()):
        raise Unauthorized(
            "provider.other_browser",
            "This sign-in started in another browser, or at another address of this page.",
            hint=f"Start again from {services.public_url}.",
        )
    waiting = WaitingCommandLine(*content.pop("waiting")) if content["waiting"] else content.pop("waiting")
    return SignOnState(**content, waiting=waiting)


async def finish(
    services: SignOnServices, name: str, state: SignOnState, query: CallbackQuery, client: Client
) -> ProvedIdentity:
    """The user that the provider authenticated. Raises: Unauthorized, Forbidden, Conflict, NotFound, Unavailable."""
    async with services.database.transaction() as tx:
        provider = await _in_use(tx, name)
    if provider.id != state.provider_id:
        raise _over()
    try:
        if query.error or not query.code:
            raise denied(provider.name, query.error or "no code")
        arrival = ProviderCallback(query.code, query.iss, state.nonce, state.verifier)
        claims = await services.adapters.redirecting(provider).arrive(
            arrival, redirect_uri=redirect_uri(services.public_url, provider.name), now=services.clock.now()
        )
    except CarrelError as error:
        await _note(services, error.message, None, email="", method=provider.method, client=client)
        raise
    user = await _receive(services, provider, claims, client)
    # Not a re-authentication: an open session at the provider suffices for anybody at an unattended machine.
    proved_at = claims.proved_at or _NEVER
    return ProvedIdentity(
        user.id, user.email, _method(provider, claims), _in_use_still(provider.id), proved_at
    )


async def let_in(services: SignOnServices, who: ProvedIdentity, client: Client) -> str:
    """The cookie token of the authenticated user. Raises: Forbidden when they may not sign in."""
    return await logins.open_for(
        services.database,
        services.clock,
        who.user_id,
        method=who.method,
        client=client,
        why_not=who.why_not,
        confirmed_at=who.confirmed_at,
    )


async def hand_over(
    services: SignOnServices, who: ProvedIdentity, state: SignOnState, waiting: WaitingCommandLine
) -> str:
    """A code with which the waiting command line can sign in as the user, once, within two minutes."""
    code = secrets.token_urlsafe(32)
    content = {
        "user_id": who.user_id,
        "method": who.method,
        "provider_id": state.provider_id,
        "confirmed_at": who.confirmed_at and who.confirmed_at.isoformat(),
        "challenge": waiting.challenge,
    }
    async with services.database.transaction() as tx:
        _keep(tx, services, code, _HAND_OVER, content, _HANDOVER)
    return code


async def take_over(services: SignOnServices, *, code: str, verifier: str, client: Client) -> str:
    """The token of a sign-in for a command line. Raises: Unauthorized; Forbidden when they may not sign in."""
    content = await _spend(services, code, _HAND_OVER)
    if not secrets.compare_digest(content["challenge"], challenge_of(verifier)):
        raise _over()
    return await logins.open_for(
        services.database,
        services.clock,
        content["user_id"],
        method=content["method"],
        client=client,
        why_not=_in_use_still(content["provider_id"]),
        confirmed_at=datetime.fromisoformat(content["confirmed_at"]),
    )


class Directories:
    """`signin.logins.service.Elsewhere`: the directories.

    Neither responses nor their timing reveal accounts: every attempt queries every directory, with a placeholder where
    it is not responsible for the user; an unavailable one is reported to everybody. A rejection takes LEAST_S, or
    longer if directories were recently slower.
    """

    def __init__(self, services: SignOnServices) -> None:
        self.services = services
        self._slowest_s, self._until = 0.0, 0.0

    async def prove(
        self, login: str, password: str, user: User | None, client: Client
    ) -> ProvedIdentity | None:
        began = time.monotonic()
        async with self.services.database.transaction() as tx:
            present = await _in_service(tx)
            candidates = await _to_ask(tx, present, user)
        try:
            proved = await self._ask(present, candidates, login, password, user, client)
        except Unavailable:
            await self._wait(began)
            raise
        if proved is None and present:
            self._remember(began)
            await self._wait(began)
        return proved

    async def is_theirs(self, user: User, password: str, client: Client) -> bool:
        async with self.services.database.transaction() as tx:
            candidates = await _to_ask(tx, await _in_service(tx), user)
        proved = await self._ask(candidates, candidates, user.email, password, user, client)
        return proved is not None and proved.user_id == user.id

    def _remember(self, began: float) -> None:
        now = time.monotonic()
        if now - began >= self._slowest_s or now > self._until:
            self._slowest_s, self._until = now - began, now + REMEMBERED_S

    async def _wait(self, began: float) -> None:
        await asyncio.sleep(max(LEAST_S, self._slowest_s) - (time.monotonic() - began))

    async def _ask(
        self,
        present: Sequence[Provider],
        candidates: Sequence[Provider],
        login: str,
        password: str,
        user: User | None,
        client: Client,
    ) -> ProvedIdentity | None:
        services = self.services
        away: CarrelError | None = None
        for provider in present:
            question = (login.strip(), password) if provider in candidates else _about_nobody()
            try:
                claims = await services.adapters.password(provider).prove(*question)
            except CarrelError as error:
                why, method = (
                    (error.message, provider.method) if provider in candidates else (_WRONG, "password")
                )
                await _note(services, why, user, email=login, method=method, client=client)
                away = error
                continue
            if claims and provider in candidates:
                account = await _receive(services, provider, claims, client)
                return ProvedIdentity(
                    account.id, account.email, _method(provider, claims), _in_use_still(provider.id)
                )
        if away:
            raise away
        return None


def mark_of(state: str) -> str:
    """A short identifier of the state that does not reveal it."""
    return digest(f"mark:{state}").hex()[:16]


def own_path(url: str) -> str:
    """The requested address if it is on the page's origin, otherwise the start page."""
    plain = url.startswith("/") and not url.startswith(("//", "/api/")) and "\\" not in url
    return url if plain and url.isprintable() and " " not in url else "/"


def sign_in_page(error: CarrelError, name: str, return_to: str) -> str:
    """The address of the sign-in page with an error."""
    back = "" if return_to == "/" else f"&next={quote(return_to, safe='')}"
    return f"/signin?error={quote(error.code)}&provider={quote(name, safe='')}{back}"


async def _in_use(tx: AsyncSession, name: str) -> Provider:
    """The enabled redirecting provider with this name. Raises: NotFound."""
    statement = select(Provider).where(Provider.name == name, Provider.active)
    provider = (await tx.execute(statement)).scalar()
    if provider is None or not redirects(provider.kind):
        raise not_found(name)
    return provider


def _in_use_still(provider_id: str) -> WhyNot:
    async def why_not(tx: AsyncSession) -> str:
        # Locked, so that disabling it concurrently either ends this sign-in too or is seen here.
        statement = select(Provider.id).where(Provider.id == provider_id, Provider.active)
        result = await tx.execute(statement.with_for_update(read=True))
        return "" if result.first() else "the identity provider is not in use any more"

    return why_not


async def _in_service(tx: AsyncSession) -> Sequence[Provider]:
    """The enabled providers that verify passwords."""
    rows = await tx.execute(select(Provider).where(Provider.active).order_by(Provider.name))
    return [provider for provider in rows.scalars() if takes_passwords(provider.kind)]


async def _to_ask(tx: AsyncSession, providers: Sequence[Provider], user: User | None) -> Sequence[Provider]:
    """The directories that may know a login.

    A local user's password is sent only to directories responsible for them.
    """
    if user is None or not providers:
        return providers
    linked = await tx.execute(select(ExternalIdentity.provider_id).where(ExternalIdentity.user_id == user.id))
    known = set(linked.scalars())
    domain = user.email.rsplit("@", 1)[-1].lower()
    return [
        provider
        for provider in providers
        if provider.id in known or domain in shared_of(provider).trusted_email_domains
    ]


def _about_nobody() -> tuple[str, str]:
    return secrets.token_hex(8), secrets.token_hex(8)


async def _receive(services: SignOnServices, provider: Provider, claims: Claims, client: Client) -> User:
    for again in (True, False):
        try:
            async with services.database.transaction() as tx:
                return await account_mapping.receive(
                    tx, services.clock, provider, claims, address=client.address
                )
        except IntegrityError:
            if not again:
                raise
            # Concurrent first sign-ins of the same user: the user exists now.
        except CarrelError as error:
            email, method = claims.email or "", _method(provider, claims)
            await _note(services, error.message, None, email=email, method=method, client=client)
            raise
    raise AssertionError


async def _note(
    services: SignOnServices, why: str, user: User | None, *, email: str, method: str, client: Client
) -> None:
    """Record a denied sign-in with its reason."""
    async with services.database.transaction() as tx:
        logins.record_refusal(tx, user, email=email, method=method, client=client, reason=why)


def _method(provider: Provider, claims: Claims) -> str:
    proved = logins.BOTH_FACTORS if claims.second_factor else ""
    return f"{provider.kind}:{provider.name}{proved}"


def _keep(
    tx: AsyncSession,
    services: SignOnServices,
    token: str,
    purpose: str,
    content: Mapping[str, object],
    lifetime: timedelta,
) -> None:
    sealed = services.seal.close(orjson.dumps(content), f"challenge:{purpose}")
    expires_at: datetime = services.clock.now() + lifetime
    tx.add(Challenge(token_hash=digest(token), purpose=purpose, content=sealed, expires_at=expires_at))


async def _spend(services: SignOnServices, token: str, purpose: str) -> dict[str, Any]:
    """Consume the value stored for a token. Raises: Unauthorized."""
    async with services.database.transaction() as tx:
        spent = await tx.execute(
            delete(Challenge)
            .where(Challenge.token_hash == digest(token), Challenge.purpose == purpose)
            .returning(Challenge.content, Challenge.expires_at)
        )
        row = spent.first()
    if row is None or row.expires_at <= services.clock.now():
        raise _over()
    content: dict[str, Any] = orjson.loads(services.seal.open(row.content, f"challenge:{purpose}"))
    return content


def _over() -> Unauthorized:
    return Unauthorized(
        "provider.expired",
        "This sign-in has expired or was already used.",
        hint="Start again from the sign-in page.",
    )
