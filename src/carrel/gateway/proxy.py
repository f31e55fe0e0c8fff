"""The gateway's request handler."""

import asyncio
from collections.abc import Callable
from urllib.parse import parse_qsl, urlsplit

import structlog
from aiohttp import web

from carrel.apps.service import GRANT_LIFETIME
from carrel.core.host_names import literal
from carrel.gateway import headers as crossing
from carrel.gateway import metrics, pages
from carrel.gateway.app_routes import AppOrigin, AppOrigins
from carrel.gateway.authorization import Authorization, Route
from carrel.gateway.pages import Denial
from carrel.gateway.relay import Relay, Written
from carrel.gateway.request_handler import BodyTooSlow
from carrel.gateway.scrape import Scrape, alive
from carrel.gateway.settings import GatewaySettings
from carrel.gateway.tunnel import Tunnel
from carrel.gateway.upstream import ConnectionPool, Unreachable, Upstream
from carrel.usage.idle.activity import Activity

log = structlog.get_logger()

OWN_PATHS = "/.carrel/"
TICKET = "carrel_ticket"
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_REFUSED_METHODS = frozenset({"CONNECT", "TRACE"})
_OWN_SITE = frozenset({"", "same-origin", "none"})


class Proxy:
    """Handles every request of the gateway."""

    def __init__(
        self,
        origins: AppOrigins,
        admission: Authorization,
        settings: GatewaySettings,
        pool: ConnectionPool,
        activity: Activity,
        scrape: Scrape,
    ) -> None:
        self._origins = origins
        self._scrape = scrape
        self._admission = admission
        self._activity = activity
        self._settings = settings
        self._pool = pool

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """The response; an app's response is already written and counted when this returns."""
        response = await self._answer(request)
        if not isinstance(response, Written):
            metrics.answered_by_gateway(response.status)
        return response

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        path = request.raw_path
        if path.startswith(OWN_PATHS):
            return await self._own(request)
        if not path.startswith("/") or request.method in _REFUSED_METHODS:
            return self._deny(pages.BAD_REQUEST)
        ticket = _ticket_in(path) if TICKET in path and request.method == "GET" else None
        # 1. Resolve the app.
        origin = await self._origins.find(request, afresh=ticket is not None)
        if isinstance(origin, Denial):
            return self._deny(origin)
        # 2. Authorize the request.
        if ticket:
            return await self._swap(request, origin, ticket)
        tokens = crossing.grants_in(request.raw_headers, origin.grant)
        route = await self._admission.admit(origin.place, tokens)
        if isinstance(route, Denial):
            return self._deny(route)
        upgrading = _is_websocket(request)
        if upgrading and request.body_exists:
            # Otherwise the end of the body could be read as the other protocol, or the reverse.
            refused = self._deny(pages.BAD_REQUEST)
            refused.force_close()
            return refused
        if (upgrading or request.method not in _SAFE) and not _from_own_page(request, origin):
            return self._deny(pages.OTHER_SITE)
        # 3. Forward it.
        assert request.transport is not None
        with self._admission.passing(route, request.transport):
            return await self._forward(request, origin, route, upgrading=upgrading)

    def _deny(self, denial: Denial) -> web.Response:
        metrics.DENIALS.labels(denial.code).inc()
        return pages.answer(denial, self._settings.public_url)

    async def _own(self, request: web.BaseRequest) -> web.Response:
        """The gateway's own paths: probes, metrics, and its decision for a proxy that carries the traffic itself."""
        match request.path:
            case "/.carrel/health" | "/.carrel/healthz":
                return alive()
            case "/.carrel/readyz":
                return await self._scrape.ready()
            case "/.carrel/auth":
                return await self._decide(request)
            case "/.carrel/metrics":
                return await self._scrape.answer(request)
        return self._deny(pages.UNKNOWN)

    async def _decide(self, request: web.BaseRequest) -> web.Response:
        origin = await self._origins.find(request)
        if isinstance(origin, Denial):
            return self._deny(origin)
        route = await self._admission.admit(
            origin.place, crossing.grants_in(request.raw_headers, origin.grant)
        )
        if isinstance(route, Denial):
            return self._deny(route)
        method = request.headers.get("X-Forwarded-Method", "GET")
        if (_is_websocket(request) or method not in _SAFE) and not _from_own_page(request, origin):
            return self._deny(pages.OTHER_SITE)
        address = route.destination.address
        if address is None:
            # Only the gateway itself connects through the engine.
            return self._deny(pages.NOT_ANSWERING)
        self._activity.recorder_of(route.place.session)()
        headers = {"X-Carrel-Upstream": f"{literal(address)}:{route.destination.port}"}
        return web.Response(status=204, headers=headers)

    async def _swap(self, request: web.BaseRequest, origin: AppOrigin, ticket: str) -> web.StreamResponse:
        """Exchange the ticket for a cookie and redirect to the same URL without the ticket."""
        issued = await self._admission.redeem(origin.place, ticket)
        if isinstance(issued, Denial):
            # Already opened in this browser: ignore a used ticket.
            tokens = crossing.grants_in(request.raw_headers, origin.grant)
            if isinstance(await self._admission.admit(origin.place, tokens), Denial):
                return self._deny(issued)
        host = request.headers["Host"]
        response = web.Response(
            status=302,
            headers={
                **pages.HEADERS,
                "Location": f"{origin.scheme}://{host}{_without_ticket(request.raw_path)}",
            },
        )
        if not isinstance(issued, Denial):
            response.set_cookie(
                origin.grant.decode(),
                issued.token,
                max_age=int(GRANT_LIFETIME.total_seconds()),
                httponly=True,
                samesite="Lax",
                secure=origin.scheme == "https",
            )
        return response

    async def _forward(
        self, request: web.BaseRequest, origin: AppOrigin, route: Route, *, upgrading: bool
    ) -> web.StreamResponse:
        """Forward the request; retry once if a pooled connection is stale."""
        # Only idempotent requests use a pooled connection, which may be stale.
        fresh = upgrading or request.body_exists or request.method not in _SAFE
        head = _head(request, origin, route, upgrading=upgrading)
        record_activity = self._activity.recorder_of(route.place.session)
        record_activity()
        while True:
            try:
                upstream = await self._pool.acquire(route.destination, fresh=fresh)
            except Unreachable:
                # The container's address may have changed.
                self._admission.forget_place(route.place)
                return self._deny(pages.NOT_ANSWERING)
            relay = Relay(request, upstream, record_activity, jar=origin.jar, upgrading=upgrading)
            try:
                await _exchange(request, upstream, relay, head, record_activity)
                if relay.switched:
                    with metrics.WEBSOCKETS.track_inprogress():
                        await Tunnel(request, upstream, record_activity).carry(relay.rest)
            except asyncio.CancelledError:
                if not relay.status:
                    metrics.CLIENT_LEFT.inc()
                raise
            finally:
                relay.cut()
                if relay.reusable:
                    self._pool.release(route.destination, upstream)
                elif not relay.switched:
                    upstream.abort()
            if relay.failure is None:
                return Written(relay.status, keep_alive=relay.keep_alive)
            if relay.failure.slow:
                return self._deny(pages.TOO_SLOW)
            if not relay.failure.retriable or fresh:
                return self._deny(pages.BROKEN_ANSWER if relay.failure.broken else pages.NOT_ANSWERING)
            fresh = True


async def _exchange(
    request: web.BaseRequest,
    upstream: Upstream,
    relay: Relay,
    head: bytes,
    record_activity: Callable[[], None],
) -> None:
    """Send the request and wait until its response is forwarded or has failed."""
    upstream.hand_to(relay)
    upstream.write(head)
    upload = (
        asyncio.create_task(_upload(request, upstream, relay, record_activity))
        if request.body_exists
        else None
    )
    try:
        while True:
            await relay.news.wait()
            if relay.done:
                return
            relay.news.clear()
            if relay.bulky:
                await relay.carry_bulk()
            else:
                await request.writer.drain()
                relay.go_on()
    finally:
        if upload and not upload.done():
            # The app responded before reading the whole request; the rest would corrupt the next one.
            relay.reusable = False
            upload.cancel()


async def _upload(
    request: web.BaseRequest, upstream: Upstream, relay: Relay, record_activity: Callable[[], None]
) -> None:
    chunked = "Transfer-Encoding" in request.headers
    try:
        async for chunk in request.content.iter_any():
            if not upstream.alive:
                return
            record_activity()
            upstream.write(b"%x\r\n%b\r\n" % (len(chunk), chunk) if chunked else chunk)
            await upstream.drain()
    except BodyTooSlow:
        relay.give_up_on_client()
        return
    except web.RequestPayloadError:
        upstream.abort()
        return
    if chunked and upstream.alive:
        upstream.write(b"0\r\n\r\n")


def _head(request: web.BaseRequest, origin: AppOrigin, route: Route, *, upgrading: bool) -> bytes:
    """The request head for the app."""
    peer = request.remote or ""
    lines = [
        f"{request.method} {request.raw_path} HTTP/1.1\r\n".encode("utf-8", "surrogateescape"),
        *crossing.request_lines(request.raw_headers, replaced=route.auth_name, jar=origin.jar),
        f"X-Forwarded-For: {peer}\r\nX-Forwarded-Host: {request.headers['Host']}\r\n"
        f"X-Forwarded-Proto: {origin.scheme}\r\n".encode("latin-1", "replace"),
    ]
    if route.auth and route.auth_name == b"cookie":
        lines.append(crossing.with_cookies(route.auth, request.raw_headers, origin.jar))
    elif route.auth:
        lines.append(route.auth)
    if upgrading:
        lines.append(b"Connection: Upgrade\r\nUpgrade: websocket\r\n")
    elif "Transfer-Encoding" in request.headers:
        lines.append(b"Transfer-Encoding: chunked\r\n")
    elif length := request.headers.get("Content-Length"):
        lines.append(f"Content-Length: {length}\r\n".encode("latin-1"))
    lines.append(b"\r\n")
    return b"".join(lines)


def _from_own_page(request: web.BaseRequest, origin: AppOrigin) -> bool:
    """Reject cross-site requests that carry this browser's cookie."""
    sent_by = request.headers.get("Origin")
    if sent_by is None:
        return request.headers.get("Sec-Fetch-Site", "") in _OWN_SITE
    return sent_by.lower() == f"{origin.scheme}://{request.headers['Host']}".lower()


def _is_websocket(request: web.BaseRequest) -> bool:
    return (
        request.method == "GET"
        and request.headers.get("Upgrade", "").lower() == "websocket"
        and "upgrade" in request.headers.get("Connection", "").lower()
    )


def _ticket_in(raw_path: str) -> str | None:
    return dict(parse_qsl(urlsplit("//x" + raw_path).query)).get(TICKET)


def _without_ticket(raw_path: str) -> str:
    path, _, query = raw_path.partition("?")
    kept = [part for part in query.split("&") if part and part.split("=", 1)[0] != TICKET]
    return path + ("?" + "&".join(kept) if kept else "")
