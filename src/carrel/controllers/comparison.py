"""The differences between the list of an engine and the sessions in the database. Pure."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from signal import Signals

from carrel.controllers import taken_away
from carrel.controllers.taken_away import Evicted
from carrel.core.ids import ContainerId, NodeId, SessionId
from carrel.engines.port import BOOTSTRAP_FAILED, IN_PLACE_RESTART, Observed, ObservedState
from carrel.nodes.service import EngineNode
from carrel.sessions import queries
from carrel.sessions.containers import ContainerChange, MachineChange, PlacedRow
from carrel.tables.groups import NodeLoss
from carrel.tables.session_states import ENDED, ContainerRole, OnFailure, SessionKind, SessionState
from carrel.tables.sessions import Container, Session

_UNPREPARED = "Its bootstrap script failed; the end of the log shows why."
OUT_OF_MEMORY = "A process was killed because the session reached its memory limit."
_FILES_KEPT = "files are kept, processes are not"
_FILES_LOST = "files outside mounted folders are lost, as are processes"
_LOST_WITH_NODE = {
    NodeLoss.END: "Its node is lost.",
    NodeLoss.RESCHEDULE: "Its node is lost: it is requeued and restarts on another node, without the files "
    "outside mounted folders.",
}


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
    are pending or placed on another engine; left by a replaced leader or a lost node. ending: sessions whose node is
    about to be taken away, with the warning; staying: sessions with that warning whose node is not. machines: of
    containers of elastic groups, known since; unknown_machines: names of those that are not recorded.
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
    node_lost: list[Evicted] = field(default_factory=list)
    evicted: list[Evicted] = field(default_factory=list)
    ending: list[tuple[Session, str]] = field(default_factory=list)
    staying: list[Session] = field(default_factory=list)
    machines: list[MachineChange] = field(default_factory=list)
    unknown_machines: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return any(vars(self).values())

    def add_machines(
        self, engine: "OneEngine", session: Session, there: Sequence[tuple[Container, Observed]]
    ) -> None:
        """Note the machines of containers that are still on the node of their elastic group."""
        for one, observed in there:
            if not one.node_id or not engine.nodes[one.node_id].elastic or not observed.node:
                continue
            if machine := engine.machines.get(observed.node):
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
    containers that it does not list. ending: names of nodes that are about to be taken away.
    """

    listed: Mapping[str, Observed]
    nodes: Mapping[NodeId, EngineNode]
    gone: Mapping[NodeId, NodeLoss | None]
    restarts: Mapping[SessionId, int]
    bootstrapping: frozenset[SessionId] = frozenset()
    reports: Mapping[str, Sequence[str]] = field(default_factory=dict)
    ending: frozenset[str] = frozenset()

    @cached_property
    def machines(self) -> Mapping[str, NodeId]:
        """The nodes by name, without those of elastic groups."""
        return {node.name: id_ for id_, node in self.nodes.items() if not node.elastic}

    def has(self, container: Container) -> bool:
        """True if it lists the container on its node. On a former one, it came back with a backup of the cluster."""
        listed, node = self.listed.get(container.id), self.nodes.get(container.node_id or NodeId(""))
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
        if one.node_id in engine.nodes and one.state not in ENDED and not engine.has(one)
    }


def _compare_session(
    findings: Findings, engine: OneEngine, session: Session, own: Sequence[Container], before: Before
) -> None:
    here = [one for one in own if one.node_id in engine.nodes and one.state not in ENDED]
    there = [(one, engine.listed[one.id]) for one in here if engine.has(one)]
    if "out_of_memory" not in session.warnings and any(observed.out_of_memory for _, observed in there):
        findings.out_of_memory.append(session)
    if before.marks.get(session.id) != queries.mark(session):
        return
    findings.strays.extend(
        (session, one.id) for one in own if one.node_id not in engine.nodes and one.id in engine.listed
    )
    findings.add_machines(engine, session, there)
    missing = [one for one in here if not engine.has(one)]
    away = [one for one in missing if session.started_at and one.node_id in engine.gone]
    rules = {rule for one in away if one.node_id and (rule := engine.gone[one.node_id])}
    if rules and session.state != SessionState.TERMINATING:
        ends = NodeLoss.END in rules or (session.kind == SessionKind.BATCH and not session.retries_left)
        rule = NodeLoss.END if ends else NodeLoss.RESCHEDULE
        findings.node_lost.append(Evicted(session, rule, _LOST_WITH_NODE[rule]))
    if session.state == SessionState.STARTING and session.started_at and not rules:
        running = {one.id for one, seen in there if seen.state is ObservedState.RUNNING}
        waiting = [one for one in here if one.id not in running]
        if moves := taken_away.cannot_restart(session, own, waiting, engine.nodes):
            findings.evicted.append(moves)
    if rules or session.state != SessionState.RUNNING:
        return
    if warning := taken_away.warning(session, here, engine.nodes, engine.ending):
        findings.ending.append((session, warning))
    elif taken_away.is_over(session, own, engine.nodes, engine.ending):
        findings.staying.append(session)
    _compare_running(findings, engine, session, own, there, [one for one in missing if one not in away])


def _compare_running(
    findings: Findings,
    engine: OneEngine,
    session: Session,
    own: Sequence[Container],
    there: Sequence[tuple[Container, Observed]],
    absent: Sequence[Container],
) -> None:
    """own: all its containers. there: those that the engine lists. absent: those that it
    should list, without those of nodes that are DOWN.
    """
    taken = [one for one, seen in there if seen.evicted and not _is_done(session, one, seen)]
    reports = [engine.listed[one.id].reason for one in taken]
    reports += [engine.reports[one.id][-1] for one in absent if engine.reports.get(one.id)]
    why = next(filter(None, reports), "")
    again = engine.restarts.get(session.id, 0) < taken_away.MAX_RESTARTS
    if evicted := taken_away.evicted(
        session, own, [*taken, *absent], engine.nodes, why, certain=bool(taken), again=again
    ):
        findings.evicted.append(evicted)
    elif absent:
        why = f"{_subject(own, absent)} disappeared from the engine." + (f" {why}" if why else "")
        findings.lost.append(Ended(session, tuple(ContainerChange(one.id) for one in absent), why))
        findings.add_spared(session, absent, why)
    elif exited := [(one, observed) for one, observed in there if observed.state is ObservedState.EXITED]:
        _add_exited(findings, engine, session, own, exited, again=again)
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
    engine: OneEngine,
    session: Session,
    own: Sequence[Container],
    exited: Sequence[tuple[Container, Observed]],
    *,
    again: bool,
) -> None:
    """own: all containers of the session. again: it was not started again too often."""
    unprepared = [one for one in exited if one[1].exit_code == BOOTSTRAP_FAILED]
    if session.id not in engine.bootstrapping:
        unprepared = []
    is_batch = session.kind == SessionKind.BATCH
    completed = [one for one in exited if is_batch or one[0].has_command or one in unprepared]
    if unprepared:
        changes = tuple(ContainerChange(one.id, exit_code=observed.exit_code) for one, observed in completed)
        findings.unprepared.append(Ended(session, changes, _UNPREPARED))
        findings.add_spared(session, [one for one, _ in unprepared], _UNPREPARED)
    elif completed:
        _add_completed(findings, session, own, completed)
    else:
        places = [engine.nodes[one.node_id] for one, _ in exited if one.node_id]
        kept = all(IN_PLACE_RESTART in place.capabilities for place in places)
        _add_stopped(findings, session, own, exited, again=again, kept=kept)


def _add_stopped(
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
        why = OUT_OF_MEMORY
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
            why += f" {OUT_OF_MEMORY}"
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


def is_settled(
    row: PlacedRow, seen: Observed | None, engine_nodes: Mapping[NodeId, EngineNode], ending: Collection[str]
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
