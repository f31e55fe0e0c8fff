"""The disk limits of sessions: what their containers have written outside their folders, and what follows from it.

Where the engine enforces the limit (DISK_LIMIT), containers can reach but not exceed it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

import orjson
from sqlalchemy import TextClause, text
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


def _of_running(measured: str) -> TextClause:
    """measured: SQL with the column disk_bytes of a container `c`."""
    return text(f"""
    SELECT s.id, s.disk_limit_bytes AS limit_bytes, c.node_id, latest.disk_bytes AS used_bytes,
        s.warnings ? :warning AS warned,
        CASE WHEN (SELECT count(*) FROM containers m WHERE m.session_id = s.id) = 1 THEN ''
            WHEN c.index = 0 THEN 'main' ELSE c.host END AS container
    FROM sessions s JOIN containers c ON c.session_id = s.id
    CROSS JOIN LATERAL ({measured}) latest
    WHERE s.state = 'RUNNING' AND c.state = 'RUNNING'
        AND (CAST(:sessions AS text[]) IS NULL OR s.id = ANY(:sessions))
    ORDER BY latest.disk_bytes DESC, s.id, c.index
""")  # noqa: S608 - constants of this module


# Samples from before its creation are of a container that it has replaced.
_LATEST = _of_running("""
        SELECT u.disk_bytes FROM usage_samples u
        WHERE u.container_id = c.id AND u.at > greatest(c.started_at, :since) AND u.disk_bytes IS NOT NULL
        ORDER BY u.at DESC LIMIT 1""")
_MEASURED = _of_running("SELECT CAST(CAST(:measured AS jsonb) ->> c.id AS bigint) AS disk_bytes")


async def latest(
    tx: AsyncSession, now: datetime, sessions: Sequence[SessionId] | None = None
) -> Sequence[ContainerDisk]:
    """The disk use of the containers of the running sessions, or of these, as last measured, the highest first; those
    not measured lately are absent.
    """
    bound = {"since": now - _RECENT, "sessions": sessions and list(sessions)}
    return await _uses(tx, _LATEST, bound)


async def measured(tx: AsyncSession, sizes: Mapping[str, int]) -> Sequence[ContainerDisk]:
    """The disk use of the containers of the running sessions, the highest first. sizes: bytes by container."""
    return await _uses(tx, _MEASURED, {"measured": orjson.dumps(dict(sizes)).decode(), "sessions": None})


async def _uses(tx: AsyncSession, query: TextClause, bound: Mapping[str, object]) -> Sequence[ContainerDisk]:
    return [
        ContainerDisk(row.id, row.container, row.node_id, row.used_bytes, row.limit_bytes, row.warned)
        for row in await tx.execute(query, {**bound, "warning": DISK_NEARLY_FULL})
        if row.used_bytes is not None
    ]


def highest(uses: Iterable[ContainerDisk]) -> Sequence[ContainerDisk]:
    """Of each session, the container that has written the most. uses: the highest first."""
    return list({use.session: use for use in reversed(list(uses))}.values())


def reserve_of(size_bytes: float) -> float:
    """Of a file system of this size: with less than this free, it is nearly full."""
    return min(size_bytes * _RESERVE_SHARE, _RESERVE_MOST)


def is_nearly_full(used_bytes: float, size_bytes: float) -> bool:
    """Whether a session has to end for space."""
    return size_bytes - used_bytes < reserve_of(size_bytes)


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
        reserve = reserve_of(size)
        most = next((use for use in by_use if use.node == node), None)
        if is_nearly_full(used, size) and most and most.used_bytes >= reserve * _MATTERS:
            ended[most.session] = (
                f"The disk of its node is nearly full ({format_size(max(round(size - used), 0))} free), and of all"
                f" sessions there it had written the most outside its folders: {format_size(most.used_bytes)}."
            )
    return ended
