"""Disk space that containers occupy outside their folders, measured in the background."""

import asyncio
import time
from collections.abc import Mapping

import aiodocker
import structlog

from carrel.engines.docker.api import DockerApi, filters
from carrel.engines.docker.spec import LABEL_ID, Names
from carrel.engines.port import EngineUnavailable

log = structlog.get_logger()

_EVERY_S = 60.0
_SHARE = 10
"""A measurement is followed by a pause of this many times its duration."""
_LIMIT_S = 600.0


class DiskUse:
    """The daemon walks all files of each container, which may take minutes: one measurement at a time, with pauses."""

    def __init__(self, api: DockerApi, names: Names) -> None:
        self._api = api
        self._names = names
        self._sizes: Mapping[str, int] = {}
        self._due_at = 0.0
        self._measuring: asyncio.Task[None] | None = None

    def latest(self) -> Mapping[str, int]:
        """Bytes by our id, of the containers that ran at the last measurement; starts the next one when it is due."""
        if self._measuring is None and time.monotonic() >= self._due_at:
            self._measuring = asyncio.create_task(self._measure())
        return self._sizes

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
            # The daemon omits a size of zero.
            self._sizes = {row["Labels"][LABEL_ID]: row.get("SizeRw", 0) for row in rows}
        except (aiodocker.DockerError, EngineUnavailable) as error:
            self._sizes = {}
            log.warning("engine.disk_use_unknown", error=str(error))
        finally:
            ended = time.monotonic()
            self._due_at = ended + max(_EVERY_S, _SHARE * (ended - began))
            self._measuring = None
