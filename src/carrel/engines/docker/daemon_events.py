"""The daemon's event stream, shared by all watchers, and state known only from events.

The daemon sets its out-of-memory flag when a container exits; if a child is killed while the container keeps running,
only an event tells. On connecting, past events are requested too (the daemon keeps the last 256), so that a restarted
control plane learns about most kills that it missed.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import aiodocker

from carrel.engines.docker.api import DockerApi, filters
from carrel.engines.docker.container_config import LABEL_ID, Names
from carrel.engines.hints import Hints
from carrel.engines.port import EngineUnavailable

_ACTIONS = ["create", "start", "die", "oom", "stop", "pause", "unpause", "destroy", "remove"]
"""Destroy is Docker's event, remove is Podman's. Events of exec are excluded: there are many of them."""


@dataclass(frozen=True, slots=True)
class LastRun:
    """The last run of a container, from its start. exit_code: None while it has not ended."""

    started_at: datetime
    exit_code: int | None = None


class DaemonEvents:
    """The daemon's events about containers of this installation."""

    def __init__(self, api: DockerApi, names: Names) -> None:
        self._api = api
        self._names = names
        self._task: asyncio.Task[None] | None = None
        self._hints = Hints()
        self._out_of_memory: set[str] = set()
        self._runs: dict[str, LastRun] = {}
        self.connected = False
        self.forget: Callable[[str | None], None] = lambda container: None
        """Called with the id of a changed container, or None if changes may have been missed."""

    def ran_out_of_memory(self, daemon_id: str) -> bool:
        """True if the memory limit killed one of its processes since the last start, according to events."""
        return daemon_id in self._out_of_memory

    def last_run(self, daemon_id: str) -> LastRun | None:
        """The last run, if its start was seen and no event was missed since."""
        return self._runs.get(daemon_id)

    def listen(self) -> None:
        """Connect if not connected; requires a running event loop."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())

    def watch(self) -> AsyncIterator[str]:
        """Ids of changes from this call on; ends when the daemon becomes unavailable."""
        watcher = self._hints.watch()
        self.listen()
        return watcher

    async def close(self) -> None:
        """Close the stream, which ends all watchers."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _run(self) -> None:
        chosen = filters(type=["container"], label=[self._names.label], event=_ACTIONS)
        try:
            async with self._api.stream("GET", "events", params={**chosen, "since": "0"}) as lines:
                self.connected = True
                async for line in lines:
                    self._note(line)
        except (EngineUnavailable, aiodocker.DockerError):
            pass  # the end of the stream tells watchers; the next request reports the cause
        finally:
            self.connected = False
            self._runs.clear()
            self.forget(None)
            self._hints.end()

    def _note(self, line: bytes) -> None:
        event = json.loads(line)
        daemon_id, attributes = event["Actor"]["ID"], event["Actor"]["Attributes"]
        run = self._runs.pop(daemon_id, None)
        match event["Action"]:
            case "oom":
                self._out_of_memory.add(daemon_id)
            case "start":
                run = LastRun(datetime.fromtimestamp(event["timeNano"] / 1e9, UTC))
                self._out_of_memory.discard(daemon_id)
            case "destroy" | "remove":
                run = None
                self._out_of_memory.discard(daemon_id)
            case "die":
                # Not every engine that speaks Docker's API says it.
                code = attributes.get("exitCode")
                run = replace(run, exit_code=int(code)) if run and code else None
        if run:
            self._runs[daemon_id] = run
        if container := attributes.get(LABEL_ID):
            self.forget(container)
            self._hints.send(container)
