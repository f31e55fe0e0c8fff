"""A proxy in front of an API server, which can answer in its place: busy, slow, half dead, or with old versions.

async with ApiFront(cluster) as front:
    front.instead("watch=true", too_old)     # the next request with this text in its address
    KubernetesEngine(front.access(), ...)
"""

import asyncio
import json
import ssl
from collections.abc import Awaitable, Callable
from types import TracebackType

import aiohttp
from aiohttp import web
from own_cluster import Cluster
from service_accounts import token

from carrel.engines.kubernetes.credentials import ClusterAccess

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]
_GONE = {"kind": "Status", "status": "Failure", "reason": "Expired", "code": 410, "message": "too old"}


class ApiFront:
    """On a free port of 127.0.0.1, without TLS."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._instead: list[tuple[str, Answer]] = []
        self.seen: list[str] = []
        """Addresses of the requests, in order."""
        self.edit: Callable[[bytes], bytes] = lambda content: content
        """Changes each part of the server's answers."""

    def access(self) -> ClusterAccess:
        return ClusterAccess(url=self._url, token=token(self._cluster))

    def instead(self, text: str, *answers: Answer) -> None:
        """Give these answers to the next requests with this text in their address."""
        self._instead += [(text, answer) for answer in answers]

    async def __aenter__(self) -> "ApiFront":
        context = ssl.create_default_context(cafile=str(self._cluster.folder / "ca.pem"))
        self._client = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0, ssl=context))
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._serve)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        host, port = self._runner.addresses[0][:2]
        self._url = f"http://{host}:{port}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._runner.cleanup()
        await self._client.close()

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        self.seen.append(request.path_qs)
        for number, (text, answer) in enumerate(self._instead):
            if text in request.path_qs:
                del self._instead[number]
                return await answer(request)
        url = f"{self._cluster.url}{request.path_qs}"
        kept = {name: request.headers[name] for name in ("Authorization", "Accept", "Content-Type")}
        async with self._client.request(
            request.method, url, headers=kept, data=await request.read()
        ) as answer:
            response = web.StreamResponse(status=answer.status)
            response.content_type = answer.content_type
            await response.prepare(request)
            async for part in answer.content.iter_any():
                await response.write(self.edit(part))
            return response


def busy(retry_after: str) -> Answer:
    async def answer(request: web.Request) -> web.StreamResponse:
        return web.json_response({"message": "slow down"}, status=429, headers={"Retry-After": retry_after})

    return answer


async def gone(request: web.Request) -> web.StreamResponse:
    """For lists: the version of the page is too old."""
    return web.json_response(_GONE, status=410)


def events(*lines: object) -> Answer:
    """A watch with these events, which then ends."""

    async def answer(request: web.Request) -> web.StreamResponse:
        return web.Response(text="".join(json.dumps(line) + "\n" for line in lines))

    return answer


too_old = events({"type": "ERROR", "object": _GONE})
"""For watches: the version is too old."""


async def never(request: web.Request) -> web.StreamResponse:
    """The beginning of an answer, and then nothing until the client gives up."""
    response = web.StreamResponse()
    await response.prepare(request)
    await asyncio.Event().wait()
    return response
