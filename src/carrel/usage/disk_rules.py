"""The disk limits of sessions: what their containers have written outside their folders, and what follows from it.

Where the engine enforces the limit (DISK_LIMIT), containers can reach but not exceed it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.ids import NodeId, SessionId
from carrel.core.units import format_size
from carrel.tables.notifications import DISK_NEARLY_FULL

WARN_FROM, CLEAR_BELOW, END_ABOVE = 0.8, 0.7, 1.1
"""Shares of the limit. END_ABOVE leaves room for what the measurement and the file system count differently."""
_RECENT = timedelta(minutes=15)
"""A measurement may take the engine minutes."""
_RESERVE_SHARE, _RESERVE_MOST = 0.05, 4 << 30
_MATTERS = 1 / 10
"""Of the reserve: ending a session that has written less would not help."""


class DiskAction(StrEnum):
    NOTHING = "nothing"
    WARN = "warn"
    CLEAR = "clear"
    END = "end"


@dataclass(frozen=True)
class ContainerDisk:
    """What a container of a running session has written outside its folders. container: its name, if the session has
    several. limit_bytes: of each of them. warned: the session has a warning.
    """

    session: SessionId
    container: str
    node: NodeId
    used_bytes: int
    limit_bytes: int | None
    warned: bool

    @property
    def action(self) -> DiskAction:
        """What follows from the limit."""
        share = self.used_bytes / self.limit_bytes if self.limit_bytes else 0.0
        if share > END_ABOVE:
            return DiskAction.END
        if share >= WARN_FROM and not self.warned:
            return DiskAction.WARN
        if share < CLEAR_BELOW and self.warned:
            return DiskAction.CLEAR
        return DiskAction.NOTHING

    @property
    def warning(self) -> str:
        """Why it may be ended."""
        return (
            f"{self._who} has written {format_size(self.used_bytes)} outside its folders, of {self._limit}."
            " Delete files or move them to a folder."
        )

    @property
    def reason(self) -> str:
        """Why it is ended."""
        return f"{self._who} wrote {format_size(self.used_bytes)} outside its folders; the limit is {self._limit}."

    @property
    def _who(self) -> str:
        return f"Its container {self.container}" if self.container else "It"

    @property
    def _limit(self) -> str:
        return format_size(self.limit_bytes or 0)


# Samples from before its creation are of a container that it has replaced.
_LATEST = text("""
    SELECT s.id, s.disk_limit_bytes AS limit_bytes, c.node_id, latest.disk_bytes AS used_bytes,
        s.warnings ? :warning AS warned,
        CASE WHEN (SELECT count(*) FROM containers m WHERE m.session_id = s.id) = 1 THEN ''
            WHEN c.index = 0 THEN 'main' ELSE c.host END AS container
    FROM sessions s JOIN containers c ON c.session_id = s.id
    CROSS JOIN LATERAL (
        SELECT u.disk_bytes FROM usage_samples u
        WHERE u.container_id = c.id AND u.at > greatest(c.started_at, :since) AND u.disk_bytes IS NOT NULL
        ORDER BY u.at DESC LIMIT 1) latest
    WHERE s.state = 'RUNNING' AND c.state = 'RUNNING'
        AND (CAST(:sessions AS text[]) IS NULL OR s.id = ANY(:sessions))
    ORDER BY latest.disk_bytes DESC, s.id, c.index
""")


async def latest(
    tx: AsyncSession, now: datetime, sessions: Sequence[SessionId] | None = None
) -> Sequence[ContainerDisk]:
    """The disk use of the containers of the running sessions, or of these, as last measured, the highest first; those
    not measured lately are absent.
    """
    bound = {"since": now - _RECENT, "warning": DISK_NEARLY_FULL, "sessions": sessions and list(sessions)}
    return [
        ContainerDisk(row.id, row.container, row.node_id, row.used_bytes, row.limit_bytes, row.warned)
        for row in await tx.execute(_LATEST, bound)
    ]


def highest(uses: Iterable[ContainerDisk]) -> Sequence[ContainerDisk]:
    """Of each session, the container that has written the most. uses: the highest first."""
    return list({use.session: use for use in reversed(list(uses))}.values())


def to_end_for_space(
    uses: Iterable[ContainerDisk], disks: Mapping[NodeId, tuple[float, float]]
) -> dict[SessionId, str]:
    """Why the session that has written the most on a node is ended, by session; for each node whose disk is nearly
    full.

    uses: the highest first. disks: bytes that are used, and the size, of the file system with the containers.
    """
    ended: dict[SessionId, str] = {}
    by_use = list(uses)
    for node, (used, size) in disks.items():
        reserve = min(size * _RESERVE_SHARE, _RESERVE_MOST)
        most = next((use for use in by_use if use.node == node), None)
        if size - used < reserve and most and most.used_bytes >= reserve * _MATTERS:
            ended[most.session] = (
                f"The disk of its node is nearly full ({format_size(max(round(size - used), 0))} free), and of all"
                f" sessions there it had written the most outside its folders: {format_size(most.used_bytes)}."
            )
    return ended
