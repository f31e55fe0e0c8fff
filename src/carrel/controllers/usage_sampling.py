"""Sample the usage of running containers, every few seconds."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from carrel.controllers.each_engine import EachEngine
from carrel.controllers.loop import Tools
from carrel.core.ids import ContainerId, EngineId
from carrel.engines.port import ContainerUsage
from carrel.nodes.engines.connections import in_time
from carrel.usage import service
from carrel.usage.service import UsageReading

_FORGOTTEN_AFTER = timedelta(minutes=30)


@dataclass(frozen=True, slots=True)
class _Mark:
    """The previous reading of a container."""

    at: datetime
    usage: ContainerUsage


class UsageSampling:
    name = "usage"
    topics: Sequence[str] = ()
    tick_s = float(service.INTERVAL_S)

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._before: dict[EngineId, dict[str, _Mark]] = {}
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
        now = self._tools.clock.now()
        before = self._before.get(engine_id, {})
        readings = [_reading(usage, before[usage.id], now) for usage in usages if usage.id in before]
        # An engine with many machines reads a part of them at a time.
        recent = {key: mark for key, mark in before.items() if now - mark.at < _FORGOTTEN_AFTER}
        self._before[engine_id] = recent | {usage.id: _Mark(now, usage) for usage in usages}
        if readings:
            async with self._tools.transaction() as tx:
                await service.record(tx, readings, now)


def _reading(usage: ContainerUsage, before: _Mark, now: datetime) -> UsageReading:
    """Rates since the previous reading; counters that were reset, because the container restarted, count from zero."""
    elapsed_s = max((now - before.at).total_seconds(), 1e-9)

    def rate(now_at: int | None, then_at: int | None) -> int | None:
        if now_at is None or then_at is None:
            return None
        return round((now_at - then_at if now_at >= then_at else now_at) / elapsed_s)

    then = before.usage
    return UsageReading(
        ContainerId(usage.id),
        round((rate(usage.cpu_ns, then.cpu_ns) or 0) / 1e6),
        usage.mem_bytes,
        usage.accelerator_percent,
        usage.accelerator_mem_percent,
        read_rate=rate(usage.read_bytes, then.read_bytes),
        write_rate=rate(usage.write_bytes, then.write_bytes),
        rx_rate=rate(usage.rx_bytes, then.rx_bytes),
        tx_rate=rate(usage.tx_bytes, then.tx_bytes),
        disk_bytes=usage.disk_bytes,
    )
