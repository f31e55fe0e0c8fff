"""A response's head leaves with what follows it, and never later than the loop's next turn."""

import asyncio
from collections.abc import Iterable

import pytest

from carrel.http.joined_writes import JoinedWrites

HEAD = b"HTTP/1.1 200 OK\r\n\r\n"


class Recorded(asyncio.Transport):
    """writes: what each system call would have sent."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[bytes] = []

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.writes.append(bytes(data))

    def writelines(self, list_of_data: Iterable[bytes | bytearray | memoryview]) -> None:
        self.writes.append(b"".join(list_of_data))

    def close(self) -> None:
        self.writes.append(b"closed")


@pytest.fixture
async def recorded() -> tuple[Recorded, JoinedWrites]:
    transport = Recorded()
    return transport, JoinedWrites(transport, asyncio.get_running_loop())


async def test_a_head_leaves_with_its_body(recorded: tuple[Recorded, JoinedWrites]):
    transport, joined = recorded
    for _ in range(2):
        joined.write(HEAD)
        joined.write(b"body")
    joined.write(b"more")
    assert transport.writes == [HEAD + b"body", HEAD + b"body", b"more"]
    await asyncio.sleep(0)
    assert len(transport.writes) == 3


async def test_a_head_does_not_wait_for_a_body_that_comes_later(recorded: tuple[Recorded, JoinedWrites]):
    transport, joined = recorded
    joined.write(HEAD)
    assert transport.writes == []
    await asyncio.sleep(0)
    assert transport.writes == [HEAD]
    joined.write(b"body")
    assert transport.writes == [HEAD, b"body"]


async def test_a_head_alone_leaves_before_the_connection_closes(recorded: tuple[Recorded, JoinedWrites]):
    transport, joined = recorded
    joined.write(HEAD)
    joined.close()
    assert transport.writes == [HEAD, b"closed"]
