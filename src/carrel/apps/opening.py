"""Open an app: start it in its session if it does not respond, wait for it, and issue a ticket."""

import asyncio
import re
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

import aiohttp

from carrel.apps.app_processes import AppProcesses
from carrel.apps.app_templates import AppTemplate
from carrel.apps.container_engines import ContainerEngines
from carrel.apps.denials import of_engine
from carrel.apps.start_leases import StartLeases
from carrel.core.clock import Clock
from carrel.core.errors import Conflict, Unavailable
from carrel.core.host_names import is_this_machine, literal
from carrel.core.ids import ContainerId, SessionId
from carrel.engines.port import EngineError
from carrel.http.services import ApiSettings

TICKET_PARAMETER = "carrel_ticket"
START_TIMEOUT_S = 60.0
GLANCE_S = 0.3
FORWARDED_GLANCE_S = 2.0
_FIRST_PAUSE_S = 0.05
_LONGEST_PAUSE_S = 0.2
_PROBE_S = 5.0
_PROCESS_LOOK_S = 1.5
_AFTERLIFE_S = 5.0
_LOG_LINES = 12
_MOST_HINT = 2000
_OPEN_S = 0.3
"""A connection through an engine that is not closed for so long leads to an open port."""


class AppsSettings(ApiSettings, Protocol):
    """The server settings used here."""

    @property
    def public_url(self) -> str: ...

    @property
    def effective_app_ports(self) -> range: ...

    @property
    def effective_apps_url(self) -> str: ...

    def key(self) -> bytes: ...


@dataclass(frozen=True)
class AppServer:
    """The container of a session's apps, its address, and the apps' secret. address None: only through its engine.
    start: names the container's start; processes of earlier ones have ended.
    """

    container: ContainerId
    address: str | None
    secret: str
    start: str


def with_ticket(url: str, path: str, ticket: str) -> str:
    """The URL of an app's path with a ticket that opens it. url: of its origin. path: with or without a query."""
    return f"{url.rstrip('/')}{path}{'&' if '?' in path else '?'}{TICKET_PARAMETER}={ticket}"


def app_url(apps_url: str, session: SessionId, app: str) -> str:
    """The app's URL by host name. apps_url: scheme, apps domain and port."""
    parts = urlsplit(apps_url)
    return f"{parts.scheme}://{app}-{session}.{parts.netloc}/"


def page_without_names(settings: AppsSettings, request_url: str) -> str | None:
    """The page's URL for this client, if apps must use ports of that host; otherwise None.

    asked: URL of the request. For clients of localhost, app host names resolve to their own machine.
    """
    page = settings.public_url or request_url
    host = urlsplit(page).hostname
    return page if settings.effective_app_ports and host and not is_this_machine(host) else None


def port_url(page: str, port: int) -> str:
    """The app's URL by port."""
    parts = urlsplit(page)
    return f"{parts.scheme}://{literal(parts.hostname or '')}:{port}/"


async def running_apps(
    engines: ContainerEngines, place: AppServer, templates: Sequence[AppTemplate]
) -> Mapping[str, bool]:
    """Whether each app responds; checked concurrently with a short timeout."""
    limit_s = GLANCE_S if place.address else FORWARDED_GLANCE_S
    async with _client() as client:
        answers = await asyncio.gather(*(_answers(client, engines, place, app, limit_s) for app in templates))
    return {app.name: answer for app, answer in zip(templates, answers, strict=True)}


class AppStarter:
    """Starts apps, each at most once at a time, in all copies of the API."""

    def __init__(
        self, engines: ContainerEngines, processes: AppProcesses, leases: StartLeases, clock: Clock
    ) -> None:
        self._engines = engines
        self._processes = processes
        self._leases = leases
        self._clock = clock
        self._locks: weakref.WeakValueDictionary[tuple[ContainerId, str], asyncio.Lock] = (
            weakref.WeakValueDictionary()
        )

    async def responds(self, place: AppServer, app: AppTemplate) -> bool:
        """Whether the app responds now."""
        async with _client() as client:
            return await _answers(client, self._engines, place, app, _PROBE_S)

    async def ensure(self, place: AppServer, app: AppTemplate, options: Mapping[str, str]) -> None:
        """Return when the app responds. Raises: Unavailable (with the end of its log as the hint)."""
        lock = self._locks.setdefault((place.container, app.name), asyncio.Lock())
        async with lock, _client() as client:
            while not await _answers(client, self._engines, place, app, _PROBE_S):
                async with self._leases.starting(place.container, app.name) as granted:
                    if granted and not await _answers(client, self._engines, place, app, _PROBE_S):
                        await self._bring_up(client, place, app, options)
                        return
                if not granted:
                    await asyncio.sleep(_LONGEST_PAUSE_S)

    async def stop(self, place: AppServer, app: AppTemplate) -> None:
        """End the app's processes. Raises: Conflict if it still responds."""
        try:
            await self._processes.stop(place.container, app.name, start=place.start)
        except EngineError as error:
            raise of_engine(error) from error
        if await self.responds(place, app):
            raise Conflict(
                "app.not_stopped",
                f"{app.title} still responds: it was not started by Carrel.",
                hint="End it in a terminal of the session.",
            )

    async def _bring_up(
        self, client: aiohttp.ClientSession, place: AppServer, app: AppTemplate, options: Mapping[str, str]
    ) -> None:
        try:
            if app.command:
                await self._start(place, app, options)
            ready = await self._comes_up(client, place, app)
            if ready:
                return
            end = await self._processes.log(place.container, app.name, lines=_LOG_LINES)
        except EngineError as error:
            raise of_engine(error) from error
        raise Unavailable(
            "app.not_ready",
            f"{app.title} does not respond.",
            hint=end.decode(errors="replace").strip()[-_MOST_HINT:] or f"Nothing listens on port {app.port}.",
        )

    async def _start(self, place: AppServer, app: AppTemplate, options: Mapping[str, str]) -> None:
        """Start it, unless it is running but has not responded yet, as after a failure of this API."""
        known = (await self._processes.status(place.container, start=place.start)).get(app.name)
        if known and known.alive:
            return
        await self._processes.start(
            place.container,
            app.name,
            app.words(place.secret, options),
            app.variables(place.secret, options),
            start=place.start,
            now_s=int(self._clock.now().timestamp()),
        )

    async def _comes_up(self, client: aiohttp.ClientSession, place: AppServer, app: AppTemplate) -> bool:
        """Poll with back-off; briefly once its process has ended."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + (START_TIMEOUT_S if app.command else _PROBE_S)
        look_at_process = loop.time() + _PROCESS_LOOK_S
        pause_s, ended = _FIRST_PAUSE_S, not app.command
        while loop.time() < deadline:
            if await _answers(client, self._engines, place, app, _PROBE_S):
                return True
            if not ended and loop.time() > look_at_process:
                look_at_process = loop.time() + _PROCESS_LOOK_S
                known = (await self._processes.status(place.container, start=place.start)).get(app.name)
                if not known or not known.alive:
                    # It failed, or it daemonised and will listen soon.
                    ended, deadline = True, min(deadline, loop.time() + _AFTERLIFE_S)
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 1.5, _LONGEST_PAUSE_S)
        return False


def _client() -> aiohttp.ClientSession:
    return aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar(), trust_env=False)


async def _answers(
    client: aiohttp.ClientSession,
    engines: ContainerEngines,
    place: AppServer,
    app: AppTemplate,
    timeout_s: float,
) -> bool:
    """One check: the ready path responds below 500 or, without one, the port is open."""
    try:
        async with asyncio.timeout(timeout_s):
            if place.address is None:
                return await _answers_through(engines, place, app)
            if not app.ready:
                _, writer = await asyncio.open_connection(place.address, app.port)
                writer.close()
                return True
            auth = app.auth(place.secret)
            async with client.get(
                f"http://{literal(place.address)}:{app.port}{app.ready}",
                headers=dict([auth]) if auth else {},
                allow_redirects=False,
            ) as answer:
                return answer.status < 500
    except (OSError, TimeoutError, ValueError, aiohttp.ClientError):  # ValueError: a line without end
        return False


async def _answers_through(engines: ContainerEngines, place: AppServer, app: AppTemplate) -> bool:
    """The same through the engine, which accepts every connection, and closes it if nothing listens."""
    end = await engines.connect(place.container, app.port)
    reader, writer = await asyncio.open_connection(sock=end)
    try:
        if not app.ready:
            with suppress(TimeoutError):
                async with asyncio.timeout(_OPEN_S):
                    return bool(await reader.read(1))
            return True
        headers = ["Host: localhost", "Connection: close"]
        if auth := app.auth(place.secret):
            headers.append(": ".join(auth))
        writer.write("\r\n".join([f"GET {app.ready} HTTP/1.1", *headers, "", ""]).encode("latin-1"))
        status = re.match(rb"HTTP/1\.[01] ([1-4])\d\d ", await reader.readline())
        return status is not None
    finally:
        writer.close()
