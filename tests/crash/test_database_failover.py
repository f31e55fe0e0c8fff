"""PostgreSQL dies and its standby is promoted, under two control planes with work to do."""

import asyncio
import secrets
from pathlib import Path

import httpx2
from crash.control_plane import API, Client, ControlPlaneProcess, answering
from crash.place import Place
from own_dockerd import OwnDockerd
from people import first_administrator
from ports import free_port
from replicated_postgres import replicated_postgres
from round_robin import round_robin
from tiny_image import ensure_tiny_image

from carrel.core.clock import SystemClock
from carrel.db.database import Database
from carrel.db.migrate import migrate
from carrel.engines.docker import DockerEngine
from carrel.signin.keypairs import service as keypairs

BEFORE, AFTER = 6, 4


async def test_nothing_that_was_answered_is_lost_and_all_processes_come_back(
    daemon: OwnDockerd, open_dir: Path, tmp_path: Path
) -> None:
    installation = f"crash-{secrets.token_hex(3)}"
    with replicated_postgres(open_dir / installation, (free_port(), free_port())) as servers:
        migrate(servers.url)
        database = Database(servers.url)
        admin = await first_administrator(database)
        async with database.transaction() as tx:
            keypair = await keypairs.create(tx, SystemClock(), admin)
        await database.close()
        keys = (keypair.access_key, keypair.secret_key)
        planes = [
            ControlPlaneProcess(tmp_path, servers.url, daemon.url, installation, name=name)
            for name in ("one", "two")
        ]
        image = await ensure_tiny_image(url=daemon.url)
        async with round_robin(*(plane.port for plane in planes)) as port:
            client = Client(port, keys, timeout=5, limits=httpx2.Limits(max_keepalive_connections=0))
            engine = DockerEngine(daemon.url, installation)
            place = Place(daemon, engine, planes[0], client, image, servers.url)
            try:
                for plane in planes:
                    plane.start()
                    await _answers(plane)
                answered = [await client.create(f"before-{number}", image) for number in range(BEFORE)]
                # 1. Answered until the last moment: the next request is under way when the server dies.
                under_way = asyncio.create_task(client.create("under-way", image))
                await asyncio.to_thread(servers.kill_primary)
                await asyncio.to_thread(servers.promote)
                # 2. Without a restart, every process finds the other server.
                for plane in planes:
                    await _answers(plane)
                answered.append(await under_way)
                answered += [await client.create(f"after-{number}", image) for number in range(AFTER)]
                # 3. What was answered is there, once, and runs.
                await place.comes_to_rest()
                assert place.states() == dict.fromkeys(answered, "RUNNING")
            finally:
                for plane in planes:
                    plane.kill()
                await place.close()


async def _answers(plane: ControlPlaneProcess) -> None:
    async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{plane.port}{API}") as client:
        await answering(client)
