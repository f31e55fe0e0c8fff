"""Warn of and end sessions that write too much outside their folders, for their own limit or for the disk of a node."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from sqlalchemy import or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.controllers.loop import Tools
from carrel.core.ids import NodeId, SessionId
from carrel.nodes import host_load
from carrel.sessions import queries as sessions
from carrel.sessions import transitions, updates
from carrel.tables.notifications import DISK_NEARLY_FULL
from carrel.tables.session_states import SessionState
from carrel.tables.sessions import Container, Session
from carrel.usage import disk_rules
from carrel.usage.disk_rules import ContainerDisk, DiskAction

_JUST_NOW = timedelta(seconds=30)
"""Two steps."""


class DiskLimits:
    name = "disk_limits"
    topics: Sequence[str] = ()
    tick_s = 15.0

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._begun_at = tools.clock.now()
        self._freeing_at: dict[NodeId, datetime] = {}
        """When sessions were last seen to end on a node; disks measured before that say nothing."""

    async def close(self) -> None:
        """No-op: there are no background tasks."""

    async def step(self) -> None:
        """Compare every running session with its limit, and the disks of the nodes with their reserve."""
        now = self._tools.clock.now()
        async with self._tools.database.transaction() as tx:
            uses = await disk_rules.latest(tx, now)
            disks = await self._disks(tx, uses, now)
        for use in disk_rules.highest(uses):
            if use.action is not DiskAction.NOTHING:
                async with self._tools.transaction() as tx:
                    await self._act(tx, use.session, now)
        for session, reason in disk_rules.to_end_for_space(uses, disks).items():
            async with self._tools.transaction() as tx:
                await end(tx, session, "node_disk_full", reason, now)

    async def _disks(
        self, tx: AsyncSession, uses: Sequence[ContainerDisk], now: datetime
    ) -> Mapping[NodeId, tuple[float, float]]:
        """Bytes used and in total, of nodes on which no session is ending or has ended since the last step."""
        ending = await tx.execute(
            select(Container.node_id)
            .join(Session, Session.id == Container.session_id)
            .where(
                or_(Session.state == SessionState.TERMINATING, Session.ended_at > now - _JUST_NOW),
                Container.node_id.is_not(None),
            )
        )
        self._freeing_at |= {NodeId(node): now for node in ending.scalars() if node}
        measured = await host_load.latest(tx, list({use.node for use in uses}))
        return {
            node: (load.disk_used, load.disk_size)
            for node, (at, load) in measured.items()
            if at > self._freeing_at.get(node, self._begun_at)
        }

    async def _act(self, tx: AsyncSession, session: SessionId, now: datetime) -> None:
        if not await sessions.lock(tx, session, SessionState.RUNNING):
            return
        uses = await disk_rules.latest(tx, now, [session])
        for use in uses[:1]:
            match use.action:
                case DiskAction.END:
                    await end(tx, session, "disk_exceeded", use.reason, now)
                case DiskAction.WARN:
                    await updates.warn(tx, session, cause=DISK_NEARLY_FULL, reason=use.warning, now=now)
                case DiskAction.CLEAR:
                    await updates.clear_warning(tx, session, DISK_NEARLY_FULL)


async def end(tx: AsyncSession, session: SessionId, cause: str, reason: str, now: datetime) -> None:
    """End a running session as failed."""
    await transitions.move(
        tx,
        [session],
        SessionState.TERMINATING,
        sources=[SessionState.RUNNING],
        outcome=SessionState.ERROR,
        cause=cause,
        reason=reason,
        now=now,
    )
