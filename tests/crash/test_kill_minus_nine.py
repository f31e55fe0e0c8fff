"""`kill -9` of the control plane, and a restart of the engine, in the middle of a burst of work."""

import asyncio
import random
import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path

import aiodocker
import psycopg
import pytest
from crash.control_plane import Client, ControlPlaneProcess
from own_dockerd import OwnDockerd
from people import People, eventually
from simulation import invariants
from tiny_image import ensure_tiny_image

from carrel.core.clock import SystemClock
from carrel.db.database import Database
from carrel.engines.docker import DockerEngine
from carrel.tenancy import service as tenancy

SESSIONS = 20
KILLS = 5


@pytest.fixture(scope="module")
def daemon() -> Iterator[OwnDockerd]:
    with OwnDockerd() as daemon:
        yield daemon


class Place:
    """One installation on one daemon, with everything needed to disturb it and to look at it."""

    def __init__(
        self, daemon: OwnDockerd, engine: DockerEngine, plane: ControlPlaneProcess, client: Client, image: str,
        look: psycopg.Connection[tuple[object, ...]],
    ) -> None:  # fmt: skip
        self.daemon = daemon
        self.engine = engine
        self.plane = plane
        self.client = client
        self.image = image
        self.look = look

    def states(self) -> dict[str, str]:
        return {str(row[0]): str(row[1]) for row in self.look.execute("SELECT id, state FROM sessions")}

    async def rests(self) -> bool:
        """Nothing is under way, and the last comparison with the engine found nothing to do."""
        if not set(self.states().values()) <= {"RUNNING", "TERMINATED", "CANCELLED", "ERROR"}:
            return False
        return not invariants.at_rest(self.look, await self.engine.list(), SystemClock().now())

    async def comes_to_rest(self) -> None:
        with suppress(AssertionError):
            await eventually(self.rests, within_s=60, every_s=0.3)
        tail = self.plane.log.read_text(errors="replace")[-3000:]
        assert not invariants.at_rest(self.look, await self.engine.list(), SystemClock().now()), tail
        assert await self.rests(), (self.states(), tail)


@pytest.fixture
async def place(
    daemon: OwnDockerd, database: Database, people: People, tmp_path: Path
) -> AsyncIterator[Place]:
    installation = f"crash-{secrets.token_hex(3)}"
    image = await ensure_tiny_image(url=daemon.url)
    async with database.transaction() as tx:
        keypair = await tenancy.create_keypair(tx, SystemClock(), people.user)
    engine = DockerEngine(daemon.url, installation)
    plane = ControlPlaneProcess(tmp_path, database.url, daemon.url, installation)
    client = Client(plane.port, (keypair.access_key, keypair.secret_key))
    plane.start()
    with psycopg.connect(database.url, autocommit=True) as look:
        yield Place(daemon, engine, plane, client, image, look)
    plane.kill()
    await client.close()
    await engine.purge()
    await engine.close()


async def _one_session(place: Place, number: int, luck: random.Random) -> tuple[str, bool]:
    """Ask for a session, and end every second one some time later; the id, and whether it was ended."""
    await asyncio.sleep(luck.uniform(0, 6))
    session = await place.client.create(f"burst-{number}", place.image)
    if number % 2:
        return session, False
    await asyncio.sleep(luck.uniform(0, 4))
    await place.client.remove(session)
    return session, True


async def _kill_now_and_then(place: Place, luck: random.Random) -> None:
    for _ in range(KILLS):
        await asyncio.sleep(luck.uniform(0.5, 4))
        place.plane.kill()
        place.plane.start()


async def _networks(place: Place, installation: str) -> list[str]:
    async with aiodocker.Docker(url=place.daemon.url) as docker:
        return [
            network["Name"]
            for network in await docker.networks.list()
            if installation in str(network.get("Labels"))
        ]


async def test_a_burst_under_kill_minus_nine_leaves_nothing_behind(place: Place) -> None:
    seed = secrets.randbits(32)
    luck = random.Random(seed)
    work = [_one_session(place, number, luck) for number in range(SESSIONS)]
    *made, _ = await asyncio.gather(*work, _kill_now_and_then(place, luck))
    await place.comes_to_rest()
    states = place.states()
    assert len(states) == SESSIONS, f"seed {seed}"
    for session, ended in [one for one in made if one]:
        wanted = {"TERMINATED", "CANCELLED"} if ended else {"RUNNING"}
        assert states[session] in wanted, f"seed {seed}: {session} is {states[session]}"
    installation = place.engine._names.installation
    assert len(await _networks(place, installation)) <= 1, "more than the one shared network is left"


async def test_a_restart_of_the_engine_brings_sessions_back(place: Place) -> None:
    made = [await place.client.create(f"early-{number}", place.image) for number in range(4)]
    await place.comes_to_rest()
    away = asyncio.create_task(asyncio.to_thread(place.daemon.restart))
    made += [await place.client.create(f"meanwhile-{number}", place.image) for number in range(3)]
    await place.client.remove(made[0])
    place.plane.kill()
    place.plane.start()
    await away
    await place.comes_to_rest()
    states = place.states()
    assert states[made[0]] == "TERMINATED"
    assert [states[session] for session in made[1:]] == ["RUNNING"] * 6
