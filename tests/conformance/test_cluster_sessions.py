"""Containers of a cluster session that compute together: SSH, Open MPI and Dask, with nothing set up by hand."""

import asyncio
from collections.abc import AsyncIterator, Mapping

import pytest
from cluster_image import ALL_REDUCE, ensure_cluster_image
from people import eventually
from tiny_image import ensure_tiny_image
from torch_image import ALL_REDUCE as TORCH_ALL_REDUCE
from torch_image import PYTHON, ensure_torch_image

from carrel.core.ids import SessionId, new_id
from carrel.db.encryption import SecretBox
from carrel.engines import barrier
from carrel.engines.conformance_kit import ProgressLog, Ran, run, whole_log
from carrel.engines.docker import DockerEngine
from carrel.engines.port import IDLE, ContainerSpec, ObservedState
from carrel.sessions import clusters
from carrel.sessions.spec import SessionSpec

SEAL = SecretBox(b"k" * 32)
DASK = """
import socket
from dask.distributed import Client
client = Client()
client.wait_for_workers(2)
hosts = client.run(socket.gethostname)
total = sum(client.gather(client.map(lambda n: n * n, range(100))))
print(sorted(hosts.values()), total)
"""


class Cluster:
    """A started cluster of containers, opened."""

    def __init__(self, engine: DockerEngine, ids: Mapping[str, str]) -> None:
        self._engine = engine
        self._ids = ids

    async def on(self, host: str, *command: str) -> Ran:
        return await run(self._engine, self._ids[host], *command)

    async def open(self, host: str) -> None:
        await self._engine.send(self._ids[host], barrier.OPEN)

    @property
    def containers(self) -> Mapping[str, str]:
        """Host name -> id."""
        return self._ids

    async def log(self, host: str) -> str:
        return (await whole_log(self._engine, self._ids[host])).decode()


async def started(
    engine: DockerEngine,
    image: str,
    *,
    containers: int = 3,
    mem_bytes: int = 400 << 20,
    command: tuple[str, ...] = IDLE,
    env: Mapping[str, str] | None = None,
) -> Cluster:
    spec = SessionSpec(image=image, slots={"cpu": 1000, "mem": mem_bytes}, containers=containers)
    session, requests = SessionId(new_id()), spec.container_requests
    members = [
        ContainerSpec(
            new_id(),
            image,
            one.slots,
            env={**clusters.variables(requests, index), **(env or {})},
            hostname=one.host,
            command=barrier.behind(command),
            stdin=True,
            network=clusters.network(session, requests, index),
            files=clusters.files(SEAL, session, requests, index),
        )
        for index, one in enumerate(requests)
    ]
    await asyncio.gather(*(engine.ensure(one, ProgressLog()) for one in members))
    cluster = Cluster(engine, {one.host: member.id for one, member in zip(requests, members, strict=True)})
    for one in requests:
        await cluster.open(one.host)
    return cluster


@pytest.fixture
async def cluster(docker_engine: DockerEngine) -> AsyncIterator[Cluster]:
    yield await started(docker_engine, await ensure_cluster_image())
    await docker_engine.purge()


async def test_ssh_reaches_every_host_by_name_and_finds_its_environment(cluster: Cluster) -> None:
    script = "for h in main1 sub1 sub2; do ssh $h 'hostname; echo $CARREL_CLUSTER_HOST $MASTER_ADDR'; done"
    for host in ("main1", "sub2"):
        ran = await cluster.on(host, "sh", "-c", script)
        assert ran == Ran(0, b"main1\nmain1 main1\nsub1\nsub1 main1\nsub2\nsub2 main1\n")
    assert (await cluster.on("main1", "ssh", "-tt", "sub1", "tty")).stdout.startswith(b"/dev/pts/")
    copied = await cluster.on("sub1", "sh", "-c", "echo new > file; scp -q file sub2:; ssh sub2 cat file")
    assert copied == Ran(0, b"new\n")


async def test_mpirun_computes_on_all_hosts(cluster: Cluster) -> None:
    for host in ("main1", "sub1", "sub2"):
        assert (await cluster.on(host, "sh", "-c", f"cat > sum.py <<'END'\n{ALL_REDUCE}END")).exit_code == 0
    ran = await cluster.on("main1", "mpirun", "/usr/bin/python3", "sum.py")
    assert sorted(ran.stdout.decode().splitlines()) == ["0 3 main1 6", "1 3 sub1 6", "2 3 sub2 6"], ran.stderr


async def test_dask_finds_its_scheduler(cluster: Cluster) -> None:
    for host, program in (("main1", "scheduler"), ("sub1", "worker"), ("sub2", "worker")):
        begun = f"/opt/dask/bin/dask {program} > log 2>&1 &"
        assert (await cluster.on(host, "sh", "-c", begun)).exit_code == 0
    ran = await cluster.on("main1", "/opt/dask/bin/python", "-c", DASK)
    assert ran.stdout == b"['sub1', 'sub2'] 328350\n", ran.stderr


async def test_an_image_without_sshd_says_so_in_its_log(docker_engine: DockerEngine) -> None:
    cluster = await started(docker_engine, await ensure_tiny_image(), containers=2)
    assert "this image has no sshd" in await cluster.log("sub1")
    assert await cluster.on("main1", "sh", "-c", "echo $CARREL_CLUSTER_HOSTS") == Ran(0, b"main1,sub1\n")


@pytest.mark.parametrize(
    "launch",
    [
        f". $CARREL_CLUSTER_RANKS; exec {PYTHON} sum.py",
        # PyTorch 1.13 looks for the default 0 of both options among the members of an IntFlag (`Std.from_str` in
        # torch.distributed.elastic.multiprocessing.api), of which Python 3.11 lists no zero. 2: standard error
        # goes to a file, and from there to the log.
        "exec torchrun --redirects 2 --tee 2 sum.py",
    ],
    ids=["ranks", "torchrun"],
)
async def test_pytorch_reduces_over_all_hosts_with_gloo(docker_engine: DockerEngine, launch: str) -> None:
    command = ("sh", "-c", f"cat > sum.py <<'END'\n{TORCH_ALL_REDUCE}END\n{launch}")
    cluster = await started(
        docker_engine, await ensure_torch_image(), containers=2, mem_bytes=1 << 30, command=command
    )

    async def have_exited() -> bool:
        listed = {one.id: one.state for one in await docker_engine.list()}
        return all(listed[one] is ObservedState.EXITED for one in cluster.containers.values())

    await eventually(have_exited, within_s=180, every_s=0.5)
    for rank, host in enumerate(("main1", "sub1")):
        assert f"{rank} 2 {host} 3000\n" in (log := await cluster.log(host)), log


async def test_collective_libraries_use_the_interface_of_the_private_network(
    docker_engine: DockerEngine,
) -> None:
    cluster = await started(docker_engine, await ensure_tiny_image(), containers=2)
    script = "echo $NCCL_SOCKET_IFNAME $HCCL_SOCKET_IFNAME; ip -o -4 addr show dev $GLOO_SOCKET_IFNAME; hostname -i"
    for host in ("main1", "sub1"):
        names, interface, address = (await cluster.on(host, "sh", "-c", script)).stdout.decode().splitlines()
        assert names == "=eth0 eth0"
        assert f" inet {address.strip()}/" in interface


async def test_the_user_chooses_another_interface(docker_engine: DockerEngine) -> None:
    chosen = {"NCCL_SOCKET_IFNAME": "lo", "GLOO_SOCKET_IFNAME": ""}
    cluster = await started(docker_engine, await ensure_tiny_image(), containers=2, env=chosen)
    script = "echo $NCCL_SOCKET_IFNAME,$GLOO_SOCKET_IFNAME,$HCCL_SOCKET_IFNAME"
    assert (await cluster.on("sub1", "sh", "-c", script)).stdout == b"lo,,eth0\n"
