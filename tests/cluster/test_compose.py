"""Carrel by Docker Compose: the image of the control plane with every role in it, and a session."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
from control_plane_image import control_plane_image
from e2e.running import keypair, purge
from go_programs import compose
from ports import free_port
from tiny_image import ensure_tiny_image

FILE = Path(__file__).parents[2] / "deploy/compose/compose.yaml"
CARREL = Path(sys.executable).with_name("carrel")
ROLES = ("api", "gateway", "controllers", "database")
SOCKET = Path("/var/run/docker.sock")


@dataclass(frozen=True)
class Project:
    """A running project of Compose. `environment` makes `carrel` act as the first administrator."""

    name: str
    url: str
    data_dir: Path
    environment: dict[str, str]

    def compose(self, *words: str) -> str:
        return _succeed([str(compose()), "-p", self.name, "-f", str(FILE), *words], self.environment)

    def carrel(self, *words: str) -> str:
        return _succeed([str(CARREL), *words], self.environment)

    def inspected(self, service: str) -> dict:  # type: ignore[type-arg]
        container = self.compose("ps", "-q", service).strip()
        [shown] = json.loads(_succeed(["docker", "inspect", container], self.environment))
        return shown  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def project() -> Iterator[Project]:
    name = f"carrel-compose-{os.getpid()}"
    folder = Path(tempfile.mkdtemp(prefix=f"{name}-", dir="/tmp"))
    folder.chmod(0o711)
    data_dir = folder / "data"
    data_dir.mkdir(mode=0o711)
    os.chown(data_dir, 1000, 1000)
    page, metrics = _free_ports()
    environment = {key: value for key, value in os.environ.items() if not key.startswith("CARREL_")} | {
        "DOCKER_GID": str(SOCKET.stat().st_gid),
        "CARREL_IMAGE": control_plane_image(),
        "CARREL_INSTALLATION": name,
        "CARREL_APP_LAYER": "false",
        "CARREL_DATA_DIR": str(data_dir),
        "CARREL_PORT": str(page),
        "CARREL_METRICS_PORT": str(metrics),
        "XDG_CONFIG_HOME": str(folder / "config"),
    }
    running = Project(name, f"http://localhost:{page}", data_dir, environment)
    try:
        running.compose("up", "--detach", "--wait")
        yield running
    finally:
        running.compose("down", "--volumes", "--timeout", "20")
        purge(name)
        shutil.rmtree(folder)


def _free_ports() -> tuple[int, int]:
    """A port whose successor is free too, for the gateway, and another one."""
    port = free_port(3)
    return port, port + 2


def _succeed(command: list[str], environment: dict[str, str]) -> str:
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, f"{command}: {done.stdout[-2000:]}{done.stderr[-3000:]}"
    return done.stdout


async def test_a_session_runs_and_its_command_answers(project: Project) -> None:
    image = await ensure_tiny_image()
    password = (project.data_dir / "admin-password").read_text()
    project.environment.update({"CARREL_URL": project.url, **keypair(project.url, password)})
    small = ("--image", image, "--cpu", "0.1", "--mem", "64m")
    project.carrel("session", "create", *small, "--name", "desk", "--wait")
    try:
        assert project.carrel("session", "exec", "desk", "--", "sh", "-c", "echo $((6 * 7))") == "42\n"
    finally:
        project.carrel("session", "rm", "desk", "--yes", "--wait")


@pytest.mark.parametrize("service", ROLES)
def test_every_role_runs_without_rights_on_a_read_only_system(project: Project, service: str) -> None:
    shown = project.inspected(service)
    assert shown["State"]["Running"]
    assert shown["RestartCount"] == 0
    assert shown["Config"]["User"] == "1000:1000"
    assert shown["HostConfig"]["ReadonlyRootfs"]
    assert shown["HostConfig"]["CapDrop"] == ["ALL"]
    written = {mount["Destination"] for mount in shown["Mounts"] if mount["RW"]}
    data = {str(project.data_dir), "/var/lib/carrel-postgres", "/run/carrel-postgres", str(SOCKET)}
    assert written <= data


def test_the_gateway_and_the_page_answer(project: Project) -> None:
    apps = project.url.replace("localhost", "127.0.0.1")
    port = int(project.url.rsplit(":", 1)[1])
    assert httpx2.get(f"{project.url}/").text.startswith("<!doctype html>")
    assert httpx2.get(apps.replace(str(port), f"{port + 1}") + "/.carrel/health").status_code == 200


def test_preparing_again_changes_nothing(project: Project) -> None:
    password = (project.data_dir / "admin-password").read_text()
    shown = project.compose("run", "--rm", "--no-deps", "migrate")
    assert shown.splitlines()[-1].strip() == "The database is ready."
    assert "first administrator" not in shown
    assert (project.data_dir / "admin-password").read_text() == password
