"""Use cases of keypairs."""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Row, Select, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import service as audit
from carrel.core.clock import Clock
from carrel.core.errors import Conflict, NotFound
from carrel.db.scope import permitted
from carrel.permissions.decide import ANY_ACTION, Actor, Target, refusal, require
from carrel.tables.keypairs import Keypair
from carrel.tables.tenancy import User
from carrel.tenancy.queries import policy_ref

MAX_KEYPAIRS = 50


@dataclass(frozen=True)
class NewKeypair:
    """secret_key is hexadecimal, shown only once; only its hash is stored."""

    access_key: str
    secret_key: str
    name: str
    created_at: datetime


async def create(tx: AsyncSession, clock: Clock, actor: Actor, *, name: str = "") -> NewKeypair:
    """Create a keypair for the actor. It authenticates as its owner, so it cannot be created for others.

    Raises: Forbidden for a credential with narrower scopes; Conflict when there are too many.
    """
    require_unbounded(actor, "keypair.create")
    held = select(func.count()).where(Keypair.user_id == actor.user_id)
    if (await tx.execute(held)).scalar_one() >= MAX_KEYPAIRS:
        raise Conflict(
            "keypair.too_many", f"The limit is {MAX_KEYPAIRS} keypairs per user.", hint="Remove one first."
        )
    made = NewKeypair(
        access_key="CK" + secrets.token_hex(9).upper(),
        secret_key=secrets.token_hex(32),
        name=name,
        created_at=clock.now(),
    )
    policy = await tx.execute(select(User.keypair_policy_id).where(User.id == actor.user_id))
    tx.add(
        Keypair(
            access_key=made.access_key,
            user_id=actor.user_id,
            policy_id=policy.scalar_one(),
            name=name,
            secret_hash=digest(made.secret_key),
            created_at=made.created_at,
        )
    )
    audit.record(tx, actor, "keypair.create", made.access_key, name=name)
    return made


async def list_of(tx: AsyncSession, actor: Actor, *, owner: str) -> list[Row[Keypair, User, Any]]:
    """Keypairs with owners and policies, newest first.

    owner: a user's id, "me", or "all" that the actor administers.
    """
    statement = (
        _rows()
        .where(permitted(actor, "keypair.read", owner=Keypair.user_id, domain=User.domain_id))
        .order_by(Keypair.created_at.desc(), Keypair.access_key)
        .limit(1000)
    )
    if owner != "all":
        statement = statement.where(Keypair.user_id == (actor.user_id if owner == "me" else owner))
    return list(await tx.execute(statement))


async def show(
    tx: AsyncSession, actor: Actor, access_key: str, action: str = "keypair.read"
) -> Row[Keypair, User, Any]:
    """One keypair with owner and policy. Raises: NotFound, also if the actor may not see it; Forbidden."""
    statement = _rows().where(Keypair.access_key == access_key).with_for_update(of=Keypair)
    row: Row[Keypair, User, Any] | None = (await tx.execute(statement)).first()
    missing = NotFound(
        "keypair.not_found", f"There is no keypair {access_key}.", hint="See `carrel keypair ls`."
    )
    if row is None:
        raise missing
    require(actor, action, _target(row.User), read="keypair.read", missing=missing)
    return row


def _rows() -> Select[Keypair, User, Any]:
    policy = policy_ref(Keypair.policy_id).label("policy")
    return select(Keypair, User, policy).join(User, User.id == Keypair.user_id)


async def update(
    tx: AsyncSession, actor: Actor, access_key: str, changes: dict[str, object]
) -> Row[Keypair, User, Any]:
    """Change name, active or rate_limit of a keypair. Raises: NotFound, Forbidden."""
    row = await show(tx, actor, access_key, "keypair.update")
    if "rate_limit" in changes:
        require(actor, "keypair.limit", _target(row.User))
    before = {field: getattr(row.Keypair, field) for field in changes}
    for field, value in changes.items():
        setattr(row.Keypair, field, value)
    audit.record(
        tx,
        actor,
        "keypair.update",
        access_key,
        name=row.Keypair.name,
        target=_target(row.User),
        details={"before": before, "after": changes},
    )
    return row


async def rotate(tx: AsyncSession, clock: Clock, actor: Actor, access_key: str) -> NewKeypair:
    """Rotate the secret; the old one stops working immediately. Raises: NotFound, Forbidden."""
    row = await show(tx, actor, access_key, "keypair.rotate")
    require_unbounded(actor, "keypair.rotate")
    secret = secrets.token_urlsafe(32)
    row.Keypair.secret_hash = digest(secret)
    row.Keypair.rotated_at = clock.now()
    audit.record(tx, actor, "keypair.rotate", access_key, name=row.Keypair.name)
    return NewKeypair(access_key, secret, row.Keypair.name, row.Keypair.created_at)


async def remove(tx: AsyncSession, actor: Actor, access_key: str) -> None:
    """Remove a keypair. Raises: NotFound, Forbidden."""
    row = await show(tx, actor, access_key, "keypair.remove")
    await tx.delete(row.Keypair)
    audit.record(tx, actor, "keypair.remove", access_key, name=row.Keypair.name, target=_target(row.User))


def require_unbounded(actor: Actor, action: str) -> None:
    """A credential with limited scopes must not create an unlimited one. Raises: Forbidden."""
    if ANY_ACTION not in actor.scopes:
        raise refusal(actor, action)


def digest(secret: str) -> bytes:
    """The stored form of high-entropy secrets: SHA-256."""
    return hashlib.sha256(secret.encode()).digest()


def _target(user: User) -> Target:
    return Target(owner_id=user.id, domain_id=user.domain_id)
