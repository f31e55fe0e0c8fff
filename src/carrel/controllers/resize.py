"""Change the CPU and memory of running containers, as requested; `sessions.resizing` has the steps."""

from collections.abc import Mapping

from carrel.controllers.each_engine import EachEngine
from carrel.controllers.loop import Tools
from carrel.core.ids import EngineId
from carrel.engines.optional import LiveLimits
from carrel.engines.port import ContainerGone, Engine, EngineError, EngineUnavailable
from carrel.nodes.engines.connections import in_time
from carrel.queue.resize_requests import refusal
from carrel.sessions import resizing
from carrel.sessions.resizing import ResizeRequest

_LIMITED = ("cpu", "mem")
_UNABLE = "The engine cannot change the limits of a running container."


class LiveResize:
    name = "resize"
    topics = (resizing.TOPIC,)
    tick_s = 10.0

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._each = EachEngine(tools.engines, self._of_engine)

    async def close(self) -> None:
        await self._each.close()

    async def step(self) -> None:
        """Carry out every request once."""
        await self._each.step()

    async def _of_engine(self, engine_id: EngineId) -> None:
        async with self._tools.database.transaction() as tx:
            requests = await resizing.pending(tx, engine_id)
        if requests:
            engine = await self._tools.engines.of(engine_id)
            for one in requests:
                await self._carry_out(engine, one)

    async def _carry_out(self, engine: Engine, one: ResizeRequest) -> None:
        """Each step may be the last before a crash; the next leader begins anew."""
        # 1. Reserve what it is to have in addition.
        reason = await self._reserve(one)
        # 2. Change the limits.
        try:
            if reason is None:
                await self._set_limits(engine, one, one.slots)
        except ContainerGone:
            return
        except EngineUnavailable:
            raise
        except EngineError as error:
            reason = error.message
        # 3. Release what it no longer has.
        if reason is None:
            async with self._tools.transaction() as tx:
                if current := await resizing.current(tx, one):
                    await resizing.settle(tx, current, self._tools.clock.now())
        else:
            await self._undo(engine, one, reason)

    async def _reserve(self, one: ResizeRequest) -> str | None:
        """Why there is no room; None if it is reserved, or was already."""
        now = self._tools.clock.now()
        async with self._tools.placing, self._tools.transaction() as tx:
            current = await resizing.current(tx, one)
            if current is None:
                return None
            reason = await refusal(tx, current.session, current.node, current.missing, now)
            if reason is None:
                await resizing.hold(tx, current, current.grown, now)
            return reason

    async def _undo(self, engine: Engine, one: ResizeRequest, reason: str) -> None:
        """Return to the limits before the request. If the engine does not, the ledger keeps the larger amounts."""
        restored = True
        try:
            await self._set_limits(engine, one, one.before)
        except EngineUnavailable:
            raise
        except EngineError:
            restored = False
        async with self._tools.transaction() as tx:
            if current := await resizing.current(tx, one):
                slots = current.before if restored else current.held
                await resizing.refuse(tx, current, slots, reason, self._tools.clock.now())

    async def _set_limits(self, engine: Engine, one: ResizeRequest, slots: Mapping[str, int]) -> None:
        """Raises: EngineError."""
        if not isinstance(engine, LiveLimits):
            raise EngineError(_UNABLE, retriable=False)
        async with self._tools.transaction() as tx:
            if await resizing.current(tx, one) is None:
                raise ContainerGone(f"The container {one.container} has another request, or does not run.")
        await in_time(engine.set_limits(one.container, {slot: slots[slot] for slot in _LIMITED}))
