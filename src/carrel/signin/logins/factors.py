"""Second factors by code: one-time passwords from a device (TOTP, RFC 6238), and recovery codes."""

import io
import re
import secrets
from dataclasses import dataclass
from datetime import datetime

import pyotp
import segno
from sqlalchemy import delete, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import service as audit
from carrel.core.errors import Conflict, Invalid, NotFound
from carrel.core.ids import UserId
from carrel.db.encryption import SecretBox
from carrel.permissions.decide import Actor, Target
from carrel.signin.keypairs.service import digest
from carrel.tables.logins import Passkey, RecoveryCode, Totp
from carrel.tables.tenancy import User

RECOVERY_CODES = 10
_STEP_S = 30
_DRIFT = 1
"""Accepted clock skew in time steps, in both directions."""
_ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"
_CODE_LENGTH = 16
_ISSUER = "Carrel"


@dataclass(frozen=True)
class NewTotp:
    """The set-up data of an authenticator. qr_svg: the url as a QR code."""

    secret: str
    url: str
    qr_svg: str


@dataclass(frozen=True)
class Factors:
    """A user's second factors. totp_since None: no TOTP device."""

    totp_since: datetime | None
    passkeys: list[Passkey]
    recovery_codes_left: int


async def show(tx: AsyncSession, user_id: UserId) -> Factors:
    """The second factors of a user."""
    since = await tx.execute(select(Totp.confirmed_at).where(Totp.user_id == user_id))
    keys = await tx.execute(select(Passkey).where(Passkey.user_id == user_id).order_by(Passkey.created_at))
    codes = await tx.execute(select(func.count()).where(RecoveryCode.user_id == user_id))
    return Factors(since.scalar_one_or_none(), list(keys.scalars()), codes.scalar_one())


async def offer_totp(tx: AsyncSession, seal: SecretBox, actor: Actor) -> NewTotp:
    """A new authenticator secret, replacing an unconfirmed one. Raises: Conflict."""
    secret = pyotp.random_base32()
    sealed = seal.close(secret.encode(), _purpose(actor.user_id))
    kept = await tx.execute(
        insert(Totp)
        .values(user_id=actor.user_id, secret=sealed)
        .on_conflict_do_update(
            index_elements=[Totp.user_id], set_={"secret": sealed}, where=Totp.confirmed_at.is_(None)
        )
        .returning(Totp.user_id)
    )
    if kept.first() is None:
        raise Conflict(
            "factor.totp_exists",
            "You already have an authenticator.",
            hint="Remove it before you add another.",
        )
    url = pyotp.TOTP(secret).provisioning_uri(name=actor.email, issuer_name=_ISSUER)
    return NewTotp(secret, url, _picture(url))


async def confirm_totp(
    tx: AsyncSession, seal: SecretBox, actor: Actor, code: str, now: datetime
) -> list[str]:
    """Activate the pending device after verifying a code of it; returns recovery codes if there were none.

    Raises: NotFound, Conflict, Invalid.
    """
    row = (await tx.execute(select(Totp).where(Totp.user_id == actor.user_id).with_for_update())).scalar()
    if row is None:
        raise NotFound("factor.no_totp", "There is no authenticator to confirm.", hint="Set one up first.")
    if row.confirmed_at:
        raise Conflict("factor.totp_exists", "You have already confirmed this authenticator.")
    step = _step_of(seal, row, code, now)
    if step is None:
        raise Invalid(
            "factor.wrong_code",
            "The code is not valid now.",
            hint="Check the clock of the device, and try the next code.",
            field="code",
        )
    row.confirmed_at, row.last_step = now, step
    audit.record(tx, actor, "factor.update", actor.user_id, name=actor.email, details={"added": "totp"})
    await tx.flush()
    return await first_recovery_codes(tx, actor.user_id)


async def remove_totp(tx: AsyncSession, actor: Actor) -> None:
    """Remove the actor's device. Twice: no-op."""
    gone = await tx.execute(delete(Totp).where(Totp.user_id == actor.user_id).returning(Totp.confirmed_at))
    if gone.scalar_one_or_none():
        audit.record(tx, actor, "factor.update", actor.user_id, name=actor.email, details={"removed": "totp"})
        await forget_unneeded_codes(tx, actor.user_id)


async def renew_recovery_codes(tx: AsyncSession, actor: Actor) -> list[str]:
    """Replace the recovery codes. Raises: Conflict if the user has no second factor."""
    if not await _has_factor(tx, actor.user_id):
        raise Conflict(
            "factor.none",
            "Two-factor authentication is not set up.",
            hint="Add an authenticator or a passkey first.",
        )
    audit.record(
        tx, actor, "factor.update", actor.user_id, name=actor.email, details={"renewed": "recovery codes"}
    )
    return await _fresh_codes(tx, actor.user_id)


async def reset(tx: AsyncSession, actor: Actor, user: User) -> None:
    """Remove all second factors of a user who lost them. The caller authorizes the actor."""
    for table in (Totp, Passkey, RecoveryCode):
        await tx.execute(delete(table).where(table.user_id == user.id))
    audit.record(
        tx,
        actor,
        "factor.reset",
        user.id,
        name=user.email,
        target=Target(owner_id=user.id, domain_id=user.domain_id),
        details={"removed": "all"},
    )


async def use_code(tx: AsyncSession, seal: SecretBox, user_id: UserId, code: str, now: datetime) -> bool:
    """Consume a TOTP code; True if it is valid and unused."""
    row = (
        await tx.execute(select(Totp).where(Totp.user_id == user_id, Totp.confirmed_at.is_not(None)))
    ).scalar()
    step = _step_of(seal, row, code, now) if row else None
    if step is None:
        return False
    # Concurrent requests with the same code: only one of them changes the row.
    used = await tx.execute(
        update(Totp)
        .where(Totp.user_id == user_id, Totp.last_step < step)
        .values(last_step=step)
        .returning(Totp.user_id)
    )
    return used.first() is not None


async def use_recovery_code(tx: AsyncSession, user_id: UserId, code: str) -> bool:
    """Consume a recovery code; True if it is valid."""
    used = await tx.execute(
        delete(RecoveryCode)
        .where(RecoveryCode.user_id == user_id, RecoveryCode.code_hash == _code_hash(code))
        .returning(RecoveryCode.user_id)
    )
    return used.first() is not None


async def first_recovery_codes(tx: AsyncSession, user_id: UserId) -> list[str]:
    """Recovery codes for a user without any; empty if there are some already."""
    left = await tx.execute(select(func.count()).where(RecoveryCode.user_id == user_id))
    return [] if left.scalar_one() else await _fresh_codes(tx, user_id)


async def forget_unneeded_codes(tx: AsyncSession, user_id: UserId) -> None:
    """Delete recovery codes when the last second factor is removed."""
    if not await _has_factor(tx, user_id):
        await tx.execute(delete(RecoveryCode).where(RecoveryCode.user_id == user_id))


async def _has_factor(tx: AsyncSession, user_id: UserId) -> bool:
    own = await show(tx, user_id)
    return bool(own.totp_since or own.passkeys)


async def _fresh_codes(tx: AsyncSession, user_id: UserId) -> list[str]:
    await tx.execute(delete(RecoveryCode).where(RecoveryCode.user_id == user_id))
    codes = ["".join(secrets.choice(_ALPHABET) for _ in range(_CODE_LENGTH)) for _ in range(RECOVERY_CODES)]
    tx.add_all(RecoveryCode(user_id=user_id, code_hash=_code_hash(code)) for code in codes)
    await tx.flush()
    return ["-".join(re.findall("....", code)) for code in codes]


def _step_of(seal: SecretBox, row: Totp, code: str, now: datetime) -> int | None:
    """The time step of this code, within the accepted skew and after the last used step."""
    digits = re.sub(r"\s", "", code)
    totp = pyotp.TOTP(seal.open(row.secret, _purpose(row.user_id)).decode(), interval=_STEP_S)
    current = int(now.timestamp()) // _STEP_S
    for step in range(current - _DRIFT, current + _DRIFT + 1):
        right = totp.generate_otp(step)
        if secrets.compare_digest(right.encode(), digits.encode()) and step > row.last_step:
            return step
    return None


def _code_hash(code: str) -> bytes:
    return digest(re.sub(r"[\s-]", "", code).lower())


def _purpose(user_id: UserId) -> str:
    return f"totp:{user_id}"


def _picture(url: str) -> str:
    drawn = io.BytesIO()
    segno.make(url, error="m").save(drawn, kind="svg", scale=4, border=2, xmldecl=False, light="#fff")
    return drawn.getvalue().decode()
