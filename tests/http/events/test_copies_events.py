"""The event stream, followed through two copies of the API in turn."""

import asyncio

from copies_kit import Copies
from events_kit import following


async def test_a_reader_misses_nothing_and_gets_nothing_twice_at_the_other_copy(copies: Copies) -> None:
    user = await copies.api.as_("user")
    started: list[str] = []
    got: list[str] = []
    last: str | None = None
    for _ in range(4):
        if last:  # while nobody follows
            started.append((await user.start())["id"])
        headers = {"Last-Event-ID": last} if last else {}
        async with following(user, headers=headers) as stream:
            for _ in range(2):
                started.append((await user.start())["id"])
            async with asyncio.timeout(30):
                while [one for one in started if one not in got]:
                    frame = await stream.frame()
                    assert frame
                    last = frame.id or last
                    if frame.event == "session.created":
                        got.append(frame.data["object"]["id"])
    assert got == started
