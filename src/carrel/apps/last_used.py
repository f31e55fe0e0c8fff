"""The app that a person used last in a session of the same image: it starts with their next one."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.apps import service as apps
from carrel.apps import session_apps
from carrel.apps.app_templates import TCP
from carrel.apps.opening import AppServer
from carrel.apps.session_apps import AppOfSession, AppSource
from carrel.sessions import service as sessions
from carrel.tables.apps import AppInstance
from carrel.tables.sessions import Container, Session


@dataclass(frozen=True)
class LastUsed:
    """An app that is to start in a session. before: the session in which it was opened."""

    session: Session
    main: Container
    app: str
    before: str

    @property
    def start(self) -> str:
        """Names the container's start."""
        return self.main.launched_at.isoformat() if self.main.launched_at else "-"

    def server(self, key: bytes) -> AppServer:
        """key: the installation's."""
        return AppServer(self.main.id, self.main.address, apps.app_secret(key, self.session.id), self.start)


# Only the session before counts: whoever opened no app in it does without in the next.
_DUE = text("""
    SELECT s.id, c.id, a.app, before.id
    FROM sessions s
    JOIN containers c ON c.session_id = s.id AND c.index = 0 AND c.launched_at > :since
    CROSS JOIN LATERAL (
        SELECT p.id FROM sessions p
        WHERE p.owner_id = s.owner_id AND (p.created_at, p.id) < (s.created_at, s.id)
            AND p.kind = 'interactive' AND p.started_at IS NOT NULL
            AND coalesce(p.image_name, p.image) = coalesce(s.image_name, s.image)
        ORDER BY p.created_at DESC, p.id DESC LIMIT 1) before
    CROSS JOIN LATERAL (
        SELECT app FROM app_starts WHERE session_id = before.id ORDER BY opened_at DESC, app LIMIT 1) a
    WHERE s.state = 'RUNNING' AND s.kind = 'interactive' AND s.started_at > :since
""")


async def due(tx: AsyncSession, *, since: datetime) -> Sequence[LastUsed]:
    """Of the interactive sessions that have started since then, and not again."""
    rows = (await tx.execute(_DUE, {"since": since})).all()
    return [
        LastUsed(await tx.get_one(Session, session), await tx.get_one(Container, main), app, before)
        for session, main, app, before in rows
    ]


async def begin(tx: AsyncSession, last: LastUsed, now: datetime) -> AppOfSession | None:
    """The app with the options of last time, stored if need be; None if the session has it no longer, or it starts by
    itself.
    """
    known = (await session_apps.of_session(tx, last.session)).get(last.app)
    if known is None or not known.template.command or known.template.protocol == TCP:
        return None
    former = await tx.get(AppInstance, (last.before, last.app))
    options = known.options or (former.options if former else {})
    if known.source is AppSource.CATALOGUE or known.stored or options:
        known = await session_apps.keep(tx, last.session, known, options, now)
    await sessions.apps_changed(tx, last.session)
    return known
