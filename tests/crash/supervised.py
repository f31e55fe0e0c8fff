"""An installation as `carrel up` leaves it running: supervisor, API with controllers, gateway, PostgreSQL."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx2
import psutil
from crash.control_plane import API
from killing import kill_postgresql
from people import PASSWORD, eventually
from ports import free_port

import carrel.server.metadata  # noqa: F401 - the first rows refer to tables of everything
from carrel.core.clock import SystemClock
from carrel.db.database import Database
from carrel.db.embedded import Embedded
from carrel.db.migrate import migrate
from carrel.server.settings import Settings
from carrel.tenancy import service as tenancy

EMAIL = "admin@example.org"


class Supervised:
    def __init__(self, folder: Path, engine_url: str, installation: str) -> None:
        self.folder = folder
        self.installation = installation
        self.port, self._gateway_port = free_port(), free_port()
        self.log = folder / "logs" / "api.log"
        self._embedded = Embedded(folder / "postgres")
        self.database_url = self._embedded.url
        self._settings = Settings(
            data_dir=folder,
            database_url=self.database_url,
            engine_url=engine_url,
            installation=installation,
            port=self.port,
            gateway_port=self._gateway_port,
            app_layer=False,
        )
        self._supervisor: subprocess.Popen[bytes] | None = None

    async def begin(self) -> tuple[str, str]:
        """Set it up and start it; a keypair of its administrator's once it answers."""
        self._embedded.start()
        migrate(self.database_url)
        database = Database(self.database_url)
        async with database.transaction() as tx:
            await tenancy.bootstrap(tx, SystemClock(), email=EMAIL, password=PASSWORD)
        await database.close()
        self._settings.key()
        environment = {
            f"CARREL_{name.upper()}": str(value) for name, value in self._settings.model_dump().items()
        }
        (self.folder / "run.json").write_text(json.dumps({"embedded": True, "environment": environment}))
        self.log.parent.mkdir()
        await self.start()
        return await self._keypair()

    async def start(self) -> None:
        """The supervisor and all below it."""
        with (self.log.parent / "supervisor.err").open("ab") as log:
            command = [sys.executable, "-m", "carrel.server.supervise", str(self.folder)]
            self._supervisor = subprocess.Popen(command, stdout=log, stderr=log)
        await eventually(self.is_whole, within_s=60, every_s=0.1)

    async def start_again(self) -> None:
        """After `carrel down`, with its database."""
        self._embedded.start()
        await self.start()

    def kill_database(self) -> None:
        """PostgreSQL with all its processes, at once. Gone already: no-op."""
        with suppress(OSError, ValueError, IndexError, psutil.NoSuchProcess):
            kill_postgresql(self._embedded.cluster)

    @contextmanager
    def database_kept_down(self) -> Iterator[None]:
        """It is dead and cannot start while the block lasts: its settings are wrong."""
        file = self._embedded.cluster / "postgresql.auto.conf"
        before = file.read_text()
        file.write_text(f"{before}\nno_such_setting = on\n")
        self.kill_database()
        try:
            yield
        finally:
            file.write_text(before)

    def kill_children(self, *names: str) -> None:
        """The processes of these roles, or the fork server, by `kill -9`. Dead already: no-op."""
        for name, process in self.children().items():
            if name in names:
                with suppress(psutil.NoSuchProcess):
                    process.kill()

    def kill_supervisor(self) -> None:
        assert self._supervisor is not None
        self._supervisor.kill()
        self._supervisor.wait()

    def children(self) -> dict[str, psutil.Process]:
        """The supervisor's, by role; "fork server" is the one that all roles are forked from."""
        assert self._supervisor is not None
        processes = {}
        for process in psutil.Process(self._supervisor.pid).children():
            with suppress(psutil.NoSuchProcess):
                command = " ".join(process.cmdline())
                for name in ("fork server", "api,controllers", "gateway"):
                    if re.search(rf"carrel\.server\.(role )?{name.replace(' ', '_')}\b", command):
                        processes[name] = process
        return processes

    def ends(self) -> list[str]:
        """What the supervisor wrote of each of its processes that ended, in order."""
        lines = (self.log.parent / "supervisor.err").read_text().splitlines()
        return [line.split(" ", 1)[1] for line in lines if " ended with " in line]

    async def is_whole(self) -> bool:
        """The API and the gateway answer, and so does the database."""
        async with httpx2.AsyncClient() as client:
            try:
                api = await client.get(f"http://127.0.0.1:{self.port}{API}/health")
                gateway = await client.get(f"http://127.0.0.1:{self._gateway_port}/.carrel/health")
            except httpx2.TransportError:
                return False
        return api.status_code == gateway.status_code == 200

    def database_runs(self) -> bool:
        return self._embedded.running()

    def lives(self) -> bool:
        """The supervisor itself."""
        return self._supervisor is not None and self._supervisor.poll() is None

    def stop(self) -> None:
        if self._supervisor is not None:
            self._supervisor.terminate()
            self._supervisor.wait(60)
        self._embedded.stop()

    async def _keypair(self) -> tuple[str, str]:
        async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{self.port}{API}") as client:
            person = {"email": EMAIL, "password": PASSWORD}
            me = (await client.post("/auth/login", json=person)).json()
            made = await client.post("/keypairs", json={}, headers={"X-Carrel-CSRF": me["csrf_token"]})
            return made.json()["access_key"], made.json()["secret_key"]
