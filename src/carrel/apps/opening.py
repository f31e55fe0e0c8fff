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

from carrel.apps.app_templates import SECRET_VARIABLE, AppTemplate
from carrel.apps.container_engines import ContainerEngines
from carrel.apps.denials import of_engine
from carrel.apps.start_leases import StartLeases
from carrel.core.errors import Unavailable
from carrel.core.host_names import is_this_machine, literal
from carrel.core.ids import ContainerId, SessionId
from carrel.engines.port import EngineError
from carrel.http.services import ApiSettings

TICKET_PARAMETER = "carrel_ticket"
START_TIMEOUT_S = 60.0
GLANCE_S = 0.3
FORWARDED_GLANCE_S = 2.0
_FIRST_PAUSE_S = 0.05
_LONGEST_PAUSE_S = 0.5
_PROBE_S = 5.0
_PROCESS_LOOK_S = 1.5
_AFTERLIFE_S = 5.0
_LOG_LINES = 12
_LOG_S = 3.0
_OPEN_S = 0.3
"""A connection through an engine that is not closed for so long leads to an open port."""

# Started in the background of the exec's shell, so that the app survives the exec; the shell prints the app's process
# id. The app's output goes to the main process's output, and thus to the session's log, if permitted.
_IN_BACKGROUND = (
    "if (: >/proc/1/fd/1) 2>/dev/null; then out=/proc/1/fd/1; else out=/dev/null; fi; "
    '( exec "$@" </dev/null >"$out" 2>&1 ) & echo $!'
)


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
    """The container of a session's apps, its address, and the apps' secret. address None: only through its engine."""

    container: ContainerId
    address: str | None
    secret: str


def with_ticket(url: str, ticket: str) -> str:
    """The URL of an app with a ticket that opens it."""
    return f"{url}?{TICKET_PARAMETER}={ticket}"


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

    def __init__(self, engines: ContainerEngines, leases: StartLeases) -> None:
        self._engines = engines
        self._leases = leases
        self._locks: weakref.WeakValueDictionary[tuple[ContainerId, str], asyncio.Lock] = (
            weakref.WeakValueDictionary()
        )

    async def ensure(self, place: AppServer, app: AppTemplate) -> None:
        """Return when the app responds. Raises: Unavailable (with the end of its log as the hint)."""
        lock = self._locks.setdefault((place.container, app.name), asyncio.Lock())
        async with lock, _client() as client:
            while not await _answers(client, self._engines, place, app, _PROBE_S):
                async with self._leases.starting(place.container, app.name) as granted:
                    if granted and not await _answers(client, self._engines, place, app, _PROBE_S):
                        await self._bring_up(client, place, app)
                        return
                if not granted:
                    await asyncio.sleep(_LONGEST_PAUSE_S)

    async def _bring_up(self, client: aiohttp.ClientSession, place: AppServer, app: AppTemplate) -> None:
        try:
            pid = await self._start(place, app) if app.command else None
            ready = await self._comes_up(client, place, app, pid)
        except EngineError as error:
            raise of_engine(error) from error
        if not ready:
            raise Unavailable(
                "app.not_ready",
                f"{app.title} does not respond.",
                hint=await self._end_of_log(place.container) or "See the session's log.",
            )

    async def _start(self, place: AppServer, app: AppTemplate) -> int | None:
        """Start it; returns its process id in the container."""
        command = ("sh", "-c", _IN_BACKGROUND, app.name, *app.command)
        code, output = await self._run(place.container, command, {SECRET_VARIABLE: place.secret})
        return int(output) if code == 0 and output.strip().isdigit() else None

    async def _comes_up(
        self, client: aiohttp.ClientSession, place: AppServer, app: AppTemplate, pid: int | None
    ) -> bool:
        """Poll with back-off; briefly once its process has ended."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + START_TIMEOUT_S
        look_at_process = loop.time() + _PROCESS_LOOK_S
        pause_s = _FIRST_PAUSE_S
        while loop.time() < deadline:
            if await _answers(client, self._engines, place, app, _PROBE_S):
                return True
            if pid is not None and loop.time() > look_at_process:
                look_at_process = loop.time() + _PROCESS_LOOK_S
                code, _ = await self._run(place.container, ("sh", "-c", f"kill -0 {pid}"), {})
                if code != 0:
                    # It failed, or it daemonised and will listen soon.
                    pid, deadline = None, min(deadline, loop.time() + _AFTERLIFE_S)
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 1.5, _LONGEST_PAUSE_S)
        return False

    async def _run(
        self, container: ContainerId, command: Sequence[str], env: Mapping[str, str]
    ) -> tuple[int, bytes]:
        """Exit code and output of a short command."""
        engine = await self._engines.of(container)
        async with engine.exec(container, command, env=env, terminal=None) as stream:
            output = b"".join([chunk async for number, chunk in stream.output() if number == 1])
            return await stream.exit_code(), output

    async def _end_of_log(self, container: ContainerId) -> str:
        chunks: list[bytes] = []
        with suppress(EngineError, TimeoutError):
            async with asyncio.timeout(_LOG_S):
                engine = await self._engines.of(container)
                async for records in engine.logs(container, follow=False, tail=_LOG_LINES):
                    chunks += [record.content for record in records]
        return b"".join(chunks).decode(errors="replace").strip()


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
