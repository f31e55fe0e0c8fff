"""Two control planes on one database and one engine: the other one leads soon when the leader is lost."""

import asyncio
import json
import random
import secrets
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import aiodocker
import httpx2
import pytest
from crash.control_plane import API, Client, ControlPlaneProcess, answering
from crash.database_network import DatabaseNetwork, database_network
from crash.place import Place, has_what_was_asked, one_session
from own_dockerd import OwnDockerd
from people import People, eventually
from round_robin import round_robin
from tiny_image import ensure_tiny_image

from carrel.core.clock import SystemClock
from carrel.db.database import Database
from carrel.db.leader import LOCK_KEY
from carrel.engines.docker import DockerEngine
from carrel.signin.keypairs import service as keypairs

SESSIONS = 12
WITHIN_S = 5.0


@dataclass
class Planes:
    """place: of the first one, whose client goes to both in turn."""

    place: Place
    network: DatabaseNetwork
    planes: dict[str, ControlPlaneProcess]

    def leader(self) -> tuple[str, int] | None:
        """The name of the leader, and its epoch."""
        with self.place.looking() as look:
            row = look.execute(
                "SELECT a.application_name, e.epoch FROM pg_locks l JOIN pg_stat_activity a USING (pid),"
                " leadership e WHERE l.locktype = 'advisory' AND l.granted AND l.objid = %s"
                " AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())",
                (LOCK_KEY,),
            ).fetchone()
        return (str(row[0]), int(str(row[1]))) if row else None


@pytest.fixture
async def planes(
    daemon: OwnDockerd, database: Database, people: People, tmp_path: Path
) -> AsyncIterator[Planes]:
    installation = f"crash-{secrets.token_hex(3)}"
    async with database.transaction() as tx:
        keypair = await keypairs.create(tx, SystemClock(), people.user)
    image = await ensure_tiny_image(url=daemon.url)
    async with AsyncExitStack() as stack:
        network = await stack.enter_async_context(database_network(database.url))
        planes = {}
        for name in ("one", "two"):
            plane = ControlPlaneProcess(tmp_path, network.url(name), daemon.url, installation, name=name)
            plane.start()
            stack.callback(plane.kill)
            planes[name] = plane
            async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{plane.port}{API}") as client:
                await answering(client)
        port = await stack.enter_async_context(round_robin(*(plane.port for plane in planes.values())))
        limits = httpx2.Limits(max_keepalive_connections=0)
        keys = (keypair.access_key, keypair.secret_key)
        place = Place(
            daemon,
            DockerEngine(daemon.url, installation),
            planes["one"],
            Client(port, keys, limits=limits, timeout=5),
            image,
            database.url,
        )
        try:
            yield Planes(place, network, planes)
        finally:
            for plane in planes.values():  # before what they started is taken away
                plane.kill()
            await place.close()


@pytest.mark.parametrize("fault", ["killed", "cut off"])
async def test_the_other_one_leads_within_seconds_and_starts_nothing_twice(
    planes: Planes, fault: str
) -> None:
    seed = secrets.randbits(32)
    luck, place, began = random.Random(seed), planes.place, int(time.time())
    before = await eventually(planes.leader)
    async with asyncio.TaskGroup() as burst:
        sessions = [burst.create_task(one_session(place, number, luck)) for number in range(SESSIONS)]
        await asyncio.sleep(luck.uniform(1, 4))
        at = time.monotonic()
        if fault == "killed":
            planes.planes[before[0]].kill()
        else:
            planes.network.hang(before[0])

        def changed() -> tuple[str, int] | None:
            now = planes.leader()
            return now if now and now[0] != before[0] and now[1] > before[1] else None

        await eventually(changed, every_s=0.02)
        took_s = time.monotonic() - at
        await asyncio.wait(sessions)
    assert took_s < WITHIN_S, f"seed {seed}"
    if fault == "cut off":
        planes.network.heal(before[0])
    await place.comes_to_rest()
    has_what_was_asked(place, [session.result() for session in sessions], seed)
    assert {count for _, count in (await _made(place, began)).items()} == {1}, f"seed {seed}"
    if fault == "cut off":
        url = f"http://127.0.0.1:{planes.planes[before[0]].port}{API}"
        async with httpx2.AsyncClient(base_url=url) as client:
            await answering(client)


async def _made(place: Place, since: int) -> Counter[str]:
    """How often the engine created a container of each name."""
    filters = json.dumps({"type": ["container"], "event": ["create"]})
    query = {"since": str(since), "until": str(int(time.time()) + 1), "filters": filters}
    async with (
        aiodocker.Docker(url=place.daemon.url) as docker,
        docker._query("events", params=query) as answer,
    ):
        events = [json.loads(line) for line in (await answer.text()).splitlines()]
    return Counter(event["Actor"]["Attributes"]["name"] for event in events)
