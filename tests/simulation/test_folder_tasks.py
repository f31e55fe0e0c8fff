"""The control plane may die, or stall, anywhere while it makes, copies, moves, hands over or deletes a folder.

What is on disk is real; the threads that work on it are not: they do their work at once, in a process that may be
killed before, after, and at each tick of it. In the end every task is over, every folder is in a state that lasts,
with all that was in it, and there is nothing on any disk that no folder knows of.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from folder_rows import add_host
from simulation.conftest import empty
from simulation.control_planes import ControlPlane, Fate
from simulation.inline_logs import LOGS
from simulation.installation_life import EVERY, Installation
from simulation.virtual_time import LoopClock, simulate
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.controllers.folder_tasks import FolderTasks
from carrel.controllers.housekeeping import Housekeeping
from carrel.controllers.loop import Tools
from carrel.core.ids import FolderId, StorageHostId
from carrel.db.database import Database
from carrel.db.encryption import SecretBox as Secrets
from carrel.db.leader import Leader
from carrel.engines.fake import FakeWorld
from carrel.folders import cloning, moving, service, tasks
from carrel.folders.hosts.storages import HostStorage
from carrel.folders.schemas import VFolderClone, VFolderCreate, VFolderHandOver, VFolderMove
from carrel.nodes.engines.connections import Engines
from carrel.permissions.decide import Actor
from carrel.storage.port import Advance, FolderLocation
from carrel.storage.posix import PosixBackend
from carrel.tables.folder_states import FolderState as S
from carrel.tables.folders import TaskKind, VFolder

FIRST, SECOND = "hostoneaaaaa", "hosttwoaaaaa"
CONTENT = {"a": b"one", "deep/er/b": b"two" * 1000, "deep/c": b""}
CALL_S = 0.1


@dataclass
class Disks:
    """The roots of two storage hosts, which outlive every control plane."""

    roots: dict[str, Path]

    def places(self) -> set[tuple[str, str, str]]:
        return {
            (host, place.scope, place.folder)
            for host, root in self.roots.items()
            for place in PosixBackend(root).places()
        }

    def files(self, host: str, scope: str, folder: str) -> Path:
        return PosixBackend(self.roots[host]).files(FolderLocation(scope, FolderId(folder)))


class Hands:
    """Does at once what threads do beside, in a process with a fate."""

    def __init__(self, fate: Fate) -> None:
        self._fate = fate

    async def call(self, work: Callable[..., Any], *given: Any, deadline_s: float | None = None) -> Any:
        name = getattr(work, "__qualname__", "work").rsplit(".", 1)[-1]
        await self._fate.gate(f"call {name}")
        if given and callable(given[-1]):
            given = (*given[:-1], self._ticking(given[-1]))
        self._fate.point(f"before {name}")
        answer = work(*given)
        self._fate.point(f"after {name}")
        return answer

    def _ticking(self, tick: Callable[[Advance], None]) -> Callable[[Advance], None]:
        def ticked(advance: Advance) -> None:
            self._fate.point("tick")
            tick(advance)

        return ticked


class TrashKeeping(Housekeeping):
    """The part of housekeeping that deletes folders."""

    async def step(self) -> None:
        await self._empty_trash()


class FolderPlane(ControlPlane):
    """A process that looks after folders and nothing else."""

    disks: Disks

    def __init__(self, database: Database, leader: Leader, engines: Engines, fate: Fate) -> None:
        super().__init__(database, leader, engines, fate)
        self.hands = Hands(fate)
        seal = Secrets(b"0" * 32)
        tools = Tools(database, engines, LoopClock(), leader, seal, self, LOGS)  # type: ignore[arg-type]
        self.folders = FolderTasks(tools)
        self.controllers = [TrashKeeping(tools), self.folders]

    async def of(self, host: StorageHostId) -> HostStorage:
        """As `Storages` has it."""
        return HostStorage(host, PosixBackend(self.disks.roots[host]), self.hands)  # type: ignore[arg-type]


class Life(Installation):
    """People who ask for things to be done with folders."""

    def __init__(self, disks: Disks, *given: Any) -> None:
        super().__init__(*given)
        self.disks = disks
        self.kind_of_plane = type("Plane", (FolderPlane,), {"disks": disks})

    async def make(self, name: str = "data", *, on: str = FIRST) -> FolderId:
        body = VFolderCreate(name=name, host=on)

        async def make(plane: ControlPlane) -> FolderId:
            assert isinstance(plane, FolderPlane)
            return await service.create(
                plane.database,
                plane,
                self.clock,
                self.actor,
                body,
                idempotency_key=f"make-{name}",  # type: ignore[arg-type]
            )

        return await self.act(make)

    async def filled(self) -> FolderId:
        folder = await self.make()
        await self.settle()
        for path, content in CONTENT.items():
            file = self.disks.files(FIRST, f"user-{self.actor.user_id}", folder) / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        return folder

    async def ask(self, state: S, use: Callable[[Any], Awaitable[object]], folder: FolderId) -> None:
        """Do something once: a request that got no answer is made again where the folder is still in this state."""

        async def ask(plane: ControlPlane) -> None:
            async with plane.database.transaction() as tx:
                if self.states().get(folder) == state:
                    await use(tx)

        self.requests += 1
        await self.act(ask)

    def states(self) -> dict[str, str]:
        return dict(self.look.execute("SELECT id, state FROM vfolders").fetchall())

    async def settle(self, *, queue: bool = False) -> None:
        """Go on until nothing is to be done any more."""
        for _ in range(60):
            await self.round(8.0)
            if not self.unsettled():
                return
        raise AssertionError(f"never comes to rest: {self.unsettled()}")

    def unsettled(self) -> list[Any]:
        return self.look.execute(
            "SELECT id, state FROM vfolders WHERE state NOT IN ('READY', 'TRASHED', 'FAILED')"
            " UNION ALL SELECT id, state FROM vfolder_tasks WHERE ended_at IS NULL"
        ).fetchall()

    def durable(self) -> str:
        row = self.look.execute(
            "SELECT (SELECT json_agg(v ORDER BY id) FROM (SELECT id, state, host_id, scope FROM vfolders) v)::text,"
            " (SELECT json_agg(t ORDER BY id) FROM (SELECT id, state, arguments, cancel FROM vfolder_tasks) t)::text"
        ).fetchone()
        disk = sorted(str(path) for root in self.disks.roots.values() for path in root.rglob("*"))
        return repr((row, disk, self.requests))

    def violations(self) -> list[str]:
        rows = self.look.execute("SELECT host_id, scope, id, state FROM vfolders").fetchall()
        known = {(host, scope, folder) for host, scope, folder, _ in rows}
        problems = [f"nobody knows {place}" for place in self.disks.places() - known]
        problems += [f"{place} is lost" for place in known - self.disks.places()]
        for host, scope, folder, _ in rows:
            files = self.disks.files(host, scope, folder)
            if left := os.listdir(files.parent / "stage"):
                problems.append(f"{folder} has {left} in its stage")
        for root in self.disks.roots.values():
            problems += [f"{path} was left" for path in root.glob("*/.*")]
        return problems


def content(files: Path) -> dict[str, bytes]:
    return {str(each.relative_to(files)): each.read_bytes() for each in files.rglob("*") if each.is_file()}


@dataclass(frozen=True)
class Tale:
    """live: what happens. ends: whether the folders are as they should be in the end."""

    live: Callable[[Life], Awaitable[FolderId]]
    ends: Callable[[Life, FolderId], object]


async def _make(life: Life) -> FolderId:
    return await life.make()


async def _clone(life: Life, owner: str | None = None) -> FolderId:
    folder = await life.filled()

    async def clone(plane: ControlPlane) -> None:
        async with plane.database.transaction() as tx:
            if len(life.states()) == 1:
                body = VFolderClone(name="copy", host=SECOND, owner=owner)
                await cloning.clone(tx, life.clock, life.actor, folder, body)

    life.requests += 1
    await life.act(clone)
    return folder


async def _clone_for_another(life: Life) -> FolderId:
    return await _clone(life, "heir@example.org")


async def _clone_and_cancel(life: Life) -> FolderId:
    folder = await _clone(life)

    async def cancel(plane: ControlPlane) -> None:
        async with plane.database.transaction() as tx:
            rows = life.look.execute("SELECT id FROM vfolder_tasks WHERE kind = 'clone'").fetchall()
            await tasks.cancel(tx, life.clock, life.actor, rows[0][0])

    life.requests += 1
    await life.act(cancel)
    return folder


async def _move(life: Life) -> FolderId:
    folder = await life.filled()
    await _move_to(life, folder, SECOND)
    return folder


async def _move_there_and_back(life: Life) -> FolderId:
    folder = await _move(life)
    await life.settle()
    await _move_to(life, folder, FIRST)
    return folder


async def _move_to(life: Life, folder: FolderId, host: str) -> None:
    body = VFolderMove(host=host)

    async def move(plane: ControlPlane) -> None:
        async with plane.database.transaction() as tx:
            is_on, state = life.look.execute("SELECT host_id, state FROM vfolders").fetchall()[0]
            if is_on != host and state == S.READY:
                await moving.move(tx, life.clock, life.actor, folder, body)

    life.requests += 1
    await life.act(move)


async def _hand_over(life: Life) -> FolderId:
    folder = await life.filled()
    heir = VFolderHandOver(user="heir@example.org")

    async def hand_over(plane: ControlPlane) -> None:
        async with plane.database.transaction() as tx:
            owner = life.look.execute("SELECT owner_id FROM vfolders").fetchall()[0][0]
            if owner == life.actor.user_id:
                await moving.hand_over(tx, life.clock, life.actor, folder, heir)

    life.requests += 1
    await life.act(hand_over)
    return folder


async def _remove(life: Life) -> FolderId:
    folder = await life.filled()
    await life.ask(S.READY, lambda tx: service.trash(tx, life.clock, life.actor, folder), folder)
    await life.ask(S.TRASHED, lambda tx: service.remove(tx, life.clock, life.actor, folder, "data"), folder)
    return folder


async def _expire(life: Life) -> FolderId:
    folder = await life.filled()
    await life.ask(S.READY, lambda tx: service.trash(tx, life.clock, life.actor, folder), folder)
    life.look.execute("UPDATE vfolders SET trashed_at = trashed_at - interval '40 days'")
    return folder


def _complete(life: Life, host: str, count: int = 1) -> bool:
    rows = life.look.execute("SELECT host_id, scope, id, state FROM vfolders").fetchall()
    assert len(rows) == count, rows
    assert all(row[3] == "READY" for row in rows), rows
    assert all(content(life.disks.files(*row[:3])) == CONTENT for row in rows), rows
    assert host in {row[0] for row in rows}
    return True


def _has_copy(life: Life, owner: str) -> bool:
    rows = life.look.execute("SELECT scope FROM vfolders WHERE owner_id = %s AND name = 'copy'", (owner,))
    return rows.fetchall() == [(f"user-{owner}",)] and _complete(life, SECOND, 2)


TALES = {
    "made": Tale(_make, lambda life, folder: life.states() == {folder: "READY"}),
    "cloned": Tale(_clone, lambda life, _: _complete(life, SECOND, 2)),
    "cloned for another": Tale(_clone_for_another, lambda life, _: _has_copy(life, "heiraaaaaaaa")),
    "cloned, or not": Tale(
        _clone_and_cancel,
        lambda life, _: _complete(life, FIRST, len(life.states())),
    ),
    "moved": Tale(_move, lambda life, _: _complete(life, SECOND)),
    "moved there and back": Tale(_move_there_and_back, lambda life, _: _complete(life, FIRST)),
    "handed over": Tale(_hand_over, lambda life, _: _complete(life, FIRST)),
    "removed": Tale(_remove, lambda life, _: life.states() == {}),
    "expired": Tale(_expire, lambda life, _: life.states() == {}),
}


class Theatre:
    """Plays a tale again and again, each time with another fate."""

    def __init__(self, url: str, look: Any, actor: Actor, tale: Tale, dirs: Callable[[], Path]) -> None:
        self._url, self._look, self._actor, self._tale, self._dirs = url, look, actor, tale, dirs

    @asynccontextmanager
    async def opened(self, fate: Fate) -> AsyncIterator[Life]:
        """An installation with two storage hosts and no folder."""
        empty(self._look)
        for table in ("vfolder_tasks", "vfolders", "storage_hosts"):
            self._look.execute(f"DELETE FROM {table}")
        disks = Disks({FIRST: self._dirs(), SECOND: self._dirs()})
        for host, root in disks.roots.items():
            PosixBackend(root).claim()
            add_host(self._look, host, root)
        life = Life(disks, self._url, self._look, FakeWorld(LoopClock()), self._actor, [fate])
        try:
            yield life
        finally:
            await life.close()

    async def play(self, fate: Fate, prepare: Callable[[Life], None] = lambda _: None) -> None:
        async with self.opened(fate) as life:
            prepare(life)
            folder = await self._tale.live(life)
            await life.settle()
            if fate.stall_at:
                await life.wake_sleepers()
                await life.settle()
            assert not life.violations()
            assert self._tale.ends(life, folder), life.states()

    async def strikes(self, when: str, *, kill_at: int | None = None, stall_at: int | None = None) -> None:
        """It strikes there, and what is left behind is whole.

        Threads take real time: a life that is told of less on the way may end before it gets there, and is lived again.
        """
        for _ in range(3):
            fate = Fate(kill_at=kill_at, stall_at=stall_at)
            try:
                await self.play(fate)
            except AssertionError as error:
                raise AssertionError(f"{when}: {error}") from error
            if fate.struck.is_set():
                return
        raise AssertionError(f"{when}: was never reached")

    async def counted(self, kind: str) -> dict[int, str]:
        """Points, or gates, that an undisturbed life passes, one of each situation.

        Every third of them, which ones differs from tale to tale; CARREL_EVERY_POINT=1: all.
        """
        states: dict[str, tuple[int, str]] = {}
        fate = Fate()

        def prepare(life: Life) -> None:
            def look(number: int, name: str) -> None:
                if name.startswith("transaction") and "folders:" not in name:
                    return  # somebody's request, which does later what it was to do
                states.setdefault(f"{life.durable()} {name if kind == 'gate' else ''}", (number, name))

            if kind == "gate":
                fate.look_at_gate = look
            else:
                fate.look_at_point = look

        await self.play(fate, prepare)
        turn = list(TALES.values()).index(self._tale)
        return dict(list(states.values())[turn % EVERY :: EVERY])


@pytest.fixture(params=TALES)
def theatre(
    request: pytest.FixtureRequest,
    postgres: str,
    look: psycopg.Connection[Any],
    actor: Actor,
    tmp_path_factory: pytest.TempPathFactory,
) -> Theatre:
    look.execute(
        "INSERT INTO users (id, domain_id, email, name, role, state)"
        " SELECT 'heiraaaaaaaa', domain_id, 'heir@example.org', 'heir', 'user', 'active' FROM users LIMIT 1"
    )
    return Theatre(postgres, look, actor, TALES[request.param], lambda: tmp_path_factory.mktemp("root"))


def test_a_kill_at_any_point_leaves_folders_whole(theatre: Theatre) -> None:
    async def main() -> None:
        points = await theatre.counted("point")
        for number, name in points.items():
            await theatre.strikes(f"killed at point {number}, {name}", kill_at=number)

    simulate(main())


def test_a_leader_that_wakes_up_late_spoils_nothing(theatre: Theatre) -> None:
    async def main() -> None:
        gates = await theatre.counted("gate")
        for number, name in gates.items():
            await theatre.strikes(f"asleep at gate {number}, {name}", stall_at=number)

    simulate(main())


class HangingHands(Hands):
    """Work that touches a hanging root never ends."""

    def __init__(self, hanging: Path) -> None:
        super().__init__(Fate())
        self._hanging = hanging

    async def call(self, work: Callable[..., Any], *given: Any, deadline_s: float | None = None) -> Any:
        paths = [each.root if isinstance(each, PosixBackend) else each for each in given]
        if any(isinstance(each, Path) and each.is_relative_to(self._hanging) for each in paths):
            await asyncio.Event().wait()
        return await super().call(work, *given, deadline_s=deadline_s)


@pytest.mark.parametrize("theatre", ["made"], indirect=True)
@pytest.mark.parametrize(("hangs", "answers"), [(FIRST, SECOND), (SECOND, FIRST)])
def test_a_host_that_hangs_holds_up_no_copy_within_another(
    theatre: Theatre, hangs: str, answers: str
) -> None:
    async def main() -> None:
        async with theatre.opened(Fate()) as life:
            folders = {host: await life.make(host, on=host) for host in (FIRST, SECOND)}
            await life.settle()
            file = life.disks.files(answers, f"user-{life.actor.user_id}", folders[answers]) / "a"
            file.write_bytes(b"one")

            async def copy(tx: AsyncSession, source: str, target: str, to: str) -> None:
                folder = await tx.get_one(VFolder, folders[source])
                into = {"folder": folders[target], "to": to, "name": None, "clash": "refuse"}
                await tasks.enqueue(
                    tx, life.clock, life.actor, TaskKind.COPY, folder, {"paths": ["a"], **into}
                )

            async def across(plane: ControlPlane) -> None:
                """More than are worked on at once, each way."""
                assert isinstance(plane, FolderPlane)
                plane.hands = HangingHands(life.disks.roots[hangs])
                async with plane.database.transaction() as tx:
                    for number in range(3):
                        await copy(tx, hangs, answers, f"from{number}")
                        await copy(tx, answers, hangs, f"to{number}")

            async def within(plane: ControlPlane) -> None:
                body = VFolderClone(name="clone", host=answers)
                async with plane.database.transaction() as tx:
                    await copy(tx, answers, answers, "within")
                    await cloning.clone(tx, life.clock, life.actor, folders[answers], body)

            await life.act(across)
            await life.round(8.0)
            await life.act(within)
            for _ in range(3):
                await life.round(8.0)
            assert (file.parent / "within" / "a").read_bytes() == b"one"
            ended = life.look.execute(
                "SELECT kind FROM vfolder_tasks WHERE ended_at IS NOT NULL ORDER BY kind"
            )
            assert [kind for (kind,) in ended.fetchall()] == ["clean", "clone", "copy"]

    simulate(main())
