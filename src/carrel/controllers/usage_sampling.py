"""Sample the usage of running containers, every few seconds."""

from collections.abc import Sequence

from carrel.controllers.each_engine import EachEngine
from carrel.controllers.loop import Tools
from carrel.core.ids import ContainerId, EngineId
from carrel.nodes.engines.connections import in_time
from carrel.usage import service
from carrel.usage.service import UsageReading


class UsageSampling:
    name = "usage"
    topics: Sequence[str] = ()
    tick_s = float(service.INTERVAL_S)

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._before: dict[EngineId, dict[str, tuple[float, int]]] = {}
        self._each = EachEngine(tools.engines, self._sweep)

    async def close(self) -> None:
        await self._each.close()

    async def step(self) -> None:
        """One sweep over each engine."""
        await self._each.step()

    async def _sweep(self, engine_id: EngineId) -> None:
        """The first reading of a container is only the baseline."""
        engine = await self._tools.engines.of(engine_id)
        usages = await in_time(engine.usage())
        before = self._before.get(engine_id, {})
        now = self._tools.clock.now()
        readings: list[UsageReading] = []
        marks: dict[str, tuple[float, int]] = {}
        for usage in usages:
            marks[usage.id] = (now.timestamp(), usage.cpu_ns)
            if usage.id not in before:
                continue
            then, cpu_ns = before[usage.id]
            elapsed_ns = max((now.timestamp() - then) * 1e9, 1.0)
            millis = max(0, round((usage.cpu_ns - cpu_ns) * 1000 / elapsed_ns))
            readings.append(
                UsageReading(
                    ContainerId(usage.id),
                    millis,
                    usage.mem_bytes,
                    usage.accelerator_percent,
                    usage.accelerator_mem_percent,
                )
            )
        self._before[engine_id] = marks
        if readings:
            async with self._tools.transaction() as tx:
                await service.record(tx, readings, now)
