"""Checks of the network between real containers, and what is left of them."""

import asyncio
import os
import signal
import sys

import pytest
from conformance.test_cluster_sessions import Cluster, started
from people import eventually
from tiny_image import docker_url, ensure_tiny_image
from torch_image import PYTHON, ensure_torch_image

from carrel.apps.network_checks.all_reduce import AllReduceMethod, Lack, Measurement, Participant, measure
from carrel.apps.network_checks.message_paths import NetworkTransport
from carrel.core.errors import Conflict
from carrel.core.ids import ContainerId
from carrel.engines.docker import DockerEngine
from carrel.server.bootstrap import starter

# Measures like a server, until it is killed.
_SERVER = """
import asyncio, sys
from carrel.apps.network_checks.all_reduce import Participant, measure
from carrel.core.ids import ContainerId
from carrel.engines.docker import DockerEngine
url, installation, *places = sys.argv[1:]
containers = [one.split("=") for one in places]
async def main():
    engine = DockerEngine(url, installation)
    while True:
        await measure([Participant(ContainerId(id), host, engine) for host, id in containers])
asyncio.run(main())
"""


@pytest.fixture
async def starter_image(docker_engine: DockerEngine) -> str:
    return await starter.ensure_starter_image(docker_engine, say=print, consent=lambda _: True)


def participants(engine: DockerEngine, cluster: Cluster) -> list[Participant]:
    return [Participant(ContainerId(id_), host, engine) for host, id_ in cluster.containers.items()]


async def measuring(cluster: Cluster) -> list[str]:
    """The hosts in which a process of a check runs."""
    # Of a form that does not find itself.
    find = "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | grep -q '[s]ys.stdin.buffer.read(int('"
    return [host for host in cluster.containers if (await cluster.on(host, "sh", "-c", find)).exit_code == 0]


def goes_around_by(measured: Measurement, interface: str) -> None:
    last = len(measured.hosts) - 1
    assert [(path.sender, path.receiver) for path in measured.paths] == [
        *((rank, rank + 1) for rank in range(last)),
        (last, 0),
    ]
    assert {path.transport for path in measured.paths} == {NetworkTransport.TCP}
    assert {path.interface for path in measured.paths} == {interface}


async def test_python_alone_measures_between_containers(
    docker_engine: DockerEngine, starter_image: str
) -> None:
    cluster = await started(docker_engine, starter_image, containers=3)
    measured = await measure(participants(docker_engine, cluster))
    assert (measured.method, measured.lack) == (AllReduceMethod.TCP, Lack.NO_TORCH)
    assert measured.hosts == ("main1", "sub1", "sub2")
    goes_around_by(measured, "eth0")
    # An eighth of the 400 MiB of each container is less than the largest size.
    assert [one.size_bytes for one in measured.messages] == [8, 1 << 16, 1 << 20, 1 << 24]
    assert await measuring(cluster) == []


async def test_gloo_measures_where_pytorch_is(docker_engine: DockerEngine) -> None:
    cluster = await started(docker_engine, await ensure_torch_image(), containers=2, mem_bytes=1200 << 20)
    measured = await measure(participants(docker_engine, cluster), python=PYTHON)
    assert (measured.method, measured.lack) == (AllReduceMethod.GLOO, None)
    goes_around_by(measured, "eth0")
    assert await measuring(cluster) == []


async def test_pytorch_is_not_imported_into_little_memory(docker_engine: DockerEngine) -> None:
    cluster = await started(docker_engine, await ensure_torch_image(), containers=2, mem_bytes=400 << 20)
    measured = await measure(participants(docker_engine, cluster), python=PYTHON)
    assert (measured.method, measured.lack) == (AllReduceMethod.TCP, Lack.LITTLE_MEMORY)


async def test_an_image_without_python_says_so(docker_engine: DockerEngine) -> None:
    cluster = await started(docker_engine, await ensure_tiny_image(), containers=2)
    with pytest.raises(Conflict) as refused:
        await measure(participants(docker_engine, cluster))
    assert refused.value.code == "network.no_python"


async def test_a_container_that_ends_meanwhile_ends_the_check(
    docker_engine: DockerEngine, starter_image: str
) -> None:
    cluster = await started(docker_engine, starter_image, containers=2)
    checking = asyncio.create_task(measure(participants(docker_engine, cluster)))
    await eventually(lambda: _measures_in_all(cluster))
    await docker_engine.remove(cluster.containers["sub1"], grace_s=0)
    with pytest.raises(Conflict) as refused:
        await checking
    assert refused.value.code == "network.failed"


async def test_a_server_that_is_killed_leaves_no_process_in_the_session(
    docker_engine: DockerEngine, starter_image: str, installation: str
) -> None:
    cluster = await started(docker_engine, starter_image, containers=2)
    path = os.pathsep.join(sys.path)
    server = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _SERVER, docker_url(), installation,
        *(f"{host}={id_}" for host, id_ in cluster.containers.items()),
        env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    await eventually(lambda: _measures_in_all(cluster))
    server.send_signal(signal.SIGKILL)
    await server.wait()

    async def nobody_measures() -> bool:
        return await measuring(cluster) == []

    await eventually(nobody_measures, within_s=20)


async def _measures_in_all(cluster: Cluster) -> bool:
    return len(await measuring(cluster)) == len(cluster.containers)
