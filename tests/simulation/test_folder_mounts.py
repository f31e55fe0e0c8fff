"""The control plane may die anywhere in the life of a session with a folder, and its storage may go away meanwhile.

The folder's directory is real; what threads do for it is done at once. A live session holds its folder and has it in
its container; one that has ended holds nothing.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from folder_rows import add_folder, add_host
from session_kit import spec
from simulation.conftest import empty
from simulation.control_planes import ControlPlane, Fate
from simulation.inline_logs import LOGS
from simulation.installation_life import EVERY, Installation
from simulation.virtual_time import LoopClock, simulate
from structlog.testing import capture_logs

from carrel.controllers import runtime
from carrel.controllers.failed_starts import MAX_ATTEMPTS
from carrel.controllers.launch import Launch
from carrel.controllers.loop import Tools
from carrel.controllers.observe import Observe
from carrel.controllers.reap import Reap
from carrel.controllers.schedule import Schedule
from carrel.core.ids import FolderId, SessionId, StorageHostId
from carrel.db.database import Database
from carrel.db.encryption import SecretBox as Secrets
from carrel.db.leader import Leader
from carrel.engines.fake import FakeWorld
from carrel.engines.port import Mount
from carrel.folders.hosts.storages import HostStorage
from carrel.nodes.engines.connections import Engines
from carrel.permissions.decide import Actor
from carrel.sessions.spec import MountRequest
from carrel.storage.port import FolderLocation, StorageUnavailable
from carrel.storage.posix import PosixBackend
from carrel.tables.session_states import SessionState as S

HOST, FOLDER = StorageHostId("hostoneaaaaa"), FolderId("folderaaaaaa")
MOUNTS = (
    MountRequest(folder=FOLDER),
    MountRequest(folder=FOLDER, path="/srv/part", subpath="part", read_only=True),
)


@dataclass
class Disk:
    """A storage host that outlives every control plane."""

    root: Path
    away: bool = False


class Hands:
    """Does at once what threads do beside."""

    def __init__(self, disk: Disk, fate: Fate) -> None:
        self._disk = disk
        self._fate = fate

    async def call(self, work: Callable[..., Any], *given: Any, deadline_s: float | None = None) -> Any:
        await self._fate.gate("storage")
        self._fate.point("before storage")
        if self._disk.away:
            raise StorageUnavailable("The storage host one does not respond.")
        return work(*given)


class MountPlane(ControlPlane):
    disk: Disk

    def __init__(self, database: Database, leader: Leader, engines: Engines, fate: Fate) -> None:
        super().__init__(database, leader, engines, fate)
        self._hands = Hands(self.disk, fate)
        seal = Secrets(b"0" * 32)
        tools = Tools(database, engines, LoopClock(), leader, seal, self, LOGS)  # type: ignore[arg-type]
        kept = Observe | Schedule | Launch | Reap
        self.controllers = [one for one in runtime.controllers(tools) if isinstance(one, kept)]

    async def of(self, host: StorageHostId) -> HostStorage:
        """As `Storages` has it."""
        assert host == HOST
        return HostStorage("one", PosixBackend(self.disk.root), self._hands)  # type: ignore[arg-type]


class Life(Installation):
    def __init__(self, disk: Disk, *given: Any) -> None:
        super().__init__(*given)
        self.disk = disk
        self.kind_of_plane = type("Plane", (MountPlane,), {"disk": disk})

    async def start(self) -> SessionId:
        self.requests += 1
        return await self.enqueue(spec(mounts=MOUNTS))

    def held(self) -> int:
        row = self.look.execute("SELECT count(*) FROM vfolder_mounts WHERE released_at IS NULL").fetchone()
        assert row is not None
        return int(row[0])

    def reason(self, session: SessionId) -> str:
        row = self.look.execute("SELECT reason FROM sessions WHERE id = %s", (session,)).fetchone()
        assert row is not None
        return str(row[0])


@pytest.fixture
def disk(tmp_path: Path, look: psycopg.Connection[Any], actor: Actor) -> Disk:
    """A host with one folder of the actor's."""
    made = Disk(tmp_path / "root")
    back_end, place = PosixBackend(made.root), FolderLocation(f"user-{actor.user_id}", FOLDER)
    back_end.probe()
    back_end.claim()
    back_end.create(place)
    (back_end.files(place) / "part").mkdir()
    add_host(look, HOST, made.root, name="one")
    owner = {"owner": actor.user_id, "domain": actor.domain_id}
    add_folder(look, FOLDER, HOST, scope=place.scope, name="data", **owner)
    return made


def expected(disk: Disk, actor: Actor) -> tuple[Mount, ...]:
    source = str(PosixBackend(disk.root).files(FolderLocation(f"user-{actor.user_id}", FOLDER)))
    return (Mount(source, "/home/work/data"), Mount(source, "/srv/part", "part", read_only=True))


async def live(life: Life, disk: Disk, actor: Actor) -> None:
    """Its storage is away when it is to start, and again when it is to be started again; then it is ended."""
    disk.away = True
    session = await life.start()
    await life.round(3)
    assert life.held() == 2
    disk.away = False
    await life.until(session, S.RUNNING)
    assert life.world.containers[life.main_of(session)].spec.mounts == expected(disk, actor)
    disk.away = True
    life.world.restart()
    await life.round(3)
    assert life.state(session) in (S.RUNNING, S.STARTING)
    assert life.held() == 2
    disk.away = False
    await life.until(session, S.RUNNING)
    assert life.world.containers[life.main_of(session)].spec.mounts == expected(disk, actor)
    await life.remove(session)
    await life.settle()
    assert life.state(session) in (S.TERMINATED, S.CANCELLED)
    assert life.held() == 0
    assert not life.violations()


def test_a_kill_at_any_point_loses_no_folder_and_keeps_none(
    postgres: str, look: psycopg.Connection[Any], actor: Actor, disk: Disk
) -> None:
    async def play(fate: Fate) -> None:
        empty(look)
        life = Life(disk, postgres, look, FakeWorld(LoopClock()), actor, [fate])
        remember = look_at.setdefault
        fate.look_at_point = lambda number, name: (
            None if fate.kill_at else remember(life.durable(), (number, name))
        )  # type: ignore[func-returns-value]
        try:
            await live(life, disk, actor)
        finally:
            await life.close()

    look_at: dict[str, tuple[int, str]] = {}

    async def main() -> None:
        await play(Fate())
        assert len(look_at) > 10
        for number, name in list(look_at.values())[::EVERY]:
            fate = Fate(kill_at=number)
            try:
                await play(fate)
            except AssertionError as error:
                raise AssertionError(f"killed at point {number}, {name}: {error}") from error
            assert fate.struck.is_set(), f"point {number}, {name}, was never reached"

    simulate(main())


Tell = Callable[[Life], Awaitable[None]]


@pytest.fixture
def tell(postgres: str, look: psycopg.Connection[Any], actor: Actor, disk: Disk) -> Callable[[Tell], None]:
    """Has one life lived, with nobody killed."""

    def tell(story: Tell) -> None:
        async def main() -> None:
            empty(look)
            life = Life(disk, postgres, look, FakeWorld(LoopClock()), actor, [])
            try:
                await story(life)
            finally:
                await life.close()

        simulate(main())

    return tell


def directory(disk: Disk, actor: Actor) -> Path:
    return PosixBackend(disk.root).files(FolderLocation(f"user-{actor.user_id}", FOLDER))


def test_a_folder_that_is_gone_from_a_host_that_answers_ends_a_start_after_a_few_tries(
    tell, disk, actor
) -> None:
    directory(disk, actor).rename(disk.root / "elsewhere")

    async def story(life: Life) -> None:
        session = await life.start()
        for _ in range(20):
            await life.round(30)
        assert life.state(session) == S.ERROR
        assert life.reason(session).startswith("The folder data on the storage host one cannot be reached.")
        assert life.causes(session).count("mount_unusable") == MAX_ATTEMPTS
        assert life.held() == 0
        assert not life.violations()

    tell(story)


def test_a_folder_that_comes_back_in_time_is_mounted(tell, disk, actor) -> None:
    """The storage was unmounted, which its next probe would have seen."""
    away = directory(disk, actor).rename(disk.root / "elsewhere")

    async def story(life: Life) -> None:
        session = await life.start()
        await life.round(30)
        await life.round(30)
        assert life.state(session) != S.ERROR
        away.rename(directory(disk, actor))
        await life.settle()
        assert life.state(session) == S.RUNNING

    tell(story)


@pytest.mark.parametrize(("seen", "then"), [("ok", S.ERROR), ("unavailable", S.STARTING)])
def test_a_session_that_was_running_waits_for_its_folder_while_its_host_is_known_to_be_away(
    tell, disk, actor, look, seen, then
) -> None:
    async def story(life: Life) -> None:
        session = await life.start()
        await life.until(session, S.RUNNING)
        directory(disk, actor).rename(disk.root / "elsewhere")
        look.execute("UPDATE storage_hosts SET state = %s", (seen,))
        life.world.restart()
        for _ in range(20):
            await life.round(60)
        assert life.state(session) == then
        assert "The folder data on the storage host one cannot be reached." in life.reason(session)

    tell(story)


def test_no_node_is_avoided_because_storage_was_away(tell, disk, actor, look) -> None:
    disk.away = True

    async def story(life: Life) -> None:
        session = await life.start()
        for _ in range(5):
            await life.round(30)
        assert "storage_unavailable" in life.causes(session)
        disk.away = False
        directory(disk, actor).rename(disk.root / "elsewhere")
        await life.round(60)
        assert "mount_unusable" in life.causes(session)
        assert look.execute("SELECT avoided_nodes FROM sessions").fetchall() == [([],)]

    tell(story)


def test_an_engine_that_is_away_with_the_storage_is_no_error(tell, disk) -> None:
    disk.away = True

    async def story(life: Life) -> None:
        session = await life.start()
        with capture_logs() as logged:
            while life.state(session) != S.PREPARING:
                await life.round(0.05)
            life.world.go_away()
            for _ in range(5):
                await life.round(30)
        assert [entry for entry in logged if entry["log_level"] == "error"] == []
        life.world.come_back()
        disk.away = False
        await life.until(session, S.RUNNING)
        assert life.state(session) == S.RUNNING

    tell(story)


def test_a_session_that_was_running_outlives_a_long_absence_of_its_storage(
    postgres: str, look: psycopg.Connection[Any], actor: Actor, disk: Disk
) -> None:
    async def main() -> None:
        empty(look)
        life = Life(disk, postgres, look, FakeWorld(LoopClock()), actor, [])
        try:
            session = await life.start()
            await life.until(session, S.RUNNING)
            container = life.world.containers[life.main_of(session)]
            disk.away = True
            life.world.restart()
            for _ in range(30):
                await life.round(60)
            assert life.state(session) == S.STARTING
            assert "storage host one" in life.reason(session)
            disk.away = False
            await life.settle()
            assert life.state(session) == S.RUNNING
            assert life.world.containers[life.main_of(session)] is container
        finally:
            await life.close()

    simulate(main())
