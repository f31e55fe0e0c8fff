"""A registry whose every response a test decides, for what no real one does on request."""

import asyncio
import hashlib
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from aiohttp import web


def written(body: object) -> bytes:
    """As the registry sends it."""
    content = body if isinstance(body, bytes) else web.json_response(body).body
    assert isinstance(content, bytes)
    return content


def digest_of(body: object) -> str:
    """Of what the registry sends."""
    return f"sha256:{hashlib.sha256(written(body)).hexdigest()}"


class FakeRegistry:
    """answers: the responses by path; each is given once, the last of a path again and again. seen: the requests."""

    def __init__(self) -> None:
        self.url = ""
        self.seen: list[web.BaseRequest] = []
        self._answers: dict[str, list[tuple[int, bytes, Mapping[str, str]]]] = {}
        self._blocked: dict[str, asyncio.Event] = {}
        self._runner: web.ServerRunner | None = None

    def answers(
        self,
        path: str,
        body: object = b"",
        *,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Add a response for a path with its query, or for a path with any query."""
        self._answers.setdefault(path, []).append((status, written(body), headers or {}))

    def blob(self, repository: str, body: object) -> str:
        """Add a blob; its digest."""
        digest = digest_of(body)
        self.answers(f"/v2/{repository}/blobs/{digest}", body)
        return digest

    def block(self, path: str) -> asyncio.Event:
        """Requests of the path get no response until the event is set."""
        return self._blocked.setdefault(path, asyncio.Event())

    @property
    def paths(self) -> list[str]:
        """Of the requests."""
        return [request.path_qs for request in self.seen]

    def header(self, name: str) -> list[str]:
        """Its values in the requests; "" where it is missing."""
        return [request.headers.get(name, "") for request in self.seen]

    async def __aenter__(self) -> "FakeRegistry":
        self._runner = web.ServerRunner(web.Server(self._respond))
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    async def _respond(self, request: web.BaseRequest) -> web.Response:
        self.seen.append(request)
        if event := self._blocked.get(request.path):
            await event.wait()
        answers = self._answers.get(request.path_qs) or self._answers.get(request.path)
        if not answers:
            return web.json_response({"errors": [{"code": "NAME_UNKNOWN"}]}, status=404)
        status, body, headers = answers.pop(0) if len(answers) > 1 else answers[0]
        return web.Response(status=status, body=body, headers=self._filled(headers))

    def _filled(self, headers: Mapping[str, str]) -> dict[str, Any]:
        """{url} stands for this server's URL."""
        return {name: value.replace("{url}", self.url) for name, value in headers.items()}
