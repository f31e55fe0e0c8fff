"""Use cases of keypairs."""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import service as audit
from carrel.core.clock import Clock
from carrel.core.errors import NotFound
from carrel.keypairs.model import Keypair
from carrel.policy.decide import Actor


@dataclass(frozen=True)
class NewKeypair:
    """secret_key is shown this once; only its hash is kept."""

    access_key: str
    secret_key: str
    created_at: datetime


async def create(tx: AsyncSession, clock: Clock, actor: Actor) -> NewKeypair:
    """A keypair for scripts, owned by the actor."""
    made = NewKeypair(
        access_key="CK" + secrets.token_hex(9).upper(),
        secret_key=secrets.token_urlsafe(32),
        created_at=clock.now(),
    )
    tx.add(
        Keypair(
            access_key=made.access_key,
            user_id=actor.user_id,
            secret_hash=digest(made.secret_key),
            created_at=made.created_at,
        )
    )
    audit.record(tx, actor, "keypair.create", made.access_key)
    return made


async def list_of(tx: AsyncSession, actor: Actor) -> list[Keypair]:
    """The actor's keypairs, newest first."""
    rows = await tx.execute(
        select(Keypair).where(Keypair.user_id == actor.user_id).order_by(Keypair.created_at.desc())
    )
    return list(rows.scalars())


async def remove(tx: AsyncSession, actor: Actor, access_key: str) -> None:
    """Remove one of the actor's keypairs. Raises: NotFound."""
    gone = await tx.execute(
        delete(Keypair)
        .where(Keypair.access_key == access_key, Keypair.user_id == actor.user_id)
        .returning(Keypair.access_key)
    )
    if gone.first() is None:
        raise NotFound("keypair.not_found", f"You have no keypair {access_key}.")
    audit.record(tx, actor, "keypair.remove", access_key)


def digest(secret: str) -> bytes:
    """How secrets with enough random bits are kept: SHA-256."""
    return hashlib.sha256(secret.encode()).digest()
