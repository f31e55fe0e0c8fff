"""Start scheduled sessions, and restart those interrupted by a crash or an engine restart."""

import asyncio
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar

import structlog
from sqlalchemy import text

from carrel.accounts.dotfiles import service as dotfiles
from carrel.controllers import mount_sources
from carrel.controllers.active_tasks import ActiveTasks, Work
from carrel.controllers.container_specs import PlacedContainer, container_spec, runs_once
from carrel.controllers.engine_concurrency import EngineConcurrency
from carrel.controllers.loop import ENGINE_TOPIC, Tools, end
from carrel.core.clock import Clock
from carrel.core.errors import Unavailable
from carrel.core.ids import ContainerId, EngineId, NodeId, SessionId, StorageHostId
from carrel.db.leader import LeadershipLost
from carrel.engines import barrier
from carrel.engines.port import (
    ContainerGone,
    Engine,
    EngineError,
    EngineUnavailable,
    MachineAwaited,
    Mount,
    ObservedState,
    Progress,
    QuotaExhausted,
)
from carrel.folders.hosts import queries as hosts
from carrel.nodes import ledger
from carrel.nodes import service as nodes
from carrel.nodes.engines.connections import REMOVAL_S, in_time
from carrel.nodes.service import Address
from carrel.sessions import (
    announcements,
    containers,
    machines,
    mounting,
    queries,
    removal,
    transitions,
    updates,
)
from carrel.sessions.containers import ContainerChange
from carrel.sessions.mounting import MountedFolder
from carrel.sessions.transitions import NO_MOUNT, NO_QUOTA, NO_STORAGE
from carrel.tables.nodes import TOPIC as NODE_TOPIC
from carrel.tables.session_states import (
    ENDED,
    LAUNCHING,
    ContainerState,
    Result,
    SessionKind,
    SessionState,
)
from carrel.tables.sessions import Session

log = structlog.get_logger()

MAX_ATTEMPTS = 4
_TICK_S, _BUSY_TICK_S = 20.0, 5.0
_RETRY = "retry"
_ENGINE_PAUSE_S = 2.0
_SHOW_EVERY_S = 0.5
_STORAGE_PAUSE_S = 30
_LONGEST_PAUSE_S = 300.0
_MACHINE_PAUSE_S = 60.0
_NOWHERE = Address(None, "")
_LAUNCHED, _SENT_BACK = "launched", "sent back"
T = TypeVar("T")
_LOOK_AT_ENGINE = text("SELECT pg_notify('carrel', :topic)")


class FailedStart(Exception):
    """The engine failed to start one of the containers."""

    def __init__(self, member: PlacedContainer, error: EngineError) -> None:
        super().__init__(error.message)
        self.member = member
        self.error = error


class _Reports:
    """The progress of a start, with the moment at which its image was present."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._queue: asyncio.Queue[Progress] = asyncio.Queue()
        self.image_at: datetime | None = None

    def put(self, progress: Progress) -> None:
        if progress.phase == "start":
            self.image_at = self._clock.now()
        self._queue.put_nowait(progress)

    async def next(self) -> Progress:
        """The latest progress of the pull, or what follows it."""
        progress = await self._queue.get()
        while not self._queue.empty() and progress.phase == "pull":
            progress = self._queue.get_nowait()
        return progress


class Launch:
    """One task per session with bounded concurrency; the reaper can abandon a task.

    All containers of a session start, or all are removed. A session that has never run and has a lost or draining
    node is requeued instead.
    """

    name = "launch"
    topics = (
        announcements.topic(SessionState.SCHEDULED),
        announcements.topic(SessionState.STARTING),
        NODE_TOPIC,
    )
    tick_s = _TICK_S

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._preparing, self._starting = EngineConcurrency(), EngineConcurrency()
        self._active = ActiveTasks[SessionId]()

    async def step(self) -> None:
        """Start every session that should be starting and has no task."""
        async with self._tools.database.transaction() as tx:
            sessions = await queries.with_specs(tx, *sorted(LAUNCHING))
            self.tick_s = _BUSY_TICK_S if sessions else _TICK_S
            if not sessions:
                return
            own = await containers.in_states(tx, *sorted(LAUNCHING))
            places = await nodes.addresses(tx)
            devices = await ledger.devices_of(tx, [one.id for each in own.values() for one in each])
            held = await mounting.held_by(tx, [session.id for session in sessions])
            locations = await hosts.locations(tx) if held else {}
            lost = {node for node, rule in (await nodes.gone(tx, self._tools.clock.now())).items() if rule}
            homes = await dotfiles.of_users(tx, {session.owner_id for session in sessions})
            draining = {node.id for node in await nodes.draining(tx)}
        for session in sessions:
            key = session.id
            members = [
                PlacedContainer(
                    one,
                    places.get(one.node_id or NodeId(""), _NOWHERE),
                    devices.get(one.id, {}),
                    homes.get(session.owner_id, ()),
                )
                for one in own.get(key, ())
            ]
            # A command that may have started must not start on another node as well, so its start continues.
            closed = lost if _may_have_run(session, members) else lost | draining
            displaced = next((one for one in members if one.row.node_id in closed), None)
            if displaced and not session.started_at:
                if self._active.about(key) != _SENT_BACK:
                    await self.abandon(key)
                    self._begin_task(key, partial(self._send_back, session, members, displaced), _SENT_BACK)
            else:
                folders = held.get(key, ())
                located = locations.get(members[0].node.engine or EngineId(""), {}) if folders else {}
                self._begin_task(key, partial(self._launch, session, members, folders, located), _LAUNCHED)

    def _begin_task(self, session: SessionId, work: Work, about: str) -> None:
        self._active.begin(session, partial(_kept, session, work), about)

    async def abandon(self, session: SessionId) -> None:
        """Cancel the start and wait until its task has stopped."""
        await self._active.stop(session)

    async def drain(self) -> None:
        """Wait until no task is running."""
        await self._active.drain()

    async def close(self) -> None:
        await self._active.close()

    async def _launch(
        self,
        session: Session,
        members: Sequence[PlacedContainer],
        held: Sequence[MountedFolder],
        locations: Mapping[StorageHostId, str | None],
    ) -> None:
        """locations: where the engine has storage hosts; its containers are all on one engine."""
        # Publish PREPARING before waiting for a slot, because other pulls may take long.
        if not await self._begin(session, members):
            return
        # Hung storage delays only sessions that mount from it.
        folders = await self._mounts(session, members, held, locations)
        if folders is None:
            return
        if held:
            async with self._tools.transaction() as tx:
                await containers.mounted(tx, session.id, self._tools.clock.now())
        try:
            starting = [one for one in members if one.row.state not in (ContainerState.RUNNING, *ENDED)]
            ensured = await _side_by_side([self._start(session, one, folders) for one in starting])
            started = [one for one in ensured if isinstance(one, ContainerChange)]
            if waiting := [one for one in ensured if isinstance(one, FailedStart)]:
                await self._wait_for_machine(session, members, waiting)
                return
            if len(members) > 1:
                # Not one by one: nobody's command begins before all are there.
                await self._tools.confirm()
                await _side_by_side([self._open(session, one) for one in starting])
            await self._publish(session, started)
        except FailedStart as failed:
            error = failed.error
            if isinstance(error, EngineUnavailable) or (error.retriable and session.started_at):
                await self._try_later(session, error.message)
            else:
                await self._give_up(session, members, failed)

    async def _mounts(
        self,
        session: Session,
        members: Sequence[PlacedContainer],
        held: Sequence[MountedFolder],
        locations: Mapping[StorageHostId, str | None],
    ) -> tuple[Mount, ...] | None:
        """The mounts; None if it cannot start now or at all, which is then recorded."""
        try:
            return await mount_sources.ready(self._tools.storages, held, locations)
        except Unavailable as error:
            await self._wait_for_storage(session, members, error.message)
        except mount_sources.Missing as error:
            async with self._tools.database.transaction() as tx:
                away = await mounting.is_away(tx, error.host)
            if away:
                await self._wait_for_storage(session, members, str(error))
            else:
                await self._miss_folder(session, members, str(error))
        except mount_sources.Unmountable as error:
            await self._end(session, cause=NO_MOUNT, reason=str(error))
        return None

    async def _wait_for_storage(
        self, session: Session, members: Sequence[PlacedContainer], reason: str
    ) -> None:
        log.warning("launch.no_storage", session=session.id, error=reason)
        if session.started_at:
            # It has local files on its node, so it waits there until the storage is back.
            async with self._tools.transaction() as tx:
                await transitions.renew_deadline(tx, session.id, session.state, now=self._tools.clock.now())
            await self._try_later(session, reason)
        else:
            pause = timedelta(seconds=min(2 ** await self._failed(session, NO_STORAGE), _STORAGE_PAUSE_S))
            await self._take_back(session, members, cause=NO_STORAGE, reason=reason, pause=pause)

    async def _miss_folder(self, session: Session, members: Sequence[PlacedContainer], reason: str) -> None:
        """Retry a few times, in case the storage host turns out to be unavailable; then fail."""
        log.warning("launch.no_folder", session=session.id, error=reason)
        if session.started_at:
            await self._try_later(session, reason)
        elif await self._failed(session, NO_MOUNT) + 1 >= MAX_ATTEMPTS:
            await self._end(session, cause=NO_MOUNT, reason=reason)
        else:
            await self._take_back(
                session, members, cause=NO_MOUNT, reason=reason, pause=timedelta(seconds=_STORAGE_PAUSE_S)
            )

    async def _send_back(
        self, session: Session, members: Sequence[PlacedContainer], displaced: PlacedContainer
    ) -> None:
        """Remove it from its nodes and requeue it, or end it if its command may have run."""
        if _may_have_run(session, members) or (
            # Its machine may have come just now.
            session.state != SessionState.SCHEDULED and await self._has_run(session, members)
        ):
            reason = f"Its node {displaced.node.name} was lost during the start; its command may have run."
            await self._end(session, cause="node_lost", reason=reason, failed_run=True)
            return
        reason = f"Its node {displaced.node.name} is lost or drained before the session ran there."
        if displaced.node.elastic is not None:
            reason = "Its elastic group was changed before the session ran."
        await self._take_back(
            session, members, cause="node_closed", reason=reason, blamed=displaced.row.node_id
        )

    async def _begin(self, session: Session, members: Sequence[PlacedContainer]) -> bool:
        """False if it should no longer be started."""
        async with self._tools.transaction() as tx:
            if session.state != SessionState.SCHEDULED:
                return await queries.lock(tx, session.id, *LAUNCHING)
            return await containers.change(
                tx,
                session.id,
                [ContainerChange(one.row.id) for one in members],
                ContainerState.PREPARING,
                states=[SessionState.SCHEDULED],
                cause="launch",
                now=self._tools.clock.now(),
            )

    async def _start(
        self, session: Session, member: PlacedContainer, folders: tuple[Mount, ...]
    ) -> ContainerChange | FailedStart:
        """Start one container on its engine; MachineAwaited is returned, since the other starts go on.

        Raises: FailedStart.
        """
        # A container whose image is present must not wait behind pulls: its deadline is short, and it may hold files.
        limits = self._starting if member.row.state == ContainerState.STARTING else self._preparing
        engine_id = _engine_of(member)
        try:
            engine = await self._tools.engines.of(engine_id)
            async with limits.of(engine_id, engine):
                return await self._ensure(session, member, folders, engine)
        except EngineError as error:
            raise FailedStart(member, error) from error
        except FailedStart as failed:
            if not isinstance(failed.error, MachineAwaited):
                raise
            return failed

    async def _ensure(
        self, session: Session, member: PlacedContainer, folders: tuple[Mount, ...], engine: Engine
    ) -> ContainerChange:
        """Ensure it on the engine; this also continues a start that a crash interrupted."""
        tools = self._tools
        spec = container_spec(session, member, folders, tools.seal, epoch=tools.leader.epoch)
        progress = _Reports(tools.clock)
        writing = asyncio.Lock()
        reporter = asyncio.create_task(self._report(session.id, member.row.id, progress, writing))
        try:
            observed = await engine.ensure(spec, progress.put, tools.confirm if spec.once else None)
        except EngineError as error:
            raise FailedStart(member, error) from error
        finally:
            await end(reporter, writing)
        return ContainerChange(
            member.row.id,
            address=observed.address,
            image_at=progress.image_at,
            launched_at=tools.clock.now(),
        )

    async def _open(self, session: Session, member: PlacedContainer) -> None:
        """Open the start barrier of a container. Raises: FailedStart."""
        try:
            engine = await self._tools.engines.of(_engine_of(member))
            await in_time(engine.send(member.row.id, barrier.OPEN))
        except ContainerGone as gone:
            # A command that runs once may have ended already; `Observe` finds its result.
            if not runs_once(session, member.row):
                error = EngineError(f"{member.row.name} stopped while the others started.", retriable=True)
                raise FailedStart(member, error) from gone
        except EngineError as error:
            raise FailedStart(member, error) from error

    async def _run(self, member: PlacedContainer, command: tuple[str, ...]) -> int:
        """The exit code of a short process. Raises: EngineError."""

        async def run() -> int:
            engine = await self._tools.engines.of(_engine_of(member))
            async with engine.exec(member.row.id, command, env={}, terminal=None) as process:
                async for _ in process.output():
                    pass
                return await process.exit_code()

        return await in_time(run())

    async def _publish(self, session: Session, started: Sequence[ContainerChange]) -> None:
        tools = self._tools
        async with tools.transaction() as tx:
            await containers.change(
                tx,
                session.id,
                started,
                ContainerState.RUNNING,
                states=LAUNCHING,
                cause="started",
                now=tools.clock.now(),
            )
            # A command may have ended before it was RUNNING here, and the engine does not report that again.
            await tx.execute(_LOOK_AT_ENGINE, {"topic": ENGINE_TOPIC})

    async def _report(
        self,
        session: SessionId,
        container: ContainerId,
        reports: "_Reports",
        writing: asyncio.Lock,
    ) -> None:
        """Store progress as it arrives, at most twice a second, without blocking the engine."""
        started = False
        while True:
            progress = await reports.next()
            async with writing, self._tools.transaction() as tx:
                if progress.phase == "start" and not started:
                    started = True
                    await containers.change(
                        tx,
                        session,
                        [ContainerChange(container, image_at=reports.image_at)],
                        ContainerState.STARTING,
                        states=[SessionState.PREPARING],
                        cause="image_ready",
                        now=self._tools.clock.now(),
                    )
                elif progress.phase == "pull":
                    shown = {"phase": "pull", "fraction": progress.fraction, "text": progress.text}
                    await updates.show_progress(tx, session, LAUNCHING, progress=shown, reason=None)
                elif progress.phase == "event":
                    await updates.report(tx, session, progress.text, now=self._tools.clock.now())
            await asyncio.sleep(_SHOW_EVERY_S)

    async def _wait_for_machine(
        self, session: Session, members: Sequence[PlacedContainer], waiting: Sequence[FailedStart]
    ) -> None:
        """Leave it to the cluster, until the bound of the elastic group has passed."""
        now, first = self._tools.clock.now(), waiting[0]
        since = min(one.member.row.machine_due_at or now for one in waiting)
        if now - since >= first.member.node.wait:
            message = machines.none_added(first.member.node.wait, first.error.message)
            error = MachineAwaited(message)
            await self._give_up(session, members, FailedStart(first.member, error), pause_s=_MACHINE_PAUSE_S)
            return
        async with self._tools.transaction() as tx:
            await containers.await_machine(tx, [one.member.row.id for one in waiting], now)
            await transitions.renew_deadline(tx, session.id, session.state, now=now)
            reason = machines.awaited(await machines.last_waits(tx, session.group_id), first.error.message)
        await self._try_later(session, reason)

    async def _try_later(self, session: Session, reason: str) -> None:
        """The session keeps its state, placement and files; the next step retries until the deadline."""
        async with self._tools.transaction() as tx:
            await updates.show_progress(tx, session.id, LAUNCHING, progress=None, reason=reason)
        await asyncio.sleep(_ENGINE_PAUSE_S)

    async def _give_up(
        self,
        session: Session,
        members: Sequence[PlacedContainer],
        start: FailedStart,
        *,
        pause_s: float = 1.0,
    ) -> None:
        """Clean up and requeue, or fail the session. pause_s: after the first attempt."""
        error = start.error
        # A quota may be free when other sessions have ended, so that has no last attempt.
        cause = NO_QUOTA if isinstance(error, QuotaExhausted) else _RETRY
        failed = await self._failed(session, cause)
        log.warning(
            "launch.refused",
            session=session.id,
            container=start.member.row.id,
            code=error.code,
            attempt=failed + 1,
        )
        last = not error.retriable or (cause == _RETRY and failed + 1 >= MAX_ATTEMPTS)
        if last or await self._has_run(session, members):
            await self._end(session, cause=error.code, reason=error.message)
            return
        pause = timedelta(seconds=min(pause_s * 2**failed, _LONGEST_PAUSE_S))
        await self._take_back(
            session, members, cause=cause, reason=error.message, pause=pause, blamed=start.member.row.node_id
        )

    async def _has_run(self, session: Session, members: Sequence[PlacedContainer]) -> bool:
        """True if a command that must not run twice was started in spite of the error; if not, none will be."""
        if session.kind != SessionKind.BATCH:
            return False
        of_row = {one.row.id: one for one in members}
        for engine in {_engine_of(one) for one in members}:
            listed = await in_time((await self._tools.engines.of(engine)).list())
            there = [one for one in listed if one.id in of_row and one.started_at]
            if len(members) == 1 or any(one.state is ObservedState.EXITED for one in there):
                return bool(there)
            for one in there:
                if await self._run(of_row[ContainerId(one.id)], barrier.CLOSE):
                    return True
        return False

    async def _failed(self, session: Session, cause: str) -> int:
        """Number of earlier failed starts with this cause. A drained or lost node does not count."""
        async with self._tools.database.transaction() as tx:
            return await queries.failed_starts(tx, session.id, cause)

    async def _end(self, session: Session, *, cause: str, reason: str, failed_run: bool = False) -> None:
        """failed_run: it is repeated if retries are left."""
        again = failed_run and session.retries_left
        async with self._tools.transaction() as tx:
            await transitions.move(
                tx,
                [session.id],
                SessionState.TERMINATING,
                sources=sorted(LAUNCHING),
                outcome=SessionState.PENDING if again else SessionState.ERROR,
                result=Result.FAILURE if failed_run else None,
                cause=cause,
                reason=reason,
                now=self._tools.clock.now(),
            )

    async def _take_back(
        self,
        session: Session,
        members: Sequence[PlacedContainer],
        *,
        cause: str,
        reason: str,
        pause: timedelta | None = None,
        blamed: NodeId | None = None,
    ) -> None:
        tools = self._tools
        await tools.confirm()
        await _side_by_side([self._remove(one) for one in members if one.node.engine])
        async with tools.transaction() as tx:
            now = tools.clock.now()
            not_before = now + pause if pause else None
            await removal.requeue(
                tx, session.id, cause=cause, reason=reason, now=now, not_before=not_before, blamed=blamed
            )

    async def _remove(self, member: PlacedContainer) -> None:
        engine = await self._tools.engines.of(_engine_of(member))
        await in_time(engine.remove(member.row.id, grace_s=0), REMOVAL_S)


def _may_have_run(session: Session, members: Sequence[PlacedContainer]) -> bool:
    """True if a command that must not run twice may have been started: not while it waits for machines."""
    left = [one.row for one in members if one.node.elastic is not None]
    waits = bool(left) and all(one.machine_due_at and not one.machine_at for one in left)
    return session.kind == SessionKind.BATCH and session.state != SessionState.SCHEDULED and not waits


def _engine_of(member: PlacedContainer) -> EngineId:
    assert member.node.engine, "an engine that holds sessions is not removed"
    return member.node.engine


async def _side_by_side(works: Iterable[Coroutine[None, None, T]]) -> list[T]:
    """The results of all, run concurrently. The first failure cancels the others; its error is raised after all have
    stopped.
    """
    tasks = [asyncio.create_task(work) for work in works]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)


async def _kept(session: SessionId, work: Work) -> None:
    """Run it; a later step retries after errors."""
    try:
        await work()
    except EngineError as error:
        log.warning("launch.not_cleaned_up", session=session, error=error.message)
        await asyncio.sleep(_ENGINE_PAUSE_S)
    except (Unavailable, LeadershipLost) as error:
        log.warning("launch.dropped", session=session, error=str(error))
    except Exception:
        log.exception("launch.failed", session=session)
