"""Start scheduled sessions, and restart those interrupted by a crash or an engine restart."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

import structlog
from sqlalchemy import text

from carrel.accounts.dotfiles import service as dotfiles
from carrel.apps.layer_apps import offered
from carrel.controllers import mount_sources
from carrel.controllers.active_tasks import ActiveTasks, Work, side_by_side
from carrel.controllers.container_specs import PlacedContainer, container_spec, runs_once
from carrel.controllers.engine_concurrency import EngineConcurrency
from carrel.controllers.failed_starts import ENGINE_PAUSE_S, FailedStart, FailedStarts, may_have_run
from carrel.controllers.loop import ENGINE_TOPIC, Tools, end
from carrel.core.clock import Clock
from carrel.core.errors import Unavailable
from carrel.core.ids import ContainerId, EngineId, NodeId, SessionId, StorageHostId
from carrel.db.encryption import SecretUnreadable
from carrel.db.leader import LeadershipLost
from carrel.engines import barrier
from carrel.engines.optional import ImageStore
from carrel.engines.port import (
    ContainerGone,
    ContainerSpec,
    Engine,
    EngineError,
    EngineUnavailable,
    MachineAwaited,
    Mount,
    Progress,
)
from carrel.engines.references import LOCAL, registry_of
from carrel.folders.hosts import queries as hosts
from carrel.images.node_images import service as node_images
from carrel.images.registries import pulls
from carrel.nodes import ledger
from carrel.nodes import service as nodes
from carrel.nodes.engines import app_layers
from carrel.nodes.engines.connections import in_time
from carrel.nodes.groups import service as groups
from carrel.nodes.service import Address
from carrel.sessions import announcements, containers, mounting, queries, updates
from carrel.sessions.containers import ContainerChange
from carrel.sessions.mounting import MountedFolder
from carrel.sessions.transitions import NO_MOUNT
from carrel.tables.nodes import TOPIC as NODE_TOPIC
from carrel.tables.session_states import ENDED, LAUNCHING, ContainerState, SessionState
from carrel.tables.sessions import Session

log = structlog.get_logger()

_TICK_S, _BUSY_TICK_S = 20.0, 5.0
_SHOW_EVERY_S = 0.5
_NOWHERE = Address(None, "")
_LAUNCHED, _SENT_BACK = "launched", "sent back"
_LOOK_AT_ENGINE = text("SELECT pg_notify('carrel', :topic)")


class _Reports:
    """The progress of a start, with the moment at which its image was present."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._queue: asyncio.Queue[Progress] = asyncio.Queue()
        self.image_at: datetime | None = None
        self.pulls = self.noted = False

    def put(self, progress: Progress) -> None:
        self.pulls = self.pulls or progress.phase == "pull"
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
        self._failed_starts = FailedStarts(tools)

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
            runtimes = await groups.runtimes(tx)
            layers = await app_layers.ready(tx)
        for session in sessions:
            key = session.id
            members = [
                PlacedContainer(
                    one,
                    place := places.get(one.node_id or NodeId(""), _NOWHERE),
                    devices.get(one.id, {}),
                    homes.get(session.owner_id, ()),
                    runtimes.get(session.group_id, ""),
                    layers.get(place.engine or EngineId(""), ""),
                )
                for one in own.get(key, ())
            ]
            # A command that may have started must not start on another node as well, so its start continues.
            closed = lost if may_have_run(session, members) else lost | draining
            displaced = next((one for one in members if one.row.node_id in closed), None)
            if displaced and not session.started_at:
                if self._active.about(key) != _SENT_BACK:
                    await self.abandon(key)
                    work = partial(self._failed_starts.send_back, session, members, displaced)
                    self._begin_task(key, work, _SENT_BACK)
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
        mounted = await self._there(session, held, locations)
        # Hung storage delays only sessions that mount from it.
        folders = await self._mounts(session, members, mounted, locations)
        if folders is None:
            return
        if held:
            async with self._tools.transaction() as tx:
                await containers.mounted(tx, session.id, self._tools.clock.now())
        try:
            starting = [one for one in members if one.row.state not in (ContainerState.RUNNING, *ENDED)]
            ensured = await side_by_side([self._start(session, one, folders) for one in starting])
            started = [one for one in ensured if isinstance(one, ContainerChange)]
            if waiting := [one for one in ensured if isinstance(one, FailedStart)]:
                await self._failed_starts.wait_for_machine(session, members, waiting)
                return
            if len(members) > 1:
                # Not one by one: nobody's command begins before all are there.
                await self._tools.confirm()
                await side_by_side([self._open(session, one) for one in starting])
            await self._publish(session, started)
        except FailedStart as failed:
            error = failed.error
            if isinstance(error, EngineUnavailable) or (error.retriable and session.started_at):
                await self._failed_starts.try_later(session, error.message)
            else:
                await self._failed_starts.give_up(session, members, failed)

    async def _there(
        self, session: Session, held: Sequence[MountedFolder], locations: Mapping[StorageHostId, str | None]
    ) -> Sequence[MountedFolder]:
        """Without automatic mounts of storage that the engine does not have."""
        nowhere = [each for each in held if each.automatic and locations.get(each.host, "") is None]
        if not nowhere:
            return held
        async with self._tools.transaction() as tx:
            await mounting.leave_out(tx, session.id, nowhere, self._tools.clock.now())
        return [each for each in held if each not in nowhere]

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
            await self._failed_starts.wait_for_storage(session, members, error.message)
        except mount_sources.Missing as error:
            async with self._tools.database.transaction() as tx:
                away = await mounting.is_away(tx, error.host)
            if away:
                await self._failed_starts.wait_for_storage(session, members, str(error))
            else:
                await self._failed_starts.miss_folder(session, members, str(error))
        except mount_sources.Unmountable as error:
            await self._failed_starts.end(session, cause=NO_MOUNT, reason=str(error))
        return None

    async def _begin(self, session: Session, members: Sequence[PlacedContainer]) -> bool:
        """False if it should no longer be started."""
        async with self._tools.transaction() as tx:
            if session.state != SessionState.SCHEDULED:
                return await queries.lock(tx, session.id, *LAUNCHING)
            # Those of its first container, where apps run.
            await updates.offer_apps(tx, session.id, offered(session.apps, layer=bool(members[0].layer)))
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
        engine_id = member.engine
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
        try:
            spec = await self._from_registries(session, spec)
        except SecretUnreadable as error:
            raise FailedStart(member, EngineError(error.message, retriable=True)) from error
        progress = _Reports(tools.clock)
        writing = asyncio.Lock()
        # Whether the node had what is always pulled is not known.
        called = member.row.image if isinstance(engine, ImageStore) and not spec.pull_always else ""
        pulled = partial(self._note_pull, member, spec.image, called, progress)
        reporter = asyncio.create_task(self._report(session.id, member.row.id, progress, writing, pulled))
        try:
            observed = await engine.ensure(spec, progress.put, tools.confirm if spec.once else None)
        except EngineError as error:
            raise FailedStart(member, error) from error
        finally:
            await end(reporter, writing)
        await pulled()
        return ContainerChange(
            member.row.id,
            address=observed.address,
            image_at=progress.image_at,
            launched_at=tools.clock.now(),
            image_digest=observed.image_digest or None,
            image_id=observed.image_id or None,
        )

    async def _from_registries(self, session: Session, spec: ContainerSpec) -> ContainerSpec:
        """With where its image and its app layer are pulled from. Raises: SecretUnreadable."""
        seal = self._tools.seal
        async with self._tools.database.transaction() as tx:
            if registry_of(spec.image) != LOCAL:
                project, domain = session.project_id, session.domain_id
                of = await pulls.source(tx, seal, spec.image, project=project, domain=domain)
                spec = replace(spec, image=of.reference, pull=of.credentials, pull_always=of.always)
            if spec.layer and registry_of(spec.layer) != LOCAL:
                of = await pulls.source(tx, seal, spec.layer, project=None)
                spec = replace(spec, layer=of.reference, layer_pull=of.credentials)
        return spec

    async def _open(self, session: Session, member: PlacedContainer) -> None:
        """Open the start barrier of a container. Raises: FailedStart."""
        try:
            engine = await self._tools.engines.of(member.engine)
            await in_time(engine.send(member.row.id, barrier.OPEN))
        except ContainerGone as gone:
            # A command that runs once may have ended already; `Observe` finds its result.
            if not runs_once(session, member.row):
                error = EngineError(f"{member.row.name} stopped while the others started.", retriable=True)
                raise FailedStart(member, error) from gone
        except EngineError as error:
            raise FailedStart(member, error) from error

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

    async def _note_pull(
        self, member: PlacedContainer, reference: str, called: str, reports: _Reports
    ) -> None:
        """Note a pull of an image that the node did not have. called: by sessions; "": of no interest. Twice: no-op."""
        node = member.row.node_id
        if reports.pulls and called and node and not reports.noted:
            async with self._tools.transaction() as tx:
                await node_images.note_pull(tx, node, reference, self._tools.clock.now(), name=called)
            reports.noted = True

    async def _report(
        self,
        session: SessionId,
        container: ContainerId,
        reports: _Reports,
        writing: asyncio.Lock,
        pulled: Callable[[], Awaitable[None]],
    ) -> None:
        """Store progress as it arrives, at most twice a second, without blocking the engine."""
        started = False
        while True:
            progress = await reports.next()
            await pulled()
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


async def _kept(session: SessionId, work: Work) -> None:
    """Run it; a later step retries after errors."""
    try:
        await work()
    except EngineError as error:
        log.warning("launch.not_cleaned_up", session=session, error=error.message)
        await asyncio.sleep(ENGINE_PAUSE_S)
    except (Unavailable, LeadershipLost) as error:
        log.warning("launch.dropped", session=session, error=str(error))
    except Exception:
        log.exception("launch.failed", session=session)
