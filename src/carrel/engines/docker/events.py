"""One stream of the daemon's events for any number of watchers, and what only events can tell.

The daemon sets its out-of-memory flag when a container exits; that a child was killed in one that still runs
is known only from an event. On connecting we ask for the past as well (the daemon keeps its last 256), so
that a restarted control plane learns of most kills that it did not see.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable

import aiodocker

from carrel.engines.docker.api import DockerApi, filters
from carrel.engines.docker.spec import LABEL_ID, Names
from carrel.engines.port import EngineUnavailable

_ACTIONS = ["create", "start", "die", "oom", "stop", "pause", "unpause", "destroy", "remove"]
"""Destroy is Docker's word, remove is Podman's. Those of exec are left out: there are many of them."""


class Events:
    """The daemon's events about containers of this installation."""

    def __init__(self, api: DockerApi, names: Names) -> None:
        self._api = api
        self._names = names
        self._task: asyncio.Task[None] | None = None
        self._watchers: set[asyncio.Queue[str | None]] = set()
        self._out_of_memory: set[str] = set()
        self.connected = False
        self.forget: Callable[[str | None], None] = lambda daemon_id: None
        """Called with the daemon's id of what changed, or None when we no longer know what did."""

    def ran_out_of_memory(self, daemon_id: str) -> bool:
        """Whether the limit killed a process of it since it last started, as far as events tell."""
        return daemon_id in self._out_of_memory

    def listen(self) -> None:
        """Connect unless we are; must be called in an event loop."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())

    def watch(self) -> AsyncIterator[str]:
        """Ids, from this call on; ends when the daemon goes away."""
        queue: asyncio.Queue[str | None] = asyncio.Queue()
        self._watchers.add(queue)
        self.listen()
        return self._hints(queue)

    async def close(self) -> None:
        """Watchers end."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _hints(self, queue: "asyncio.Queue[str | None]") -> AsyncIterator[str]:
        try:
            while (container := await queue.get()) is not None:
                yield container
        finally:
            self._watchers.discard(queue)

    async def _run(self) -> None:
        chosen = filters(type=["container"], label=[self._names.label], event=_ACTIONS)
        try:
            async with self._api.stream("GET", "events", params={**chosen, "since": "0"}) as lines:
                self.connected = True
                async for line in lines:
                    self._note(line)
        except (EngineUnavailable, aiodocker.DockerError):
            pass  # an ended stream is how watchers learn it; the next request says why
        finally:
            self.connected = False
            self.forget(None)
            for watcher in self._watchers:
                watcher.put_nowait(None)
            self._watchers.clear()

    def _note(self, line: bytes) -> None:
        event = json.loads(line)
        daemon_id = event["Actor"]["ID"]
        if event["Action"] == "oom":
            self._out_of_memory.add(daemon_id)
        elif event["Action"] in ("start", "destroy", "remove"):
            self._out_of_memory.discard(daemon_id)
        self.forget(daemon_id)
        if container := event["Actor"]["Attributes"].get(LABEL_ID):
            for watcher in self._watchers:
                watcher.put_nowait(container)
