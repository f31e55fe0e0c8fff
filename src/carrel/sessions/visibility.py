"""Which sessions an actor may see, by role, as owner or by a share, as conditions for statements."""

from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.ids import SessionId
from carrel.permissions.decide import Actor, sight, within
from carrel.tables.session_shares import AccessLevel

SHARED_ACTIONS = {
    "session.read": AccessLevel.LOOK,
    "app.read": AccessLevel.LOOK,
    "app.open": AccessLevel.USE,
    "session.exec": AccessLevel.USE,
}
"""Actions that a share permits, from this level on. A share permits nothing else."""


def active_shares_as_text(user: str) -> str:
    """The condition for rows `h` of `session_shares` that are active for a user. user: a parameter or column."""
    return f"""(h.user_id = {user}
    OR h.project_id IN (SELECT m.project_id FROM memberships m WHERE m.user_id = {user}))
    AND (h.expires_at IS NULL OR h.expires_at > now())"""  # noqa: S608


def audience_as_text(session: str) -> str:
    """An expression for those with whom the session with this alias is shared, as `events.service.Audience`."""
    return f"""ARRAY(SELECT coalesce('user:' || h.user_id, 'project:' || h.project_id) FROM session_shares h
    WHERE h.session_id IN ({session}.id, {session}.array_id) AND h.token_hash IS NULL
    AND (h.expires_at IS NULL OR h.expires_at > now()))"""  # noqa: S608


def shared_as_text(session: str, user: str) -> str:
    """An expression for the highest `AccessLevel` of the user's active shares of this session, or NULL."""
    return f"""(SELECT CASE WHEN bool_or(h.level = 'use') THEN 'use' WHEN count(*) > 0 THEN 'look' END
    FROM session_shares h
    WHERE h.session_id IN ({session}.id, {session}.array_id) AND {active_shares_as_text(user)})"""  # noqa: S608


def may_leave_as_text(session: str, user: str) -> str:
    """The condition for an active share of this session with the user personally, or by a link."""
    return f"""EXISTS(SELECT FROM session_shares h WHERE h.session_id IN ({session}.id, {session}.array_id)
    AND h.user_id = {user} AND (h.expires_at IS NULL OR h.expires_at > now()))"""


def usable_as_text(session: str, user: str) -> str:
    """The condition for the session with this alias being the user's own, or shared with them for use."""
    return f"({session}.owner_id = {user} OR {shared_as_text(session, user)} = 'use')"


def shared_with_as_text(alias: str, user: str) -> str:
    """The condition for sessions shared with the user. A list of ids, so that the indexes of sessions are used."""
    ids = f"ARRAY(SELECT h.session_id FROM session_shares h WHERE {active_shares_as_text(user)})"  # noqa: S608
    return f"({alias}.id = ANY({ids}) OR {alias}.array_id = ANY({ids}))"


def visible_as_text(alias: str) -> str:
    """The condition for rows of `sessions` with this alias; its parameters are those of `visibility`."""
    return f"""(
    :everything OR {alias}.owner_id = :user OR {alias}.domain_id = :domain
    OR {alias}.project_id = ANY(:projects) OR {shared_with_as_text(alias, ":recipient")}
)"""


def visibility(actor: Actor) -> dict[str, Any]:
    """Parameters of the condition."""
    seen = sight(actor, "session.read")
    return {
        "everything": seen.everything,
        "user": seen.owner_id,
        "domain": seen.domain_id,
        "projects": sorted(seen.project_ids),
        "recipient": recipient(actor),
    }


def recipient(actor: Actor) -> str | None:
    """The user whose shares count; None: the credential does not permit to see sessions."""
    return actor.user_id if within(actor.scopes, "session.read") else None


_SHARED_AS = text(f"SELECT {shared_as_text('s', ':user')} FROM sessions s WHERE s.id = :session")  # noqa: S608


async def shared_as(tx: AsyncSession, actor: Actor, session: SessionId) -> AccessLevel | None:
    """The highest level at which the session is shared with the actor."""
    level = (await tx.execute(_SHARED_AS, {"session": session, "user": actor.user_id})).scalar()
    return AccessLevel(level) if level else None
