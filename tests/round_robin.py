"""A load balancer without affinity."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing


@asynccontextmanager
async def round_robin(*ports: int) -> AsyncIterator[int]:
    """The port of a load balancer: each connection goes to the next one of these ports of loopback."""
    following = itertools.cycle(ports)
    open_ones: set[asyncio.Task[None]] = set()

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        open_ones.add(task)
        try:
            with closing(writer):
                there, theirs = await asyncio.open_connection("127.0.0.1", next(following))
                with closing(theirs):
                    await asyncio.gather(_pipe(reader, theirs), _pipe(there, writer))
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            open_ones.discard(task)

    server = await asyncio.start_server(carry, "127.0.0.1", 0)
    try:
        yield int(server.sockets[0].getsockname()[1])
    finally:
        server.close()
        for task in tuple(open_ones):
            task.cancel()


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Pass on all bytes, and then their end: one that breaks breaks the other one too."""
    while content := await reader.read(1 << 16):
        writer.write(content)
        await writer.drain()
    writer.write_eof()
