"""The network between processes and their PostgreSQL, which may hang for one of them."""

import asyncio
import re
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing

from psycopg.conninfo import conninfo_to_dict

_NAME = re.compile(rb"application_name\0([a-z]+)\0")


class DatabaseNetwork:
    """TCP connections to a server's socket, by the names of those who connect.

    A connection that hangs is not closed: bytes just do not arrive, in neither direction, as when a cable is pulled.
    """

    def __init__(self, socket: str, database: str) -> None:
        self._socket = socket
        self._database = database
        self._flows: defaultdict[str, asyncio.Event] = defaultdict(_flowing)
        self._connections: set[asyncio.Task[None]] = set()
        self.port = 0

    def url(self, name: str) -> str:
        """For the process of that name. Host, port and database are the same for all."""
        return (
            f"postgresql://carrel@127.0.0.1:{self.port}/{self._database}"
            f"?sslmode=disable&gssencmode=disable&application_name={name}"
        )

    def hang(self, name: str) -> None:
        self._flows[name].clear()

    def heal(self, name: str) -> None:
        self._flows[name].set()

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._connections.add(task)
        try:
            with closing(writer):
                first = await reader.read(1 << 16)
                named = _NAME.search(first)
                flow = self._flows[named[1].decode() if named else ""]
                await flow.wait()
                there, theirs = await asyncio.open_unix_connection(self._socket)
                with closing(theirs):
                    theirs.write(first)
                    await asyncio.wait(
                        [
                            asyncio.create_task(_pipe(reader, theirs, flow)),
                            asyncio.create_task(_pipe(there, writer, flow)),
                        ],
                        return_when=asyncio.FIRST_COMPLETED,
                    )
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            self._connections.discard(task)

    def end(self) -> None:
        for task in tuple(self._connections):
            task.cancel()


def _flowing() -> asyncio.Event:
    event = asyncio.Event()
    event.set()
    return event


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, flow: asyncio.Event) -> None:
    try:
        while content := await reader.read(1 << 16):
            await flow.wait()
            writer.write(content)
            await writer.drain()
        await flow.wait()
    except ConnectionError:
        pass


@asynccontextmanager
async def database_network(url: str) -> AsyncIterator[DatabaseNetwork]:
    """A network to the server of a URL with a socket."""
    parts = conninfo_to_dict(url)
    network = DatabaseNetwork(f"{parts['host']}/.s.PGSQL.5432", str(parts["dbname"]))
    server = await asyncio.start_server(network.carry, "127.0.0.1", 0)
    network.port = int(server.sockets[0].getsockname()[1])
    try:
        yield network
    finally:
        server.close()
        network.end()
