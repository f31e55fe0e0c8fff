"""Authorization of requests: origin and cookie -> the container's address, or a denial.

Database results are cached for a few seconds and dropped as soon as a session ends or restarts, because its address
may then belong to another session. Without a working notification connection nothing is cached. Open connections are
re-checked every two seconds, and at once when a share of a session is revoked, and closed when their grant has lapsed.
"""

import asyncio
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import structlog
from sqlalchemy import and_, select

from carrel.apps import service as apps
from carrel.apps import session_apps
from carrel.apps.app_templates import AppTemplate
from carrel.core.clock import Clock
from carrel.core.errors import Unavailable
from carrel.db.database import Database
from carrel.db.listener import Listener
from carrel.gateway import pages
from carrel.gateway.app_routes import SessionApp
from carrel.gateway.pages import Denial
from carrel.gateway.settings import GatewaySettings
from carrel.gateway.upstream import Destination
from carrel.sessions import announcements
from carrel.tables.session_shares import TOPIC as SHARES_CHANGED
from carrel.tables.session_states import LIFECYCLE, SessionState
from carrel.tables.sessions import Container, Session

log = structlog.get_logger()

REMEMBERED_S = 10.0
RECHECK_S = 2.0
_MOST_REMEMBERED = 10_000
_MOST_COOKIES = 50
"""Most cookies of one name: a sibling origin may plant as many as a browser keeps, and must not hide the valid one."""
_LONGEST_TOKEN = 100
_MAIN = select(Session, Container.id.label("container"), Container.address).join(
    Container, and_(Container.session_id == Session.id, Container.index == 0)
)
"""Sessions with the main container, in which their apps run."""
_LAPSES = (SessionState.TERMINATING, SessionState.STARTING)


@dataclass(frozen=True, slots=True)
class Route:
    """The target of a request. token: of the grant that authorized it.

    auth: header line that opens the app, with its lower-case name; or None.
    """

    place: SessionApp
    token: str
    destination: Destination
    auth: bytes | None
    auth_name: bytes | None


class Authorization:
    """Decides by the grant and the session's row, with a short-lived cache."""

    def __init__(
        self, database: Database, listener: Listener, settings: GatewaySettings, clock: Clock
    ) -> None:
        self._database = database
        self._listener = listener
        self._settings = settings
        self._clock = clock
        self._known: dict[tuple[SessionApp, str], tuple[float, Route]] = {}
        self._asking: dict[tuple[SessionApp, str], asyncio.Task[Route | Denial]] = {}
        self._passing: set[tuple[str, asyncio.Transport]] = set()
        self._generation = 0
        self._recheck_due = asyncio.Event()
        for state in _LAPSES:
            listener.subscribe(announcements.topic(state), self.forget)
        listener.subscribe(SHARES_CHANGED, self._share_ended)

    def forget(self) -> None:
        """Clear the cache, including queries in progress."""
        self._generation += 1
        self._known.clear()
        self._asking.clear()

    def _share_ended(self) -> None:
        self.forget()
        self._recheck_due.set()

    @contextmanager
    def passing(self, route: Route, client: asyncio.Transport) -> Iterator[None]:
        """Within the block, the client is disconnected when the grant lapses."""
        one = route.token, client
        self._passing.add(one)
        try:
            yield
        finally:
            self._passing.discard(one)

    async def watch(self) -> None:
        """Re-check open connections periodically, until cancelled."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(RECHECK_S):
                    await self._recheck_due.wait()
            self._recheck_due.clear()
            try:
                await self._recheck()
            except Unavailable:
                log.warning("gateway.recheck_failed", passing=len(self._passing))
            except Exception:  # the next check must run in any case
                log.exception("gateway.recheck_failed")

    def forget_place(self, place: SessionApp) -> None:
        """Drop one origin from the cache."""
        for key in [key for key in self._known if key[0] == place]:
            del self._known[key]

    def remembered(self, place: SessionApp, tokens: Sequence[str]) -> Route | None:
        """The cached route, if any."""
        for token in tokens:
            known = self._known.get((place, token))
            if known and known[0] > time.monotonic() and self._listener.connected.is_set():
                return known[1]
        return None

    async def admit(self, place: SessionApp, tokens: Sequence[str]) -> Route | Denial:
        """The route of the first cookie that grants access, or the best denial."""
        if route := self.remembered(place, tokens):
            return route
        denial = pages.NO_GRANT
        for token in await self._holding(tokens[-_MOST_COOKIES:]):
            answer = await self._ask_once(place, token)
            if isinstance(answer, Route):
                return answer
            if answer is not pages.NO_GRANT:
                denial = answer
        return denial

    async def _holding(self, tokens: Sequence[str]) -> Sequence[str]:
        """The tokens with a grant, by one query; a single one is returned unchecked."""
        if len(tokens) < 2:
            return tokens
        try:
            async with self._database.transaction() as tx:
                lapsed = await apps.lapsed(tx, set(tokens), self._clock.now())
        except Unavailable:
            return tokens[:1]
        return [token for token in tokens if token not in lapsed] or tokens[:1]

    async def redeem(self, place: SessionApp, ticket: str) -> apps.Issued | Denial:
        """Swap a ticket for a grant."""
        try:
            async with self._database.transaction() as tx:
                issued = await apps.redeem(
                    tx, ticket=ticket, session=place.session, app=place.app, now=self._clock.now()
                )
        except Unavailable:
            return pages.DATABASE_AWAY
        return issued or pages.NO_GRANT

    async def _recheck(self) -> None:
        """Disconnect clients whose grants have lapsed."""
        now_s = time.monotonic()
        self._known = {key: known for key, known in self._known.items() if known[0] > now_s}
        tokens = {token for _, token in self._known} | {token for token, _ in self._passing}
        if not tokens:
            return
        async with self._database.transaction() as tx:
            lapsed = await apps.lapsed(tx, tokens, self._clock.now())
        if not lapsed:
            return
        self._known = {key: known for key, known in self._known.items() if key[1] not in lapsed}
        cut = [client for token, client in self._passing if token in lapsed]
        for client in cut:
            client.abort()
        log.info("gateway.lapsed", grants=len(lapsed), cut=len(cut))

    async def _ask_once(self, place: SessionApp, token: str) -> Route | Denial:
        """Query the database; concurrent identical queries share one result."""
        if len(token) > _LONGEST_TOKEN:
            return pages.NO_GRANT
        key = (place, token)
        asking = self._asking.get(key)
        if asking is None:
            asking = self._asking[key] = asyncio.create_task(self._ask(place, token))
            asking.add_done_callback(
                lambda done: self._asking.pop(key) if self._asking.get(key) is done else None
            )
        return await asyncio.shield(asking)

    async def _ask(self, place: SessionApp, token: str) -> Route | Denial:
        generation = self._generation
        now = self._clock.now()
        try:
            async with self._database.transaction() as tx:
                grant = await apps.grant_of(tx, token=token, now=now)
                if grant is None or (grant.app, grant.session_id) != place:
                    return pages.NO_GRANT
                row = (await tx.execute(_MAIN.where(Session.id == place.session))).first()
                app = await session_apps.reached(tx, row.Session, place.app) if row else None
        except Unavailable:
            return pages.DATABASE_AWAY
        answer = self._route(place, token, row, app) if row else pages.UNKNOWN
        if isinstance(answer, Route) and generation == self._generation:
            self._remember((place, token), answer, grant.expires_at, now)
        return answer

    def _remember(
        self, key: tuple[SessionApp, str], route: Route, expires_at: datetime, now: datetime
    ) -> None:
        if len(self._known) >= _MOST_REMEMBERED:
            self._known.clear()
        left_s = min(REMEMBERED_S, (expires_at - now).total_seconds())
        self._known[key] = (time.monotonic() + left_s, route)

    def _route(self, place: SessionApp, token: str, row: Any, app: AppTemplate | None) -> Route | Denial:
        """row: of _MAIN."""
        session: Session = row.Session
        if session.state in LIFECYCLE.final or session.state == SessionState.TERMINATING:
            return pages.ENDED
        if session.state != SessionState.RUNNING:
            return pages.NOT_RUNNING
        if app is None:
            return pages.UNKNOWN
        destination = Destination(row.container, row.address, app.port)
        return self._to(app, place, token, destination)

    def _to(self, app: AppTemplate, place: SessionApp, token: str, destination: Destination) -> Route:
        auth = app.auth(apps.app_secret(self._settings.key, place.session))
        if auth is None:
            return Route(place, token, destination, None, None)
        name, value = (text.encode("latin-1") for text in auth)
        return Route(place, token, destination, b"%b: %b\r\n" % (name, value), name.lower())
