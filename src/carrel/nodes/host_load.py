"""The usage of whole machines: sessions and everything else on them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.ids import EngineId, NodeId
from carrel.engines.optional import HostUsage
from carrel.tables.usage import MINUTE_S, UsagePoint, UsageScope

MEASURE = "host."
"""Prefix of the measures in the history of a node."""
_RECENT = timedelta(minutes=3)

Machine = tuple[EngineId, str]
"""An engine, and the name of a node of it."""


@dataclass(frozen=True)
class HostLoad:
    """cpu: mean millicores in use since the previous reading. received, sent, read, written: of network and disks, in
    bytes per second. mem, disk_used, disk_size: bytes.
    """

    cpu: float
    mem: float
    received: float
    sent: float
    read: float
    written: float
    disk_used: float
    disk_size: float


def load(before: HostUsage, after: HostUsage, elapsed_s: float) -> HostLoad | None:
    """The load between two readings; None if the machine was restarted between them."""

    def rate(counter: str) -> float:
        return float(getattr(after, counter) - getattr(before, counter)) / elapsed_s

    load = HostLoad(
        cpu=rate("cpu_ns") / 1e6,
        mem=after.mem_bytes,
        received=rate("received_bytes"),
        sent=rate("sent_bytes"),
        read=rate("read_bytes"),
        written=rate("written_bytes"),
        disk_used=after.disk_used_bytes,
        disk_size=after.disk_size_bytes,
    )
    return load if min(asdict(load).values()) >= 0 else None


def measures(load: HostLoad) -> dict[str, float]:
    """By the names of the history."""
    return {MEASURE + name: value for name, value in asdict(load).items()}


async def latest(tx: AsyncSession, nodes: Sequence[NodeId]) -> Mapping[NodeId, tuple[datetime, HostLoad]]:
    """The load of each machine in the last recorded minute, and when that ended; those not measured lately are
    absent.
    """
    last = select(func.max(UsagePoint.at)).where(UsagePoint.step_s == MINUTE_S).scalar_subquery()
    rows = await tx.execute(
        select(UsagePoint.scope_id, UsagePoint.at, UsagePoint.measures)
        .where(
            UsagePoint.scope == UsageScope.NODE,
            UsagePoint.scope_id.in_(nodes),
            UsagePoint.step_s == MINUTE_S,
            UsagePoint.at > last - _RECENT,
            UsagePoint.measures.has_key(f"{MEASURE}cpu"),
        )
        .order_by(UsagePoint.at)
    )
    names = list(HostLoad.__dataclass_fields__)
    return {
        NodeId(node): (at, HostLoad(**{name: points[MEASURE + name][0] for name in names}))
        for node, at, points in rows
    }
