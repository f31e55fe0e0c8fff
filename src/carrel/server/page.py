"""The web page: files of the build, and its index for every address that is the page's own."""

import os
from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import PlainTextResponse, Response
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

from carrel.core.errors import NotFound

BUILT = Path(__file__).parent.parent / "web_dist"
_IMMUTABLE = "public, max-age=31536000, immutable"


def install(app: FastAPI, built: Path = BUILT) -> None:
    """Serve the page at every address that no route has."""
    page = _Page(built)
    otherwise = app.router.default

    async def default(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await page.answer(Request(scope))(scope, receive, send)
        else:
            await otherwise(scope, receive, send)

    app.router.default = default


class _Page:
    def __init__(self, built: Path) -> None:
        self._root = built.resolve()
        # Not asked to look anything up, only to answer conditional requests as it does.
        self._files = StaticFiles(directory=self._root, check_dir=False)

    def answer(self, request: Request) -> Response:
        """A file, or the index. Raises: NotFound, HTTPException."""
        path = request.url.path.lstrip("/")
        if path == "api" or path.startswith("api/"):
            raise NotFound(
                "http.not_found", f"There is nothing at /{path}.", hint="See /api/v1/openapi.json."
            )
        if request.method not in ("GET", "HEAD"):
            raise HTTPException(405, headers={"Allow": "GET, HEAD"})
        if file := self._find(request.scope["path"].lstrip("/")):
            return self._send(file, request, _IMMUTABLE if path.startswith("assets/") else "no-cache")
        if path.startswith("assets/"):
            raise NotFound("http.not_found", "This file belongs to another version; load the page again.")
        index = self._root / "index.html"
        if not index.is_file():
            return PlainTextResponse("The page is not built: run ./carrel up from a checkout.\n", 503)
        return self._send(index, request, "no-cache")

    def _find(self, path: str) -> Path | None:
        try:
            file = (self._root / path).resolve()
            found = bool(path) and file.is_relative_to(self._root) and file.is_file()
        except (OSError, ValueError):
            # A name that no file can have: too long, or with a NUL in it.
            return None
        return file if found else None

    def _send(self, file: Path, request: Request, cache: str) -> Response:
        response = self._files.file_response(file, os.stat(file), request.scope)
        response.headers["Cache-Control"] = cache
        return response
