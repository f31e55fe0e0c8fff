"""The web page: files of the build, and its index for all addresses of the page."""

import os
import re
from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import FileResponse, PlainTextResponse, Response
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

from carrel.core.errors import NotFound
from carrel.http.compressed import takes

BUILT = Path(__file__).parent.parent / "web_dist"
# Encodings as written by web/tools/precompress.ts, best first.
_CODINGS = (("br", ".br"), ("gzip", ".gz"))
_TEXT = frozenset({".css", ".html", ".js", ".json", ".mjs", ".svg", ".txt", ".wasm"})
_IMMUTABLE = "public, max-age=31536000, immutable"


# Routes as in web/src/app/router.tsx, compared by a test. "$": anything.
PAGES = (
    "/",
    "/index.html",
    "/signin",
    "/forgot-password",
    "/reset-password",
    "/sign-up",
    "/verify-email",
    "/sessions",
    "/shared",
    "/templates",
    "/my-environments",
    "/import",
    "/templates/apps",
    "/sessions/recurring",
    "/terminal/$",
    "/settings",
    "/settings/profile",
    "/settings/password",
    "/settings/two-factor",
    "/settings/passkeys",
    "/settings/keypairs",
    "/settings/tokens",
    "/settings/ssh-keys",
    "/settings/dotfiles",
    "/settings/sign-ins",
    "/settings/preferences",
    "/settings/activity",
    "/help",
    "/help/**",
    "/keypairs",
    "/users",
    "/users/keypairs",
    "/projects",
    "/domains",
    "/audit",
    "/site",
    "/providers",
    "/resources",
    "/resources/devices",
    "/resources/engines",
    "/resources/groups",
    "/resources/presets",
    "/policies",
    "/agents",
    "/dashboard",
    "/scheduler",
    "/data",
    "/data/$",
    "/storage",
    "/storage/folders",
    "/storage/quotas",
    "/environments/images",
    "/environments/registries",
    "/statistics",
    "/maintenance",
    "/maintenance/consistency",
    "/maintenance/images",
    "/maintenance/information",
    "/maintenance/scans",
    "/settings/notifications",
)
_WILDCARDS = {"$": "[^/]+", "**": ".+"}
_PAGE = re.compile(
    "|".join("/".join(_WILDCARDS.get(part) or re.escape(part) for part in page.split("/")) for page in PAGES)
)


def _is_page(path: str) -> bool:
    return bool(_PAGE.fullmatch(path.rstrip("/") or "/"))


def install(app: FastAPI, built: Path = BUILT) -> None:
    """Serve the page at every address without a route."""
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
        # Only for its handling of conditional requests, not for lookups.
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
            raise NotFound("http.not_found", "This file belongs to another version; reload the page.")
        index = self._root / "index.html"
        if not index.is_file():
            return PlainTextResponse("The page is not built: run ./carrel up from a checkout.\n", 503)
        if not _is_page(request.url.path):
            # The page tells people; programs use the status.
            return FileResponse(index, 404, headers={"Cache-Control": "no-cache"})
        return self._send(index, request, "no-cache")

    def _find(self, path: str) -> Path | None:
        try:
            file = (self._root / path).resolve()
            exists = bool(path) and file.is_relative_to(self._root) and file.is_file()
        except (OSError, ValueError):
            # An impossible file name: too long, or with a NUL.
            return None
        return file if exists else None

    def _send(self, file: Path, request: Request, cache: str) -> Response:
        coding, sent = _compressed(file, request.headers.get("accept-encoding", ""))
        response = self._files.file_response(sent, os.stat(sent), request.scope)
        response.headers["Cache-Control"] = cache
        if file.suffix in _TEXT:
            response.headers["Vary"] = "Accept-Encoding"
        if coding and response.status_code == 200:
            response.headers["Content-Encoding"] = coding
            response.headers["Content-Type"] = FileResponse(file).headers["content-type"]
        return response


def _compressed(file: Path, accepted: str) -> tuple[str, Path]:
    """The smallest build output for a file that the client accepts, and its content encoding."""
    for coding, suffix in _CODINGS:
        if file.suffix in _TEXT and takes(accepted, coding):
            made = file.with_name(file.name + suffix)
            if made.is_file() and made.stat().st_mtime >= file.stat().st_mtime:
                return coding, made
    return "", file
