"""Sessions in gVisor's sandbox under Docker, in a resource group whose runtime is runsc."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import cast

import pytest
from go_programs import runsc
from installation import API, running_installation
from own_dockerd import OwnDockerd
from people import People, eventually
from tiny_image import docker_url, ensure_tiny_image
from websockets.asyncio.client import connect

from carrel.core.ids import ContainerId, new_id
from carrel.db.database import Database
from carrel.engines import runtimes
from carrel.engines.conformance_kit import ProgressLog, Ran, run
from carrel.engines.docker import DockerEngine
from carrel.engines.fake import FakeEngine
from carrel.engines.port import ContainerSpec, TerminalSize


@pytest.fixture(scope="module", autouse=True)
def daemon() -> Iterator[OwnDockerd]:
    settings = {"runtimes": {"runsc": {"path": str(runsc())}}}
    with OwnDockerd(settings=settings) as daemon, pytest.MonkeyPatch.context() as patch:
        patch.setenv("DOCKER_HOST", daemon.url)
        yield daemon


@pytest.fixture
async def engine() -> AsyncIterator[DockerEngine]:
    engine = DockerEngine(docker_url(), f"test-{new_id()}")
    await engine.nodes()
    yield engine
    await engine.purge()
    await engine.close()


@pytest.fixture
async def container(engine: DockerEngine) -> ContainerId:
    made = ContainerId(new_id())
    slots = {"cpu": 1000, "mem": 256 << 20}
    spec = ContainerSpec(made, await ensure_tiny_image(), slots, runtime="runsc")
    await engine.ensure(spec, ProgressLog())
    return made


async def ran(engine: DockerEngine, container: str, line: str) -> Ran:
    return await asyncio.wait_for(run(engine, container, "sh", "-c", line), 60)


async def test_commands_run_on_the_kernel_of_the_sandbox(
    engine: DockerEngine, container: ContainerId
) -> None:
    (node,) = await engine.nodes()
    assert "runsc" in runtimes.names(node.capabilities)
    assert b"gvisor" in (await ran(engine, container, "cat /proc/version")).stdout
    assert (await ran(engine, container, "id -u; exit 3")) == Ran(3, b"1000\n", b"")
    (memory,) = (await ran(engine, container, "head -1 /proc/meminfo")).stdout.splitlines()
    assert int(memory.split()[1]) == 256 << 10


async def test_names_are_asked_of_the_servers_of_the_machine(
    engine: DockerEngine, container: ContainerId
) -> None:
    own = Path("/etc/resolv.conf").read_bytes()
    assert (await ran(engine, container, "cat /etc/resolv.conf")).stdout == own


async def test_a_terminal_has_its_size_and_its_shell(engine: DockerEngine, container: ContainerId) -> None:
    size = TerminalSize(cols=101, rows=33)
    async with engine.exec(container, ("sh",), env={"TERM": "dumb"}, terminal=size) as process:
        await process.write(b"stty size; exit 5\r")
        screen = b"".join([chunk async for _, chunk in process.output()])
        assert b"33 101" in screen
        assert await process.exit_code() == 5


async def test_a_session_of_the_group_starts_and_has_a_terminal(
    engine: DockerEngine, database: Database, people: People, tmp_path: Path
) -> None:
    # It is as a fake one to the installation.
    given = cast(FakeEngine, engine)
    async with running_installation(database, people, tmp_path, given, controllers=True) as api:
        admin = await api.as_("superadmin")
        assert admin.actor

        async def is_offered() -> bool:
            nodes = (await admin.get("/nodes")).json()["items"]
            return any("runtime:runsc" in one["capabilities"] for one in nodes)

        await eventually(is_offered)
        assert (await admin.patch("/groups/default", {"runtime": "runsc"})).status_code == 200
        answer = await admin.try_start(image=await ensure_tiny_image(), slots={"cpu": 1000, "mem": 256 << 20})
        assert answer.status_code == 201, answer.text
        session = await api.until(admin, answer.json()["id"], "RUNNING")
        [container] = session["containers"]
        assert b"gvisor" in (await ran(engine, container["id"], "cat /proc/version")).stdout
        basic = base64.b64encode(":".join(await api.keypair(admin.actor)).encode()).decode()
        url = f"ws://127.0.0.1:{api.port}{API}/sessions/{session['id']}/terminal"
        headers = {"Authorization": f"Basic {basic}"}
        async with connect(url, additional_headers=headers, proxy=None) as terminal:
            assert json.loads(await terminal.recv())["type"] == "ready"
