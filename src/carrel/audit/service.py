"""The only writer of the audit trail."""

from collections.abc import Mapping

from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit.model import AuditEntry
from carrel.policy.decide import Actor


def record(
    tx: AsyncSession,
    actor: Actor,
    action: str,
    object_id: str,
    *,
    details: Mapping[str, object] | None = None,
) -> None:
    """Add "actor did action to object" to this transaction. details: what changed, never a secret."""
    tx.add(
        AuditEntry(
            actor_id=actor.user_id,
            action=action,
            object_id=object_id,
            outcome="done",
            credential=actor.credential,
            address=actor.address,
            details=dict(details or {}),
        )
    )


def record_login(tx: AsyncSession, *, email: str, user_id: str | None, outcome: str, address: str) -> None:
    """Add a sign-in, successful or not, to this transaction."""
    tx.add(
        AuditEntry(
            actor_id=user_id,
            action="auth.login",
            object_id=email[:254],
            outcome=outcome,
            credential="password",
            address=address,
            details={},
        )
    )
