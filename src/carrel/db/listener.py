"""LISTEN: the connection of a process that receives notifications of commits."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg
import structlog

from carrel.db import connecting, metrics
from carrel.db.database import CHANNEL

log = structlog.get_logger()

Wake = Callable[[], object]


class Listener:
    """Calls the subscribers of a topic after each commit that notified it.

    After a lost connection, every subscriber is called once, since notifications may have been missed.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._subscribers: dict[str, list[Wake]] = defaultdict(list)
        self.connected = asyncio.Event()

    def subscribe(self, topic: str, wake: Wake) -> None:
        self._subscribers[topic].append(wake)

    @contextmanager
    def subscribed(self, topic: str, wake: Wake) -> Iterator[None]:
        """Subscribe during the block."""
        self.subscribe(topic, wake)
        try:
            yield
        finally:
            self._subscribers[topic].remove(wake)
            if not self._subscribers[topic]:
                del self._subscribers[topic]

    def announce(self, topic: str) -> None:
        """Call the topic's subscribers in this process."""
        for wake in tuple(self._subscribers.get(topic, ())):
            wake()

    async def run(self) -> None:
        """Listen until cancelled."""
        with metrics.LISTENERS.track_inprogress():
            while True:
                try:
                    await self._listen()
                except psycopg.Error as error:
                    log.warning("listener.lost", error=str(error).strip())
                self.connected.clear()
                await asyncio.sleep(0.5)

    async def _listen(self) -> None:
        connection = await psycopg.AsyncConnection.connect(self._url, autocommit=True, **connecting.OPTIONS)
        async with connection:
            await connection.execute(f"LISTEN {CHANNEL}")
            with metrics.LISTENERS_CONNECTED.track_inprogress():
                self.connected.set()
                for topic in list(self._subscribers):
                    self.announce(topic)
                while True:
                    # The driver's own wait would poll ten times per second.
                    await _readable(connection.fileno())
                    connection.pgconn.consume_input()
                    while notice := connection.pgconn.notifies():
                        self.announce(notice.extra.decode())


async def _readable(descriptor: int) -> None:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(descriptor, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(descriptor)
