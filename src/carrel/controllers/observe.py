"""Compare the containers of each engine with the sessions in the database, and reconcile differences."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from signal import Signals

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.controllers import lifetime, taken_away
from carrel.controllers.active_tasks import ActiveTasks
from carrel.controllers.each_engine import EachEngine
from carrel.controllers.engine_reports import EngineReports
from carrel.controllers.loop import ENGINE_TOPIC, Tools
from carrel.controllers.taken_away import Evicted
from carrel.core.ids import ContainerId, EngineId, NodeId, SessionId
from carrel.engines.port import (
    BOOTSTRAP_FAILED,
    IN_PLACE_RESTART,
    Engine,
    EngineError,
    Observed,
    ObservedState,
)
from carrel.nodes import service as nodes
from carrel.nodes.engines import service as registry
from carrel.nodes.engines.connections import REMOVAL_S, in_time
from carrel.nodes.engines.probes import is_current
from carrel.nodes.service import LosingNode, NodesOfEngine
from carrel.sessions import containers, queries, removal, transitions, updates
from carrel.sessions.containers import ContainerChange, MachineChange, PlacedRow
from carrel.tables.engines import TOPIC, EngineState
from carrel.tables.groups import NodeLoss
from carrel.tables.nodes import FORGOTTEN
from carrel.tables.notifications import NODE_LEAVING
from carrel.tables.session_states import (
    ENDED,
    LAUNCHING,
    LIFECYCLE,
    PLACED,
    ContainerRole,
    ContainerState,
    OnFailure,
    Result,
    SessionKind,
    SessionState,
)
from carrel.tables.sessions import Container, Session

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
_UNPREPARED = "Its bootstrap script failed; the end of the log shows why."
_OOM = "A process was killed because the session reached its memory limit."
_FILES_KEPT = "files are kept, processes are not"
_FILES_LOST = "files outside mounted folders are lost, as are processes"
_LOST_WITH_NODE = {
    NodeLoss.END: "Its node is lost.",
    NodeLoss.RESCHEDULE: "Its node is lost: it is requeued and restarts on another node, without the files "
    "outside mounted folders.",
}
_LIVE = sorted(LIFECYCLE.live)
_OUTCOME = {NodeLoss.END: SessionState.ERROR, NodeLoss.RESCHEDULE: SessionState.PENDING}


@dataclass(frozen=True)
class Before:
    """The placed sessions before the engine was queried, with all their containers, and the pending ones whose
    containers the engine had the last time.
    """

    marks: Mapping[SessionId, queries.Mark]
    containers: frozenset[str]


@dataclass(frozen=True)
class Ended:
    """Ended containers of a running session. reason: a sentence."""

    session: Session
    containers: tuple[ContainerChange, ...]
    reason: str


@dataclass(frozen=True)
class Findings:
    """The differences on one engine.

    orphans: containers whose session was not live, neither before nor after the list was requested; a session that
    ended in between had its containers removed first, and the list may be older. strays: containers of sessions that
    are pending or placed on another engine; left by a replaced leader or a lost node. node_lost: sessions with the
    rule of their group. ending: sessions whose node is about to be taken away, with the warning; staying: sessions
    with that warning whose node is not. machines: of containers of elastic groups, known since; unknown_machines: names
    of those that are not recorded.
    """

    restart: list[Ended] = field(default_factory=list)
    lost: list[Ended] = field(default_factory=list)
    completed: list[Ended] = field(default_factory=list)
    unprepared: list[Ended] = field(default_factory=list)
    out_of_memory: list[Session] = field(default_factory=list)
    spared: list[tuple[Session, str]] = field(default_factory=list)
    moved: list[tuple[ContainerId, str | None]] = field(default_factory=list)
    orphans: list[str] = field(default_factory=list)
    strays: list[tuple[Session, ContainerId]] = field(default_factory=list)
    node_lost: list[tuple[Session, NodeLoss]] = field(default_factory=list)
    evicted: list[Evicted] = field(default_factory=list)
    ending: list[tuple[Session, str]] = field(default_factory=list)
    staying: list[Session] = field(default_factory=list)
    machines: list[MachineChange] = field(default_factory=list)
    unknown_machines: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return any(vars(self).values())

    def add_machines(
        self, nodes: NodesOfEngine, session: Session, there: Sequence[tuple[Container, Observed]]
    ) -> None:
        """Note the machines of containers that are still on the node of their elastic group."""
        for one, observed in there:
            if one.node_id not in nodes.elastic or not one.node_id or not observed.node:
                continue
            if machine := nodes.named.get(observed.node):
                change = MachineChange(one.id, session.id, session.attempts, one.node_id, machine)
                self.machines.append(change)
            else:
                self.unknown_machines.append(observed.node)

    def add_spared(self, session: Session, failed: Sequence[Container], reason: str) -> None:
        """Note that the session goes on without these containers, if it does."""
        has_main = any(one.role == ContainerRole.MAIN for one in failed)
        if session.on_failure == OnFailure.CONTINUE and failed and not has_main:
            self.spared.append((session, f"{reason} The session continues without it, as requested."))


@dataclass(frozen=True)
class LiveSessions:
    """The placed sessions with their containers, on any engine, and the pending ones whose containers an engine has.

    settled: ids of the containers of the other placed sessions, which are as they should be.
    """

    sessions: Mapping[SessionId, Session]
    containers: Mapping[SessionId, Sequence[Container]]
    settled: frozenset[ContainerId] = frozenset()


@dataclass(frozen=True)
class OneEngine:
    """State of one engine. listed: its containers by id. gone: DOWN nodes, as in `nodes.gone`. restarts: recent
    restarts per session. bootstrapping: sessions with a bootstrap script. reports: what the engine reports about
    containers that it does not list. losing: as of `nodes.losing`. ending: names of nodes that are about to be taken
    away.
    """

    listed: Mapping[str, Observed]
    nodes: NodesOfEngine
    gone: Mapping[NodeId, NodeLoss | None]
    restarts: Mapping[SessionId, int]
    bootstrapping: frozenset[SessionId] = frozenset()
    reports: Mapping[str, Sequence[str]] = field(default_factory=dict)
    losing: Mapping[NodeId, LosingNode] = field(default_factory=dict)
    ending: frozenset[str] = frozenset()

    def has(self, container: Container) -> bool:
        """True if it lists the container on its node. On a former one, it came back with a backup of the cluster."""
        listed, node = self.listed.get(container.id), self.losing.get(container.node_id or NodeId(""))
        return listed is not None and (not listed.node or node is None or node.name in ("", listed.node))


def compare(engine: OneEngine, before: Before, live: LiveSessions) -> Findings:
    """Pure. before, live: sessions read before the engine's list was requested and after it arrived.

    The list is conclusive only for sessions whose state did not change meanwhile, and for its own nodes.
    """
    findings = Findings()
    for session in live.sessions.values():
        # None if it ended between the two reads.
        _compare_session(findings, engine, session, live.containers.get(session.id, ()), before)
    known = before.containers | live.settled | {one.id for own in live.containers.values() for one in own}
    findings.orphans.extend(container for container in engine.listed if container not in known)
    return findings


def unlisted(engine: OneEngine, before: Before, live: LiveSessions) -> Mapping[ContainerId, SessionId]:
    """Containers of running sessions that should be listed, and are not. Arguments: as of `compare`."""
    return {
        one.id: session.id
        for session in live.sessions.values()
        if session.state == SessionState.RUNNING and before.marks.get(session.id) == queries.mark(session)
        for one in live.containers.get(session.id, ())
        if one.node_id in engine.nodes.capabilities and one.state not in ENDED and not engine.has(one)
    }


def _compare_session(
    findings: Findings, engine: OneEngine, session: Session, own: Sequence[Container], before: Before
) -> None:
    nodes = engine.nodes.capabilities
    here = [one for one in own if one.node_id in nodes and one.state not in ENDED]
    there = [(one, engine.listed[one.id]) for one in here if engine.has(one)]
    if "out_of_memory" not in session.warnings and any(observed.out_of_memory for _, observed in there):
        findings.out_of_memory.append(session)
    if before.marks.get(session.id) != queries.mark(session):
        return
    findings.strays.extend(
        (session, one.id) for one in own if one.node_id not in nodes and one.id in engine.listed
    )
    findings.add_machines(engine.nodes, session, there)
    missing = [one for one in here if not engine.has(one)]
    away = [one for one in missing if session.started_at and one.node_id in engine.gone]
    rules = {rule for one in away if one.node_id and (rule := engine.gone[one.node_id])}
    if rules and session.state != SessionState.TERMINATING:
        ends = NodeLoss.END in rules or (session.kind == SessionKind.BATCH and not session.retries_left)
        findings.node_lost.append((session, NodeLoss.END if ends else NodeLoss.RESCHEDULE))
    if session.state == SessionState.STARTING and session.started_at and not rules:
        running = {one.id for one, seen in there if seen.state is ObservedState.RUNNING}
        waiting = [one for one in here if one.id not in running]
        if moves := taken_away.cannot_restart(session, own, waiting, engine.losing):
            findings.evicted.append(moves)
    if rules or session.state != SessionState.RUNNING:
        return
    if warning := taken_away.warning(session, here, engine.losing, engine.ending):
        findings.ending.append((session, warning))
    elif taken_away.is_over(session, own, engine.losing, engine.ending):
        findings.staying.append(session)
    absent = [one for one in missing if one not in away]
    taken = [one for one, seen in there if seen.evicted and not _is_done(session, one, seen)]
    reports = [engine.listed[one.id].reason for one in taken]
    reports += [engine.reports[one.id][-1] for one in absent if engine.reports.get(one.id)]
    why = next(filter(None, reports), "")
    again = engine.restarts.get(session.id, 0) < taken_away.MAX_RESTARTS
    if evicted := taken_away.evicted(
        session, own, [*taken, *absent], engine.losing, why, certain=bool(taken), again=again
    ):
        findings.evicted.append(evicted)
    elif absent:
        why = f"{_subject(own, absent)} disappeared from the engine." + (f" {why}" if why else "")
        findings.lost.append(Ended(session, tuple(ContainerChange(one.id) for one in absent), why))
        findings.add_spared(session, absent, why)
    elif exited := [(one, observed) for one, observed in there if observed.state is ObservedState.EXITED]:
        is_batch = session.kind == SessionKind.BATCH
        unprepared = [one for one in exited if one[1].exit_code == BOOTSTRAP_FAILED]
        if session.id not in engine.bootstrapping:
            unprepared = []
        completed = [one for one in exited if is_batch or one[0].has_command or one in unprepared]
        if unprepared:
            changes = tuple(
                ContainerChange(one.id, exit_code=observed.exit_code) for one, observed in completed
            )
            findings.unprepared.append(Ended(session, changes, _UNPREPARED))
            findings.add_spared(session, [one for one, _ in unprepared], _UNPREPARED)
        elif completed:
            _add_completed(findings, session, own, completed)
        else:
            kept = all(one.node_id and IN_PLACE_RESTART in nodes[one.node_id] for one, _ in exited)
            _add_exited(findings, session, own, exited, again=again, kept=kept)
    else:
        findings.moved.extend(
            (one.id, observed.address)
            for one, observed in there
            if observed.state is ObservedState.RUNNING and observed.address != one.address
        )


def _is_done(session: Session, container: Container, observed: Observed) -> bool:
    """True if its command succeeded, whatever happened to the container then."""
    runs_once = session.kind == SessionKind.BATCH or container.has_command
    return runs_once and observed.exit_code == 0


def _add_exited(
    findings: Findings,
    session: Session,
    own: Sequence[Container],
    exited: Sequence[tuple[Container, Observed]],
    *,
    again: bool,
    kept: bool,
) -> None:
    """The restart, or the end after too many restarts. own: all containers of the session. kept: with their files."""
    if any(observed.out_of_memory for _, observed in exited):
        why = _OOM
    elif reasons := [observed.reason for _, observed in exited if observed.reason]:
        why = reasons[0]
    else:
        why = f"{_subject(own, [one for one, _ in exited])} stopped, for example with the engine."
    if again:
        changes = tuple(ContainerChange(one.id) for one, _ in exited)
        why += f" It was started again; {_FILES_KEPT if kept else _FILES_LOST}."
        findings.restart.append(Ended(session, changes, why))
    else:
        changes = tuple(ContainerChange(one.id, exit_code=observed.exit_code) for one, observed in exited)
        why += taken_away.TOO_OFTEN
        findings.lost.append(Ended(session, changes, why))
        findings.add_spared(session, [one for one, _ in exited], why)


def _add_completed(
    findings: Findings,
    session: Session,
    own: Sequence[Container],
    exited: Sequence[tuple[Container, Observed]],
) -> None:
    """The end of commands, and of containers of batch sessions, which are never started again in place."""
    changes = tuple(ContainerChange(one.id, exit_code=observed.exit_code) for one, observed in exited)
    # The main container is the first; its result is that of the session.
    failed = [one for one in exited if one[1].exit_code != 0 or not one[0].has_command]
    if not failed or (exited[0][0].role == ContainerRole.MAIN and exited[0] not in failed):
        why = "Its command succeeded."
    else:
        container, observed = failed[0]
        name = "Its command" if len(own) == 1 else f"The command of {container.name}"
        why = f"{name} {_failure(observed.exit_code)}."
        if observed.out_of_memory:
            why += f" {_OOM}"
        elif observed.reason:
            why += f" {observed.reason}"
        findings.add_spared(session, [one for one, _ in failed], why)
        if session.retries_left:
            why += f" Retrying; attempts left: {session.retries_left}."
    findings.completed.append(Ended(session, changes, why))


def _failure(exit_code: int | None) -> str:
    """Why it failed, as a shell reports it: 128 plus the number of the signal."""
    try:
        return f"was killed by {Signals((exit_code or 0) - 128).name}"
    except ValueError:
        return f"failed with exit code {exit_code}"


def _subject(own: Sequence[Container], some: Sequence[Container]) -> str:
    """The subject of a sentence; a single container is not named."""
    if len(own) == 1:
        return "Its container"
    names = [one.name for one in some]
    return f"Its container {names[0]}" if len(names) == 1 else f"Its containers {', '.join(names)}"


async def _live(
    tx: AsyncSession,
    listed: Mapping[ContainerId, Observed],
    engine_nodes: Mapping[NodeId, LosingNode],
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


def is_settled(
    row: PlacedRow, seen: Observed | None, engine_nodes: Mapping[NodeId, LosingNode], ending: Collection[str]
) -> bool:
    """True if `compare` finds nothing about this container. seen: in the engine's list."""
    node = engine_nodes.get(row.node) if row.node else None
    if node is None:
        return row.session_state == SessionState.RUNNING and seen is None
    if row.session_state != SessionState.RUNNING or row.warned or node.name in ending:
        return False
    if row.state in ENDED:
        return True
    return (
        seen is not None
        and seen.state is ObservedState.RUNNING
        and seen.node in ("", node.name)
        and not seen.out_of_memory
        and not seen.evicted
        and seen.address == row.address
    )


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
                await nodes.record(tx, machines, now, engine=engine_id)
            names = frozenset(one.name for one in machines if one.ending)
            self._machines_seen[engine_id] = MachinesSeen(engine, now, names)
        # 3. compare those that did not change meanwhile
        stopped = {ContainerId(o.id) for o in seen if o.state is ObservedState.EXITED or o.evicted}
        async with tools.database.transaction() as tx:
            own_nodes, gone = await nodes.of_engine(tx, engine_id), await nodes.gone(tx, now)
            losing, ending = await nodes.losing(tx, engine_id), self._machines_seen[engine_id].ending
            live = await _live(tx, {ContainerId(one.id): one for one in seen}, losing, ending)
            again = [key for key, own in live.containers.items() if any(one.id in stopped for one in own)]
            restarts = await queries.restarts_since(tx, again, now - RESTARTS_COUNTED) if again else {}
            bootstrapping = await queries.with_bootstrap(tx, again) if again else frozenset()
        there = OneEngine(
            {one.id: one for one in seen if not is_current(one.id, now)},
            own_nodes,
            gone,
            restarts,
            bootstrapping,
            self._reports.of(engine_id),
            losing,
            ending,
        )
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
                await updates.warn(tx, session.id, cause="out_of_memory", reason=_OOM, now=now)
            for session, reason in findings.spared:
                await updates.warn(tx, session.id, cause="container_failed", reason=reason, now=now)
            for session, reason in findings.ending:
                await updates.warn(tx, session.id, cause=NODE_LEAVING, reason=reason, now=now)
            for session in findings.staying:
                await updates.clear_warning(tx, session.id, NODE_LEAVING)
            for ended in findings.restart:
                await containers.change(
                    tx,
                    ended.session.id,
                    ended.containers,
                    ContainerState.STARTING,
                    states=[SessionState.RUNNING],
                    cause="restarted",
                    reason=ended.reason,
                    now=now,
                )
            for cause, ends in (
                ("lost", findings.lost),
                ("completed", findings.completed),
                ("bootstrap_failed", findings.unprepared),
            ):
                for ended in ends:
                    await containers.change(
                        tx,
                        ended.session.id,
                        ended.containers,
                        ContainerState.EXITED,
                        states=[SessionState.RUNNING],
                        cause=cause,
                        reason=ended.reason,
                        now=now,
                    )
            for session, rule in findings.node_lost:
                await transitions.move(
                    tx,
                    [session.id],
                    SessionState.TERMINATING,
                    sources=[SessionState.RUNNING, SessionState.STARTING],
                    outcome=_OUTCOME[rule],
                    result=Result.FAILURE,
                    cause="node_lost",
                    reason=_LOST_WITH_NODE[rule],
                    now=now,
                )
            for change in findings.machines:
                await containers.put_on_machine(tx, change, now)
            for one in findings.evicted:
                await transitions.move(
                    tx,
                    [one.session.id],
                    SessionState.TERMINATING,
                    sources=[SessionState.RUNNING, SessionState.STARTING],
                    outcome=_OUTCOME[one.rule],
                    result=Result.FAILURE,
                    cause=queries.EVICTED,
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
