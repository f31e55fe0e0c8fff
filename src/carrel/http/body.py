"""A request body as a value, so that use cases which take bytes need no web framework."""

import asyncio
from collections.abc import AsyncIterator, Mapping

from starlette.requests import ClientDisconnect, Request

from carrel.http.intake import EXTENSION, Intake
from carrel.http.shell import UNBOUNDED

PROGRESS_TIMEOUT_S = 30.0
"""Idle timeout of a request body. The client is disconnected; received bytes are kept."""


class LineBroke(ClientDisconnect):
    """The client disconnected or another request took over. Received bytes are kept."""


class Body:
    """A request body. announced: Content-Length in bytes, if known. intake: direct socket access, if available."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self.headers: Mapping[str, str] = request.headers
        length = request.headers.get("content-length", "")
        self.announced = int(length) if length.isdigit() else None
        self.intake: Intake | None = request.scope.get("extensions", {}).get(EXTENSION)

    def let_grow(self) -> None:
        """Lift the server's size limit; the reader enforces its own."""
        setattr(self._request.state, UNBOUNDED, True)

    async def pieces(self) -> AsyncIterator[bytes]:
        """The chunks as the event loop receives them. Raises: LineBroke, also on an idle timeout."""
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
