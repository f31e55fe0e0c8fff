"""A temporary control plane for benchmarks: real processes, with its own data directory, ports and label."""

import asyncio
import json
import os
import secrets
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx2
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession
from tiny_image import docker_url, ensure_tiny_image

from carrel.core.clock import SystemClock
from carrel.db.database import Database
from carrel.db.embedded import Embedded
from carrel.db.migrate import migrate
from carrel.engines.docker import DockerEngine
from carrel.images import service as images
from carrel.server import metadata as metadata  # all tables, because of foreign keys
from carrel.server.settings import Settings
from carrel.signin.keypairs import service as keypairs
from carrel.tenancy import service as tenancy

SMALL = {"cpu": 10, "mem": 32 << 20}
EMAIL = "bench@example.org"
_READY_S = 60.0


@dataclass(frozen=True)
class ControlPlane:
    """url: of the API. auth: the administrator's keypair. password: of EMAIL.

    image: a tiny one that the daemon has.
    """

    url: str
    gateway_url: str
    auth: tuple[str, str]
    password: str
    data_dir: Path
    database: Database
    settings: Settings
    supervisor: int
    image: str

    @property
    def basic(self) -> str:
        """The HTTP Basic Authorization header."""
        return str(httpx2.BasicAuth(*self.auth)._auth_header)

    @property
    def port(self) -> int:
        return self.settings.port

    def client(self) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(base_url=f"{self.url}/api/v1", auth=self.auth, timeout=60)


@asynccontextmanager
async def control_plane(
    *, controllers: bool = True, app_layer: bool = True, simulated_accelerators: str = ""
) -> AsyncIterator[ControlPlane]:
    """Supervisor, API, gateway and PostgreSQL. Without controllers no sessions are started or reaped.

    app_layer: build it in the background, and mount it.
    """
    image = await ensure_tiny_image()
    data_dir = _fresh_dir()
    embedded = Embedded(data_dir / "postgres")
    settings = Settings(
        data_dir=data_dir,
        database_url=embedded.start(),
        engine_url=docker_url(),
        port=free_ports(),
        installation="bench-" + secrets.token_hex(3),
        app_layer=app_layer,
        simulated_accelerators=simulated_accelerators,
    )
    database = Database(settings.database_url)
    # Each is cleaned up even if another cleanup or the measurement fails.
    async with AsyncExitStack() as cleanup:
        cleanup.callback(shutil.rmtree, data_dir, ignore_errors=True)
        cleanup.push_async_callback(_purge, settings)
        cleanup.callback(embedded.stop)
        cleanup.push_async_callback(database.close)
        migrate(settings.database_url)
        password = secrets.token_urlsafe()
        auth = await _bootstrap(database, image, password)
        process = _start(settings, controllers=controllers)
        cleanup.push_async_callback(_stop, process)
        own = ControlPlane(
            f"http://127.0.0.1:{settings.port}",
            f"http://127.0.0.1:{settings.effective_gateway_port}",
            auth,
            password,
            data_dir,
            database,
            settings,
            process.pid,
            image,
        )
        await _until_ready(own)
        yield own


def created(answer: httpx2.Response) -> str:
    """The id of the created object. Raises: RuntimeError with the server's error."""
    if not answer.is_success:
        raise RuntimeError(
            f"{answer.request.method} {answer.request.url.path}: {answer.status_code} {answer.text}"
        )
    return str(answer.json()["id"])


async def _stop(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    await asyncio.to_thread(process.wait)


async def _purge(settings: Settings) -> None:
    engine = DockerEngine(settings.engine_url, settings.installation)
    try:
        await engine.purge()
    finally:
        await engine.close()


def _fresh_dir() -> Path:
    """A temporary directory that PostgreSQL's user can enter."""
    folder = Path(tempfile.mkdtemp(prefix="carrel-bench-"))
    folder.chmod(0o711)
    return folder


async def _bootstrap(database: Database, image: str, password: str) -> tuple[str, str]:
    async with database.transaction() as tx:
        await tenancy.bootstrap(tx, SystemClock(), email=EMAIL, password=password)
        user = await tenancy.user_by_email(tx, EMAIL)
        assert user is not None
        actor = await tenancy.actor_of(tx, user, credential="bench", address="")
        pair = await keypairs.create(tx, SystemClock(), actor)
        # A benchmark sends more requests per second than a user in a quarter of an hour.
        await tx.execute(text("UPDATE keypairs SET rate_limit = 1000000000"))
        await register_image(tx, "tiny", image, SMALL)
    return pair.access_key, pair.secret_key


async def register_image(tx: AsyncSession, name: str, reference: str, slots: Mapping[str, int]) -> None:
    """slots: the least that its sessions have."""
    await images.register(
        tx,
        name=name,
        reference=reference,
        title=name.title(),
        description="",
        size_bytes=None,
        architecture=None,
        apps=[],
        min_slots=slots,
    )


def _start(settings: Settings, *, controllers: bool) -> subprocess.Popen[bytes]:
    environment = {
        f"CARREL_{name.upper()}": str(value) for name, value in settings.model_dump().items() if value != ""
    }
    (settings.data_dir / "run.json").write_text(json.dumps({"embedded": True, "environment": environment}))
    if controllers:
        command = [sys.executable, "-m", "carrel.server.supervise", str(settings.data_dir)]
    else:
        # One process group, as under the supervisor: the kernel schedules it as one unit.
        run = f"{shlex.quote(sys.executable)} -m carrel.server.role"
        command = ["sh", "-c", f"{run} gateway & exec {run} api"]
    with (settings.data_dir / "processes.log").open("ab") as log:
        return subprocess.Popen(
            command, env=environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True
        )


async def _until_ready(own: ControlPlane) -> None:
    loop = asyncio.get_running_loop()
    deadline = loop.time() + _READY_S
    async with httpx2.AsyncClient() as client:
        for url in (f"{own.url}/api/v1/health", f"{own.gateway_url}/.carrel/health"):
            while True:
                try:
                    if (await client.get(url)).status_code == 200:
                        break
                except httpx2.TransportError:
                    pass
                if loop.time() > deadline:
                    raise TimeoutError((own.data_dir / "processes.log").read_text()[-2000:])
                await asyncio.sleep(0.05)


def free_ports() -> int:
    """A free port whose successor is free too: for the API and the gateway."""
    while True:
        with socket.socket() as first, socket.socket() as second:
            first.bind(("127.0.0.1", 0))
            port = int(first.getsockname()[1])
            try:
                second.bind(("127.0.0.1", port + 1))
            except OSError:
                continue
            return port
