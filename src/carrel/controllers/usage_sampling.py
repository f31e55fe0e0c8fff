"""Read what running containers use, every few seconds."""

from collections.abc import Sequence

from carrel.controllers.loop import Tools
from carrel.core.ids import ContainerId
from carrel.usage import service
from carrel.usage.service import Reading


class Usage:
    name = "usage"
    topics: Sequence[str] = ()
    tick_s = float(service.INTERVAL_S)

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._before: dict[str, tuple[float, int]] = {}

    async def close(self) -> None:
        """Nothing runs beside the step."""

    async def step(self) -> None:
        """One sweep. The first reading of a container only sets the mark for the next."""
        usages = await self._tools.engine.usage()
        now = self._tools.clock.now()
        readings: list[Reading] = []
        marks: dict[str, tuple[float, int]] = {}
        for usage in usages:
            marks[usage.id] = (now.timestamp(), usage.cpu_ns)
            if usage.id not in self._before:
                continue
            then, cpu_ns = self._before[usage.id]
            elapsed_ns = max((now.timestamp() - then) * 1e9, 1.0)
            millis = max(0, round((usage.cpu_ns - cpu_ns) * 1000 / elapsed_ns))
            readings.append(
                Reading(
                    ContainerId(usage.id),
                    millis,
                    usage.mem_bytes,
                    usage.accelerator_percent,
                    usage.accelerator_mem_percent,
                )
            )
        self._before = marks
        if readings:
            async with self._tools.transaction() as tx:
                await service.record(tx, readings, now)
