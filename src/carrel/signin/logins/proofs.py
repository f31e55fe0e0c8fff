"""Verification of second steps of sign-ins, and re-authentication before dangerous changes."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import service as audit
from carrel.core.clock import Clock
from carrel.core.errors import Conflict, Invalid, Unauthorized
from carrel.core.ids import UserId
from carrel.db.database import Database
from carrel.db.encryption import SecretBox
from carrel.identity.passwords import password_matches
from carrel.permissions.decide import Actor
from carrel.signin.logins import attempts, factors, passkeys, service
from carrel.signin.logins.passkeys import Site
from carrel.signin.logins.service import Client, PasswordDirectory
from carrel.tables.tenancy import User


@dataclass(frozen=True)
class Evidence:
    """Credentials of a proof; exactly one is set."""

    password: str | None = None
    code: str | None = None
    recovery_code: str | None = None
    passkey: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class ProofServices:
    """Services for verifying evidence."""

    database: Database
    clock: Clock
    seal: SecretBox
    site: Site
    elsewhere: PasswordDirectory


async def second_step(services: ProofServices, actor: Actor, evidence: Evidence, client: Client) -> str:
    """Complete the actor's sign-in; returns its new token. Raises: Invalid, TooManyAttempts."""
    assert actor.login_id is not None
    login_id, now = actor.login_id, services.clock.now()
    settings = await service.count_attempt(
        services.database, now, email=actor.email, client=client, method="second step"
    )
    async with services.database.transaction() as tx:
        user = (await tx.execute(select(User).where(User.id == actor.user_id))).scalar_one()
        step = await _examine(tx, services, user.id, evidence, now)
        if step:
            return await service.finish(tx, settings, user, login_id, now, step=step, client=client)
        service.record_refusal(
            tx, user, email=user.email, method="second step", client=client, reason="wrong code or passkey"
        )
    raise _wrong(evidence)


async def sign_in_by_passkey(services: ProofServices, credential: Mapping[str, Any], client: Client) -> str:
    """The token of a new sign-in by passkey only. Raises: Unauthorized, without a reason; Forbidden."""
    now = services.clock.now()
    owner = None
    async with services.database.transaction() as tx:
        try:
            async with tx.begin_nested():
                owner = await passkeys.use(tx, services.site, None, credential, now)
        except Invalid:
            service.record_refusal(
                tx, None, email="", method="passkey", client=client, reason="the passkey belongs to no user"
            )
    if owner is None:
        raise Unauthorized("auth.bad_passkey", "This passkey cannot be used to sign in.", hint="Try again.")
    return await service.open_for(services.database, services.clock, owner, method="passkey", client=client)


async def confirm(services: ProofServices, actor: Actor, evidence: Evidence, client: Client) -> str:
    """Record a re-authentication; returns the new token of the sign-in.

    Raises: Conflict without a sign-in, Invalid, TooManyAttempts.
    """
    if actor.login_id is None:
        raise Conflict("auth.no_login", "Keypairs and tokens need no confirmation.")
    now = services.clock.now()
    settings = await service.count_attempt(
        services.database, now, email=actor.email, client=client, method="confirm"
    )
    async with services.database.transaction() as tx:
        user = (await tx.execute(select(User).where(User.id == actor.user_id))).scalar_one()
    # Outside of a transaction, because it is slow.
    proved = evidence.password is not None and await _is_theirs(services, user, evidence.password, client)
    async with services.database.transaction() as tx:
        how = "password" if proved else await _examine(tx, services, user.id, evidence, now)
        if how:
            token = await service.renew(tx, settings, actor.login_id, now)
            await attempts.forgive(tx, email=user.email, address=client.address)
            audit.record(tx, actor, "auth.confirm", user.id, name=user.email, details={"by": how})
            return token
        service.record_refusal(
            tx, user, email=user.email, method="confirm", client=client, reason="it was not proved"
        )
    raise _wrong(evidence)


async def _is_theirs(services: ProofServices, user: User, password: str, client: Client) -> bool:
    """True if it is the user's password, here or in a directory. Raises: Unavailable."""
    if await password_matches(user.password_hash, password):
        return True
    return await services.elsewhere.is_theirs(user, password, client)


async def _examine(
    tx: AsyncSession, services: ProofServices, user_id: UserId, evidence: Evidence, now: datetime
) -> str | None:
    """The factor that the evidence proves, or None."""
    if evidence.code and await factors.use_code(tx, services.seal, user_id, evidence.code, now):
        return "totp"
    if evidence.recovery_code and await factors.use_recovery_code(tx, user_id, evidence.recovery_code):
        return "recovery"
    if evidence.passkey:
        try:
            async with tx.begin_nested():
                await passkeys.use(tx, services.site, user_id, evidence.passkey, now)
        except Invalid:
            return None
        return "passkey"
    return None


def _wrong(evidence: Evidence) -> Invalid:
    if evidence.password is not None:
        return Invalid("auth.wrong_password", "The password is wrong.", field="password")
    if evidence.passkey is not None:
        return Invalid("auth.wrong_passkey", "The passkey could not be verified.", field="passkey")
    field = "code" if evidence.code is not None else "recovery_code"
    return Invalid(
        "auth.wrong_code",
        "The code is wrong or already used.",
        hint="Wait for the next one.",
        field=field,
    )
