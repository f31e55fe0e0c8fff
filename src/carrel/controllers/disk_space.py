"""End the session that has written the most before the disk of a node is full, also if it fills within seconds."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import select

from carrel.controllers.disk_limits import end
from carrel.controllers.each_engine import EachEngine
from carrel.controllers.loop import Tools
from carrel.core.ids import EngineId
from carrel.engines.optional import DiskMetering
from carrel.nodes.engines.connections import in_time
from carrel.sessions import transitions
from carrel.tables.nodes import Node
from carrel.tables.session_states import SessionState
from carrel.tables.sessions import Container, Session
from carrel.usage import disk_rules

_PAUSE = timedelta(minutes=1)
"""After a measurement by which nobody was ended: it walks all files."""


class DiskSpaceWatch:
    """`DiskLimits` does the same by the history, once a minute, for machines that are not measured here."""

    name = "disk_space"
    topics: Sequence[str] = ()
    tick_s = 5.0

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._not_before: dict[EngineId, datetime] = {}
        self._each = EachEngine(tools.engines, self._of_engine)

    async def close(self) -> None:
        await self._each.close()

    async def step(self) -> None:
        """Look at the disks of every engine that can measure them at once."""
        await self._each.step()

    async def _of_engine(self, engine_id: EngineId) -> None:
        # 1. Look; that costs next to nothing.
        engine = await self._tools.engines.of(engine_id)
        if not isinstance(engine, DiskMetering):
            return
        spaces = await in_time(engine.disk_space())
        full = {
            one.node: (one.used_bytes, one.size_bytes)
            for one in spaces
            if disk_rules.is_nearly_full(one.used_bytes, one.size_bytes)
        }
        now = self._tools.clock.now()
        if not full or now < self._not_before.get(engine_id, now):
            return
        # 2. Measure who has written the most.
        sizes = await engine.written()
        self._not_before[engine_id] = now + _PAUSE
        # 3. End that one at once, unless another one is just ending there.
        async with self._tools.transaction() as tx:
            ending = select(Container.node_id).join(Session, Session.id == Container.session_id)
            ending = ending.where(Session.state == SessionState.TERMINATING, Container.node_id.is_not(None))
            nodes = select(Node.id, Node.name).where(
                Node.engine_id == engine_id, Node.name.in_(full), Node.id.not_in(ending)
            )
            disks = {row.id: full[row.name] for row in await tx.execute(nodes)}
            uses = await disk_rules.measured(tx, sizes)
            for session, reason in disk_rules.to_end_for_space(uses, disks).items():
                await transitions.stop_by(tx, [session], "SIGKILL", 0)
                await end(tx, session, "node_disk_full", reason, self._tools.clock.now())
                self._not_before.pop(engine_id, None)
