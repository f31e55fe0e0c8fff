"""Writing events, reading them back in commit order, and the live stream of this process."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import structlog
from sqlalchemy import delete, text
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.errors import Invalid, Unavailable
from carrel.core.ids import DomainId, ProjectId, UserId
from carrel.db.database import Database
from carrel.db.listener import Listener
from carrel.events.model import Event
from carrel.policy.decide import Actor, Target, allows

log = structlog.get_logger()

TOPIC = "events"
_BATCH = 500
_QUEUE = 2000


@dataclass(frozen=True)
class Happening:
    """One event as readers get it. position: opaque and resumable; None for what is not kept."""

    position: str | None
    at: datetime | None
    kind: str
    object_kind: str
    object_id: str
    target: Target
    data: Mapping[str, Any]


_AFTER = text("""
    SELECT xid::text AS xid, id, at, kind, object_kind, object_id, owner_id, project_id, domain_id, data
    FROM events
    WHERE (xid, id) > (CAST(CAST(:xid AS text) AS xid8), :id)
      AND xid < pg_snapshot_xmin(pg_current_snapshot())
    ORDER BY xid, id LIMIT :limit
""")

_LATEST = text("""
    SELECT xid::text AS xid, id, at, kind, object_kind, object_id, owner_id, project_id, domain_id, data
    FROM events
    WHERE (xid, id) < (CAST(CAST(:xid AS text) AS xid8), :id) AND (:owner = '' OR owner_id = :owner)
    ORDER BY xid DESC, id DESC LIMIT :limit
""")

_END = str(2**63 - 1)


async def after(tx: AsyncSession, position: str) -> list[Happening]:
    """What was committed after the position, oldest first, at most 500; complete up to its last row."""
    xid, event_id = _parse(position)
    rows = await tx.execute(_AFTER, {"xid": xid, "id": event_id, "limit": _BATCH})
    return [_happening(row) for row in rows]


async def latest(tx: AsyncSession, actor: Actor, *, before: str | None, limit: int) -> list[Happening]:
    """The last events that concern the actor's own sessions, newest first."""
    xid, event_id = _parse(before) if before else (_END, 2**62)
    rows = await tx.execute(_LATEST, {"xid": xid, "id": event_id, "limit": limit, "owner": actor.user_id})
    return [_happening(row) for row in rows]


async def end_of_log(tx: AsyncSession) -> str:
    """A position before which everything is committed and known."""
    xmin = (await tx.execute(text("SELECT pg_snapshot_xmin(pg_current_snapshot())::text"))).scalar_one()
    return f"{xmin}.0"


async def prune(tx: AsyncSession, *, before: datetime) -> None:
    """Delete events older than that."""
    await tx.execute(delete(Event).where(Event.at < before))


def _parse(position: str) -> tuple[str, int]:
    xid, dot, event_id = position.partition(".")
    if not (dot and xid.isdecimal() and event_id.isdecimal() and len(xid) < 20 and len(event_id) < 19):
        raise Invalid("invalid.position", "This event id is not one of ours.", hint="Start without one.")
    return xid, int(event_id)


def _happening(row: Any) -> Happening:
    return Happening(
        position=f"{row.xid}.{row.id}",
        at=row.at,
        kind=row.kind,
        object_kind=row.object_kind,
        object_id=row.object_id,
        target=Target(UserId(row.owner_id), ProjectId(row.project_id), DomainId(row.domain_id)),
        data=row.data,
    )


class EventStream:
    """Fans committed events out to the followers in this process, in order, within milliseconds."""

    def __init__(self, database: Database, listener: Listener) -> None:
        self._database = database
        self._wake = asyncio.Event()
        self._followers: dict[asyncio.Queue[Happening | None], Actor] = {}
        self._position = ""
        listener.subscribe(TOPIC, self._wake.set)

    async def run(self) -> None:
        """Read on after every commit that wrote events, until cancelled."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            try:
                await self._read_on()
            except Unavailable:
                log.warning("events.database_unavailable")
                await asyncio.sleep(1)
                self._wake.set()

    def announce(self, happening: Happening) -> None:
        """Pass something on to the followers who may see it."""
        for queue, actor in list(self._followers.items()):
            if not allows(actor, "event.read", happening.target):
                continue
            if queue.qsize() >= _QUEUE:
                # Too slow a reader: end its stream; it resumes from its last position.
                del self._followers[queue]
                queue.put_nowait(None)
            else:
                queue.put_nowait(happening)

    async def follow(self, actor: Actor, position: str | None) -> AsyncIterator[Happening]:
        """Everything after the position (or from now on) that the actor may see, without end."""
        with self._subscription(actor) as queue:
            sent: set[str] = set()
            if position:
                async for happening in self._replay(position):
                    sent.add(happening.position or "")
                    if allows(actor, "event.read", happening.target):
                        yield happening
            while (happening_or_end := await queue.get()) is not None:
                if happening_or_end.position not in sent:
                    yield happening_or_end

    @contextmanager
    def _subscription(self, actor: Actor) -> Iterator[asyncio.Queue[Happening | None]]:
        queue: asyncio.Queue[Happening | None] = asyncio.Queue()
        self._followers[queue] = actor
        try:
            yield queue
        finally:
            self._followers.pop(queue, None)

    async def _replay(self, position: str) -> AsyncIterator[Happening]:
        while True:
            async with self._database.transaction() as tx:
                batch = await after(tx, position)
            for happening in batch:
                yield happening
            if len(batch) < _BATCH:
                return
            position = batch[-1].position or position

    async def _read_on(self) -> None:
        async with self._database.transaction() as tx:
            if not self._position:
                self._position = await end_of_log(tx)
                return
            batch: Sequence[Happening] = await after(tx, self._position)
        for happening in batch:
            self.announce(happening)
        if batch:
            self._position = batch[-1].position or self._position
        if len(batch) == _BATCH:
            self._wake.set()
