"""Following GET /events as a page does."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from installation import API, Caller


@dataclass
class Frame:
    event: str
    id: str | None
    data: dict  # type: ignore[type-arg]


class Stream:
    """One reader of the event stream."""

    def __init__(self, chunks: AsyncIterator[str]) -> None:
        self._lines = chunks
        self.pings = 0
        """How often the server had nothing to say for a while."""

    async def frame(self, within_s: float = 10) -> Frame | None:
        """The next frame; None at the end of the stream."""
        fields: dict[str, str] = {}
        async with asyncio.timeout(within_s):
            async for line in self._lines:
                if not line and fields:
                    return Frame(fields["event"], fields.get("id"), json.loads(fields["data"]))
                name, _, value = line.partition(": ")
                self.pings += line == ": ping"
                if name:
                    fields[name] = value
        return None

    async def until(self, event: str, within_s: float = 10) -> Frame:
        while (frame := await self.frame(within_s)) is not None:
            if frame.event == event:
                return frame
        raise AssertionError(f"the stream ended before {event}")


@asynccontextmanager
async def following(who: Caller, **options) -> AsyncIterator[Stream]:  # type: ignore[no-untyped-def]
    async with who.http.stream("GET", f"{API}/events", params={"follow": "true"}, **options) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        stream = Stream(aiter(answer.aiter_lines()))
        hello = await stream.frame()
        assert hello is not None
        assert (hello.event, hello.id) == ("hello", None)
        yield stream
