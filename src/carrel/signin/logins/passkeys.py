"""Passkeys: WebAuthn credentials for passwordless sign-in and as a second factor.

`ceremonies` is imported where it is used: see there.
"""

import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import service as audit
from carrel.core.errors import Conflict, Invalid, NotFound, Refused
from carrel.core.host_names import is_this_machine
from carrel.core.ids import UserId
from carrel.permissions.decide import Actor
from carrel.signin.keypairs.service import digest
from carrel.signin.logins import factors
from carrel.tables.logins import Challenge, Passkey

CHALLENGE_LIFETIME = timedelta(minutes=5)
MOST_PASSKEYS = 20
_ADD, _USE = "passkey.add", "passkey.use"
_NAME = "Carrel"


@dataclass(frozen=True)
class Site:
    """The relying party: its host, and the origin that browsers must report."""

    host: str
    origin: str

    @property
    def takes_passkeys(self) -> bool:
        """True if browsers support passkeys for this address: it needs a host name and a secure connection."""
        named = self.host.rsplit(".", 1)[-1].isalpha()
        return named and (self.origin.startswith("https://") or is_this_machine(self.host))


def site_of(public_url: str) -> Site:
    """The relying party for the page's address."""
    parts = urlsplit(public_url)
    return Site(parts.hostname or "", f"{parts.scheme}://{parts.netloc}")


async def challenge_to_add(tx: AsyncSession, site: Site, actor: Actor, now: datetime) -> dict[str, Any]:
    """Browser options for creating a passkey; valid for five minutes. Raises: Refused."""
    _require_possible(site)
    known = await _of(tx, actor.user_id)
    if len(known) >= MOST_PASSKEYS:
        raise Refused(
            "passkey.too_many", f"The limit is {MOST_PASSKEYS} passkeys per user.", hint="Remove one first."
        )
    from carrel.signin.logins import ceremonies

    return ceremonies.registration_options(
        site.host,
        _NAME,
        user_name=actor.email,
        user_id=actor.user_id,
        challenge=await _challenge(tx, _ADD, actor.user_id, now),
        known=known,
    )


async def add(
    tx: AsyncSession, site: Site, actor: Actor, now: datetime, *, name: str, credential: Mapping[str, Any]
) -> tuple[Passkey, list[str]]:
    """Register a passkey of the actor's; returns recovery codes if there were none. Raises: Invalid, Conflict."""
    challenge = await _spend(tx, credential, _ADD, actor.user_id, now)
    from carrel.signin.logins import ceremonies

    try:
        made = ceremonies.registered(credential, challenge, site.host, site.origin)
    except ceremonies.UNVERIFIED as error:
        raise _bad() from error
    if await tx.get(Passkey, made.credential_id):
        raise Conflict("passkey.exists", "This passkey is already registered.")
    transports = credential["response"].get("transports") or []
    row = Passkey(
        id=made.credential_id,
        user_id=actor.user_id,
        name=name,
        public_key=made.public_key,
        sign_count=made.sign_count,
        transports=[str(transport)[:20] for transport in transports[:8]],
        created_at=now,
    )
    tx.add(row)
    await tx.flush()
    _note(tx, actor, row, "added")
    return row, await factors.first_recovery_codes(tx, actor.user_id)


async def challenge_to_use(
    tx: AsyncSession, site: Site, user_id: UserId | None, now: datetime
) -> dict[str, Any]:
    """Browser options for using a passkey: one of the user's, or any passkey if the user is None."""
    _require_possible(site)
    from carrel.signin.logins import ceremonies

    challenge = await _challenge(tx, _USE, user_id, now)
    return ceremonies.authentication_options(
        site.host, challenge, await _of(tx, user_id) if user_id else None
    )


async def use(
    tx: AsyncSession, site: Site, user_id: UserId | None, credential: Mapping[str, Any], now: datetime
) -> UserId:
    """The owner of the verified passkey: the given user; if None, any user, who must be verified by the passkey.

    Raises: Invalid, without a reason.
    """
    challenge = await _spend(tx, credential, _USE, user_id, now)
    row = await tx.get(Passkey, _credential_id(credential), with_for_update=True)
    if row is None or user_id not in (None, row.user_id):
        raise _bad()
    from carrel.signin.logins import ceremonies

    verified = user_id is None
    try:
        handle = credential["response"].get("userHandle")
        if handle is not None and _decoded(handle) != row.user_id.encode():
            raise _bad()
        count = ceremonies.authenticated(
            credential, challenge, site.host, site.origin, row, verified=verified
        )
    except ceremonies.UNVERIFIED as error:
        raise _bad() from error
    row.sign_count, row.last_used_at = count, now
    return row.user_id


async def rename(tx: AsyncSession, actor: Actor, passkey_id: str, name: str) -> Passkey:
    """Rename a passkey of the actor's. Raises: NotFound."""
    row = await _own(tx, actor, passkey_id)
    before, row.name = row.name, name
    if before != name:
        _note(tx, actor, row, "renamed")
    return row


async def remove(tx: AsyncSession, actor: Actor, passkey_id: str) -> None:
    """Remove a passkey of the actor's. Raises: NotFound."""
    row = await _own(tx, actor, passkey_id)
    await tx.delete(row)
    await tx.flush()
    _note(tx, actor, row, "removed")
    await factors.forget_unneeded_codes(tx, actor.user_id)


def shown_id(row: Passkey) -> str:
    """The passkey's id as in the API."""
    return _encoded(row.id)


async def _challenge(tx: AsyncSession, purpose: str, user_id: UserId | None, now: datetime) -> bytes:
    challenge = secrets.token_bytes(32)
    tx.add(
        Challenge(
            token_hash=digest(_encoded(challenge)),
            purpose=purpose,
            user_id=user_id,
            content=b"",
            expires_at=now + CHALLENGE_LIFETIME,
        )
    )
    await tx.flush()
    return challenge


async def _spend(
    tx: AsyncSession, credential: Mapping[str, Any], purpose: str, user_id: UserId | None, now: datetime
) -> bytes:
    """Consume the challenge that the browser answered. Raises: Invalid."""
    from carrel.signin.logins import ceremonies

    try:
        answered = ceremonies.answered(credential)
    except ceremonies.UNVERIFIED as error:
        raise _bad() from error
    spent = await tx.execute(
        delete(Challenge)
        .where(
            Challenge.token_hash == digest(_encoded(answered)),
            Challenge.purpose == purpose,
            Challenge.user_id == user_id if user_id else Challenge.user_id.is_(None),
            Challenge.expires_at > now,
        )
        .returning(Challenge.purpose)
    )
    if spent.first() is None:
        raise Invalid(
            "passkey.challenge",
            "The passkey request has expired or was already answered.",
            hint="Try again.",
            field="credential",
        )
    return answered


async def _of(tx: AsyncSession, user_id: UserId) -> Sequence[Passkey]:
    return (await tx.execute(select(Passkey).where(Passkey.user_id == user_id))).scalars().all()


async def _own(tx: AsyncSession, actor: Actor, passkey_id: str) -> Passkey:
    try:
        row = await tx.get(Passkey, _decoded(passkey_id))
    except ValueError:
        row = None
    if row is None or row.user_id != actor.user_id:
        raise NotFound("passkey.not_found", "You have no such passkey.")
    return row


def _credential_id(credential: Mapping[str, Any]) -> bytes:
    try:
        return _decoded(credential["id"])
    except (ValueError, KeyError, TypeError) as error:
        raise _bad() from error


def _require_possible(site: Site) -> None:
    if not site.takes_passkeys:
        raise Refused(
            "passkey.impossible",
            f"Passkeys need HTTPS and a host name; this page is {site.origin}.",
            hint="An administrator can give the page a host name and a certificate (CARREL_PUBLIC_URL).",
        )


def _note(tx: AsyncSession, actor: Actor, row: Passkey, what: str) -> None:
    details = {what: "passkey", "passkey": row.name}
    audit.record(tx, actor, "factor.update", actor.user_id, name=actor.email, details=details)


def _encoded(content: bytes) -> str:
    return urlsafe_b64encode(content).decode().rstrip("=")


def _decoded(text: str) -> bytes:
    """Raises: ValueError."""
    return urlsafe_b64decode(f"{text}===")


def _bad() -> Invalid:
    return Invalid("passkey.bad", "The passkey could not be verified.", field="credential")
