"""Ends what is open in this process when the access to its session ends: terminals, commands, and log streams.

Terminals end with their sessions. What a user opened by a share ends with the share: at once when it is revoked, and
within seconds when it expires or the user leaves the project.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress

import structlog
from sqlalchemy import text

from carrel.apps.denials import no_longer_shared, stopped_running
from carrel.apps.session_changes import SessionChanges
from carrel.apps.terminals import Terminals
from carrel.core.errors import CarrelError, Unavailable
from carrel.core.ids import ContainerId, SessionId, UserId
from carrel.db.database import Database
from carrel.permissions.decide import Actor
from carrel.sessions.service import is_by_share
from carrel.sessions.visibility import SHARED_ACTIONS, shared_as_text, usable_as_text
from carrel.tables.session_shares import AccessLevel
from carrel.tables.sessions import Session

log = structlog.get_logger()

RECHECK_S = 2.0
_DATABASE_PAUSE_S = 1.0

_Opened = tuple[SessionId, UserId, AccessLevel]

_RUNNING = text(f"""
    SELECT w.container_id, w.user_id, s.state = 'RUNNING' AS running, {usable_as_text("s", "w.user_id")} AS permitted
    FROM unnest(CAST(:containers AS text[]), CAST(:users AS text[])) AS w(container_id, user_id)
    LEFT JOIN containers c ON c.id = w.container_id LEFT JOIN sessions s ON s.id = c.session_id
""")  # noqa: S608 - no input in it

_SHARED = text(f"""
    SELECT w.session_id, w.user_id, {shared_as_text("s", "w.user_id")} AS level
    FROM unnest(CAST(:sessions AS text[]), CAST(:users AS text[])) AS w(session_id, user_id)
    JOIN sessions s ON s.id = w.session_id JOIN users u ON u.id = w.user_id AND u.state = 'active'
""")  # noqa: S608 - no input in it


class AccessWatch:
    """Checks at every change of a session or of a share, and periodically."""

    def __init__(self, database: Database, changes: SessionChanges, terminals: Terminals) -> None:
        self._database = database
        self._changes = changes
        self._terminals = terminals
        self._opened: dict[asyncio.Future[CarrelError], _Opened] = {}

    async def run(self) -> None:
        """Check until cancelled."""
        while True:
            change = self._changes.next
            try:
                await self._check_terminals()
                await self._check_shares()
            except Unavailable:
                log.warning("access.database_unavailable")
                await asyncio.sleep(_DATABASE_PAUSE_S)
                continue
            with suppress(TimeoutError):
                async with asyncio.timeout(RECHECK_S):
                    await change.wait()

    @contextmanager
    def watching(
        self, actor: Actor, session: Session, action: str
    ) -> Iterator["asyncio.Future[CarrelError]"]:
        """A future that gets the reason once no share permits the action any more; never, if none is needed."""
        lost: asyncio.Future[CarrelError] = asyncio.get_running_loop().create_future()
        if is_by_share(actor, session, action):
            self._opened[lost] = (session.id, actor.user_id, SHARED_ACTIONS[action])
        try:
            yield lost
        finally:
            self._opened.pop(lost, None)
            lost.cancel()

    async def while_permitted(
        self, actor: Actor, session: Session, action: str, chunks: AsyncIterator[bytes]
    ) -> AsyncIterator[bytes]:
        """The same stream; it ends early when the access ends."""
        with self.watching(actor, session, action) as lost:
            while True:
                following = asyncio.ensure_future(anext(chunks, None))
                try:
                    await asyncio.wait((following, lost), return_when=asyncio.FIRST_COMPLETED)
                finally:
                    if not following.done():
                        following.cancel()
                        await asyncio.wait([following])
                if lost.done() or (chunk := following.result()) is None:
                    return
                yield chunk

    async def _check_terminals(self) -> None:
        users = sorted(self._terminals.users)
        if not users:
            return
        bound = {"containers": [container for container, _ in users], "users": [user for _, user in users]}
        async with self._database.transaction() as tx:
            rows = (await tx.execute(_RUNNING, bound)).all()
        for row in rows:
            if not row.running:
                self._terminals.stop_running(ContainerId(row.container_id), stopped_running())
            elif not row.permitted:
                self._terminals.revoke(ContainerId(row.container_id), UserId(row.user_id), no_longer_shared())

    async def _check_shares(self) -> None:
        if not self._opened:
            return
        opened = dict(self._opened)
        pairs = sorted({(session, user) for session, user, _ in opened.values()})
        bound = {"sessions": [session for session, _ in pairs], "users": [user for _, user in pairs]}
        async with self._database.transaction() as tx:
            levels = {(row.session_id, row.user_id): row.level for row in await tx.execute(_SHARED, bound)}
        for lost, (session, user, least) in opened.items():
            level = levels.get((session, user))
            if level not in (least, AccessLevel.USE) and not lost.done():
                lost.set_result(no_longer_shared())
