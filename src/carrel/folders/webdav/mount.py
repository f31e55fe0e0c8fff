"""Where WebDAV is served. Its library is loaded by the first request: the API starts sooner without it."""

import asyncio
import importlib

from starlette.types import ASGIApp, Receive, Scope, Send

MOUNT = "/dav"


class LazyWebDav:
    """The application of `carrel.folders.webdav.app`."""

    def __init__(self) -> None:
        self._loading: asyncio.Task[ASGIApp] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._loading = self._loading or asyncio.create_task(_load())
        app = await asyncio.shield(self._loading)
        await app(scope, receive, send)


async def _load() -> ASGIApp:
    loaded = await asyncio.to_thread(importlib.import_module, "carrel.folders.webdav.app")
    app: ASGIApp = loaded.WebDav()
    return app
