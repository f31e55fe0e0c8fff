"""The only writer of the audit trail."""

from collections.abc import Mapping

from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import proof
from carrel.audit.chain import ChainLink
from carrel.audit.proof import Check
from carrel.permissions.decide import Actor, Target, require
from carrel.tables.audit import AuditEntry

TOPIC = "audit"
"""Notified by a database trigger at each commit that wrote entries."""
NOBODY = Target()
_LONGEST = 254
_LONGEST_REASON = 500


def record(
    tx: AsyncSession,
    actor: Actor,
    action: str,
    object_id: str,
    *,
    name: str = "",
    target: Target | None = None,
    details: Mapping[str, object] | None = None,
) -> None:
    """Add "actor did action to object" to this transaction.

    name: the object's display name. target: its owner, project and domain; None: the actor's own.
    details: what changed, as {"before": {...}, "after": {...}}, or other facts; never a secret.
    """
    tx.add(
        _entry(actor, action, object_id, name=name, target=target, details=details, outcome="done", reason="")
    )


def record_refusal(
    tx: AsyncSession,
    actor: Actor,
    action: str,
    object_id: str,
    *,
    reason: str,
    details: Mapping[str, object] | None = None,
) -> None:
    """Add "actor was refused action on object" to this transaction. reason: code and sentence."""
    # A path from a client may contain characters that the database cannot store.
    written = object_id.replace("\0", "")
    tx.add(_entry(actor, action, written, details=details, outcome="refused", reason=reason))


def _entry(
    actor: Actor,
    action: str,
    object_id: str,
    *,
    name: str = "",
    target: Target | None = None,
    details: Mapping[str, object] | None,
    outcome: str,
    reason: str,
) -> AuditEntry:
    whose = target or Target(owner_id=actor.user_id, domain_id=actor.domain_id)
    return AuditEntry(
        actor_id=actor.user_id,
        actor_email=actor.email,
        action=action,
        object_kind=_kind(action),
        object_id=object_id[:_LONGEST],
        object_name=name[:_LONGEST],
        owner_id=whose.owner_id,
        project_id=whose.project_id,
        domain_id=whose.domain_id,
        outcome=outcome,
        reason=reason[:_LONGEST_REASON],
        credential=actor.credential,
        address=actor.address,
        request_id=actor.request_id,
        details=dict(details or {}),
    )


def record_login(
    tx: AsyncSession,
    *,
    email: str,
    target: Target = NOBODY,
    outcome: str,
    method: str = "password",
    reason: str = "",
    address: str,
) -> None:
    """Add a sign-in, successful ("done") or not ("refused"), to this transaction. target: the user."""
    tx.add(
        AuditEntry(
            actor_id=target.owner_id,
            actor_email=email[:_LONGEST],
            action="auth.login",
            object_kind="auth",
            object_id=email[:_LONGEST],
            object_name=email[:_LONGEST],
            owner_id=target.owner_id,
            domain_id=target.domain_id,
            outcome=outcome,
            reason=reason,
            credential=method,
            address=address,
            details={},
        )
    )


def record_own(
    tx: AsyncSession,
    action: str,
    object_id: str = "",
    *,
    name: str = "",
    target: Target = NOBODY,
    details: Mapping[str, object],
) -> None:
    """Add an action of Carrel itself to this transaction."""
    tx.add(
        AuditEntry(
            action=action,
            object_kind=_kind(action),
            object_id=object_id,
            object_name=name,
            owner_id=target.owner_id,
            project_id=target.project_id,
            domain_id=target.domain_id,
            outcome="done",
            credential="carrel",
            address="",
            details=dict(details),
        )
    )


async def verify(tx: AsyncSession, actor: Actor, *, after: int, expected: ChainLink | None) -> Check:
    """The result of checking a part of the chain. after: the position after which it begins. Raises: Forbidden."""
    require(actor, "audit.verify", NOBODY)
    return await proof.check(tx, after=after, expected=expected)


def _kind(action: str) -> str:
    return action.split(".")[0]
