"""Use cases of personal tokens: bearer credentials of a script, with scopes and an expiry."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import delete, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import service as audit
from carrel.core.clock import Clock
from carrel.core.errors import Conflict, Forbidden, Invalid, NotFound
from carrel.core.ids import new_id
from carrel.permissions.actions import ACTIONS
from carrel.permissions.decide import ANY_ACTION, Actor, within
from carrel.signin.keypairs.service import digest
from carrel.tables.keypairs import Token

PREFIX = "carrel_"
MAX_TOKENS = 100
MAX_LIFETIME = timedelta(days=366)


@dataclass(frozen=True)
class NewToken:
    """secret is shown only once; only its hash is stored."""

    token: Token
    secret: str


async def create(
    tx: AsyncSession,
    clock: Clock,
    actor: Actor,
    *,
    name: str,
    scopes: Sequence[str],
    lifetime: timedelta | None,
) -> NewToken:
    """Create a token for the actor. lifetime None: until it is revoked.

    Raises: Invalid for an unknown scope, Forbidden for one that the actor's own credential lacks, Conflict for too
    many tokens.
    """
    _require_known(scopes)
    _require_narrower(actor, scopes)
    held = select(func.count()).where(Token.user_id == actor.user_id)
    if (await tx.execute(held)).scalar_one() >= MAX_TOKENS:
        raise Conflict(
            "token.too_many", f"The limit is {MAX_TOKENS} tokens per user.", hint="Revoke one first."
        )
    secret = PREFIX + secrets.token_urlsafe(32)
    now = clock.now()
    token = Token(
        id=new_id(),
        user_id=actor.user_id,
        name=name,
        token_hash=digest(secret),
        scopes=list(scopes),
        created_at=now,
        expires_at=now + lifetime if lifetime else None,
    )
    tx.add(token)
    after = {"scopes": list(scopes), "expires_at": token.expires_at.isoformat() if token.expires_at else None}
    audit.record(tx, actor, "token.create", token.id, name=name, details={"after": after})
    return NewToken(token, secret)


async def list_own(tx: AsyncSession, actor: Actor) -> list[Token]:
    """The actor's tokens, newest first, including expired ones."""
    own = select(Token).where(Token.user_id == actor.user_id)
    return list((await tx.execute(own.order_by(Token.created_at.desc(), Token.id))).scalars())


async def remove(tx: AsyncSession, actor: Actor, token: str) -> None:
    """Revoke one of the actor's tokens. Raises: NotFound."""
    gone = await tx.execute(
        delete(Token).where(Token.id == token, Token.user_id == actor.user_id).returning(Token.name)
    )
    name = gone.scalar_one_or_none()
    if name is None:
        raise NotFound("token.not_found", f"You have no token {token}.", hint="See `carrel token ls`.")
    audit.record(tx, actor, "token.remove", token, name=name)


def _require_known(scopes: Sequence[str]) -> None:
    kinds = {f"{action.about}.*" for action in ACTIONS.values()}
    for scope in scopes:
        if scope != ANY_ACTION and scope not in kinds and scope not in ACTIONS:
            raise Invalid(
                "token.unknown_scope",
                f"There is no scope {scope}.",
                hint="A scope is an action (session.read), all actions on one kind (session.*), or *.",
                field="scopes",
            )


def _require_narrower(actor: Actor, scopes: Sequence[str]) -> None:
    for scope in scopes:
        meant = [name for name, action in ACTIONS.items() if scope in (ANY_ACTION, name, f"{action.about}.*")]
        if not all(within(actor.scopes, name) for name in meant):
            raise Forbidden(
                "token.wider_scope",
                f"Your own credential does not include {scope}.",
                hint="Request fewer scopes, or sign in on the page.",
                field="scopes",
            )
