"""One daemon of our own for all of these tests, and an installation on it for each."""

import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from crash.control_plane import Client, ControlPlaneProcess
from crash.place import Place
from crash.small_disk import small_disk
from crash.supervised import Supervised
from own_dockerd import OwnDockerd
from people import People
from tiny_image import ensure_tiny_image

from carrel.core.clock import SystemClock
from carrel.db.database import Database
from carrel.engines.docker import DockerEngine
from carrel.signin.keypairs import service as keypairs

DISK_MIB = 300
ENGINE_DISK_MIB = 64
SHARED_DISK_MIB = 1024


@pytest.fixture(scope="package")
def daemon() -> Iterator[OwnDockerd]:
    with OwnDockerd() as daemon:
        yield daemon


@pytest.fixture
async def place(
    daemon: OwnDockerd, database: Database, people: People, tmp_path: Path
) -> AsyncIterator[Place]:
    """A control plane without a supervisor, on the tests' database."""
    async with _unsupervised(daemon, database, people, tmp_path) as place:
        yield place


@pytest.fixture
async def on_small_engine(database: Database, people: People, tmp_path: Path) -> AsyncIterator[Place]:
    """The same on an engine with a small disk of its own."""
    with small_disk(tmp_path, ENGINE_DISK_MIB) as disk, OwnDockerd(data=disk) as daemon:
        async with _unsupervised(daemon, database, people, tmp_path) as place:
            yield place


@asynccontextmanager
async def _unsupervised(
    daemon: OwnDockerd, database: Database, people: People, folder: Path
) -> AsyncIterator[Place]:
    installation = f"crash-{secrets.token_hex(3)}"
    async with database.transaction() as tx:
        keypair = await keypairs.create(tx, SystemClock(), people.user)
    plane = ControlPlaneProcess(folder, database.url, daemon.url, installation)
    client = Client(plane.port, (keypair.access_key, keypair.secret_key))
    image = await ensure_tiny_image(url=daemon.url)
    plane.start()
    place = Place(daemon, DockerEngine(daemon.url, installation), plane, client, image, database.url)
    try:
        yield place
    finally:
        plane.kill()
        await place.close()


@pytest.fixture
async def supervised(daemon: OwnDockerd, open_dir: Path) -> AsyncIterator[Place]:
    """A whole installation as `carrel up` runs it, with its own PostgreSQL."""
    async with _supervised(daemon, open_dir / f"supervised-{secrets.token_hex(3)}") as place:
        yield place


@pytest.fixture
async def on_small_disk(daemon: OwnDockerd, open_dir: Path) -> AsyncIterator[tuple[Place, Path]]:
    """Such an installation on a small disk of its own; and where that is."""
    folder = open_dir / f"small-{secrets.token_hex(3)}"
    folder.mkdir(mode=0o711)
    with small_disk(folder, DISK_MIB) as disk:
        async with _supervised(daemon, disk / "data") as place:
            yield place, disk


@pytest.fixture
async def on_shared_disk(open_dir: Path) -> AsyncIterator[tuple[Place, Path]]:
    """Such an installation, and its engine on the same small disk; and where that is."""
    folder = open_dir / f"shared-{secrets.token_hex(3)}"
    folder.mkdir(mode=0o711)
    with small_disk(folder, SHARED_DISK_MIB) as disk, OwnDockerd(data=disk / "docker") as daemon:
        async with _supervised(daemon, disk / "data") as place:
            yield place, disk


@asynccontextmanager
async def _supervised(daemon: OwnDockerd, folder: Path) -> AsyncIterator[Place]:
    folder.mkdir(mode=0o711)
    plane = Supervised(folder, daemon.url, f"crash-{secrets.token_hex(3)}")
    image = await ensure_tiny_image(url=daemon.url)
    try:
        client = Client(plane.port, await plane.begin())
        engine = DockerEngine(daemon.url, plane.installation)
        place = Place(daemon, engine, plane, client, image, plane.database_url)
        yield place
    finally:
        plane.stop()
    await place.close()
