"""Compare the containers of each engine with the sessions in the database, and reconcile differences."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.controllers import device_health, lifetime
from carrel.controllers.active_tasks import ActiveTasks
from carrel.controllers.comparison import (
    OUT_OF_MEMORY,
    Before,
    Findings,
    LiveSessions,
    OneEngine,
    compare,
    is_settled,
    unlisted,
)
from carrel.controllers.each_engine import EachEngine
from carrel.controllers.engine_reports import EngineReports
from carrel.controllers.loop import ENGINE_TOPIC, Tools
from carrel.core.ids import ContainerId, EngineId, NodeId, SessionId
from carrel.engines.port import Engine, EngineError, Observed, ObservedState
from carrel.nodes import service as nodes
from carrel.nodes.accelerator_checks import check_devices
from carrel.nodes.engines import service as registry
from carrel.nodes.engines.connections import REMOVAL_S, in_time
from carrel.nodes.engines.probes import is_current
from carrel.nodes.service import EngineNode
from carrel.sessions import containers, queries, removal, transitions, updates
from carrel.tables.engines import TOPIC, EngineState
from carrel.tables.groups import NodeLoss
from carrel.tables.nodes import FORGOTTEN
from carrel.tables.notifications import NODE_LEAVING
from carrel.tables.session_states import LAUNCHING, LIFECYCLE, PLACED, ContainerState, Result, SessionState

log = structlog.get_logger()

RESTARTS_COUNTED = timedelta(hours=1)
"""Only restarts this recent count: a session that runs for months sees many engine updates."""
_MACHINES_EVERY = timedelta(seconds=5)
"""Hints come with every start and end of a container, and concern only containers."""
_STRAY_S = 10.0
"""Placements are locked out."""
_UNCONFIRMED = (
    "The engine did not confirm the removal in time; the container is removed when the engine responds."
)
_LIVE = sorted(LIFECYCLE.live)
_OUTCOME = {NodeLoss.END: SessionState.ERROR, NodeLoss.RESCHEDULE: SessionState.PENDING}


@dataclass(frozen=True)
class MachinesSeen:
    """When an engine reported its machines, and the names of those that are about to be taken away."""

    engine: Engine
    at: datetime
    ending: frozenset[str]


class Observe:
    """Enforces deadlines and observes each engine."""

    name = "observe"
    topics = (ENGINE_TOPIC, FORGOTTEN, TOPIC)
    tick_s = 10.0
    calm_s = 0.05

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._took_over = False
        self._machines_seen: dict[EngineId, MachinesSeen] = {}
        self._returned: dict[EngineId, frozenset[SessionId]] = {}
        """Pending sessions whose containers the engine had in the last look."""
        self._reports = EngineReports(tools)
        self._removals = ActiveTasks[tuple[EngineId, str]]()
        """Of orphans. One that does not end must not delay the next look."""
        self._each = EachEngine(tools.engines, self._look)

    async def close(self) -> None:
        await self._each.close()
        await self._removals.close()

    async def step(self) -> None:
        """One comparison per engine, and the deadlines, which apply even if engines are down."""
        await self._keep_deadlines()
        await self._each.step()

    async def _look(self, engine_id: EngineId) -> None:
        tools = self._tools
        # 1. read the sessions
        before = await self._before(self._returned.get(engine_id, frozenset()))
        # 2. list the containers, and the machines from time to time
        try:
            engine = await tools.engines.of(engine_id)
            machines = await in_time(engine.nodes()) if self._machines_due(engine_id, engine) else None
            seen = await in_time(engine.list())
        except EngineError as error:
            self._machines_seen.pop(engine_id, None)
            await self._engine_is_away(engine_id, error)
            raise
        now = tools.clock.now()
        if machines is not None:
            async with tools.transaction() as tx:
                await registry.observe(tx, engine_id, EngineState.READY, now)
                changes = await nodes.record(tx, machines, now, engine=engine_id)
                await device_health.announce(tx, tools, changes, now)
            names = frozenset(one.name for one in machines if one.ending)
            self._machines_seen[engine_id] = MachinesSeen(engine, now, names)
        # 3. compare those that did not change meanwhile
        there, live = await self._after(engine_id, seen, now)
        findings = compare(there, before, live)
        returned = frozenset(s.id for s in live.sessions.values() if s.state == SessionState.PENDING)
        self._returned[engine_id] = returned
        if await self._reports.renew(engine_id, engine, unlisted(there, before, live)):
            # Some of them may be listed again by now.
            await self._look(engine_id)
        elif (findings.lost or findings.evicted or findings.unknown_machines) and machines is None:
            # Their machine may have gone with them, have been closed before, or have joined just now.
            del self._machines_seen[engine_id]
            await self._look(engine_id)
        elif returned - before.marks.keys():
            # Whether they were pending all the time shows the next look.
            await self._look(engine_id)
        elif findings:
            await self._apply(findings)
            await self._clean_up(engine_id, engine, findings)

    async def _after(
        self, engine_id: EngineId, seen: Sequence[Observed], now: datetime
    ) -> tuple[OneEngine, LiveSessions]:
        """The engine and the sessions, after its list arrived."""
        ending = self._machines_seen[engine_id].ending
        stopped = {ContainerId(o.id) for o in seen if o.state is ObservedState.EXITED or o.evicted}
        async with self._tools.database.transaction() as tx:
            checking = await check_devices.containers(tx)
            own_nodes, gone = await nodes.of_engine(tx, engine_id), await nodes.gone(tx, now)
            live = await _live(tx, {ContainerId(one.id): one for one in seen}, own_nodes, ending)
            again = [key for key, own in live.containers.items() if any(one.id in stopped for one in own)]
            restarts = await queries.restarts_since(tx, again, now - RESTARTS_COUNTED) if again else {}
            bootstrapping = await queries.with_bootstrap(tx, again) if again else frozenset()
        there = OneEngine(
            listed={one.id: one for one in seen if one.id not in checking and not is_current(one.id, now)},
            nodes=own_nodes,
            gone=gone,
            restarts=restarts,
            bootstrapping=bootstrapping,
            reports=self._reports.of(engine_id),
            ending=ending,
        )
        return there, live

    def _machines_due(self, engine_id: EngineId, engine: Engine) -> bool:
        last = self._machines_seen.get(engine_id)
        return (
            last is None or last.engine is not engine or self._tools.clock.now() - last.at >= _MACHINES_EVERY
        )

    async def _keep_deadlines(self) -> None:
        """Enforce the deadlines, except right after becoming leader.

        There may have been no leader before, so running transitions get their full time again.
        """
        tools = self._tools
        now = tools.clock.now()
        async with tools.transaction() as tx:
            if self._took_over:
                await self._enforce_deadlines(tx, now)
                await lifetime.enforce(tx, now)
            else:
                await transitions.renew_deadlines(tx, LIFECYCLE.deadlines, now=now)
        self._took_over = True

    async def _before(self, returned: Collection[SessionId]) -> Before:
        async with self._tools.database.transaction() as tx:
            known = await containers.ids_in_states(tx, *PLACED)
            # Reap removes what is abandoned.
            return Before(await queries.marks(tx, returned), known | await containers.ids_of_abandoned(tx))

    async def _engine_is_away(self, engine: EngineId, error: EngineError) -> None:
        """Close its nodes, and extend restarts: a session must not lose its files because the engine takes long to
        recover.
        """
        tools = self._tools
        now = tools.clock.now()
        async with tools.transaction() as tx:
            if await registry.observe(tx, engine, EngineState.DOWN, now, error=error.message):
                log.warning("observe.engine_down", engine=engine, error=error.message)
            await nodes.mark_down(tx, engine)
            await transitions.renew_restarts(tx, engine, now=now)

    async def _apply(self, findings: Findings) -> None:
        tools = self._tools
        now = tools.clock.now()
        async with tools.transaction() as tx:
            for session in findings.out_of_memory:
                await updates.warn(tx, session.id, cause="out_of_memory", reason=OUT_OF_MEMORY, now=now)
            for session, reason in findings.spared:
                await updates.warn(tx, session.id, cause="container_failed", reason=reason, now=now)
            for session, reason in findings.ending:
                await updates.warn(tx, session.id, cause=NODE_LEAVING, reason=reason, now=now)
            for session in findings.staying:
                await updates.clear_warning(tx, session.id, NODE_LEAVING)
            for cause, target, ends in (
                ("restarted", ContainerState.STARTING, findings.restart),
                ("lost", ContainerState.EXITED, findings.lost),
                ("completed", ContainerState.EXITED, findings.completed),
                ("bootstrap_failed", ContainerState.EXITED, findings.unprepared),
            ):
                for ended in ends:
                    await containers.change(
                        tx,
                        ended.session.id,
                        ended.containers,
                        target,
                        states=[SessionState.RUNNING],
                        cause=cause,
                        reason=ended.reason,
                        now=now,
                    )
            for change in findings.machines:
                await containers.put_on_machine(tx, change, now)
            for cause, evictions in (("node_lost", findings.node_lost), (queries.EVICTED, findings.evicted)):
                for one in evictions:
                    await transitions.move(
                        tx,
                        [one.session.id],
                        SessionState.TERMINATING,
                        sources=[SessionState.RUNNING, SessionState.STARTING],
                        outcome=_OUTCOME[one.rule],
                        result=Result.FAILURE,
                        cause=cause,
                        reason=one.reason,
                        now=now,
                    )
            if findings.moved:
                await containers.relocate(tx, dict(findings.moved))

    async def _clean_up(self, engine_id: EngineId, engine: Engine, findings: Findings) -> None:
        for container in findings.orphans:
            self._removals.begin((engine_id, container), partial(_remove_orphan, engine, container))
        for session, stray in findings.strays:
            # No transaction is open during the engine call; the lock keeps the scheduler from placing a session
            # there.
            async with self._tools.placing:
                async with self._tools.transaction() as tx:
                    astray = await queries.lock(tx, session.id, *_LIVE) and (
                        await containers.engine_of(tx, stray) != engine_id
                    )
                if astray:
                    log.warning("observe.stray", session=session.id, container=stray)
                    await in_time(engine.remove(stray, grace_s=0), _STRAY_S)

    async def _enforce_deadlines(self, tx: AsyncSession, now: datetime) -> None:
        for session in await queries.overdue(tx, now):
            if session.state == SessionState.TERMINATING:
                # The engine never confirmed. Leftovers are orphans, removed when it responds.
                reason = _UNCONFIRMED
                await removal.finish(tx, session.id, cause="deadline", reason=reason, now=now)
            elif session.state in LAUNCHING:
                reason = f"It stayed in {session.state} for too long" + (
                    f": {session.reason}" if session.reason else "."
                )
                await transitions.move(
                    tx,
                    [session.id],
                    SessionState.TERMINATING,
                    sources=[session.state],
                    outcome=SessionState.ERROR,
                    cause="deadline",
                    reason=reason,
                    now=now,
                )


async def _remove_orphan(engine: Engine, container: str) -> None:
    """Remove it; the next look finds it again if it fails."""
    log.warning("observe.orphan", container=container)
    try:
        await in_time(engine.remove(container, grace_s=0), REMOVAL_S)
    except EngineError as error:
        log.warning("observe.orphan_remains", container=container, error=error.message)


async def _live(
    tx: AsyncSession,
    listed: Mapping[ContainerId, Observed],
    engine_nodes: Mapping[NodeId, EngineNode],
    ending: Collection[str],
) -> LiveSessions:
    """Whole rows only of sessions that may differ: thousands are as they should be. listed: what the engine has."""
    placed = await containers.placed(tx)
    differing = {
        one.session for one in placed if not is_settled(one, listed.get(one.id), engine_nodes, ending)
    }
    sessions = {one.id: one for one in await queries.placed_among(tx, differing)} if differing else {}
    own = dict(await containers.of_each(tx, differing)) if differing else {}
    if others := listed.keys() - {one.id for one in placed}:
        sessions |= {one.id: one for one in await queries.live_with(tx, others)}
        own |= await containers.of_each(tx, sessions.keys() - own.keys())
    return LiveSessions(sessions, own, frozenset(one.id for one in placed if one.session not in differing))
