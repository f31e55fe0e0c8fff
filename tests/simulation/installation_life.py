"""A whole installation in virtual time whose control plane can be struck down, or put to sleep, anywhere.

    people --- act() ---> ControlPlane 1   X killed at a chosen point; its tasks and connections are dropped
                          ControlPlane 2   a new database pool, a new leader's epoch, new controllers
                                |
                          FakeWorld        containers outlive every control plane

Where a control plane can be killed or stalled: `control_planes`.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import psycopg
from session_kit import SMALL, spec
from simulation import invariants
from simulation.control_planes import ControlPlane, Fate, name_of, owned_task
from simulation.virtual_time import LoopClock

from carrel.core.errors import Conflict
from carrel.core.ids import DEFAULT_GROUP, LOCAL_ENGINE, ContainerId, EngineId, ScheduleId, SessionId
from carrel.db.encryption import SecretBox as Secrets
from carrel.engines.fake import FakeEngine, FakeWorld
from carrel.engines.fake_world import FakeContainer
from carrel.engines.port import Observed
from carrel.nodes import administration
from carrel.nodes.groups import administration as group_administration
from carrel.nodes.groups.schemas import ElasticGroup, GroupUpdate
from carrel.nodes.schemas import DrainRequest
from carrel.permissions.decide import Actor
from carrel.sessions import repeating, service
from carrel.sessions.schedules import service as schedules
from carrel.sessions.schedules.schemas import ScheduleCreate
from carrel.sessions.schemas import SessionCreate
from carrel.sessions.spec import ArrayRequest, ClusterRole, DependencyRequest, SessionSpec
from carrel.tables.dependencies import DependencyCondition
from carrel.tables.nodes import Draining
from carrel.tables.session_states import LIFECYCLE, SessionKind, SessionState

T = TypeVar("T")

_ROUNDS = 60


EVERY = 1 if os.environ.get("CARREL_EVERY_POINT") == "1" else 3
"""Of so many points at which something may be caught, one is tried."""


class Installation:
    """Control planes in succession, the world they act on, and the people who ask for things.

    fates: one for each control plane in turn; those after the last live for ever.
    """

    kind_of_plane: type[ControlPlane] = ControlPlane

    def __init__(
        self, url: str, look: psycopg.Connection[Any], world: FakeWorld, actor: Actor, fates: list[Fate]
    ) -> None:
        asyncio.get_running_loop().set_task_factory(owned_task)
        self.url = url
        self.look = look
        self.world = world
        self.worlds = {LOCAL_ENGINE: world}
        self.actor = actor
        self.clock = LoopClock()
        self.down_s = 0.0
        self.requests = 0
        self._fates = fates
        self._asleep: list[ControlPlane] = []
        self._plane: ControlPlane | None = None

    def add_engine(self, name: str) -> FakeWorld:
        """A second engine, from the next control plane on; its node has the name that the first one's has, too."""
        world = self.worlds[EngineId(name)] = FakeWorld(self.clock)
        self.look.execute("INSERT INTO engines (id, name, kind) VALUES (%s, %s, 'fake')", (name, name))
        return world

    def set_group(self, **columns: object) -> None:
        """Set columns of the resource groups directly."""
        changes = ", ".join(f"{column} = %({column})s" for column in columns)
        self.look.execute(f"UPDATE resource_groups SET {changes}", columns)

    # What people do. A request that got no answer is made again, as a client does.

    async def create(
        self,
        image: str = "debian:12",
        cpu: int = 1000,
        more: Mapping[str, int] | None = None,
        *,
        containers: int = 1,
        groups: Sequence[str] = ("default",),
    ) -> SessionId:
        """more: slots besides CPU and memory. groups: those that it accepts."""
        self.requests += 1
        slots = {**SMALL, "cpu": cpu, **(more or {})}
        return await self.enqueue(
            spec(
                image=image,
                slots=slots,
                containers=containers,
                group=groups[0],
                alternative_groups=groups[1:],
            )
        )

    async def batch(
        self,
        *command: str,
        retries: int = 0,
        after: Sequence[SessionId] = (),
        after_array: SessionId | None = None,
        condition: str = "succeeded",
    ) -> SessionId:
        """A new batch session with this command. after: the sessions that must end like this first; after_array: or all
        of the array with this id.
        """
        self.requests += 1
        how = DependencyCondition(condition)
        needed = [DependencyRequest(session=one, condition=how) for one in after]
        if after_array:
            needed.append(DependencyRequest(session=after_array, condition=how, array=True))
        return await self.enqueue(spec(kind="batch", command=command, retries=retries, after=tuple(needed)))

    async def cluster(self, *roles: ClusterRole, **more: Any) -> SessionId:
        """A new session whose containers differ."""
        self.requests += 1
        return await self.enqueue(spec(roles=roles, **more))

    async def array(
        self, *command: str, count: int, max_parallel: int, retries: int = 0, after: SessionId | None = None
    ) -> list[SessionId]:
        """A new array of batch sessions with this command. after: the id of an array that must succeed first."""
        self.requests += 1
        array = ArrayRequest(first=1, last=count, max_parallel=max_parallel)
        needed = (DependencyRequest(session=after, array=True),) if after else ()
        first = await self.enqueue(
            spec(kind="batch", command=command, array=array, retries=retries, after=needed)
        )
        rows = self.look.execute(
            "SELECT id FROM sessions WHERE array_id = %s ORDER BY array_index", [first]
        ).fetchall()
        return [SessionId(row[0]) for row in rows]

    async def schedule(self, *command: str, cron: str) -> ScheduleId:
        """A new schedule of batch sessions with this command."""
        self.requests += 1
        request = ScheduleCreate(
            name=f"schedule-{self.requests}",
            cron=cron,
            session=SessionCreate(image="debian:12", slots=SMALL, kind=SessionKind.BATCH, command=command),
        )

        async def create(plane: ControlPlane) -> ScheduleId:
            made = self.look.execute("SELECT id FROM schedules WHERE name = %s", [request.name]).fetchone()
            if made:  # by a control plane that did not live to answer
                return ScheduleId(made[0])
            async with plane.database.transaction() as tx:
                seal = Secrets(b"0" * 32)
                return (await schedules.create(tx, self.clock, self.actor, seal, request)).id

        return await self.act(create)

    async def pause(self, schedule: ScheduleId) -> None:
        async def pause(plane: ControlPlane) -> None:
            async with plane.database.transaction() as tx:
                seal = Secrets(b"0" * 32)
                await schedules.set_active(tx, self.clock, self.actor, seal, schedule, active=False)

        await self.act(pause)

    def sessions_of(self, schedule: ScheduleId) -> list[SessionId]:
        """The sessions of its runs, the first one first."""
        rows = self.look.execute(
            "SELECT session_id FROM schedule_runs WHERE schedule_id = %s ORDER BY planned_at", [schedule]
        ).fetchall()
        return [SessionId(row[0]) for row in rows]

    async def running(self) -> tuple[SessionId, FakeContainer]:
        """A new session that runs, and its container in the engine."""
        session = await self.create()
        await self.settle()
        return session, self.world.containers[self.main_of(session)]

    async def enqueue(self, spec: SessionSpec) -> SessionId:
        """Ask for a session until it is heard, once."""
        key = f"key-{self.requests}"
        return await self.act(
            lambda p: service.enqueue(p.database, self.clock, self.actor, spec, idempotency_key=key)
        )

    async def remove(self, session: SessionId, *, force: bool = False, array: bool = False) -> None:
        async def remove(plane: ControlPlane) -> None:
            async with plane.database.transaction() as tx:
                await service.remove(tx, self.clock, self.actor, session, force=force, array=array)

        self.requests += 1
        await self.act(remove)

    async def restart(self, session: SessionId) -> None:
        """Ask for a restart in place; a repeated request finds it under way."""

        async def restart(plane: ControlPlane) -> None:
            async with plane.database.transaction() as tx:
                with suppress(Conflict):
                    await repeating.restart(tx, self.clock, self.actor, session)

        self.requests += 1
        await self.act(restart)

    async def drain(self, node: str, how: Draining) -> None:
        async def drain(plane: ControlPlane) -> None:
            async with plane.database.transaction() as tx:
                await administration.drain(tx, self.actor, node, DrainRequest(how=how))

        self.requests += 1
        await self.act(drain)

    async def forget(self, node: str) -> None:
        async def forget(plane: ControlPlane) -> None:
            async with plane.database.transaction() as tx:
                await administration.forget(tx, self.clock, self.actor, node, confirm=node)

        self.requests += 1
        await self.act(forget)

    async def make_elastic(self, limit: Mapping[str, int], *, wait_s: int = 900) -> None:
        """Leave the nodes with the label pool=burst to the engine."""
        settings = ElasticGroup(engine=LOCAL_ENGINE, limit=dict(limit), wait_s=wait_s)
        await self.change_group(GroupUpdate(node_selector="pool=burst", elastic=settings))

    async def change_group(self, changes: GroupUpdate) -> None:
        """Change the default group."""

        async def change(plane: ControlPlane) -> None:
            async with plane.database.transaction() as tx:
                await group_administration.update_group(tx, self.clock, self.actor, DEFAULT_GROUP, changes)

        self.requests += 1
        await self.act(change)

    # The passing of time

    async def round(self, pause_s: float = 1.0) -> None:
        """Every controller steps once, then time passes while what they began goes on."""

        async def round_(plane: ControlPlane) -> None:
            await plane.round()
            await asyncio.sleep(pause_s)

        await self.act(round_)

    async def rounds(self, count: int, pause_s: float = 1.0) -> None:
        for _ in range(count):
            await self.round(pause_s)

    async def outage(self, rounds: int, pause_s: float) -> None:
        """The engine does not answer for so many rounds."""
        self.world.go_away()
        await self.rounds(rounds, pause_s)
        self.world.come_back()

    async def until(self, session: SessionId, *states: SessionState) -> None:
        """Go on until the session is seen in one of the states, or has ended."""
        for _ in range(_ROUNDS):
            if self.state(session) in {*states, *LIFECYCLE.final}:
                return
            await self.round()
        raise AssertionError(f"never {states}: {self.states()}")

    async def until_restarted(self, session: SessionId) -> None:
        """Go on until its restart was requested and it runs again, or has ended."""
        query = "SELECT count(*) FROM session_history WHERE session_id = %s AND cause = 'restart'"
        for _ in range(_ROUNDS):
            requested = self.look.execute(query, (session,)).fetchone() != (0,)
            if requested and self.state(session) in {SessionState.RUNNING, *LIFECYCLE.final}:
                return
            await self.round()
        raise AssertionError(f"never restarted: {self.standing()}")

    async def until_gone(self, session: SessionId) -> None:
        """Go on until none of its containers may remain."""
        query = "SELECT count(*) FROM containers WHERE session_id = %s AND state <> 'GONE'"
        for _ in range(_ROUNDS):
            if self.look.execute(query, (session,)).fetchone() == (0,):
                return
            await self.round()
        raise AssertionError(f"its containers stay: {self.standing()}")

    async def settle(self, *, queue: bool = False) -> None:
        """Go on until nothing changes any more. queue: sessions that do not fit may still wait."""
        unsettled = LIFECYCLE.live - {SessionState.RUNNING} - ({SessionState.PENDING} if queue else set())
        # On a busy machine an announcement may come later than a round.
        pause_s, before, same, enough = 1.0, None, 0, 3 if queue else 1
        for _ in range(_ROUNDS):
            await self.round(pause_s)
            states = self.states()
            same = same + 1 if states == before else 0
            if same >= enough and not any(row[1] in unsettled for row in states[0]):
                return
            before = states
            pause_s = min(pause_s * 1.3, 600)
        raise AssertionError(f"never comes to rest: {self.states()}")

    async def wake_sleepers(self) -> None:
        """Stalled control planes go on where they stopped, unaware that somebody else leads now."""
        for sleeper in self._asleep:
            sleeper.fate.awake.set()
            if sleeper.tasks:
                await asyncio.wait(list(sleeper.tasks), timeout=600)
            await self._end(sleeper)
        self._asleep.clear()

    async def close(self) -> None:
        for process in [*self._asleep, *([self._plane] if self._plane else [])]:
            await self._end(process)

    async def act(self, ask: Callable[[ControlPlane], Awaitable[T]]) -> T:
        """Have the control plane do something, and its successor if it does not live to answer."""
        while True:
            plane = self._plane = self._plane or await self.kind_of_plane.start(
                self.url, self.worlds, self._fates.pop(0) if self._fates else Fate()
            )
            answer = plane.begin(_answer(ask, plane))
            struck = asyncio.create_task(plane.fate.struck.wait())
            await asyncio.wait({answer, struck}, return_when=asyncio.FIRST_COMPLETED)
            struck.cancel()
            if plane.fate.struck.is_set():
                answered = answer.done() and answer.exception() is None
                await self._replace(plane)
                if not answered:
                    continue
            return answer.result()

    async def _replace(self, plane: ControlPlane) -> None:
        self._plane = None
        if plane.fate.kill_at is not None:
            await self._end(plane)
        else:
            # The connection that holds its lock is lost, which it does not know, and so is any transaction.
            await plane.leader.resign()
            self.look.execute(f"{_HANG_UP} AND state = 'idle in transaction'", (name_of(plane.leader),))
            self._asleep.append(plane)
        await asyncio.sleep(self.down_s)

    async def _end(self, plane: ControlPlane) -> None:
        """As when a process ends: the kernel closes its connections, whatever its tasks were doing."""
        await plane.throw_away()
        self.look.execute(_HANG_UP, (name_of(plane.leader),))

    # What can be seen

    def state(self, session: SessionId) -> SessionState:
        row = self.look.execute("SELECT state FROM sessions WHERE id = %s", (session,)).fetchone()
        assert row is not None
        return SessionState(row[0])

    def result(self, session: SessionId) -> str | None:
        row = self.look.execute("SELECT result FROM sessions WHERE id = %s", (session,)).fetchone()
        assert row is not None
        return None if row[0] is None else str(row[0])

    def node_of(self, session: SessionId) -> str | None:
        row = self.look.execute(
            "SELECT n.name FROM containers c LEFT JOIN nodes n ON n.id = c.node_id"
            " WHERE c.session_id = %s AND c.index = 0",
            (session,),
        ).fetchone()
        assert row is not None
        return None if row[0] is None else str(row[0])

    def containers_of(self, session: SessionId) -> list[ContainerId]:
        """The main one first."""
        rows = self.look.execute("SELECT id FROM containers WHERE session_id = %s ORDER BY index", (session,))
        return [ContainerId(row[0]) for row in rows]

    def main_of(self, session: SessionId) -> ContainerId:
        return self.containers_of(session)[0]

    def causes(self, session: SessionId) -> list[str]:
        """What its history says, in order."""
        rows = self.look.execute(
            "SELECT cause FROM session_history WHERE session_id = %s ORDER BY id", (session,)
        )
        return [str(cause) for (cause,) in rows]

    def seen(self) -> list[Observed]:
        engines = [FakeEngine(world) for world in self.worlds.values()]
        return [engine._observed(container) for engine in engines for container in engine._reachable()]

    def violations(self) -> list[str]:
        return invariants.at_rest(self.look, self.seen(), self.clock.now())

    def states(self) -> tuple[list[Any], list[Any]]:
        """Sessions and containers, to compare one moment with another."""
        rows = self.look.execute(
            "SELECT id, state, outcome, attempts, restarts, reason, warnings FROM sessions ORDER BY id"
        ).fetchall()
        return rows, sorted((observed.id, observed.state) for observed in self.seen())

    def durable(self) -> str:
        """All that a crash now would leave behind, and how much people have asked for."""
        row = self.look.execute(_DURABLE).fetchone()
        assert row is not None
        containers = [(o.id, o.state, o.out_of_memory) for o in self.seen()]
        return repr((row, containers, sorted(self.world.local_images), self.requests))


_HANG_UP = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = %s"

_DURABLE = """SELECT
    (SELECT json_agg(s) FROM (SELECT id, state, outcome, reason, progress, warnings, attempts,
        restarts FROM sessions ORDER BY id) s)::text,
    (SELECT json_agg(c) FROM (SELECT id, state, node_id FROM containers ORDER BY id) c)::text,
    (SELECT json_agg(a) FROM (SELECT container_id, slot, released_at IS NULL FROM allocations ORDER BY id) a)::text,
    (SELECT json_agg(n) FROM (SELECT name, state FROM nodes ORDER BY name) n)::text,
    (SELECT count(*) FROM container_logs)"""


async def _answer(ask: Callable[[ControlPlane], Awaitable[T]], plane: ControlPlane) -> T:
    return await ask(plane)
