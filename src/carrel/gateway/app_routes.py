"""Resolve the app of a request by host name or, without wildcard DNS, by port."""

import time
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from aiohttp import web

from carrel.apps import ports
from carrel.core.errors import Unavailable
from carrel.core.ids import ID_LENGTH, SessionId
from carrel.db.database import Database
from carrel.db.listener import Listener
from carrel.gateway import pages
from carrel.gateway.pages import Denial
from carrel.gateway.settings import GatewaySettings

REMEMBERED_S = 10.0
_LONGEST_HOST = 260


class SessionApp(NamedTuple):
    """One app of one session."""

    app: str
    session: SessionId


@dataclass(frozen=True, slots=True)
class AppOrigin:
    """The origin of a place. scheme: as browsers see it. grant: name of the cookie that opens it.

    jar: prefix of the app's cookie names in the browser. Cookies ignore ports, so apps on ports of one host would
    share them; empty if the app has its own host.
    """

    place: SessionApp
    scheme: str
    grant: bytes
    jar: bytes


def place_of(host: str, apps_domain: str) -> SessionApp | None:
    """The app and the session that a Host header names, or None."""
    name = host.lower().rsplit(":", 1)[0] if not host.endswith("]") else host
    label, dot, domain = name.partition(".")
    app, dash, session = label.rpartition("-")
    if not (dot and dash and app) or domain != apps_domain or len(session) != ID_LENGTH:
        return None
    return SessionApp(app, SessionId(session))


def origin_of(place: SessionApp, scheme: str, *, own_host: bool) -> AppOrigin:
    label = f"{place.app}-{place.session}".encode()
    jar = b"" if own_host else b"carrel_of_%b_" % label
    return AppOrigin(place, scheme, b"carrel_app_%b" % label, jar)


class AppOrigins:
    """Finds the app origin of each request, with a short-lived cache of ports."""

    def __init__(self, database: Database, listener: Listener, settings: GatewaySettings) -> None:
        self._database = database
        self._listener = listener
        self._settings = settings
        self._known: dict[int, tuple[float, AppOrigin]] = {}
        self._by_name = lru_cache(4096)(self._named)
        listener.subscribe(ports.TOPIC, self._known.clear)

    async def find(self, request: web.BaseRequest, *, afresh: bool = False) -> AppOrigin | Denial:
        """The origin that the request is sent to. afresh: bypass the port cache."""
        host = request.headers.get("Host", "")
        if len(host) > _LONGEST_HOST:
            return pages.UNKNOWN
        origin = self._by_name(host)
        if origin or not self._settings.app_ports or request.transport is None:
            return origin or pages.UNKNOWN
        # The socket's port, not the Host header's, which may differ with port forwarding.
        port = int(request.transport.get_extra_info("sockname")[1])
        if port not in self._settings.app_ports:
            return pages.UNKNOWN
        known = self._known.get(port)
        if known and not afresh and known[0] > time.monotonic() and self._listener.connected.is_set():
            return known[1]
        return await self._ask(port)

    def _named(self, host: str) -> AppOrigin | None:
        place = place_of(host, self._settings.apps_domain)
        return origin_of(place, self._settings.scheme, own_host=True) if place else None

    async def _ask(self, port: int) -> AppOrigin | Denial:
        try:
            async with self._database.transaction() as tx:
                app = await ports.place_at(tx, port)
        except Unavailable:
            return pages.DATABASE_AWAY
        if app is None:
            return pages.UNKNOWN
        origin = origin_of(SessionApp(*app), self._settings.public_scheme, own_host=False)
        self._known[port] = time.monotonic() + REMEMBERED_S, origin
        return origin
