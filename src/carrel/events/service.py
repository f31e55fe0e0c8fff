"""Write events, read them in commit order, and stream them live in this process."""

import asyncio
import re
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
import structlog
from sqlalchemy import delete, text
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.errors import Invalid, Unavailable
from carrel.core.ids import DomainId, ProjectId, UserId
from carrel.db.database import Database
from carrel.db.listener import Listener
from carrel.permissions.decide import Actor, Target, allows
from carrel.tables.events import Event

log = structlog.get_logger()

TOPIC = "events"
_BATCH = 500
_QUEUE = 2000
_POSITION = re.compile(r"[0-9]{1,19}\.[0-9]{1,18}")
_FIRST_PAUSE_S, _LAST_PAUSE_S = 0.01, 0.25

Audience = Collection[str]
"""An audience: EVERYBODY, domain:ID, project:ID or user:ID."""
EVERYBODY = "everybody"


@dataclass(frozen=True)
class PublishedEvent:
    """One event for readers. position: opaque, for resuming; None for events that are not stored."""

    position: str | None
    at: datetime | None
    kind: str
    object_kind: str
    object_id: str
    target: Target
    data: Mapping[str, Any]
    audience: Audience = ()

    def is_visible_to(self, actor: Actor) -> bool:
        """True if the actor may see it."""
        if allows(actor, "event.read", self.target):
            return True
        theirs = {EVERYBODY, f"domain:{actor.domain_id}", f"user:{actor.user_id}"}
        theirs |= {f"project:{project}" for project in actor.projects}
        return not theirs.isdisjoint(self.audience)


# Order by the column, not by its text alias, which would sort 1000 before 999.
_AFTER = text("""
    SELECT xid::text AS xid, id, at, kind, object_kind, object_id, owner_id, project_id, domain_id, audience, data,
        xid < pg_snapshot_xmin(pg_current_snapshot()) AS settled
    FROM events
    WHERE (xid, id) > (CAST(CAST(:xid AS text) AS xid8), :id)
    ORDER BY events.xid, events.id LIMIT :limit
""")

_LATEST = text("""
    SELECT xid::text AS xid, id, at, kind, object_kind, object_id, owner_id, project_id, domain_id, audience, data
    FROM events
    WHERE (xid, id) < (CAST(CAST(:xid AS text) AS xid8), :id) AND (:owner = '' OR owner_id = :owner)
    ORDER BY events.xid DESC, events.id DESC LIMIT :limit
""")

_RECORD = text("""
    WITH published AS (
        INSERT INTO events (kind, object_kind, object_id, owner_id, project_id, domain_id, audience, data)
        VALUES (:kind, :object_kind, :object_id, :owner, :project, :domain, CAST(:audience AS text[]),
            CAST(:data AS jsonb))
    ) SELECT pg_notify('carrel', 'events')
""")

_NOTIFY = text("""
    WITH published AS (
        INSERT INTO events (kind, object_kind, object_id, owner_id, project_id, domain_id, data)
        SELECT :kind, :object_kind, :object_id, person, '', '', CAST(:data AS jsonb)
        FROM unnest(CAST(:people AS text[])) AS person
    ) SELECT pg_notify('carrel', 'events')
""")

_END = str(2**63 - 1)


@dataclass(frozen=True)
class Batch:
    """held: more is committed, but held back because an older transaction is still running."""

    events: Sequence[PublishedEvent]
    held: bool

    @property
    def full(self) -> bool:
        return len(self.events) == _BATCH


async def record(
    tx: AsyncSession,
    kind: str,
    object_id: str,
    *,
    target: Target,
    data: Mapping[str, object],
    audience: Audience = (),
) -> None:
    """Add an event to this transaction, for those who may see the target and for the audience.

    kind: such as "user.updated".
    """
    bound = {
        "kind": kind,
        "object_kind": kind.split(".")[0],
        "object_id": object_id,
        "owner": target.owner_id or "",
        "project": target.project_id or "",
        "domain": target.domain_id or "",
        "audience": sorted(audience),
        "data": orjson.dumps(data).decode(),
    }
    await tx.execute(_RECORD, bound)


async def publish(
    tx: AsyncSession, kind: str, object_id: str, *, recipients: Sequence[UserId], data: Mapping[str, object]
) -> None:
    """Add an event for each of these users to this transaction, besides the one for those who see the target."""
    if recipients:
        bound = {
            "kind": kind,
            "object_kind": kind.split(".")[0],
            "object_id": object_id,
            "people": list(recipients),
            "data": orjson.dumps(data).decode(),
        }
        await tx.execute(_NOTIFY, bound)


async def after(tx: AsyncSession, position: str) -> Batch:
    """Events committed after the position, oldest first, at most 500; without gaps."""
    xid, event_id = parse(position)
    rows = (await tx.execute(_AFTER, {"xid": xid, "id": event_id, "limit": _BATCH})).all()
    settled = [_event(row) for row in rows if row.settled]
    return Batch(settled, held=len(settled) < len(rows))


async def latest(tx: AsyncSession, actor: Actor, *, before: str | None, limit: int) -> list[PublishedEvent]:
    """The latest events about the actor's own sessions, newest first."""
    xid, event_id = parse(before) if before else (_END, 2**62)
    rows = await tx.execute(_LATEST, {"xid": xid, "id": event_id, "limit": limit, "owner": actor.user_id})
    return [_event(row) for row in rows]


async def end_of_log(tx: AsyncSession) -> str:
    """A position up to which all events are committed and visible."""
    xmin = (await tx.execute(text("SELECT pg_snapshot_xmin(pg_current_snapshot())::text"))).scalar_one()
    return f"{xmin}.0"


async def prune(tx: AsyncSession, *, before: datetime) -> None:
    """Delete events older than the given time."""
    await tx.execute(delete(Event).where(Event.at < before))


def parse(position: str) -> tuple[str, int]:
    """Transaction and event behind a position. Raises: Invalid."""
    if not _POSITION.fullmatch(position):
        raise Invalid("invalid.position", "This event id is invalid.", hint="Start without one.")
    xid, event_id = position.split(".")
    return xid, int(event_id)


def _event(row: Any) -> PublishedEvent:
    return PublishedEvent(
        position=f"{row.xid}.{row.id}",
        at=row.at,
        kind=row.kind,
        object_kind=row.object_kind,
        object_id=row.object_id,
        target=Target(UserId(row.owner_id), ProjectId(row.project_id), DomainId(row.domain_id)),
        data=row.data,
        audience=row.audience,
    )


class EventStream:
    """Fans out committed events to the followers in this process, in order, within milliseconds.

    Without followers it reads nothing.
    """

    def __init__(self, database: Database, listener: Listener) -> None:
        self._database = database
        self._wake = asyncio.Event()
        self._followers: dict[asyncio.Queue[PublishedEvent | None], Actor] = {}
        self._position = ""
        self._behind = False
        """True if events may have been left unread since the last follower left."""
        self._beginning = asyncio.Lock()
        listener.subscribe(TOPIC, self._wake.set)

    async def start(self) -> None:
        """Set the start position in the log. Raises: Unavailable."""
        async with self._database.transaction() as tx:
            self._position = await end_of_log(tx)

    async def run(self) -> None:
        """Read new events after every commit notification, until cancelled."""
        pause: float | None = None
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._wake.wait()
            self._wake.clear()
            if not self._followers:
                self._behind, pause = True, None
                continue
            try:
                # The end of the transaction that holds events back is not notified, so poll.
                pause = (
                    min((pause or _FIRST_PAUSE_S / 2) * 2, _LAST_PAUSE_S) if await self._read_on() else None
                )
            except Unavailable:
                log.warning("events.database_unavailable")
                pause = 1.0

    def announce(self, event: PublishedEvent) -> None:
        """Deliver an event to the followers who may see it."""
        for queue, actor in list(self._followers.items()):
            if not event.is_visible_to(actor):
                continue
            if queue.qsize() >= _QUEUE:
                # The reader is too slow: end its stream; it resumes from its last position.
                del self._followers[queue]
                queue.put_nowait(None)
            else:
                queue.put_nowait(event)

    @asynccontextmanager
    async def following(
        self, actor: Actor, position: str | None
    ) -> AsyncIterator[AsyncIterator[PublishedEvent]]:
        """All events after the position (default: now) that the actor may see.

        Ends only for a reader that falls too far behind. Raises: Invalid, Unavailable.
        """
        if position:
            parse(position)
        queue: asyncio.Queue[PublishedEvent | None] = asyncio.Queue()
        async with self._beginning:
            if self._behind and not self._followers:
                await self.start()
                self._behind = False
            self._followers[queue] = actor
        # Events since the position that was just read may have been announced before there was a follower.
        self._wake.set()
        try:
            yield self._events(actor, position, queue)
        finally:
            self._followers.pop(queue, None)

    async def _events(
        self, actor: Actor, position: str | None, queue: "asyncio.Queue[PublishedEvent | None]"
    ) -> AsyncIterator[PublishedEvent]:
        # The queue fills while past events are read, so that none is missed; duplicates are skipped.
        last = (0, 0)
        if position:
            async for event in self._replay(position):
                last = _order(event)
                if event.is_visible_to(actor):
                    yield event
        while (event_or_end := await queue.get()) is not None:
            if event_or_end.position is None or _order(event_or_end) > last:
                yield event_or_end

    async def _replay(self, position: str) -> AsyncIterator[PublishedEvent]:
        while True:
            async with self._database.transaction() as tx:
                batch = await after(tx, position)
            for event in batch.events:
                yield event
                position = event.position or position
            if not batch.full:
                return

    async def _read_on(self) -> bool:
        """True if events are held back."""
        async with self._database.transaction() as tx:
            batch = await after(tx, self._position)
        for event in batch.events:
            self.announce(event)
            self._position = event.position or self._position
        if batch.full:
            self._wake.set()
        return batch.held


def _order(event: PublishedEvent) -> tuple[int, int]:
    xid, event_id = parse(event.position or "")
    return int(xid), event_id
