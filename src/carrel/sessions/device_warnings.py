"""Warnings of sessions that have an accelerator with a problem."""

from datetime import datetime

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.ids import NodeId
from carrel.sessions import updates
from carrel.sessions.announcements import words
from carrel.tables.nodes import Allocation
from carrel.tables.session_states import LIFECYCLE

DEVICE_UNHEALTHY = "device_unhealthy"

_RELIEVED = text("""
SELECT s.id FROM sessions s WHERE s.state = ANY(:live) AND s.warnings ? :cause AND NOT EXISTS (
    SELECT FROM allocations a JOIN device_conditions c ON c.node_id = a.node_id AND a.devices ? c.device
    WHERE a.session_id = s.id AND a.released_at IS NULL AND NOT c.healthy AND c.cleared_at IS NULL)
""")


async def warn(tx: AsyncSession, node: NodeId, device: str, reason: str, now: datetime) -> int:
    """Warn the sessions that have the device; the history has every device. Returns their number."""
    holders = select(Allocation.session_id).where(
        Allocation.node_id == node, Allocation.released_at.is_(None), Allocation.devices.has_key(device)
    )
    sessions = sorted(set((await tx.execute(holders)).scalars()))
    for session in sessions:
        if not await updates.warn(tx, session, cause=DEVICE_UNHEALTHY, reason=reason, now=now):
            await updates.remark(tx, session, cause=DEVICE_UNHEALTHY, reason=reason, topic="events", now=now)
    return len(sessions)


async def relieve(tx: AsyncSession) -> None:
    """Remove the warning of sessions that have no accelerator with a problem any more."""
    bound = {"cause": DEVICE_UNHEALTHY, "live": words(LIFECYCLE.live)}
    for session in (await tx.execute(_RELIEVED, bound)).scalars().all():
        await updates.clear_warning(tx, session, DEVICE_UNHEALTHY)
