"""The body of a request as a value, for use cases that take bytes: they know no web framework."""

import asyncio
from collections.abc import AsyncIterator, Mapping

from starlette.requests import ClientDisconnect, Request

from carrel.http.intake import EXTENSION, Intake
from carrel.http.shell import UNBOUNDED

PROGRESS_TIMEOUT_S = 30.0
"""A client that sends nothing of an announced body for so long is disconnected; what came is kept."""


class LineBroke(ClientDisconnect):
    """The client is gone, or somebody goes on in its place. What came until then is kept."""


class Body:
    """What a request brings. announced: bytes, as far as that is said. intake: the socket, where it can be had."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self.headers: Mapping[str, str] = request.headers
        length = request.headers.get("content-length", "")
        self.announced = int(length) if length.isdigit() else None
        self.intake: Intake | None = request.scope.get("extensions", {}).get(EXTENSION)

    def let_grow(self) -> None:
        """Whoever reads it bounds it, instead of the server."""
        setattr(self._request.state, UNBOUNDED, True)

    async def pieces(self) -> AsyncIterator[bytes]:
        """As the event loop receives it. Raises: LineBroke, also when nothing comes for too long."""
        stream = self._request.stream()
        while True:
            try:
                async with asyncio.timeout(PROGRESS_TIMEOUT_S):
                    piece = await anext(stream, None)
            except ClientDisconnect:
                raise LineBroke from None
            except TimeoutError:
                if self.intake is not None:
                    self.intake.hang_up()
                raise LineBroke from None
            if piece is None:
                return
            yield piece
