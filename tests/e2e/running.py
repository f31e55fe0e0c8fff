"""A real installation for the tests: `carrel up` on its own ports, data directory and engine label."""

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx2
import psutil
from ports import free_port

CARREL = Path(sys.executable).with_name("carrel")
EMAIL = "admin@carrel.local"
UP_S = 600


@dataclass(frozen=True)
class Running:
    """An installation that answers. `environment` makes `carrel` act as its first administrator."""

    url: str
    data_dir: Path
    password: str
    environment: dict[str, str]

    @property
    def port(self) -> int:
        return int(self.url.rsplit(":", 1)[1])

    def carrel(
        self, *words: str, timeout: float = 60, **options: object
    ) -> "subprocess.CompletedProcess[str]":
        """Run a command line of ours to its end, as the administrator."""
        return subprocess.run(
            [str(CARREL), *words],
            env=self.environment,
            text=True,
            capture_output=True,
            timeout=timeout,
            check=False,
            **options,
        )  # type: ignore[call-overload,no-any-return]

    def shell(self, session: str, script: str) -> str:
        """What a shell script prints inside a session."""
        done = self.carrel("session", "exec", session, "--", "sh", "-c", script)
        assert done.returncode == 0, done.stderr
        return done.stdout

    @property
    def supervisor(self) -> psutil.Process:
        return psutil.Process(int((self.data_dir / "supervisor.pid").read_text()))

    def kill_api(self) -> None:
        """End the API's process as a crash would. The supervisor starts another."""
        killed = 0
        for child in self.supervisor.children():
            with suppress(psutil.NoSuchProcess):
                if "role api,controllers" in " ".join(child.cmdline()):
                    child.kill()
                    killed += 1
        assert killed == 1


@contextmanager
def installation(name: str = "", *, layer: bool = False) -> Iterator[Running]:
    """A fresh installation; nothing of it is left afterwards. name: tells it from another one at the same time. layer:
    with the app layer.
    """
    label = f"e2e{os.getpid()}{name}"
    folder = Path(tempfile.mkdtemp(prefix=f"carrel-{label}-"))
    folder.chmod(0o711)
    data_dir = folder / "data"
    port = two_free_ports()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CARREL_")}
    environment |= {"CARREL_INSTALLATION": label, "XDG_CONFIG_HOME": str(folder / "config")}
    environment["CARREL_APP_LAYER"] = str(layer)
    where = ["--data-dir", str(data_dir)]
    try:
        _run([*where, "--port", str(port), "--detach", "--yes"], "up", environment)
        password = (data_dir / "admin-password").read_text()
        url = f"http://localhost:{port}"
        environment |= {"CARREL_URL": url, **keypair(url, password)}
        yield Running(url, data_dir, password, environment)
    finally:
        _run(where, "down", environment)
        purge(label)
        shutil.rmtree(folder, ignore_errors=True)


def _run(options: list[str], command: str, environment: dict[str, str]) -> None:
    done = subprocess.run(
        [str(CARREL), command, *options],
        env=environment,
        text=True,
        capture_output=True,
        timeout=UP_S,
        check=False,
    )
    assert done.returncode == 0, f"carrel {command}: {done.stdout}{done.stderr}"


def keypair(url: str, password: str) -> dict[str, str]:
    with httpx2.Client(base_url=f"{url}/api/v1") as client:
        me = client.post("/auth/login", json={"email": EMAIL, "password": password}).json()
        made = client.post("/keypairs", json={}, headers={"X-Carrel-CSRF": me["csrf_token"]}).json()
    return {"CARREL_ACCESS_KEY": made["access_key"], "CARREL_SECRET_KEY": made["secret_key"]}


def purge(label: str) -> None:
    """Remove all that the engine holds of an installation. In a thread: Playwright runs a loop in this one."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, _purge(label)).result()


async def _purge(label: str) -> None:
    from carrel.engines.docker import DockerEngine

    engine = DockerEngine(os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock"), label)
    try:
        await engine.purge()
    finally:
        await engine.close()


def two_free_ports() -> int:
    """The first of two neighbours that are both free: the page's and the gateway's."""
    return free_port(2)
