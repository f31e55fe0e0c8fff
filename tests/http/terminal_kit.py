"""A client of terminals, as the page is one."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from access_kit import ClientConnection, World
from websockets.exceptions import ConnectionClosed

from carrel.core.ids import SessionId


class Client:
    """What a page does: counts the output and remembers what it was told."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.output = b""
        self.messages: list[dict[str, object]] = []

    async def ready(self) -> dict[str, object]:
        while not self.messages or self.messages[-1]["type"] != "ready":
            await self.step()
        return self.messages[-1]

    @property
    def terminal(self) -> str:
        """The id of its terminal, once it is ready."""
        return next(str(message["terminal"]) for message in self.messages if message["type"] == "ready")

    async def step(self) -> None:
        message = await asyncio.wait_for(self.socket.recv(), 60)
        if isinstance(message, bytes):
            self.output += message
        else:
            self.messages.append(json.loads(message))

    async def until(self, expected: bytes) -> None:
        while expected not in self.output:
            await self.step()

    async def type(self, text: str) -> None:
        await self.socket.send(text.encode())

    async def end(self) -> ConnectionClosed:
        try:
            while True:
                await self.step()
        except ConnectionClosed as closed:
            return closed


@asynccontextmanager
async def terminal(
    world: World, session: SessionId, query: str = "", **options: Any
) -> AsyncIterator[Client]:
    """A client whose terminal is ready. query: which one, and from where."""
    async with world.connect(f"{session}/terminal{query}", **options) as socket:
        client = Client(socket)
        await client.ready()
        yield client


def refusal(closed: ConnectionClosed) -> tuple[int, str]:
    assert closed.rcvd is not None
    return closed.rcvd.code, json.loads(closed.rcvd.reason)["code"]
