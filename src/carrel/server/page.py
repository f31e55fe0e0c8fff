"""The web page: files of the build, and its index for every address that is the page's own."""

from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.responses import FileResponse, PlainTextResponse, Response

from carrel.core.errors import NotFound

BUILT = Path(__file__).parent.parent / "web_dist"
_IMMUTABLE = "public, max-age=31536000, immutable"


def install(app: FastAPI, built: Path = BUILT) -> None:
    """Serve the page at every address that is not the API's."""
    root = built.resolve()

    @app.get("/{path:path}", include_in_schema=False)
    async def page(request: Request, path: str) -> Response:
        if path == "api" or path.startswith("api/"):
            raise NotFound(
                "http.not_found", f"There is nothing at /{path}.", hint="See /api/v1/openapi.json."
            )
        file = (root / path).resolve()
        if path and file.is_relative_to(root) and file.is_file():
            cache = _IMMUTABLE if path.startswith("assets/") else "no-cache"
            return FileResponse(file, headers={"Cache-Control": cache})
        if path.startswith("assets/"):
            raise NotFound("http.not_found", "This file belongs to another version; load the page again.")
        index = root / "index.html"
        if not index.is_file():
            return PlainTextResponse("The page is not built: run ./carrel up from a checkout.\n", 503)
        return FileResponse(index, headers={"Cache-Control": "no-cache"})
