"""Work that goes on only while the client waits for its result."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import Request

from carrel.core.errors import Conflict

_T = TypeVar("_T")


async def while_connected(request: Request, work: Coroutine[Any, Any, _T]) -> _T:
    """The result of the work, which is cancelled when the client disconnects. For requests without a body."""
    working = asyncio.create_task(work)
    disconnecting = asyncio.create_task(_until_left(request))
    try:
        await asyncio.wait((working, disconnecting), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise Conflict("http.abandoned", "The client has not waited for the result.")
        return await working
    finally:
        disconnecting.cancel()
        working.cancel()
        await asyncio.wait((working, disconnecting))


async def _until_left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
