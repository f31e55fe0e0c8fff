"""Record allocation, usage and the load of the machines over time, once a minute."""

import contextlib
from collections.abc import Sequence

from carrel.controllers.each_engine import EachEngine
from carrel.controllers.loop import Tools
from carrel.core.errors import NotFound
from carrel.core.ids import EngineId
from carrel.engines.optional import HostMetering, HostUsage
from carrel.engines.port import EngineError
from carrel.nodes import host_load
from carrel.nodes.engines.connections import in_time
from carrel.nodes.host_load import HostLoad, Machine
from carrel.tables.usage import MINUTE_S
from carrel.usage import history


class UsageHistory:
    name = "usage_history"
    topics: Sequence[str] = ()
    tick_s = float(MINUTE_S)

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._before: dict[Machine, tuple[float, HostUsage]] = {}
        self._loads: dict[Machine, HostLoad] = {}
        self._each = EachEngine(tools.engines, self._measure)

    async def close(self) -> None:
        await self._each.close()

    async def step(self) -> None:
        """Measure the machines, and store one point of each scope. The load of a machine whose engine takes long is
        part of the next one.
        """
        await self._each.step()
        loads, self._loads = self._loads, {}
        async with self._tools.transaction() as tx:
            await history.record(tx, self._tools.clock.now(), loads)

    async def _measure(self, engine_id: EngineId) -> None:
        """The first reading of a machine is only the baseline."""
        usages: Sequence[HostUsage] = ()
        # The history goes on without an engine that does not respond.
        with contextlib.suppress(EngineError, NotFound):
            engine = await self._tools.engines.of(engine_id)
            if isinstance(engine, HostMetering):
                usages = await in_time(engine.host_usage())
        at = self._tools.clock.now().timestamp()
        before = {machine: mark for machine, mark in self._before.items() if machine[0] == engine_id}
        self._before = {machine: mark for machine, mark in self._before.items() if machine[0] != engine_id}
        for usage in usages:
            machine = (engine_id, usage.node)
            self._before[machine] = (at, usage)
            if machine in before and at > before[machine][0]:
                then, earlier = before[machine]
                load = host_load.load(earlier, usage, at - then)
                if load is not None:
                    self._loads[machine] = load
