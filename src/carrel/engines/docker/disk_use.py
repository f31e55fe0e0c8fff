"""Disk space that containers occupy outside their folders, measured in the background."""

import asyncio
import time
from collections.abc import Mapping
from typing import Any

import aiodocker
import structlog

from carrel.engines.docker.api import DockerApi, filters
from carrel.engines.docker.container_config import LABEL_ID, Names
from carrel.engines.port import EngineUnavailable

log = structlog.get_logger()

_EVERY_S = 60.0
_SHARE = 10
"""A measurement is followed by a pause of this many times its duration."""
_LIMIT_S = 600.0
_CHECKED_FROM = 256 << 20
_NOTHING = 1 << 16
"""An unreadable directory has a total, too: that of itself."""


class DiskUse:
    """The daemon walks all files of each container, which may take minutes: one measurement at a time, with pauses."""

    def __init__(self, api: DockerApi, names: Names) -> None:
        self._api = api
        self._names = names
        self._sizes: Mapping[str, int] = {}
        self._ids: Mapping[str, str] = {}
        self._due_at = 0.0
        self._measuring: asyncio.Task[None] | None = None

    def latest(self) -> Mapping[str, int]:
        """Bytes by the daemon's id, of the containers that ran at the last measurement; starts the next one when it is
        due.
        """
        if self._measuring is None and time.monotonic() >= self._due_at:
            self._measuring = asyncio.create_task(self._measure())
        return self._sizes

    async def now(self) -> Mapping[str, int]:
        """Bytes by our id of each running container, by a measurement that begins now."""
        if self._measuring is not None:
            await asyncio.wait([self._measuring])
        self._due_at = 0.0
        self.latest()
        assert self._measuring is not None
        await asyncio.wait([self._measuring])
        return {self._ids[one]: size for one, size in self._sizes.items()}

    async def close(self) -> None:
        """Cancel a measurement in progress. Twice: no-op."""
        if self._measuring is not None:
            self._measuring.cancel()
            await asyncio.wait([self._measuring])

    async def _measure(self) -> None:
        began = time.monotonic()
        chosen = filters(label=[self._names.label], status=["running"])
        try:
            rows = await self._api.call(
                "GET", "containers/json", params={**chosen, "size": "true"}, timeout_s=_LIMIT_S
            )
            self._ids = {row["Id"]: row["Labels"][LABEL_ID] for row in rows}
            self._sizes = {row["Id"]: await self._occupied(row) for row in rows}
        except (aiodocker.DockerError, EngineUnavailable) as error:
            self._sizes = {}
            log.warning("engine.disk_use_unknown", error=str(error))
        finally:
            ended = time.monotonic()
            self._due_at = ended + max(_EVERY_S, _SHARE * (ended - began))
            self._measuring = None

    async def _occupied(self, row: Mapping[str, Any]) -> int:
        """Bytes of the container on disk. The daemon adds up the lengths of files; sparse ones occupy less, which only
        the files themselves show, if they are within reach.
        """
        # The daemon omits a size of zero.
        size_bytes: int = row.get("SizeRw", 0)
        if size_bytes < _CHECKED_FROM or not self._api.is_local:
            return size_bytes
        try:
            inspected = await self._api.call("GET", f"containers/{row['Id']}/json")
        except aiodocker.DockerError:
            return size_bytes
        written = (inspected["GraphDriver"].get("Data") or {}).get("UpperDir")
        used_bytes = await _disk_usage(written) if written else None
        return size_bytes if used_bytes is None else min(size_bytes, used_bytes)


async def _disk_usage(directory: str) -> int | None:
    """Bytes that the directory occupies; None if it cannot be read."""
    process = await asyncio.create_subprocess_exec(
        *("du", "--summarize", "--one-file-system", "--block-size=1", directory),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        output, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    # Files that disappear meanwhile are errors, too, but leave a total.
    total = output.partition(b"\t")[0]
    return int(total) if total.isdigit() and int(total) > _NOTHING else None
