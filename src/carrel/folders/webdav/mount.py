"""Mount point of WebDAV. Its library is imported on the first request, which speeds up the start of the API."""

import asyncio
import importlib

from starlette.types import ASGIApp, Receive, Scope, Send

MOUNT = "/dav"


class LazyWebDav:
    """Loads the application of `carrel.folders.webdav.app` on first use."""

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
